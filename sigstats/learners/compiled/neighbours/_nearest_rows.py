"""The nearest row of another fold, where features are permuted, compiled by Numba."""

import functools

import numpy as np

from sigstats._common.compiled import compiled

from ...base import UNDECIDED
from ..vector_products import ROWS, SINGLE_COLUMNS, set_single_product

#: Numbers that are compared in any order, so that vector instructions take them; none of them is NaN.
_numbers = functools.partial(compiled, fastmath={"nnan", "nsz"})

#: With more rows than this that are about as near as the nearest, products of 64 bits are faster.
_DOUBTFUL = 8

#: A row with more of them is left to products of 64 bits, with its fold.
_FOUND = 64

#: Numbers of 32 bits in the widest vector.
_LANES = 16

#: Products of so many tested rows with all rows are made at a time: those of a few thousand rows stay in the cache.
_TOGETHER = 8 * ROWS


@compiled
def mix(columns, source, order, starts, mixed, low, high):  # type: ignore[no-untyped-def]
    """Fill `mixed`, (d, n), with the permuted `columns` in the order of folds, and `low` and `high`, (folds, d)."""
    for j in range(len(columns)):
        column, rows = columns[j], source[j]
        for fold in range(len(starts) - 1):
            least, most = np.inf, -np.inf
            for at in range(starts[fold], starts[fold + 1]):
                value = column[rows[order[at]]]
                mixed[j, at] = value
                least, most = min(least, value), max(most, value)
            low[fold, j], high[fold, j] = least, most


@_numbers
def _minima(products, squares, minima):  # type: ignore[no-untyped-def]
    """The least ``products + squares`` of every m-th place from each of the first m on; `minima` has m items."""
    m = len(minima)
    for j in range(m):
        minima[j] = products[j] + squares[j]
    for start in range(m, len(products), m):
        some, own = products[start : start + m], squares[start : start + m]
        for j in range(len(some)):
            value = some[j] + own[j]
            minima[j] = value if value < minima[j] else minima[j]


@compiled
def _candidates(products, squares, minima, limit, found):  # type: ignore[no-untyped-def]
    """Put the places that are no farther than `limit` into `found`, as many as there is room for; their number."""
    count = 0
    for first in range(len(minima)):
        if minima[first] <= limit:
            for j in range(first, len(products), len(minima)):
                if products[j] + squares[j] <= limit:
                    if count < len(found):
                        found[count] = j
                    count += 1
    return count


@compiled
def _multiply(tested, panels, own, group, products):  # type: ignore[no-untyped-def]
    """The products of tested rows with all rows but those of their own fold, as in `predict_fold`.

    `group` is where the rows begin among those tested, and how many there are.
    """
    (n_panels, d, _), (n_tested, width) = panels.shape, (tested.shape[1], products.shape[1])
    left, right, to = tested.reshape(-1), panels.reshape(-1), products.reshape(-1)
    for panel in range(n_panels):
        column = panel * SINGLE_COLUMNS
        if own[0] <= column and column + SINGLE_COLUMNS <= own[1]:
            continue
        for row in range(0, group[1], ROWS):
            places = (group[0] + row, 1, n_tested, column * d, SINGLE_COLUMNS, row * width + column, width, d)
            set_single_product(left, right, to, places)
    products[: group[1], own[0] : own[1]] = np.inf


@compiled
def predict_fold(tested, panels, squares, margin, own, data, rule, predicted):  # type: ignore[no-untyped-def]
    """Predict the rows of one fold, if few others are about as near to them as the nearest.

    `tested` (ndarray of float32, shape (d, rows of the fold and more, a multiple of `ROWS`)): minus twice the
    weighted numbers of the rows.
    `panels` (ndarray of float32, shape (panels, d, `SINGLE_COLUMNS`)): the numbers of all rows in the order of folds,
    and more to fill the last panel.
    `squares` (ndarray of float32, shape (n,)): weighted squares of all rows.
    `margin`: by so much the sum of both may rise by rounding, from one row to another.
    `own`: the first place of the fold, and the first after it.
    `data`: ``columns``, (d, n), and ``source``, of which mixed rows are made; the row in each place (``order``),
    where folds lie one after the other, and the ``weights`` of features.
    `rule`: ``labels`` and ``priority`` by place, or no priorities where nobody knows which of equally near rows is
    taken; the ``tolerance`` within which rows are equally near, and the ``farthest`` distance that is told from
    others.
    `predicted` (ndarray of int64, shape (n,)): filled in by row.

    Returns whether the rows are predicted.
    """
    order, n, rows = data[2], len(data[2]), own[1] - own[0]
    minima = np.empty(min(n, _LANES * (1 + n // (32 * _LANES))), dtype=np.float32)
    found, distances = np.empty(_FOUND, dtype=np.int64), np.empty(_FOUND)
    products = np.empty((_TOGETHER, len(panels) * SINGLE_COLUMNS), dtype=np.float32)
    doubtful = 0
    for first in range(0, rows, _TOGETHER):
        together = min(_TOGETHER, rows - first)
        _multiply(tested, panels, own, (first, together), products)
        for row in range(together):
            here, i = products[row, :n], own[0] + first + row
            _minima(here, squares, minima)
            limit = np.float32(minima.min() + margin)
            count = _candidates(here, squares, minima, limit, found)
            doubtful += count - 1
            if count > len(found) or doubtful > _DOUBTFUL * rows + _FOUND:
                return False
            if count == 1 and limit + squares[i] < rule[3]:
                predicted[order[i]] = rule[0][found[0]]
            else:
                predicted[order[i]] = _decide(i, found[:count], distances, data, rule)
    return True


@compiled
def _decide(i, found, distances, data, rule):  # type: ignore[no-untyped-def]
    """The class of the row in place `i` by the rows that may be nearest."""
    columns, source, order, weights = data
    labels, priority, tolerance, farthest = rule
    nearest = np.inf
    for at, j in enumerate(found):
        distance = 0.0
        for column in range(len(columns)):
            difference = columns[column, source[column, order[i]]] - columns[column, source[column, order[j]]]
            distance += weights[column] * difference * difference
        distances[at] = distance
        nearest = min(nearest, distance)
    if not nearest <= farthest:
        return UNDECIDED
    chosen = -1
    for at, j in enumerate(found):
        if distances[at] > nearest + tolerance:
            continue
        if chosen < 0 or (len(priority) and priority[j] < priority[chosen]):
            chosen = j
        elif not len(priority) and labels[j] != labels[chosen]:
            return UNDECIDED
    return labels[chosen]
