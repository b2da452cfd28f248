"""Decision trees without what scikit-learn checks and copies in each fit.

Growing a tree shares nothing between permutations: which feature a node splits on depends on its labels, and
scikit-learn breaks ties in an order it draws. So this gains where trees are small, and little where growing dominates.
"""

from typing import Any, ClassVar

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from sigstats.checks import FloatArray, IntArray

from .base import Null, Problem


class BatchedTree:
    """`sklearn.tree.DecisionTreeClassifier` on numbers alone, with an integer ``random_state``."""

    nulls: ClassVar[tuple[Null, ...]] = ("labels", "features")

    def __init__(self, problem: Problem, tree: Any) -> None:
        self._tree, self._X = tree, problem.X.astype(np.float32)
        self._y, self._folds = problem.y, problem.folds
        self._tests = [np.flatnonzero(problem.folds == fold) for fold in range(problem.n_folds)]
        self._trains = [np.flatnonzero(problem.folds != fold) for fold in range(problem.n_folds)]
        self.replicate_bytes = 8 * self._X.size

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedTree | None":  # noqa: ARG003
        """Cast the data once; None for missing values, or weights of classes, which go by the user's labels."""
        if type(estimator) is not DecisionTreeClassifier or not isinstance(estimator.random_state, int):
            return None
        with np.errstate(over="ignore"):
            usable = np.isfinite(problem.X.astype(np.float32)).all()
        if not usable or estimator.class_weight is not None or estimator.monotonic_cst is not None:
            return None
        return cls(problem, DecisionTreeClassifier(**estimator.get_params()))

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predict from one tree a fold, on rows in the order of their places."""
        predicted = np.empty_like(place)
        for draw, own in zip(place, predicted, strict=True):
            own[np.argsort(draw)] = self._cross_validate(self._X[np.argsort(draw)])
        return predicted

    def predict_features(self, source: IntArray) -> IntArray:
        """Predict from one tree a fold, on columns permuted one by one."""
        return np.stack([self._cross_validate(np.take_along_axis(self._X, draw.T, axis=0)) for draw in source])

    def _cross_validate(self, X: Any) -> IntArray:
        predicted = np.empty(len(X), dtype=np.int64)
        columns: FloatArray = np.asfortranarray(X)
        for train, test in zip(self._trains, self._tests, strict=True):
            tree = self._tree.fit(columns[train], self._y[train], check_input=False)
            predicted[test] = tree.predict(columns[test], check_input=False)
        return predicted


BATCHED = (BatchedTree,)
