"""Nearest neighbours, compiled by Numba: votes of the nearest rows in lists."""

import functools

import numpy as np

from sigstats.learners.compiled.jit import compiled

from ..base import UNDECIDED

__all__ = ["walk_lists"]

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
