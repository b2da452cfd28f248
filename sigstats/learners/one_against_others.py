"""One classifier for each category, against all others, trained on the same rows: `OneAgainstOthers`.

Gaussian kernel machines of sparse rows share one kernel matrix. libsvm computes the kernel of two sparse rows by
merging them, again for each machine. Here each kernel is computed once, as a sum of the same products in the same
order, and libsvm is given the matrix, so the coefficients of each machine are those of `sklearn.svm.SVC` to the last
bit.

When not to use: for dense rows, other classifiers, and rows whose kernel matrix would take more than a gigabyte. Then
nothing is shared, with the same answers.
"""

import math
from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.svm import SVC

from .._common.validation import FloatArray, IntArray
from .base import steps_of

#: Bytes of scratch memory for distances.
_SCRATCH = 2**25
#: Rounding error of a decision, as a share of the sum of all weights: exponents are exact to some 1e-13.
ROUNDING = 1e-10


def is_gaussian(machine: Any) -> bool:
    """Return True for a Gaussian kernel machine that predicts by decision values."""
    return type(machine) is SVC and machine.kernel == "rbf" and not machine.break_ties


def predict(fitted: Any, X: Any) -> Any:
    """Predict the rows (or texts) of X, as ``fitted.predict(X)``."""
    machine = steps_of(fitted)[-1]
    if not is_gaussian(machine) or len(machine.classes_) != 2:
        return fitted.predict(X)
    rows = fitted[:-1].transform(X) if hasattr(fitted, "steps") and len(fitted.steps) > 1 else X
    return machine.classes_[_codes(machine, rows)]


