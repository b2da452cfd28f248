"""Rows whose nearest ones are tied, looked up by searches of scikit-learn without the other rows of their fold.

`KNeighborsClassifier` makes a tree of the training rows in ``fit``, and ``predict`` searches it for each row by itself.
Which of several rows that are equally near it finds depends on the tree alone. So a tree of the same class, made of
the same rows in the same order, finds them for the undecided rows without the others of their fold, and without the
checks of ``fit`` and ``predict``. Where it makes none, it predicts the undecided rows and a few more (`_few_rows`).
"""

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from sigstats._common.validation import IntArray

from ..base import UNDECIDED, Problem, steps_of
from .few_rows import among_few, is_the_same
from .search import tree_of, without_tree


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
