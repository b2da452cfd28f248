"""The parts of a section of the report: a verdict, the columns of a table, and a note on the method."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from sigstats.tasks import statistical_tests
from sigstats.tasks.schema import Hypothesis

from .evidence import Evidence


@dataclass(frozen=True)
class Verdict:
    """The verdict of a test on the study."""

    #: One sentence.
    headline: str
    #: A sentence for each data set, where there is more to say.
    details: tuple[str, ...] = ()
    #: Without which the headline is not to be read; never folded away.
    beside: str = ""
    #: What follows the headline on the first screen: a word for each sentence.
    also: tuple[tuple[str, str], ...] = ()
    #: Up to three numbers of the first screen: what each is, the number, and what it is held against.
    numbers: tuple[tuple[str, str, str], ...] = ()
    #: What to do now; empty where the test does not say.
    to_do: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a test's table."""

    header: str
    #: What a cell shows.
    text: Callable[[Hypothesis], str]
    #: By what the column is sorted; None for text as shown.
    sort: Callable[[Hypothesis], float | None] | None = None
    #: What the header stands for.
    meaning: str = ""
    #: Whether the text is a sentence, which stands below the table; the cell has its number.
    note: bool = False

    def named(self, header: str, meaning: str = "") -> "Column":
        """The same column under another name."""
        return replace(self, header=header, meaning=meaning)


@dataclass(frozen=True, kw_only=True)
class Section:
    """A test in the report."""

    order: int
    #: The test of the summary's rows.
    test: str
    #: What the field calls it.
    name: str
    question: str
    #: Its rows and the evidence to a `Verdict`.
    verdict: Callable[[Sequence[Hypothesis], Evidence], Verdict]
    #: Its rows to the columns of its table.
    columns: Callable[[Sequence[Hypothesis]], Sequence[Column]]
    #: How it is done and what its p-value means, with what it assumes; or a function of its rows that says it.
    method: str | Callable[[Sequence[Hypothesis]], str]
    source: str = ""
    #: What the names in its verdict mean, for who has not met them.
    terms: str = ""

    def method_of(self, rows: Sequence[Hypothesis]) -> str:
        """How its rows were computed."""
        return self.method if isinstance(self.method, str) else self.method(rows)


def section_of(
    name: str,
    *,
    verdict: Callable[[Sequence[Hypothesis], Evidence], Verdict],
    columns: Callable[[Sequence[Hypothesis]], Sequence[Column]],
) -> Section:
    """The section of a test of `sigstats.tasks.statistical_tests`, in the words of its record."""
    test = statistical_tests.named(name)
    return Section(
        order=test.order,
        test=name,
        name=test.label,
        question=test.question,
        verdict=verdict,
        columns=columns,
        method=test.words,
        source=test.source,
        terms=test.terms,
    )


def caveat(name: str) -> str:
    """The assumptions of a test that cross-validated runs do not meet."""
    runs = statistical_tests.of_runs(name)
    return "" if runs is None else runs.caveat


@dataclass(frozen=True)
class Figure:
    """A figure with its description."""

    title: str
    caption: str
    #: HTML; whatever in it comes from data is escaped.
    body: Markup
