"""Nearest neighbours, compiled by Numba: votes of rows in lists, and of those that products of 32 bits leave."""

import functools

import numpy as np

from sigstats.learners.compiled.jit import compiled

from ..base import UNDECIDED

__all__ = ["decide_fold", "walk_lists"]
#: A row among whose neighbours a stated rule chooses, where more than one votes.
OPEN = -2
#: Sums in any order: rounding is far below the tolerance of ties.
_sums = functools.partial(compiled, fastmath={"contract", "nsz", "reassoc"})
#: Numbers that are compared in any order, so that vector instructions take them; none of them is NaN.
_numbers = functools.partial(compiled, fastmath={"nnan", "nsz"})
#: With more rows than this that are about as near as the nearest, products of 64 bits are faster.
_DOUBTFUL = 8
#: A row with more of them is left to products of 64 bits, with its fold.
_FOUND = 64
#: Numbers of 32 bits in the widest vector.
_LANES = 16


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
    `bound`: of `Learned`; of no fold if weights are those over all rows. `own` and `labels`, (n, replicates), are the
    fold and the label of each row. `rule`: the tolerance within which rows are equally near, the largest distance that
    can be distinguished from others, whether ties are `UNDECIDED` if they may change the class, and the priority among
    equally near rows of each place in each fold, which decides for one neighbour.
    """
    n = len(numbers)
    room = np.empty(k), np.empty(n), np.empty(n, dtype=np.int64)
    votes = np.empty((2, np.int64(labels.max()) + 1), dtype=np.int64)
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


@compiled
def _collect(row, own, lists, numbers, scale, tolerance, room):  # type: ignore[no-untyped-def]
    """Put the rows that may be among the nearest into `room`; their number, and the k-th distance."""
    near, distances, _ = lists
    weights, factor = scale
    best, lengths, rows = room
    count, at, kth = 0, 0, np.inf
    while at < near.shape[1] and kth + 2 * tolerance >= factor * distances[row, at]:
        other = near[row, at]
        if own[other] != own[row]:
            lengths[count], rows[count] = _weighted(numbers[row], numbers[other], weights), other
            kth = _insert(best, min(count, len(best)), lengths[count])
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
                lengths[count], rows[count] = distance, other
                kth = _insert(best, min(count, len(best)), distance)
                count += 1
    return count, kth


@compiled
def _first(room, count, limit, priority, place):  # type: ignore[no-untyped-def]
    """Of the rows no farther than `limit`, the one with the highest priority."""
    _, lengths, rows = room
    first, rank = -1, len(priority)
    for i in range(count):
        if lengths[i] <= limit and priority[place[rows[i]]] < rank:
            first, rank = rows[i], priority[place[rows[i]]]
    return first


@compiled
def _insert(best, filled, distance):  # type: ignore[no-untyped-def]
    """Put a distance among the first of the `best`, in order; the last of them, or infinity if there are fewer."""
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
    best, lengths, rows = room
    sure, tied = votes
    votes[:] = 0
    left, ties = len(best), 0
    for i in range(count):
        if lengths[i] < kth - tolerance:
            sure[labels[rows[i]]] += 1
            left -= 1
        elif lengths[i] <= kth + tolerance:
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
