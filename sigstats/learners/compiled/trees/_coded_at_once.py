"""The best split of a node, searched in many columns at once, compiled by Numba.

A line of memory holds the codes of a row in many columns, and rows up to a code are counted in all of them, whether
they were drawn or not: a row takes few instructions of the processor, and none depends on what is compared. Rows are in
the order of their classes.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled, inlined

from ._coded_splits import Choice, Coded, Tried
from ._improvement import floor_of, improvement, promising
from ._lanes import LINE, add, load, multiply, spread, store, subtract, up_to, widen

#: Squares of so many do not fit into the 32 bits that they have.
MANY: Final = 65_536


class Lefts(NamedTuple):
    """Draws to the left, and squared counts to the left and right, by column; and the columns that may be best."""

    counts: Any
    hits: Any


class Best(NamedTuple):
    """The best split so far: its improvement, the place of its column among those that were drawn, and the split."""

    gain: Any
    place: Any
    choice: Any


@compiled
def room_for_lefts(width: int) -> Lefts:
    """Room to count in columns, which fill lines of memory."""
    return Lefts(np.zeros((3, width), dtype=np.uint32), np.zeros(width, dtype=np.uint8))


@inlined
def _count(codes: Any, members: Any, tops: Any, total: Any, counts: Any) -> None:
    """Count rows that weigh one each up to the codes `tops`, class by class."""
    width, most = np.uint64(codes.shape[1]), (1 << (8 * codes.itemsize)) - 1
    for line in range(np.uint64(0), width, np.uint64(LINE // codes.itemsize)):
        top = load(tops, line)
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
        store(counts, line, cut)
        store(counts, width + line, left_squares)
        store(counts, width + width + line, right_squares)


@inlined
def _find_hits(counts: Any, n: int, smallest: int, best: float, hits: Any) -> Any:
    """Find the columns whose splits may be as good as the best one: True if there is any."""
    some, floor = np.uint8(0), floor_of(best, n)
    for column in range(np.uint64(counts.shape[1])):
        cut = np.int32(counts[0, column])
        rest = np.int32(n - cut)
        may = promising(counts[1, column], cut, counts[2, column], rest, floor)
        hits[column] = may & (cut >= smallest) & (rest >= smallest)
        some |= hits[column]
    return some > 0


@inlined
def _better(counts: Any, tops: Any, tried: Tried, found: int, n: int, smallest: int, best: Best, hits: Any) -> Best:
    """The best split so far and up to the codes `tops`; of equal ones that of the column drawn first, and lowest."""
    gain, place, choice = best
    most = 4 * found >= counts.shape[1]
    if most and not _find_hits(counts, n, smallest, gain, hits):
        return best
    for each in range(found):
        column = np.uint64(tried.columns[each])
        if most and not hits[column]:
            continue
        cut, code = np.int64(counts[0, column]), np.int64(tops[column])
        left_squares, right_squares = np.int64(counts[1, column]), np.int64(counts[2, column])
        # Where all go left the gain is not a number, which is neither greater nor equal.
        own = improvement(left_squares, cut, right_squares, n - cut)[0]
        first = (each < place) | ((each == place) & (code < choice.code))
        if ((own > gain) | ((own == gain) & first)) & (min(cut, n - cut) >= smallest):
            gain, place = own, each
            choice = Choice(np.int64(column), code, cut, left_squares, right_squares)
    return Best(gain, place, choice)


@inlined
def best_of_all_levels(
    sample: Coded, members: Any, tried: Tried, found: int, total: Any, smallest: int, lefts: Lefts
) -> Any:
    """Search all columns at once, level by level, of rows that weigh one each."""
    best, low, high = Best(-np.inf, found, Choice(-1, 0, 0, 0, 0)), np.int64(255), np.int64(0)
    for each in range(found):
        column = np.uint64(tried.columns[each])
        low, high = min(low, np.int64(tried.lowest[column])), max(high, np.int64(tried.highest[column]))
    for level in range(low, high):
        tried.tops[:] = level
        _count(sample.codes, members, tried.tops, total, lefts.counts)
        best = _better(lefts.counts, tried.tops, tried, found, len(members), smallest, best, lefts.hits)
    return best.choice
