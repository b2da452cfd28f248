"""Loops over adjacent columns, which LLVM vectorises; compiled by Numba.

Arrays are indexed by row and column: a view of a row would count a reference each time, which takes longer than the
loop over its columns.
"""

from typing import Any

import numpy as np

from ..jit import lean


@lean
def find_bounds(codes: Any, members: Any, low: Any, high: Any) -> None:
    """Find the lowest and the highest code of each column in a node."""
    width = np.uint64(codes.shape[1])
    first = np.uint64(members[0])
    for column in range(width):
        low[column] = high[column] = codes[first, column]
    for at in range(np.uint64(len(members))):
        row = np.uint64(members[at])
        for column in range(width):
            low[column] = min(low[column], codes[row, column])
            high[column] = max(high[column], codes[row, column])


@lean
def count_alike(classes: Any, counts: Any, which: Any, at: Any, start: Any, stop: Any) -> None:
    """Count in each column, in row `which` of `counts`, the rows from `start` to `stop` of the class of row `at`."""
    width = np.uint64(classes.shape[1])
    for column in range(width):
        counts[which, column] = 0
    for row in range(start, stop):
        for column in range(width):
            counts[which, column] += np.uint8(classes[row, column] == classes[at, column])


@lean
def _add_sides(own: Any, label: Any, there: Any, sides: Any, rows: Any) -> None:
    """Add the squared counts of class `each` on both sides, and its count on the left, of `there` rows in all."""
    for column in range(np.uint64(len(rows))):
        count = np.int32(own[label, column])
        rest = np.int32(there) - count
        sides[0, column] += count * count
        sides[1, column] += rest * rest
        rows[column] += count


@lean
def _clear(sides: Any, rows: Any) -> None:
    for column in range(np.uint64(len(rows))):
        sides[0, column] = sides[1, column] = rows[column] = 0


@lean
def count_left(codes: Any, members: Any, total: Any, highest: Any, sides: Any, rows: Any, own: Any) -> None:
    """Count the rows up to the `highest` code of each column: the squared counts of both sides, the number there.

    `members` are in the order of their classes, of which `total` has the numbers: less than 2^16 rows in all. `own`,
    of shape (1, width), is memory for the counts of a class.
    """
    width, start, first = np.uint64(codes.shape[1]), np.uint64(0), np.uint64(0)
    _clear(sides, rows)
    for label in range(np.uint64(len(total))):
        if total[label]:
            end = start + np.uint64(total[label])
            for column in range(width):
                own[first, column] = 0
            for at in range(start, end):
                row = np.uint64(members[at])
                for column in range(width):
                    own[first, column] += np.uint16(codes[row, column] <= highest[column])
            _add_sides(own, first, total[label], sides, rows)
            start = end


@lean
def pass_level(counts: Any, total: Any, here: Any, sides: Any, rows: Any, level: Any) -> None:
    """Move the rows of a level to the left: the counts there, the squared counts of both sides, the number there.

    `counts` (classes, levels, width) and `here` (classes, width) have 16 bits, the squares and the number 32.
    """
    _clear(sides, rows)
    for label in range(np.uint64(len(total))):
        if total[label]:
            for column in range(np.uint64(len(rows))):
                here[label, column] += counts[label, level, column]
            _add_sides(here, label, total[label], sides, rows)
