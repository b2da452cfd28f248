r"""Bounds of a mean of values within limits that remain valid with one more value, even the worst possible.

Units (rows, items or groups) get random weights, those of a flat Dirichlet distribution, and one more unit is added at
a limit of the values. The lower bound of confidence 1 - alpha is the alpha-quantile of the weighted mean, with the
added unit at the lower limit; the upper bound is its mirror image. For right and wrong answers it is Clopper and
Pearson's bound, and the p-value of differences of -1, 0 and 1 is McNemar's exact one.

`units_of` makes `Units` from values; `mean_intervals` and `mean_pvalues` compute the results for many means at once.
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
#: A search for a quantile ends with a step, or a product of the last two, below this, in standard deviations.
_LAST_STEP = 1e-8
_LARGEST_EXPONENT = 200  # values whose binary exponents are farther from 0 are scaled
_BATCH = 2**11  # at most this many units of several means are in one array


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
    """Return distinct units. Too many are pooled: to equidistant sums, or (few means) to sizes in equal ratios."""
    if sizes is None:
        values, counts = distinct(np.asarray(sums, dtype=np.float64), MOST_ATOMS)
        return Units(values, np.ones(len(values)), counts)
    pairs, often = np.unique(sums + 1j * np.asarray(sizes, dtype=np.float64), return_counts=True)
    units = Units(pairs.real, pairs.imag, often.astype(np.float64), row)
    means, mean_of = np.unique(units.sums / units.sizes, return_inverse=True)
    if len(pairs) <= MOST_ATOMS or len(means) > _FEW_MEANS:
        return units
    pooled = []
    for number in range(len(means)):
        same = mean_of == number
        pooled.append(pooled_weights(units.sizes[same], units.counts[same], MOST_ATOMS // len(means)))
    atoms, counts = (np.concatenate(part) for part in zip(*pooled, strict=True))
    return Units(np.repeat(means, [len(of_mean) for of_mean, _ in pooled]) * atoms, atoms, counts, row)


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
    least, most = np.array(limits, dtype=np.float64).reshape(-1, 2).T
    low, high = np.empty(len(many)), np.empty(len(many))
    for numbers, units in _batches(many):
        share, strict = shares_beyond((1 - confidence_level) / 2, missed(units.counts.sum(axis=1), units.row))
        units = units._replace(row=np.where(strict, np.inf, units.row))
        low[numbers] = _lower_bounds(units, least[numbers], share, fine)
        high[numbers] = -_lower_bounds(units.mirrored, -most[numbers], share, fine)
    return [Interval(*ends, confidence_level) for ends in zip(low.tolist(), high.tolist(), strict=True)]


def mean_points(units: Units, least: float, shares: FloatArray) -> FloatArray:
    """Return the lower bounds of one mean of values of `least` or more, with these shares of its law below them."""
    k = len(shares)
    sums, sizes, counts = (np.repeat(values[np.newaxis], k, axis=0) for values in units[:3])
    many = Units(sums, sizes, counts, np.full(k, units.row))
    return _lower_bounds(many, np.full(k, least), shares, fine=False)


def mean_pvalues(
    many: Sequence[Units], limits: Sequence[float], *, margins: Sequence[float] | None = None
) -> list[tuple[float, float]]:
    """Return p-values of "less" and "greater" for many means of 0 of values within a limit of 0.

    `margins`: of "the mean is the margin or more", and of "it is minus the margin or less", where that is not 0.
    """
    less, greater, limit = np.empty(len(many)), np.empty(len(many)), np.array(limits, dtype=np.float64)
    null_value = np.zeros(len(many)) if margins is None else -np.minimum(margins, limit)
    for numbers, units in _batches(many):
        less[numbers] = _pvalues(units.mirrored, -limit[numbers], null_value[numbers])
        greater[numbers] = _pvalues(units, -limit[numbers], null_value[numbers])
    positive = (np.maximum(pvalues, math.ulp(0.0)).tolist() for pvalues in (less, greater))
    return list(zip(*positive, strict=True))


def shown_below_zero(many: Sequence[Units], limit: float | FloatArray, level: float) -> NDArray[np.bool_]:
    """Test whether p-values of "less" are at most this level, with p to five digits, in a sixth of the time."""
    less, zero, least = np.empty(len(many)), np.zeros(len(many)), -np.broadcast_to(limit, len(many))
    for numbers, units in _batches(many):
        less[numbers] = _pvalues(units.mirrored, least[numbers], zero[numbers], COARSE)
    return np.asarray(less <= level)


def _batches(many: Sequence[Units]) -> Iterator[tuple[IntArray, Units]]:
    """Yield the numbers of some of these units, and their arrays as rows of one; counts of 0 fill shorter rows.

    Units of a batch have similar lengths, and fit into a cache.
    """
    lengths = np.array([len(units.sums) for units in many])
    order, start = np.argsort(lengths, kind="stable"), 0
    while start < len(order):
        widths = lengths[order[start:]]
        fit = (widths * np.arange(1, len(widths) + 1) <= _BATCH) & (widths <= 1.25 * widths[0] + 1)
        numbers = order[start : start + max(1, int(fit.sum()))]
        start += len(numbers)
        filled = np.arange(lengths[numbers].max()) < lengths[numbers, np.newaxis]
        *fields, row = zip(*(many[number] for number in numbers), strict=True)
        sums, sizes, counts = (np.repeat([array[:1] for array in field], filled.shape[1], axis=1) for field in fields)
        for padded, field in zip((sums, sizes, counts), fields, strict=True):
            padded[filled] = np.concatenate(field)
        yield numbers, Units(sums, sizes, np.where(filled, counts, 0.0), np.array(row))


def _lower_bounds(units: Units, least: FloatArray, share: FloatArray, fine: bool) -> FloatArray:
    """Return the lower bounds of the means of rows of units, with these shares below them."""
    sums, sizes, counts, _ = units
    exponents = np.frexp(np.maximum(np.abs(sums).max(axis=1), np.abs(least)))[1]
    if (np.abs(exponents) > _LARGEST_EXPONENT).any():  # powers of such values are no floats
        scaled = units._replace(sums=np.ldexp(sums, -exponents[:, np.newaxis]))
        return np.asarray(np.ldexp(_lower_bounds(scaled, np.ldexp(least, -exponents), share, fine), exponents))
    largest_mean = (sums / sizes).max(axis=1)
    inside = largest_mean > least
    if not inside.all():
        bounds = least.copy()
        if inside.any():
            bounds[inside] = _lower_bounds(_some_rows(units, inside), least[inside], share[inside], fine)
        return bounds
    total, largest_size = (counts * sizes).sum(axis=1), sizes.max(axis=1)
    mean = (counts * sums).sum(axis=1) / total
    centre = mean + _unseen(units, least, mean) / (total + largest_size)
    residuals, unseen = sums - centre[:, np.newaxis] * sizes, _unseen(units, least, centre)
    square = (counts * residuals**2).sum(axis=1) + unseen**2
    skewness = 2 * ((counts * residuals**3).sum(axis=1) + unseen**3) / square**1.5
    accuracy = FINE if fine else COARSE
    return find_quantiles(
        lambda means, rows: _shares_below(_some_rows(units, rows), least[rows], means, accuracy),
        share,
        last_step=_LAST_STEP**2 if fine else _LAST_STEP,
        ends=(least, largest_mean),
        start=Start(centre, np.sqrt(square) / (total + largest_size), skewness),
    )


def _some_rows(units: Units, rows: Any) -> Units:
    return Units(*(values[rows] for values in units))


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


def _pvalues(
    units: Units, least: FloatArray, null_value: FloatArray, accuracy: tuple[float, float] = FINE
) -> FloatArray:
    """Return the probabilities of `_shares_below`, allowing for an unseen kind of group."""
    like_seen = _shares_below(units, least, null_value, accuracy)
    chance = missed(units.counts.sum(axis=1), units.row)
    if not chance.any():
        return like_seen
    strict = _shares_below(units._replace(row=np.full(len(like_seen), np.inf)), least, null_value, accuracy)
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


def find_quantiles(
    shares_below: Callable[[FloatArray, IntArray], FloatArray],
    share: float | FloatArray,
    *,
    ends: tuple[FloatArray, FloatArray],
    start: Start,
    last_step: float = _LAST_STEP,
) -> FloatArray:
    """Return the quantiles of several laws, by secants of the normal quantiles of shares, which are almost straight.

    `shares_below`: the shares below a point of each of some laws, which are given by their numbers.
    """
    low, high = ends[0].copy(), ends[1].copy()
    wanted = np.broadcast_to(ndtri(share), low.shape)
    skewness = np.clip(start.skewness, -1.0, 1.0)
    points = start.centre + (wanted + (wanted**2 - 1) / 6 * skewness) * start.spread  # Cornish and Fisher
    slopes = start.spread * np.maximum(1 + wanted / 3 * skewness, 0.1)  # a slope of 0 would end the search here
    last_points, last_excess = np.zeros(len(points)), np.full(len(points), np.inf)
    last_steps, open_ = np.ones(len(points)), np.arange(len(points))
    for _ in range(_MOST_STEPS):
        below, above, point, before = low[open_], high[open_], points[open_], last_excess[open_]
        point = np.where((below < point) & (point < above), point, (below + above) / 2)
        excess = ndtri(shares_below(point, open_)) - wanted[open_]
        below, above = np.where(excess > 0, below, point), np.where(excess > 0, point, above)
        finite = np.isfinite(excess)
        secant = finite & np.isfinite(before) & (excess != before)
        run, rise = point - last_points[open_], np.where(secant, excess, 1.0) - np.where(secant, before, 0.0)
        slopes[open_] = np.where(secant, run / rise, slopes[open_])
        step = np.where(finite, slopes[open_] * excess, np.inf)
        low[open_], high[open_], last_points[open_], last_excess[open_] = below, above, point, excess
        points[open_] = np.where(finite, point - step, (below + above) / 2)
        steps = np.abs(step) / start.spread[open_]
        far = steps * np.minimum(1.0, last_steps[open_]) > last_step
        last_steps[open_] = steps
        open_ = open_[far & (above - below > 1e-12 * (np.abs(below) + np.abs(above)))]
        if not len(open_):
            break
    return np.clip(points, *ends)
