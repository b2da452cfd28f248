"""Rows of a summary: groups, selections, and their evidence about a hypothesis."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from sigstats._common.messages import some_of
from sigstats._common.numerals import count_of
from sigstats.measures.table import MEASURES, MeasureSpec
from sigstats.tasks.plan import Item, Key
from sigstats.tasks.plan import group_by as group_by
from sigstats.tasks.schema import DISCORDANT, Hypothesis


def distinct(values: Iterable[Key | None]) -> tuple[Key, ...]:
    """Return the distinct values, in the order of their first appearance; missing ones are left out."""
    return tuple(dict.fromkeys(value for value in values if value is not None))


def some_sizes(rows: Sequence[Item]) -> list[Item]:
    """Return at most four rows of different sizes: the smallest, the largest and some in between."""
    last = min(4, len(rows)) - 1
    return [rows[round(index * (len(rows) - 1) / last)] for index in range(last + 1)] if last else list(rows)


#: The decision of rows that rest on data from which nothing is concluded.
WITHHELD = "withheld"


def withhold(row: Hypothesis, cells: Set[str]) -> Hypothesis:
    """Return the row, with `WITHHELD` in place of a decision that depends on any of these cells."""
    rests = row.decision in ("reject", "keep") and not cells.isdisjoint(row.cell.split())
    return row.with_(decision=WITHHELD) if rests else row


def hypotheses(rows: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Return the rows that are tested, now or later: no estimates, withheld rows, or tests that cannot reject."""
    return [row for row in rows if row.decision not in ("none", WITHHELD)]


def rejected(rows: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Return the rows whose null hypothesis is rejected."""
    return [row for row in rows if row.decision == "reject"]


def not_rejected(rows: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Return the rows whose null hypothesis was tested and is not rejected."""
    return [row for row in rows if row.decision == "keep"]


class Decisions(NamedTuple):
    """The decisions on hypotheses, without those on the `withheld` data sets."""

    hypotheses: int = 0
    #: ``3 hypotheses by 7 tests``, or ``2 hypotheses (nothing is concluded on iris)``.
    tested: str = ""
    rejected: int = 0
    #: The methods that reject, if several test a hypothesis: ``by every method, 1 by some``.
    by: str = ""
    withheld: tuple[str, ...] = ()

    @classmethod
    def of(cls, groups: Sequence[Sequence[Hypothesis]], withheld: Sequence[str] = ()) -> "Decisions":
        """Count the decisions; each group contains the rows of one hypothesis, by several methods."""
        tests, decided = sum(map(len, groups)), [{row.decision for row in rows} - {"missing"} for rows in groups]
        every, some = decided.count({"reject"}), sum("reject" in decisions for decisions in decided)
        several, where = tests > len(groups), some_of(withheld, 3)
        by = ("by every method" + f", {some - every:,} by some" * (some > every)) * several
        tested = count_of(len(groups), "hypothesis", "hypotheses") + f" by {tests:,} tests" * several
        tested += f" (nothing is concluded on {where})" * bool(withheld)
        return cls(len(groups), tested, every, by, tuple(withheld))


def at_smallest_p(row: Hypothesis) -> bool:
    """Return True if the p-value is the smallest for its number of replicates; the true one may be smaller."""
    return row.exceedances == 0 and bool(row.replicates)


def undecided_rows(rows: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return the rows that are undecided because of too few replicates: none was as extreme as observed."""
    return [row for row in not_rejected(rows) if at_smallest_p(row)]


def primary_rows(rows: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return one row for each table: that of the method which the study names first."""
    return [group[0] for group in group_by(rows, lambda row: (row.dataset, row.classifier, row.a, row.b)).values()]


def measure_of_difference(title: str | None) -> MeasureSpec | None:
    """Return the measure of a summary whose title, or title of the difference, is `title`, or None."""
    name = (title or "").removeprefix("difference of ").removesuffix(" (a - b)").casefold()
    return MEASURES.get(name) or next((spec for spec in MEASURES.values() if spec.plural and spec.plural == name), None)


def is_proportion(row: Hypothesis) -> bool:
    """Return True if the row's measure is a proportion, or a difference of two."""
    spec = measure_of_difference(row.measure)
    return spec is not None and spec.unit == "share"


def less_is_better(row: Hypothesis) -> bool:
    """Return True if a row measures an error or a cost."""
    spec = measure_of_difference(row.measure)
    return spec is not None and not spec.greater_is_better


def advantage_of_a(row: Hypothesis) -> float | None:
    """Return the advantage of a over b in the unit of the measure, negative if b is better; None if unknown.

    Estimates are the value of a minus that of b. Without an estimate, McNemar's test still gives the number of
    discordant objects that only a got right.
    """
    if row.estimate is not None:
        return -row.estimate if less_is_better(row) else row.estimate
    if row.measure == DISCORDANT and row.statistic is not None and row.n is not None:
        return 2 * row.statistic - row.n
    return None


def necessity(row: Hypothesis) -> float | None:
    """Return how far the data support the alternative (positive) or the null hypothesis (negative), from -1 to 1.

    NSD of the alternative over the null hypothesis is 1 - PD of the null hypothesis over the alternative
    (Hryniewicz, eq. 25 and 27 with the roles exchanged); at most one of it and NSD is above 0. It stays below 1,
    since no p-value is 0.
    """
    if row.pd is None or row.nsd is None:
        return None
    return min(1 - row.pd, math.nextafter(1, 0)) if row.pd < 1 else -row.nsd


def short_names(labels: Iterable[str]) -> dict[str, str]:
    """Return a short name for each label of a method, such as ``bootstrap (micro-f1, percentile, resamples = 2000)``.

    Among labels with the same name, shared words in brackets are left out, and so are settings that are not needed to
    distinguish any two. The design in the report has the full labels.
    """
    parts = {label: _parts(label) for label in labels}
    words = _differing({label: (name, words) for label, (name, words, _) in parts.items()})
    names = {label: _with_words(name, words[label]) for label, (name, _, _) in parts.items()}
    # Settings matter only to labels that the words do not tell apart.
    alike = Counter(names.values())
    settings = _differing({label: (names[label], parts[label][2]) for label in parts if alike[names[label]] > 1})
    return {label: _with_words(parts[label][0], [*words[label], *settings.get(label, [])]) for label in parts}


def _differing(parts: Mapping[str, tuple[str, list[str]]]) -> dict[str, list[str]]:
    """Return the words of each label that are not common to all labels of its name; all if it is the only one."""
    groups = group_by(parts.values(), lambda part: part[0])
    shared = {
        name: set.intersection(*(set(words) for _, words in group)) if len(group) > 1 else set[str]()
        for name, group in groups.items()
    }
    return {label: [word for word in words if word not in shared[name]] for label, (name, words) in parts.items()}


def _parts(label: str) -> tuple[str, list[str], list[str]]:
    name, bracket, inner = label.partition(" (")
    if not bracket or not inner.endswith(")"):
        return label, [], []
    words = inner[:-1].split(", ")
    return name, [word for word in words if " = " not in word], [word for word in words if " = " in word]


def _with_words(name: str, words: Sequence[str]) -> str:
    return f"{name} ({', '.join(words)})" if words else name
