"""Linear discriminants of the folds of replicates whose labels are permuted, compiled by Numba.

A fold's scatter begins as that of all rows, which permutations leave as it is, and its rows are taken from it while it
is in the nearest cache.
"""

from typing import Any, NamedTuple

import numpy as np

from sigstats._common.validation import FloatArray, IntArray
from sigstats.learners.compiled.jit import borrowed, compiled

from ...base import FoldOrder
from ..vector_products import SIDE, add_square, subtract_square
from ._placed_rows import CHUNK, PlacedRows, add_by_cell, classify, gather, inverse_factor


class Folds(NamedTuple):
    """The columns, and what all replicates share."""

    #: m is a multiple of `SIDE`; columns that were added are 0; ndarray, shape (n, m).
    columns: Any
    #: Their cross products, with 1 in the diagonal for columns that were added; ndarray, shape (m, m).
    total: Any
    #: Where the rows of each fold and class end, in order; ndarray of int, shape (folds * classes,).
    cells: Any
    #: Training rows; ndarray, shape (folds, classes).
    size: Any
    #: Of freedom of the covariance within classes; ndarray, shape (folds,).
    degrees: Any
    #: Columns in which so few rows differ from all others that a fold may have them all, where each one's rows end,
    #: and these rows.
    rare: Any
    rare_ends: Any
    unusual: Any


class Learned(NamedTuple):
    """The parameters learned of each fold."""

    #: The number of classes is rounded up to a multiple of `SIDE`; ndarray, shape (replicates, folds, m, classes).
    weights: Any
    #: Of weights and means; ndarray, shape (replicates, folds, classes, classes).
    products: Any
    #: The trace of the inverse of the scatter within classes, in units of its diagonal; NaN where there is none;
    #: ndarray, shape (replicates, folds).
    condition: Any


class Room(NamedTuple):
    """Room to work on one fold, flat: matrices of m columns or of classes, in multiples of `SIDE`."""

    taken: Any
    train: Any
    means: Any
    within: Any
    whitened: Any
    diagonal: Any
    block: Any


@compiled
def _take_means(size: Any, totals: Any, sums: Any, room: Room, m: int, wide: int) -> None:
    """Sums of the training rows of each class, and their means with a column a class."""
    train, means = borrowed(room.train), borrowed(room.means)
    for k in range(len(size)):
        for j in range(m):
            rest = totals[k, j] - sums[k, j]
            train[k * m + j] = rest
            means[j * wide + k] = rest / size[k]


@compiled
def _take_scatter(folds: Folds, rows: Any, first: int, end: int, room: Room, classes: int, wide: int) -> None:
    """The upper half of the scatter within classes of all rows but those of a fold."""
    m, total = folds.columns.shape[1], borrowed(folds.total.ravel())
    within, taken, train, means = borrowed((room.within, room.taken, room.train, room.means))
    for place in range(m * m):
        within[place] = total[place]
    for start in range(first, end, CHUNK):
        size = min(CHUNK, end - start)
        gather(folds.columns, rows, start, start + size, taken)
        for i in range(0, m, SIDE):
            for j in range(i, m, SIDE):
                subtract_square(taken, taken, within, (i, 1, m, j, m, i * m + j, m, size))
    for i in range(0, m, SIDE):
        for j in range(i, m, SIDE):
            subtract_square(means, train, within, (i * wide, wide, 1, j, m, i * m + j, m, classes))


@compiled
def _leave_out_constant(folds: Folds, fold_of: Any, fold: int, room: Room, wide: int) -> None:
    """Give no weight to a column that is constant in all rows a fold is trained on, as scikit-learn does."""
    n, m = folds.columns.shape
    start = 0
    for place in range(len(folds.rare)):
        column, end = folds.rare[place], folds.rare_ends[place]
        constant = room.within[column * m + column] <= 1e-8 * n
        for i in range(start, end):
            constant = constant and fold_of[folds.unusual[i]] == fold
        start = end
        if constant:
            for j in range(m):
                room.within[column * m + j] = room.within[j * m + column] = 0.0
            for k in range(wide):
                room.means[column * wide + k] = 0.0
            room.within[column * m + column] = float(n)


@compiled
def _condition(inverse: Any, diagonal: Any, m: int, width: int) -> float:
    """The trace of the inverse, in units of the diagonal."""
    total = 0.0
    for i in range(width):
        row = 0.0
        for j in range(i + 1):
            row += inverse[i * m + j] * inverse[i * m + j] * diagonal[j]
        total += row
    return total


