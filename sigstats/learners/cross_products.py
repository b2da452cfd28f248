"""The ridge classifier and the primal linear support vector machine for a block of replicates, from cross products.

The training rows of a fold have the cross products of all rows minus those of the fold. With permuted labels those of
all rows never change, and the indicators of classes only enter through class-wise sums (compare Treder 2018,
"Cross-validation in high-dimensional spaces").

With the squared hinge loss the machine is the least squares fit to the rows inside the margin. On permuted labels that
is nearly all of them, so the cross products of all training rows less those of the few rows outside give each Newton
step; the iteration ends at the exact optimum, when no row crosses the margin. `LinearSVC` stops within its ``tol`` of
the optimum, so rows within this distance of the boundary are left to scikit-learn.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg.lapack import dposv
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import LinearSVC

from sigstats._common.validation import FloatArray, IntArray

from .base import UNDECIDED, Null, Problem, best_or_undecided, class_weights, is_default, steps_of
from .design import BatchedDesign, Design, Moments, design_of

#: Newton steps from one set of rows inside the margin to the next; where they do not settle, scikit-learn decides.
_STEPS = 30
#: Wider designs are left to scikit-learn, whose dual solution is cheaper.
_WIDEST_RIDGE, _WIDEST_SVM = 512, 256
#: Largest rounding error of sums over all rows, relative to the penalty; scikit-learn fits folds beyond it.
_LARGEST_ERROR = 1e-7
_EPS = 1e-15
#: Most bytes that cross products of the separate classes may take in a replicate.
_MOST_BYTES = 2**27


def standardised(
    moments: Moments, columns: Any, *, center: bool, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return means, scales (replicates, folds, m) and cross products of the transformed columns.

    The columns that are to be standardised get mean 0 and variance 1 as by `StandardScaler`; with `center` all are
    centred. `weights` of classes, (folds, classes), apply to centres and products, but not to scales.
    """
    size, sums, scatter = moments.weighted(None)
    size = size[:, None]
    mean = sums / size
    raw = np.diagonal(scatter, axis1=2, axis2=3)
    variance = np.maximum(raw / size - mean**2, 0)
    constant = variance <= 1e-13 * (raw / size)  # rounding alone, which StandardScaler treats as no variance
    scale = np.where(columns & ~constant, np.sqrt(variance), 1.0)
    if weights is not None:
        size, sums, scatter = moments.weighted(weights)
        size = size[:, None]
    mean = sums / size if center else np.where(columns, mean, 0.0)
    outer = sums[..., :, None] * mean[..., None, :]
    scatter = scatter - outer - outer.swapaxes(2, 3)
    scatter += size[..., None] * mean[..., :, None] * mean[..., None, :]
    scatter /= scale[..., :, None] * scale[..., None, :]
    return mean, scale, scatter


def _known_weights(classifier: Any, problem: Problem) -> FloatArray | None:
    """Return class weights by fold; None if there are none, they are unknown, or cross products need much memory."""
    fits = 8 * problem.n_folds * problem.n_classes * problem.X.shape[1] ** 2 <= _MOST_BYTES
    return class_weights(classifier.class_weight, problem) if fits else None


