"""The nearest rows of each row over all data, listed once for all replicates, and the weights of a scaler in each fold.

The weights are those of squared differences under a scaler that is fitted without a fold: `MinMaxScaler` learns only
from the extreme rows of each feature, `StandardScaler` from sums over all rows minus those of the fold.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._common.validation import FloatArray, IntArray
from ..base import blocks, compiled
from .nearest_neighbours import squared_distances

#: Number of smallest and of largest rows of each feature; a fold that contains all of them is left to scikit-learn.
_EXTREMES = 16
#: Variance, relative to the largest squared value, up to which a feature may be constant except for rounding.
_CONSTANT = 1e-16
#: Largest ratio of a fold's weight to the weight from all rows; larger ones are left to scikit-learn.
_LARGEST_FACTOR = 100
#: Rounding error of squared distances, relative to the largest squared norm of a row.
_RELATIVE = 1e-12


@dataclass(frozen=True)
class FoldWeights:
    """Weights of squared differences under a scaler that is fitted without each fold of each replicate.

    `weights` and `bound` are None if nothing is scaled.
    """

    #: Weight of each numeric feature, shape (replicates, folds, d).
    weights: Any
    #: Smallest ratio of a fold's weights to the weights from all rows, shape (replicates, folds). A squared
    #: distance of at least D with the latter is at least ``bound * D`` with the weights of the fold.
    bound: Any
    #: True for a fold whose weights could not be computed; scikit-learn predicts it. Shape (replicates, folds).
    unknown: Any


class MinMaxWeights:
    """Weights under `MinMaxScaler`, or ones if `scaled` is False. `weights`, shape (d,), are those from all rows.

    The range without a fold is read from the `_EXTREMES` smallest and largest rows of each feature. `numbers`, shape
    (n, d): numeric features, NaN if missing. `mixed`: distances also contain parts that are not scaled.
    """

    def __init__(self, numbers: FloatArray, n_folds: int, *, scaled: bool, mixed: bool) -> None:
        self._n_folds, self._mixed = n_folds, mixed
        self._is_scaled = scaled and bool(numbers.shape[1])
        self._extremes = [_extreme(numbers, sign) for sign in (1, -1)]
        low, high = (values[0] for _, values in self._extremes)
        self.weights = weights_of(high - low) if scaled else np.ones(numbers.shape[1])

    def without_each_fold(self, fold: IntArray) -> FoldWeights:
        """Return the weights without each fold. `fold`, shape (replicates, n): the fold of each row."""
        replicates = len(fold)
        unknown = np.zeros((replicates, self._n_folds), dtype=bool)
        if not self._is_scaled:
            return FoldWeights(None, None, unknown)
        ends = []
        for rows, values in self._extremes:
            row_fold = fold[:, rows]  # (replicates, extremes, features)
            # Without its own fold, the most extreme value is replaced by the next one of another fold.
            outside = row_fold != row_fold[:, :1]
            next_row = outside.argmax(axis=1, keepdims=True)
            second = np.take_along_axis(np.broadcast_to(values, row_fold.shape), next_row, axis=1)[:, 0]
            end = np.repeat(np.repeat(values[None, :1], replicates, axis=0), self._n_folds, axis=1)
            np.put_along_axis(end, row_fold[:, :1], second[:, None], axis=1)
            replicate, feature = np.nonzero(~outside.any(axis=1) | np.isnan(second))
            unknown[replicate, row_fold[replicate, 0, feature]] = True
            ends.append(end)
        weights = weights_of(ends[1] - ends[0])
        factors = (weights / self.weights)[..., self.weights != 0]
        bound = factors.min(axis=-1)
        if self._mixed:  # a mismatch of categories counts the same in every fold
            bound = np.minimum(bound, 1)
        return FoldWeights(weights, bound, unknown)


class StandardWeights:
    """Weights under `StandardScaler`, for features without missing values; `weights` as in `MinMaxWeights`.

    The variance without a fold is computed from sums over all rows minus sums over the fold. If a feature is constant
    outside a fold, it adds the same amount to all distances from a tested row, so its weight does not matter.
    `tolerance`: largest rounding error of a squared distance.
    """

    def __init__(self, numbers: FloatArray, n_folds: int) -> None:
        self._n_folds, d = n_folds, numbers.shape[1]
        self._numbers = numbers - numbers.mean(axis=0)
        variance = self._numbers.var(axis=0)
        self._varies: Any = variance > _CONSTANT * np.abs(numbers).max(axis=0) ** 2
        self.weights = np.where(self._varies, 1 / np.where(self._varies, variance, 1), 0)
        middle = np.partition(numbers, len(numbers) // 2, axis=0)[len(numbers) // 2]
        differs = (numbers != middle).astype(np.float64)
        self._sums = np.hstack([self._numbers**2, self._numbers, differs])
        self._parts = slice(0, d), slice(d, 2 * d), slice(2 * d, 3 * d)
        largest = float((self._numbers**2 @ self.weights).max())
        # `StandardScaler` does not scale a feature that is constant outside a fold.
        mostly_constant = (differs.sum(axis=0) <= len(numbers) // 2) & self._varies
        unscaled = float((self._numbers[:, mostly_constant] ** 2).sum(axis=1).max(initial=0))
        self.tolerance = max(1e-10, _RELATIVE * _LARGEST_FACTOR * largest, _RELATIVE * unscaled)

    def without_each_fold(self, fold: IntArray) -> FoldWeights:
        """Return the weights without each fold. `fold`, shape (replicates, n): the fold of each row."""
        inside = (fold[:, None, :] == np.arange(self._n_folds)[:, None]).astype(np.float64)
        rows = (fold.shape[1] - inside.sum(axis=2))[..., None]
        sums = self._sums.sum(axis=0) - (inside.reshape(-1, fold.shape[1]) @ self._sums).reshape(*inside.shape[:2], -1)
        squares, values, differs = (sums[..., part] for part in self._parts)
        variance = squares / rows - (values / rows) ** 2
        constant = ~self._varies | (differs.round() == 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(constant, 1, 1 / (variance * self.weights))
        known: Any = (factors > 0) & (factors <= _LARGEST_FACTOR)
        unknown = ~known.all(axis=-1)
        factors = np.where(unknown[..., None], 1, factors)
        return FoldWeights(factors * self.weights, factors.min(axis=-1), unknown)


def weights_of(span: FloatArray) -> FloatArray:
    """Return the weight of a squared difference under `MinMaxScaler`, which leaves a constant feature as it is."""
    span = np.where(np.isnan(span), 1, span)
    return 1 / np.where(span < 10 * np.finfo(np.float64).eps, 1.0, span) ** 2


def range_weights(numbers: FloatArray, starts: IntArray) -> FloatArray:
    """Return the weights under `MinMaxScaler` without each fold, shape (folds, d). The rows of a fold are adjacent."""
    low, high = (extreme.reduceat(numbers, starts[:-1], axis=0) for extreme in (np.fmin, np.fmax))
    fold = np.eye(len(low), dtype=bool)[:, :, None]
    highest, lowest = np.where(fold, np.nan, high), np.where(fold, np.nan, low)
    with np.errstate(invalid="ignore"):
        return weights_of(np.fmax.reduce(highest, axis=1) - np.fmin.reduce(lowest, axis=1))


def _extreme(numbers: FloatArray, sign: int) -> tuple[IntArray, FloatArray]:
    """Return the rows with the smallest (of `sign` times) values of each feature, and those values."""
    rows = np.argsort(sign * numbers, axis=0, kind="stable")[:_EXTREMES]  # NaN comes last
    return rows, np.take_along_axis(numbers, rows, axis=0)


#: Largest memory of the lists of nearest rows, in bytes.
_LIST_BYTES = 2**27
#: The fewest rows beyond the k-th in a list; rarely are all of them in the fold of the row.
_SPARE = 6
#: The fewest rows in a list, if memory allows.
_SHORTEST = 64


class NeighbourLists:
    """For each row, its nearest rows over all data, in ascending order of distance.

    `near`, shape (n, length): the listed rows, without the row itself. `distances`, shape (n, length + 1): squared
    distances with the weights from all rows; a row that is not listed is at least as far as the last entry.
    `usual_length`: number of entries that is enough for most rows. `squares`, shape (n, usual_length, d): unweighted
    squared differences. `mismatches`: number of features that differ in category or are missing, shape (n, length), or
    (n, 0) without categories and missing values (`has_mismatches`).
    """

    def __init__(
        self, X: FloatArray, nominal: Any, weights: FloatArray, *, k: int, tolerance: float, has_mismatches: bool
    ) -> None:
        self._X, self._nominal, self._numeric = X, nominal, np.flatnonzero(~nominal)
        self._weights, self._k, self._tolerance, self._has_mismatches = weights, k, tolerance, has_mismatches
        self._list_nearest()

    def predict_compiled(
        self, fold: IntArray, labels: IntArray, place: IntArray, scales: FoldWeights, rule: tuple[Any, ...]
    ) -> IntArray | None:
        """Return the predictions, shape (n, replicates); None without Numba, or with categories or missing values.

        `fold`, `labels` and `place` are those of each row, shape (replicates, n); `rule`: the fields of the compiled
        code's `Rule`.
        """
        code = None if self._has_mismatches else compiled("neighbours")
        if code is None:
            return None
        weights, bound = scales.weights, scales.bound
        if weights is None:
            weights, bound = np.empty((len(fold), 0, 0)), np.empty((0, 0))
        place = np.require(place, requirements=["C", "W"])
        predicted = np.empty(place.T.shape, dtype=np.int64)
        lists = code.Lists(self.near, self.distances, self._weights)
        fold, labels = _narrowed(fold), _narrowed(labels)
        code.walk_lists(lists, self._X, weights, bound, fold, labels, place, self._k, code.Rule(*rule), predicted)
        return predicted

    def _list_nearest(self) -> None:
        """List the nearest rows, up to the end of the ties at place ``k + _SPARE`` if memory allows."""
        X, n = self._X.copy(), len(self._X)
        X[:, self._numeric] *= np.sqrt(self._weights)
        longest = max(self._k + _SPARE + 1, _LIST_BYTES // (24 * n))  # 24 bytes per listed row
        wanted = min(self._k + _SPARE, n - 1) - 1
        lists, needed = [], []
        for rows in blocks(n, 2 * n):
            distances = squared_distances(X[rows], X, self._nominal)
            distances[np.arange(len(distances)), np.arange(n)[rows]] = np.inf
            last = np.partition(distances, wanted, axis=1)[:, wanted, None]
            tied_ends = (distances <= last + self._tolerance).sum(axis=1)
            needed.append(tied_ends)
            length = min(max(_SHORTEST, int(tied_ends.max())) + 1, longest, n - 1)
            near = np.argpartition(distances, length - 1, axis=1)[:, :length]
            values = np.take_along_axis(distances, near, axis=1)
            order = values.argsort(axis=1)
            lists.append((np.take_along_axis(near, order, axis=1), np.take_along_axis(values, order, axis=1)))
        length = max(near.shape[1] for near, _ in lists)
        self.near = np.repeat(np.arange(n)[:, None], length, axis=1)  # a row is not a neighbour of itself
        self.distances = np.full((n, length + 1), np.inf)
        for rows, (near, values) in zip(blocks(n, 2 * n), lists, strict=True):
            self.near[rows, : near.shape[1]] = near
            self.distances[rows, : near.shape[1]] = values
            if near.shape[1] < n - 1:  # other rows are at least as far as the last one
                self.distances[rows, near.shape[1] - 1 :] = values[:, -1:]
        most = int(np.quantile(np.concatenate(needed), 0.9)) + 1
        self.usual_length = min(max(most, self._k + _SPARE), length)
        self._exact_distances()

    def _exact_distances(self) -> None:
        """Replace distances from a matrix product, which are rounded, by sums of squared differences."""
        n, length = self.near.shape
        d = len(self._numeric)
        self.squares = np.empty((n, self.usual_length, d))
        self.mismatches = np.zeros((n, length if self._has_mismatches else 0))
        for rows in blocks(n, 8 * length * max(d, 1)):
            near = self.near[rows]
            squares = self.squared_differences(np.arange(n)[rows], near)
            self.squares[rows] = squares[:, : self.usual_length]
            exact = squares @ self._weights
            if self._has_mismatches:
                self.mismatches[rows] = self._count_mismatches(np.arange(n)[rows], near)
                exact += self.mismatches[rows]
            finite = np.isfinite(self.distances[rows, :length])
            self.distances[rows, :length] = np.where(finite, exact, np.inf)

    def squared_differences(self, rows: IntArray, near: IntArray) -> FloatArray:
        """Return the squared differences of each row to others, by feature; 0 if one of the two is missing."""
        numbers = self._X[:, self._numeric]
        squares: FloatArray = (numbers[rows][:, None] - numbers[near]) ** 2
        return np.where(np.isnan(squares), 0, squares) if self._has_mismatches else squares

    def _count_mismatches(self, rows: IntArray, near: IntArray) -> IntArray:
        count = np.zeros(near.shape, dtype=np.int64)
        for j, column in enumerate(self._X.T):
            a, b = column[rows][:, None], column[near]
            count += (a != b) if self._nominal[j] else np.isnan(a) | np.isnan(b)
        return count


def _narrowed(codes: IntArray) -> Any:
    """Return codes of shape (replicates, n), transposed and in few bytes, so that those of a row are contiguous."""
    return np.ascontiguousarray(codes.T, dtype=np.uint8 if codes.max() < 2**8 else np.int64)
