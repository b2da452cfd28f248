"""Measures of rows: areas under the ROC curve, losses, pass@k, and formulas of labels, predictions and weights.

Losses are negated, so that the greater mean belongs to the better classifier. A formula with weights takes the labels
and the predictions of p kinds of rows, and m rows of p weights, and returns m values; kinds of weight 0 are ignored.
Weighted kappa needs numeric classes, so that larger errors count more (Cohen 1968, Psychological Bulletin 70, 213-220);
use kappa for classes without an order, and ``rmse`` or ``neg-mae`` for measurements.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._common.validation import FloatArray, IntArray, raised, refuse

#: The power of the distance of two classes with which an error counts.
POWERS = {"linear-kappa": 1, "quadratic-kappa": 2}
#: Predictions with which `macro_area` ranks a row first, or last, for its class.
FIRST, LAST = -1, -2
_FEW_PAIRS = 2**20


class PairWeights(NamedTuple):
    """The weight of each pair of a label and a prediction; float64 array of shape (m, pairs)."""

    weights: FloatArray


@dataclass(frozen=True)
class OfPairs:
    """A formula of labels, predictions and weights, as a function of the weights of joint events."""

    formula: Callable[..., FloatArray]
    #: The values of the codes: numbers, or names of classes.
    values: NDArray[Any]
    #: The codes of labels and of predictions that an unseen row may have; None: any classes.
    unseen: tuple[IntArray, IntArray] | None = None
    #: True if it takes long, as a function of a user's does.
    slow: bool = False
    #: The pairs that may have a weight: code of the label times number of values, plus code of the prediction.
    pairs: Any = ()

    @property
    def ends(self) -> tuple[int, ...]:
        """The codes of the smallest and the largest number; empty for names."""
        return (int(self.values.argmin()), int(self.values.argmax())) if self.values.dtype.kind == "f" else ()

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The kinds of rows that may be added; None if these may have any class."""
        labels, said = ((), ()) if self.unseen is None else (codes.tolist() for codes in self.unseen)
        return tuple(sorted(((y,), (a,), (b,)) for y, a, b in product(labels, said, said) if a != b))

    def on(self, *joint: Any) -> Self:
        """The formula restricted to the pairs of some joint events."""
        return replace(self, pairs=np.unique(np.concatenate([self._codes(events) for events in joint], axis=1)))

    def sums(self, joint: Any, weights: FloatArray) -> tuple[PairWeights, PairWeights]:
        """The weights of the pairs of A and of B, for each row of weights of the events."""
        from scipy.sparse import csr_array  # slow to import

        both = []
        for places in np.searchsorted(self.pairs, self._codes(joint)):
            cells = np.arange(len(places)), places
            of_event = csr_array((np.ones(len(places)), cells), shape=(len(places), len(self.pairs)))
            both.append(PairWeights(np.asarray(weights @ of_event)))
        return both[0], both[1]

    def of(self, sums: PairWeights, _kind: str = "classes") -> FloatArray:
        """The value of each row of weights."""
        true, said = np.divmod(self.pairs, len(self.values))
        return self.formula(self.values[true], self.values[said], sums.weights)

    def _codes(self, joint: Any) -> IntArray:
        y, a, b = np.array(joint.events)[:, :, 0].T
        return np.array([y * len(self.values) + side for side in (a, b)])


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


def weighted_kappa(power: int, true: Any, said: Any, weights: FloatArray) -> FloatArray:
    """One minus the ratio of distances to those expected by chance; 1 if only one class occurs and is predicted."""
    numbers, codes = np.unique(np.concatenate([true, said]), return_inverse=True)
    (rows, called), eye = codes.reshape(2, -1), np.eye(len(numbers))
    distances = np.abs(np.subtract.outer(numbers, numbers)) ** power
    expected = ((weights @ eye[rows] @ distances) * (weights @ eye[called])).sum(axis=-1)
    seen = (weights @ distances[rows, called]) * weights.sum(axis=-1)
    return np.asarray(np.where(expected > 0, 1 - seen / np.where(expected > 0, expected, 1.0), 1.0))


def weighted_area(positive: Any, score: Any, weights: FloatArray) -> FloatArray:
    """The weighted share of pairs in which the positive row has the higher score; a tie counts half."""
    order = _stable_order(score)
    first = np.flatnonzero(np.append(True, np.diff(score[order]) != 0))
    hit = np.flatnonzero(positive[order])
    of_all = np.take(weights, order, axis=1)
    hits = of_all[:, hit]
    of_all[:, hit] = 0
    misses = np.zeros((len(weights), len(order) + 1))
    np.cumsum(of_all, axis=1, out=misses[:, 1:])
    tied = np.searchsorted(first, hit, side="right")
    below, upto = misses[:, first[tied - 1]], misses[:, np.append(first, len(order))[tied]]
    wins = (hits * (below + upto)).sum(axis=1) / 2
    return np.asarray(wins / (hits.sum(axis=1) * misses[:, -1]))


def _stable_order(score: Any) -> IntArray:
    """The order of scores; int32 is sorted in two passes of 16 bits, which NumPy does by radix, ten times as fast."""
    if score.dtype != np.int32:
        return np.argsort(score, kind="stable")
    order = np.argsort(score.astype(np.uint16), kind="stable")
    return order[np.argsort((score >> 16).astype(np.int16)[order], kind="stable")]


