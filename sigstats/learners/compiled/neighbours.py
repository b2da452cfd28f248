"""Nearest neighbours, compiled by Numba: from lists of near rows, or from candidates by 32-bit products."""

import functools

import numpy as np

from sigstats.learners.compiled.jit import compiled

from ..base import UNDECIDED

__all__ = ["decide_fold", "walk_lists"]
#: Prediction of a row whose tied neighbours are chosen by a known rule, if k > 1.
OPEN = -2
#: Relative rounding error of sums of votes.
ROUNDED = 1e-12
#: Sums may be reordered: rounding errors are far below the tolerance of ties.
_sums = functools.partial(compiled, fastmath={"contract", "nsz", "reassoc"})
#: Comparisons may be reordered for vector instructions; no number is NaN.
_numbers = functools.partial(compiled, fastmath={"nnan", "nsz"})
#: With more candidates per row than this, 64-bit products are faster.
_DOUBTFUL = 8
#: If a row has more candidates than this, its fold uses 64-bit products.
_FOUND = 64
#: Number of 32-bit numbers in the widest vector.
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
    """Predict all rows in all replicates, shape (n, replicates), from lists of near rows.

    `lists`: ``near`` and ``distances`` of `NeighbourLists`, and the weights of features over all rows. `weights` and
    `bound`: those of `Learned`; without folds if the weights over all rows apply. `own` and `labels`: fold and label
    of each row, shape (n, replicates). `rule`: tolerance within which rows are equally near, largest distance that can
    be distinguished from others, whether ties that may change the class are `UNDECIDED`, the priority of each place in
    each fold among equally near rows, which decides if k is 1, and whether votes count by inverse distance.
    """
    n = len(numbers)
    room = np.empty(k), np.empty(n), np.empty(n, dtype=np.int64)
    votes = np.empty((3, np.int64(labels.max()) + 1))
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
                predicted[row, replicate] = _vote(room, count, labels[:, replicate], kth, rule, votes)


@compiled
def _collect(row, own, lists, numbers, scale, tolerance, room):  # type: ignore[no-untyped-def]
    """Write rows that may be among the nearest to `room`; return their number and the k-th distance."""
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
    # The list is too short: look at all rows.
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
    """Return the row with the highest priority among those no farther than `limit`."""
    _, lengths, rows = room
    first, rank = -1, len(priority)
    for i in range(count):
        if lengths[i] <= limit and priority[place[rows[i]]] < rank:
            first, rank = rows[i], priority[place[rows[i]]]
    return first


@compiled
def _insert(best, filled, distance):  # type: ignore[no-untyped-def]
    """Insert a distance into the sorted `best`; return the last of them, or infinity if they are not filled."""
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
def _bounds(squared, error, weighted):  # type: ignore[no-untyped-def]
    """Return bounds of the vote of a row, as `nearest_neighbours.weight_bounds`; 1 if votes are not weighted."""
    if not weighted:
        return 1.0, 1.0
    return (1 - ROUNDED) / np.sqrt(squared + error), (1 + ROUNDED) / np.sqrt(max(squared - error, 0.0))


@compiled
def _vote(room, count, labels, kth, rule, votes):  # type: ignore[no-untyped-def]
    """Return the class with most votes of the k nearest rows, unless ties at the k-th place or rounding decide."""
    best, lengths, rows = room
    tolerance, unknown, weighted = rule[0], rule[2], rule[4]
    low, high, tied = votes
    votes[:] = 0
    left, ties = len(best), 0
    for i in range(count):
        if lengths[i] < kth - tolerance:
            least, most = _bounds(lengths[i], tolerance, weighted)
            low[labels[rows[i]]] += least
            high[labels[rows[i]]] += most
            left -= 1
        elif lengths[i] <= kth + tolerance:
            tied[labels[rows[i]]] += 1
            ties += 1
    if ties > left and not unknown:
        return OPEN
    low_tied, high_tied = _bounds(kth, 2 * tolerance, weighted)
    winner, most = -1, -1.0
    for code in range(len(low)):
        least = low[code] + max(0, left - (ties - tied[code])) * low_tied
        if least > most:
            winner, most = code, least
    for code in range(len(high)):
        possible = high[code] + (min(tied[code], left) * high_tied if tied[code] > 0 else 0.0)
        # With equal votes the first class wins.
        if code != winner and (possible > most or (possible == most and code < winner)):
            return UNDECIDED
    return winner


@_numbers
def _minima(products, squares, minima):  # type: ignore[no-untyped-def]
    """Write the minima of ``products + squares`` over every m-th place to `minima`, of length m."""
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
    """Write places no farther than `limit` to `near`, as many as fit; return the number of all."""
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
    """Predict the rows of a fold, shape (n,); return False if there are too many candidates.

    `products`: those of the rows of the fold, from place `first` on, with all rows; infinite for rows of the same fold.
    Adding `squares` gives squared distances minus the square of the row itself. `data`: columns, shape (d, n), the
    source of each value of a mixed row, and the row in each place. `weights`: those of features. `rule`: labels by
    place; priorities by place, empty if the choice among equally near rows is unknown; tolerance within which rows are
    equally near; largest distance that can be distinguished from others; rounding error of a product.
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
    """Return the class of the row in place `i`, decided by exact distances to the candidates `near`."""
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
