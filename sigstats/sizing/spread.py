"""The spread of a difference in a pilot, and the power of the test of `sigstats.compare` that follows from it.

A test at a level has the power of a normal test of the difference, whose standard deviation falls with the root of the
rows, except for the one more row at its worst, whose share falls with their number. A mean of up to 300 single rows,
with limits, is tested itself: in samples of the pilot's differences, tilted to the drop.

When not to use: for the accuracy, whose power is exact (`sigstats.sizing.comparison`).
"""

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from .._common.random_streams import as_generator
from .._common.validation import FloatArray
from ..comparison.deciding import fewest_rows
from ..comparison.evidence import Evidence, Values
from ..comparison.rows import ComparisonRow
from ..mcnemar.quantile_difference import fewest_with_interval
from ..measures.table import MEASURES
from ..unseen_row.means import shown_below_zero, units_of

#: More rows than so many are not asked for.
MOST: Final = 10**8
#: The most rows whose mean is tested in samples, their number, and the steps of the smallest drop that they show.
SAMPLED, SAMPLES, _STEPS = 300, 1000, 200
#: The steepest tilt, at which nearly all weight is on the smallest value.
_STEEPEST = 500.0


def fewest_of(level: float) -> int:
    """The fewest rows that show anything at a level: if all n favour one model, p is 2**-n or more."""
    return math.ceil(-math.log2(level))


@dataclass(frozen=True)
class Spread:
    """Spread of a difference: the standard deviation of one row, and the effect of one more row, times n."""

    deviation: float
    unseen: float
    #: The fewest rows with an interval; of a quantile, more than two.
    fewest: int = 2

    def power(self, n: int, drop: float, level: float, minimum: float = 0.0) -> float:
        """The probability that a drop is shown, and observed to be at least the minimum."""
        if self.deviation == 0:
            return float(drop > self.unseen / n and drop >= minimum)
        root = math.sqrt(n) / self.deviation
        shown_ = float(ndtr((drop - self.unseen / n) * root + ndtri(level)))
        return min(shown_, float(ndtr((drop - minimum) * root)))

    def needed(self, drop: float, level: float, target: float, minimum: float = 0.0) -> int | None:
        """The number of rows that shows a drop this often; None if none does, or more than 10**8."""
        if drop <= minimum or drop <= 0:
            return None
        wide = float(ndtri(target) - ndtri(level)) * self.deviation
        root = (wide + math.sqrt(wide**2 + 4 * drop * self.unseen)) / (2 * drop)
        rows = max(root**2, (max(0.0, float(ndtri(target))) * self.deviation / (drop - minimum)) ** 2)
        return None if rows > MOST else max(self.fewest, math.ceil(rows))

    def detectable(self, n: int, level: float, target: float, minimum: float = 0.0) -> float:
        """The smallest drop that this many rows show this often."""
        error = self.deviation / math.sqrt(n)
        return max(
            self.unseen / n + float(ndtri(target) - ndtri(level)) * error, minimum + float(ndtri(target)) * error
        )


@dataclass(frozen=True)
class SampledMean(Spread):
    """The spread of a mean difference, and the differences of rows themselves, of which none exceeds the span."""

    differences: FloatArray = field(default_factory=lambda: np.zeros(1))
    span: float = 1.0

    def power(self, n: int, drop: float, level: float, minimum: float = 0.0) -> float:
        """The share of samples of n rows in which `sigstats.compare` shows the drop."""
        if n > SAMPLED:
            return super().power(n, drop, level, minimum)
        values, chances = _tilted(self.differences, -min(drop, self.span))
        samples = values.clip(-self.span, self.span)[np.searchsorted(chances, as_generator(0).random((SAMPLES, n)))]
        dropped = samples.mean(axis=1) <= -minimum * (1 - 1e-12)
        return float(np.mean(shown_below_zero([*map(units_of, samples)], self.span, level) & dropped))

    def needed(self, drop: float, level: float, target: float, minimum: float = 0.0) -> int | None:
        """The number of rows that shows a drop this often, at most two percent too large."""
        rows = super().needed(drop, level, target, minimum)
        if rows is None or rows > SAMPLED:
            return rows
        least = max(self.fewest, rows // 2) - 1
        return fewest_rows(least, lambda n: self.power(n, drop, level, minimum) >= target, one_in=50)

    def detectable(self, n: int, level: float, target: float, minimum: float = 0.0) -> float:
        """The smallest drop that this many rows show this often."""
        about = super().detectable(n, level, target, minimum)
        if n > SAMPLED:
            return about
        drops: list[float] = np.linspace(about / 2, 3 * about, _STEPS).tolist()
        step = bisect_left(range(_STEPS - 1), True, key=lambda k: self.power(n, drops[k], level, minimum) >= target)
        return drops[step]


def _tilted(differences: FloatArray, mean: float) -> tuple[FloatArray, FloatArray]:
    """The values, ascending, and their cumulative chances, tilted exponentially to a mean (normal values are shifted).

    Values that do not lie on both sides of the mean are shifted.
    """
    values = np.sort(differences)
    widest = max(abs(mean - values[0]), abs(values[-1] - mean)) or 1.0

    def weights(tilt: float) -> FloatArray:
        logs: FloatArray = tilt * (values - mean) / widest
        tilted: FloatArray = np.exp(logs - logs.max())
        return tilted

    def excess(tilt: float) -> float:
        return float(np.average(values, weights=weights(tilt))) - mean

    if not excess(-_STEEPEST) < 0 < excess(_STEEPEST):
        return values - values.mean() + mean, np.linspace(0, 1, len(values) + 1)[1:]
    chances = np.cumsum(weights(brentq(excess, -_STEEPEST, _STEEPEST)))
    return values, chances / chances[-1]


def planner_of(spread: Spread | None, row: ComparisonRow, part: Evidence | None) -> Spread | None:
    """The spread of a row, with the differences of its rows if they are single and their mean has limits."""
    if spread is None or not isinstance(part, Values) or part.span is None or row.test.kind != "unseen":
        return spread
    units = part.units
    if part.share or part.totals is not None or units.group is not None or units.weights is not None or units.in_time:
        return spread
    return SampledMean(spread.deviation, spread.unseen, spread.fewest, part.values[1] - part.values[0], part.span)


def spread_of(row: ComparisonRow, *, passing: bool = False) -> Spread | None:
    """The spread of a tested row; None if it has no interval.

    One more row undoes a drop by a gain, a pass by a loss: the two ends of the interval differ if values are skewed.
    """
    if row.difference is None or row.low is None or row.high is None or row.confidence_level is None:
        return None
    quantile = float(ndtri((1 + row.confidence_level) / 2))
    error = (row.high - row.low) / (2 * quantile) if row.standard_error is None else row.standard_error
    reach = (row.high - row.difference) if row.lower_is_better == passing else (row.difference - row.low)
    fewest = fewest_with_interval(MEASURES[row.measure].share, (1 - row.confidence_level) / 2)
    return Spread(error * math.sqrt(row.n), max(0.0, reach - quantile * error) * row.n, fewest)
