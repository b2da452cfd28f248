"""The best of the thresholds that are drawn in a node of an extra tree, compiled by Numba."""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats._common.compiled import inlined

from ._coded_splits import Choice, Coded, Tried, code_below
from ._tree_splits import floor_of, improvement, promising

#: So few rows are counted column by column, until a column parts the classes.
FEW: Final = 4

#: Squares of so many rows do not fit into the 31 bits that columns counted at once have for them.
MANY: Final = 46_341


class Lefts(NamedTuple):
    """By column: the code up to which rows go left, rows of a class that do, of all, and squared counts of both parts.

    ``small`` counts up to its largest value before it is added to ``of_class``.
    """

    code: Any
    small: Any
    of_class: Any
    cut: Any
    left_squares: Any
    right_squares: Any


@inlined
def _threshold(values: Any, low: int, high: int, draw: int) -> float:
    """The threshold between the values of two codes for a draw, as scikit-learn has it."""
    least, most = float(values[low]), float(values[high])
    threshold = (most - least) * float(draw) / 2147483647.0 + least
    return least if threshold == most else threshold


@inlined
def best_one_by_one(
    sample: Coded, members: Any, tried: Tried, found: int, total: Any, n: int, smallest: int, left: Any
) -> Any:
    """Search the columns that were drawn one after the other; none is better than one that parts the classes."""
    choice, best, m = Choice(-1, 0, 0.0, 0, 0, 0, 0), -np.inf, len(members)
    codes = sample.codes
    for each in range(found):
        feature = np.uint64(tried.columns[each])
        low, high = tried.lowest[feature], tried.highest[feature]
        values = sample.values[feature]
        threshold = _threshold(values, low, high, tried.draws[each])
        code = code_below(values, threshold, low, high)
        left[:] = 0
        cut: Any = 0
        for at in range(m):
            row = members[at]
            goes = np.int64(codes[row, feature] <= code)
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
            best, choice = gain, Choice(np.int64(feature), code, threshold, cut, n_left, left_squares, right_squares)
            if best >= 0:
                break
    return choice


@inlined
def _count_lefts(codes: Any, members: Any, total: Any, lefts: Lefts) -> None:
    """Count the rows up to the code of each column, in all columns at once; rows are in the order of their classes."""
    code, small, of_class, width = lefts.code, lefts.small, lefts.of_class, codes.shape[1]
    most = (1 << (8 * small.itemsize)) - 1 & ~3
    lefts.cut[:] = 0
    lefts.left_squares[:] = 0
    lefts.right_squares[:] = 0
    at = 0
    for whole in total:
        if whole == 0:
            continue
        end = at + whole
        of_class[:] = 0
        while at < end:
            stop = min(end, at + most)
            small[:] = 0
            while at + 4 <= stop:
                a, b, c, d = members[at], members[at + 1], members[at + 2], members[at + 3]
                for column in range(width):
                    top = code[column]
                    small[column] += (
                        np.uint8(codes[a, column] <= top)
                        + np.uint8(codes[b, column] <= top)
                        + np.uint8(codes[c, column] <= top)
                        + np.uint8(codes[d, column] <= top)
                    )
                at += 4
            while at < stop:
                row = members[at]
                for column in range(width):
                    small[column] += np.uint8(codes[row, column] <= code[column])
                at += 1
            for column in range(width):
                of_class[column] += small[column]
        for column in range(width):
            count = of_class[column]
            rest = whole - count
            lefts.cut[column] += count
            lefts.left_squares[column] += count * count
            lefts.right_squares[column] += rest * rest


@inlined
def best_at_once(
    sample: Coded, members: Any, tried: Tried, found: int, total: Any, smallest: int, lefts: Lefts, thresholds: Any
) -> Any:
    """Search all columns that were drawn at once, of rows that weigh one each, in the order of their classes."""
    n = len(members)
    for each in range(found):
        feature = tried.columns[each]
        low, high = tried.lowest[feature], tried.highest[feature]
        values = sample.values[feature]
        thresholds[each] = _threshold(values, low, high, tried.draws[each])
        lefts.code[feature] = code_below(values, thresholds[each], low, high)
    _count_lefts(sample.codes, members, total, lefts)
    choice, best, floor = Choice(-1, 0, 0.0, 0, 0, 0, 0), -np.inf, -np.inf
    for each in range(found):
        feature = tried.columns[each]
        cut, left_squares = np.int64(lefts.cut[feature]), np.int64(lefts.left_squares[feature])
        right_squares = np.int64(lefts.right_squares[feature])
        if min(cut, n - cut) < smallest or not promising(left_squares, cut, right_squares, n - cut, floor):
            continue
        gain = improvement(left_squares, cut, right_squares, n - cut)[0]
        if gain > best:
            best, floor = gain, floor_of(gain, n)
            code = np.int64(lefts.code[feature])
            choice = Choice(feature, code, thresholds[each], cut, cut, left_squares, right_squares)
    return choice
