"""Predictions of a Gaussian kernel machine on many rows, as matrix products.

libsvm evaluates its kernel row by row and support vector by support vector. The squared distances of all rows to all
support vectors are one matrix product; a row whose decision is nearer to 0 than rounding may move it is left to libsvm,
so that every prediction is the one that scikit-learn makes.

When not to use: for a few rows; for more than two classes or another kernel, `predict` asks scikit-learn.
"""

from typing import Any

import numpy as np
from sklearn.svm import SVC

from sigstats._common.validation import FloatArray, IntArray

from ..base import steps_of

#: Bytes of scratch memory for distances.
_SCRATCH = 2**25

#: How far rounding may move a decision, as a share of the sum of all weights: an exponent is exact to some 1e-13.
ROUNDING = 1e-10


def is_gaussian(machine: Any) -> bool:
    """True if an estimator is a Gaussian kernel machine whose decisions are what it predicts."""
    return type(machine) is SVC and machine.kernel == "rbf" and not machine.break_ties


def predict(fitted: Any, X: Any) -> Any:
    """The predictions of a fitted classifier or pipeline for the rows (or texts) of X: as ``fitted.predict(X)``."""
    machine = steps_of(fitted)[-1]
    if not is_gaussian(machine) or len(machine.classes_) != 2:
        return fitted.predict(X)
    rows = fitted[:-1].transform(X) if hasattr(fitted, "steps") and len(fitted.steps) > 1 else X
    return machine.classes_[_codes(machine, rows)]


def _codes(machine: Any, rows: Any) -> IntArray:
    vectors, weights = machine.support_vectors_, machine.dual_coef_
    weights = np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights, dtype=np.float64).ravel()
    own = _squares(vectors)
    found = np.empty(rows.shape[0], dtype=np.int64)
    step = max(1, _SCRATCH // (8 * len(weights)))
    for first in range(0, len(found), step):
        part = rows[first : first + step]
        products = part @ vectors.T
        exponents = np.asarray(products.toarray() if hasattr(products, "toarray") else products, dtype=np.float64)
        exponents *= -2
        exponents += own
        exponents += _squares(part)[:, None]
        np.maximum(exponents, 0, out=exponents)
        exponents *= -machine._gamma
        decisions = np.exp(exponents, out=exponents) @ weights + machine.intercept_[0]
        codes = (decisions > 0).astype(np.int64)
        unsure = np.flatnonzero(np.abs(decisions) <= ROUNDING * np.abs(weights).sum())
        if unsure.size:
            codes[unsure] = np.searchsorted(machine.classes_, machine.predict(part[unsure]))
        found[first : first + step] = codes
    return found


def _squares(rows: Any) -> FloatArray:
    """The squared length of each row."""
    products = rows.multiply(rows) if hasattr(rows, "multiply") else rows * rows
    return np.asarray(products.sum(axis=1), dtype=np.float64).ravel()
