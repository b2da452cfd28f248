"""The best threshold of columns of few levels in a node of a random forest's tree, compiled by Numba.

Where a column has a few distinct values, as a pixel or a rating has, the classes of a node's rows are counted for each
level: nothing is kept in order, and a node is one list of its rows. A few rows are sorted by their levels.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled, inlined

from ._coded_splits import Choice, Coded, Tried
from ._tree_splits import floor_of, improvement, promising

#: So few rows are sorted by each column that is tried, which costs less than counting.
FEW: Final = 16


class Levels(NamedTuple):
    """What is counted by level and class, 0 between nodes, as `Coded.marks` are; and room to sort."""

    classes: Any
    packed: Any


@compiled
def room(n_levels: int, n_classes: int) -> Levels:
    """Room to count and to sort in."""
    return Levels(np.zeros((n_levels, n_classes), dtype=np.int64), np.empty(FEW, dtype=np.int64))


@inlined
def _best_level(
    sample: Coded,
    feature: int,
    members: Any,
    low: int,
    high: int,
    total: Any,
    n: int,
    smallest: int,
    best: float,
    left: Any,
    levels: Levels,
) -> Any:
    """The best split of a column, if it is better than `best`: the gain, rows and draws left, counts, the level."""
    codes, classes, m = sample.columns[feature], levels.classes, len(members)
    for row in members:
        classes[np.uint64(codes[row]), sample.label[row]] += sample.marks[row]
    left[:] = 0
    floor = floor_of(best, n)
    cut, n_left, place, below = 0, 0, -1, -1
    n_there, left_there, right_there = 0, 0, 0
    for level in range(low, high):
        left_squares, right_squares, here = 0, 0, 0
        for own in range(len(total)):
            mark = classes[level, own]
            classes[level, own] = 0
            here += mark
            count = left[own] + (mark & 0xFFFFFFFF)
            left[own] = count
            left_squares += count * count
            rest = total[own] - count
            right_squares += rest * rest
        if here == 0:
            continue
        cut += here >> 32
        n_left += here & 0xFFFFFFFF
        if cut < smallest or m - cut < smallest:
            continue
        if not promising(left_squares, n_left, right_squares, n - n_left, floor):
            continue
        gain = improvement(left_squares, n_left, right_squares, n - n_left)[0]
        if gain > best:
            best, place, below = gain, cut, level
            n_there, left_there, right_there = n_left, left_squares, right_squares
            floor = floor_of(best, n)
    classes[high] = 0
    return best, place, n_there, left_there, right_there, below


@inlined
def _best_level_of_few(
    sample: Coded,
    feature: int,
    members: Any,
    total: Any,
    n: int,
    squares: int,
    smallest: int,
    best: float,
    left: Any,
    levels: Levels,
) -> Any:
    """The same of up to `FEW` rows, which are sorted by their levels."""
    packed, m = levels.packed, len(members)
    for at in range(m):
        row = members[at]
        own = (np.int64(sample.codes[row, feature]) << 48) | (np.int64(sample.label[row]) << 32)
        own |= sample.marks[row] & 0xFFFFFFFF
        place = at
        while place > 0 and packed[place - 1] > own:
            packed[place] = packed[place - 1]
            place -= 1
        packed[place] = own
    left[:] = 0
    floor = floor_of(best, n)
    left_squares, right_squares, n_left = 0, squares, 0
    place, below, n_there, left_there, right_there = -1, -1, 0, 0, 0
    for cut in range(1, m):
        last, following = packed[cut - 1], packed[cut] >> 48
        own_class, weight = np.uint64((last >> 32) & 0xFFFF), last & 0xFFFFFFFF
        so_far = left[own_class]
        left[own_class] = so_far + weight
        left_squares += weight * (2 * so_far + weight)
        right_squares -= weight * (2 * (total[own_class] - so_far) - weight)
        n_left += weight
        if last >> 48 == following or cut < smallest or m - cut < smallest:
            continue
        if not promising(left_squares, n_left, right_squares, n - n_left, floor):
            continue
        gain = improvement(left_squares, n_left, right_squares, n - n_left)[0]
        if gain > best:
            best, place, below = gain, cut, last >> 48
            n_there, left_there, right_there = n_left, left_squares, right_squares
            floor = floor_of(best, n)
    return best, place, n_there, left_there, right_there, below


@inlined
def best_of_levels(
    sample: Coded,
    members: Any,
    tried: Tried,
    found: int,
    total: Any,
    n: int,
    squares: int,
    smallest: int,
    left: Any,
    levels: Levels,
) -> Any:
    """Search the columns that were drawn one after the other; none is better than one that parts the classes."""
    choice, best, m = Choice(-1, 0, 0, 0, 0), -np.inf, len(members)
    for each in range(found):
        feature = np.uint64(tried.columns[each])
        if m <= FEW:
            best, cut, n_left, left_squares, right_squares, below = _best_level_of_few(
                sample, feature, members, total, n, squares, smallest, best, left, levels
            )
        else:
            low, high = np.int64(tried.lowest[feature]), np.int64(tried.highest[feature])
            best, cut, n_left, left_squares, right_squares, below = _best_level(
                sample, feature, members, low, high, total, n, smallest, best, left, levels
            )
        if cut >= 0:
            choice = Choice(np.int64(feature), np.int64(below), n_left, left_squares, right_squares)
            if best >= 0:
                break
    return choice
