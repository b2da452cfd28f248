"""Measures of what a model gives to rows: the area under the ROC curve, losses row by row, chances of an item.

The losses are negated, so that the greater mean belongs to the better classifier.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .._common.validation import FloatArray


def pair_wins(positive: Any, score: Any) -> tuple[FloatArray, FloatArray]:
    """The number of negatives below each positive, and of positives above each negative; a tie counts half.

    Both are in the order of the rows, and multiples of a half, so that their sums are exact.
    """
    positives, negatives = score[positive], score[~positive]
    orders = np.argsort(positives), np.argsort(negatives)
    ascending = positives[orders[0]], negatives[orders[1]]
    below, above = np.empty(len(positives)), np.empty(len(negatives))
    # In ascending order each binary search starts in the cache of the one before.
    below[orders[0]] = _count_below(ascending[1], ascending[0])
    above[orders[1]] = len(positives) - _count_below(ascending[0], ascending[1])
    return below, above


def _count_below(ascending: FloatArray, values: FloatArray) -> FloatArray:
    """The number of the `ascending` numbers below each value; a tie counts half."""
    counts: FloatArray = (np.searchsorted(ascending, values) + np.searchsorted(ascending, values, side="right")) / 2
    return counts


def area_under_curve(positive: Any, score: Any) -> float:
    """The area under the ROC curve: the share of pairs in which the positive row has the greater score."""
    of_positives, of_negatives = pair_wins(positive, score)
    return float(of_positives.sum()) / (len(of_positives) * len(of_negatives))


def neg_log_loss(positive: Any, probability: Any) -> FloatArray:
    """The logarithm of the probability of each row's true class.

    `probability` (ndarray of float, shape (n,)): that each row is positive, as the classifier says.
    """
    truth, said = np.asarray(positive, dtype=bool), np.asarray(probability, dtype=np.float64)
    # A certain and wrong answer costs what a double can tell from certainty, as in scikit-learn's log_loss.
    tiny = np.finfo(np.float64).eps
    found: FloatArray = np.log(np.clip(np.where(truth, said, 1 - said), tiny, 1 - tiny))
    return found


def neg_brier(positive: Any, probability: Any) -> FloatArray:
    """The squared distance of each row's probability from the truth, negated; parameters as `neg_log_loss`.

    >>> neg_brier(np.array([True, False]), np.array([0.9, 0.5])).round(2).tolist()
    [-0.01, -0.25]
    """
    truth, said = np.asarray(positive, dtype=bool), np.asarray(probability, dtype=np.float64)
    found: FloatArray = -np.square(said - truth)
    return found


def mark(positive: Any, score: Any) -> FloatArray:  # noqa: ARG001 (as the other measures of rows)
    """The score itself, whatever it measures."""
    return np.asarray(score, dtype=np.float64)


def neg_absolute_error(label: Any, prediction: Any) -> FloatArray:
    """The distance of each predicted number from the true one, negated.

    >>> neg_absolute_error(np.array([1.0, 2.5]), np.array([1.5, 2.0])).tolist()
    [-0.5, -0.5]
    """
    found: FloatArray = -np.abs(np.asarray(prediction, dtype=np.float64) - np.asarray(label, dtype=np.float64))
    return found


def neg_squared_error(label: Any, prediction: Any) -> FloatArray:
    """The same squared; parameters as `neg_absolute_error`."""
    found: FloatArray = -np.square(neg_absolute_error(label, prediction))
    return found


def pass_at(k: int, answers: int, right: int) -> Fraction:
    """The unbiased estimate of the chance that one of k answers to an item is right, of `answers` of which `right` are.

    k is at most `answers`. Chen et al., Evaluating Large Language Models Trained on Code (2021), equation (1).
    """
    return 1 - Fraction(math.comb(answers - right, k), math.comb(answers, k))


def ratio_of_sums(denominator: Any, score: Any) -> float:
    """The sum of the scores over that of the denominators.

    >>> ratio_of_sums(np.array([10, 30]), np.array([2, 2]))
    0.1
    """
    return float(np.sum(score) / np.sum(denominator))
