"""One nearest neighbour where features are permuted, from products of small matrices, compiled by Numba."""

import functools

import numpy as np

from sigstats.learners.compiled.jit import borrowed, compiled, keep

from ..base import UNDECIDED
from .vector_products import ROWS, SINGLE_COLUMNS, set_single_product

__all__ = ["SINGLE_COLUMNS", "mix", "predict"]

#: Numbers that are compared in any order, so that vector instructions take them; none of them is NaN.
_numbers = functools.partial(compiled, fastmath={"nnan", "nsz"})

#: With more rows than this that are about as near as the nearest, products of 64 bits are faster.
_DOUBTFUL = 8

#: A row with more of them is left to products of 64 bits, with its fold.
_FOUND = 64

#: Whole numbers up to this are floats of 32 bits.
_EXACT = 2.0**24

#: Numbers of 32 bits in the widest vector.
_LANES = 16

#: Products of so many tested rows with all rows are made at a time: those of a few thousand rows stay in the cache.
_TOGETHER = 8 * ROWS


@compiled
def mix(columns, source, order, starts, panels, low, high):  # type: ignore[no-untyped-def]
    """Fill `panels`, (panels, d, `SINGLE_COLUMNS`), with the permuted `columns`, (d, n), in the order of folds.

    `low` and `high`, (folds, d): the extremes of each feature in each fold.
    """
    for j in range(len(columns)):
        column, rows = columns[j], source[j]
        for fold in range(len(starts) - 1):
            least, most = np.inf, -np.inf
            for at in range(starts[fold], starts[fold + 1]):
                value = column[rows[order[at]]]
                panels[at // SINGLE_COLUMNS, j, at % SINGLE_COLUMNS] = value
                least, most = min(least, value), max(most, value)
            low[fold, j], high[fold, j] = least, most


@compiled
def _square(panels, weights, squared, left, squares):  # type: ignore[no-untyped-def]
    """Fill in the weighted squares of all rows, (folds, rows); memory of the numbers of a panel and of weights."""
    width = squares.shape[1]
    for j in range(weights.shape[1]):
        for fold in range(len(weights)):
            left[j, fold] = weights[fold, j]
    for panel in range(len(panels)):
        own = panels[panel].reshape(-1)
        for at in range(len(own)):
            squared[at] = own[at] * own[at]
        for fold in range(0, len(squares), ROWS):
            places = (fold, 1, len(squares), 0, SINGLE_COLUMNS, fold * width + panel * SINGLE_COLUMNS, width, len(left))
            set_single_product(left.reshape(-1), squared, squares.reshape(-1), places)


@compiled
def _weigh(panels, weight, own, tested):  # type: ignore[no-untyped-def]
    """Fill in minus twice the weighted numbers of a fold, (d, rows)."""
    for j in range(len(weight)):
        scale = np.float32(-2 * weight[j])
        for at in range(own[0], own[1]):
            tested[j, at - own[0]] = panels[at // SINGLE_COLUMNS, j, at % SINGLE_COLUMNS] * scale


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
    """The products of tested rows, `group` of them from one on, with all rows but those of their own fold."""
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
def predict(panels, weights, whole, data, rule, predicted):  # type: ignore[no-untyped-def]
    """Predict all rows, (n,) by row; False if many others are about as near to them as the nearest.

    `panels`: the numbers of all rows, as `mix` puts them. `weights`: of features, (folds, d). `whole`: small whole
    numbers, or halves, are not rounded. `data`: columns, (d, n), and source, of which mixed rows are made; the row in
    each place, and the first place of each fold. `rule`: labels by place, and priorities by fold and place, or none
    where nobody knows which of equally near rows is taken; the tolerance within which rows are equally near, and the
    farthest distance that is told from others.
    """
    data, rule, weights = borrowed((data, rule, weights))
    order, starts, n, d = data[2], data[3], len(data[2]), weights.shape[1]
    width = len(panels) * SINGLE_COLUMNS
    owned = (
        np.empty(min(n, _LANES * (1 + n // (32 * _LANES))), dtype=np.float32),
        np.empty(_FOUND, dtype=np.int64),
        np.empty(_FOUND),
        np.empty((_TOGETHER, width), dtype=np.float32),
        np.zeros((d, n + ROWS), dtype=np.float32),
        np.empty((-(-len(weights) // ROWS) * ROWS, width), dtype=np.float32),
    )
    lists = np.empty(d * SINGLE_COLUMNS, dtype=np.float32), np.zeros((d, len(owned[5])), dtype=np.float32)
    minima, found, distances, products, tested, all_squares = borrowed(owned)
    _square(panels, weights, *borrowed(lists), all_squares)
    for fold in range(len(weights)):
        own, weight, squares = (starts[fold], starts[fold + 1]), weights[fold], all_squares[fold]
        _weigh(panels, weight, own, tested)
        rows, doubtful, margin, largest = own[1] - own[0], 0, rule[2], float(squares.max())
        if not (whole and 16 * largest < _EXACT):
            # By so much the sum of a product and a square may rise by rounding, from one row to another.
            margin += 2 * (3 * d + 40) / _EXACT * largest
        for first in range(0, rows, _TOGETHER):
            together = min(_TOGETHER, rows - first)
            _multiply(tested, panels, own, (first, together), products)
            for row in range(together):
                here, i = products[row, :n], own[0] + first + row
                _minima(here, squares[:n], minima)
                limit = np.float32(minima.min() + margin)
                count = _candidates(here, squares, minima, limit, found)
                doubtful += count - 1
                if count > len(found) or doubtful > _DOUBTFUL * rows + _FOUND:
                    return False
                if count == 1 and limit + squares[i] < rule[3]:
                    predicted[order[i]] = rule[0][found[0]]
                else:
                    predicted[order[i]] = _decide(i, found[:count], distances, data, weight, rule, fold)
    keep((owned, lists))
    return True


@compiled
def _decide(i, found, distances, data, weights, rule, fold):  # type: ignore[no-untyped-def]
    """The class of the row in place `i` by the rows that may be nearest."""
    columns, source, order, _ = data
    labels, priorities, tolerance, farthest = rule
    priority = priorities[fold]
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
