"""Formulas of labels, predictions and weights as functions of the four counts of two classes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._common.validation import FloatArray, refuse
from .measure import Measure
from .table import OwnMeasure


def of_two_classes(measure: OwnMeasure) -> Measure:
    """Turn a user's measure of labels (1 and 0), predictions and weights into one of counts, or raise ValueError.

    >>> from sigstats.measures.measure import as_own_measure
    >>> measure = as_own_measure(lambda y, prediction, weights: ((y == prediction) @ weights) / weights.sum())
    >>> of_two_classes(measure)(30, 1, 5, 64)
    0.94
    """
    spec = measure.spec
    if spec.needs != "classes":
        raise refuse("measure", str(measure), "a measure of labels and predictions, for counts of two classes")
    of_counts = spec.of_counts
    if of_counts is None:
        assert spec.of_weights is not None
        of_counts = partial(_of_counts, spec.of_weights)
    return Measure(name=str(measure), greater_is_better=spec.greater_is_better, function=of_counts)


def _of_counts(formula: Callable[..., FloatArray], *counts: Any) -> FloatArray:
    """Apply a formula of labels, predictions (1 and 0) and weights to the counts ``tp, fn, fp, tn``."""
    weights = np.stack(counts, axis=-1)
    value = formula(np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0]), weights.reshape(-1, 4))
    return np.asarray(value).reshape(weights.shape[:-1])
