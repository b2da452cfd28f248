"""Formulas of measures with weights: weighted kappa, areas under the curve, average precision, RMSE and R squared.

A formula takes the labels and the predictions of p kinds of rows, and m rows of p weights, and returns m values; kinds
of weight 0 are ignored. With random weights (`sigstats.unseen_row.counts`), a formula is applied many times to the same
data. An `OfPairs` does this in three steps: `on` prepares the data once, `sums` adds up each row of weights, and `of`
turns the sums into the measure. In `OfAreas` and `OfPrecision`, an unseen row only adds its weight to the sums.

Weighted kappa needs numeric classes, so that larger errors count more (Cohen 1968, Psychological Bulletin 70, 213-220);
use kappa for classes without an order, and ``rmse`` or ``neg-mae`` for measurements.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._common.validation import FloatArray, IntArray

#: The power of the distance of two classes with which an error counts.
POWERS = {"linear-kappa": 1, "quadratic-kappa": 2}
#: Predictions with which `macro_area` ranks a row first, or last, for its class.
FIRST, LAST = -1, -2
#: Number of rows that are summed together; a longer column does not fit into the cache.
_FEW_ROWS = 256


def weighted_kappa(power: int, true: Any, predicted: Any, weights: FloatArray) -> FloatArray:
    """Return 1 minus the ratio of the distances to those by chance; 1 if labels and predictions are all one class."""
    numbers, codes = np.unique(np.concatenate([true, predicted]), return_inverse=True)
    (rows, columns), indicators = codes.reshape(2, -1), np.eye(len(numbers))
    distances = np.abs(np.subtract.outer(numbers, numbers)) ** power
    by_chance = ((weights @ indicators[rows] @ distances) * (weights @ indicators[columns])).sum(axis=-1)
    observed = (weights @ distances[rows, columns]) * weights.sum(axis=-1)
    return np.asarray(np.where(by_chance > 0, 1 - observed / np.where(by_chance > 0, by_chance, 1.0), 1.0))


def rmse(label: Any, prediction: Any, weights: FloatArray) -> FloatArray:
    """Return the root of the mean squared error."""
    return np.asarray(np.sqrt(weights @ np.square(prediction - label) / weights.sum(axis=1)))


def r2(label: Any, prediction: Any, weights: FloatArray) -> FloatArray:
    """Return one minus the ratio of the mean squared error to the variance of the labels; 0 if they are all equal."""
    n, centred = weights.sum(axis=1), label - label.mean()
    spread = weights @ np.square(centred) - np.square(weights @ centred) / n
    some = spread > 1e-12 * n * np.square(centred).max(initial=0.0)
    return np.asarray(np.where(some, 1 - weights @ np.square(prediction - label) / np.where(some, spread, 1.0), 0.0))


def macro_area(vectors: NDArray[Any], label: Any, predicted: Any, weights: FloatArray) -> FloatArray:
    """Return the mean of the areas of the classes that occur, each against all others.

    `vectors`: the scores, one column per class. `predicted`: the row of `vectors` for each prediction; or `FIRST` or
    `LAST`, with the best (worst) score for the true class and the worst (best) for all others.
    """
    return _mean_area(_area_sums(vectors, label, predicted)(weights))


def weighted_area(positive: Any, score: Any, weights: FloatArray) -> FloatArray:
    """Return the weighted share of pairs in which the positive row has the higher score; a tie counts half."""
    return macro_area(score[:, np.newaxis], positive, np.arange(len(score)), weights)


def _area_sums(vectors: NDArray[Any], label: Any, predicted: Any) -> Callable[..., FloatArray]:
    """Return a function that turns weights into the sums of `_mean_area`; parameters as `macro_area`.

    The sums are the pairs won by each class, and the weights of its scored, first and last rows. With `added`: the sums
    that one more of each row adds, for one row of weights. A single column has the scores of class 1 of two; class 0
    wins the same pairs.
    """
    codes, scored, size = label.astype(np.int64), predicted >= 0, max(2, vectors.shape[1])
    weights_by_kind = _adding(size * np.select([scored, predicted == FIRST], [0, 1], 2) + codes, 3 * size)
    rows_of_class = []
    columns_of_scores = vectors[np.maximum(predicted, 0).astype(np.int64)].T
    for code, scores in enumerate(columns_of_scores, size - vectors.shape[1]):
        positive = codes == code
        levels = np.unique(scores[positive & scored])
        # A row of another class is added at the first score of this class above it; half of it if it is tied with one.
        sides = (np.searchsorted(levels, scores, side=side) for side in ("left", "right"))
        columns = (np.where(positive, len(levels) + 1 + np.searchsorted(levels, scores), at) for at in sides)
        rows_of_class.append(sum(_adding(column, 2 * len(levels) + 2, scored / 2) for column in columns).T)

    def sums(weights: FloatArray, added: bool = False) -> FloatArray:
        by_row, wins = np.ascontiguousarray(weights.T), []
        for of_class in rows_of_class:
            others, hits = np.split(of_class @ by_row, 2)
            for start in range(0, len(others), _FEW_ROWS - 1):  # blocks that overlap in one row
                np.cumsum(part := others[start : start + _FEW_ROWS], axis=0, out=part)
            above = np.cumsum(hits[::-1])[::-1] if added else hits
            wins.append(of_class.T @ np.append(above, others) if added else (others * hits).sum(axis=0))
        wins *= size // len(wins)
        return np.column_stack([*wins, weights_by_kind.toarray() if added else (weights_by_kind.T @ by_row).T])

    return sums


def _mean_area(sums: FloatArray) -> FloatArray:
    """Return the mean of the areas of the classes that occur, from `_area_sums`."""
    wins, scored, first, last = np.split(sums, 4, axis=1)
    # A row that is ranked first for another class has the lowest score.
    others, lowest, highest = (of_class @ (1 - np.eye(of_class.shape[1])) for of_class in (scored, first, last))
    wins = wins + scored * lowest + first * (others + lowest + highest / 2) + last * lowest / 2
    pairs = (scored + first + last) * (others + lowest + highest)
    return np.asarray(sum((wins / np.where(pairs > 0, pairs, 1.0)).T) / np.maximum((pairs > 0).sum(axis=1), 1))


def average_precision(positive: Any, score: Any, weights: FloatArray) -> FloatArray:
    """Return the mean precision at the score of each positive row. Equal scores are called positive together."""
    return _mean_precision(_called(positive, score, np.unique(score[positive == 1]), weights))


def _called(positive: Any, score: Any, thresholds: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weights of rows called positive at each threshold, the highest first: positive rows, then all rows."""
    first, width = len(thresholds) - np.searchsorted(thresholds, score, side="right"), len(thresholds) + 1
    counted = 1.0 * positive, 1.0
    return np.hstack([np.cumsum(weights @ _adding(first, width, times), axis=1)[:, :-1] for times in counted])


