"""Measures of model outputs by row: areas under the ROC curve, losses, pass@k, weighted kappa.

The losses are negated, so that the greater mean belongs to the better classifier. Weighted kappa is of classes that are
numbers, so that far errors count more (Cohen 1968, Psychological Bulletin 70, 213-220); classes without an order have
kappa, measurements ``neg-mae``.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .._common.validation import FloatArray, IntArray

#: By what power of the distance of two classes an error counts.
POWERS = {"linear-kappa": 1, "quadratic-kappa": 2}


class OrderedSums(NamedTuple):
    """The sums over rows from which weighted kappa is computed: of distances, and of the rows of each class."""

    #: float64 array of shape (m, 1).
    distances: FloatArray
    #: The rows that are, and that are called, each class; float64 arrays of shape (m, classes).
    true: FloatArray
    called: FloatArray


def weighted_kappa(name: str, true: Any, called: Any) -> float:
    """Weighted kappa of labels and predictions that are numbers."""
    numbers, codes = np.unique(np.concatenate([true, called]), return_inverse=True)
    kappa, (rows, said) = WeightedKappa(name, numbers), codes.reshape(2, -1)
    weights = np.ones((1, len(rows)))
    sums = kappa.sums_of(weights, rows, said)
    return float(kappa.of(sums)[0])


@dataclass(frozen=True)
class WeightedKappa:
    """Weighted kappa of classes of these numbers, as a function of sums over rows."""

    name: str
    #: float64 array of shape (classes,).
    numbers: FloatArray

    @property
    def _distances(self) -> FloatArray:
        return np.asarray(np.abs(np.subtract.outer(self.numbers, self.numbers)) ** POWERS[self.name])

    @property
    def ends(self) -> tuple[int, int]:
        """The positions of the least and the greatest class."""
        return int(np.argmin(self.numbers)), int(np.argmax(self.numbers))

    def sums(self, joint: Any, weights: FloatArray) -> tuple[OrderedSums, OrderedSums]:
        """The sums of A and of B for each row of weights of the joint events."""
        y, a, b = (np.array([event[which][0] for event in joint.events]) for which in range(3))
        return self.sums_of(weights, y, a), self.sums_of(weights, y, b)

    def sums_of(self, weights: FloatArray, true: IntArray, called: IntArray) -> OrderedSums:
        """The sums of kinds of rows with these classes, for each row of their weights."""
        eye = np.eye(len(self.numbers))
        distances = self._distances[true, called][:, np.newaxis]
        return OrderedSums(weights @ distances, weights @ eye[true], weights @ eye[called])

    def of(self, sums: OrderedSums, _kind: str = "classes") -> FloatArray:
        """One minus the ratio of distances to those expected by chance; 1 if only one class occurs and is predicted."""
        n = sums.true.sum(axis=-1)
        expected = ((sums.true @ self._distances) * sums.called).sum(axis=-1)
        seen = sums.distances[..., 0] * n
        return np.where(expected > 0, 1 - seen / np.where(expected > 0, expected, 1.0), 1.0)


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
    """The area under the ROC curve: the share of pairs in which the positive row has the higher score."""
    of_positives, of_negatives = pair_wins(positive, score)
    return float(of_positives.sum()) / (len(of_positives) * len(of_negatives))


def neg_log_loss(positive: Any, probability: Any) -> FloatArray:
    """The logarithm of the probability of each row's true class, from the probability that the row is positive."""
    truth, said = np.asarray(positive, dtype=bool), np.asarray(probability, dtype=np.float64)
    # A certain and wrong answer costs what a double can tell from certainty, as in scikit-learn's log_loss.
    tiny = np.finfo(np.float64).eps
    log: FloatArray = np.log(np.clip(np.where(truth, said, 1 - said), tiny, 1 - tiny))
    return log


def neg_brier(positive: Any, probability: Any) -> FloatArray:
    """The squared distance of each row's probability from the truth, negated; parameters as `neg_log_loss`.

    >>> neg_brier(np.array([True, False]), np.array([0.9, 0.5])).round(2).tolist()
    [-0.01, -0.25]
    """
    truth, said = np.asarray(positive, dtype=bool), np.asarray(probability, dtype=np.float64)
    values: FloatArray = -np.square(said - truth)
    return values


def mark(positive: Any, score: Any) -> FloatArray:  # noqa: ARG001 (as the other measures of rows)
    """The score itself, whatever it measures."""
    return np.asarray(score, dtype=np.float64)


def neg_absolute_error(label: Any, prediction: Any) -> FloatArray:
    """The distance of each predicted number from the true one, negated."""
    values: FloatArray = -np.abs(np.asarray(prediction, dtype=np.float64) - np.asarray(label, dtype=np.float64))
    return values


def neg_squared_error(label: Any, prediction: Any) -> FloatArray:
    """The same squared; parameters as `neg_absolute_error`."""
    values: FloatArray = -np.square(neg_absolute_error(label, prediction))
    return values


def pass_at(k: int, answers: int, right: int) -> Fraction:
    """Unbiased estimate of the probability that one of k answers to an item is right; `right` of `answers` are.

    k is at most `answers`. Chen et al., Evaluating Large Language Models Trained on Code (2021), equation (1).
    """
    return 1 - Fraction(math.comb(answers - right, k), math.comb(answers, k))


def ratio_of_sums(denominator: Any, score: Any) -> float:
    """The sum of the scores over that of the denominators."""
    return float(np.sum(score) / np.sum(denominator))
