"""Linear discriminant analysis for a block of replicates: cross products minus those of the fold, one inverse each.

The within-class scatter of the training rows of a fold is the scatter of all rows, minus that of the fold, minus that
between class means. `LinearDiscriminantAnalysis` computes the same discriminants from singular values, and drops those
that are too small. Two such cases are reproduced here: columns that depend linearly on others in all rows, where any
basis of the columns gives the same scores, and a column that is constant in all training rows, which gets no weight.
Folds in which it could drop others are left to scikit-learn.
"""

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.linalg.lapack import dpotrf, dtrtri
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from sigstats._common.validation import FloatArray, IntArray

from .base import UNDECIDED, Null, Problem, best_or_undecided, is_default, steps_of
from .design import BatchedDesign, Design, Moments, design_of
from .gaussian_estimators import LinearDiscriminant

_WIDEST = 512
#: scikit-learn drops directions whose within-class variance, after scaling, is below 1e-8; stay well away from it.
_SMALLEST = 1e-7
#: A column depends on others if the rest that they do not explain is at most this, in standard deviations.
_DEPENDENT = 1e-12
#: The same for a rest that rounding leaves, relative to the distance of the values from 0.
_ROUNDING = 5e-15
#: The distance from 0, in standard deviations, at which values have too few digits to tell which columns are dependent.
_FARTHEST = 1e6

_EPS = 1e-15
#: From this many columns on, an inverse by Cholesky's factor is faster than NumPy's of many matrices together.
_WIDE = 16


@dataclass(frozen=True)
class _Basis:
    """Standardised columns that are linearly independent."""

    #: ndarray, shape (n, m).
    columns: FloatArray
    #: Their places among all columns; ndarray, shape (m,).
    kept: IntArray
    #: The value that more than half the rows have, if there is one; ndarray, shape (m,).
    usual: FloatArray
    #: True if scikit-learn gives the column no weight in folds where it is constant: no column that was left out
    #: depends on it, and its variance there is exactly 0, without a rounding error to scale up; ndarray, shape (m,).
    lone: Any
    #: True if only constant columns were left out.
    complete: bool
    #: The largest distance of a value from 0, in standard deviations.
    farthest: float


def _basis(raw: FloatArray) -> _Basis | None:
    """Return a basis of the columns that vary; None if rounding could decide which columns belong to one."""
    mean, largest = raw.mean(axis=0), np.abs(raw).max(axis=0)
    scale = (raw - mean).std(axis=0)
    varies = scale > 1e-12 * largest  # a constant column separates nothing
    usual = np.partition(raw, len(raw) // 2, axis=0)[len(raw) // 2]
    exact = _exact_sums(usual, len(raw))
    kept = np.flatnonzero(varies)
    if not kept.size or not ((raw == usual).all(axis=0) & exact)[~varies].all():
        return None
    columns = (raw[:, kept] - mean[kept]) / scale[kept]
    farthest = float((largest[kept] / scale[kept]).max())
    triangle, pivots = qr(columns, mode="r", pivoting=True)
    dependent = max(_DEPENDENT, _ROUNDING * farthest) * np.sqrt(len(columns))
    rank = int((np.abs(np.diagonal(triangle)) > dependent).sum())
    complete = rank == len(kept)
    lone = np.ones(rank, dtype=bool)
    if not complete:
        if farthest > _FARTHEST:
            return None
        lone = np.abs(solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])).max(axis=1) <= 1e-9
    order = pivots[:rank].argsort()
    columns = np.ascontiguousarray(columns[:, pivots[:rank][order]])
    kept = kept[pivots[:rank][order]]
    if np.linalg.eigvalsh(columns.T @ columns / len(columns))[0] < _SMALLEST:
        return None
    common = (usual[kept] - mean[kept]) / scale[kept]
    lone = lone[order] & exact[kept] & ((columns == common) == (raw[:, kept] == usual[kept])).all(axis=0)
    # A column with variance 0 is not scaled: weights that are 0 except for rounding are applied to its own values.
    lone &= largest[kept] <= 10 * rank * farthest
    return _Basis(columns, kept, common, lone, complete, farthest)


def _exact_sums(values: FloatArray, n: int) -> Any:
    """Return True if sums of up to `n` times each value are not rounded."""
    mantissa = np.abs(np.frexp(values)[0] * 2.0**53).astype(np.int64)
    odd = mantissa // np.maximum(mantissa & -mantissa, 1)
    return odd <= 2**53 // n


