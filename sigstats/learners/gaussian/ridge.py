"""The ridge classifier for a block of replicates: cross products minus those of the fold, one solve per fold.

The training rows of a fold have the cross products of all rows minus those of the fold. With permuted labels those of
all rows never change, and the indicators of classes only enter through class-wise sums (compare Treder 2018,
"Cross-validation in high-dimensional spaces").
"""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifier

from sigstats._common.validation import IntArray

from ..base import Null, Problem, best_or_undecided, is_default, steps_of
from ..design import BatchedDesign, Design, Moments, design_of, standardised

#: Wider designs than this are left to scikit-learn, whose dual solution is then cheaper.
_WIDEST = 512

_EPS = 1e-15


class BatchedRidge(BatchedDesign):
    """`sklearn.linear_model.RidgeClassifier` with a positive ``alpha``, behind the ready learners' transforms."""

    def __init__(self, problem: Problem, design: Design, alpha: float) -> None:
        # The intercept takes up any shift, and sums of values far from 0 would lose their digits.
        center = np.median(design.columns, axis=0)
        super().__init__(problem, replace(design, columns=design.columns - center))
        self._alpha = alpha
        self._squares = (self._design.columns**2).sum(axis=0)
        self._largest = np.abs(np.where(design.standardised, problem.X[:, design.feature], design.columns)).max(axis=0)

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedRidge | None":  # noqa: ARG003
        """Prepare the design; None for other penalties, solvers, weights or transforms."""
        *transforms, classifier = steps_of(estimator)
        if not is_default(classifier, RidgeClassifier, free=("alpha", "copy_X", "random_state")):
            return None
        alpha, design = classifier.alpha, design_of(transforms, problem.X)
        if design is None or design.sparse or design.columns.shape[1] > _WIDEST:
            return None
        if not isinstance(alpha, (int, float)) or not alpha > 0:
            return None
        return cls(problem, design, float(alpha))

    def _classify(self, moments: Moments) -> IntArray:
        size = moments.count.sum(axis=1)
        mean, scale, scatter = standardised(moments, self._design.standardised, center=True)
        ridge = scatter + self._alpha * np.eye(scatter.shape[-1])
        # Targets are 1 for the class, -1 for the rest; both sides are centred.
        target = 2 * (moments.sums - moments.count[..., None] * mean[:, :, None]) / scale[:, :, None]
        weights = np.linalg.solve(ridge, target.swapaxes(2, 3)) / scale[..., None]
        level = (2 * moments.count / size[:, None] - 1) - (mean[:, :, None] @ weights)[:, :, 0]
        predicted = np.empty(moments.rows.shape[:2], dtype=np.int64)
        # Scatter is a difference of sums over all rows; scikit-learn rounds in the unit of the values themselves.
        trace = (self._squares / scale**2).sum(axis=-1)
        reach = (self._largest * np.abs(weights).sum(axis=-1)).sum(axis=-1)
        margin = _EPS * (1 + trace / self._alpha) * (1 + reach)
        for fold, span in enumerate(self._order.spans):
            scores = (moments.rows[:, span] @ weights[:, fold]).swapaxes(1, 2) + level[:, fold, :, None]
            predicted[:, span] = best_or_undecided(scores, margin[:, fold, None, None])
        return predicted
