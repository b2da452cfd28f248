"""The best threshold of a column of few levels in a node of a forest's tree, compiled by Numba.

Where a column has a few distinct values, as a pixel or a rating has, the classes of a node's rows are counted for each
level: nothing is kept in order, and a node is one list of its rows. A few rows are sorted by their levels.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled

from ._tree_splits import floor_of, improvement, promising

#: So few rows are sorted by each column that is tried, which costs less than counting or keeping them in order.
FEW: Final = 16


class Levels(NamedTuple):
    """What is counted by level: different rows, and drawn rows of each class; all 0 between nodes. And room to sort."""

    rows: Any
    classes: Any
    packed: Any


@compiled
def room(n_levels: int, n_classes: int) -> Levels:
    """Room to count and to sort in."""
    return Levels(
        np.zeros(n_levels, dtype=np.int64),
        np.zeros((n_levels, n_classes), dtype=np.int64),
        np.empty(FEW, dtype=np.int64),
    )


@compiled
def best_level(
    sample: Any, feature: int, members: Any, total: Any, n: int, smallest: int, best: float, left: Any, levels: Levels
) -> Any:
    """Whether a column varies; its best split, if it is better than `best`: cut, gain, left counts, the two levels."""
    codes, rows, classes = sample.codes[feature], levels.rows, levels.classes
    for row in members:
        code, mark = np.uint64(codes[row]), sample.marks[row]
        rows[code] += 1
        classes[code, np.uint64(mark >> 32)] += mark & 0xFFFFFFFF
    low, high = 0, len(rows) - 1
    while rows[low] == 0:
        low += 1
    while rows[high] == 0:
        high -= 1
    left[:] = 0
    floor = floor_of(best, n)
    cut, n_left, place, below, above = 0, 0, -1, -1, -1
    n_there, left_there, right_there = 0, 0, 0
    for level in range(low, high):
        if rows[level] == 0:
            continue
        cut += rows[level]
        left_squares, right_squares = 0, 0
        for own in range(len(total)):
            count = classes[level, own]
            n_left += count
            count += left[own]
            left[own] = count
            left_squares += count * count
            rest = total[own] - count
            right_squares += rest * rest
        if cut < smallest or len(members) - cut < smallest:
            continue
        if not promising(left_squares, n_left, right_squares, n - n_left, floor):
            continue
        gain = improvement(left_squares, n_left, right_squares, n - n_left)[0]
        if gain > best:
            best, place, below = gain, cut, level
            n_there, left_there, right_there = n_left, left_squares, right_squares
            floor = floor_of(best, n)
    if place >= 0:
        above = below + 1
        while rows[above] == 0:
            above += 1
    rows[low : high + 1] = 0
    classes[low : high + 1] = 0
    return low < high, place, best, n_there, left_there, right_there, below, above


@compiled
def best_level_of_few(
    sample: Any,
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
    codes, packed, m = sample.codes[feature], levels.packed, len(members)
    for at in range(m):
        row = members[at]
        own = (np.int64(codes[row]) << 48) | sample.marks[row]
        place = at
        while place > 0 and packed[place - 1] > own:
            packed[place] = packed[place - 1]
            place -= 1
        packed[place] = own
    varies = packed[0] >> 48 < packed[m - 1] >> 48
    place, below, above, n_left = -1, -1, -1, 0
    n_there, left_there, right_there = 0, 0, 0
    if varies:
        left[:] = 0
        floor = floor_of(best, n)
        left_squares, right_squares = 0, squares
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
                best, place, below, above = gain, cut, last >> 48, following
                n_there, left_there, right_there = n_left, left_squares, right_squares
                floor = floor_of(best, n)
    return varies, place, best, n_there, left_there, right_there, below, above
