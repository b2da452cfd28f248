r"""Bounds of a mean of values within limits that one more value, as bad as the limits allow, does not undo.

Rows (items, groups) get the weights of a flat Dirichlet law, and one more row is put in at a limit. The point of the
weighted mean's law with probability alpha below it is the lower bound, with the row at the lower limit; the upper bound
is its mirror image. For right and wrong it is Clopper and Pearson's, and the p-value of differences of -1, 0 and 1 is
McNemar's exact one.

When not to use: values without limits, of whose mean nothing is known; rows that are not independent, whose groups are
then the units.

References
----------
Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable,
Mathematical Methods of Statistics 14, 451-467. Phan, Thomas and Learned-Miller (2021), Towards practical mean bounds
for small samples, ICML. That it holds for every law is proved for few cases and was never seen to fail.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from .._common.validation import Alternative, FloatArray, IntArray
from ..intervals import Interval
from .law import MOST_ATOMS, atoms_of, tail

_MOST_STEPS = 60


class Units(NamedTuple):
    """The sum of the values of each unit (row, item or group), its size, and how often it occurs."""

    sums: FloatArray
    sizes: FloatArray
    counts: FloatArray

    @property
    def mirrored(self) -> "Units":
        """The same with the sign of the values turned."""
        return self._replace(sums=-self.sums)

    @property
    def mean(self) -> float:
        """The sum of all values over the sum of all sizes."""
        return float(self.counts @ self.sums) / float(self.counts @ self.sizes)


def units_of(sums: FloatArray, sizes: FloatArray | IntArray | None = None) -> Units:
    """The distinct units, or of more than some thousand rows as many equidistant ones."""
    if sizes is not None:
        pairs, often = np.unique(sums + 1j * np.asarray(sizes, dtype=np.float64), return_counts=True)
        return Units(pairs.real, pairs.imag, often.astype(np.float64))
    values, counts = distinct(np.asarray(sums, dtype=np.float64), MOST_ATOMS)
    return Units(values, np.ones(len(values)), counts)


def distinct(values: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """The distinct values and how often each occurs; of more than so many, equidistant ones."""
    found, counts = values, np.ones(len(values))
    if 64 < len(values) <= most or len(np.unique(values[:: 1 + len(values) // 1000])) < 500:
        found, often = np.unique(values, return_counts=True)
        counts = often.astype(np.float64)
    return (found, counts) if len(found) <= most else atoms_of(found, counts, most)


def mean_interval(units: Units, limits: tuple[float, float], confidence_level: float = 0.95) -> Interval:
    """The interval of the mean of values within limits.

    Parameters
    ----------
    units : Units
        As `units_of` makes them.
    limits : pair of float
        The least and the greatest value that one row can have.
    confidence_level : float

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats.intervals import clopper_pearson
    >>> from sigstats.unseen_row.means import mean_interval, units_of
    >>> low, high, _ = mean_interval(units_of(np.repeat([0.0, 1.0], [3, 7])), (0, 1))
    >>> round(low, 6), round(high, 6), round(clopper_pearson(7, 10).low, 6)
    (0.347547, 0.93326, 0.347547)
    """
    share = (1 - confidence_level) / 2
    return Interval(
        lower_bound(units, limits[0], share), -lower_bound(units.mirrored, -limits[1], share), confidence_level
    )


def mean_pvalue(units: Units, limit: float, alternative: Alternative = "two-sided") -> float:
    """The p-value of a mean of 0, where no value of a row is larger than `limit` or smaller than ``-limit``.

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats.mcnemar.test import mcnemar_test
    >>> from sigstats.unseen_row.means import mean_pvalue, units_of
    >>> round(mean_pvalue(units_of(np.repeat([1.0, 0.0, -1.0], [9, 50, 2])), 1.0, "greater"), 12)
    0.03271484375
    >>> mcnemar_test(9, 2, alternative="greater").pvalue
    0.03271484375
    """
    if alternative == "two-sided":
        return min(1.0, 2 * min(mean_pvalue(units, limit, "greater"), mean_pvalue(units, limit, "less")))
    return max(_share_below(units if alternative == "greater" else units.mirrored, -limit, 0.0), math.ulp(0.0))


def lower_bound(units: Units, least: float, share: float) -> float:
    """The point below which the weighted mean, with one more unit at `least`, is with this probability."""
    sums, sizes, counts = units
    most = float((sums / sizes).max())
    if most <= least:
        return least
    size, total = float(sizes.max()), float(counts @ sizes)
    centre = (float(counts @ sums) + size * least) / (total + size)
    residuals = sums - centre * sizes
    variance = float(counts @ (residuals * residuals)) + (size * (least - centre)) ** 2
    start = Start(centre, math.sqrt(variance) / (total + size))
    return share_point(lambda mean: _share_below(units, least, mean), share, ends=(least, most), start=start)


def _share_below(units: Units, least: float, mean: float) -> float:
    """The probability that the weighted mean, one more unit at `least` included, is at most `mean`."""
    unseen = float(units.sizes.max()) * (least - mean)
    return tail(np.append(units.sums - mean * units.sizes, unseen), np.append(units.counts, 1.0))


class Start(NamedTuple):
    """The mean and the standard deviation of a law whose point is looked for."""

    centre: float
    spread: float


def share_point(
    share_below: Callable[[float], float], share: float, *, ends: tuple[float, float], start: Start
) -> float:
    """Where a rising share has this value, by secants of its normal quantiles, which are almost a straight line."""
    (bottom, top), wanted = ends, float(ndtri(share))
    at, step = start.centre + wanted * start.spread, start.spread
    before: tuple[float, float] | None = None
    for _ in range(_MOST_STEPS):
        if not bottom < at < top:
            at = (bottom + top) / 2
        excess = float(ndtri(share_below(at))) - wanted
        bottom, top = (bottom, at) if excess > 0 else (at, top)
        if top - bottom <= 1e-12 * (abs(bottom) + abs(top)) or excess == 0:
            break
        if not math.isfinite(excess):
            at = (bottom + top) / 2
            continue
        if before is not None and excess != before[1]:
            step = (at - before[0]) / (excess - before[1])
        before = at, excess
        at -= step * excess
        if abs(step * excess) <= 1e-9 * start.spread:
            break
    return min(max(at, ends[0]), ends[1])
