"""The classes of rows by Gaussian log-likelihoods and bounds of their rounding, compiled by Numba.

A log-likelihood is linear in the squares of the values and the values. Rounding is bounded for all classes of a fold
together, as one more class; where that leaves a row undecided for each class; and then by the terms of the row.
"""

import functools
import math
from typing import Any, Final, NamedTuple

import numpy as np

from sigstats.learners.compiled.jit import borrowed, compiled, inlined, merged

from ...base import UNDECIDED
from ..vector_products import SIDE, add_square
from ._placed_rows import CHUNK, best, gather

_UNDECIDED: Final = UNDECIDED

#: A sum of terms above 0 that is a bound may be taken in any order.
_in_any_order = functools.partial(compiled, fastmath={"contract", "reassoc"})


class Fold(NamedTuple):
    """The parameters learned of one fold, and room to work in."""

    #: Means, inverse variances, what the squares of all rows are of a variance, and by how much the bound of a class's
    #: error grows with a squared value; ndarray, shape (classes, features).
    mean: Any
    inverse: Any
    loss: Any
    slope: Any
    #: Of the log-likelihood and of the bound; ndarray, shape (classes,).
    constant: Any
    level: Any
    #: Flat matrices with a column a class, in a multiple of `SIDE`: of values, squares and the bound of all classes,
    #: and of squares alone.
    weights: Any
    bounds: Any
    #: Of `CHUNK` rows: values, then their squares; a column a class.
    values: Any
    scores: Any
    errors: Any


@compiled
def new_fold(classes: int, features: int, m: int) -> Fold:
    """Room for a fold, where rows have m values."""
    wide, shape = -(-(classes + 1) // SIDE) * SIDE, (classes, features)
    return Fold(
        np.empty(shape),
        np.empty(shape),
        np.empty(shape),
        np.empty(shape),
        np.empty(classes),
        np.empty(classes),
        np.zeros(2 * m * wide),
        np.zeros(m * wide),
        np.zeros(2 * CHUNK * m),
        np.empty(CHUNK * wide),
        np.empty(SIDE * wide),
    )


@compiled
def set_weights(fold: Fold, m: int) -> None:
    """Weights of the values and, from row m on, of their squares; the last class is the bound of the errors."""
    classes, d = fold.mean.shape
    weights, bounds, wide = borrowed(fold.weights), borrowed(fold.bounds), len(fold.bounds) // m
    for j in range(d):
        largest = 0.0
        for k in range(classes):
            inverse, slope = fold.inverse[k, j], fold.slope[k, j]
            weights[j * wide + k] = fold.mean[k, j] * inverse
            weights[(m + j) * wide + k] = -0.5 * inverse
            bounds[j * wide + k] = slope
            largest = max(largest, slope)
        weights[(m + j) * wide + classes] = largest


@inlined
def _start(values: Any, to: Any, i: int, wide: int) -> None:
    """Write the first values of the columns into `SIDE` rows; 0 beyond them."""
    for r in range(i, i + SIDE):
        for k in range(wide):
            to[r * wide + k] = values[k] if k < len(values) else 0.0


@compiled
def _score(fold: Fold, size: int, m: int, wide: int) -> None:
    """Log-likelihoods of rows, and in the next column the bound of their errors."""
    values, weights, scores = borrowed(fold.values), borrowed(fold.weights), borrowed(fold.scores)
    classes, highest = len(fold.level), fold.level.max()
    for i in range(size * m):
        values[CHUNK * m + i] = values[i] * values[i]
    for i in range(0, size, SIDE):
        _start(fold.constant, scores, i, wide)
        for r in range(i, i + SIDE):
            scores[r * wide + classes] = highest
        for k in range(0, wide, SIDE):
            at = i * wide + k
            add_square(values, weights, scores, (i * m, m, 1, k, wide, at, wide, m))
            add_square(values, weights, scores, ((CHUNK + i) * m, m, 1, m * wide + k, wide, at, wide, m))


@compiled
def _bound_errors(fold: Fold, i: int, m: int, wide: int) -> None:
    """The bound of each class, of `SIDE` rows."""
    values, bounds, errors = borrowed(fold.values), borrowed(fold.bounds), borrowed(fold.errors)
    _start(fold.level, errors, 0, wide)
    for k in range(0, wide, SIDE):
        add_square(values, bounds, errors, ((CHUNK + i) * m, m, 1, k, wide, k, wide, m))


@_in_any_order
def _own_error(values: Any, mean: Any, inverse: Any, loss: Any) -> float:
    """The error of a class by the terms of one row, but for that of its constant."""
    error = 0.0
    for j in range(len(mean)):
        far = values[j] - mean[j]
        error += loss[j] * (1 + far * far * inverse[j])
        error += (0.5 * values[j] * values[j] + abs(mean[j] * values[j])) * inverse[j]
    return error


@compiled
def _take_own_error(fold: Fold, i: int, m: int, k: int, there: int) -> None:
    """The error of a class by the terms of one row."""
    size = 1 + (abs(fold.constant[k]) if math.isfinite(fold.constant[k]) else 0.0)
    values = borrowed(fold.values[i * m : i * m + m])
    error = _own_error(values, borrowed(fold.mean[k]), borrowed(fold.inverse[k]), borrowed(fold.loss[k]))
    fold.errors[there + k] = size + error


@inlined
def _highest(scores: Any, at: int, classes: int) -> int:
    """The class with the largest score."""
    top = 0
    for k in range(1, classes):
        if scores[at + k] > scores[at + top]:
            top = k
    return top


@compiled
def _best_beyond(scores: Any, at: int, errors: Any, there: int, classes: int, rounding: float) -> int:
    """The class that is best whatever the errors are; `UNDECIDED` if there is none."""
    top: int = _highest(scores, at, classes)
    least = scores[at + top] - rounding * errors[there + top]
    for k in range(classes):
        if k != top and not scores[at + k] + rounding * errors[there + k] < least:
            return _UNDECIDED
    return top


@compiled
def _own_best(fold: Fold, i: int, m: int, at: int, there: int, rounding: float) -> int:
    """The same with errors by the terms of the row: that of the class with the largest score, then all."""
    classes = len(fold.mean)
    top = _highest(fold.scores, at, classes)
    _take_own_error(fold, i, m, top, there)
    found: int = _best_beyond(fold.scores, at, fold.errors, there, classes, rounding)
    if found == _UNDECIDED:
        for k in range(classes):
            _take_own_error(fold, i, m, k, there)
        found = _best_beyond(fold.scores, at, fold.errors, there, classes, rounding)
    return found


@merged
def classify(fold: Fold, columns: Any, rows: Any, rounding: float, out: Any) -> None:
    """Predictions, or `UNDECIDED`, of the rows of a fold by row of X; `columns` of shape (n, m)."""
    m, classes = columns.shape[1], len(fold.mean)
    wide = len(fold.bounds) // m
    for first in range(0, len(rows), CHUNK):
        size = min(CHUNK, len(rows) - first)
        gather(columns, rows, first, first + size, fold.values)
        _score(fold, size, m, wide)
        bounded = -1
        for i in range(size):
            at, there = i * wide, i % SIDE * wide
            found = best(fold.scores, at, classes, 2 * rounding * fold.scores[at + classes])
            if found == _UNDECIDED:
                if bounded != i // SIDE:
                    bounded = i // SIDE
                    _bound_errors(fold, i - i % SIDE, m, wide)
                found = _best_beyond(fold.scores, at, fold.errors, there, classes, rounding)
            if found == _UNDECIDED:
                found = _own_best(fold, i, m, at, there, rounding)
            out[rows[first + i]] = found
