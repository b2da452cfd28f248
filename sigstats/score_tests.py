"""Two classifiers by their scores on the same rows: areas under the ROC curve, and means of a score a row.

A score says more than a prediction: the probability that a classifier gives, its loss on a row, the mark that a judge
gave to an answer. Rows that come in groups (several of one patient, document or conversation) are counted as groups.

When not to use: fewer than some ten positives or negatives, ten rows, or twenty groups, where the normal and Student's
distributions that the tests lean on are not reached; predictions without scores have exact tests
(`sigstats.mcnemar_test`).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit
from scipy.stats import rankdata

from .checks import ALTERNATIVES, Alternative, FloatArray, as_array, as_choice, as_indicators, as_real, as_reals, refuse
from .intervals import Interval
from .results import TestResult

#: The result warns where there are fewer positives, negatives or rows, and fewer groups.
FEW, FEW_GROUPS = 10, 20


@dataclass(frozen=True, kw_only=True)
class ScoreResult(TestResult):
    """The result of `auc_test` and `mean_score_test`.

    Attributes
    ----------
    statistic : float
        The difference in units of its standard error.
    value_a, value_b : float
        The area or the mean of both.
    interval_a, interval_b : Interval
        Of them.
    estimate : float
        That of B less that of A.
    interval : Interval
        Of the difference (not, as in other results, of the p-value).
    """

    interval: Interval
    interval_a: Interval
    interval_b: Interval
    value_a: float
    value_b: float
    estimate: float


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
        The areas are between 0 and 1.

    Raises
    ------
    ValueError
        If lengths differ, a score is not finite, there is no positive or no negative, there are fewer than two of
        either (or two groups), or an option is out of range.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988), equations (3) to (5); by the ranks of Sun and Xu, IEEE
    Signal Processing Letters 21 (2014), in n log n steps. Groups: Obuchowski, Biometrics 53 (1997).

    Examples
    --------
    >>> from sigstats.score_tests import auc_test
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
    placements = [_placements(truth, one) for one in scores]
    areas = np.array([float(of_positives.mean()) for of_positives, _ in placements])
    positives = np.column_stack([of_positives for of_positives, _ in placements]) - areas
    negatives = np.column_stack([of_negatives for _, of_negatives in placements]) - areas
    if groups is None:
        covariance = positives.T @ positives / ((m - 1) * m) + negatives.T @ negatives / ((n - 1) * n)
        count = None
    else:
        # A group adds what its positives and its negatives add together, so that their covariance is in the square.
        codes, count = _codes(groups, len(truth))
        influence = np.zeros((count, 2))
        np.add.at(influence, codes[truth], positives / m)
        np.add.at(influence, codes[~truth], negatives / n)
        covariance = influence.T @ influence * count / (count - 1)
    few = _warning(min(m, n), "positives or negatives", count)
    return _result(areas, covariance, None, way, level, "DeLong" if groups is None else "Obuchowski", few)


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
    Student's test of paired differences is exact for normal differences and asymptotically right for all others. With
    groups the variance is that of sums over groups (Liang and Zeger, Biometrika 73 (1986), times G / (G - 1)),
    and t has G - 1 degrees of freedom. Both are what Miller (Adding error bars to evals, 2024, sections 2 and 4)
    recommends for evaluations of language models.

    Examples
    --------
    >>> from sigstats.score_tests import mean_score_test
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
    means = np.array([float(one.mean()) for one in scores])
    centred = np.column_stack(scores) - means
    if groups is None:
        covariance, freedom, count = centred.T @ centred / (rows * (rows - 1)), rows - 1, None
    else:
        codes, count = _codes(groups, rows)
        sums = np.zeros((count, 2))
        np.add.at(sums, codes, centred / rows)
        covariance, freedom = sums.T @ sums * count / (count - 1), count - 1
    few = _warning(rows, "rows", count)
    return _result(means, covariance, freedom, way, level, "Student's t" if groups is None else "t of groups", few)


def negated_losses(measure: str, positive: Any, probability: Any) -> FloatArray:
    """What each row adds to a mean that is larger for the better classifier. Not part of the public names.

    Parameters
    ----------
    measure : {"neg-log-loss", "neg-brier"}
        The logarithm of the probability of the true class, or its squared distance from certainty, negated.
    positive : ndarray of bool
        Whether each row is positive.
    probability : ndarray of float, of the same shape
        That each is, as a classifier says.

    Returns
    -------
    ndarray of float64, of the same shape

    Examples
    --------
    >>> from sigstats.score_tests import negated_losses
    >>> import numpy as np
    >>> negated_losses("neg-brier", np.array([True, False]), np.array([0.9, 0.5])).round(2).tolist()
    [-0.01, -0.25]
    """
    truth, said = np.asarray(positive, dtype=bool), np.asarray(probability, dtype=np.float64)
    found: FloatArray
    if as_choice(measure, "measure", ("neg-log-loss", "neg-brier")) == "neg-brier":
        found = -np.square(said - truth)
        return found
    # A certain and wrong answer costs what a double can tell from certainty, as in scikit-learn's log_loss.
    tiny = np.finfo(np.float64).eps
    found = np.log(np.clip(np.where(truth, said, 1 - said), tiny, 1 - tiny))
    return found


def _pair(score_a: Any, score_b: Any, length: int | None, other: str) -> tuple[FloatArray, FloatArray]:
    a, b = as_reals(score_a, "score_a", ndim=1), as_reals(score_b, "score_b", ndim=1)
    for name, scores in (("score_a", a), ("score_b", b)):
        if len(scores) != (len(a) if length is None else length):
            raise refuse(f"{name} (length)", len(scores), f"{len(a) if length is None else length}, that of {other}")
        if np.abs(scores).max(initial=0.0) > 1e150:
            raise refuse(name, float(np.abs(scores).max()), "scores of at most 1e150, whose squares can be added")
    return a, b


def _codes(groups: Any, rows: int) -> tuple[NDArray[np.int64], int]:
    labels = as_array(groups, "groups", "the number of the group of each row")
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise refuse("groups", groups, "the number of the group of each row")
    if len(labels) != rows:
        raise refuse("groups (length)", len(labels), f"{rows}, that of the scores")
    codes = np.unique(labels, return_inverse=True)[1]
    count = int(codes.max()) + 1
    if count < 2:
        raise refuse("groups", count, "two groups or more")
    return codes.astype(np.int64), count


def _placements(truth: NDArray[np.bool_], scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The share of negatives below each positive, and of positives above each negative (Sun and Xu, equations 5, 6)."""
    m, n = int(truth.sum()), int((~truth).sum())
    ranks = rankdata(scores)
    above = (ranks[truth] - rankdata(scores[truth])) / n
    below = 1 - (ranks[~truth] - rankdata(scores[~truth])) / m
    return above, below