def ranks_of(vectors: FloatArray) -> NDArray[np.int32]:
    """The rank of each score in its column, from 0; equal scores have one rank."""
    ranks = [np.unique(column, return_inverse=True)[1].ravel() for column in vectors.T]
    return np.column_stack(ranks).astype(np.int32)


def macro_area(vectors: NDArray[Any], label: Any, said: Any, weights: FloatArray) -> FloatArray:
    """The mean of the areas of the classes that occur, each against all others.

    `vectors`: the scores, one column per class. `said`: the row of `vectors` for each prediction; or `FIRST` or `LAST`,
    with the best (worst) score for the true class and the worst (best) for all others.
    """
    weighted = weights.any(axis=0)
    label, said, weights = label[weighted], said[weighted], weights[:, weighted]
    total, number = np.zeros(len(weights)), np.zeros(len(weights))
    ends = vectors.max() + 1, vectors.min() - 1
    for code, scores in enumerate(vectors.T):
        own = label == code
        score = np.where(said < 0, np.where(own == (said == FIRST), *ends), scores[np.maximum(said, 0).astype(int)])
        pairs = (weights @ own) * (weights @ ~own)
        if own.sum() * (~own).sum() <= _FEW_PAIRS:  # a product of matrices is faster than sorted sums
            wins = (1 + np.sign(np.subtract.outer(score[own], score[~own]))) / 2
            area = ((weights[:, own] @ wins) * weights[:, ~own]).sum(axis=1) / np.where(pairs > 0, pairs, 1.0)
        else:
            area = np.where(pairs > 0, weighted_area(own, score, weights), 0.0)
        total, number = total + area, number + (pairs > 0)
    return np.asarray(total / np.maximum(number, 1))


def rank_of_truth(table: FloatArray, truth: Any) -> IntArray:
    """Return the rank of each true class; of equal probabilities the last class ranks first, as in scikit-learn."""
    place = np.asarray(truth, dtype=np.int64)[:, np.newaxis]
    of_truth, later = np.take_along_axis(table, place, axis=1), np.arange(table.shape[1]) > place
    return np.asarray(1 + ((table > of_truth) | ((table == of_truth) & later)).sum(axis=1))


def of_table(table: FloatArray, truth: IntArray, answers: int) -> float:
    """Return the share of rows with the true class among the `answers` most probable; if 0, the `macro_area`."""
    if answers:
        return float((rank_of_truth(table, truth) <= answers).mean())
    return float(macro_area(table, truth, np.arange(len(truth)), np.ones((1, len(truth))))[0])


def average_precision(positive: Any, score: Any, weights: FloatArray) -> FloatArray:
    """The mean precision at the score of each positive row; rows of equal scores are called positive together."""
    order = np.argsort(-score, kind="stable")
    last = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
    hits, called = (np.cumsum(weights[:, order] * of, axis=1)[:, last] for of in (positive[order], 1.0))
    steps = np.diff(hits, axis=1, prepend=0.0)
    return np.asarray((steps * hits / np.where(called > 0, called, 1.0)).sum(axis=1) / hits[:, -1])


def rmse(label: Any, prediction: Any, weights: FloatArray) -> FloatArray:
    """The root of the mean squared error."""
    return np.asarray(np.sqrt(weights @ np.square(prediction - label) / weights.sum(axis=1)))


def r2(label: Any, prediction: Any, weights: FloatArray) -> FloatArray:
    """One minus the ratio of the mean squared error to the variance of the labels; 0 if they are all equal."""
    n, centred = weights.sum(axis=1), label - label.mean()
    spread = weights @ np.square(centred) - np.square(weights @ centred) / n
    some = spread > 1e-12 * n * np.square(centred).max(initial=0.0)
    return np.asarray(np.where(some, 1 - weights @ np.square(prediction - label) / np.where(some, spread, 1.0), 0.0))


def of_function(
    function: Callable[..., Any], name: str, label: Any, prediction: Any, weights: FloatArray
) -> FloatArray:
    """The values of a user's function of labels, predictions and weights.

    Raises ValueError unless they are finite numbers, and a row of twice the weight counts as two rows.
    """
    wanted = "a finite number for y, prediction and weights; use sigstats.Measure for a function of tp, fn, fp, tn"

    def value(own: FloatArray, rows: Any = slice(None)) -> float:
        kept = own > 0
        try:
            result = float(function(label[rows][kept], prediction[rows][kept], own[kept]))
        except Exception as error:  # a user's function may raise anything
            raise ValueError(f"measure: {name} failed: {raised(error)}; expected {wanted}") from error
        if not math.isfinite(result):
            raise refuse(f"measure ({name})", result, wanted)
        return result

    times = np.arange(len(label)) % 3 + 1  # a function that forgets the weights sees another number of each kind
    repeated = value(np.repeat(weights[0], times), np.repeat(np.arange(len(label)), times))
    if not math.isclose(joint := value(weights[0] * times), repeated, rel_tol=1e-6, abs_tol=1e-9):
        told = f"gives {joint:.6g} for rows with weights and {repeated:.6g} for the same rows repeated"
        raise ValueError(f"measure: {name} {told}; use the weights, as in np.average(..., weights=weights)")
    return np.array([value(own) for own in weights])
