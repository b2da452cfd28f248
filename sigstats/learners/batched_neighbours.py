"""Nearest neighbours for a block of replicates: distances are known before anything is permuted.

Labels permuted. The nearest rows of each row in all of X are listed once. In a replicate the neighbours of a row are
the first in its list whose fold is another one, so a short list decides nearly all rows; what it leaves open is looked
up in a longer one, and in the end among all rows. Where features are scaled on the training fold, a feature's weight
in the distance changes from fold to fold. With c the smallest factor by which a weight changes, no row beyond the list
can be nearer than c times the last distance in it. So the result is exact.

Features permuted. Distances are made anew, as one matrix product a fold.

Ties are those of `sigstats.learners.neighbours`. For scikit-learn's own `KNeighborsClassifier`, which promises no
order, equally near rows count in the order of the training data.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler

from sigstats.checks import FloatArray, IntArray

from .base import UNDECIDED, Null, Problem, blocks, is_default, nominal_mask, steps_of
from .neighbours import (
    DISTANCE_TOLERANCE,
    NearestNeighbours,
    kth_smallest,
    squared_distances,
    tie_order,
    vote,
)

#: Memory the lists of nearest rows may take, bytes.
_LIST_BYTES = 2**27

#: So many rows beyond the k-th a list holds at least; that all of them share the row's fold is rare.
_SPARE = 6

#: So many replicates or more are done together, as they lie innermost in memory.
_TOGETHER = 16

#: A fold of a replicate that holds all of a feature's so many most extreme rows is left to scikit-learn.
_EXTREMES = 16


@dataclass(frozen=True)
class Configuration:
    """What distinguishes the estimators this learner stands for."""

    k: int
    ties: str
    random_state: int
    nominal: Any
    scaled: bool
    tolerance: float


class BatchedNeighbours:
    """`NearestNeighbours` and `sklearn.neighbors.KNeighborsClassifier`, bare or behind a `MinMaxScaler`."""

    nulls: ClassVar[tuple[Null, ...]] = ("labels", "features")

    def __init__(self, problem: Problem, config: Configuration, null: Null) -> None:
        self._y, self._folds, self._n_folds = problem.y, problem.folds, problem.n_folds
        self._config, self._nominal = config, config.nominal
        self._numeric = np.flatnonzero(~config.nominal)
        self._n_classes = problem.n_classes
        known = ~np.isnan(problem.X)
        center = np.where(known, problem.X, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        self._X = np.where(config.nominal, problem.X, problem.X - center)
        self._partly = bool(config.nominal.any() or not known.all())
        n = len(self._y)
        self._priority = np.full((self._n_folds, n), n, dtype=np.int64)
        for fold in range(self._n_folds):
            train = np.flatnonzero(self._folds != fold)
            self._priority[fold, train] = tie_order(len(train), config.ties, config.random_state)
        self.replicate_bytes = 8 * self._X.size
        if null == "labels":
            self._extremes = [self._extreme(sign) for sign in (1, -1)]
            low, high = (values[0] for _, values in self._extremes)
            self._weights = _weights(high - low) if config.scaled else np.ones(len(self._numeric))
            self._list_nearest()
            self.replicate_bytes = 8 * n * (2 * len(self._numeric) + 8 * self._short)

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedNeighbours | None":
        """Prepare distances; None for other metrics, weights or transforms."""
        *transforms, classifier = steps_of(estimator)
        n, d = problem.X.shape
        nominal = np.zeros(d, dtype=bool)
        tolerance, ties, seed = DISTANCE_TOLERANCE, "first", 0
        if is_default(classifier, NearestNeighbours, free=("n_neighbors", "ties", "nominal", "random_state")):
            nominal = nominal_mask(classifier.nominal, d)
            ties, seed = classifier.ties, classifier.random_state
        elif is_default(classifier, KNeighborsClassifier, free=("n_neighbors", "algorithm", "leaf_size", "n_jobs")):
            if np.isnan(problem.X).any():
                return None
            tolerance *= 1.0 if transforms else float(problem.X.var(axis=0).max())
        else:
            return None
        if transforms:
            columns = _columns(transforms, d)
            if columns is None or (np.sort(columns[~nominal]) != np.flatnonzero(_columns_scaled(transforms, d))).any():
                return None
            nominal = np.isin(np.arange(d), columns[nominal])
        k, fewest = classifier.n_neighbors, n - int(np.bincount(problem.folds).max())
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= fewest or not isinstance(seed, int):
            return None
        if ties not in ("random", "first", "vote") or np.isinf(problem.X).any():
            return None
        return cls(problem, Configuration(k, ties, seed, nominal, bool(transforms), tolerance), null)

    def predict_features(self, source: IntArray) -> IntArray:
        """Predict from distances made for each fold of each replicate."""
        predicted = np.empty((len(source), len(self._y)), dtype=np.int64)
        for draw, row in zip(source, predicted, strict=True):
            X = np.take_along_axis(self._X, draw.T, axis=0)
            for fold in range(self._n_folds):
                test = np.flatnonzero(self._folds == fold)
                row[test] = self._among_all(self._rescaled(X, self._folds != fold), test, self._folds == fold, fold)
        return predicted

    def _rescaled(self, X: FloatArray, train: Any) -> FloatArray:
        if not self._config.scaled:
            return X
        numbers = X[:, self._numeric]
        learned = numbers[train]
        with np.errstate(invalid="ignore"):
            span = np.fmax.reduce(learned, axis=0) - np.fmin.reduce(learned, axis=0)
        X = X.copy()
        X[:, self._numeric] = numbers * np.sqrt(_weights(span))
        return X

    def _among_all(
        self, X: FloatArray, rows: IntArray, excluded: Any, fold: int, place: IntArray | None = None
    ) -> IntArray:
        """The predictions of `rows`, tested in `fold`, from all rows that are not excluded."""
        distances = squared_distances(X[rows], X, self._nominal)
        distances[:, excluded] = np.inf
        labels, priority = self._y, self._priority[fold]
        if place is not None:
            labels, priority = labels[place], priority[place]
        return self._voted(distances, kth_smallest(distances, self._config.k), labels[None], priority[None])

    def _voted(self, distances: FloatArray, kth: FloatArray, labels: IntArray, priority: IntArray) -> IntArray:
        config = self._config
        every_tie = config.ties == "vote"
        return vote(
            distances,
            kth,
            labels,
            priority,
            k=config.k,
            every_tie=every_tie,
            n_classes=self._n_classes,
            tolerance=config.tolerance,
        )

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predict from the lists, and where they do not settle a row, from all distances."""
        predicted = np.empty_like(place)
        for some in blocks(len(place), self.replicate_bytes, least=_TOGETHER):
            predicted[some] = self._from_lists(place[some])
        return predicted

    def _from_lists(self, place: IntArray) -> IntArray:
        fold = self._folds[place]
        weights, bound, unknown = self._fold_weights(fold)
        at, own = place.T, fold.T  # (n, replicates): what belongs to one row of X lies together
        near = self._near[:, : self._short]
        if weights is None:
            distances = np.where(own[near] != own[:, None], self._distances[:, : self._short, None], np.inf)
            limit = np.broadcast_to(self._distances[:, self._short, None], own.shape)
        else:
            replicate = np.arange(len(place))[:, None]
            distances = self._squares @ weights[replicate, fold].transpose(1, 2, 0)
            if self._partly:
                distances += self._constant[:, : self._short, None]
            distances[own[near] == own[:, None]] = np.inf
            limit = bound[replicate, fold].T * self._distances[:, self._short, None]
        spots = at[near]
        kth = kth_smallest(distances, self._config.k)
        predicted = self._voted(distances, kth, self._y[spots], self._priority[own[:, None], spots])
        open_rows = ~(kth[:, 0] + 2 * self._config.tolerance < limit)
        if open_rows.any():
            self._from_long_lists(predicted, place, fold, weights, bound, np.argwhere(open_rows))
        predicted[unknown[np.arange(len(place)), own]] = UNDECIDED
        return predicted.T

    def _from_long_lists(
        self, predicted: IntArray, place: IntArray, fold: IntArray, weights: Any, bound: Any, pairs: IntArray
    ) -> None:
        """Settle what the short lists left open, (row, replicate) pairs, in `predicted`."""
        still = []
        for some in blocks(len(pairs), 8 * self._near.shape[1] * (len(self._numeric) + 8)):
            row, replicate = pairs[some].T
            near, limit = self._near[row], self._distances[row, -1]
            if weights is None:
                distances = self._distances[row, :-1].copy()
            else:
                own = weights[replicate, fold[replicate, row]]
                distances = np.einsum("prj,pj->pr", self._squared_differences(row, near), own)
                if self._partly:
                    distances += self._constant[row]
                limit = limit * bound[replicate, fold[replicate, row]]
            tested = fold[replicate, row][:, None]
            distances[fold[replicate[:, None], near] == tested] = np.inf
            spots = place[replicate[:, None], near]
            kth = kth_smallest(distances, self._config.k)
            predicted[row, replicate] = self._voted(distances, kth, self._y[spots], self._priority[tested, spots])
            still.append(pairs[some][~(kth[:, 0] + 2 * self._config.tolerance < limit)])
        rest = np.concatenate(still)
        group = rest[:, 1] * self._n_folds + fold[rest[:, 1], rest[:, 0]]
        for key in np.unique(group):
            replicate, tested = divmod(int(key), self._n_folds)
            X, rows = self._X.copy(), rest[group == key, 0]
            X[:, self._numeric] *= np.sqrt(self._weights if weights is None else weights[replicate, tested])
            excluded = fold[replicate] == tested
            predicted[rows, replicate] = self._among_all(X, rows, excluded, tested, place[replicate])

    def _list_nearest(self) -> None:
        """The nearest rows of each row over all rows, in order, to where the ties of the first few end."""
        X, n = self._X.copy(), len(self._X)
        X[:, self._numeric] *= np.sqrt(self._weights)
        longest = max(self._config.k + _SPARE + 1, _LIST_BYTES // (24 * n))
        wanted = min(self._config.k + _SPARE, n - 1) - 1
        found, needed = [], []
        for rows in blocks(n, 2 * n):
            distances = squared_distances(X[rows], X, self._nominal)
            distances[np.arange(len(distances)), np.arange(n)[rows]] = np.inf
            ends = (distances <= np.partition(distances, wanted, axis=1)[:, wanted, None] + self._config.tolerance).sum(
                axis=1
            )
            needed.append(ends)
            length = min(max(64, int(ends.max())) + 1, longest, n - 1)
            near = np.argpartition(distances, length - 1, axis=1)[:, :length]
            values = np.take_along_axis(distances, near, axis=1)
            order = values.argsort(axis=1)
            found.append((np.take_along_axis(near, order, axis=1), np.take_along_axis(values, order, axis=1)))
        length = max(near.shape[1] for near, _ in found)
        self._near = np.repeat(np.arange(n)[:, None], length, axis=1)  # a row is no neighbour of itself
        self._distances = np.full((n, length + 1), np.inf)
        for rows, (near, values) in zip(blocks(n, 2 * n), found, strict=True):
            self._near[rows, : near.shape[1]] = near
            self._distances[rows, : near.shape[1]] = values
            if near.shape[1] < n - 1:  # what is not listed is at least as far as the last that is
                self._distances[rows, near.shape[1] - 1 :] = values[:, -1:]
        usual = int(np.quantile(np.concatenate(needed), 0.9)) + 1
        self._short = min(max(usual, self._config.k + _SPARE), length)
        self._exact_distances()

    def _exact_distances(self) -> None:
        """Replace what a matrix product rounded by sums of squared differences."""
        n, length = self._near.shape
        d = len(self._numeric)
        self._squares = np.empty((n, self._short, d))
        self._constant = np.zeros((n, length if self._partly else 0))
        for rows in blocks(n, 8 * length * max(d, 1)):
            near = self._near[rows]
            squares = self._squared_differences(np.arange(n)[rows], near)
            self._squares[rows] = squares[:, : self._short]
            exact = squares @ self._weights
            if self._partly:
                self._constant[rows] = self._count_mismatches(np.arange(n)[rows], near)
                exact += self._constant[rows]
            finite = np.isfinite(self._distances[rows, :length])
            self._distances[rows, :length] = np.where(finite, exact, np.inf)

    def _squared_differences(self, rows: IntArray, near: IntArray) -> FloatArray:
        numbers = self._X[:, self._numeric]
        squares: FloatArray = (numbers[rows][:, None] - numbers[near]) ** 2
        return np.where(np.isnan(squares), 0, squares) if self._partly else squares

    def _count_mismatches(self, rows: IntArray, near: IntArray) -> IntArray:
        count = np.zeros(near.shape, dtype=np.int64)
        for j, column in enumerate(self._X.T):
            a, b = column[rows][:, None], column[near]
            count += (a != b) if self._nominal[j] else np.isnan(a) | np.isnan(b)
        return count

    def _extreme(self, sign: int) -> tuple[IntArray, FloatArray]:
        """The rows with the smallest (of `sign` times) values of each numeric feature, and those values."""
        numbers = self._X[:, self._numeric]
        rows = np.argsort(sign * numbers, axis=0, kind="stable")[:_EXTREMES]  # NaN comes last
        return rows, np.take_along_axis(numbers, rows, axis=0)

    def _fold_weights(self, fold: IntArray) -> tuple[Any, Any, Any]:
        """Weights of features as learned without each fold, (replicates, folds, features).

        Beside them the smallest factor by which one differs from that over all rows, and the folds in which they are
        not known.
        """
        replicates = len(fold)
        unknown = np.zeros((replicates, self._n_folds), dtype=bool)
        if not self._config.scaled or not len(self._numeric):
            return None, None, unknown
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
        weights = _weights(ends[1] - ends[0])
        changing = self._weights != 0
        bound = (weights / self._weights)[..., changing].min(axis=-1)
        return weights, np.minimum(bound, 1) if self._partly else bound, unknown


def _weights(span: FloatArray) -> FloatArray:
    """The weight of a squared difference under `MinMaxScaler`, which leaves a constant feature as it is."""
    span = np.where(np.isnan(span), 1, span)
    return 1 / np.where(span < 10 * np.finfo(np.float64).eps, 1.0, span) ** 2


def _columns_scaled(transforms: list[Any], d: int) -> Any:
    """Which columns of X the transforms scale."""
    if isinstance(transforms[0], ColumnTransformer):
        return np.isin(np.arange(d), transforms[0].transformers[0][2])
    return np.ones(d, dtype=bool)


def _columns(transforms: list[Any], d: int) -> Any:
    """The columns of X in the order in which they leave the transforms, or None for others than this learner's."""
    if len(transforms) != 1:
        return None
    (transform,) = transforms
    if is_default(transform, MinMaxScaler, free=("copy",)):
        return np.arange(d)
    if not is_default(transform, ColumnTransformer, free=("transformers", "n_jobs", "verbose")):
        return None
    if len(transform.transformers) != 2:
        return None
    (_, scaler, scaled), (_, passed, rest) = transform.transformers
    if not is_default(scaler, MinMaxScaler, free=("copy",)) or not (
        isinstance(passed, str) and passed == "passthrough"
    ):
        return None
    if not all(isinstance(part, np.ndarray) and part.dtype.kind == "i" for part in (scaled, rest)):
        return None
    columns = np.concatenate([scaled, rest])
    return columns if np.array_equal(np.sort(columns), np.arange(d)) else None


BATCHED = (BatchedNeighbours,)
