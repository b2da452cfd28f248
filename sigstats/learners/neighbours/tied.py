"""Rows whose nearest ones are tied, looked up by searches of scikit-learn without the other rows of their fold.

`KNeighborsClassifier` makes a tree of the training rows in ``fit``, and ``predict`` searches it for each row by itself.
Which of several rows that are equally near it finds depends on the tree alone. So a tree of the same class, made of
the same rows in the same order, finds them for the undecided rows without the others of their fold, and without the
checks of ``fit`` and ``predict``.

Where it makes none, distances are products of matrices. How each is rounded depends on the kernel of the product, which
takes tested rows eight or fewer at a time, and other instructions for those that are left over. So the rows left over
are kept where they are, and the undecided others are filled up to eights; it is tried on the data whether distances are
then the same to the last bit.
"""

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from sigstats._common.validation import FloatArray, IntArray

from ..base import UNDECIDED, Problem, steps_of
from .search import tree_of, without_tree

#: So many rows or a divisor of it are taken together by the kernels of OpenBLAS.
_TOGETHER = 8

#: So many of the nearest are compared on trial, of so many rows.
_COMPARED, _TRIED = 40, 64


class TiedNeighbours:
    """The searches of a `KNeighborsClassifier`, bare or behind a scaler; nothing for other estimators."""

    def __init__(self, estimator: Any, problem: Problem) -> None:
        *self._transforms, self._classifier = steps_of(estimator)
        self._problem = problem
        scalers = (type(transform) in (MinMaxScaler, StandardScaler) for transform in self._transforms)
        self._known = isinstance(self._classifier, KNeighborsClassifier) and len(self._transforms) <= 1 and all(scalers)
        self._makers: dict[int, Any] = {}
        self._same: dict[tuple[int, int], bool] = {}

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
                    found = self._look_up(order[tested], places, order[~tested], problem.y[~tested])
                    predicted[replicate, order[tested][places]] = found

    def _look_up(self, rows: IntArray, places: IntArray, train: IntArray, labels: IntArray) -> Any:
        """The class codes of `rows` at `places` by a search among the rows `train`, which have these `labels`."""
        size = len(train)
        if size not in self._makers:
            self._makers[size] = tree_of(self._classifier, self._problem.X[:size])
        make = self._makers[size]
        if make is None:
            return self._among_all(rows, places, train, labels)
        learned, asked = self._scaled(train, rows[places])
        found = labels[make(learned).query(asked, self._classifier.n_neighbors, return_distance=False)]
        # Of as many votes the first class wins.
        return (found[:, :, None] == np.arange(self._problem.n_classes)).sum(axis=1).argmax(axis=1)

    def _among_all(self, rows: IntArray, places: IntArray, train: IntArray, labels: IntArray) -> Any:
        """The same without a tree, if it is known how distances are rounded; otherwise `UNDECIDED`."""
        sizes = len(train), len(rows)
        if sizes not in self._same:
            able = self._problem.floats and without_tree(self._classifier, self._problem.X[: len(train)])
            self._same[sizes] = able and is_the_same(*self._scaled(train, rows))
        if not self._same[sizes]:
            return UNDECIDED
        few, where = among_few(places, len(rows))
        learned, asked = self._scaled(train, rows[few])
        return clone(self._classifier).fit(learned, labels).predict(asked)[where]

    def _scaled(self, train: IntArray, asked: IntArray) -> tuple[Any, Any]:
        """Training rows and others as the classifier sees them."""
        learned, others = self._problem.X[train], self._problem.X[asked]
        for transform in self._transforms:
            fitted = clone(transform).fit(learned)
            learned, others = fitted.transform(learned), fitted.transform(others)
        return learned, others


def among_few(places: IntArray, tested: int) -> tuple[IntArray, IntArray]:
    """Places of the `tested` rows that stand for all of them, and where `places` are among these."""
    whole = tested - tested % _TOGETHER
    inner = places[places < whole]
    filled = np.resize(inner, -(-len(inner) // _TOGETHER) * _TOGETHER)
    where = np.concatenate([np.arange(len(inner)), len(filled) + places[places >= whole] - whole])
    return np.concatenate([filled, np.arange(whole, tested)]), where


def is_the_same(learned: FloatArray, tested: FloatArray) -> bool:
    """True if `KNeighborsClassifier`, without a tree, finds the same distances for a few of the rows as for all."""
    k = min(_COMPARED, len(learned))
    # Distances before their root is taken, which hides differences.
    fitted = KNeighborsClassifier(k, algorithm="brute", metric="sqeuclidean").fit(learned, np.zeros(len(learned)))
    distances, rows = fitted.kneighbors(tested)
    order = np.random.default_rng(0).permutation(len(tested))[:_TRIED]
    for places in [*np.array_split(np.sort(order), max(1, len(order) // 3)), np.arange(len(tested))[-_TOGETHER:]]:
        few, where = among_few(places, len(tested))
        found = fitted.kneighbors(tested[few])
        if not (np.array_equal(found[0][where], distances[places]) and np.array_equal(found[1][where], rows[places])):
            return False
    return True
