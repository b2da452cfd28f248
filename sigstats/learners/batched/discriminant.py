"""Linear discriminant analysis for a block of replicates: cross products less those of the fold, one inverse a fold.

The within-class scatter of what a fold is trained on is the scatter of all rows, less that of the fold, less what lies
between class means. `LinearDiscriminantAnalysis` finds the same discriminants through singular values; where it would
drop some of these as too small, the fold is left to it.
"""

from typing import Any, ClassVar

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from sigstats._common.validation import IntArray

from ..base import Null, Problem, argmax_or_undecided, is_default, steps_of
from ..design import BatchedDesign, Design, Moments, design_of

_WIDEST = 512

#: scikit-learn drops directions whose within-class variance, after scaling, is below 1e-8; stay well away from it.
_SMALLEST = 1e-7

_EPS = 1e-15


class BatchedLDA(BatchedDesign):
    """`sklearn.discriminant_analysis.LinearDiscriminantAnalysis` as it is by default, bare or standardised."""

    nulls: ClassVar[tuple[Null, ...]] = ("labels", "features")

    def __init__(self, problem: Problem, design: Design) -> None:
        super().__init__(problem, design)
        self._degrees = _degrees_of_freedom(problem.n_classes)

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedLDA | None":  # noqa: ARG003
        """Prepare the design; None for other solvers, shrinkage, priors or transforms, or collinear columns."""
        *transforms, classifier = steps_of(estimator)
        if not is_default(classifier, LinearDiscriminantAnalysis, free=("store_covariance",)):
            return None
        design = design_of(transforms, problem.X)
        if design is None or design.sparse or design.columns.shape[1] > _WIDEST:
            return None
        columns = design.columns - design.columns.mean(axis=0)
        varies = columns.std(axis=0) > 1e-12 * np.abs(design.columns).max(axis=0)
        columns = columns[:, varies]  # a constant column separates nothing
        if not varies.any():
            return None
        columns /= columns.std(axis=0)
        if np.linalg.eigvalsh(columns.T @ columns / len(columns))[0] < _SMALLEST:
            return None
        # Discriminants do not depend on the scale of columns, so none is needed in a fold.
        categories = np.flatnonzero(np.isin(np.flatnonzero(varies), design.categories))
        unscaled = np.zeros(columns.shape[1], dtype=bool)
        return cls(problem, Design(np.ascontiguousarray(columns), design.feature[varies], unscaled, categories))

    def _classify(self, moments: Moments) -> IntArray:
        count = moments.count
        predicted = np.full(moments.rows.shape[:2], -1, dtype=np.int64)
        if (count == 0).any():
            return predicted
        means = moments.sums / count[..., None]
        within = moments.scatter - moments.sums.swapaxes(2, 3) @ means
        within /= (count.sum(axis=1) - self._degrees)[:, None, None]
        spread = np.sqrt(np.maximum(np.diagonal(within, axis1=2, axis2=3), _SMALLEST))
        within /= spread[..., :, None] * spread[..., None, :]
        try:
            inverse = np.linalg.inv(within)
        except np.linalg.LinAlgError:
            return predicted
        condition = np.trace(inverse, axis1=2, axis2=3)
        whitened = (means / spread[:, :, None]) @ inverse
        level = np.log(count / count.sum(axis=1, keepdims=True)) - 0.5 * (whitened * means / spread[:, :, None]).sum(-1)
        weights = (whitened / spread[:, :, None]).swapaxes(2, 3)
        sound = (
            (condition > 0) & (condition < 1 / _SMALLEST) & self._all_directions(means / spread[:, :, None], inverse)
        )
        margin = np.where(sound, _EPS * within.shape[-1] * condition * (1 + np.abs(level).max(axis=2)), np.inf)
        for fold, span in enumerate(self._order.spans):
            scores = moments.rows[:, span] @ weights[:, fold] + level[:, fold, None]
            predicted[:, span] = argmax_or_undecided(scores, margin[:, fold, None, None])
        return predicted

    def _all_directions(self, means: Any, inverse: Any) -> Any:
        """Whether no direction between class means is so weak that scikit-learn would drop it."""
        classes, m = means.shape[2:]
        if classes == 2:
            return True
        count = self._order.train_counts
        share = count / count.sum(axis=1, keepdims=True)
        centred = np.sqrt(share)[..., None] * (means - (share[..., None] * means).sum(axis=2, keepdims=True))
        strength = np.linalg.eigvalsh(centred @ inverse @ centred.swapaxes(2, 3))
        return strength[..., -min(m, classes - 1)] > _SMALLEST * strength[..., -1]


def _degrees_of_freedom(classes: int) -> int:
    """What is taken off the number of rows in the within-class covariance, 0 or the number of classes.

    scikit-learn changed it between versions, and the log priors weigh against it, so it is asked what it does.
    """
    probe = LinearDiscriminantAnalysis().fit([[-1.0], [1.0], [9.0], [11.0]], [0, 0, 1, 1])
    width = float(np.diff(probe.decision_function([[0.0], [1.0]]))[0])  # 10 / covariance: 10 for 4 rows, 5 for 2
    return 0 if width > 7.5 else classes


BATCHED = (BatchedLDA,)
