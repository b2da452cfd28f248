"""One nearest neighbour where features are permuted, of the rows that products of 32 bits leave, compiled by Numba."""

import functools

import numpy as np

from sigstats.learners.compiled.jit import compiled

from ..base import UNDECIDED

__all__ = ["decide_fold"]

#: Numbers that are compared in any order, so that vector instructions take them; none of them is NaN.
_numbers = functools.partial(compiled, fastmath={"nnan", "nsz"})

#: With more rows than this that are about as near as the nearest, products of 64 bits are faster.
_DOUBTFUL = 8

#: A row with more of them is left to products of 64 bits, with its fold.
_FOUND = 64

#: Numbers of 32 bits in the widest vector.
_LANES = 16


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
def _candidates(products, squares, minima, limit, near):  # type: ignore[no-untyped-def]
    """Put the places that are no farther than `limit` into `found`, as many as there is room for; their number."""
    count = 0
    for first in range(len(minima)):
        if minima[first] <= limit:
            for j in range(first, len(products), len(minima)):
                if products[j] + squares[j] <= limit:
                    if count < len(near):
                        near[count] = j
                    count += 1
    return count


@compiled
def decide_fold(products, squares, first, data, weights, rule, predicted):  # type: ignore[no-untyped-def]
    """Predict the rows of a fold, (n,) by row; False if many others are about as near to them as the nearest.

    `products`: of each row of the fold, which begin at place `first`, with all rows, infinite for those of the fold;
    with the `squares` of these they are distances minus the square of the row itself. `data`: columns, (d, n), and
    source, of which mixed rows are made, and the row in each place. `weights`: of features. `rule`: labels by place,
    and priorities by place, or none where nobody knows which of equally near rows is taken; the tolerance within which
    rows are equally near, the farthest distance that is told from others, and how far rounding may move a product.
    """
    order, n = data[2], len(squares)
    minima = np.empty(min(n, _LANES * (1 + n // (32 * _LANES))), dtype=np.float32)
    near, distances = np.empty(_FOUND, dtype=np.int64), np.empty(_FOUND)
    doubtful, rows = 0, len(products)
    for row in range(rows):
        here, i = products[row], first + row
        _minima(here, squares, minima)
        limit = np.float32(minima.min() + rule[4])
        count = _candidates(here, squares, minima, limit, near)
        doubtful += count - 1
        if count > len(near) or doubtful > _DOUBTFUL * rows + _FOUND:
            return False
        if count == 1 and limit + squares[i] < rule[3]:
            predicted[order[i]] = rule[0][near[0]]
        else:
            predicted[order[i]] = _decide(i, near[:count], distances, data, weights, rule)
    return True


@compiled
def _decide(i, near, distances, data, weights, rule):  # type: ignore[no-untyped-def]
    """The class of the row in place `i` by the rows that may be nearest."""
    columns, source, order = data
    labels, priority, tolerance, farthest, _ = rule
    nearest = np.inf
    for at, j in enumerate(near):
        distance = 0.0
        for column in range(len(columns)):
            difference = columns[column, source[column, order[i]]] - columns[column, source[column, order[j]]]
            distance += weights[column] * difference * difference
        distances[at] = distance
        nearest = min(nearest, distance)
    if not nearest <= farthest:
        return UNDECIDED
    chosen = -1
    for at, j in enumerate(near):
        if distances[at] > nearest + tolerance:
            continue
        if chosen < 0 or (len(priority) and priority[j] < priority[chosen]):
            chosen = j
        elif not len(priority) and labels[j] != labels[chosen]:
            return UNDECIDED
    return labels[chosen]