def _warning(rows: int, what: str, groups: int | None) -> str:
    if groups is not None and groups < FEW_GROUPS:
        return f"only {groups} groups: the standard error wants {FEW_GROUPS} or more"
    return f"only {rows} {what}: the test wants {FEW} or more" if rows < FEW else ""


def _result(
    values: FloatArray,
    covariance: FloatArray,
    freedom: int | None,
    alternative: str,
    confidence: float,
    method: str,
    reason: str,
) -> ScoreResult:
    """The test of a difference of two estimates; `freedom` is that of Student's t, None for the normal."""

    def tail(z: float) -> float:
        return float(ndtr(z) if freedom is None else stdtr(freedom, z))

    half = float(-ndtri((1 - confidence) / 2) if freedom is None else -stdtrit(freedom, (1 - confidence) / 2))

    def interval(value: float, variance: float) -> Interval:
        width = half * math.sqrt(max(variance, 0.0))
        return Interval(value - width, value + width, confidence)

    estimate = float(values[1] - values[0])
    variance = float(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    # What is left where all differences are equal is rounding.
    if variance <= 1e-24 * float(covariance[0, 0] + covariance[1, 1]) or variance <= 0:
        z = 0.0 if abs(estimate) < 1e-12 else math.copysign(math.inf, estimate)
        if z:
            reason = "all rows differ by the same: the p-value is 0 only as far as the rows tell"
    else:
        z = estimate / math.sqrt(variance)
    p = {"less": tail(-z), "greater": tail(z), "two-sided": min(1.0, 2 * tail(-abs(z)))}[alternative]
    return ScoreResult(
        statistic=z,
        pvalue=p,
        method=method,
        alternative=alternative,
        interval=interval(estimate, variance),
        interval_a=interval(float(values[0]), float(covariance[0, 0])),
        interval_b=interval(float(values[1]), float(covariance[1, 1])),
        value_a=float(values[0]),
        value_b=float(values[1]),
        estimate=estimate,
        reason=reason,
    )
