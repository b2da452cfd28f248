"""Spread of a difference in a pilot, and the resulting power of the test of `sigstats.compare`.

Up to 300 rows, the test of `sigstats.compare` is applied to samples of the pilot (`sigstats.sizing.samples`). For more
rows, and for data that cannot be sampled, the difference is taken as normal, and the bound of its test as a normal
error plus the exponential weight of one more, worst possible, row (`sigstats.comparison.deciding.Bound`).

When not to use: for the accuracy, whose power is exact (`sigstats.sizing.comparison`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from ..comparison.deciding import Bound, fewest_rows
from ..comparison.evidence import Evidence
from ..comparison.family import blank_row
from ..comparison.paired_predictions import PairedPredictions
from ..comparison.rows import ComparisonRow
from ..comparison.rule import ComparisonRule
from ..mcnemar.quantile_difference import fewest_with_interval
from ..measures.table import MEASURES
from .samples import SAMPLES, TiltedPilot, at_drop, can_be_sampled

#: Larger numbers of rows are not computed.
MOST: Final = 10**8
#: Largest number of rows or groups tested in samples.
SAMPLED: Final = 300
#: The same for a quantile, in rows; the spread of a quantile is less well known.
_SAMPLED_OF_QUANTILE: Final = 3000
#: Most corrections of a size or a drop by its power in samples, and the distance from the target that ends them.
_ROUNDS, _NEAR = 6, 0.03
#: Confidence at which no interval has ends: samples need no intervals, which would take most of the time.
_WITHOUT_ENDS = 1 - 1e-15


def fewest_of(level: float) -> int:
    """Return the fewest rows that can be significant at a level: if all n favour one model, p is at least 2**-n."""
    return math.ceil(-math.log2(level))


@dataclass(frozen=True)
class Spread:
    """Spread of a difference: the standard deviation of one row, and the effect of one more row, times n."""

    deviation: float
    unseen: float
    #: Fewest rows with an interval; more than two for quantiles.
    fewest: int

    def power(self, n: int, drop: float, level: float, minimum: float = 0.0) -> float:
        """Return the probability that a drop is significant and observed to be at least the minimum."""
        least, error = max(minimum, self._reach(n, level)), self.deviation / math.sqrt(n)
        return float(ndtr((drop - least) / error)) if error else float(drop >= least)

    def needed(self, drop: float, level: float, target: float, minimum: float = 0.0) -> int | None:
        """Return the number of rows that detects a drop with the target power; None if over 10**8, or if none does."""
        if drop <= minimum or drop <= 0:
            return None
        rows = fewest_rows(self.fewest - 1, lambda n: self.power(n, drop, level, minimum) >= target)
        return None if rows is None or rows > MOST else rows

    def detectable(self, n: int, level: float, target: float, minimum: float = 0.0) -> float:
        """Return the smallest drop that this many rows detect with the target power."""
        return max(minimum, self._reach(n, level)) + float(ndtri(target)) * self.deviation / math.sqrt(n)

    def _reach(self, n: int, level: float) -> float:
        """Return the smallest observed drop that is significant."""
        bound = Bound(self.deviation, self.unseen)
        most = -float(ndtri(level / 2)) * self.deviation / math.sqrt(n) - math.log(level / 2) * self.unseen / n
        return float(brentq(lambda drop: bound.share_beyond(drop, n) - level, 0.0, most)) if most else 0.0


@dataclass(frozen=True)
class Sampled(Spread):
    """Spread of a difference, and the pilot from which samples are drawn and tested."""

    pilot: TiltedPilot

    @property
    def most(self) -> int:
        """Return the largest number of rows that is sampled."""
        if MEASURES[self.pilot.row.measure].share:
            return _SAMPLED_OF_QUANTILE
        return round(SAMPLED * self.pilot.evidence.units.n / self.pilot.units)

    def power(self, n: int, drop: float, level: float, minimum: float = 0.0) -> float:
        """Return the share of samples of n rows in which `sigstats.compare` detects the drop."""
        if n <= self.most:
            pilot, chances = at_drop(self.pilot, drop)
            if chances is not None:
                return pilot.detected(n, chances, level, minimum)
        return self._normal.power(n, drop, level, minimum)

    def needed(self, drop: float, level: float, target: float, minimum: float = 0.0) -> int | None:
        """Return a number of rows that detects a drop with about the target power in samples."""
        low, high, rows = self.fewest - 1, math.inf, self._normal.needed(drop, level, target, minimum)
        for _ in range(_ROUNDS):
            if rows is None or rows > self.most:
                return rows
            share = self.power(rows, drop, level, minimum)
            if abs(share - target) <= _NEAR:
                return rows
            low, high = (low, rows) if share > target else (rows, high)
            if high - low == 1:
                break
            goal = self._as_normal(target, share, self._normal.power(rows, drop, level, minimum))
            rows = self._normal.needed(drop, level, goal, minimum)
            if rows is not None and not low < rows < high:
                rows = math.ceil((low + min(high, 3 * low)) / 2)
        return rows if high == math.inf else int(high)

    def detectable(self, n: int, level: float, target: float, minimum: float = 0.0) -> float:
        """Return the smallest drop that this many rows detect with about the target power."""
        drop = self._normal.detectable(n, level, target, minimum)
        for _ in range(_ROUNDS if n <= self.most else 0):
            share = self.power(n, drop, level, minimum)
            if abs(share - target) <= _NEAR:
                break
            goal = self._as_normal(target, share, self._normal.power(n, drop, level, minimum))
            drop = self._normal.detectable(n, level, goal, minimum)
        return drop

    @property
    def _normal(self) -> Spread:
        return Spread(self.deviation, self.unseen, self.fewest)

    @staticmethod
    def _as_normal(target: float, sampled: float, normal: float) -> float:
        """Return the normal power at which the power in samples is the target, from both powers of another size."""
        least = 0.5 / SAMPLES
        shift = ndtri(np.clip(normal, least, 1 - least)) - ndtri(np.clip(sampled, least, 1 - least))
        return float(np.clip(ndtr(ndtri(target) + shift), least, 1 - least))


def planners_of(
    paired: PairedPredictions,
    rows: Sequence[ComparisonRow],
    evidence: Evidence | None,
    rule: ComparisonRule,
    level: float,
) -> list[Spread | None]:
    """Return the spread of each tested row, with the pilot of its slice if rows of the evidence can be drawn again.

    The mean over tasks has no pilot. Samples have as many random weights as p-values at the level need.
    """
    spreads, places = [spread_of(row) for row in rows], dict(paired.units.parts)
    if evidence is None or not can_be_sampled(evidence, rows[0].measure):
        return spreads
    rule = replace(rule, n_resamples=max(1000, math.ceil(20 / level)), confidence_level=_WITHOUT_ENDS)

    def pilot(row: ComparisonRow) -> TiltedPilot:
        untested = blank_row(paired, row.measure, row.slice, row.n, row.items)
        return TiltedPilot(evidence.take(places[row.slice]), untested, rule).of_most_units()

    return [
        Sampled(spread.deviation, spread.unseen, spread.fewest, pilot(row))
        if spread and row.slice in places
        else spread
        for row, spread in zip(rows, spreads, strict=True)
    ]


def spread_of(row: ComparisonRow, *, passing: bool = False) -> Spread | None:
    """Return the spread of a tested row; None if it has no interval.

    An unseen row could undo a drop by a gain, or a pass by a loss; both ends of the interval differ for skewed values.
    """
    if row.difference is None or row.low is None or row.high is None or row.confidence_level is None:
        return None
    share = (1 - row.confidence_level) / 2
    reach = (row.high - row.difference) if row.lower_is_better == passing else (row.difference - row.low)
    bound = Bound.of(reach, row.standard_error, row.n, share)
    return Spread(*bound, fewest_with_interval(MEASURES[row.measure].share, share, lower=row.lower_is_better))