class BatchedRidge(BatchedDesign):
    """`sklearn.linear_model.RidgeClassifier` with a positive ``alpha``, behind the ready learners' transforms."""

    def __init__(self, problem: Problem, design: Design, alpha: float, weights: FloatArray | None) -> None:
        # The intercept absorbs shifts; sums of values far from 0 would lose digits.
        center = np.median(design.columns, axis=0)
        super().__init__(problem, replace(design, columns=design.columns - center), by_class=weights is not None)
        self._alpha, self._weights = alpha, weights
        heaviest = 1.0 if weights is None else max(1.0, float(weights.max()))
        self._squares = heaviest * (self._design.columns**2).sum(axis=0)
        self._largest = np.abs(np.where(design.standardised, problem.X[:, design.feature], design.columns)).max(axis=0)

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedRidge | None":  # noqa: ARG003
        """Prepare the design; None for other penalties, solvers or transforms."""
        *transforms, classifier = steps_of(estimator)
        if not is_default(classifier, RidgeClassifier, free=("alpha", "copy_X", "random_state", "class_weight")):
            return None
        weights = _known_weights(classifier, problem)
        if weights is None and classifier.class_weight is not None:
            return None
        alpha, design = classifier.alpha, design_of(transforms, problem.X)
        if design is None or design.sparse or design.columns.shape[1] > _WIDEST_RIDGE:
            return None
        if not isinstance(alpha, (int, float)) or not alpha > 0:
            return None
        return cls(problem, design, float(alpha), weights)

    def _classify(self, moments: Moments) -> IntArray:
        count = moments.count if self._weights is None else self._weights * moments.count
        mean, scale, scatter = standardised(moments, self._design.standardised, center=True, weights=self._weights)
        ridge = scatter + self._alpha * np.eye(scatter.shape[-1])
        # Targets are 1 for the class, -1 for the rest; both sides are centred.
        target = 2 * (moments.sums - moments.count[..., None] * mean[:, :, None]) / scale[:, :, None]
        if self._weights is not None:
            target *= self._weights[..., None]
        weights = np.linalg.solve(ridge, target.swapaxes(2, 3)) / scale[..., None]
        level = (2 * count / count.sum(axis=1, keepdims=True) - 1) - (mean[:, :, None] @ weights)[:, :, 0]
        predicted = np.empty(moments.rows.shape[:2], dtype=np.int64)
        # Scatter is a difference of sums over all rows; scikit-learn rounds in the unit of the values themselves.
        trace = (self._squares / scale**2).sum(axis=-1)
        reach = (self._largest * np.abs(weights).sum(axis=-1)).sum(axis=-1)
        margin = _EPS * (1 + trace / self._alpha) * (1 + reach)
        for fold, span in enumerate(self._order.spans):
            scores = (moments.rows[:, span] @ weights[:, fold]).swapaxes(1, 2) + level[:, fold, :, None]
            predicted[:, span] = best_or_undecided(scores, margin[:, fold, None, None])
        return predicted


