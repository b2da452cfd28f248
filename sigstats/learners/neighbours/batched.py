"""Nearest neighbours for a block of replicates: distances are known before anything is permuted.

Labels permuted. The nearest rows of each row in all of X are listed once. In a replicate the neighbours of a row are
the first rows of other folds in its list, so the first few entries decide nearly all rows; the remaining rows are
looked up in a longer list, and finally among all rows. If features are scaled on the training fold, the weight of a
feature changes from fold to fold. With c the smallest factor by which a weight changes, no row beyond the list can be
nearer than c times the last distance in it. So the result is exact.

Features permuted. Distances are computed again, as one matrix product per fold; for one neighbour among numbers in 32
bits, after which the rows that may be nearest are checked again.

Ties are those of `sigstats.learners.neighbours.nearest_neighbours`. scikit-learn's own `KNeighborsClassifier` promises
no order among rows that are equally near; if that order could change the class, its own search predicts the row.
"""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray, IntArray

from ..base import UNDECIDED, BatchedLearner, Null, Problem, blocks, whole_or_halves
from ..door import compiled
from .lists import FoldScales, FoldVariances, Learned, NeighbourLists, rescaled, weights_of
from .nearest_neighbours import (
    Configuration,
    configuration,
    kth_smallest,
    mismatches,
    one_hot,
    squared_distances,
    tie_order,
    vote,
)
from .tied import TiedNeighbours

#: Squares beyond these bounds may be no number of 32 bits.
_LEAST, _MOST = 1e-12, 1e30
#: Whole numbers up to this are floats of 32 bits.
_EXACT = 2.0**24


