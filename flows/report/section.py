"""What a section of the report is made of: a verdict, the columns of a table, and a note on the method."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sigstats.tasks import statistical_tests
from sigstats.tasks.schema import Hypothesis

from .evidence import Evidence


@dataclass(frozen=True)
class Verdict:
    """What a test says of the study.

    Attributes
    ----------
    headline : str
        One sentence.
    details : tuple of str
        A sentence for each data set, where there is more to say.
    beside : str
        Without which the headline is not to be read; never folded away.
    """

    headline: str
    details: tuple[str, ...] = ()
    beside: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a test's table.

    Attributes
    ----------
    header : str
    text : callable
        What a cell shows.
    sort : callable or None
        By what the column is sorted; None for text as shown.
    meaning : str
        What the header stands for.
    note : bool
        Whether the text is a sentence, which stands below the table; the cell has its number.
    """

    header: str
    text: Callable[[Hypothesis], str]
    sort: Callable[[Hypothesis], float | None] | None = None
    meaning: str = ""
    note: bool = False


@dataclass(frozen=True, kw_only=True)
class Section:
    """A test in the report.

    Attributes
    ----------
    order : int
        Where it stands among the others.
    test : str
        The test of the summary's rows.
    name : str
        What the field calls it.
    question : str
        What it asks, in plain words.
    verdict : callable
        Its rows and the evidence to a `Verdict`.
    columns : callable
        Its rows to the columns of its table.
    method : str or callable
        How it is done and what its p-value means, with what it assumes; or a function of its rows that says it.
    source : str
        Where it is published.
    terms : str
        What the names in its verdict mean, for who has not met them.
    """

    order: int
    test: str
    name: str
    question: str
    verdict: Callable[[Sequence[Hypothesis], Evidence], Verdict]
    columns: Callable[[Sequence[Hypothesis]], Sequence[Column]]
    method: str | Callable[[Sequence[Hypothesis]], str]
    source: str = ""
    terms: str = ""

    def method_of(self, rows: Sequence[Hypothesis]) -> str:
        """How its rows were made."""
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
    """Which assumptions of a test cross-validated runs do not meet."""
    found = statistical_tests.of_runs(name)
    return "" if found is None else found.caveat
