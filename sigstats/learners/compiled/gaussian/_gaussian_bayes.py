"""Gaussian naive Bayes in the folds of replicates, compiled by Numba: a fold is learned and its rows are classified.

The log-likelihood of a class is linear in the squares of the values and the values, and so is a bound of what rounding
is of it, which is one more class.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np

from sigstats._common.validation import FloatArray, IntArray
from sigstats.learners.compiled.jit import borrowed, compiled, keep, merged

from ...base import UNDECIDED, FoldOrder
from ._gaussian_scores import Fold, classify, new_fold, set_weights
from ._placed_rows import PlacedRows

_UNDECIDED: Final = UNDECIDED
_TINY: Final = float(np.finfo(np.float64).tiny)

#: So many rows are mixed at once, and stay in cache.
_ROWS: Final = 64

#: Variances are multiplied within these bounds, and one logarithm is taken of the product.
_LEAST, _MOST = 1e-140, 1e140


class Rules(NamedTuple):
    """The data and options that all replicates share."""

    #: Where the rows of each fold and class end, in order; ndarray of int, shape (folds * classes,).
    cells: Any
    #: Training rows, and the logarithm of their share; ndarray, shape (folds, classes).
    size: Any
    prior: Any
    #: The sum of squares of all rows, and the largest variance that may be rounding alone; ndarray, shape (features,).
    squares: Any
    no_variance: Any
    #: Whether sums of squares are of whole numbers, or halves, and not rounded; ndarray of bool, shape (features,).
    exact: Any
    #: What is added to each variance, as a part of the largest.
    smoothing: float
    #: Of a log-likelihood, relative to its terms.
    rounding: float


class GaussianBayes:
    """Naive Bayes of complete numbers.

    `squares`, `no_variance`, `exact`, `smoothing` and `rounding`: as in `Rules`.
    """

    def __init__(
        self,
        columns: FloatArray,
        order: FoldOrder,
        squares: FloatArray,
        no_variance: FloatArray,
        exact: Any,
        smoothing: float,
        rounding: float,
    ) -> None:
        self._placed = PlacedRows(columns, order)
        size = order.train_counts
        with np.errstate(divide="ignore"):
            prior = np.log(size / size.sum(axis=1, keepdims=True))
        self._rules = Rules(self._placed.cells, size, prior, squares, no_variance, exact, smoothing, rounding)
        self._by_feature = np.ascontiguousarray(columns.T)
        self._order = order.sorted

    def predict_labels(self, place: IntArray) -> IntArray:
        """Predictions by row of X, or `UNDECIDED`, for ``place`` of shape (replicates, n)."""
        predicted = np.empty(place.shape, dtype=np.int64)
        nothing = np.zeros((0, 0, 0), dtype=np.int64)
        _predict(self._rules, self._by_feature, nothing, self._placed.columns, self._placed.rows(place), predicted)
        return predicted

    def predict_features(self, source: IntArray) -> IntArray:
        """The same for ``source`` of shape (replicates, features, n)."""
        predicted = np.empty((len(source), len(self._order)), dtype=np.int64)
        rows, mixed = self._order.astype(np.int32)[np.newaxis], np.zeros_like(self._placed.columns)
        # What is no array of its own, as the one replicate that is not permuted, would be compiled for anew.
        _predict(self._rules, self._by_feature, np.ascontiguousarray(source), mixed, rows, predicted)
        return predicted


@compiled
def _mix(by_feature: Any, source: Any, mixed: Any) -> None:
    """Values of permuted features, (n, m): some rows at once, which stay in cache from one feature to the next."""
    (d, n), m, to = by_feature.shape, mixed.shape[1], borrowed(mixed.ravel())
    for first in range(0, n, _ROWS):
        end = min(first + _ROWS, n)
        for j in range(d):
            own, rows, at = borrowed(by_feature[j]), borrowed(source[j]), np.uint64(first * m + j)
            for i in range(first, end):
                to[at] = own[np.uint64(rows[i])]
                at += np.uint64(m)


@compiled
def _add_moments(columns: Any, rows: Any, cells: Any, sums: Any, squares: Any) -> None:
    """Sums of values and of their squares over the rows of each cell."""
    first = 0
    for cell in range(len(cells)):
        total, square = borrowed(sums[cell]), borrowed(squares[cell])
        total[:] = 0.0
        square[:] = 0.0
        for i in range(first, cells[cell]):
            own = borrowed(columns[rows[i]])
            for j in range(len(total)):
                total[j] += own[j]
                square[j] += own[j] * own[j]
        first = cells[cell]


@compiled
def _log_of_product(values: Any) -> float:
    """The sum of the logarithms of values above 0."""
    total, product = 0.0, 1.0
    for value in values:
        if _LEAST < value < _MOST:
            product *= value
            if not _LEAST < product < _MOST:
                total += math.log(product)
                product = 1.0
        else:
            total += math.log(value)
    return total + math.log(product)


@merged
def _pool(size: Any, sums: Any, squares: Any, center: Any, spread: Any) -> float:
    """Means and variances of all training rows together; the largest variance."""
    total, largest = max(size.sum(), 1.0), 0.0
    for j in range(len(center)):
        value, square = 0.0, 0.0
        for k in range(len(size)):
            value += sums[k, j]
            square += squares[k, j]
        center[j] = value / total
        spread[j] = max(square / total - center[j] * center[j], 0.0)
        largest = max(largest, spread[j])
    return largest


@merged
def _learn(rules: Rules, number: int, sums: Any, squares: Any, room: Any, fold: Fold) -> bool:
    """Learn a fold from the sums over its training rows; False where a variance may be rounding alone."""
    d, (center, spread, variance) = len(rules.squares), room
    added = rules.smoothing * _pool(rules.size[number], sums, squares, center, spread)
    sound = True
    for k in range(len(sums)):
        count = rules.size[number, k]
        own, mean, inverse, loss = max(count, 1.0), fold.mean[k], fold.inverse[k], fold.loss[k]
        slope = fold.slope[k]
        for j in range(d):
            if count > 0:
                mean[j] = sums[k, j] / own
                variance[j] = max(squares[k, j] / own - mean[j] * mean[j], 0.0) + added
            else:
                mean[j] = center[j]
                variance[j] = spread[j] + added
        for j in range(d):
            sound = sound and variance[j] > rules.no_variance[j]
            variance[j] = max(variance[j], _TINY)
        size, far = 0.0, 0.0
        for j in range(d):
            inverse[j] = 1 / variance[j]
            loss[j] = 1 + (squares[k, j] if rules.exact[j] else rules.squares[j]) / own * inverse[j]
            slope[j] = 3 * loss[j] * inverse[j]
            squared = mean[j] * mean[j] * inverse[j]
            size += squared
            far += loss[j] + 3 * loss[j] * squared
        logarithm = _log_of_product(variance) + d * math.log(2 * math.pi)
        constant = rules.prior[number, k] - 0.5 * (logarithm + size)
        fold.constant[k] = constant
        fold.level[k] = far + 1 + (abs(constant) if math.isfinite(constant) else 0.0)
    return sound


@merged
def _predict_replicate(rules: Rules, columns: Any, rows: Any, out: Any) -> None:
    """Predictions of one replicate, by row of X, with `rows` in the order of folds and classes."""
    m, d, (n_folds, classes) = columns.shape[1], len(rules.squares), rules.size.shape
    moments = np.empty((n_folds * classes, m)), np.empty((n_folds * classes, m))
    sums, squares = borrowed(moments)
    _add_moments(columns, rows, rules.cells, sums, squares)
    total, square = np.zeros((classes, m)), np.zeros((classes, m))
    for cell in range(n_folds * classes):
        for j in range(m):
            total[cell % classes, j] += sums[cell, j]
            square[cell % classes, j] += squares[cell, j]
    learned, owned = new_fold(classes, d, m), (np.empty(d), np.empty(d), np.empty(d))
    fold, room = borrowed(learned), borrowed(owned)
    first = 0
    for number in range(n_folds):
        cells = slice(number * classes, (number + 1) * classes)
        end = rules.cells[cells][classes - 1]
        if _learn(rules, number, total - sums[cells], square - squares[cells], room, fold):
            set_weights(fold, m)
            classify(fold, columns, rows[first:end], rules.rounding, out)
        else:
            for i in range(first, end):
                out[rows[i]] = _UNDECIDED
        first = end
    keep((moments, learned, owned))


@compiled
def _predict(rules: Rules, by_feature: Any, source: Any, columns: Any, rows: Any, out: Any) -> None:
    """Predictions of replicates, which have `rows` of their own, or features that `source` permutes into `columns`."""
    rules, by_feature, source, columns, rows, out = borrowed((rules, by_feature, source, columns, rows, out))
    for replicate in range(len(out)):
        if len(source):
            _mix(by_feature, source[replicate], columns)
        _predict_replicate(rules, columns, rows[0 if len(source) else replicate], out[replicate])
