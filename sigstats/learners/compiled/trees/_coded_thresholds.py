"""The best of the thresholds that are drawn in a node of an extra tree, compiled by Numba."""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats._common.compiled import inlined

from ._coded_splits import Choice, Coded, Tried, code_below, value_of
from ._improvement import floor_of, improvement, promising
from ._lanes import LINE, add, load, multiply, spread, store, subtract, up_to, widen

#: Squares of so many rows do not fit into the 32 bits that columns counted at once have for them.
MANY: Final = 65_536


class Lefts(NamedTuple):
    """By column: how many rows go left, and squared counts of both parts."""

    cut: Any
    left_squares: Any
    right_squares: Any


@inlined
def draw_code(sample: Coded, feature: Any, low: Any, high: Any, draw: int) -> Any:
    """The highest code that goes left for a draw of the threshold between the values of two codes."""
    least, most = float(value_of(sample, feature, low)), float(value_of(sample, feature, high))
    threshold = (most - least) * float(draw) / 2147483647.0 + least
    return code_below(sample, feature, least if threshold == most else threshold, low, high)


@inlined
def draw_codes(sample: Coded, tried: Tried, found: int) -> None:
    """Make of draws the codes up to which rows go left in the columns that were drawn."""
    for each in range(found):
        feature = tried.columns[each]
        low, high = tried.lowest[feature], tried.highest[feature]
        code = draw_code(sample, feature, low, high, tried.draws[each])
        tried.draws[each] = tried.tops[feature] = code


@inlined
def best_one_by_one(
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


@inlined
def _count_lefts(codes: Any, members: Any, tried: Tried, total: Any, lefts: Lefts) -> None:
    """Count the rows up to the code of each column, in all columns of a line at once; rows are in order of classes."""
    width, most = np.uint64(codes.shape[1]), (1 << (8 * codes.itemsize)) - 1
    for line in range(np.uint64(0), width, np.uint64(LINE // codes.itemsize)):
        top = load(tried.tops, line)
        none = spread(top, 0)
        zero = cut = left_squares = right_squares = widen(none)
        at = 0
        for whole in total:
            if whole == 0:
                continue
            of_class, end = zero, at + whole
            while at < end:
                stop, small = min(end, at + most), none
                while at < stop:
                    small = subtract(small, up_to(load(codes, members[at] * width + line), top))
                    at += 1
                of_class = add(of_class, widen(small))
            rest = subtract(spread(zero, whole), of_class)
            cut = add(cut, of_class)
            left_squares = add(left_squares, multiply(of_class, of_class))
            right_squares = add(right_squares, multiply(rest, rest))
        store(lefts.cut, line, cut)
        store(lefts.left_squares, line, left_squares)
        store(lefts.right_squares, line, right_squares)


@inlined
def best_at_once(sample: Coded, members: Any, tried: Tried, found: int, total: Any, smallest: int, lefts: Lefts) -> Any:
    """Search all columns that were drawn at once, of rows that weigh one each, in the order of their classes."""
    n = len(members)
    _count_lefts(sample.codes, members, tried, total, lefts)
    choice, best, floor = Choice(-1, 0, 0, 0, 0), -np.inf, -np.inf
    for each in range(found):
        feature = tried.columns[each]
        cut, left_squares = np.int64(lefts.cut[feature]), np.int64(lefts.left_squares[feature])
        right_squares = np.int64(lefts.right_squares[feature])
        if min(cut, n - cut) < smallest or not promising(left_squares, cut, right_squares, n - cut, floor):
            continue
        gain = improvement(left_squares, cut, right_squares, n - cut)[0]
        if gain > best:
            best, floor = gain, floor_of(gain, n)
            choice = Choice(np.int64(feature), tried.draws[each], cut, left_squares, right_squares)
    return choice