def _mean_precision(called: FloatArray) -> FloatArray:
    """Return the average precision, from `_called`."""
    hits, of_all = np.split(called, 2, axis=1)
    precision = hits / np.maximum(of_all, np.finfo(np.float64).tiny)  # rows may have a weight of 0
    return np.asarray((np.diff(hits, axis=1, prepend=0.0) * precision).sum(axis=1) / hits[:, -1])


def _adding(columns: IntArray, width: int, times: Any = 1.0) -> Any:
    """Return a sparse matrix that adds each row, or a multiple of it, to one of `width` columns."""
    from scipy.sparse import csr_array  # slow to import

    return csr_array((times * np.ones(len(columns)), columns, np.arange(len(columns) + 1)), shape=(len(columns), width))


class PairWeights(NamedTuple):
    """The sums of an `OfPairs`: the weight of each pair of a label and a prediction; float64, shape (m, pairs)."""

    weights: FloatArray


@dataclass(frozen=True)
class OfPairs:
    """A formula of labels, predictions and weights, as a function of the weights of joint events.

    A joint event is a label with the predictions of A and of B (`sigstats.joint.events`). A pair is the label with one
    of these two predictions.
    """

    formula: Any
    #: The values of the codes: numbers, or names of classes.
    values: NDArray[Any]
    #: The codes of labels and of predictions that an unseen row may have; None: any classes.
    unseen: tuple[IntArray, IntArray] | None = None
    #: True if the formula takes about as long as calls of a user's function.
    slow: bool = False
    #: What `on` prepares: the pairs that may have a weight, as label code times number of values plus prediction code.
    pairs: Any = ()

    @property
    def ends(self) -> tuple[int, ...]:
        """The codes of the smallest and the largest number; empty for names."""
        return (int(self.values.argmin()), int(self.values.argmax())) if self.values.dtype.kind == "f" else ()

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The kinds of rows that an unseen row may be, as ((label,), (A,), (B,)); empty if it may have any class."""
        labels, predictions = ((), ()) if self.unseen is None else (codes.tolist() for codes in self.unseen)
        return tuple(sorted(((y,), (a,), (b,)) for y, a, b in product(labels, predictions, predictions) if a != b))

    def on(self, *joint: Any) -> Self:
        """Return the formula restricted to the pairs of some joint events."""
        return replace(self, pairs=np.unique(np.concatenate([self._pairs_of(events) for events in joint], axis=1)))

    def sums(self, joint: Any, weights: FloatArray) -> list[PairWeights]:
        """Return the weights of the pairs of A and of B, for each row of weights of the events."""
        places = np.searchsorted(self.pairs, self._pairs_of(joint))
        return [PairWeights(np.asarray(weights @ _adding(side, len(self.pairs)))) for side in places]

    def of(self, sums: PairWeights, _kind: str = "classes") -> FloatArray:
        """Return the value of each row of weights."""
        true, predicted = np.divmod(self.pairs, len(self.values))
        return np.asarray(self.formula(self.values[true], self.values[predicted], sums.weights))

    def _pairs_of(self, joint: Any) -> IntArray:
        y, a, b = np.array(joint.events)[:, :, 0].T
        return np.array([y * len(self.values) + side for side in (a, b)])


class OfAreas(OfPairs):
    """The formula `macro_area` or `weighted_area`; `pairs` are the joint events, each with functions of weights."""

    def on(self, *joint: Any) -> Self:
        """Return the formula on some joint events; their scores are compared only once."""
        pairs = []
        for events in joint:
            y, a, b = self.values[np.array(events.events)[:, :, 0].T]
            of_a = self._sums_of_model(y, a)
            pairs.append((events, of_a, of_a if (a == b).all() else self._sums_of_model(y, b)))
        return replace(self, pairs=pairs)

    def sums(self, joint: Any, weights: FloatArray, *, added: bool = False) -> list[PairWeights]:
        """Return the sums of A and of B for each row of weights; if `added`, those that one more of each event adds."""
        of_sides = next(sides for events, *sides in self.pairs if events is joint)
        computed = {sums: PairWeights(sums(weights, added)) for sums in of_sides}  # once, if A and B are equal
        return [computed[sums] for sums in of_sides]

    def of(self, sums: PairWeights, _kind: str = "classes") -> FloatArray:  # noqa: D102
        return _mean_area(sums.weights)

    def _sums_of_model(self, label: Any, predicted: Any) -> Callable[..., FloatArray]:
        if self.unseen is None or self.formula is not weighted_area:
            return _area_sums(self.formula.args[0], label, predicted)
        low, high = self.values[self.unseen[1]]
        ends = np.where((predicted == high) == (label == 1), FIRST, LAST)
        rows = np.where((low < predicted) & (predicted < high), np.arange(len(predicted)), ends)
        return _area_sums(predicted[:, np.newaxis], label, rows)


class OfPrecision(OfPairs):
    """The formula `average_precision`, of cumulative sums; `pairs` are the thresholds of both models."""

    def on(self, *joint: Any) -> Self:
        """Return the formula on some joint events; the thresholds of a model are the scores of their positive rows."""
        y, *sides = self.values[np.concatenate([events.events for events in joint])[:, :, 0].T]
        return replace(self, pairs=[np.unique(side[y == 1]) for side in sides])

    def sums(self, joint: Any, weights: FloatArray) -> list[PairWeights]:  # noqa: D102
        y, *sides = self.values[np.array(joint.events)[:, :, 0].T]
        return [PairWeights(_called(y, *side, weights)) for side in zip(sides, self.pairs, strict=True)]

    def of(self, sums: PairWeights, _kind: str = "classes") -> FloatArray:  # noqa: D102
        return _mean_precision(sums.weights)
