"""Rows put in the order of folds and classes, the best class of each, and Cholesky's inverse factor, by Numba."""

import math
from typing import Any, Final

import numpy as np

from ...._common.validation import FloatArray, IntArray
from ...base import UNDECIDED, FoldOrder
from ..jit import borrowed, compiled, inlined
from ..vector_products import SIDE, add_square, subtract_square

#: So many rows are taken at once, which stay in the nearest cache.
CHUNK: Final = 32

_UNDECIDED: Final = UNDECIDED


class PlacedRows:
    """Columns, filled with 0 up to a multiple of `SIDE`, whose rows are put in the order of folds and classes.

    `cells` and `ends` say where each cell, of a fold and a class, and each fold ends in that order.
    """

    def __init__(self, columns: FloatArray, order: FoldOrder) -> None:
        n, m = columns.shape
        self.columns = np.zeros((n, -(-m // SIDE) * SIDE))
        self.columns[:, :m] = columns
        self.cells = order.counts.cumsum()
        self.ends = order.counts.sum(axis=1).cumsum()
        self._order = order.sorted

    def rows(self, place: IntArray) -> IntArray:
        """The row at each place in order, (replicates, n); `place` says where each row goes."""
        rows: IntArray = _sorted_rows(place, self._order)
        return rows


@compiled
def _sorted_rows(place: Any, order: Any) -> Any:
    rows = np.empty(place.shape, dtype=np.int32)
    there = np.empty(len(order), dtype=np.int32)
    for replicate in range(len(place)):
        for i in range(len(order)):
            there[place[replicate, i]] = i
        for i in range(len(order)):
            rows[replicate, i] = there[order[i]]
    return rows


@inlined
def gather(columns: Any, rows: Any, first: int, end: int, taken: Any) -> None:
    """Copy rows of `columns`, (n, m), one after the other."""
    m = columns.shape[1]
    for i in range(first, end):
        own, at = borrowed(columns[rows[i]]), (i - first) * m
        for j in range(m):
            taken[at + j] = own[j]


@compiled
def add_by_cell(columns: Any, rows: Any, ends: Any, sums: Any) -> None:
    """Add up the rows of each cell, one replicate: `ends` of the cells in order, `sums` of shape (cells, m)."""
    first = 0
    for cell in range(len(ends)):
        total = borrowed(sums[cell])
        total[:] = 0.0
        for i in range(first, ends[cell]):
            own = borrowed(columns[rows[i]])
            for j in range(len(total)):
                total[j] += own[j]
        first = ends[cell]


@inlined
def best(scores: Any, at: int, classes: int, margin: float) -> int:
    """The class with the largest of some scores; `UNDECIDED` where another is within the margin, or there is NaN."""
    top = -math.inf
    for k in range(classes):
        top = max(top, scores[at + k])
    near, found = 0, 0
    for k in range(classes):
        if not scores[at + k] <= top - margin:
            near += 1
            found = k
    return found if near == 1 else _UNDECIDED


@compiled
def classify(columns: Any, rows: Any, ends: Any, weights: Any, level: Any, margin: Any, predicted: Any) -> None:
    """The best class of each row by linear scores, or `UNDECIDED`, written to `predicted` by row of X.

    `rows` are as `PlacedRows.rows` gives them, and `ends` where each fold ends in that order. `weights` are
    (replicates, folds, m, classes), m and classes multiples of `SIDE`. `margin`, (replicates, folds), says how far a
    score must be above the others; inf leaves the fold undecided.
    """
    m, wide, classes = columns.shape[1], weights.shape[3], level.shape[2]
    taken, scores = np.zeros(CHUNK * m), np.empty(CHUNK * wide)
    for replicate in range(len(rows)):
        own, start = rows[replicate], 0
        for fold in range(len(ends)):
            slopes, constant, least = weights[replicate, fold].ravel(), level[replicate, fold], margin[replicate, fold]
            for first in range(start, ends[fold], CHUNK):
                end = min(first + CHUNK, ends[fold])
                gather(columns, own, first, end, taken)
                for i in range(0, end - first, SIDE):
                    for k in range(0, wide, SIDE):
                        for r in range(i, i + SIDE):
                            for c in range(k, k + SIDE):
                                scores[r * wide + c] = constant[c] if c < classes else 0.0
                        add_square(taken, slopes, scores, (i * m, m, 1, k, wide, i * wide + k, wide, m))
                for i in range(first, end):
                    predicted[replicate, own[i]] = best(scores, (i - first) * wide, classes, least)
            start = ends[fold]


@inlined
def _inverse_of_block(matrix: Any, at: int, m: int) -> bool:
    """The inverse factor of a block in its lower half, zeros above it; False where it is not positive definite.

    A row that is done holds the inverse factor up to its diagonal and the factor's transpose behind it.
    """
    for i in range(SIDE):
        own = at + i * m
        pivot = matrix[own + i]
        if not 0 < pivot < math.inf:
            return False
        scale = 1 / math.sqrt(pivot)
        for j in range(SIDE):
            matrix[own + j] *= scale
        matrix[own + i] = scale
        for p in range(i + 1, SIDE):
            factor, other = matrix[own + p], at + p * m
            matrix[other + i] = 0.0
            for j in range(i + 1):
                matrix[other + j] -= factor * matrix[own + j]
            for j in range(p, SIDE):
                matrix[other + j] -= factor * matrix[own + j]
    for i in range(SIDE):
        for j in range(i + 1, SIDE):
            matrix[at + i * m + j] = 0.0
    return True


@compiled
def inverse_factor(matrix: Any, m: int, room: Any) -> bool:
    """Turn a symmetric matrix into the inverse of Cholesky's factor L, in its lower half; False where it has none.

    `matrix` (ndarray, shape (m * m,)): the upper half is read. What is above the blocks on the diagonal is of no use
    afterwards. `m`: a multiple of `SIDE`.
    """
    for k in range(0, m, SIDE):
        if not _inverse_of_block(matrix, k * m + k, m):
            return False
        # The other columns of these rows are multiplied by the inverse factor of the block.
        first = k * m
        for place in range(SIDE * m):
            room[place] = matrix[first + place]
            matrix[first + place] = 0.0
        for i in range(SIDE):
            for j in range(k, k + SIDE):
                matrix[first + i * m + j] = room[i * m + j]
        for j in range(0, m, SIDE):
            if j != k:
                add_square(room, room, matrix, (k, m, 1, j, m, first + j, m, SIDE))
        for p in range(k + SIDE, m, SIDE):
            for i in range(p, p + SIDE):
                for j in range(k, k + SIDE):
                    matrix[i * m + j] = 0.0
            for j in range(0, m, SIDE):
                if j <= k or j >= p:
                    subtract_square(matrix, matrix, matrix, (first + p, 1, m, first + j, m, p * m + j, m, SIDE))
    return True
