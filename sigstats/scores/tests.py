"""Two classifiers by their scores on the same rows: areas under the ROC curve, and means of a score a row.

A score says more than a prediction: the probability that a classifier gives, its loss on a row, the mark that a judge
gave to an answer. Rows that come in groups (several of one patient, document or conversation) are counted as groups.

When not to use: fewer than some ten positives or negatives, ten rows, or twenty groups, where the normal and Student's
distributions that the tests lean on are not reached; predictions without scores have exact tests
(`sigstats.mcnemar_test`).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from .._common.validation import (
    ALTERNATIVES,
    Alternative,
    FloatArray,
    IntArray,
    as_choice,
    as_groups,
    as_indicators,
    as_real,
    as_reals,
    refuse,
)
from .result import Differences, score_result
from .result import ScoreResult as ScoreResult

#: The result warns where there are fewer positives, negatives or rows, and fewer groups.
FEW, FEW_GROUPS = 10, 20

#: Differences that are equal but for this, relative to the scores, are equal: what rounded scores leave of a constant.
_ROUNDING = 16 * np.finfo(np.float64).eps


def auc_test(
    positive: Any,
    score_a: Any,
    score_b: Any,
    *,
    groups: Any = None,
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
) -> ScoreResult:
    """Whether two classifiers have the same area under the ROC curve, by DeLong's test.

    Parameters
    ----------
    positive : array_like of bool, shape (n,)
        Whether each row is positive.
    score_a, score_b : array_like of float, shape (n,)
        What each classifier gives each row: the larger, the more it is taken for positive. Equal scores count half.
    groups : array_like of int, shape (n,), optional
        The group of each row, where rows of one group are not independent (Obuchowski).
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A has the larger area.
    confidence : float
        Of the intervals, strictly between 0 and 1.

    Returns
    -------
    ScoreResult
        The areas are between 0 and 1, and their intervals end there; that of the difference ends at -1 and 1.

    Raises
    ------
    ValueError
        If lengths differ, a score is not finite, there is no positive or no negative, there are fewer than two of
        either (or two groups), or an option is out of range.

    Notes
    -----
    The variance of the difference is DeLong's of the differences of placements, row by row, so that nothing cancels. It
    is 0 where all positives, and all negatives, gain the same. The exchange of A and B may then be undecided in the
    rows of one class alone (each positive first or last, all negatives between), so that the p-value is the least that
    the rows of the rarer class can show.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988), equations (3) to (5); by the ranks of Sun and Xu, IEEE
    Signal Processing Letters 21 (2014), in n log n steps. Groups: Obuchowski, Biometrics 53 (1997).

    Examples
    --------
    >>> from sigstats.scores.tests import auc_test
    >>> positive = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> a = [0.1, 0.4, 0.6, 0.3, 0.5, 0.2, 0.8, 0.7]
    >>> b = [0.1, 0.2, 0.3, 0.5, 0.4, 0.6, 0.8, 0.9]
    >>> result = auc_test(positive, a, b)
    >>> result.value_a, result.value_b, round(result.pvalue, 3)
    (0.75, 0.9375, 0.399)
    """
    truth = as_indicators(positive, "positive")
    scores = _pair(score_a, score_b, len(truth), "positive")
    way = as_choice(alternative, "alternative", ALTERNATIVES)
    level = as_real(confidence, "confidence", low=0, high=1, open_ends=True)
    m, n = int(truth.sum()), int((~truth).sum())
    if min(m, n) < 2:
        raise refuse("positive", f"{m} positives and {n} negatives", "two of each or more")
    codes, count = (None, None) if groups is None else as_groups(groups, "groups", len(truth))
    wins = [_wins(truth, one) for one in scores]
    wins.append((wins[1][0] - wins[0][0], wins[1][1] - wins[0][1]))
    areas = [float(of_positives.sum()) / (m * n) for of_positives, _ in wins]
    placed = [(above / n - area, below / m - area) for (above, below), area in zip(wins, areas, strict=True)]
    if codes is None or count is None:
        variances = [
            float(above @ above) / ((m - 1) * m) + float(below @ below) / ((n - 1) * n) for above, below in placed
        ]
        # Half-integers, which are equal or not.
        constant = all(float(np.ptp(each)) == 0 for each in wins[2])
        units, what = min(m, n), "rows of the rarer class"
    else:
        # A group adds what its positives and its negatives add together, so that their covariance is in the square.
        influences = []
        for above, below in placed:
            share = np.empty(len(truth))
            share[truth], share[~truth] = above / m, below / n
            influences.append(_sums(share, codes))
        variances = [float(each @ each) * count / (count - 1) for each in influences]
        constant = bool(np.abs(influences[2]).max() * count <= _ROUNDING)
        units, what = min(len(np.unique(codes[truth])), len(np.unique(codes[~truth]))), "groups of the rarer class"
    return score_result(
        areas,
        variances,
        difference=Differences(constant, 0.0, units, what),
        freedom=None,
        alternative=way,
        confidence=level,
        method="DeLong" if groups is None else "Obuchowski",
        reason=_warning(min(m, n), "positives or negatives", count),
        within=(0.0, 1.0),
    )


def mean_score_test(
    score_a: Any,
    score_b: Any,
    *,
    groups: Any = None,
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
) -> ScoreResult:
    """Whether two classifiers have the same mean score, by Student's t of the differences row by row.

    Parameters
    ----------
    score_a, score_b : array_like of float, shape (n,)
        The score of each row: a mark, a loss, whatever is meant to be averaged.
    groups : array_like of int, shape (n,), optional
        The group of each row, where rows of one group are not independent: the standard error is then that of groups.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A has the larger mean.
    confidence : float
        Of the intervals, strictly between 0 and 1.

    Returns
    -------
    ScoreResult

    Raises
    ------
    ValueError
        If lengths differ, a score is not finite, there are fewer than two rows (or groups), or an option is out of
        range.

    Notes
    -----
    Student's test of paired differences is exact for normal differences and asymptotically right for all others. Where
    the differences are the same but for rounding, it has no p-value; see `ScoreResult`. With groups the variance is
    that of sums over groups (Liang and Zeger, Biometrika 73 (1986), times G / (G - 1)), and t has G - 1 degrees of
    freedom. Both are what Miller (Adding error bars to evals, 2024, sections 2 and 4) recommends for evaluations of
    language models.

    Examples
    --------
    >>> from sigstats.scores.tests import mean_score_test
    >>> result = mean_score_test([0.5, 0.7, 0.9, 0.4], [0.6, 0.7, 1.0, 0.6])
    >>> round(result.estimate, 3), round(result.pvalue, 4)
    (0.1, 0.0917)
    """
    scores = _pair(score_a, score_b, None, "score_a")
    way = as_choice(alternative, "alternative", ALTERNATIVES)
    level = as_real(confidence, "confidence", low=0, high=1, open_ends=True)
    rows = len(scores[0])
    if rows < 2:
        raise refuse("score_a", f"{rows} row(s)", "two rows or more")
    codes, count = (None, None) if groups is None else as_groups(groups, "groups", rows)
    # In units of a power of two no square overflows or vanishes, and the change of units rounds nothing.
    largest = max(float(np.abs(one).max()) for one in scores)
    exponent = math.frexp(largest)[1]
    a, b = (np.ldexp(one, -exponent) for one in scores)
    series = (a, b, b - a)
    means = [float(one.mean()) for one in series]
    units = rows if count is None else count
    influences = [(one - mean) / rows for one, mean in zip(series, means, strict=True)]
    if codes is not None:
        influences = [_sums(each, codes) for each in influences]
    rounding = _ROUNDING * math.ldexp(largest, -exponent)
    return score_result(
        means,
        [float(each @ each) * units / (units - 1) for each in influences],
        difference=Differences(
            bool(np.abs(influences[2]).max() * units <= rounding),
            rounding,
            units,
            "rows" if count is None else "groups",
        ),
        freedom=units - 1,
        alternative=way,
        confidence=level,
        method="Student's t" if groups is None else "t of groups",
        reason=_warning(rows, "rows", count),
        exponent=exponent,
    )


def _pair(score_a: Any, score_b: Any, length: int | None, other: str) -> tuple[FloatArray, FloatArray]:
    a, b = as_reals(score_a, "score_a", ndim=1), as_reals(score_b, "score_b", ndim=1)
    for name, scores in (("score_a", a), ("score_b", b)):
        if len(scores) != (len(a) if length is None else length):
            raise refuse(f"{name} (length)", len(scores), f"{len(a) if length is None else length}, that of {other}")
        if np.abs(scores).max(initial=0.0) > 1e150:
            raise refuse(name, float(np.abs(scores).max()), "scores of at most 1e150, whose squares can be added")
    return a, b


def _wins(truth: NDArray[np.bool_], scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How many negatives are below each positive, and positives above each negative (Sun and Xu, equations 5, 6)."""
    ranks = rankdata(scores)
    above = ranks[truth] - rankdata(scores[truth])
    below = int(truth.sum()) - (ranks[~truth] - rankdata(scores[~truth]))
    return above, below


def _sums(values: FloatArray, codes: IntArray) -> FloatArray:
    """The sum of each group, added up in pairs."""
    order = np.argsort(codes, kind="stable")
    return np.asarray(np.add.reduceat(values[order], np.flatnonzero(np.diff(codes[order], prepend=-1))))


def _warning(rows: int, what: str, groups: int | None) -> str:
    if groups is not None and groups < FEW_GROUPS:
        return f"only {groups} groups: the standard error wants {FEW_GROUPS} or more"
    return f"only {rows} {what}: the test wants {FEW} or more" if rows < FEW else ""
