"""The nearest rows of each row in all of the data, listed once, with what their distances are made of."""

from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray, IntArray

from ..base import blocks
from ..door import compiled
from .nearest_neighbours import squared_distances
from .scales import Learned

#: Memory the lists of nearest rows may take, bytes.
_LIST_BYTES = 2**27

#: So many rows beyond the k-th a list holds at least; that all of them share the row's fold is rare.
_SPARE = 6


class NeighbourLists:
    """The nearest rows of each row, `near`, (n, length), in order; a row is no neighbour of itself.

    `distances`, (n, length + 1), are squared, with the weights that features have in all of the data; what is not
    listed is at least as far as the last one. Most rows are settled by `short` rows of a list. `squares`, (n, short,
    numeric features), are squared differences before they are weighted; `constant` mismatches of categories, (n,
    length), or (n, 0) where there are neither categories nor missing values.
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
        """The predictions of `walk_lists`, (n, replicates); None without Numba, or with categories or missing values.

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
        lists, of_rows = (self.near, self.distances, self._weights), (narrowed(fold), narrowed(labels), place)
        code.walk_lists(lists, self._X, weights, bound, *of_rows, self._k, rule, predicted)
        return predicted

    def _list_nearest(self) -> None:
        """The nearest rows of each row over all rows, in order, to where the ties of the first few end."""
        X, n = self._X.copy(), len(self._X)
        X[:, self._numeric] *= np.sqrt(self._weights)
        longest = max(self._k + _SPARE + 1, _LIST_BYTES // (24 * n))
        wanted = min(self._k + _SPARE, n - 1) - 1
        found, needed = [], []
        for rows in blocks(n, 2 * n):
            distances = squared_distances(X[rows], X, self._nominal)
            distances[np.arange(len(distances)), np.arange(n)[rows]] = np.inf
            ends = (distances <= np.partition(distances, wanted, axis=1)[:, wanted, None] + self._tolerance).sum(axis=1)
            needed.append(ends)
            length = min(max(64, int(ends.max())) + 1, longest, n - 1)
            near = np.argpartition(distances, length - 1, axis=1)[:, :length]
            values = np.take_along_axis(distances, near, axis=1)
            order = values.argsort(axis=1)
            found.append((np.take_along_axis(near, order, axis=1), np.take_along_axis(values, order, axis=1)))
        length = max(near.shape[1] for near, _ in found)
        self.near = np.repeat(np.arange(n)[:, None], length, axis=1)  # a row is no neighbour of itself
        self.distances = np.full((n, length + 1), np.inf)
        for rows, (near, values) in zip(blocks(n, 2 * n), found, strict=True):
            self.near[rows, : near.shape[1]] = near
            self.distances[rows, : near.shape[1]] = values
            if near.shape[1] < n - 1:  # what is not listed is at least as far as the last that is
                self.distances[rows, near.shape[1] - 1 :] = values[:, -1:]
        usual = int(np.quantile(np.concatenate(needed), 0.9)) + 1
        self.short = min(max(usual, self._k + _SPARE), length)
        self._exact_distances()

    def _exact_distances(self) -> None:
        """Replace what a matrix product rounded by sums of squared differences."""
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
        """Of each row to others, feature by feature; 0 where one of the two is missing."""
        numbers = self._X[:, self._numeric]
        squares: FloatArray = (numbers[rows][:, None] - numbers[near]) ** 2
        return np.where(np.isnan(squares), 0, squares) if self._partly else squares

    def _count_mismatches(self, rows: IntArray, near: IntArray) -> IntArray:
        count = np.zeros(near.shape, dtype=np.int64)
        for j, column in enumerate(self._X.T):
            a, b = column[rows][:, None], column[near]
            count += (a != b) if self._nominal[j] else np.isnan(a) | np.isnan(b)
        return count


def narrowed(codes: IntArray) -> Any:
    """Codes of each row, (replicates, n), by row and in few bytes, so that those of a row lie together."""
    return np.ascontiguousarray(codes.T, dtype=np.uint8 if codes.max() < 2**8 else np.int64)
