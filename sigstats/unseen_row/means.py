r"""Bounds of a mean of values within limits that remain valid with one more value, even the worst possible.

Rows (items, groups) get the weights of a flat Dirichlet law, and one more row is put in at a limit. The point of the
weighted mean's law with probability alpha below it is the lower bound, with the row at the lower limit; the upper bound
is its mirror image. For right and wrong it is Clopper and Pearson's, and the p-value of differences of -1, 0 and 1 is
McNemar's exact one.

`Units` may state the weight of a row, where one more group is taken to be like those seen. docs/methods.md ("Bounds for
one more object") has that assumption, its cost, the simulations and the sources: Gaffke (2005), and Phan, Thomas and
Learned-Miller (2021). Its validity for every law is proved in a few cases, and no failure is known.

When not to use: values without limits, whose mean cannot be bounded; dependent rows, whose groups are then the units.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from .._common.validation import FloatArray, IntArray
from ..intervals import Interval
from .law import COARSE, FINE, MOST_ATOMS, atoms_of, pooled_weights, tails

#: Kinds of one more group: like those seen, any, or the former if there are enough groups.
UnseenGroup = Literal["auto", "like-seen", "any"]
#: The share of groups of the rarest kind that one more group is like, and the number of groups from which on such a
#: kind is missed with a probability of at most 0.0112. Fewer groups are taken to miss theirs as rarely.
RAREST, ENOUGH_GROUPS = 1 / 25, 110
_MOST_STEPS = 60
#: The most values that are kept as they are; pooling more of them adds at most this share to the variance.
_FEW_ATOMS, _WIDER = 256, 1e-5
_FEW_MEANS = 8  # sizes are pooled if the means of all units take at most this many values
#: The last step towards a point, or the product of the last two, in standard deviations: what is left is far smaller.
_LAST_STEP = 1e-8
_FAR = 200  # values whose binary exponents are farther from 0 are scaled
_TOGETHER = 2**11  # at most this many units of several means are in one array


class Units(NamedTuple):
    """The sum of the values of each unit (row, item or group), its size, and how often it occurs.

    `row`: the weight of the heaviest row of a group, if one more group is like those seen; infinity if it may have any
    values within the limits.
    """

    sums: FloatArray
    sizes: FloatArray
    counts: FloatArray
    row: Any = math.inf

    @property
    def mirrored(self) -> "Units":
        """The units with values of opposite sign."""
        return self._replace(sums=-self.sums)

    @property
    def mean(self) -> float:
        """The sum of all values over the sum of all sizes."""
        return float(self.counts @ self.sums) / float(self.counts @ self.sizes)

    @property
    def standard_error(self) -> float:
        """The standard error of the mean (Cochran 1977, section 6.4), for two units or more."""
        errors, many = self.sums - self.mean * self.sizes, float(self.counts.sum())
        return math.sqrt(float(self.counts @ errors**2) * many / (many - 1)) / float(self.counts @ self.sizes)


def sums_by(codes: IntArray, values: FloatArray, size: int = 0) -> FloatArray:
    """Return the sum of each code's values, smallest first, so that the order of rows changes no digit."""
    order = values.argsort()
    return np.asarray(np.bincount(codes[order], values[order], size), dtype=np.float64)