class BatchedLDA(BatchedDesign):
    """`sklearn.discriminant_analysis.LinearDiscriminantAnalysis` with default parameters, bare or standardised."""

    def __init__(self, problem: Problem, design: Design, basis: _Basis) -> None:
        super().__init__(problem, design)
        self._degrees = _degrees_of_freedom(problem.n_classes)
        self._basis = basis

    @classmethod
    def recognise(cls, estimator: Any, problem: Problem, null: Null) -> "BatchedLDA | None":
        """Prepare the design; None for other solvers, shrinkage, priors or transforms."""
        *transforms, classifier = steps_of(estimator)
        kinds = (LinearDiscriminantAnalysis, LinearDiscriminant)
        if not any(is_default(classifier, kind, free=("store_covariance",)) for kind in kinds):
            return None
        design = design_of(transforms, problem.X)
        if design is None or design.sparse or design.columns.shape[1] > _WIDEST:
            return None
        basis = _basis(np.where(design.standardised, problem.X[:, design.feature], design.columns))
        if basis is None or (null == "features" and not basis.complete):
            return None
        # Discriminants do not depend on the scale of columns, so none is needed in a fold.
        categories = np.flatnonzero(np.isin(basis.kept, design.categories))
        unscaled = np.zeros(len(basis.kept), dtype=bool)
        return cls(problem, Design(basis.columns, design.feature[basis.kept], unscaled, categories), basis)

    def _classify(self, moments: Moments) -> IntArray:
        count = moments.count
        if (count == 0).any():
            return np.full(moments.rows.shape[:2], UNDECIDED, dtype=np.int64)
        means = moments.sums / count[..., None]
        within = moments.scatter
        within -= moments.sums.swapaxes(2, 3) @ means
        self._leave_out_constant(moments.rows, within, means)
        degrees = (count.sum(axis=1) - self._degrees)[:, None]
        roots = inverse_roots(within)
        # The trace of the inverse correlation matrix; neither the factor nor the weights need that scale.
        diagonal = np.maximum(np.diagonal(within, axis1=2, axis2=3), _SMALLEST * degrees)
        condition = (np.einsum("rfij,rfij->rfi", roots, roots) * diagonal).sum(axis=2)
        whitened = means @ roots
        weights = whitened @ roots.swapaxes(2, 3)
        weights *= degrees[..., None]
        level, margin = self._level_and_margin(weights @ means.swapaxes(2, 3), condition)
        margins = np.repeat(margin[:, None], self._order.counts.sum(axis=1), axis=2)
        return best_or_undecided(self._scores(moments.rows, weights, level), margins)

    def _level_and_margin(self, products: FloatArray, condition: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return each class's constant, and the margin by which its score must exceed the others; inf if undecided."""
        count, m = self._order.train_counts, len(self._basis.kept)
        level = np.log(count / count.sum(axis=1, keepdims=True)) - 0.5 * np.diagonal(products, axis1=2, axis2=3)
        sound = (condition > 0) & (condition < 1 / _SMALLEST) & self._all_directions(products, m)
        unit = _EPS * m * self._basis.farthest
        return level, np.where(sound, unit * condition * (1 + np.abs(level).max(axis=2)), np.inf)

    def _leave_out_constant(self, rows: FloatArray, within: FloatArray, means: FloatArray) -> None:
        """Give no weight to a column that is constant in all rows a fold is trained on, as scikit-learn does."""
        variance = np.diagonal(within, axis1=2, axis2=3)
        for replicate, fold, column in np.argwhere(variance <= 1e-8 * rows.shape[1]).tolist():
            span, usual = self._order.spans[fold], rows[replicate, :, column] == self._basis.usual[column]
            if self._basis.lone[column] and usual[: span.start].all() and usual[span.stop :].all():
                within[replicate, fold, column] = within[replicate, fold, :, column] = 0
                within[replicate, fold, column, column] = rows.shape[1]
                means[replicate, fold, :, column] = 0

    def _all_directions(self, products: FloatArray, m: int) -> Any:
        """Return True if no direction between class means is so weak that scikit-learn would drop it."""
        classes = products.shape[-1]
        if classes == 2:
            return True
        count = self._order.train_counts
        share = count / count.sum(axis=1, keepdims=True)
        rooted = np.sqrt(share)
        # Products of the means less their mean by share, along which they are 0.
        centred = products - np.einsum("rfij,fj->rfi", products, share)[..., None]
        centred -= np.einsum("rfij,fi->rfj", centred, share)[..., None, :]
        centred *= rooted[:, :, None] * rooted[:, None, :]
        known = np.isfinite(centred).all(axis=(2, 3))
        centred[~known] = 0
        strength = np.linalg.eigvalsh(centred)
        return known & (strength[..., -min(m, classes - 1)] > _SMALLEST * strength[..., -1])


def inverse_roots(matrices: FloatArray) -> FloatArray:
    """Return U, upper triangular, with U U^T the inverse of each symmetric matrix; NaN if not positive definite."""
    m = matrices.shape[-1]
    if m < _WIDE:
        with contextlib.suppress(np.linalg.LinAlgError):
            factors = np.linalg.cholesky(matrices)
            scale = 1 / np.sqrt(np.diagonal(matrices, axis1=-2, axis2=-1))  # as pivots depend on it
            inverse = np.linalg.inv(factors * scale[..., None]) * scale[..., None, :]
            return np.ascontiguousarray(inverse.swapaxes(-2, -1))
    roots = np.empty_like(matrices)
    for matrix, root in zip(matrices.reshape(-1, m, m), roots.reshape(-1, m, m), strict=True):
        factor, failed = dpotrf(matrix.T, lower=True, clean=True)
        root[:] = np.nan if failed else dtrtri(factor, lower=True, overwrite_c=True)[0].T
    return roots


def _degrees_of_freedom(classes: int) -> int:
    """Return what is subtracted from the rows in the within-class covariance: 0 or the number of classes.

    It differs between versions of scikit-learn and matters relative to the log priors, so it is found by a trial fit.
    """
    probe = LinearDiscriminantAnalysis().fit([[-1.0], [1.0], [9.0], [11.0]], [0, 0, 1, 1])
    width = float(np.diff(probe.decision_function([[0.0], [1.0]]))[0])  # 10 / covariance: 10 for 4 rows, 5 for 2
    return 0 if width > 7.5 else classes
