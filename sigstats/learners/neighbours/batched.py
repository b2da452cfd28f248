"""Nearest neighbours for a block of replicates: distances are computed before anything is permuted.

Labels permuted. The nearest rows of each row in all of X are listed once. In a replicate the neighbours of a row are
the first rows of other folds in its list, so the first few entries decide nearly all rows; the remaining rows are
looked up in a longer list, and finally among all rows. If features are scaled on the training fold, the weight of a
feature changes from fold to fold. With c the smallest factor by which a weight changes, no row beyond the list can be
nearer than c times the last distance in it. So the result is exact.

Features permuted. Distances are computed again, as one matrix product per fold; for one neighbour in 32 bits.

Ties are those of `sigstats.learners.neighbours.nearest_neighbours`. scikit-learn's own `KNeighborsClassifier` promises
no order among rows that are equally near; if that order could change the class, its own search predicts the row.
"""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray, IntArray

from ..base import UNDECIDED, BatchedLearner, Null, Problem, blocks, taken_by_column
from .lists import FoldWeights, MinMaxWeights, NeighbourLists, StandardWeights, range_weights
from .nearest_neighbours import (
    Configuration,
    Rule,
    configuration,
    kth_smallest,
    mismatches,
    one_hot,
    squared_distances,
    tie_order,
    vote,
)
from .tied import TiedNeighbours

#: Rounding of a squared distance, relative to it, by the expanded square.
_ROUNDING = 1e-14
#: The fewest replicates that are computed together, since they are innermost in memory.
_TOGETHER = 16
#: Squares beyond these bounds may be no number of 32 bits.
_LEAST, _MOST = 1e-12, 1e30
#: With more rows about as near as the nearest, per row, 64-bit products are faster.
_DOUBTFUL = 8


class _Nearest:
    """The nearest row of another fold, for complete numbers around their medians, if features are permuted.

    Products of matrices in 32 bits leave, for each tested row, the rows whose distance is that of the nearest except
    for rounding, mostly one; exact distances decide among several. A sum of d products of numbers of 24 bits is off by
    at most (d + 1) times 2**-24 of the sum of their sizes (Higham 2002, Accuracy and Stability of Numerical Algorithms,
    section 3.1), which is bounded by the largest square of a row.

    Rows are in the order of folds; `priority`, (folds, n), is the rank of each among equally near ones.
    """

    def __init__(self, config: Configuration, labels: IntArray, priority: IntArray, n_classes: int) -> None:
        self._config, self._labels, self._priority, self._n_classes = config, labels, priority, n_classes
        self._by_rank = labels[priority.argsort(axis=1)]

    def predict(
        self, X: FloatArray, weights: FloatArray, spans: list[slice], predicted: IntArray, order: IntArray
    ) -> bool:
        """Fill in the predictions, (n,), from rows in `order`; False if too many rows are about equally near."""
        with np.errstate(over="ignore", under="ignore"):
            short = X.astype(np.float32)
            squares = weights.astype(np.float32) @ (short * short).T
        largest = float(squares.max())
        if not _LEAST < largest < _MOST:
            return False
        margin = self._config.tolerance + 2 * (3 * X.shape[1] + 40) / 2**24 * largest
        for fold, tested in enumerate(spans):
            distances = (short[tested] * (-2 * weights[fold]).astype(np.float32)) @ short.T
            distances += squares[fold]
            distances[:, tested] = np.inf
            near = np.flatnonzero(distances <= distances.min(axis=1, keepdims=True) + np.float32(margin))
            if len(near) > _DOUBTFUL * len(distances):
                return False
            row, candidate = np.divmod(near, len(X))
            exact = (X[tested][row] - X[candidate]) ** 2 @ weights[fold]
            predicted[order[tested]] = self._decide(fold, row, candidate, exact)
        return True

    def _decide(self, fold: int, row: IntArray, candidate: IntArray, distances: FloatArray) -> IntArray:
        """Return the class of each tested row from the pairs of a `row`, in order, and a `candidate`."""
        first, tolerance = np.flatnonzero(np.diff(row, prepend=-1)), self._config.tolerance
        least = np.minimum.reduceat(distances, first)
        tied = distances <= least[row] + tolerance
        if self._config.ties == "unknown":
            code = np.minimum.reduceat(np.where(tied, self._labels[candidate], self._n_classes), first)
            most = np.maximum.reduceat(np.where(tied, self._labels[candidate], UNDECIDED), first)
            code = np.where(code == most, code, UNDECIDED)
        else:
            rank = np.where(tied, self._priority[fold, candidate], len(self._labels) - 1)
            code = self._by_rank[fold, np.minimum.reduceat(rank, first)]
        return np.where(least > tolerance / _ROUNDING, UNDECIDED, code)


