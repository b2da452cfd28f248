"""Rows that arrive from look to look: the candidate against the baseline on all so far, valid at every look.

The family is every measure on all rows and on the slices of the first look. The p-value of each is the reciprocal of
the largest e-value so far (`sigstats.anytime_test`), which never grows, so that Holm's adjustment holds at all looks
together (e-Holm). Benjamini and Hochberg's takes the e-values of this look (e-BH: Wang and Ramdas 2022).

When not to use: the same rows are tested again (`sigstats.sequential.alpha_spending`); rows depend on each other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from .._common.extreme import difference
from .._common.validation import FloatArray, IntArray
from ..anytime.bets import Rows, log_evalue, log_evalue_of_any_start, rows_of, running_interval
from ..measures.table import MEASURES
from ..multiplicity import adjusted
from .compare import decide_row
from .deciding import fewest_rows
from .family import asked_of, blank_row
from .paired_predictions import PairedPredictions
from .row_test import RowTest
from .rows import ComparisonRow
from .rule import ComparisonRule

_TEST = RowTest("betting, from any look on", "betting")
_LATE = "first there after the first look: shown, not tested"


@dataclass(frozen=True)
class RowValues:
    """A measure that is a mean of a value a row: what each row of baseline and candidate counts, and its limit."""

    #: With the measure alone.
    row: ComparisonRow
    #: float64 arrays of shape (n,).
    baseline: FloatArray
    candidate: FloatArray
    #: The largest difference that a row can have.
    limit: float
    #: The number of the look at which each row was new, from 0 on.
    looks: IntArray


class FreshRow(NamedTuple):
    """A row that is not yet decided, the distinct differences that it rests on, and the largest that there can be."""

    row: ComparisonRow
    #: As shares of the limit; None where nothing was tested.
    rows: Rows | None
    limit: float


def values_of_rows(
    paired: PairedPredictions, measures: Sequence[str] | None, *, positive: str | None = None
) -> list[RowValues]:
    """The values of rows by each measure; ValueError if a measure is not a mean of rows within known limits."""
    if paired.units.weights is not None:
        raise ValueError("weights: are not valid with fresh rows; expected rows that count alike")
    if paired.units.group is not None:
        raise ValueError("group: is not valid with fresh rows, which must be independent")
    names, part = asked_of(paired, measures, positive)
    valueses = []
    for name in names:
        spec, row = MEASURES[name], blank_row(paired, name)
        if spec.of_rows is None and spec.needs != "answers":
            raise ValueError(
                f"measures: {name!r} is not a mean over rows, which fresh rows need; expected accuracy, "
                "mean-score or another mean"
            )
        limit = part.span(spec)
        if limit is None:
            raise ValueError(f"score_range: is missing; expected the limits of {row.name} for fresh rows")
        sign = -1 if row.lower_is_better else 1
        baseline, candidate = (sign * array for array in part.values(spec))
        valueses.append(RowValues(row, baseline, candidate, limit, np.zeros(len(baseline), dtype=np.int64)))
    return valueses


def row_of_fresh(
    values: RowValues, name: str, before: ComparisonRow | None, rule: ComparisonRule, *, late: bool
) -> FreshRow:
    """A measure on all rows of a slice so far, not yet decided; `late`: the slice was not there at the first look."""
    row = replace(values.row, slice=name, n=len(values.baseline))
    if row.n < rule.smallest_slice:
        note = f"too small to test: {row.n} of at least {rule.smallest_slice} rows"
        return FreshRow(replace(row, note=note), None, values.limit)
    sign = -1 if row.lower_is_better else 1
    a, b = sign * values.baseline, sign * values.candidate
    differences = difference(b, a) / values.limit
    rows = _rows_of(differences)
    largest = 1.0 if before is None or before.pvalue is None or before.test != _TEST else before.pvalue
    low, high = running_interval(rows, 0.0, "two-sided", rule.confidence_level)
    starts = [values.looks >= look for look in range(int(values.looks.max()) + 1)]
    windows = [_rows_of(differences[new]) if new.any() else None for new in starts]
    worse, differs = (math.exp(-max(0.0, log_evalue_of_any_start(windows, 0.0, way))) for way in ("less", "two-sided"))
    differing = int(np.count_nonzero(differences))
    of_one_look = rule.adjust == "benjamini-hochberg"  # which adjusts e-values
    row = replace(
        row,
        baseline=float(a.mean()),
        candidate=float(b.mean()),
        difference=rows.mean * values.limit,
        low=low * values.limit,
        high=high * values.limit,
        test=_TEST,
        pvalue=None if late else max(math.ulp(0.0), worse if of_one_look else min(worse, largest)),
        two_sided_pvalue=max(math.ulp(0.0), differs),
        differing=differing,
        confidence_level=rule.confidence_level,
        note=_LATE if late else f"rows that differ: {differing:,} of {row.n:,}",
    )
    return FreshRow(row, rows, values.limit)


def _rows_that_decide(
    row: ComparisonRow, rule: ComparisonRule, level: float, *, rows: Rows, limit: float
) -> int | None:
    """With how many rows of these values the e-value reaches what a pass or a fail needs; None where none would."""
    margin = rule.margin_of(row)
    assert row.difference is not None
    passes = -limit < -margin < row.difference
    fails = -row.difference >= max(rule.effect_of(row), 1e-300)

    def decides(n: int) -> bool:
        more = rows._replace(n=n, counts=n / rows.n * rows.counts)
        if fails and log_evalue(more, 0.0, "less") >= math.log(2) - math.log(level):  # half began with the first look
            return True
        return passes and running_interval(more, 0.0, "two-sided", rule.confidence_level).low > -margin / limit

    return fewest_rows(rows.n, decides, one_in=500)


def _rows_of(differences: FloatArray) -> Rows:
    return rows_of(*(np.asarray(part, dtype=np.float64) for part in np.unique(differences, return_counts=True)))


def decide_fresh(tested: Sequence[FreshRow], family: int, rule: ComparisonRule) -> tuple[ComparisonRow, ...]:
    """The rows with adjusted p-values and verdicts; `family`: the number of tests at the first look."""
    pvalues = [row.row.pvalue for row in tested if row.row.pvalue is not None]
    too_small = [1.0] * (family - len(pvalues))  # which are of the family
    of_row = iter(adjusted([*pvalues, *too_small], rule.adjust))
    level = rule.level_of_one(max(1, family))
    return tuple(
        row.turned()
        if row.pvalue is None or rows is None
        else decide_row(row, next(of_row), rule, level, partial(_rows_that_decide, rows=rows, limit=limit))
        for row, rows, limit in tested
    )
