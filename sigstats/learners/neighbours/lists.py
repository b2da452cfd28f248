"""The nearest rows of each row in the whole data, listed once, and the scales learned without each fold.

`MinMaxScaler` learns only from the extreme rows of each feature, `StandardScaler` from sums over all rows minus those
of the fold.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._common.validation import FloatArray, IntArray
from ..base import blocks
from ..door import compiled
from .nearest_neighbours import squared_distances

#: A fold of a replicate that contains all of this many most extreme rows of a feature is left to scikit-learn.
_EXTREMES = 16
#: A feature whose variance is no larger, relative to its squared values, may be constant but for rounding.
_CONSTANT = 1e-16
#: A fold without which a variance shrinks to less than one such part is left to scikit-learn.
_MOST = 100
#: Rounding of squared distances, relative to the largest square of a row.
_RELATIVE = 1e-12


@dataclass(frozen=True)
class Learned:
    """The weights that the scaler learns without each fold, (replicates, folds); None if nothing is scaled."""

    #: The weights of squared differences.
    weights: Any
    #: The smallest factor by which they differ from those over all rows.
    bound: Any
    #: Mask of the unknown weights.
    unknown: Any


class FoldScales:
    """The weights of squared differences that scaling amounts to; `weights`, (d,), as learned from all rows.

    `numbers`, (n, d), are the numeric features; NaN is missing. `mixed`: a distance has parts which no scaler changes.
    """

    def __init__(self, numbers: FloatArray, n_folds: int, *, scaled: bool, mixed: bool) -> None:
        self._n_folds, self._mixed = n_folds, mixed
        self._learns = scaled and bool(numbers.shape[1])
        self._extremes = [_extreme(numbers, sign) for sign in (1, -1)]
        low, high = (values[0] for _, values in self._extremes)
        self.weights = weights_of(high - low) if scaled else np.ones(numbers.shape[1])

    def learned(self, fold: IntArray) -> Learned:
        """Learn without each fold; `fold` is that of each row, (replicates, n)."""
        replicates = len(fold)
        unknown = np.zeros((replicates, self._n_folds), dtype=bool)
        if not self._learns:
            return Learned(None, None, unknown)
        ends = []
        for rows, values in self._extremes:
            where = fold[:, rows]  # (replicates, extremes, features)
            outside = where != where[:, :1]
            second = np.take_along_axis(
                np.broadcast_to(values, where.shape), outside.argmax(axis=1, keepdims=True), axis=1
            )[:, 0]
            end = np.repeat(np.repeat(values[None, :1], replicates, axis=0), self._n_folds, axis=1)
            np.put_along_axis(end, where[:, :1], second[:, None], axis=1)
            lost = ~outside.any(axis=1) | np.isnan(second)
            replicate, feature = np.nonzero(lost)
            unknown[replicate, where[replicate, 0, feature]] = True
            ends.append(end)
        weights = weights_of(ends[1] - ends[0])
        factors = (weights / self.weights)[..., self.weights != 0]
        bound = factors.min(axis=-1)
        if self._mixed:  # a mismatch of categories counts the same in every fold
            bound = np.minimum(bound, 1)
        return Learned(weights, bound, unknown)


class FoldVariances:
    """The weights of squared differences that `StandardScaler` amounts to; as `FoldScales`, for complete numbers.

    A feature that is constant in all rows except those of a fold has one distance from each of them, for any weight.
    `tolerance`: the largest error by rounding of a squared distance.
    """

    def __init__(self, numbers: FloatArray, n_folds: int) -> None:
        self._n_folds, d = n_folds, numbers.shape[1]
        self._numbers = numbers - numbers.mean(axis=0)
        variance = self._numbers.var(axis=0)
        self._varies: Any = variance > _CONSTANT * np.abs(numbers).max(axis=0) ** 2
        self.weights = np.where(self._varies, 1 / np.where(self._varies, variance, 1), 0)
        usual = np.partition(numbers, len(numbers) // 2, axis=0)[len(numbers) // 2]
        unusual = (numbers != usual).astype(np.float64)
        self._sums = np.hstack([self._numbers**2, self._numbers, unusual])
        self._parts = slice(0, d), slice(d, 2 * d), slice(2 * d, 3 * d)
        largest = float((self._numbers**2 @ self.weights).max())
        # Where a feature is constant but for a fold, `StandardScaler` leaves it in its own unit.
        alone = (unusual.sum(axis=0) <= len(numbers) // 2) & self._varies
        own_unit = float((self._numbers[:, alone] ** 2).sum(axis=1).max(initial=0))
        self.tolerance = max(1e-10, _RELATIVE * _MOST * largest, _RELATIVE * own_unit)

    def learned(self, fold: IntArray) -> Learned:
        """Learn without each fold; `fold` is that of each row, (replicates, n)."""
        inside = (fold[:, None, :] == np.arange(self._n_folds)[:, None]).astype(np.float64)
        rows = (fold.shape[1] - inside.sum(axis=2))[..., None]
        sums = self._sums.sum(axis=0) - (inside.reshape(-1, fold.shape[1]) @ self._sums).reshape(*inside.shape[:2], -1)
        squares, values, unusual = (sums[..., part] for part in self._parts)
        variance = squares / rows - (values / rows) ** 2
        constant = ~self._varies | (unusual.round() == 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(constant, 1, 1 / (variance * self.weights))
        known: Any = (factors > 0) & (factors <= _MOST)
        unknown = ~known.all(axis=-1)
        factors = np.where(unknown[..., None], 1, factors)
        return Learned(factors * self.weights, factors.min(axis=-1), unknown)


def weights_of(span: FloatArray) -> FloatArray:
    """Return the weight of a squared difference under `MinMaxScaler`, which leaves a constant feature as it is."""
    span = np.where(np.isnan(span), 1, span)
    return 1 / np.where(span < 10 * np.finfo(np.float64).eps, 1.0, span) ** 2


def range_weights(numbers: FloatArray, starts: IntArray) -> FloatArray:
    """Return the `MinMaxScaler` weights learned without each fold, (folds, d). The rows of a fold are adjacent."""
    low, high = (extreme.reduceat(numbers, starts[:-1], axis=0) for extreme in (np.fmin, np.fmax))
    fold = np.eye(len(low), dtype=bool)[:, :, None]
    with np.errstate(invalid="ignore"):
        return weights_of(
            np.fmax.reduce(np.where(fold, np.nan, high), axis=1) - np.fmin.reduce(np.where(fold, np.nan, low), axis=1)
        )


def _extreme(numbers: FloatArray, sign: int) -> tuple[IntArray, FloatArray]:
    """Return the rows with the smallest (of `sign` times) values of each feature, and those values."""
    rows = np.argsort(sign * numbers, axis=0, kind="stable")[:_EXTREMES]  # NaN comes last
    return rows, np.take_along_axis(numbers, rows, axis=0)


#: Memory the lists of nearest rows may take, bytes.
_LIST_BYTES = 2**27
#: The fewest rows beyond the k-th in a list; rarely do all of them share the row's fold.
_SPARE = 6


class NeighbourLists:
    """The nearest rows of each row, `near`, (n, length), in order, without the row itself.

    `distances`, (n, length + 1), are squared, with the weights that features have in all of the data; rows that are not
    listed are at least as far as the last one. Most rows are settled by `short` rows of a list. `squares`, (n, short,
    numeric features), are squared differences before weighting; `constant` are mismatches of categories, (n, length),
    or (n, 0) if there are neither categories nor missing values.
    """

    def __init__(
        self, X: FloatArray, nominal: Any, weights: FloatArray, *, k: int, tolerance: float, partly: bool
    ) -> None:
        self._X, self._nominal, self._numeric = X, nominal, np.flatnonzero(~nominal)
        self._weights, self._k, self._tolerance, self._partly = weights, k, tolerance, partly
        self._list_nearest()

    def walk(
        self, fold: IntArray, labels: IntArray, place: IntArray, learned: Learned, rule: tuple[Any, ...]
    ) -> IntArray | None:
        """Return `walk_lists`' predictions, (n, replicates), or None without Numba or with missing values.

        ``fold``, ``labels`` and ``place`` are those of each row, (replicates, n).
        """
        code = None if self._partly else compiled("neighbours")
        if code is None:
            return None
        weights, bound = learned.weights, learned.bound
        if weights is None:
            weights, bound = np.empty((len(fold), 0, 0)), np.empty((0, 0))
        place = np.require(place, requirements=["C", "W"])
        predicted = np.empty(place.T.shape, dtype=np.int64)
        lists, of_rows = (self.near, self.distances, self._weights), (_narrowed(fold), _narrowed(labels), place)
        code.walk_lists(lists, self._X, weights, bound, *of_rows, self._k, rule, predicted)
        return predicted

    def _list_nearest(self) -> None:
        """The nearest rows of each row over all rows, in order, up to the end of the ties of the first few."""
        X, n = self._X.copy(), len(self._X)
        X[:, self._numeric] *= np.sqrt(self._weights)
        longest = max(self._k + _SPARE + 1, _LIST_BYTES // (24 * n))
        wanted = min(self._k + _SPARE, n - 1) - 1
        items, needed = [], []
        for rows in blocks(n, 2 * n):
            distances = squared_distances(X[rows], X, self._nominal)
            distances[np.arange(len(distances)), np.arange(n)[rows]] = np.inf
            ends = (distances <= np.partition(distances, wanted, axis=1)[:, wanted, None] + self._tolerance).sum(axis=1)
            needed.append(ends)
            length = min(max(64, int(ends.max())) + 1, longest, n - 1)
            near = np.argpartition(distances, length - 1, axis=1)[:, :length]
            values = np.take_along_axis(distances, near, axis=1)
            order = values.argsort(axis=1)
            items.append((np.take_along_axis(near, order, axis=1), np.take_along_axis(values, order, axis=1)))
        length = max(near.shape[1] for near, _ in items)
        self.near = np.repeat(np.arange(n)[:, None], length, axis=1)  # a row is no neighbour of itself
        self.distances = np.full((n, length + 1), np.inf)
        for rows, (near, values) in zip(blocks(n, 2 * n), items, strict=True):
            self.near[rows, : near.shape[1]] = near
            self.distances[rows, : near.shape[1]] = values
            if near.shape[1] < n - 1:  # what is not listed is at least as far as the last that is
                self.distances[rows, near.shape[1] - 1 :] = values[:, -1:]
        usual = int(np.quantile(np.concatenate(needed), 0.9)) + 1
        self.short = min(max(usual, self._k + _SPARE), length)
        self._exact_distances()

    def _exact_distances(self) -> None:
        """Replace distances from a matrix product, which are rounded, by sums of squared differences."""
        n, length = self.near.shape
        d = len(self._numeric)
        self.squares = np.empty((n, self.short, d))
        self.constant = np.zeros((n, length if self._partly else 0))
        for rows in blocks(n, 8 * length * max(d, 1)):
            near = self.near[rows]
            squares = self.squared_differences(np.arange(n)[rows], near)
            self.squares[rows] = squares[:, : self.short]
            exact = squares @ self._weights
            if self._partly:
                self.constant[rows] = self._count_mismatches(np.arange(n)[rows], near)
                exact += self.constant[rows]
            finite = np.isfinite(self.distances[rows, :length])
            self.distances[rows, :length] = np.where(finite, exact, np.inf)

    def squared_differences(self, rows: IntArray, near: IntArray) -> FloatArray:
        """Return the squared differences of each row to others, by feature; 0 if one of the two is missing."""
        numbers = self._X[:, self._numeric]
        squares: FloatArray = (numbers[rows][:, None] - numbers[near]) ** 2
        return np.where(np.isnan(squares), 0, squares) if self._partly else squares

    def _count_mismatches(self, rows: IntArray, near: IntArray) -> IntArray:
        count = np.zeros(near.shape, dtype=np.int64)
        for j, column in enumerate(self._X.T):
            a, b = column[rows][:, None], column[near]
            count += (a != b) if self._nominal[j] else np.isnan(a) | np.isnan(b)
        return count


def _narrowed(codes: IntArray) -> Any:
    """Return the codes, (replicates, n), transposed and in few bytes, so that those of a row are contiguous."""
    return np.ascontiguousarray(codes.T, dtype=np.uint8 if codes.max() < 2**8 else np.int64)
