"""Fresh rows at each look: the candidate against the baseline on all rows so far, valid at every look.

A look goes through `values_of_rows`, `row_of_fresh` for each measure and slice, and `decide_fresh` for all of them.

The family is every measure on all rows and on the slices of the first look. The p-value of each is the reciprocal of
the largest e-value so far (`sigstats.anytime_test`), which never grows, so that Holm's adjustment holds at all looks
together (e-Holm). Benjamini and Hochberg's takes the e-values of this look (closed e-BH: Xu, Fischer and Ramdas 2025).

For monitors that run for years, the rate of false alarms replaces the p-value: the reciprocal of the sum of bets that
begin at each look. If a row fails where its Holm-adjusted rate is at most 1 / N, the expected number of looks until the
first false alarm of any row is at least N, if the rows that are not worse never become worse: for one of them to fail,
the mean of their sums must reach N (Shin, Ramdas and Rinaldo 2024).

When not to use: the same rows are tested again (`sigstats.multiplicity`); rows depend on each other.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._common.calls import check_together
from .._common.extreme import difference
from .._common.validation import FloatArray, IntArray
from ..anytime.bets import Rows, log_evalue, log_evalue_of_any_start, rows_of, running_interval
from ..intervals import Interval
from ..multiplicity import adjust_family, closed_e_bh
from .compare import decide_row
from .evidence import Values
from .family import blank_row, evidence_to_compare
from .paired_predictions import PairedPredictions
from .rows import Change, ComparisonRow
from .rule import ComparisonRule, RowTest

_TEST = RowTest("betting, from any look on", "betting")
_RATE = RowTest("betting, from each look on: p is the rate of false alarms per look", "betting")
_LATE = "absent from the first look: shown, not tested"


@dataclass(frozen=True)
class RowValues:
    """A mean over rows, or a quantile against a bar: the values of each row for both models, and their limit."""

    #: The row of the measure, with nothing computed.
    row: ComparisonRow
    #: float64 arrays of shape (n,).
    baseline: FloatArray
    candidate: FloatArray
    #: The largest difference that a row can have.
    limit: float
    #: The look at which each row was new.
    looks: IntArray
    #: If the measure is a quantile, the share of rows on its worse side; 0 for a mean.
    share: float = 0.0

    @property
    def differences(self) -> FloatArray:
        """The gain of the candidate in each row, as a share of the limit; for a quantile, in reaching the bar."""
        sign = -1 if self.row.lower_is_better else 1
        if self.share:
            return np.asarray(self.share - (sign * self.candidate < sign * self.baseline))
        return difference(sign * self.candidate, sign * self.baseline) / self.limit

    def against(self, bar: float) -> Self:
        """Return the rows of the candidate with a bar in place of the baseline."""
        return replace(self, row=replace(self.row, against_bar=True), baseline=np.full(len(self.candidate), bar))

    def at(self, rows: NDArray[np.bool_]) -> Self:
        """Return the values of some rows."""
        return replace(self, baseline=self.baseline[rows], candidate=self.candidate[rows], looks=self.looks[rows])


class FreshRow(NamedTuple):
    """A measure on a slice, not yet decided, with the values of its rows."""

    row: ComparisonRow
    values: RowValues
    #: The natural logarithm of the e-value of "the candidate is not worse".
    evidence: float
    #: The row at an earlier look, if it failed then and has not been repaired since.
    failed: ComparisonRow | None


def values_of_rows(
    paired: PairedPredictions, measures: Sequence[str] | None, *, positive: str | None = None, against_bar: bool = False
) -> list[RowValues]:
    """Return the values of rows by each measure. Raise ValueError unless it is a mean of rows within known limits.

    `against_bar`: the model is compared with a bar, which a quantile needs.
    """
    check_together({"weights": paired.units.weights, "group": paired.units.group, "fresh rows": True})
    measured = []
    for name, part in evidence_to_compare(paired, measures, positive).items():
        row = blank_row(paired, name)
        if not isinstance(part, Values) or (part.share and not against_bar):
            bar = "; a quantile needs at_least or at_most in place of a baseline" if isinstance(part, Values) else ""
            raise ValueError(
                f"measures: {name!r} is not a mean over rows, which fresh rows need; expected accuracy, "
                f"mean-score or another mean{bar}"
            )
        if part.span is None and not part.share:
            raise ValueError(f"score_range: is missing; expected the limits of {row.name} for fresh rows")
        sign = -1 if row.lower_is_better else 1
        baseline, candidate = (sign * array for array in part.values)
        limit, looks = 1.0 if part.share or part.span is None else part.span, np.zeros(len(baseline), dtype=np.int64)
        measured.append(RowValues(row, baseline, candidate, limit, looks, part.share))
    return measured


def row_of_fresh(
    values: RowValues, name: str, before: ComparisonRow | None, rule: ComparisonRule, *, late: bool, rate: bool = False
) -> FreshRow:
    """Return a measure on all rows of a slice so far, not yet decided.

    `late`: the slice is missing at the first look. `rate`: the p-value is the rate of false alarms.
    """
    row = replace(values.row, slice=name, n=len(values.baseline))
    if row.n < rule.smallest_slice:
        note = f"too small to test: {row.n} of at least {rule.smallest_slice} rows"
        return FreshRow(replace(row, note=note), values, 0.0, None)
    windows = _windows(values)
    evidence = log_evalue_of_any_start(windows, 0.0, "less", added=rate)
    both = log_evalue_of_any_start(windows, 0.0, "two-sided")
    worse, differs = (math.exp(-max(0.0, log)) for log in (evidence, both))
    # The e-values of Benjamini and Hochberg's adjustment are those of this look. Other p-values never grow.
    of_one_look = rate or rule.adjust == "benjamini-hochberg"
    if not of_one_look and before is not None and before.pvalue is not None and before.test == _TEST:
        worse = min(worse, before.pvalue)
    differing = int(np.count_nonzero(values.differences))
    latest = (values.at(values.looks > values.looks.max() - length) for length in (1, 7))
    of_latest = [_estimated(row, part, rule.confidence_level).turned() for part in latest]
    row = replace(
        _estimated(row, values, rule.confidence_level),
        windows=tuple((part.difference, part.low, part.high) for part in of_latest),
        test=_RATE if rate else _TEST,
        pvalue=None if late else max(math.ulp(0.0), worse),
        two_sided_pvalue=max(math.ulp(0.0), differs),
        differing=differing,
        note=_LATE if late else f"rows that differ: {differing:,} of {row.n:,}",
    )
    return FreshRow(row, values, evidence, before if before and before.verdict == "fail" else None)


def _windows(values: RowValues) -> list[Rows | None]:
    """Return the rows from each look on."""
    grid, place = np.unique(values.differences, return_inverse=True)
    order = np.argsort(values.looks, kind="stable")
    ends = np.searchsorted(values.looks[order], np.arange(values.looks.min() + 1, values.looks.max() + 1))
    counts, windows = np.zeros(len(grid)), list[Rows | None]()
    for new in reversed(np.split(place[order], ends)):
        counts = counts + np.bincount(new, minlength=len(grid))
        windows.append(rows_of(grid, counts) if counts.any() else None)
    return windows[::-1]


def _estimated(row: ComparisonRow, values: RowValues, level: float) -> ComparisonRow:
    """Return the row with the values of baseline and candidate, and the interval of their difference."""
    sign = -1 if row.lower_is_better else 1
    rows = rows_of(*(np.asarray(part, dtype=np.float64) for part in np.unique(values.differences, return_counts=True)))
    if values.share:
        return _estimated_quantile(replace(row, n=rows.n, confidence_level=level), sign, values)
    low, high = running_interval(rows, 0.0, "two-sided", level)
    return replace(
        row,
        n=rows.n,
        baseline=sign * float(values.baseline.mean()),
        candidate=sign * float(values.candidate.mean()),
        difference=rows.mean * values.limit,
        low=low * values.limit,
        high=high * values.limit,
        confidence_level=level,
    )


def _estimated_quantile(row: ComparisonRow, sign: int, values: RowValues) -> ComparisonRow:
    """Return the row with the quantile of the candidate, and its distance from the bar.

    A threshold is in the interval unless the interval of the share of rows below the threshold excludes the share of
    the quantile. If all rows follow one law, the intervals of all looks cover together; if the law changes, the
    interval of each look covers the quantile of the average law.
    """
    ordered, bar = np.sort(sign * values.candidate), sign * float(values.baseline[0])
    level = row.confidence_level or 0.0

    def interval_at(below: int) -> Interval:
        counts = np.array([below, row.n - below], dtype=np.float64)
        return running_interval(rows_of(values.share - np.array([1.0, 0.0]), counts), 0.0, "two-sided", level)

    # The fewest rows below a threshold with which the quantile may be below it, and with which it must be.
    above = bisect_left(range(row.n), True, key=lambda below: interval_at(below).low <= 0)
    below = bisect_left(range(row.n + 1), True, key=lambda below: interval_at(below).high < 0)
    known = above and below <= row.n
    low, high = (float(ordered[rank - 1]) - bar if known else None for rank in (above, below))
    quantile = float(np.quantile(ordered, values.share, method="inverted_cdf"))
    return replace(row, baseline=bar, candidate=quantile, difference=quantile - bar, low=low, high=high)


def _since_change(
    row: ComparisonRow, values: RowValues, failed: ComparisonRow | None, rule: ComparisonRule
) -> ComparisonRow:
    """Return the row with the values since the look from which the candidate is worse.

    The intervals from all looks on cover jointly: that of the j-th look has the share 1 / (j (j + 1)) of the error.
    """
    change = (failed and failed.change) or change_of(values.differences, values.looks)
    start = change.look - int(values.looks.min()) + 1
    level = 1 - (1 - rule.confidence_level) / (start * (start + 1))
    return replace(_estimated(row, values.at(values.looks >= change.look), level), change=change)


def repaired_since(values: RowValues, gain: float, alpha: float) -> int | None:
    """Return the look after an alarm since which rows gain clearly more than half of `gain` (negative), or None.

    If the mean gain never is above that half, the probability of any such look is at most `alpha`, however many follow.
    """
    least = gain / 2
    windows = _windows(values) if len(values.looks) else [None]
    if log_evalue_of_any_start(windows, least, "greater") < -math.log(alpha):
        return None
    evidence = [-math.inf if rows is None else log_evalue(rows, least, "greater") for rows in windows]
    return int(values.looks.min()) + int(np.argmax(evidence))


def decide_fresh(tested: Sequence[FreshRow], family: int, rule: ComparisonRule) -> tuple[ComparisonRow, ...]:
    """Return the rows with adjusted p-values and verdicts; `family`: the number of tests at the first look."""
    family_rows = [row for row in tested if row.row.pvalue is not None]
    too_small = family - len(family_rows)  # the tests of the first look that are not among these rows
    if rule.adjust == "benjamini-hochberg":
        adjusted = iter(closed_e_bh([*(row.evidence for row in family_rows), *[0.0] * too_small]))
    else:
        pvalues = [*(row.row.pvalue or 0.0 for row in family_rows), *[1.0] * too_small]
        adjusted = iter(adjust_family(pvalues, rule.adjust))
    level = rule.level_of_one(max(1, family))
    # No number of rows settles a row, since the means of later rows may differ.
    decide = partial(decide_row, rule=rule, level=level, deciding=lambda *_, **__: None)
    rows = []
    for row, values, _, failed in tested:
        if row.pvalue is None:
            rows.append(row.turned())
            continue
        # The indices need a p-value: at a look chosen beforehand, the rate times the number of looks is one.
        looks, pvalue = int(np.ptp(values.looks)) + 1 if row.test == _RATE else 1, next(adjusted)
        at_look = replace(row, pvalue=min(1.0, looks * row.pvalue))
        decided = decide(at_look, pvalue)
        if failed is not None or pvalue <= rule.alpha:
            since = decide(_since_change(at_look, values, failed, rule), pvalue)
            if failed is not None or since.verdict == "fail":
                decided = replace(since, verdict="fail", detectable=None)
        rows.append(replace(decided, pvalue=row.pvalue))
    return tuple(rows)


#: The interval excludes looks whose log-likelihood is lower by more than x: (1 - exp(-x)) ** 2 = 0.95.
_LESS_LIKELY = -float(np.log(1 - np.sqrt(0.95)))


def change_of(differences: FloatArray, looks: IntArray) -> Change:
    """Estimate the look from which on the mean difference is below 0, after a mean of at least 0.

    `looks`: the look of each difference. The interval contains all looks whose likelihood is not much smaller. It is
    approximate (Siegmund 1988, Confidence sets in change-point problems, International Statistical Review 56): after
    alarms of `sigstats.anytime_test`, it contained the look in 97 to 99 of 100 simulated series whose mean changed
    once. A mean that changes gradually has no such look.

    >>> change_of(np.repeat([0.0, -1.0, 0.0], [4000, 50, 50]), np.arange(4100) // 100)
    Change(look=40, low=40, high=40)
    """
    first = int(looks.min())
    rows, sums, squares = (np.bincount(looks - first, power) for power in (None, differences, differences**2))
    rows_since, sums_since = (np.cumsum(part[::-1])[::-1] for part in (rows, sums))
    rows_before, sums_before = rows.sum() - rows_since, sums.sum() - sums_since
    worse = np.minimum(sums_since, 0.0) ** 2 / rows_since
    better = np.maximum(sums_before, 0.0) ** 2 / np.maximum(rows_before, 1)
    fitted = worse + better
    variance = max((float(squares.sum()) - float(fitted.max())) / int(rows.sum()), np.finfo(float).tiny)
    likely = np.flatnonzero(fitted >= fitted.max() - 2 * _LESS_LIKELY * variance)
    return Change(first + int(fitted.argmax()), first + int(likely[0]), first + int(likely[-1]))
