"""Find nearest rows among ties by searches of scikit-learn without the other rows of their fold.

`KNeighborsClassifier` makes a tree of the training rows in ``fit``, and ``predict`` searches it for each row by itself.
Its choice among equally near rows depends only on the tree. So a tree of the same class, made of the same rows in the
same order, predicts the undecided rows without the others of their fold, and without the checks of ``fit`` and
``predict``.

If ``fit`` makes no tree, distances come from products of matrices, whose rounding depends on the other rows of the
product; such a fold is left to scikit-learn.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.neighbors import BallTree, KDTree, KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from sigstats._common.validation import FloatArray, IntArray

from ..base import UNDECIDED, Problem, steps_of

#: Whole numbers up to this are float64, and so are their sums.
_EXACT = 2.0**53


class TiedNeighbours:
    """The searches of a `KNeighborsClassifier`, bare or behind a scaler; nothing for other estimators."""

    def __init__(self, estimator: Any, problem: Problem) -> None:
        *self._transforms, self._classifier = steps_of(estimator)
        self._problem = problem
        scalers = (type(transform) in (MinMaxScaler, StandardScaler) for transform in self._transforms)
        self._known = isinstance(self._classifier, KNeighborsClassifier) and len(self._transforms) <= 1 and all(scalers)
        self._makers: dict[int, Any] = {}

    def settle(self, predicted: IntArray, place: IntArray) -> None:
        """Fill in undecided rows of `predicted`, (replicates, n), where labels are permuted and there is a way."""
        if not self._known:
            return
        problem = self._problem
        with config_context(assume_finite=True, skip_parameter_validation=True):
            for replicate in np.flatnonzero((predicted == UNDECIDED).any(axis=1)).tolist():
                order = np.empty_like(place[replicate])
                order[place[replicate]] = np.arange(len(order))
                undecided = predicted[replicate, order] == UNDECIDED
                for fold in np.unique(problem.folds[undecided]).tolist():
                    tested = problem.folds == fold
                    places = np.flatnonzero(undecided[tested])
                    nearest = self._look_up(order[tested][places], order[~tested], problem.y[~tested])
                    predicted[replicate, order[tested][places]] = nearest

    def _look_up(self, rows: IntArray, train: IntArray, labels: IntArray) -> Any:
        """Return the class codes of `rows`, found among the rows `train` with these `labels`, or `UNDECIDED`."""
        size = len(train)
        if size not in self._makers:
            self._makers[size] = tree_of(self._classifier, self._problem.X[:size])
        make = self._makers[size]
        if make is None:
            return UNDECIDED
        learned, asked = self._scaled(train, rows)
        distances, near = make(learned).query(asked, self._classifier.n_neighbors)
        weights = np.ones_like(distances)
        if self._classifier.weights == "distance":
            with np.errstate(divide="ignore"):
                weights /= distances
            at_zero = np.isinf(weights)  # if rows have distance 0, only these vote
            weights = np.where(at_zero.any(axis=1, keepdims=True), at_zero, weights)
        label = labels[near]
        # If votes are tied, the first class wins.
        votes = [np.where(label == code, weights, 0).sum(axis=1) for code in range(self._problem.n_classes)]
        return np.argmax(votes, axis=0)

    def _scaled(self, train: IntArray, asked: IntArray) -> tuple[Any, Any]:
        """Training rows and others as the classifier transforms them."""
        learned, others = self._problem.X[train], self._problem.X[asked]
        for transform in self._transforms:
            fitted = clone(transform).fit(learned)
            learned, others = fitted.transform(learned), fitted.transform(others)
        return learned, others


def tree_of(classifier: Any, X: FloatArray) -> Callable[[FloatArray], Any] | None:
    """Return the class of the tree that `classifier` searches if fitted on as many rows as `X`, or None."""
    fitted = _fitted(classifier, X)
    kind: Any = type(getattr(fitted, "_tree", None))
    if kind not in (KDTree, BallTree):
        return None
    return functools.partial(kind, leaf_size=classifier.leaf_size, metric=fitted.effective_metric_)


def takes_first(classifier: Any, problem: Problem) -> bool:
    """Return True if `classifier`, without a scaler, certainly takes the first of the rows that are equally near.

    Without a tree it examines the training rows in order and keeps the nearest so far. Distances are computed by matrix
    products, so rounding may differ between equal rows; squared distances of whole numbers are exact.
    """
    if classifier.n_neighbors != 1 or classifier.algorithm not in ("auto", "brute") or not problem.floats:
        return False
    if not _exact(problem.X):
        return False
    sizes = np.unique(len(problem.y) - np.bincount(problem.folds))
    fitted = (_fitted(classifier, problem.X[:size]) for size in sizes.tolist())
    return all(getattr(one, "_tree", False) is None for one in fitted) and _first_is_taken()


def _exact(X: FloatArray) -> bool:
    """Return True if squared distances between rows are the same float64 however they are summed."""
    with np.errstate(over="ignore"):
        return bool(4 * np.einsum("ij,ij->i", X, X).max() < _EXACT and (np.rint(X) == X).all())


def _fitted(classifier: Any, X: FloatArray) -> Any:
    """Return a copy fitted on `X`, or None for refused parameters, which the fits of the folds report better."""
    try:
        with config_context(skip_parameter_validation=False):
            return clone(classifier).fit(X, np.zeros(len(X), dtype=np.int64))
    except ValueError:
        return None


@functools.cache
def _first_is_taken() -> bool:
    """Return True if the installed scikit-learn takes the first of rows that are tied with 30 others."""
    X = np.random.default_rng(0).integers(0, 2, (1200, 5)).astype(np.float64)
    X, tested = X[:1000], X[1000:]
    first = ((tested[:, None] - X) ** 2).sum(axis=2).argmin(axis=1)
    # Two rows a class, as scikit-learn warns of more classes than that.
    predict = KNeighborsClassifier(1, algorithm="brute").fit(X, np.arange(len(X)) // 2).predict(tested)
    return np.array_equal(predict, first // 2)