class BatchedNeighbours(BatchedLearner):
    """`NearestNeighbours` and `sklearn.neighbors.KNeighborsClassifier`, bare or behind a scaler."""

    def __init__(self, problem: Problem, config: Configuration, null: Null, tied: TiedNeighbours) -> None:
        self._y, self._folds, self._n_folds, self._tied = problem.y, problem.folds, problem.n_folds, tied
        self._config, self._nominal = config, config.nominal
        self._numeric = np.flatnonzero(~config.nominal)
        self._n_classes = problem.n_classes
        known = ~np.isnan(problem.X)
        # A value far from the median, such as 999999 for "unknown", would take the digits of the others.
        center = np.nanmedian(np.where(known.any(axis=0), problem.X, 0), axis=0)
        self._X = np.where(config.nominal, problem.X, problem.X - center)
        self._has_mismatches = bool(config.nominal.any() or not known.all())
        n = len(self._y)
        self._priority = np.full((self._n_folds, n), n, dtype=np.int64)
        for fold in range(self._n_folds):
            train = np.flatnonzero(self._folds != fold)
            self._priority[fold, train] = tie_order(len(train), config.ties, config.random_state)
        self.replicate_bytes = 8 * self._X.size
        if null == "labels":
            self._list_neighbours()

    def _list_neighbours(self) -> None:
        """List the nearest rows of each row, for permuted labels."""
        config, numbers = self._config, self._X[:, self._numeric]
        self._scaling: MinMaxWeights | StandardWeights
        if config.variances:
            self._scaling = StandardWeights(numbers, self._n_folds)
            self._config = replace(config, tolerance=self._scaling.tolerance)
        else:
            self._scaling = MinMaxWeights(numbers, self._n_folds, scaled=config.scaled, mixed=self._has_mismatches)
        self._weights = self._scaling.weights
        self._lists = NeighbourLists(
            self._X,
            config.nominal,
            self._weights,
            k=config.k,
            tolerance=self._config.tolerance,
            has_mismatches=self._has_mismatches,
        )
        self.replicate_bytes = 8 * len(self._y) * (2 * len(self._numeric) + 8 * self._lists.usual_length)

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
        order = np.argsort(self._folds, kind="stable")  # the rows of a fold lie together
        starts = np.concatenate([[0], np.cumsum(np.bincount(self._folds, minlength=self._n_folds))])
        spans = list(itertools.starmap(slice, itertools.pairwise(starts.tolist())))
        nearest = _Nearest(self._config, self._y[order], self._priority[:, order], self._n_classes)
        single = self._config.k == 1 and self._config.ties != "vote" and not self._has_mismatches
        # What no scaler changes is encoded once, and permuted.
        encoded, feature = (self._X, None) if len(self._numeric) else one_hot(self._X)
        columns = np.ascontiguousarray(encoded.T)
        weights = np.ones((self._n_folds, len(self._numeric)))
        for draw, row in zip(source, predicted, strict=True):
            places = draw[:, order]
            mixed = taken_by_column(columns, places if feature is None else places[feature]).T
            if self._config.scaled:
                weights = range_weights(mixed[:, self._numeric], starts)
            if single and nearest.predict(mixed, weights, spans, row, order):
                continue
            single = False
            for fold, tested in enumerate(spans):
                if feature is None:
                    X = self._weighted(mixed, weights[fold])
                    distances = squared_distances(X[tested], X, self._nominal)
                else:
                    distances = mismatches(mixed[tested], mixed, len(draw))
                row[order[tested]] = self._among_all(distances, tested, fold, order)
        return predicted

    def _weighted(self, rows: FloatArray, weights: FloatArray) -> FloatArray:
        """Return rows whose squared distances are those with these weights of the numeric features."""
        factors = np.ones(rows.shape[1])
        factors[self._numeric] = np.sqrt(weights)
        return rows * factors

    def _among_all(self, distances: Any, excluded: Any, fold: int, place: IntArray) -> IntArray:
        """Return the predictions of rows tested in `fold`, from their distances to all rows that are not excluded."""
        distances[:, excluded] = np.inf
        labels, priority = self._y[place], self._priority[fold][place]
        if self._config.k > 1:
            return self._vote(distances, kth_smallest(distances, self._config.k), labels[None], priority[None])
        # Where no other row is as near, the nearest decides alone.
        nearest = distances.argmin(axis=1)
        least = np.take_along_axis(distances, nearest[:, None], axis=1)
        tied = np.count_nonzero(distances <= least + self._config.tolerance, axis=1) != 1
        predicted = np.where(least[:, 0] > self._farthest, UNDECIDED, labels[nearest])
        if tied.any():
            predicted[tied] = self._vote(distances[tied], least[tied], labels[None], priority[None])
        return predicted

    def _vote(self, distances: FloatArray, kth: FloatArray, labels: IntArray, priority: IntArray) -> IntArray:
        config = self._config
        rule = Rule(config.k, config.ties, config.tolerance, config.weighted)
        voted = vote(distances, kth, labels, priority, self._n_classes, rule)
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
        config, fold = self._config, self._folds[place]
        scales = self._scaling.without_each_fold(fold)
        predicted: Any = None
        if config.ties != "vote":
            rule = config.tolerance, self._farthest, config.ties == "unknown", self._priority, config.weighted
            predicted = self._lists.predict_compiled(fold, self._y[place], place, scales, rule)
        if predicted is not None:
            if len(open_pairs := np.argwhere(predicted < UNDECIDED)):
                self._from_longer_lists(predicted, place, fold, scales, open_pairs, self._lists.near.shape[1])
        else:
            predicted = np.empty(fold.T.shape, dtype=np.int64)
            all_pairs = np.stack(np.divmod(np.arange(fold.size), len(fold)), axis=1)
            self._from_longer_lists(predicted, place, fold, scales, all_pairs, self._lists.usual_length)
        predicted[scales.unknown[np.arange(len(place)), fold.T]] = UNDECIDED
        return predicted.T

    def _from_longer_lists(
        self, predicted: IntArray, place: IntArray, fold: IntArray, scales: FoldWeights, pairs: IntArray, length: int
    ) -> None:
        """Predict the open (row, replicate) `pairs` in `predicted`, from lists of this length or longer ones."""
        weights, bound = scales.weights, scales.bound
        longest = self._lists.near.shape[1]
        unsettled = []
        for some in blocks(len(pairs), 8 * length * (len(self._numeric) + 8)):
            row, replicate = pairs[some].T
            near, limit = self._lists.near[row, :length], self._lists.distances[row, length]
            tested = fold[replicate, row]
            if weights is None:
                distances = self._lists.distances[row, :length].copy()
            else:
                if length == self._lists.usual_length:
                    squares = self._lists.squares[row]
                else:
                    squares = self._lists.squared_differences(row, near)
                distances = np.einsum("prj,pj->pr", squares, weights[replicate, tested])
                if self._has_mismatches:
                    distances += self._lists.mismatches[row, :length]
                limit = limit * bound[replicate, tested]
            distances[fold[replicate[:, None], near] == tested[:, None]] = np.inf
            places = place[replicate[:, None], near]
            kth = kth_smallest(distances, self._config.k)
            priority = self._priority[tested[:, None], places]
            predicted[row, replicate] = self._vote(distances, kth, self._y[places], priority)
            unsettled.append(pairs[some][~(kth[:, 0] + 2 * self._config.tolerance < limit)])
        rest = np.concatenate(unsettled)
        if len(rest) and length < longest:
            self._from_longer_lists(predicted, place, fold, scales, rest, longest)
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
            X = self._weighted(self._X, weights[replicate, tested])
            rows = rest[group == key, 0]
            excluded = fold[replicate] == tested
            distances = squared_distances(X[rows], X, self._nominal)
            predicted[rows, replicate] = self._among_all(distances, excluded, tested, place[replicate])