class MixedFeatures:
    """The nearest row of another fold in each replicate, for complete numbers about their middle.

    Products of matrices in 32 bits leave, for each tested row, the rows whose distance is that of the nearest except
    for rounding, mostly one; exact distances decide among several. A sum of d products of numbers of 24 bits is off by
    at most (d + 1) times 2**-24 of the sum of their sizes (Higham 2002, Accuracy and Stability of Numerical Algorithms,
    section 3.1), which is bounded by the largest square of a row.

    `priority`, (folds, n), is the rank of each row among equally near ones; `farthest` is a distance with a rounding
    error as large as the tolerance.
    """

    def __init__(
        self, X: FloatArray, problem: Problem, config: Configuration, priority: IntArray, farthest: float
    ) -> None:
        self._code = compiled("neighbours")
        self._columns, self._config, self._farthest = np.ascontiguousarray(X.T), config, farthest
        self._order = np.argsort(problem.folds, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(problem.folds, minlength=problem.n_folds))])
        self._halves = not config.scaled and bool(whole_or_halves(X).all())
        self._labels = problem.y[self._order].astype(np.int64)
        known = config.ties != "unknown"
        self._priority = np.ascontiguousarray(priority[:, self._order] if known else priority[:, :0])

    def predict(self, source: IntArray, predicted: IntArray) -> bool:
        """Fill in the predictions of one replicate, (n,); False if too many rows are about equally near."""
        numbers = np.take_along_axis(self._columns, source[:, self._order], axis=1)
        low, high = (extreme.reduceat(numbers, self._starts[:-1], axis=1).T for extreme in (np.minimum, np.maximum))
        weights = self._weights(low, high)
        with np.errstate(over="ignore"):
            largest = np.maximum(low**2, high**2).max(axis=0)
        if not weights.max(axis=0) @ largest < _MOST or not weights.min(axis=0) @ largest > _LEAST:
            return False
        numbers = numbers.astype(np.float32)
        squares = weights.astype(np.float32) @ numbers**2
        data = self._columns, np.require(source, requirements=["C", "W"]), self._order
        for fold, (first, end) in enumerate(itertools.pairwise(self._starts.tolist())):
            tested = numbers[:, first:end].T * (-2 * weights[fold]).astype(np.float32)
            products = tested @ numbers
            products[:, first:end] = np.inf
            priority = self._priority[fold]
            rule = self._labels, priority, self._config.tolerance, self._farthest, self._margin(squares[fold])
            if not self._code.decide_fold(products, squares[fold], first, data, weights[fold], rule, predicted):
                return False
        return True

    def _margin(self, squares: Any) -> float:
        """The error by which rounding may order two rows wrongly, including the tolerance."""
        largest = float(squares.max())
        rounded = not (self._halves and 16 * largest < _EXACT)
        return self._config.tolerance + rounded * 2 * (3 * len(self._columns) + 40) / _EXACT * largest

    def _weights(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """The weights of features as learned without each fold, from the extremes in each, all (folds, d)."""
        if not self._config.scaled:
            return np.ones_like(low)
        own = np.eye(len(low), dtype=bool)[:, :, None]
        return weights_of(np.where(own, -np.inf, high).max(axis=1) - np.where(own, np.inf, low).min(axis=1))


#: Rounding of a squared distance, relative to it, by the expanded square.
_ROUNDING = 1e-14
#: The fewest replicates that are computed together, since they are innermost in memory.
_TOGETHER = 16


class BatchedNeighbours(BatchedLearner):
    """`NearestNeighbours` and `sklearn.neighbors.KNeighborsClassifier`, bare or behind a scaler."""

    def __init__(self, problem: Problem, config: Configuration, null: Null, tied: TiedNeighbours) -> None:
        self._y, self._folds, self._n_folds, self._tied = problem.y, problem.folds, problem.n_folds, tied
        self._config, self._nominal = config, config.nominal
        self._numeric = np.flatnonzero(~config.nominal)
        self._n_classes = problem.n_classes
        known = ~np.isnan(problem.X)
        # The values in the middle: a far one, such as 999999 for "unknown", would take the digits of the others.
        center = np.nanmedian(np.where(known.any(axis=0), problem.X, 0), axis=0)
        self._X = np.where(config.nominal, problem.X, problem.X - center)
        self._partly = bool(config.nominal.any() or not known.all())
        n = len(self._y)
        self._priority = np.full((self._n_folds, n), n, dtype=np.int64)
        for fold in range(self._n_folds):
            train = np.flatnonzero(self._folds != fold)
            self._priority[fold, train] = tie_order(len(train), config.ties, config.random_state)
        self.replicate_bytes = 8 * self._X.size
        self._mixed = self._mixed_features(problem) if null == "features" else None
        if null == "labels":
            numbers = self._X[:, self._numeric]
            self._scales: FoldScales | FoldVariances
            if config.variances:
                self._scales = FoldVariances(numbers, self._n_folds)
                self._config = replace(config, tolerance=self._scales.tolerance)
            else:
                self._scales = FoldScales(numbers, self._n_folds, scaled=config.scaled, mixed=self._partly)
            self._weights = self._scales.weights
            self._lists = NeighbourLists(
                self._X,
                config.nominal,
                self._weights,
                k=config.k,
                tolerance=self._config.tolerance,
                partly=self._partly,
            )
            self.replicate_bytes = 8 * n * (2 * len(self._numeric) + 8 * self._lists.short)

    def _mixed_features(self, problem: Problem) -> MixedFeatures | None:
        """The search for one neighbour among complete numbers if features are permuted; None without Numba."""
        if self._config.k > 1 or self._config.ties == "vote" or self._partly or compiled("neighbours") is None:
            return None
        return MixedFeatures(self._X, problem, self._config, self._priority, self._farthest)

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedNeighbours | None":
        """Prepare distances; None for other metrics, weights or transforms."""
        config = configuration(estimator, problem)
        if config is None or (config.variances and null == "features"):
            return None
        return cls(problem, config, null, TiedNeighbours(estimator, problem))

    def predict_features(self, source: IntArray) -> IntArray:
        """Predict from distances made for each fold of each replicate."""
        predicted = np.empty((len(source), len(self._y)), dtype=np.int64)
        # What no scaler changes is encoded once, and permuted.
        encoded, feature = (None, None) if len(self._numeric) else one_hot(self._X)
        for draw, row in zip(source, predicted, strict=True):
            if self._mixed is not None:
                if self._mixed.predict(draw, row):
                    continue
                self._mixed = None
            mixed = self._X if feature is None else encoded
            mixed = np.take_along_axis(mixed, draw.T if feature is None else draw[feature].T, axis=0)
            for fold in range(self._n_folds):
                excluded = self._folds == fold
                test = np.flatnonzero(excluded)
                if feature is None:
                    X = rescaled(mixed, self._numeric, ~excluded) if self._config.scaled else mixed
                    distances = squared_distances(X[test], X, self._nominal)
                else:
                    distances = mismatches(mixed[test], mixed, len(draw))
                row[test] = self._among_all(distances, excluded, fold)
        return predicted

    def _among_all(self, distances: Any, excluded: Any, fold: int, place: IntArray | None = None) -> IntArray:
        """The predictions of rows tested in `fold`, from their distances to all rows that are not excluded."""
        distances[:, excluded] = np.inf
        which: Any = slice(None) if place is None else place
        labels, priority = self._y[which], self._priority[fold][which]
        kth = kth_smallest(distances, self._config.k)
        if self._config.k > 1:
            return self._vote(distances, kth, labels[None], priority[None])
        # Where no other row is as near, the nearest decides alone.
        tied = np.count_nonzero(distances <= kth + self._config.tolerance, axis=1) != 1
        predicted = np.where(kth[:, 0] > self._farthest, UNDECIDED, labels[distances.argmin(axis=1)])
        if tied.any():
            predicted[tied] = self._vote(distances[tied], kth[tied], labels[None], priority[None])
        return predicted

    def _vote(self, distances: FloatArray, kth: FloatArray, labels: IntArray, priority: IntArray) -> IntArray:
        how: Any = {name: getattr(self._config, name) for name in ("k", "ties", "tolerance", "weighted")}
        voted = vote(distances, kth, labels, priority, n_classes=self._n_classes, **how)
        return np.where(kth[:, 0] > self._farthest, UNDECIDED, voted)

    @property
    def _farthest(self) -> float:
        """A squared distance with a rounding error as large as the tolerance."""
        return self._config.tolerance / _ROUNDING

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predict from the lists, and for rows that they do not settle, from all distances."""
        predicted = np.empty_like(place)
        for some in blocks(len(place), self.replicate_bytes, least=_TOGETHER):
            predicted[some] = self._from_lists(place[some])
        self._tied.settle(predicted, place)
        return predicted

    def _from_lists(self, place: IntArray) -> Any:
        fold = self._folds[place]
        learned = self._scales.learned(fold)
        predicted: Any = None
        if self._config.ties != "vote":
            config = self._config
            rule = config.tolerance, self._farthest, config.ties == "unknown", self._priority, config.weighted
            predicted = self._lists.walk(fold, self._y[place], place, learned, rule)
        if predicted is not None:
            if len(rest := np.argwhere(predicted < UNDECIDED)):
                self._from_longer_lists(predicted, place, fold, learned, rest, self._lists.near.shape[1])
        else:
            predicted = np.empty(fold.T.shape, dtype=np.int64)
            every = np.stack(np.divmod(np.arange(fold.size), len(fold)), axis=1)
            self._from_longer_lists(predicted, place, fold, learned, every, self._lists.short)
        predicted[learned.unknown[np.arange(len(place)), fold.T]] = UNDECIDED
        return predicted.T

    def _from_longer_lists(
        self, predicted: IntArray, place: IntArray, fold: IntArray, learned: Learned, pairs: IntArray, length: int
    ) -> None:
        """Predict the open (row, replicate) `pairs` in `predicted`, from lists of this length or longer ones."""
        weights, bound = learned.weights, learned.bound
        longest = self._lists.near.shape[1]
        still = []
        for some in blocks(len(pairs), 8 * length * (len(self._numeric) + 8)):
            row, replicate = pairs[some].T
            near, limit = self._lists.near[row, :length], self._lists.distances[row, length]
            if weights is None:
                distances = self._lists.distances[row, :length].copy()
            else:
                own = weights[replicate, fold[replicate, row]]
                listed = length == self._lists.short
                squares = self._lists.squares[row] if listed else self._lists.squared_differences(row, near)
                distances = np.einsum("prj,pj->pr", squares, own)
                if self._partly:
                    distances += self._lists.constant[row, :length]
                limit = limit * bound[replicate, fold[replicate, row]]
            tested = fold[replicate, row][:, None]
            distances[fold[replicate[:, None], near] == tested] = np.inf
            spots = place[replicate[:, None], near]
            kth = kth_smallest(distances, self._config.k)
            predicted[row, replicate] = self._vote(distances, kth, self._y[spots], self._priority[tested, spots])
            still.append(pairs[some][~(kth[:, 0] + 2 * self._config.tolerance < limit)])
        rest = np.concatenate(still)
        if len(rest) and length < longest:
            self._from_longer_lists(predicted, place, fold, learned, rest, longest)
        elif len(rest):
            self._from_all_rows(predicted, place, fold, weights, rest)

    def _from_all_rows(
        self, predicted: IntArray, place: IntArray, fold: IntArray, weights: FloatArray | None, rest: IntArray
    ) -> None:
        """Settle (row, replicate) pairs in `predicted` from the distances to all rows."""
        if weights is None:
            weights = np.broadcast_to(self._weights, (len(fold), self._n_folds, len(self._weights)))
        group = rest[:, 1] * self._n_folds + fold[rest[:, 1], rest[:, 0]]
        for key in np.unique(group):
            replicate, tested = divmod(int(key), self._n_folds)
            X, rows = self._X.copy(), rest[group == key, 0]
            X[:, self._numeric] *= np.sqrt(weights[replicate, tested])
            excluded = fold[replicate] == tested
            distances = squared_distances(X[rows], X, self._nominal)
            predicted[rows, replicate] = self._among_all(distances, excluded, tested, place[replicate])
