"""The best split of the columns that were drawn in a node, one after the other, compiled by Numba.

In a random forest's tree the classes of a node's rows are counted for each level of a column, of which there are few:
nothing is kept in order, and a node is one list of its rows. In an extra tree rows are counted up to the threshold that
was drawn.
"""

from typing import Any

import numpy as np

from sigstats.learners.compiled.jit import inlined

from ._coded_splits import Choice, Coded, Tried, code_below, value_of
from ._forest_folds import floor_of, improvement, promising


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
    classes: Any,
) -> Any:
    """The best split of a column, if it is better than `best`: the gain, rows and draws left, counts, the level."""
    codes, m = sample.columns[feature], len(members)
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
def best_of_levels(
    sample: Coded,
    members: Any,
    tried: Tried,
    found: int,
    total: Any,
    n: int,
    smallest: int,
    left: Any,
    classes: Any,
) -> Any:
    """Search the columns that were drawn one after the other; none is better than one that parts the classes.

    `classes` has room for counts by level and class, as `Coded.marks` are, and is 0 between nodes.
    """
    choice, best = Choice(-1, 0, 0, 0, 0), -np.inf
    for each in range(found):
        feature = np.uint64(tried.columns[each])
        low, high = np.int64(tried.lowest[feature]), np.int64(tried.highest[feature])
        best, cut, n_left, left_squares, right_squares, below = _best_level(
            sample, feature, members, low, high, total, n, smallest, best, left, classes
        )
        if cut >= 0:
            choice = Choice(np.int64(feature), np.int64(below), n_left, left_squares, right_squares)
            if best >= 0:
                break
    return choice


@inlined
def draw_code(sample: Coded, feature: Any, low: Any, high: Any, draw: int) -> Any:
    """The highest code that goes left for a draw of the threshold between the values of two codes."""
    # Numba's float() leaves 32 bits as they are.
    least, most = np.float64(value_of(sample, feature, low)), np.float64(value_of(sample, feature, high))
    threshold = (most - least) * float(draw) / 2147483647.0 + least
    return code_below(sample, feature, least if threshold == most else threshold, low, high)


@inlined
def draw_codes(sample: Coded, tried: Tried, found: int) -> None:
    """Make of draws the codes up to which rows go left in the columns that were drawn."""
    for each in range(found):
        feature = tried.columns[each]
        low, high = tried.lowest[feature], tried.highest[feature]
        code = draw_code(sample, feature, low, high, tried.draws[each])
        tried.draws[each] = code


@inlined
def best_of_drawn(
    sample: Coded, members: Any, tried: Tried, found: int, total: Any, n: int, smallest: int, left: Any
) -> Any:
    """Search the columns that were drawn one after the other; none is better than one that parts the classes."""
    choice, best, m = Choice(-1, 0, 0, 0, 0), -np.inf, len(members)
    codes = sample.codes
    for each in range(found):
        feature = np.uint64(tried.columns[each])
        code = tried.draws[each]
        left[:] = 0
        cut: Any = 0
        for at in range(m):
            row = members[at]
            goes = np.int64(np.int64(codes[row, feature]) <= code)
            cut += goes
            left[sample.label[row]] += sample.weight[row] * goes
        if min(cut, m - cut) < smallest:
            continue
        n_left, left_squares, right_squares = 0, 0, 0
        for own in range(len(total)):
            count, rest = left[own], total[own] - left[own]
            n_left += count
            left_squares += count * count
            right_squares += rest * rest
        gain = improvement(left_squares, n_left, right_squares, n - n_left)[0]
        if gain > best:
            best, choice = gain, Choice(np.int64(feature), code, n_left, left_squares, right_squares)
            if best >= 0:
                break
    return choice
