"""The nearest rows of each row over all data, listed once for all replicates."""

from typing import Any

import numpy as np

from ..._common.validation import FloatArray, IntArray
from ..base import blocks
from ..door import compiled
from .nearest_neighbours import squared_distances
from .scales import FoldWeights

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
