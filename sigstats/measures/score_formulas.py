"""Formulas of measures of scores and numbers: losses, the area under the curve, pass@k, and the rank of the true class.

`neg_log_loss` to `neg_squared_error` return values of rows, whose mean is the measure; losses are negated, so that the
greater mean belongs to the better classifier. The others are of whole samples. `weighted.py` has those with weights.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .._common.validation import FloatArray, IntArray


def neg_log_loss(positive: Any, probability: Any) -> FloatArray:
    """Return the log-probability of each row's true class, from the probability that the row is positive."""
    truth, predicted = np.asarray(positive, dtype=bool), np.asarray(probability, dtype=np.float64)
    # A certain and wrong answer costs what a double can tell from certainty, as in scikit-learn's log_loss.
    tiny = np.finfo(np.float64).eps
    return np.asarray(np.log(np.clip(np.where(truth, predicted, 1 - predicted), tiny, 1 - tiny)))


def neg_brier(positive: Any, probability: Any) -> FloatArray:
    """Return the squared distance of each row's probability from the truth, negated; parameters as `neg_log_loss`.

    >>> neg_brier(np.array([True, False]), np.array([0.9, 0.5])).round(2).tolist()
    [-0.01, -0.25]
    """
    truth, predicted = np.asarray(positive, dtype=bool), np.asarray(probability, dtype=np.float64)
    return np.asarray(-np.square(predicted - truth))


def mark(positive: Any, score: Any) -> FloatArray:  # noqa: ARG001 (as the other measures of rows)
    """Return the score itself."""
    return np.asarray(score, dtype=np.float64)


def neg_absolute_error(label: Any, prediction: Any) -> FloatArray:
    """Return the distance of each predicted number from the true one, negated."""
    return np.asarray(-np.abs(np.asarray(prediction, dtype=np.float64) - np.asarray(label, dtype=np.float64)))


def neg_squared_error(label: Any, prediction: Any) -> FloatArray:
    """Return the squared distance of each predicted number from the true one, negated."""
    return np.asarray(-np.square(neg_absolute_error(label, prediction)))


def pair_wins(positive: Any, score: Any) -> tuple[FloatArray, FloatArray]:
    """Return the number of negatives below each positive, and of positives above each negative; a tie counts half.

    Both are in the order of the rows, and multiples of a half, so that their sums are exact.
    """
    positives, negatives = score[positive], score[~positive]
    orders = np.argsort(positives), np.argsort(negatives)
    ascending = positives[orders[0]], negatives[orders[1]]
    below, above = np.empty(len(positives)), np.empty(len(negatives))
    # In ascending order each binary search starts in the cache of the one before.
    twice = [np.searchsorted(of, at) + np.searchsorted(of, at, side="right") for of, at in (ascending[::-1], ascending)]
    below[orders[0]], above[orders[1]] = twice[0] / 2, len(positives) - twice[1] / 2
    return below, above


def area_under_curve(positive: Any, score: Any) -> float:
    """Return the area under the ROC curve: the share of pairs in which the positive row has the higher score."""
    of_positives, of_negatives = pair_wins(positive, score)
    return float(of_positives.sum()) / (len(of_positives) * len(of_negatives))


def is_reversed(area: float, positives: int, negatives: int) -> bool:
    """Return True for an area under the curve as small as 1 in 4,000 areas of random scores of independent rows."""
    return area < 0.5 - 3.5 * math.sqrt((1 / positives + 1 / negatives) / 12)


def pass_at(k: int, answers: int, right: int) -> Fraction:
    """Unbiased estimate of the probability that one of k answers to an item is right; `right` of `answers` are.

    k is at most `answers`. Chen et al., Evaluating Large Language Models Trained on Code (2021), equation (1).
    """
    return 1 - Fraction(math.comb(answers - right, k), math.comb(answers, k))


def ratio_of_sums(denominator: Any, score: Any) -> float:
    """Return the sum of the scores over that of the denominators."""
    return float(np.sum(score) / np.sum(denominator))


def rank_of_truth(table: FloatArray, truth: Any) -> IntArray:
    """Return the rank of each true class; of equal probabilities the last class ranks first, as in scikit-learn."""
    place = np.asarray(truth, dtype=np.int64)[:, np.newaxis]
    of_truth, later = np.take_along_axis(table, place, axis=1), np.arange(table.shape[1]) > place
    return np.asarray(1 + ((table > of_truth) | ((table == of_truth) & later)).sum(axis=1))
