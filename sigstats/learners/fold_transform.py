"""Rows transformed as a pipeline transforms them that is fitted on training rows, to the last bit."""

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._common.validation import FloatArray
from .base import is_default

_EPS = float(np.finfo(np.float64).eps)


class FoldTransform:
    """The transforms before a classifier, fitted anew on each training fold.

    `X` (ndarray, shape (n, d)): the data. How a sum is rounded is NumPy's own: it is tried on them whether scales are
    the same.
    """

    def __init__(self, transforms: list[Any], X: FloatArray) -> None:
        self._transform = make_pipeline(*transforms) if transforms else None
        self._standardised = len(transforms) == 1 and is_default(transforms[0], StandardScaler, free=("copy",))
        if self._standardised:
            theirs = clone(transforms[0]).fit_transform(X)
            self._standardised = np.array_equal(standardised(X, X)[0], theirs)

    def __call__(self, train: FloatArray, tested: FloatArray) -> tuple[Any, Any]:
        """Training rows and others as the classifier sees them."""
        if self._transform is None:
            return train, tested
        if self._standardised:
            return standardised(train, tested)
        # The data are numbers, and scikit-learn would ask so in each step.
        with config_context(assume_finite=True, skip_parameter_validation=True):
            own = clone(self._transform)
            return own.fit_transform(train), own.transform(tested)


def standardised(train: FloatArray, tested: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Training rows and others as `StandardScaler` transforms them, to the last bit."""
    n = len(train)
    mean = train.sum(axis=0) / n
    rest = train - mean
    correction = rest.sum(axis=0)
    rest *= rest
    variance = (rest.sum(axis=0) - correction**2 / n) / n
    constant = variance <= n * _EPS * variance + (n * mean * _EPS) ** 2
    scale = np.where(constant, 1.0, np.sqrt(variance))
    return (train - mean) / scale, (tested - mean) / scale
