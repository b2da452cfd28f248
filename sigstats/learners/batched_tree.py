"""Decision trees without what scikit-learn encodes, checks and copies in each fit.

Growing a tree shares nothing between permutations: which feature a node splits on depends on its labels, and
scikit-learn breaks ties in an order it draws. So this gains where trees are small, and where features are nominal: the
0/1 columns of categories are made once and permuted; a category that a training fold does not have is no column there,
since ties are broken by the number of columns too. It gains little where growing dominates.
"""

from typing import Any, ClassVar

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from sigstats.checks import FloatArray, IntArray

from .base import Null, Problem, steps_of
from .design import Design, design_of


class BatchedTree:
    """`sklearn.tree.DecisionTreeClassifier` with an integer ``random_state``, behind the ready learners' transforms."""

    nulls: ClassVar[tuple[Null, ...]] = ("labels", "features")

    def __init__(self, problem: Problem, design: Design, tree: Any) -> None:
        self._tree, self._feature = tree, design.feature
        self._columns = np.asfortranarray(design.columns, dtype=np.float32)
        self._categories = design.categories
        self._missing = bool(np.isnan(self._columns).any())
        self._y = problem.y
        self._tests = [np.flatnonzero(problem.folds == fold) for fold in range(problem.n_folds)]
        self._trains = [np.flatnonzero(problem.folds != fold) for fold in range(problem.n_folds)]
        self.replicate_bytes = 12 * self._columns.size

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedTree | None":  # noqa: ARG003
        """Encode and cast the data once; None for weights of classes, which go by the user's labels."""
        *transforms, tree = steps_of(estimator)
        if type(tree) is not DecisionTreeClassifier or not isinstance(tree.random_state, int):
            return None
        if tree.class_weight is not None or tree.monotonic_cst is not None:
            return None
        design = design_of(transforms, problem.X, keep_missing=True)
        if design is None or design.standardised.any():
            return None
        with np.errstate(over="ignore"):
            usable = not np.isinf(design.columns.astype(np.float32)).any()
        return cls(problem, design, DecisionTreeClassifier(**tree.get_params())) if usable else None

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predict from one tree a fold, on rows in the order of their places."""
        predicted = np.empty_like(place)
        for draw, own in zip(place, predicted, strict=True):
            order = np.argsort(draw)
            own[order] = self._cross_validate(np.take(self._columns, order, axis=0))
        return predicted

    def predict_features(self, source: IntArray) -> IntArray:
        """Predict from one tree a fold, on columns permuted one by one."""
        mixed = np.empty_like(self._columns)
        predicted = np.empty((len(source), len(mixed)), dtype=np.int64)
        for draw, own in zip(source, predicted, strict=True):
            for column, feature in enumerate(self._feature):
                np.take(self._columns[:, column], draw[feature], out=mixed[:, column])
            own[:] = self._cross_validate(mixed)
        return predicted

    def _cross_validate(self, columns: Any) -> IntArray:
        predicted = np.empty(len(columns), dtype=np.int64)
        rows: FloatArray = np.ascontiguousarray(columns)
        counts = rows[:, self._categories].sum(axis=0)
        for train, test in zip(self._trains, self._tests, strict=True):
            known, unknown = rows[train], rows[test]
            absent = unknown[:, self._categories].sum(axis=0) == counts
            if absent.any():
                present = np.delete(np.arange(rows.shape[1]), self._categories[absent])
                known, unknown = known[:, present], unknown[:, present]
            # Without its checks scikit-learn would not look for missing values.
            tree = self._tree.fit(known, self._y[train], check_input=self._missing)
            predicted[test] = tree.predict(unknown, check_input=self._missing)
        return predicted


BATCHED = (BatchedTree,)
