"""The columns that are tried in a node of a forest's tree of coded columns, compiled by Numba.

A code is the rank of a value among the distinct values of its column, and does not depend on labels or folds. Rows lie
side by side, so that the lowest and the highest codes of all columns in a node are found by vector instructions. Which
columns are tried depends on nothing else: they are drawn first, as scikit-learn draws them, and searched then.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats._common.compiled import inlined

from ._tree_splits import draw_place, next_draw

#: scikit-learn holds values no farther apart than this to be equal.
SAME: Final = np.float32(1e-7)


class Coded(NamedTuple):
    """The rows of a tree.

    ``codes`` (n, width) are filled with zeros beyond the columns, ``columns`` (features, n) are the same by column, and
    ``values`` (features, codes) what they stand for. Of each row, ``label`` is the class and ``weight`` how often it
    was drawn; ``marks`` are 1 and the weight, in the upper and the lower 32 bits.
    """

    codes: Any
    columns: Any
    values: Any
    label: Any
    weight: Any
    marks: Any


class Choice(NamedTuple):
    """The split of a node: its column or -1, the highest code that goes left, rows and draws there, squared counts."""

    feature: Any
    code: Any
    threshold: Any
    cut: Any
    n_left: Any
    left_squares: Any
    right_squares: Any


class Tried(NamedTuple):
    """The lowest and highest code of each column in a node; the columns to search, and a draw for the threshold."""

    lowest: Any
    highest: Any
    columns: Any
    draws: Any


@inlined
def find_bounds(codes: Any, members: Any, tried: Tried) -> None:
    """Find the lowest and the highest code of each column in a node, four rows at a time."""
    lowest, highest, m = tried.lowest, tried.highest, len(members)
    width = codes.shape[1]
    first = members[0]
    for column in range(width):
        lowest[column] = codes[first, column]
        highest[column] = codes[first, column]
    start = 1 + (m - 1) % 4
    for at in range(1, start):
        row = members[at]
        for column in range(width):
            lowest[column] = min(lowest[column], codes[row, column])
            highest[column] = max(highest[column], codes[row, column])
    for at in range(start, m, 4):
        a, b, c, d = members[at], members[at + 1], members[at + 2], members[at + 3]
        for column in range(width):
            p, q, r, s = codes[a, column], codes[b, column], codes[c, column], codes[d, column]
            lowest[column] = min(lowest[column], p, q, r, s)
            highest[column] = max(highest[column], p, q, r, s)


@inlined
def draw_columns(
    values: Any, columns: Any, known: int, most: int, with_thresholds: bool, state: int, tried: Tried
) -> tuple[int, int, int]:
    """Draw the columns to search; how many they are, how many are constant (put first), and the state of the sequence.

    ``values`` are those of the codes, ``most`` is how many columns are looked at, constant ones included, as long as
    one that varies is among them.
    """
    constant, drawn, undrawn, visited, found = known, 0, len(columns), 0, 0
    while undrawn > constant and (visited < most or visited <= constant - known + drawn):
        visited += 1
        at, drawn, state = draw_place(columns, known, constant, drawn, undrawn, state)
        if at < 0:
            continue
        feature = columns[at]
        low, high = tried.lowest[feature], tried.highest[feature]
        if low == high or not values[feature, high] > values[feature, low] + SAME:
            columns[at], columns[constant] = columns[constant], feature
            constant += 1
            continue
        undrawn -= 1
        columns[at], columns[undrawn] = columns[undrawn], feature
        if with_thresholds:
            state = next_draw(state)
        tried.columns[found], tried.draws[found] = feature, state & 0x7FFFFFFF
        found += 1
    return found, constant, state


@inlined
def code_below(values: Any, threshold: float, low: Any, high: Any) -> Any:
    """The highest code from `low` to below `high` whose value is not above the threshold; that of `low` is not."""
    low, high = np.int64(low), np.int64(high)
    while high - low > 1:
        middle = (low + high) >> 1
        if values[middle] <= threshold:
            low = middle
        else:
            high = middle
    return low
