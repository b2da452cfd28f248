"""The interval of one model's score, where rows may come in groups."""

import math
from functools import cache
from typing import Any

import numpy as np

from .._common.validation import FloatArray, IntArray
from ..intervals import Interval, clopper_pearson, student_quantile
from ..unseen_row.means import mean_interval as bounds_of_mean
from ..unseen_row.means import units_of


def share_interval(right: Any, groups: IntArray | None, confidence: float) -> Interval:
    """The interval of an accuracy: Clopper and Pearson's, and where rows are in groups its like for means of groups.

    One more group, as large as the largest, that is all right or all wrong does not undo it
    (`sigstats.unseen_row.means`), however few groups there are.

    `groups` (ndarray of int, shape (n,), or None): codes from 0.

    >>> right, groups = np.arange(100) % 10 < 7, np.arange(100) // 10
    >>> low, high = share_interval(right, None, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.6002, 0.7876)
    >>> low, high = share_interval(right, groups, 0.95)  # ten groups, seven of ten rows of each
    >>> round(low, 4), round(high, 4)
    (0.4841, 0.7925)
    """
    if groups is None:
        return clopper_pearson(int(right.sum()), len(right), confidence_level=confidence)
    sums, sizes = np.bincount(groups, right).astype(np.float64), np.bincount(groups)
    return bounds_of_mean(units_of(sums, sizes), (0.0, 1.0), confidence)


def mean_interval(scores: Any, groups: IntArray | None, confidence: float) -> Interval:
    """Student's interval of a mean score, with the variance of the groups' sums where rows are in groups.

    >>> [round(end, 4) for end in mean_interval(np.array([0.5, 0.7, 0.9, 0.4]), None, 0.95)]
    [0.2722, 0.9778]
    """
    units = len(scores) if groups is None else len(np.unique(groups))
    if units < 2:
        return Interval(-math.inf, math.inf, confidence)
    half = _quantile(units - 1, confidence) * standard_error(scores, groups)
    mean = float(scores.mean())
    return Interval(mean - half, mean + half, confidence)


@cache
def _quantile(freedom: int, confidence: float) -> float:
    return -student_quantile(freedom, (1 - confidence) / 2)


def standard_error(scores: FloatArray, groups: IntArray | None) -> float:
    """The standard error of the mean, by groups (Liang and Zeger 1986), with the factor G / (G - 1).

    >>> round(standard_error(np.array([0.5, 0.7, 0.9, 0.4]), None), 4)
    0.1109
    """
    sums = scores - scores.mean()
    if groups is not None:
        sums = np.bincount(np.unique(groups, return_inverse=True)[1], sums)
    return math.sqrt(float(sums @ sums) * len(sums) / (len(sums) - 1)) / len(scores)
