"""Measures of several classes that need no average over them, from the four counts of each class against the others.

Each takes the float64 counts `tp`, `fn`, `fp` and `tn` with the classes along the last axis, and the value of 0/0.
"""

# ruff: noqa: ARG001 (every measure takes all four counts, so that any can stand for any other)

from typing import Any

import numpy as np

from .._common.validation import FloatArray
from .confusion import ratio


def accuracy(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    """The share of right answers."""
    return ratio(tp.sum(-1), (tp + fn).sum(-1), undefined)


def error(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    """The share of wrong answers."""
    return ratio(fn.sum(-1), (tp + fn).sum(-1), undefined)


def balanced_accuracy(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    """The mean recall of the classes that occur."""
    return ratio(ratio(tp, tp + fn, 0.0).sum(-1), (tp + fn > 0).sum(-1).astype(np.float64), undefined)


def mcc(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    """Gorodkin's (2004) R_K: the correlation of the true and the assigned class, each as K indicators."""
    true, assigned, n = tp + fn, tp + fp, (tp + fn).sum(-1)
    covariance = n * tp.sum(-1) - (true * assigned).sum(-1)
    scale = np.sqrt(n**2 - (true**2).sum(-1)) * np.sqrt(n**2 - (assigned**2).sum(-1))
    return ratio(covariance, scale, undefined)


def kappa(tp: Any, fn: Any, fp: Any, tn: Any, *, undefined: float = 0.0) -> FloatArray:
    """Cohen's (1960) agreement beyond chance."""
    n = (tp + fn).sum(-1)
    by_chance = ((tp + fn) * (tp + fp)).sum(-1)
    return ratio(n * tp.sum(-1) - by_chance, n**2 - by_chance, undefined)
