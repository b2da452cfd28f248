"""The interval of one model's score, where rows may come in groups."""

import math
from typing import Any

import numpy as np
from scipy.special import betainccinv, betaincinv, stdtrit

from .._common.validation import IntArray
from ..intervals import Interval, clopper_pearson


def share_interval(right: Any, groups: IntArray | None, confidence: float) -> Interval:
    """The interval of an accuracy: Clopper and Pearson's, with an effective number of rows where they are in groups.

    Korn and Graubard (1998), Survey Methodology 24, 193-201: the number of independent rows that would have the
    estimate's variance, times the squared ratio of Student's quantiles for so many rows and groups, at most the number
    of rows. Where all rows are right, or all wrong, each group counts as one row.

    Parameters
    ----------
    right : ndarray of bool, shape (n,)
    groups : ndarray of int, shape (n,), or None
        Codes from 0.
    confidence : float

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats.ranking.intervals import share_interval
    >>> right, groups = np.arange(100) % 10 < 7, np.arange(100) // 10
    >>> low, high, _ = share_interval(right, None, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.6002, 0.7876)
    >>> share_interval(right, groups, 0.95)[:2] == (low, high)  # all groups are alike: no less is known
    True
    """
    n, count = len(right), int(right.sum())
    if groups is None:
        return clopper_pearson(count, n, confidence_level=confidence)
    units, share, tail = int(groups.max()) + 1, count / n, (1 - confidence) / 2
    if units < 2:
        return Interval(0.0, 1.0, confidence)
    variance = _variance(right.astype(float), groups)
    effective = float(units)
    if 0 < count < n:
        effective = float(n)
        if variance > 0:
            wider = float(stdtrit(n - 1, tail) / stdtrit(units - 1, tail))
            effective = min(effective, share * (1 - share) / variance * wider**2)
        if effective == n:
            return clopper_pearson(count, n, confidence_level=confidence)
    successes, failures = share * effective, (1 - share) * effective
    low = 0.0 if count == 0 else float(betaincinv(successes, failures + 1, tail))
    high = 1.0 if count == n else float(betainccinv(successes + 1, failures, tail))
    return Interval(low, high, confidence)


def mean_interval(scores: Any, groups: IntArray | None, confidence: float) -> Interval:
    """Student's interval of a mean score, with the variance of the groups' sums where rows are in groups.

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats.ranking.intervals import mean_interval
    >>> [round(end, 4) for end in mean_interval(np.array([0.5, 0.7, 0.9, 0.4]), None, 0.95)[:2]]
    [0.2722, 0.9778]
    """
    codes = np.arange(len(scores)) if groups is None else groups
    units = int(codes.max()) + 1
    if units < 2:
        return Interval(-math.inf, math.inf, confidence)
    half = float(-stdtrit(units - 1, (1 - confidence) / 2)) * math.sqrt(_variance(scores, codes))
    mean = float(scores.mean())
    return Interval(mean - half, mean + half, confidence)


def _variance(scores: Any, codes: IntArray) -> float:
    """The standard error of the mean, by groups (Liang and Zeger 1986), with the factor G / (G - 1)."""
    sums = np.bincount(codes, weights=scores - scores.mean())
    return float(sums @ sums) * len(sums) / (len(sums) - 1) / len(scores) ** 2
