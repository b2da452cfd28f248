"""The best split of a node of a forest's tree of coded columns, and the columns that are tried, compiled by Numba.

A code is the rank of a value among the distinct values of its column, or the value itself as a whole number; it does
not depend on labels or folds. The codes of a row lie side by side, and LLVM makes vector instructions of the search for
the lowest and the highest of each column in a node. Which columns are tried depends on nothing else: they are drawn
first, as scikit-learn draws them, and searched then, one after the other. In a random forest's tree the classes of a
node's rows are counted for each level of a column, of which there are few.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats.learners.compiled.jit import inlined

from ._forest_folds import SAME, floor_of, improvement, next_draw, promising
from ._vectors import find_bounds

#: Codes of 32 bits are the bits of a value; of negative values all are turned, of others the sign.
_SIGN: Final = np.uint32(1 << 31)


class Coded(NamedTuple):
    """The rows of a tree.

    ``codes`` (n, width) are padded with zeros beyond the columns, ``columns`` (features, n) are the same by column, and
    ``values`` (features, codes) are their values; codes of 32 bits are values themselves. ``apart`` is true if
    scikit-learn distinguishes all values of a column. For each row, ``label`` is the class and ``weight`` its number of
    draws; ``marks`` are 1 and the weight, in the upper and the lower 32 bits.
    """

    codes: Any
    columns: Any
    values: Any
    apart: Any
    label: Any
    weight: Any
    marks: Any


class Choice(NamedTuple):
    """The split of a node: its column or -1, the highest code that goes left, draws there, squared counts."""

    feature: Any
    code: Any
    n_left: Any
    left_squares: Any
    right_squares: Any


class Tried(NamedTuple):
    """The lowest and highest code of columns in a node; the columns to search, and their draws."""

    lowest: Any
    highest: Any
    columns: Any
    draws: Any


@inlined
def are_values(codes: Any) -> Any:
    """True if codes are values themselves, and not ranks."""
    return codes.itemsize == 4


@inlined
def _remainder(state: int, count: int) -> Any:
    """The place among `count` that a number of the sequence stands for."""
    return np.int64(np.uint32(state & 0x7FFFFFFF) % np.uint32(max(count, 1)))


@inlined
def value_of(sample: Coded, feature: Any, code: Any) -> Any:
    """The value of a code."""
    if not are_values(sample.codes):
        return sample.values[feature, code]
    bits = np.uint32(code)
    return np.uint32(bits ^ (np.uint32(np.int32(np.uint32(~bits)) >> 31) | _SIGN)).view(np.float32)


@inlined
def _code_of(threshold: float) -> Any:
    """The code of the highest value of 32 bits that is not above a threshold."""
    value = np.float32(threshold)
    bits = value.view(np.uint32)
    return np.int64(bits ^ (np.uint32(np.int32(bits) >> 31) | _SIGN)) - int(float(value) > threshold)


@inlined
def draw_columns(
    sample: Coded, columns: Any, members: Any, known: int, most: int, with_thresholds: bool, state: int, tried: Tried
) -> tuple[int, int, int]:
    """Draw the columns to search; how many they are, how many are constant (put first), and the state of the sequence.

    ``most`` is how many columns are looked at, constant ones included, as long as one that varies is among them. Which
    they are cannot be foreseen by the processor, so that all that is done here is done without a branch. In `columns`
    stand known constants that were drawn, known constants, constants found in this node, those not drawn yet, and from
    `undrawn` on those to search.
    """
    constant, drawn, undrawn, visited, varying = known, 0, len(columns), 0, 0
    find_bounds(sample.codes, members, tried.lowest, tried.highest)
    ahead = next_draw(state)
    remainder = _remainder(ahead, len(columns))
    while undrawn > constant and (visited < most or visited <= constant - known + drawn):
        visited += 1
        listed = int(drawn + remainder < known)
        at = drawn + remainder + (1 - listed) * (constant - known)
        feature = columns[at]
        low, high = tried.lowest[feature], tried.highest[feature]
        varies = int(
            low != high if sample.apart else value_of(sample, feature, high) > value_of(sample, feature, low) + SAME
        )
        to = drawn if listed else undrawn - 1 if varies else constant
        columns[at] = columns[to]
        columns[to] = feature
        drawn += listed
        undrawn -= varies
        constant += 1 - listed - varies
        # What comes next is made for both cases before it is known which this is.
        following = next_draw(ahead)
        tried.columns[varying], tried.draws[varying] = feature, following & 0x7FFFFFFF
        varying += varies
        after, left = next_draw(following), len(columns) - visited
        remainders = _remainder(following, left), _remainder(after, left)
        skips = varies and with_thresholds
        state = following if skips else ahead
        ahead = after if skips else following
        remainder = remainders[1] if skips else remainders[0]
    return varying, constant, state


@inlined
def code_below(sample: Coded, feature: Any, threshold: float, low: Any, high: Any, guess: Any) -> Any:
    """The highest code from `low` to below `high` with a value of at most the threshold, which that of `low` is.

    It is found immediately if it is the guess, from `low` to below `high` too.
    """
    if are_values(sample.codes):
        return _code_of(threshold)
    values, low, high = sample.values[feature], np.int64(low), np.int64(high)
    for middle in (guess, guess + 1):
        goes = values[np.uint64(middle)] <= threshold
        low, high = max(low, middle if goes else low), min(high, high if goes else middle)
    while high - low > 1:
        middle = (low + high) >> 1
        goes = values[middle] <= threshold
        low, high = middle if goes else low, high if goes else middle
    return low


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
        own, mark = classes[np.uint64(codes[row])], sample.marks[row]
        own[sample.label[row]] += mark
        own[len(total)] += mark
    left[:] = 0
    floor = floor_of(best, n)
    cut, n_left, place, below = 0, 0, -1, -1
    n_there, left_there, right_there = 0, 0, 0
    for level in range(low, high):
        here = classes[level, len(total)]
        if here == 0:
            continue
        classes[level, len(total)] = 0
        left_squares, right_squares = 0, 0
        for own in range(len(total)):
            mark = classes[level, own]
            classes[level, own] = 0
            count = left[own] + (mark & 0xFFFFFFFF)
            left[own] = count
            left_squares += count * count
            rest = total[own] - count
            right_squares += rest * rest
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
    sample: Coded, members: Any, tried: Tried, varying: int, total: Any, n: int, smallest: int, left: Any, classes: Any
) -> Any:
    """Search the columns that were drawn one after the other; none is better than one that parts the classes.

    `classes` has room for counts by level of each class and of all, as `Coded.marks` are, and is 0 between nodes.
    """
    choice, best = Choice(-1, 0, 0, 0, 0), -np.inf
    for place in range(varying):
        feature = np.uint64(tried.columns[place])
        low, high = np.int64(tried.lowest[feature]), np.int64(tried.highest[feature])
        best, cut, n_left, left_squares, right_squares, below = _best_level(
            sample, feature, members, low, high, total, n, smallest, best, left, classes
        )
        if cut >= 0:
            choice = Choice(np.int64(feature), np.int64(below), n_left, left_squares, right_squares)
            if best >= 0:
                break
    return choice