class BatchedLinearSVM(BatchedDesign):
    """`LinearSVC` with squared hinge loss, solved in the primal, behind the ready learners' transforms."""

    one_size = True

    def __init__(self, problem: Problem, design: Design, machine: Any, weights: FloatArray | None) -> None:
        super().__init__(problem, design, by_class=weights is not None)
        self._tol = float(machine.tol)
        self._codes = problem.y[self._order.sorted]
        self._of_class = [1] if problem.n_classes == 2 else list(range(problem.n_classes))
        # Costs of rows by machine, fold and class. Each of several machines weights only its own class.
        costs = np.full((len(self._of_class), problem.n_folds, problem.n_classes), float(machine.C))
        code = np.arange(problem.n_classes)
        if weights is not None and len(costs) == 1:
            costs *= weights
        elif weights is not None:
            costs[code, :, code] *= weights.T
        self._costs: FloatArray = costs
        self._squares = costs.max() * (design.columns**2).sum(axis=0)

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedLinearSVM | None":  # noqa: ARG003
        """Prepare the design; None for the dual problem, other losses, penalties or transforms.

        With ``dual="auto"`` it is the dual problem if a fold is trained on fewer rows than columns.
        """
        *transforms, classifier = steps_of(estimator)
        if not is_default(classifier, LinearSVC, free=("C", "tol", "dual", "random_state", "max_iter", "class_weight")):
            return None
        weights = _known_weights(classifier, problem)
        if weights is None and classifier.class_weight is not None:
            return None
        design, cost, tol = design_of(transforms, problem.X), classifier.C, classifier.tol
        if type(classifier.max_iter) is not int or classifier.max_iter < 0:
            return None
        if design is None or design.columns.shape[1] > _WIDEST_SVM:
            return None
        fewest = len(problem.y) - int(np.bincount(problem.folds).max())
        if classifier.dual is not False and not (classifier.dual == "auto" and fewest >= design.columns.shape[1]):
            return None
        if not (isinstance(cost, (int, float)) and isinstance(tol, (int, float)) and cost > 0 and tol > 0):
            return None
        return cls(problem, design, classifier, weights)

    def _classify(self, moments: Moments) -> IntArray:
        predicted = np.full(moments.rows.shape[:2], UNDECIDED, dtype=np.int64)
        if (moments.count == 0).any():
            return predicted
        if self._by_class:
            hessians = [self._hessian(moments, costs) for costs in self._costs]
        else:
            hessians = [self._hessian(moments, None)] * len(self._costs)
        mean, scale, _ = standardised(moments, self._design.standardised, center=False)
        m = mean.shape[-1]
        sound = 2 * _EPS * (self._squares / scale**2).sum(axis=-1) <= _LARGEST_ERROR
        for replicate, rows in enumerate(moments.rows):
            for fold, span in enumerate(self._order.spans):
                if not sound[replicate, fold]:
                    continue
                Z = np.ones((len(rows), m + 1))
                Z[:, :m] = (rows - mean[replicate, fold]) / scale[replicate, fold]
                train = np.ones(len(rows), dtype=bool)
                train[span] = False
                of_fold = [hessian[replicate, fold] for hessian in hessians]
                predicted[replicate, span] = self._one_fold(Z[train], self._codes[train], Z[span], of_fold, fold)
        return predicted

    def _hessian(self, moments: Moments, costs: FloatArray | None) -> FloatArray:
        """Return second derivatives with all rows inside the margin, (replicates, folds, m + 1, m + 1)."""
        mean, scale, scatter = standardised(moments, self._design.standardised, center=False, weights=costs)
        size, sums, _ = moments.weighted(costs)
        sums = (sums - size[:, None] * mean) / scale
        m = mean.shape[-1]
        # The intercept is penalised like a weight: a column of ones.
        hessian = np.empty((*scatter.shape[:2], m + 1, m + 1))
        hessian[..., :m, :m], hessian[..., m, :m], hessian[..., :m, m] = scatter, sums, sums
        hessian[..., m, m] = size
        return (2 if costs is not None else 2 * self._costs.max()) * hessian + np.eye(m + 1)

    def _one_fold(
        self, Z: FloatArray, codes: IntArray, test: FloatArray, hessians: list[FloatArray], fold: int
    ) -> IntArray:
        """Return the predictions of the rows `test` by machines that are trained on the rows Z with these classes."""
        scores, errors = [], []
        for code, hessian, costs in zip(self._of_class, hessians, self._costs[:, fold], strict=True):
            sign = np.where(codes == code, 1.0, -1.0)
            score, error = self._optimum(Z, sign, costs[codes], test, hessian)
            scores.append(score)
            errors.append(error)
        if len(scores) == 1:
            scores = [-scores[0], scores[0]]
        return best_or_undecided(np.stack(scores), 2 * np.max(errors, axis=0))

    def _optimum(
        self, Z: FloatArray, sign: FloatArray, cost: FloatArray, test: FloatArray, hessian: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return scores of the test rows, and the largest distance of `LinearSVC`'s scores from them."""
        pull = 2 * cost * sign
        gradient = pull @ Z
        outside = np.zeros(len(Z), dtype=bool)
        inner, right = hessian, gradient
        for _ in range(_STEPS):
            _, weights, failed = dposv(inner, right)
            if failed:
                break
            margin = sign * (Z @ weights)
            now_outside = margin >= 1
            if np.array_equal(now_outside, outside):
                return test @ weights, self._error(weights, margin, sign, cost, gradient, test, inner)
            outside = now_outside
            rows_outside = Z[outside]
            inner = hessian - 2 * (rows_outside.T * cost[outside] @ rows_outside)
            right = gradient - pull[outside] @ rows_outside
        return np.zeros(len(test)), np.full(len(test), np.inf)

    def _error(
        self,
        weights: FloatArray,
        margin: FloatArray,
        sign: FloatArray,
        cost: FloatArray,
        gradient: FloatArray,
        test: FloatArray,
        inner: FloatArray,
    ) -> FloatArray:
        """Return bounds of the change of scores by twice the gradient at which `LinearSVC` may stop."""
        rarer = max(min((sign > 0).sum(), (sign < 0).sum()), 1)
        left = self._tol * rarer / len(sign) * np.linalg.norm(gradient)
        objective = 0.5 * weights @ weights + cost @ np.maximum(1 - margin, 0) ** 2
        left += np.sqrt(2e-12 * objective)  # it also ends when the objective no longer falls
        _, solved, _ = dposv(inner, test.T)
        return np.asarray(2 * left * np.sqrt(np.einsum("ij,ji->i", test, solved)))