def units_of(sums: FloatArray, sizes: FloatArray | IntArray | None = None, row: float = math.inf) -> Units:
    """Return distinct units. If too many, they are pooled by equidistant sums, or (few means) sizes in equal ratios."""
    if sizes is not None:
        pairs, often = np.unique(sums + 1j * np.asarray(sizes, dtype=np.float64), return_counts=True)
        units = Units(pairs.real, pairs.imag, often.astype(np.float64), row)
        means, of = np.unique(units.sums / units.sizes, return_inverse=True)
        if len(pairs) <= MOST_ATOMS or len(means) > _FEW_MEANS:
            return units
        of_means = [of == mean for mean in range(len(means))]
        parts = [pooled_weights(units.sizes[at], units.counts[at], MOST_ATOMS // len(means)) for at in of_means]
        atoms, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Units(np.repeat(means, [len(part[0]) for part in parts]) * atoms, atoms, counts, row)
    values, counts = distinct(np.asarray(sums, dtype=np.float64), MOST_ATOMS)
    return Units(values, np.ones(len(values)), counts)


def row_of_groups(groups: int, unseen_group: UnseenGroup = "auto", row: float = 1.0) -> float:
    """Return the weight of the heaviest row if an unseen group may be assumed like those seen; otherwise infinity."""
    like_seen = groups >= ENOUGH_GROUPS if unseen_group == "auto" else unseen_group == "like-seen"
    return row if like_seen else math.inf


def distinct(values: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Return distinct values and counts; many are replaced by enough equidistant values to widen no interval."""
    atoms, counts = values, np.ones(len(values))
    if 64 < len(values) <= most or len(np.unique(values[:: 1 + len(values) // 1000])) < 500:
        atoms, often = np.unique(values, return_counts=True)
        counts = often.astype(np.float64)
    if len(atoms) > _FEW_ATOMS:  # a value between two of distance h adds h^2 / 4 to the variance at most
        total, span = float(np.var(values)) * len(values), float(np.ptp(atoms))
        most = min(most, max(_FEW_ATOMS, math.ceil(span * math.sqrt(len(values) / (4 * _WIDER * total)))))
    return (atoms, counts) if len(atoms) <= most else atoms_of(atoms, counts, most)


def mean_interval(
    units: Units, limits: tuple[float, float], confidence_level: float = 0.95, *, fine: bool = False
) -> Interval:
    """Return the interval of the mean of values within limits, of `units_of`.

    `limits`: the least and the greatest value that one row can have. `fine`: to eleven digits, and not to eight, which
    takes three times as long.
    """
    return mean_intervals([units], [limits], confidence_level, fine=fine)[0]


def mean_intervals(
    many: Sequence[Units], limits: Sequence[tuple[float, float]], confidence_level: float = 0.95, *, fine: bool = False
) -> list[Interval]:
    """Return the intervals of many means, as `mean_interval` does, but about a hundred times as fast."""
    of_each = np.array(limits, dtype=np.float64).reshape(-1, 2)
    low, high = np.empty(len(many)), np.empty(len(many))
    for where, units in _together(many):
        share, strict = shares_beyond((1 - confidence_level) / 2, missed(units.counts.sum(axis=1), units.row))
        units = units._replace(row=np.where(strict, np.inf, units.row))
        low[where] = _points(units, of_each[where, 0], share, fine)
        high[where] = -_points(units.mirrored, -of_each[where, 1], share, fine)
    return [Interval(*ends, confidence_level) for ends in zip(low.tolist(), high.tolist(), strict=True)]


def mean_points(units: Units, least: float, shares: FloatArray) -> FloatArray:
    """Return the lower bounds of one mean of values of `least` or more, with these shares of its law below them."""
    k = len(shares)
    sums, sizes, counts = (np.repeat(of[np.newaxis], k, axis=0) for of in units[:3])
    many = Units(sums, sizes, counts, np.full(k, units.row))
    return _points(many, np.full(k, least), shares, fine=False)


def mean_pvalues(
    many: Sequence[Units], limits: Sequence[float], *, margins: Sequence[float] | None = None
) -> list[tuple[float, float]]:
    """Return p-values of "less" and "greater" for many means of 0 of values within a limit of 0.

    `margins`: of "the mean is the margin or more", and of "it is minus the margin or less", where that is not 0.
    """
    less, greater, limit = np.empty(len(many)), np.empty(len(many)), np.array(limits, dtype=np.float64)
    at = np.zeros(len(many)) if margins is None else -np.minimum(margins, limit)
    for where, units in _together(many):
        less[where] = _pvalues(units.mirrored, -limit[where], at[where])
        greater[where] = _pvalues(units, -limit[where], at[where])
    bounds = (np.maximum(array, math.ulp(0.0)).tolist() for array in (less, greater))
    return list(zip(*bounds, strict=True))


def shown_below_zero(many: Sequence[Units], limit: float | FloatArray, level: float) -> NDArray[np.bool_]:
    """Test whether p-values of "less" are at most this level, with p to five digits, in a sixth of the time."""
    less, at, limits = np.empty(len(many)), np.zeros(len(many)), -np.broadcast_to(limit, len(many))
    for where, units in _together(many):
        less[where] = _pvalues(units.mirrored, limits[where], at[where], COARSE)
    return np.asarray(less <= level)


def _together(many: Sequence[Units]) -> Iterator[tuple[IntArray, Units]]:
    """Yield arrays of units of similar lengths, one per row, that fit into a cache; counts of 0 fill the rows."""
    lengths = np.array([len(units.sums) for units in many])
    order, start = np.argsort(lengths, kind="stable"), 0
    while start < len(order):
        widths = lengths[order[start:]]
        fit = (widths * np.arange(1, len(widths) + 1) <= _TOGETHER) & (widths <= 1.25 * widths[0] + 1)
        where = order[start : start + max(1, int(fit.sum()))]
        start += len(where)
        place = np.arange(lengths[where].max()) < lengths[where, np.newaxis]
        *of_units, weights = zip(*(many[number] for number in where), strict=True)
        rows = [np.repeat([value[:1] for value in of], place.shape[1], axis=1) for of in of_units]
        for row, of in zip(rows, of_units, strict=True):
            row[place] = np.concatenate(of)
        yield where, Units(rows[0], rows[1], np.where(place, rows[2], 0.0), np.array(weights))


def _points(units: Units, least: FloatArray, share: FloatArray, fine: bool) -> FloatArray:
    """Return the lower bounds of the means of rows of units, with these shares below them."""
    sums, sizes, counts, _ = units
    exponents = np.frexp(np.maximum(np.abs(sums).max(axis=1), np.abs(least)))[1]
    if (np.abs(exponents) > _FAR).any():  # powers of such values are no floats
        scaled = units._replace(sums=np.ldexp(sums, -exponents[:, np.newaxis]))
        return np.asarray(np.ldexp(_points(scaled, np.ldexp(least, -exponents), share, fine), exponents))
    total = (counts * sizes).sum(axis=1)
    most = (sums / sizes).max(axis=1)
    inside = most > least
    if not inside.all():
        points = least.copy()
        if inside.any():
            points[inside] = _points(Units(*(unit[inside] for unit in units)), least[inside], share[inside], fine)
        return points
    mean, size = (counts * sums).sum(axis=1) / total, sizes.max(axis=1)
    centre = mean + _unseen(units, least, mean) / (total + size)
    residuals, unseen = sums - centre[:, np.newaxis] * sizes, _unseen(units, least, centre)
    square = (counts * residuals**2).sum(axis=1) + unseen**2
    skewness = 2 * ((counts * residuals**3).sum(axis=1) + unseen**3) / square**1.5
    return share_points(
        lambda means, left: _shares_below(
            Units(*(unit[left] for unit in units)), least[left], means, FINE if fine else COARSE
        ),
        share,
        last_step=_LAST_STEP**2 if fine else _LAST_STEP,
        ends=(least, most),
        start=Start(centre, np.sqrt(square) / (total + size), skewness),
    )


def missed(groups: Any, row: Any) -> FloatArray:
    """Return the probability that this many groups lack the rarest kind; 0 if one more group may be of any kind."""
    return np.asarray(np.where(np.isinf(row), 0.0, (1 - RAREST) ** np.maximum(groups, ENOUGH_GROUPS)))


def combined(like_seen: Any, strict: Any, chance: Any) -> FloatArray:
    """Combine p-values for one more group like those seen and of any kind, by the chance of an unseen kind."""
    return np.asarray(np.minimum(1.0, np.where(strict < chance, 2 * strict, np.maximum(like_seen, chance) + chance)))


def shares_beyond(share: float, chance: Any) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the share beyond an end, allowing for the chance of an unseen kind, and a mask of ends for any kind."""
    strict = (share <= 2 * chance) & (chance > 0)
    return np.where(strict, share / 2, share - chance), strict


def _pvalues(units: Units, least: FloatArray, at: FloatArray, accuracy: tuple[float, float] = FINE) -> FloatArray:
    """Return the probabilities of `_shares_below`, allowing for an unseen kind of group."""
    like_seen, chance = _shares_below(units, least, at, accuracy), missed(units.counts.sum(axis=1), units.row)
    if not chance.any():
        return like_seen
    strict = _shares_below(units._replace(row=np.full(len(at), np.inf)), least, at, accuracy)
    return combined(like_seen, strict, chance)


def _shares_below(
    units: Units, least: FloatArray, means: FloatArray, accuracy: tuple[float, float] = FINE
) -> FloatArray:
    """Return the probabilities that the weighted means, one more unit at `least` included, are at most `means`."""
    factors = np.column_stack([_unseen(units, least, means), units.sums - means[:, np.newaxis] * units.sizes])
    return tails(factors, np.column_stack([np.ones(len(means)), units.counts]), accuracy)


def _unseen(units: Units, least: FloatArray, means: FloatArray) -> FloatArray:
    """Return the distance of one more unit from these means, times its size."""
    lost, largest = least - means, units.sizes.max(axis=1)
    far = largest * np.abs(units.sums / units.sizes - means[:, np.newaxis]).max(axis=1)
    return np.asarray(np.maximum(largest * lost, np.minimum(-far, np.minimum(units.row, largest) * lost)))


class Start(NamedTuple):
    """Means, standard deviations and skewnesses from which the search for quantiles starts."""

    centre: FloatArray
    spread: FloatArray
    skewness: FloatArray


def share_points(
    shares_below: Callable[[FloatArray, IntArray], FloatArray],
    share: float | FloatArray,
    *,
    ends: tuple[FloatArray, FloatArray],
    start: Start,
    last_step: float = _LAST_STEP,
) -> FloatArray:
    """Return where rising shares take these values, by secants of their normal quantiles, almost straight lines.

    `shares_below`: the shares at points of some of the laws, and which.
    """
    bottom, top, wanted = ends[0].copy(), ends[1].copy(), np.broadcast_to(ndtri(share), ends[0].shape)
    skewness = np.clip(start.skewness, -1.0, 1.0)
    at = start.centre + (wanted + (wanted**2 - 1) / 6 * skewness) * start.spread  # Cornish and Fisher
    slope = start.spread * np.maximum(1 + wanted / 3 * skewness, 0.1)  # a slope of 0 would end the search here
    before: tuple[FloatArray, FloatArray] = np.zeros(len(at)), np.full(len(at), np.inf)
    latest, left = np.ones(len(at)), np.arange(len(at))
    for _ in range(_MOST_STEPS):
        low, high, point = bottom[left], top[left], at[left]
        point = np.where((low < point) & (point < high), point, (low + high) / 2)
        excess = ndtri(shares_below(point, left)) - wanted[left]
        low, high = np.where(excess > 0, low, point), np.where(excess > 0, point, high)
        finite, (point_before, excess_before) = np.isfinite(excess), (array[left] for array in before)
        turned = finite & np.isfinite(excess_before) & (excess != excess_before)
        run, rise = point - point_before, np.where(turned, excess, 1.0) - np.where(turned, excess_before, 0.0)
        slope[left] = np.where(turned, run / rise, slope[left])
        step = np.where(finite, slope[left] * excess, np.inf)
        before[0][left], before[1][left], bottom[left], top[left] = point, excess, low, high
        at[left] = np.where(finite, point - step, (low + high) / 2)
        steps = np.abs(step) / start.spread[left]
        far = steps * np.minimum(1.0, latest[left]) > last_step
        latest[left] = steps
        left = left[far & (high - low > 1e-12 * (np.abs(low) + np.abs(high)))]
        if not len(left):
            break
    return np.clip(at, *ends)
