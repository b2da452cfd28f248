"""Spread of a difference in a pilot, and the resulting power of the test of `sigstats.compare`.

The power is that of a normal test of the difference, whose standard error is proportional to 1 / sqrt(n), with the
effect of one more, worst possible, row, which is proportional to 1 / n. Means of up to 300 single rows with limits are
tested as by `sigstats.compare`, in samples of the differences of the pilot, tilted to the drop.

When not to use: for the accuracy, whose power is exact (`sigstats.sizing.comparison`).
"""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from .._common.random_streams import as_generator
from .._common.validation import FloatArray, IntArray
from ..comparison.deciding import fewest_rows
from ..comparison.evidence import Evidence, Values
from ..comparison.rows import ComparisonRow
from ..mcnemar.quantile_difference import fewest_with_interval
from ..measures.table import MEASURES
from ..unseen_row.means import shown_below_zero, units_of

#: Larger numbers of rows are not computed.
MOST: Final = 10**8
#: Largest number of rows tested in samples, number of samples, and steps of the search for the smallest drop.
SAMPLED, SAMPLES, _STEPS = 300, 1000, 200
#: Steepest tilt, with nearly all weight on the smallest value.
_STEEPEST = 500.0


def fewest_of(level: float) -> int:
    """Return the fewest rows that can be significant at a level: if all n favour one model, p is at least 2**-n."""
    return math.ceil(-math.log2(level))


@dataclass(frozen=True)
class Spread:
    """Spread of a difference: the standard deviation of one row, and the effect of one more row, times n."""

    deviation: float
    unseen: float
    #: Fewest rows with an interval; more than two for quantiles.
    fewest: int = 2

    def power(self, n: int, drop: float, level: float, minimum: float = 0.0) -> float:
        """Return the probability that a drop is significant and observed to be at least the minimum."""
        if self.deviation == 0:
            return float(drop > self.unseen / n and drop >= minimum)
        root = math.sqrt(n) / self.deviation
        shown_ = float(ndtr((drop - self.unseen / n) * root + ndtri(level)))
        return min(shown_, float(ndtr((drop - minimum) * root)))

    def needed(self, drop: float, level: float, target: float, minimum: float = 0.0) -> int | None:
        """Return the number of rows that detects a drop with the target power; None if more than 10**8, or none."""
        if drop <= minimum or drop <= 0:
            return None
        wide = float(ndtri(target) - ndtri(level)) * self.deviation
        root = (wide + math.sqrt(wide**2 + 4 * drop * self.unseen)) / (2 * drop)
        rows = max(root**2, (max(0.0, float(ndtri(target))) * self.deviation / (drop - minimum)) ** 2)
        return None if rows > MOST else max(self.fewest, math.ceil(rows))

    def detectable(self, n: int, level: float, target: float, minimum: float = 0.0) -> float:
        """Return the smallest drop that this many rows detect with the target power."""
        error = self.deviation / math.sqrt(n)
        return max(
            self.unseen / n + float(ndtri(target) - ndtri(level)) * error, minimum + float(ndtri(target)) * error
        )


@dataclass(frozen=True)
class SampledMean(Spread):
    """Spread of a mean difference, and the differences of rows, none of which exceeds the span."""

    differences: FloatArray = field(default_factory=lambda: np.zeros(1))
    span: float = 1.0

    def power(self, n: int, drop: float, level: float, minimum: float = 0.0) -> float:
        """Return the share of samples of n rows in which `sigstats.compare` detects the drop."""
        if n > SAMPLED:
            return super().power(n, drop, level, minimum)
        values, chances = _tilted(self.differences, -min(drop, self.span))
        samples = values.clip(-self.span, self.span)[np.searchsorted(chances, as_generator(0).random((SAMPLES, n)))]
        dropped = samples.mean(axis=1) <= -minimum * (1 - 1e-12)
        return float(np.mean(shown_below_zero([*map(units_of, samples)], self.span, level) & dropped))

    def needed(self, drop: float, level: float, target: float, minimum: float = 0.0) -> int | None:
        """Return the number of rows that detects a drop with the target power, at most two percent too large."""
        rows = super().needed(drop, level, target, minimum)
        if rows is None or rows > SAMPLED:
            return rows
        least = max(self.fewest, rows // 2) - 1
        return fewest_rows(least, lambda n: self.power(n, drop, level, minimum) >= target, one_in=50)

    def detectable(self, n: int, level: float, target: float, minimum: float = 0.0) -> float:
        """Return the smallest drop that this many rows detect with the target power."""
        about = super().detectable(n, level, target, minimum)
        if n > SAMPLED:
            return about
        drops: list[float] = np.linspace(about / 2, 3 * about, _STEPS).tolist()
        step = bisect_left(range(_STEPS - 1), True, key=lambda k: self.power(n, drops[k], level, minimum) >= target)
        return drops[step]


def _tilted(differences: FloatArray, mean: float) -> tuple[FloatArray, FloatArray]:
    """Return sorted values and cumulative probabilities, exponentially tilted to a mean (normal values are shifted).

    Values that are all on one side of the mean are shifted.
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


def planners_of(
    rows: Sequence[ComparisonRow], evidence: Evidence | None, places: Mapping[str, IntArray]
) -> list[Spread | None]:
    """Return the spread of each row, with the differences of single rows if their mean has limits.

    `places`: the rows of each slice.
    """
    spreads = [spread_of(row) for row in rows]
    if not isinstance(evidence, Values) or evidence.span is None or evidence.share or evidence.totals is not None:
        return spreads
    units = evidence.units
    if units.group is not None or units.weights is not None or units.in_time:
        return spreads
    differences, span = evidence.values[1] - evidence.values[0], evidence.span
    return [
        SampledMean(spread.deviation, spread.unseen, spread.fewest, differences[places[row.slice]], span)
        if spread and row.test.kind == "unseen" and row.slice in places
        else spread
        for row, spread in zip(rows, spreads, strict=True)
    ]


def spread_of(row: ComparisonRow, *, passing: bool = False) -> Spread | None:
    """Return the spread of a tested row; None if it has no interval.

    An unseen row could undo a drop by a gain, or a pass by a loss; both ends of the interval differ for skewed values.
    """
    if row.difference is None or row.low is None or row.high is None or row.confidence_level is None:
        return None
    quantile = float(ndtri((1 + row.confidence_level) / 2))
    error = (row.high - row.low) / (2 * quantile) if row.standard_error is None else row.standard_error
    reach = (row.high - row.difference) if row.lower_is_better == passing else (row.difference - row.low)
    fewest = fewest_with_interval(MEASURES[row.measure].share, (1 - row.confidence_level) / 2)
    return Spread(error * math.sqrt(row.n), max(0.0, reach - quantile * error) * row.n, fewest)
