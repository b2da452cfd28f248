"""What the report says of each test. A new test is one new module of this folder.

A module has ``SECTION``, a `Section`: the question the test answers, its verdict in plain words, the columns of its
table, and a note on its method with the source. A test without a module gets a plain section of its own.
"""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sigstats.tasks.schema import Hypothesis

from ..evidence import Evidence


@dataclass(frozen=True)
class Verdict:
    """What a test says of the study.

    Attributes
    ----------
    headline : str
        One sentence.
    details : tuple of str
        A sentence for each data set, where there is more to say.
    """

    headline: str
    details: tuple[str, ...] = ()


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
    """

    header: str
    text: Callable[[Hypothesis], str]
    sort: Callable[[Hypothesis], float | None] | None = None
    meaning: str = ""


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
    """

    order: int
    test: str
    name: str
    question: str
    verdict: Callable[[Sequence[Hypothesis], Evidence], Verdict]
    columns: Callable[[Sequence[Hypothesis]], Sequence[Column]]
    method: str | Callable[[Sequence[Hypothesis]], str]
    source: str = ""

    def method_of(self, rows: Sequence[Hypothesis]) -> str:
        """How its rows were made."""
        return self.method if isinstance(self.method, str) else self.method(rows)


def printed_numbers(evidence: Evidence) -> Verdict | None:
    """Whether the numbers that a publication prints are what its data give; None where the study names none."""
    from . import _columns, _tables

    total = sum(len(row.printed.split("; ")) for row in evidence.rows if row.printed)
    if not total:
        return None
    wrong = [(row, row.disagrees.split("; ")) for row in evidence.rows if row.disagrees]
    details = [f"{_tables.in_words(row)}, {row.method}: {_columns.short('; '.join(found))}." for row, found in wrong]
    count = sum(len(found) for _, found in wrong)
    if not count:
        return Verdict(f"All {total} printed numbers are what the data give.")
    return Verdict(
        f"{count} of {total} printed numbers {'is' if count == 1 else 'are'} not what the data give.", tuple(details)
    )


def known() -> list[Section]:
    """The sections of this folder, in their order."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    found: list[Section] = [importlib.import_module(f"{__name__}.{name}").SECTION for name in names]
    return sorted(found, key=lambda section: section.order)


def of(evidence: Evidence) -> list[Section]:
    """The sections of a study: one for each of its tests."""
    from ._general import GENERAL

    sections = known()
    ready = [section for section in sections if section.test in evidence.tests]
    covered = {section.test for section in sections}
    others = [test for test in evidence.tests if test not in covered]
    return ready + [replace(GENERAL, test=test, name=test, question=test) for test in others]
