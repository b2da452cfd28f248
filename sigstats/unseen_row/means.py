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
from .law import MOST_ATOMS, atoms_of, tails

_MOST_STEPS = 60
#: So many values are kept as they are, and of more the variance grows by this share at most.
_FEW_ATOMS, _WIDER = 256, 1e-5
#: The last step towards a point, in standard deviations: what is left is far smaller.
_LAST_STEP = 1e-5


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
    """The distinct values and how often each occurs; of many, so many equidistant ones as widen no interval."""
    found, counts = values, np.ones(len(values))
    if 64 < len(values) <= most or len(np.unique(values[:: 1 + len(values) // 1000])) < 500:
        found, often = np.unique(values, return_counts=True)
        counts = often.astype(np.float64)
    if len(found) > _FEW_ATOMS:  # a value between two of distance h adds h^2 / 4 to the variance at most
        total, span = float(np.var(values)) * len(values), float(np.ptp(found))
        most = min(most, max(_FEW_ATOMS, math.ceil(span * math.sqrt(len(values) / (4 * _WIDER * total)))))
    return (found, counts) if len(found) <= most else atoms_of(found, counts, most)


def mean_interval(units: Units, limits: tuple[float, float], confidence_level: float = 0.95) -> Interval:
    """The interval of the mean of values within limits.

    `units`: as `units_of` makes them. `limits`: the least and the greatest value that one row can have.

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats.intervals import clopper_pearson
    >>> from sigstats.unseen_row.means import mean_interval, units_of
    >>> low, high = mean_interval(units_of(np.repeat([0.0, 1.0], [3, 7])), (0, 1))
    >>> round(low, 6), round(high, 6), round(clopper_pearson(7, 10).low, 6)
    (0.347547, 0.93326, 0.347547)
    """
    share = (1 - confidence_level) / 2
    low, high = _points(units, np.array([1.0, -1.0]), np.array([limits[0], -limits[1]], dtype=np.float64), share)
    return Interval(float(low), -float(high), confidence_level)


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
    less, greater = mean_pvalues(units, limit)
    return {"less": less, "greater": greater, "two-sided": min(1.0, 2 * min(less, greater))}[alternative]


def mean_pvalues(units: Units, limit: float) -> tuple[float, float]:
    """The p-values of "less" and "greater"."""
    less, greater = _shares_below(units, np.array([-1.0, 1.0]), np.array([-limit, -limit]), np.zeros(2))
    return max(float(less), math.ulp(0.0)), max(float(greater), math.ulp(0.0))


def _points(units: Units, signs: FloatArray, least: FloatArray, share: float) -> FloatArray:
    """The lower bounds of the values as they are (sign 1) and mirrored (sign -1)."""
    sums, sizes, counts = units
    size, total = float(sizes.max()), float(counts @ sizes)
    most = (signs[:, np.newaxis] * sums / sizes).max(axis=1)
    inside = most > least
    if not inside.all():
        found = least.copy()
        if inside.any():
            found[inside] = _points(units, signs[inside], least[inside], share)
        return found
    centre = (signs * float(counts @ sums) + size * least) / (total + size)
    residuals = signs[:, np.newaxis] * sums - centre[:, np.newaxis] * sizes
    unseen = size * (least - centre)
    square = (residuals**2 @ counts) + unseen**2
    skewness = 2 * ((residuals**3 @ counts) + unseen**3) / square**1.5
    return share_points(
        lambda means: _shares_below(units, signs, least, means),
        share,
        ends=(least, most),
        start=Start(centre, np.sqrt(square) / (total + size), skewness),
    )


def _shares_below(units: Units, signs: FloatArray, least: FloatArray, means: FloatArray) -> FloatArray:
    """The probabilities that the weighted means, one more unit at `least` included, are at most `means`."""
    factors = np.empty((len(signs), len(units.sums) + 1))
    factors[:, :-1] = signs[:, np.newaxis] * units.sums - means[:, np.newaxis] * units.sizes
    factors[:, -1] = units.sizes.max() * (least - means)
    return tails(factors, np.append(units.counts, 1.0))


class Start(NamedTuple):
    """The means, standard deviations and skewnesses of laws whose points are looked for."""

    centre: FloatArray
    spread: FloatArray
    skewness: FloatArray


def share_points(
    shares_below: Callable[[FloatArray], FloatArray], share: float, *, ends: tuple[FloatArray, FloatArray], start: Start
) -> FloatArray:
    """Where rising shares have this value, by secants of their normal quantiles, which are almost straight lines."""
    (bottom, top), wanted = ends, float(ndtri(share))
    skewness = np.clip(start.skewness, -1.0, 1.0)
    at = start.centre + (wanted + (wanted**2 - 1) / 6 * skewness) * start.spread  # Cornish and Fisher
    slope = start.spread * (1 + wanted / 3 * skewness)
    before: tuple[FloatArray, FloatArray] | None = None
    for _ in range(_MOST_STEPS):
        at = np.where((bottom < at) & (at < top), at, (bottom + top) / 2)
        excess = ndtri(shares_below(at)) - wanted
        bottom, top = np.where(excess > 0, bottom, at), np.where(excess > 0, at, top)
        finite = np.isfinite(excess)
        if before is not None:
            turned = finite & np.isfinite(before[1]) & (excess != before[1])
            slope = np.where(
                turned, (at - before[0]) / (np.where(turned, excess, 1.0) - np.where(turned, before[1], 0.0)), slope
            )
        step = np.where(finite, slope * excess, np.inf)
        before, at = (at, excess), np.where(finite, at - step, (bottom + top) / 2)
        done = (np.abs(step) <= _LAST_STEP * start.spread) | (top - bottom <= 1e-12 * (np.abs(bottom) + np.abs(top)))
        if done.all():
            break
    return np.clip(at, *ends)
