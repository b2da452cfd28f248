"""Nearest neighbours, compiled: votes of the nearest in lists, and the nearest row where features are permuted."""

import functools

import numpy as np

from sigstats.learners.compiled.jit import borrowed, compiled, keep

from ..base import UNDECIDED
from .vector_products import ROWS, SINGLE_COLUMNS, set_single_product

__all__ = ["SINGLE_COLUMNS", "mix", "predict_mixed", "walk_lists"]

#: A row among whose neighbours a stated rule chooses, where more than one votes.
OPEN = -2

#: Sums in any order: rounding is far below the tolerance of ties.
_sums = functools.partial(compiled, fastmath={"contract", "nsz", "reassoc"})


@_sums
def _weighted(a, b, weights):  # type: ignore[no-untyped-def]
    """The weighted squared distance of two rows."""
    total = 0.0
    for j in range(len(a)):
        difference = a[j] - b[j]
        total += weights[j] * difference * difference
    return total


@compiled
def walk_lists(lists, numbers, weights, bound, own, labels, place, k, rule, predicted):  # type: ignore[no-untyped-def]
    """Predict all rows in all replicates, (n, replicates), from the first rows of their lists that count.

    `lists`: ``near`` and ``distances`` of `NeighbourLists`, and the weights of features over all rows. `weights` and
    `bound`: of `Learned`, of no fold where weights are those over all rows. `own` and `labels`, (n, replicates), are
    the fold and the label of each row. `rule`: the tolerance within which rows are equally near, the farthest distance
    that is told from others, whether ties are `UNDECIDED` where they may change the class, and the priority among
    equally near rows of each place in each fold, which decides for one neighbour.
    """
    n = len(numbers)
    owned = np.empty(k), np.empty(n), np.empty(n, dtype=np.int64)
    counts = np.empty((2, np.int64(labels.max()) + 1), dtype=np.int64)
    room, votes, lists, numbers, rule = borrowed((owned, counts, lists, numbers, rule))
    weights, bound, own, labels, place = borrowed((weights, bound, own, labels, place))
    scaled = weights.shape[1] > 0
    for row in range(n):
        for replicate in range(own.shape[1]):
            fold = own[row, replicate]
            scale = (weights[replicate, fold], bound[replicate, fold]) if scaled else (lists[2], 1.0)
            count, kth = _collect(row, own[:, replicate], lists, numbers, scale, rule[0], room)
            if not kth <= rule[1]:
                predicted[row, replicate] = UNDECIDED
            elif count == 1:
                predicted[row, replicate] = labels[room[2][0], replicate]
            elif k == 1 and not rule[2]:
                first = _first(room, count, kth + rule[0], rule[3][fold], place[replicate])
                predicted[row, replicate] = labels[first, replicate]
            else:
                predicted[row, replicate] = _vote(room, count, labels[:, replicate], kth, rule[0], votes, rule[2])
    keep((owned, counts))


@compiled
def _collect(row, own, lists, numbers, scale, tolerance, room):  # type: ignore[no-untyped-def]
    """Put the rows that may be among the nearest into `room`; their number, and the k-th distance."""
    near, distances, _ = lists
    weights, factor = scale
    best, found, rows = room
    count, at, kth = 0, 0, np.inf
    while at < near.shape[1] and kth + 2 * tolerance >= factor * distances[row, at]:
        other = near[row, at]
        if own[other] != own[row]:
            found[count], rows[count] = _weighted(numbers[row], numbers[other], weights), other
            kth = _insert(best, min(count, len(best)), found[count])
            count += 1
        at += 1
    if kth + 2 * tolerance < factor * distances[row, at]:
        return count, kth
    # The list is too short.
    count, kth = 0, np.inf
    for other in range(len(numbers)):
        if own[other] != own[row]:
            distance = _weighted(numbers[row], numbers[other], weights)
            if distance <= kth + tolerance:
                found[count], rows[count] = distance, other
                kth = _insert(best, min(count, len(best)), distance)
                count += 1
    return count, kth


@compiled
def _first(room, count, limit, priority, place):  # type: ignore[no-untyped-def]
    """Of the rows no farther than `limit` the one that is taken before the others."""
    _, found, rows = room
    first, rank = -1, len(priority)
    for i in range(count):
        if found[i] <= limit and priority[place[rows[i]]] < rank:
            first, rank = rows[i], priority[place[rows[i]]]
    return first


@compiled
def _insert(best, filled, distance):  # type: ignore[no-untyped-def]
    """Put a distance among the first of the `best`, in order; the last of them, or infinity where there are fewer."""
    k = len(best)
    if filled == k and distance >= best[k - 1]:
        return best[k - 1]
    i = min(filled, k - 1)
    while i > 0 and best[i - 1] > distance:
        best[i] = best[i - 1]
        i -= 1
    best[i] = distance
    return best[k - 1] if filled >= k - 1 else np.inf


@compiled
def _vote(room, count, labels, kth, tolerance, votes, unknown):  # type: ignore[no-untyped-def]
    """The class that most of the k nearest have, whichever of those about as near as the k-th they are."""
    best, found, rows = room
    sure, tied = votes
    votes[:] = 0
    left, ties = len(best), 0
    for i in range(count):
        if found[i] < kth - tolerance:
            sure[labels[rows[i]]] += 1
            left -= 1
        elif found[i] <= kth + tolerance:
            tied[labels[rows[i]]] += 1
            ties += 1
    if ties > left and not unknown:
        return OPEN
    winner, most = -1, -1
    for code in range(len(sure)):
        least = sure[code] + max(0, left - (ties - tied[code]))
        if least > most:
            winner, most = code, least
    for code in range(len(sure)):
        possible = sure[code] + min(tied[code], left)
        # Of as many votes the first class wins.
        if code != winner and (possible > most or (possible == most and code < winner)):
            return UNDECIDED
    return winner


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
def _largest(values):  # type: ignore[no-untyped-def]
    largest = values[0]
    for at in range(1, len(values)):
        largest = max(largest, values[at])
    return float(largest)


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
def predict_mixed(panels, weights, whole, data, rule, predicted):  # type: ignore[no-untyped-def]
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
        rows, doubtful, margin, largest = own[1] - own[0], 0, rule[2], _largest(squares)
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