def _codes(machine: Any, rows: Any) -> IntArray:
    """Return the position of each row's class, by matrix products; libsvm decides where rounding could change it."""
    vectors, weights = machine.support_vectors_, machine.dual_coef_
    weights = np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights, dtype=np.float64).ravel()
    squares = _squares(vectors)
    values = np.empty(rows.shape[0], dtype=np.int64)
    step = max(1, _SCRATCH // (8 * len(weights)))
    for first in range(0, len(values), step):
        part = rows[first : first + step]
        products = part @ vectors.T
        exponents = np.asarray(products.toarray() if hasattr(products, "toarray") else products, dtype=np.float64)
        exponents *= -2
        exponents += squares
        exponents += _squares(part)[:, None]
        np.maximum(exponents, 0, out=exponents)
        exponents *= -machine._gamma
        decisions = np.exp(exponents, out=exponents) @ weights + machine.intercept_[0]
        codes = (decisions > 0).astype(np.int64)
        unsure = np.flatnonzero(np.abs(decisions) <= ROUNDING * np.abs(weights).sum())
        if unsure.size:
            codes[unsure] = np.searchsorted(machine.classes_, machine.predict(part[unsure]))
        values[first : first + step] = codes
    return values


def _squares(rows: Any) -> FloatArray:
    """Return the squared length of each row."""
    products = rows.multiply(rows) if hasattr(rows, "multiply") else rows * rows
    return np.asarray(products.sum(axis=1), dtype=np.float64).ravel()


#: Larger kernel matrices are left to libsvm, which stores only the parts that it needs.
_MOST_BYTES = 2**30
#: Rows of kernels computed at a time.
_ROWS = 256
#: Largest relative difference between good implementations of the exponential function.
_EXPONENTIAL = 1e-15


class OneAgainstOthers:
    """One classifier per category that predicts whether a row belongs to it: clones of `classifier`.

    `truth`, (n, K), says which rows are of each category. If all rows agree about a category, the answer is the same
    for every row.
    """

    def __init__(self, classifier: Any, X: Any, truth: NDArray[np.bool_]) -> None:
        self._constant = truth.all(axis=0)
        self._open = np.flatnonzero(truth.any(axis=0) & ~self._constant)
        kind = _SharedKernel if _shares(classifier, X) else _Separate
        self._fitted = kind(classifier, X, truth[:, self._open]) if self._open.size else None

    def predict(self, X: Any) -> NDArray[np.bool_]:
        """Predict whether each row belongs to each category, shape (n, K)."""
        belongs = np.tile(self._constant, (X.shape[0], 1))
        if self._fitted is not None:
            belongs[:, self._open] = self._fitted.predict(X)
        return belongs


class _Separate:
    """Classifiers that share no computation."""

    def __init__(self, classifier: Any, X: Any, truth: NDArray[np.bool_]) -> None:
        self._fitted = [clone(classifier).fit(X, own) for own in truth.T]

    def predict(self, X: Any) -> NDArray[np.bool_]:
        return np.column_stack([predict(value, X).astype(bool) for value in self._fitted])


def _shares(classifier: Any, X: Any) -> bool:
    if not is_gaussian(classifier) or 8 * X.shape[0] ** 2 > _MOST_BYTES or not issparse(X):
        return False
    gamma = classifier.gamma
    if isinstance(gamma, str):
        return gamma in ("scale", "auto")
    return isinstance(gamma, Real) and 0 <= float(gamma) < math.inf


class _SharedKernel:
    """Gaussian kernel machines on one kernel matrix."""

    def __init__(self, classifier: Any, X: Any, truth: NDArray[np.bool_]) -> None:
        self._classifier, self._truth = classifier, truth
        self._X = _sorted(X)
        self._gamma = _gamma(classifier.gamma, self._X)
        kernel = _kernel_matrix(self._X, self._gamma)
        weights = np.zeros((truth.shape[1], len(kernel)))
        self._intercepts = np.empty(len(weights))
        for at, own in enumerate(truth.T):
            machine = clone(classifier).set_params(kernel="precomputed").fit(kernel, own)
            weights[at, machine.support_] = machine.dual_coef_[0]
            self._intercepts[at] = machine.intercept_[0]
        used = np.flatnonzero(weights.any(axis=0))
        self._vectors, self._weights = self._X[used], weights[:, used]

    def predict(self, X: Any) -> NDArray[np.bool_]:
        rows, vectors = _sorted(X), self._vectors
        belongs = np.empty((rows.shape[0], len(self._weights)), dtype=bool)
        margin = ROUNDING * np.abs(self._weights).sum(axis=1)
        of_rows, of_vectors, columns = _squares_in_order(rows), _squares_in_order(vectors), vectors.T.tocsr()
        unsure = np.zeros_like(belongs)
        for part in _stripes(rows.shape[0]):
            exponents = _exponents((rows[part] @ columns).toarray(), of_rows[part], of_vectors, self._gamma)
            decisions = np.exp(exponents, out=exponents) @ self._weights.T + self._intercepts
            belongs[part], unsure[part] = decisions > 0, np.abs(decisions) <= margin
        for at in np.flatnonzero(unsure.any(axis=0)):
            machine = clone(self._classifier).fit(self._X, self._truth[:, at])
            belongs[unsure[:, at], at] = machine.predict(rows[unsure[:, at]])
        return belongs


def _kernel_matrix(rows: Any, gamma: float) -> FloatArray:
    """Return the kernels of all pairs of rows, equal to libsvm's after rounding to 32 bits."""
    n, squares = rows.shape[0], _squares_in_order(rows)
    kernel = np.empty((n, n))
    for part in _stripes(n):
        before = slice(part.stop)
        columns = rows[before].T.tocsr()
        exponents = _exponents((rows[part] @ columns).toarray(), squares[part], squares[before], gamma)
        values = np.exp(exponents)
        _as_libsvm_rounds(values, exponents)
        kernel[part, before] = values
        kernel[before, part] = values.T
    return kernel


def _exponents(products: FloatArray, squares: FloatArray, others: FloatArray, gamma: float) -> FloatArray:
    """Return -gamma times squared distances, by the operations of libsvm in the same order."""
    exponents = np.add.outer(squares, others)
    products *= 2
    exponents -= products
    exponents *= -gamma
    return np.asarray(exponents)


def _as_libsvm_rounds(values: FloatArray, exponents: FloatArray) -> None:
    """Use the exponential of the system, as libsvm does, if another could round differently to 32 bits."""
    low, high = values * (1 - _EXPONENTIAL), values * (1 + _EXPONENTIAL)
    doubtful = np.nonzero(low.astype(np.float32) != high.astype(np.float32))
    values[doubtful] = [math.exp(exponent) for exponent in exponents[doubtful].tolist()]


def _gamma(gamma: Any, X: Any) -> float:
    """Return the value of gamma in `sklearn.svm.SVC` for ``"scale"`` and ``"auto"``."""
    if gamma == "scale":
        variance = X.multiply(X).mean() - X.mean() ** 2
        return float(1.0 / (X.shape[1] * variance)) if variance != 0 else 1.0
    return 1.0 / X.shape[1] if gamma == "auto" else float(gamma)


def _sorted(X: Any) -> Any:
    """Return the rows as 64-bit floats with sorted entries: libsvm adds products in this order."""
    rows = X.tocsr().astype(np.float64)
    rows.sum_duplicates()
    return rows


def _squares_in_order(rows: Any) -> FloatArray:
    """Return the squared length of each row, adding terms from left to right."""
    return np.asarray(rows.multiply(rows) @ np.ones(rows.shape[1]), dtype=np.float64)


def _stripes(n: int) -> Iterator[slice]:
    for first in range(0, n, _ROWS):
        yield slice(first, min(first + _ROWS, n))
