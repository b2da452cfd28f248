"""Quadratic discriminant analysis for a block of replicates: cross products by class minus those of the fold.

The covariance of a class in the training rows of a fold comes from the cross products of the class in all rows minus
those in the fold, and Cholesky's factor replaces the singular values. `QuadraticDiscriminantAnalysis` refuses a class
whose covariance, shrunk by ``reg_param``, has an eigenvalue of ``tol`` or less. A fold in which this is possible is
left to it, and so is a row whose two best scores could be exchanged by rounding.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from sigstats._common.validation import FloatArray, IntArray

from .base import Null, Problem, best_or_undecided, blocks, is_default, steps_of
from .design import BatchedDesign, Design, Moments, design_of
from .discriminant import inverse_roots

_WIDEST = 256
#: The most memory for the cross products of all classes and folds of a replicate.
_MOST_BYTES = 2**27
#: A standardised column whose variance is less than this part of that of all rows is left to scikit-learn, unless it
#: is constant.
_LEAST_VARIANCE = 1e-6

_EPS = 1e-15
#: Replaces variances and eigenvalues that are 0 or below.
_TINY = 1e-100


class _Fit(NamedTuple):
    """The parameters that folds learn."""

    #: U with U U^T the inverse covariance of each class; ndarray, shape (replicates, folds, classes, m, m).
    roots: FloatArray
    #: The mean of each class; ndarray, shape (replicates, folds, classes, m).
    mean: FloatArray
    #: The constant of each class's score; ndarray, shape (replicates, folds, classes).
    level: FloatArray
    #: The rounding error relative to the terms of a score, inf if scikit-learn is to fit; shape (replicates, folds).
    rounding: FloatArray


class BatchedQDA(BatchedDesign):
    """`QuadraticDiscriminantAnalysis` by singular values with any ``reg_param`` and ``tol``, bare or standardised."""

    def __init__(self, problem: Problem, design: Design, classifier: Any) -> None:
        raw = design.columns
        mean, spread = raw.mean(axis=0), raw.std(axis=0)
        spread = np.where(spread > 1e-12 * np.abs(raw).max(axis=0), spread, 1)
        super().__init__(problem, replace(design, columns=(raw - mean) / spread), by_class=True)
        self._spread = spread
        largest = np.abs(np.where(design.standardised, problem.X[:, design.feature], raw)).max(axis=0)
        self._farthest = 1 + largest / spread
        self._usual = (np.partition(raw, len(raw) // 2, axis=0)[len(raw) // 2] - mean) / spread
        self._shrinkage, self._tol = float(classifier.reg_param), float(classifier.tol)

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedQDA | None":  # noqa: ARG003
        """Prepare the columns; None for other solvers, priors or transforms."""
        *transforms, classifier = steps_of(estimator)
        if not is_default(classifier, QuadraticDiscriminantAnalysis, free=("reg_param", "tol", "store_covariance")):
            return None
        if getattr(classifier, "solver", "svd") != "svd":
            return None
        if not all(isinstance(value, (int, float)) for value in (classifier.reg_param, classifier.tol)):
            return None
        if not (0 <= classifier.reg_param <= 1 and 0 <= classifier.tol < np.inf):
            return None
        design = design_of(transforms, problem.X)
        if design is None or design.sparse or design.columns.shape[1] > _WIDEST:
            return None
        m = design.columns.shape[1]
        if 8 * problem.n_folds * problem.n_classes * m * m > _MOST_BYTES:
            return None
        return cls(problem, design, classifier)

    def _classify(self, moments: Moments) -> IntArray:
        rows, classes, m = moments.rows, moments.count.shape[1], moments.rows.shape[2]
        scale, known = self._scale(moments)
        scores = np.empty((len(rows), classes, rows.shape[1]))
        margins = np.empty((len(rows), 1, rows.shape[1]))
        for folds in blocks(len(moments.count), 16 * len(rows) * classes * m * m):  # small enough for the cache
            fit = self._fit(moments, folds, scale[:, folds], known[:, folds])
            whitened = fit.mean[..., None, :] @ fit.roots
            slope = (fit.roots @ whitened.swapaxes(3, 4))[..., 0]
            size = np.einsum("rfkij,rfkij->rfk", whitened, whitened)
            level = fit.level - 0.5 * size
            for at, fold in enumerate(range(folds.start, folds.stop)):
                span = self._order.spans[fold]
                tested = rows[:, span]
                white = tested[:, None] @ fit.roots[:, at]
                squares = np.einsum("rknj,rknj->rkn", white, white)
                np.matmul(slope[:, at], tested.swapaxes(1, 2), out=scores[..., span])
                scores[..., span] += level[:, at, :, None] - 0.5 * squares
                terms = (squares + (np.abs(level[:, at]) + size[:, at])[..., None]).max(axis=1, keepdims=True)
                margins[..., span] = fit.rounding[:, at, None, None] * (1 + terms)
        return best_or_undecided(scores, margins)

    def _fit(self, moments: Moments, folds: slice, scale: FloatArray, known: Any) -> _Fit:
        """Return the parameters that some folds learn."""
        count, covariance = moments.count[folds], moments.scatter[:, folds]
        m = covariance.shape[-1]
        size = np.maximum(count, 1)[..., None]
        mean = moments.sums[:, folds] / size
        variance = np.diagonal(covariance, axis1=3, axis2=4) / size - mean**2
        variance = np.maximum(variance, 0) * scale[:, :, None] ** 2
        variance = np.maximum((1 - self._shrinkage) * variance + self._shrinkage, _TINY)
        # The covariance becomes a correlation: columns get unit variance after shrinking.
        per = scale[:, :, None] / np.sqrt(variance)
        unit = np.sqrt(1 - self._shrinkage) * per
        covariance *= (unit / size)[..., :, None]
        covariance *= unit[..., None, :]
        unit *= mean
        covariance -= unit[..., :, None] * unit[..., None, :]
        place = np.arange(m)
        covariance[..., place, place] = 1.0
        loss = per**2 * (len(self._design.columns) / size + self._farthest)  # of the digits of a variance
        least = self._least_eigenvalue(covariance, variance, loss)
        roots = inverse_roots(covariance)
        condition = np.einsum("rfkij,rfkij->rfk", roots, roots)
        level = np.log(np.diagonal(roots, axis1=3, axis2=4)).sum(axis=-1) - 0.5 * np.log(variance).sum(axis=-1)
        with np.errstate(divide="ignore"):
            level += np.log(count / count.sum(axis=1, keepdims=True))
        lost = condition * loss.max(axis=-1) + np.sqrt(variance.sum(axis=-1) / least)
        sound = known[..., None] & (least > self._tol) & (condition > 0) & (count >= max(m, 2))
        roots *= per[..., None]
        return _Fit(roots, mean, level, np.where(sound, _EPS * m * lost, np.inf).max(axis=2))

    def _scale(self, moments: Moments) -> tuple[FloatArray, Any]:
        """Return the factors of columns in each fold, (replicates, folds, m), and the folds where these are known."""
        size = moments.count.sum(axis=1)[:, None]
        mean = moments.sums.sum(axis=2) / size
        squares = np.diagonal(moments.scatter, axis1=3, axis2=4).sum(axis=2)
        variance = np.maximum(squares / size - mean**2, 0)
        unusual = np.empty(variance.shape, dtype=np.int64)  # the number of unusual values in each fold
        is_unusual = moments.rows != self._usual
        for fold, span in enumerate(self._order.spans):
            unusual[:, fold] = np.count_nonzero(is_unusual[:, span], axis=1)
        constant = unusual.sum(axis=1, keepdims=True) == unusual
        scaled = self._design.standardised
        known = (~scaled | constant | (variance > _LEAST_VARIANCE)).all(axis=2)
        scale = np.where(scaled & ~constant, 1 / np.sqrt(np.maximum(variance, _LEAST_VARIANCE)), self._spread)
        return scale, known

    def _least_eigenvalue(self, correlation: FloatArray, variance: FloatArray, loss: FloatArray) -> FloatArray:
        """Return lower bounds of the eigenvalues that scikit-learn compares with ``tol``, by fold and class."""
        if self._shrinkage > self._tol:  # singular values are squared, so that none is below 0
            return np.full(variance.shape[:-1], self._shrinkage)
        deviation = np.sqrt(variance)
        smallest = np.linalg.eigvalsh(correlation * deviation[..., :, None] * deviation[..., None, :])[..., 0]
        rounding = _EPS * variance.shape[-1] * (loss * variance).sum(axis=-1)
        return np.asarray(np.maximum(smallest - rounding, _TINY))
