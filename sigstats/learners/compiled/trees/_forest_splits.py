"""The best split of a node of a tree of a forest, as scikit-learn finds it, compiled by Numba.

Some of the columns are tried. Counts are whole numbers, so that sums of them
do not depend on the order of rows, and what is compared is made of the same floats in the same order as scikit-learn's.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled, inlined

from ._coded_splits import SAME
from ._tree_splits import draw_place, floor_of, improvement, promising

#: So few rows are sorted by each column that is tried, which costs less than keeping them in order.
FEW: Final = 16


class Sample(NamedTuple):
    """The rows of a tree: values (features, n), and of each row the class and how often it was drawn."""

    values: Any
    label: Any
    weight: Any


class Settings(NamedTuple):
    """What trees are grown by: the largest depth, the fewest rows of a node that is split and of a leaf, and so on."""

    deepest: int
    fewest: int
    smallest: int
    tried: int
    drawn_thresholds: bool
    n_classes: int


class Split(NamedTuple):
    """A split: its column or -1, threshold, the different rows that go left, all drawn that do, and squared counts."""

    feature: int
    threshold: float
    cut: int
    n_left: int
    left_squares: int
    right_squares: int


@inlined
def count(sample: Sample, members: Any, counts: Any) -> Any:
    """Count classes into `counts`; the number drawn and the sum of squared counts."""
    counts[:] = 0
    for row in members:
        counts[sample.label[row]] += sample.weight[row]
    drawn, squares = 0, 0
    for count in counts:
        drawn += count
        squares += count * count
    return drawn, squares


@compiled
def _best_threshold(
    sample: Sample, feature: int, members: Any, total: Any, n: int, squares: int, smallest: int, best: float, left: Any
) -> Any:
    """The place in `members`, in order, where parting improves most and by more than `best`, or -1; and the left."""
    values = sample.values[feature]
    left[:] = 0
    floor = floor_of(best, n)
    left_squares, right_squares, n_left = 0, squares, 0
    place, n_there, left_there, right_there = -1, 0, 0, 0
    previous = values[members[0]]
    for cut in range(1, len(members)):
        row = members[cut - 1]
        own, weight = sample.label[row], sample.weight[row]
        so_far = left[own]
        left[own] = so_far + weight
        left_squares += weight * (2 * so_far + weight)
        right_squares -= weight * (2 * (total[own] - so_far) - weight)
        n_left += weight
        value = values[members[cut]]
        distinct = value > previous + SAME
        previous = value
        if not distinct or cut < smallest or len(members) - cut < smallest:
            continue
        if not promising(left_squares, n_left, right_squares, n - n_left, floor):
            continue
        gain = improvement(left_squares, n_left, right_squares, n - n_left)[0]
        if gain > best:
            best, place, n_there, left_there, right_there = gain, cut, n_left, left_squares, right_squares
            floor = floor_of(best, n)
    return place, best, n_there, left_there, right_there


@compiled
def _sort(values: Any, members: Any, ordered: Any) -> None:
    """Put a few rows in the order of their values."""
    for at in range(len(members)):
        row = members[at]
        value = values[row]
        place = at
        while place > 0 and values[ordered[place - 1]] > value:
            ordered[place] = ordered[place - 1]
            place -= 1
        ordered[place] = row


@compiled
def _sort_out(columns: Any, at: int, varies: bool, undrawn: int, constant: int) -> tuple[int, int]:
    """Put a column that was looked at to those searched, which begin at `undrawn`, or to the constant ones."""
    if varies:
        undrawn -= 1
        columns[at], columns[undrawn] = columns[undrawn], columns[at]
    else:
        columns[at], columns[constant] = columns[constant], columns[at]
        constant += 1
    return undrawn, constant


@compiled
def best_split(
    sample: Sample,
    rows: Any,
    place: tuple[int, int, int],
    settings: Settings,
    columns: Any,
    known: int,
    state: int,
    total: Any,
    n: int,
    squares: int,
    left: Any,
    ordered: Any,
) -> Any:
    """The best split of a node among some columns, how many are constant (put first), and the state of the sequence.

    ``place`` is the list of `rows` that is known to have those of the node, and where they are in it.
    """
    listed, start, end = place
    m = end - start
    split, best = Split(-1, 0.0, -1, 0, 0, 0), -np.inf
    constant, drawn, undrawn, visited = known, 0, len(columns), 0
    while undrawn > constant and (visited < settings.tried or visited <= constant - known + drawn):
        visited += 1
        at, drawn, state = draw_place(columns, known, constant, drawn, undrawn, state)
        if at < 0:
            continue
        feature = columns[at]
        values = sample.values[feature]
        if m <= FEW:
            members = ordered[:m]
            _sort(values, rows[listed, start:end], members)
            low, high = values[members[0]], values[members[-1]]
        else:
            members = rows[feature, start:end]
            low, high = values[members[0]], values[members[-1]]
        varies = high > low + SAME
        undrawn, constant = _sort_out(columns, at, varies, undrawn, constant)
        if not varies:
            continue
        cut, best, n_left, left_squares, right_squares = _best_threshold(
            sample, feature, members, total, n, squares, settings.smallest, best, left
        )
        if cut >= 0:
            threshold = float(values[members[cut - 1]]) / 2.0 + float(values[members[cut]]) / 2.0
            split = Split(feature, threshold, cut, n_left, left_squares, right_squares)
    return split, constant, state