@compiled
def _take_weights(room: Room, m: int, wide: int, degrees: float, weights: Any, products: Any) -> None:
    """Weights of the columns, and the products of weights and means."""
    inverse, means, whitened = borrowed(room.within), borrowed(room.means), borrowed(room.whitened)
    whitened[:] = 0.0
    for k in range(0, wide, SIDE):
        for i in range(0, m, SIDE):
            add_square(inverse, means, whitened, (i * m, m, 1, k, wide, i * wide + k, wide, i + SIDE))
    for k in range(0, wide, SIDE):
        for i in range(0, m, SIDE):
            first = i * wide + k
            add_square(inverse, whitened, weights, (i * m + i, 1, m, first, wide, first, wide, m - i))
    for place in range(m * wide):
        weights[place] *= degrees
    for i in range(0, wide, SIDE):
        for k in range(0, wide, SIDE):
            add_square(whitened, whitened, products, (i, 1, wide, k, wide, i * wide + k, wide, m))
    for place in range(wide * wide):
        products[place] *= degrees


class Discriminants:
    """Discriminants of the folds of replicates whose labels are permuted; each fold is trained on all classes.

    `degrees`, (folds,), are of freedom of the covariance within classes. `unusual`, (n, m), are rows that differ from
    all others of a column that gets no weight where it is constant; elsewhere False. `least`: the least variance that
    the condition takes a column to have.
    """

    def __init__(self, columns: FloatArray, order: FoldOrder, degrees: FloatArray, unusual: Any, least: float) -> None:
        self._placed, self._width, self._least = PlacedRows(columns, order), columns.shape[1], least
        wide = self._placed.columns
        total = wide.T @ wide
        added = np.arange(self._width, wide.shape[1])
        total[added, added] = 1
        count = unusual.sum(axis=0)
        rare = np.flatnonzero((count > 0) & (count <= order.counts.sum(axis=1).max()))
        self._folds = Folds(
            wide,
            total,
            self._placed.cells,
            order.train_counts,
            degrees.astype(np.float64),
            rare,
            count[rare].cumsum(),
            np.ascontiguousarray(np.nonzero(unusual[:, rare].T)[1]),
        )
        classes = -(-order.counts.shape[1] // SIDE) * SIDE
        self.replicate_bytes = 8 * len(order.counts) * classes * (wide.shape[1] + classes)

    def rows(self, place: IntArray) -> IntArray:
        """The row at each place in the order of folds and classes, for `learn` and `classify`."""
        return self._placed.rows(place)

    def learn(self, rows: IntArray) -> Learned:
        """Learn each fold of each replicate."""
        classes = self._folds.size.shape[1]
        learned: Learned = _learn(self._folds, rows, self._width, self._least)
        return learned._replace(products=learned.products[..., :classes, :classes])

    def classify(self, rows: IntArray, learned: Learned, level: FloatArray, margin: FloatArray, out: IntArray) -> None:
        """Write the best class of each row, or `UNDECIDED` within the margin of its fold, into (replicates, n)."""
        classify(self._placed.columns, rows, self._placed.ends, learned.weights, level, margin, out)


@compiled
def _learn(folds: Folds, rows: Any, width: int, least: float) -> Learned:
    (n, m), (n_folds, classes) = folds.columns.shape, folds.size.shape
    wide = -(-classes // SIDE) * SIDE
    weights = np.zeros((len(rows), n_folds, m * wide))
    products = np.zeros((len(rows), n_folds, wide * wide))
    condition = np.full((len(rows), n_folds), np.nan)
    sums, totals = np.empty((n_folds * classes, m)), np.empty((classes, m))
    fold_of = np.empty(n, dtype=np.int32)
    room = Room(
        np.zeros(CHUNK * m),
        np.zeros(classes * m),
        np.zeros(m * wide),
        np.zeros(m * m),
        np.zeros(m * wide),
        np.zeros(m),
        np.zeros(SIDE * m),
    )
    for replicate in range(len(rows)):
        own, first = rows[replicate], 0
        add_by_cell(folds.columns, own, folds.cells, sums)
        totals[:] = 0.0
        for cell in range(len(folds.cells)):
            for i in range(first, folds.cells[cell]):
                fold_of[own[i]] = cell // classes
            for j in range(m):
                totals[cell % classes, j] += sums[cell, j]
            first = folds.cells[cell]
        first = 0
        for fold in range(n_folds):
            cells = slice(fold * classes, (fold + 1) * classes)
            end, at = folds.cells[cells][classes - 1], (replicate, fold)
            _take_means(folds.size[fold], totals, sums[cells], room, m, wide)
            _take_scatter(folds, own, first, end, room, classes, wide)
            _leave_out_constant(folds, fold_of, fold, room, wide)
            for j in range(m):
                room.diagonal[j] = max(room.within[j * m + j], least * folds.degrees[fold])
            if inverse_factor(room.within, m, room.block):
                condition[at] = _condition(room.within, room.diagonal, m, width)
                _take_weights(room, m, wide, folds.degrees[fold], weights[at], products[at])
            first = end
    shape = len(rows), n_folds
    return Learned(weights.reshape((*shape, m, wide)), products.reshape((*shape, wide, wide)), condition)
