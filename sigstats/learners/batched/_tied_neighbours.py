"""Rows whose nearest ones are tied, looked up in trees of scikit-learn.

`KNeighborsClassifier` makes a tree of the training rows in ``fit``, and ``predict`` searches it for each row by itself.
Which of several rows that are equally near it finds depends on the tree alone. So a tree of the same class, made of
the same rows in the same order, finds them for the undecided rows without the others of their fold, and without the
checks of ``fit`` and ``predict``.
"""

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from sigstats._common.validation import IntArray

from ..base import UNDECIDED, Problem, steps_of
from ..neighbour_search import tree_of


class TiedNeighbours:
    """The trees of a `KNeighborsClassifier`, bare or behind a scaler; nothing for other estimators."""

    def __init__(self, estimator: Any, problem: Problem) -> None:
        *self._transforms, self._classifier = steps_of(estimator)
        self._problem = problem
        scalers = (type(transform) in (MinMaxScaler, StandardScaler) for transform in self._transforms)
        self._known = isinstance(self._classifier, KNeighborsClassifier) and len(self._transforms) <= 1 and all(scalers)
        self._makers: dict[int, Any] = {}

    def settle(self, predicted: IntArray, place: IntArray) -> None:
        """Fill in undecided rows of `predicted`, (replicates, n), where labels are permuted and there is a tree."""
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
                    rows = order[undecided & tested]
                    predicted[replicate, rows] = self._look_up(rows, order[~tested], problem.y[~tested])

    def _look_up(self, rows: IntArray, train: IntArray, labels: IntArray) -> Any:
        """The class codes of `rows` by a tree of the rows `train`, which have these `labels`."""
        size = len(train)
        if size not in self._makers:
            self._makers[size] = tree_of(self._classifier, self._problem.X[:size])
        make = self._makers[size]
        if make is None:
            return UNDECIDED
        learned, asked = self._problem.X[train], self._problem.X[rows]
        for transform in self._transforms:
            fitted = clone(transform).fit(learned)
            learned, asked = fitted.transform(learned), fitted.transform(asked)
        found = labels[make(learned).query(asked, self._classifier.n_neighbors, return_distance=False)]
        # Of as many votes the first class wins.
        return (found[:, :, None] == np.arange(self._problem.n_classes)).sum(axis=1).argmax(axis=1)
