"""The gap between the best and the worst slice of a column, and its change from the baseline to the candidate.

The gap is the largest difference between the means of two slices in the population. Even if all slices are equally
good, some slice is ahead in any sample, so the observed gap is too large on average, especially with many small slices.
The interval of the gap is valid for any slices, ties and groups. It is computed from simultaneous intervals of the
means of all slices (Bonferroni): those of Clopper and Pearson (1934) for right answers in independent rows, otherwise
those of `sigstats.unseen_row.means`. Its ends are the smallest and the largest gap of means within them. The p-value is
the smallest level whose interval excludes the null hypothesis.

The change of the gap also uses intervals of the mean differences d on the same rows. If slice g is the best of the
baseline and h the worst, its gap grows by at least d_g - d_h, less the possible lead or lag of other slices.

When not to use: to find slices that are worse than a bar or than before; the rows of single slices test this.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .._common.validation import FloatArray, IntArray
from ..intervals import Interval, clopper_pearson
from ..unseen_row.means import mean_interval, row_of_groups, units_of
from .evidence import Classes, Evidence, Values
from .family import blank_row
from .paired_predictions import PairedPredictions
from .row_tests.mean_tests import by_group, unseen_unit
from .rows import ComparisonRow
from .rule import ComparisonRule, RowTest

#: The smallest p-value, and the number of steps of the search for it.
_SMALLEST, _STEPS = 1e-9, 24
#: Measures that are the share of right answers among the rows of the class (True), or among all other rows (False).
_COUNTED = {"recall": True, "specificity": False}


@dataclass(frozen=True)
class Slices:
    """The slices of a column that have enough rows."""

    names: list[str]
    parts: list[Values]
    rule: ComparisonRule
    #: Row of the gap (smaller is better). Its test has no name if there are fewer than two slices.
    row: ComparisonRow

    def means(self, side: int) -> list[float]:
        """Return the mean of each slice for the baseline (0) or the candidate (1)."""
        return [part.measure_of(side) for part in self.parts]

    def extremes(self, side: int) -> str:
        """Name the best and the worst slice of a model."""
        best, worst = (self.names[int(place(self.means(side)))] for place in (np.argmax, np.argmin))
        return f"best: {best}; worst: {worst}"

    def intervals(self, side: int | None, confidence: float) -> "Ends":
        """Return intervals of the means of a model or, with None, of the mean differences candidate - baseline."""
        intervals = [self._interval(part, side, confidence) for part in self.parts]
        return Ends(np.array([one.low for one in intervals]), np.array([one.high for one in intervals]))

    def _interval(self, part: Values, side: int | None, confidence: float) -> Interval:
        group, (low, high) = part.units.group, part.limits or (0.0, 1.0)
        if part.answers and group is None and side is not None:
            return clopper_pearson(int(part.values[side].sum()), part.units.n, confidence_level=confidence)
        if side is None:
            values, limits = part.values[1] - part.values[0], (low - high, high - low)
        else:
            values, limits = part.values[side], (low, high)
        sums, sizes = by_group(values, group)
        _, unseen, _ = unseen_unit(group is not None, len(sums), self.rule.unseen_group)
        return mean_interval(units_of(sums, sizes, row_of_groups(len(sums), unseen)), limits, confidence)


class Ends(NamedTuple):
    """The ends of the intervals of all slices."""

    low: FloatArray
    high: FloatArray

    @property
    def ahead(self) -> FloatArray:
        """The largest possible lead of another slice over each slice, as a column."""
        return np.array([[max(0.0, np.delete(self.high, i).max() - low)] for i, low in enumerate(self.low)])

    @property
    def behind(self) -> FloatArray:
        """The largest possible lag of another slice behind each slice, as a row."""
        return Ends(-self.high, -self.low).ahead.T

    @property
    def gap(self) -> tuple[float, float]:
        """The smallest and the largest possible gap."""
        return max(0.0, float(self.low.max() - self.high.min())), float(self.ahead.max())


def gaps_of(paired: PairedPredictions, evidence: Mapping[str, Evidence], rule: ComparisonRule) -> Iterator[Slices]:
    """Yield the slices of each column for each measure that is a mean over the same rows of both models.

    Raises ValueError if there are no slices or no such measures.
    """
    columns = paired.units.slices
    if not columns:
        raise ValueError("gaps: is not valid with no slices; name a column (--slice COLUMN)")
    means = {name: mean for name, of in evidence.items() if (mean := _as_mean(of))}
    if not means:
        wanted = "accuracy, recall, specificity or a mean with limits (--score-range LOW HIGH), no weights or runs"
        raise ValueError(f"gaps: is not valid with {', '.join(evidence)}; expected {wanted}")
    for column, (names, codes) in columns.items():
        for measure, (values, rows) in means.items():
            parts = {name: values.take(np.flatnonzero(codes[rows] == code)) for code, name in enumerate(names)}
            large = {name: part for name, part in parts.items() if part.units.n >= rule.smallest_slice}
            test, note = f"simultaneous intervals of {len(large):,} of {len(names):,} slices", ""
            if len(large) < 2:
                test, note = "", f"fewer than two slices of at least {rule.smallest_slice} rows"
            row = blank_row(paired, measure, f"gap by {column}", sum(part.units.n for part in large.values()))
            row = replace(row, lower_is_better=True, test=RowTest(test, "gap"), note=note)
            yield Slices([*large], [*large.values()], rule, row)


def gap_of(slices: Slices, bar: float) -> tuple[float, Interval, float]:
    """Return the observed gap of the baseline, its interval, and the p-value of "the gap is at most the bar"."""

    def gap(alpha: float) -> tuple[float, float]:
        return slices.intervals(0, 1 - alpha / len(slices.parts)).gap

    level = slices.rule.confidence_level
    pvalue = _smallest(lambda alpha: gap(alpha)[0] > bar)
    return float(np.ptp(slices.means(0))), Interval(*gap(1 - level), level), pvalue


def tested_change(slices: Slices) -> ComparisonRow:
    """Test the change of the gap; return the row with both gaps and their difference, negated, so greater is better."""
    row, level = slices.row, slices.rule.confidence_level
    if not row.test:
        return row

    def ends(alpha: float) -> list[Ends]:
        return [slices.intervals(side, 1 - alpha / (3 * len(slices.parts))) for side in (0, 1, None)]

    of_a, of_b, of_both = ends(1 - level)
    a, b = (float(np.ptp(slices.means(side))) for side in (0, 1))
    low, high = _change(of_a, of_b, of_both)
    pvalue = _smallest(lambda alpha: _change(*ends(alpha))[0] > 0)
    return replace(
        row,
        baseline=-a,
        candidate=-b,
        baseline_interval=-Interval(*of_a.gap, level),
        candidate_interval=-Interval(*of_b.gap, level),
        difference=a - b,
        low=-high,
        high=-low,
        pvalue=pvalue,
        two_sided_pvalue=pvalue if pvalue < 1 else _smallest(lambda alpha: _change(*ends(alpha))[1] < 0),
        differing=sum(int(np.count_nonzero(part.values[0] != part.values[1])) for part in slices.parts),
        note=slices.extremes(1),
    )


def _change(a: Ends, b: Ends, d: Ends) -> tuple[float, float]:
    """Return the interval of the gap of b minus that of a; `d`: intervals of the differences b - a.

    Row g and column h of `grown` (`shrunk`) bound the growth from below (above), by the differences in slices g and h.
    Since the possible leads and lags of other slices are subtracted (added), all bounds hold, and the best is taken.
    """
    others = ~np.eye(len(d.low), dtype=bool)
    grown = d.low[:, np.newaxis] - d.high - a.ahead - a.behind
    shrunk = d.high[:, np.newaxis] - d.low + b.ahead + b.behind
    # A gap cannot change by more than the range of the differences, `d.gap`.
    low = max(b.gap[0] - a.gap[1], -d.gap[1], float(grown[others].max()))
    return low, min(b.gap[1] - a.gap[0], d.gap[1], float(shrunk[others].min()))


def _smallest(excluded: Callable[[float], bool]) -> float:
    """Return the smallest level (or slightly more) at which `excluded` is true; 1 if there is none."""
    if not excluded(1.0):
        return 1.0
    low, high = math.log(_SMALLEST), 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if excluded(math.exp(middle)) else (middle, high)
    return math.exp(high)


def _as_mean(evidence: Evidence) -> tuple[Values, IntArray] | None:
    """Return the values whose mean is the measure, and the rows that count, or None for other measures."""
    units, rows = evidence.units, np.arange(evidence.units.n)
    if units.weights is not None or units.in_time or units.candidates is not None:
        return None
    if isinstance(evidence, Values):
        mean = not evidence.share and evidence.totals is None and evidence.limits is not None
        return (evidence, rows) if mean else None
    if not isinstance(evidence, Classes) or evidence.measure not in _COUNTED:
        return None
    of_class, code = _COUNTED[evidence.measure], evidence.code
    rows = rows[(evidence.label == code) == of_class]
    right = [(side[rows] == code) == of_class for side in (evidence.a, evidence.b)]
    return Values.of_answers(units.take(rows), right), rows
