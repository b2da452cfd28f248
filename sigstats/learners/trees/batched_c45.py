"""C4.5 from values that are coded once: its trees are grown, pruned and asked by code that Numba compiled.

Without Numba (the extra ``fast``) there is no faster way than `sigstats.learners.trees.c45_classifier` itself.
"""

from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri

from sigstats._common.validation import FloatArray, IntArray

from ..base import Null, Problem, nominal_mask, steps_of
from ..door import compiled
from .c45_classifier import C45Classifier


class BatchedC45:
    """`sigstats.learners.trees.c45_classifier.C45Classifier`."""

    nulls: ClassVar[tuple[Null, ...]] = ("labels", "features")
    one_size: ClassVar[bool] = False

    def __init__(self, problem: Problem, tree: C45Classifier) -> None:
        self._problem, self._pruned = problem, bool(tree.prune)
        self._nominal = nominal_mask(tree.nominal, problem.X.shape[1])
        self._options = float(tree.min_rows), float(tree.confidence), float(ndtri(1 - tree.confidence))
        levels = [
            np.empty(0) if is_nominal else np.unique(column[~np.isnan(column)])
            for is_nominal, column in zip(self._nominal, problem.X.T, strict=True)
        ]
        sizes = np.array([len(each) for each in levels])
        self._levels: FloatArray = np.concatenate([*levels, np.zeros(1)])
        self._starts: IntArray = np.cumsum(sizes) - sizes
        self._codes: Any = np.full(problem.X.T.shape, -1, dtype=np.int32)
        for own, is_nominal, column, known in zip(self._codes, self._nominal, problem.X.T, levels, strict=True):
            there = ~np.isnan(column)
            own[there] = column[there] if is_nominal else np.searchsorted(known, column[there])
        self.replicate_bytes = 4 * self._codes.size

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedC45 | None":  # noqa: ARG003
        """Code the data once; None without Numba, and for data that the estimator refuses."""
        steps = steps_of(estimator)
        if len(steps) != 1 or type(steps[0]) is not C45Classifier or np.isinf(problem.X).any():
            return None
        if compiled("c45") is None:
            return None
        try:
            steps[0].validated(problem.X)
        except ValueError:  # the estimator is to say so itself
            return None
        return cls(problem, steps[0])

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predict from one tree a fold, on rows with the labels and folds of their places."""
        predicted = np.empty_like(place, order="C")
        for draw, own in zip(place, predicted, strict=True):
            self._cross_validate(self._codes, self._problem.y[draw], self._problem.folds[draw], own)
        return predicted

    def predict_features(self, source: IntArray) -> IntArray:
        """Predict from one tree a fold, on columns permuted one by one."""
        predicted = np.empty((len(source), self._codes.shape[1]), dtype=np.int64)
        for draw, own in zip(source, predicted, strict=True):
            codes = np.take_along_axis(self._codes, draw, axis=1)
            self._cross_validate(codes, self._problem.y, self._problem.folds, own)
        return predicted

    def _cross_validate(self, codes: Any, label: IntArray, folds: IntArray, predicted: IntArray) -> None:
        code = compiled("c45")
        least, confidence, z = self._options
        label = label.astype(np.int64)  # one that is read only would be another type
        for tested in range(self._problem.n_folds):
            train, test = np.flatnonzero(folds != tested), np.flatnonzero(folds == tested)
            own = codes[:, train]
            n_codes = np.where(self._nominal, own.max(axis=1) + 1, 0).clip(self._nominal).astype(np.int64)
            present = np.zeros(len(self._levels), dtype=np.bool_)
            for j in np.flatnonzero(~self._nominal):
                present[self._starts[j] + own[j][own[j] >= 0]] = True
            counted = n_codes < 0.3 * len(train)
            if not counted.any():
                counted[:] = True
            data = code.Training(
                codes, label, self._levels, self._starts, present, n_codes, counted, self._problem.n_classes,
                len(np.unique(label[train])), least, confidence, z,
            )  # fmt: skip
            code.predict_fold(data, train, test, self._pruned, predicted)


BATCHED = BatchedC45
