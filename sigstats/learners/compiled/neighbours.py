"""Nearest neighbours, compiled by Numba: predictions from lists of near rows.

Only `walk_lists` is called from outside; its arguments are made by `sigstats.learners.neighbours.lists`.
"""

import functools
from typing import Any, NamedTuple

import numpy as np

from sigstats.learners.compiled.jit import compiled

from ..base import UNDECIDED

__all__ = ["Lists", "Rule", "walk_lists"]
#: Prediction of a row whose tied neighbours are chosen by a known rule, if k > 1.
OPEN = -2
#: Relative rounding error of sums of votes.
ROUNDED = 1e-12
#: Sums may be reordered: rounding errors are far below the tolerance of ties.
_sums = functools.partial(compiled, fastmath={"contract", "nsz", "reassoc"})


class Lists(NamedTuple):
    """The lists of `NeighbourLists`, and the weights of features over all rows."""

    near: Any
    distances: Any
    weights: Any


class Rule(NamedTuple):
    """The rule of a vote."""

    #: The tolerance within which rows are equally near.
    tolerance: float
    #: The largest distance that can be distinguished from others.
    farthest: float
    #: True if ties that may change the class are `UNDECIDED`.
    unknown: bool
    #: The priority of each place in each fold among equally near rows, which decides if k is 1.
    priority: Any
    #: True if votes count by inverse distance.
    weighted: bool


class _Room(NamedTuple):
    """Memory: the k smallest distances, and the rows that may be among the nearest with their distances."""

    best: Any
    lengths: Any
    rows: Any


@_sums
def _distance(a, b, weights):  # type: ignore[no-untyped-def]
    """Return the weighted squared distance of two rows."""
    total = 0.0
    for j in range(len(a)):
        difference = a[j] - b[j]
        total += weights[j] * difference * difference
    return total


@compiled
def walk_lists(lists, numbers, weights, bound, own, labels, place, k, rule, predicted):  # type: ignore[no-untyped-def]
    """Predict all rows in all replicates, shape (n, replicates), from lists of near rows.

    `weights` and `bound`: as in `FoldWeights`; their axis of folds is empty if the weights from all rows apply. `own`
    and `labels`: fold and label of each row, shape (n, replicates).
    """
    n = len(numbers)
    room = _Room(np.empty(k), np.empty(n), np.empty(n, dtype=np.int64))
    votes = np.empty((3, np.int64(labels.max()) + 1))
    scaled = weights.shape[1] > 0
    for row in range(n):
        for replicate in range(own.shape[1]):
            fold = own[row, replicate]
            scale = (weights[replicate, fold], bound[replicate, fold]) if scaled else (lists.weights, 1.0)
            count, kth = _collect(row, own[:, replicate], lists, numbers, scale, rule.tolerance, room)
            if not kth <= rule.farthest:
                predicted[row, replicate] = UNDECIDED
            elif count == 1:
                predicted[row, replicate] = labels[room.rows[0], replicate]
            elif k == 1 and not rule.unknown:
                first = _first(room, count, kth + rule.tolerance, rule.priority[fold], place[replicate])
                predicted[row, replicate] = labels[first, replicate]
            else:
                predicted[row, replicate] = _vote(room, count, labels[:, replicate], kth, rule, votes)


@compiled
def _collect(row, own, lists, numbers, scale, tolerance, room):  # type: ignore[no-untyped-def]
    """Write rows that may be among the nearest to `room`; return their number and the k-th distance."""
    weights, factor = scale
    count, at, kth = 0, 0, np.inf
    while at < lists.near.shape[1] and kth + 2 * tolerance >= factor * lists.distances[row, at]:
        other = lists.near[row, at]
        if own[other] != own[row]:
            distance = _distance(numbers[row], numbers[other], weights)
            kth = _add(room, count, other, distance)
            count += 1
        at += 1
    if kth + 2 * tolerance < factor * lists.distances[row, at]:
        return count, kth
    # The list is too short: look at all rows.
    count, kth = 0, np.inf
    for other in range(len(numbers)):
        if own[other] != own[row]:
            distance = _distance(numbers[row], numbers[other], weights)
            if distance <= kth + tolerance:
                kth = _add(room, count, other, distance)
                count += 1
    return count, kth


@compiled
def _add(room, count, row, distance):  # type: ignore[no-untyped-def]
    """Add a row to the `count` rows in `room`; return the k-th distance."""
    room.lengths[count], room.rows[count] = distance, row
    return _insert(room.best, min(count, len(room.best)), distance)


@compiled
def _first(room, count, limit, priority, place):  # type: ignore[no-untyped-def]
    """Return the row with the highest priority among those no farther than `limit`."""
    first, rank = -1, len(priority)
    for i in range(count):
        row = room.rows[i]
        if room.lengths[i] <= limit and priority[place[row]] < rank:
            first, rank = row, priority[place[row]]
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
    low, high, tied = votes  # bounds of the votes of nearer rows, and the number of tied rows, of each class
    votes[:] = 0
    left, ties = len(room.best), 0
    for i in range(count):
        label = labels[room.rows[i]]
        if room.lengths[i] < kth - rule.tolerance:
            least, most = _bounds(room.lengths[i], rule.tolerance, rule.weighted)
            low[label] += least
            high[label] += most
            left -= 1
        elif room.lengths[i] <= kth + rule.tolerance:
            tied[label] += 1
            ties += 1
    if ties > left and not rule.unknown:
        return OPEN
    low_tied, high_tied = _bounds(kth, 2 * rule.tolerance, rule.weighted)
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
