"""The best split of a node of a classification tree, as scikit-learn finds it, compiled by Numba.

The improvement by a split is made of the same floats in the same order as scikit-learn's, and columns are searched in
the order that it draws, as the first of equal splits wins.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled

#: scikit-learn holds values no farther apart than this to be equal.
_SAME: Final = np.float32(1e-7)
EPSILON: Final = float(np.finfo(np.float64).eps)


@compiled
def class_counts(label: Any, members: Any, counts: Any) -> int:
    """Count classes into `counts`, and return the sum of the squares."""
    counts[:] = 0
    for row in members:
        counts[label[row]] += 1
    squares = 0
    for count in counts:
        squares += count * count
    return squares


@compiled
def improvement(left_squares: int, n_left: int, right_squares: int, n_right: int) -> Any:
    """What scikit-learn compares splits by, and the impurities of the parts."""
    left_impurity = 1.0 - left_squares / (float(n_left) * float(n_left))
    right_impurity = 1.0 - right_squares / (float(n_right) * float(n_right))
    return -float(n_right) * right_impurity - float(n_left) * left_impurity, left_impurity, right_impurity


@compiled
def floor_of(best: float, n: float) -> float:
    """What the squares of both parts over their numbers come to, at least, in a split as good as `best`.

    Rounding of `improvement` is far below what is left here.
    """
    return best + n - 1e-9 * n


@compiled
def promising(left_squares: int, n_left: int, right_squares: int, n_right: int, floor: float) -> bool:
    """Whether a split may be as good as what `floor_of` was taken of: without a division, as most are not."""
    lefts, rights = float(n_left), float(n_right)
    return float(left_squares) * rights + float(right_squares) * lefts >= floor * (lefts * rights)


@compiled
def _best_threshold(
    values: Any, label: Any, members: Any, total: Any, squares: int, smallest: int, best: float, left: Any
) -> Any:
    """The place in `members`, sorted by `values`, where parting improves most and by more than `best`, or -1."""
    n = len(members)
    left[:] = 0
    left_squares, right_squares = 0, squares
    place = -1
    row = members[0]
    previous = values[row]
    for cut in range(1, n):
        own = label[row]
        so_far = left[own]
        left[own] = so_far + 1
        left_squares += 2 * so_far + 1
        right_squares -= 2 * (total[own] - so_far) - 1
        row = members[cut]
        value = values[row]
        distinct = value > previous + _SAME
        previous = value
        rest = n - cut
        if not distinct or cut < smallest or rest < smallest:
            continue
        gain = improvement(left_squares, cut, right_squares, rest)[0]
        if gain > best:
            best, place = gain, cut
    return place, best


class Rows(NamedTuple):
    """The rows from which trees are grown, as `predict_fold` has them."""

    values: Any
    categories: Any
    feature_of: Any
    nominal: Any
    label: Any


class CategoryCounts(NamedTuple):
    """How many rows of a node are in each category, and by class; and for which node each was counted last."""

    of_feature: Any
    of_category: Any
    ones: Any
    classes: Any


@compiled
def _count_categories(categories: Any, label: Any, members: Any, node: int, counts: CategoryCounts) -> None:
    """Count the rows of a node in each category, by class."""
    for row in members:
        category = categories[row]
        if counts.of_category[category] != node:
            counts.of_category[category] = node
            counts.ones[category] = 0
            counts.classes[category] = 0
        counts.ones[category] += 1
        counts.classes[category, label[row]] += 1


@compiled
def squares_of_parts(total: Any, inside: Any) -> Any:
    """The sums of squared class counts without and with the rows that `inside` counts."""
    without, within = 0, 0
    for own_class in range(len(total)):
        within += inside[own_class] ** 2
        without += (total[own_class] - inside[own_class]) ** 2
    return without, within


@compiled
def next_draw(state: int) -> int:
    """The next number of scikit-learn's sequence: an xorshift of 32 bits."""
    state = (state ^ (state << 13)) & 0xFFFFFFFF
    state ^= state >> 17
    return (state ^ (state << 5)) & 0xFFFFFFFF


@compiled
def draw_place(columns: Any, known: int, constant: int, drawn: int, undrawn: int, state: int) -> tuple[int, int, int]:
    """The place of the next column to look at, how many known constants were drawn, and the state of the sequence.

    The place is -1 if a known constant was drawn. In `columns` stand known constants that were drawn, known constants,
    constants found in this node, those not drawn yet, and from `undrawn` on those that were searched.
    """
    state = next_draw(state)
    at = drawn + (state & 0x7FFFFFFF) % (undrawn - (constant - known) - drawn)
    if at < known:
        columns[drawn], columns[at] = columns[at], columns[drawn]
        return -1, drawn + 1, state
    return at + constant - known, drawn, state


@compiled
def best_split(
    data: Rows,
    rows: Any,
    columns: Any,
    node: int,
    start: int,
    end: int,
    known: int,
    smallest: int,
    state: int,
    total: Any,
    squares: int,
    left: Any,
    counts: CategoryCounts,
) -> Any:
    """The best split of a node: its column, or -1, and how many rows go left.

    And how many columns are constant, which are put first in `columns`, and where the sequence of draws is.
    """
    n = end - start
    split, cut, best = -1, -1, -np.inf
    constant = known
    drawn, undrawn = 0, len(columns)
    while undrawn > constant:
        at, drawn, state = draw_place(columns, known, constant, drawn, undrawn, state)
        if at < 0:
            continue
        column = columns[at]
        feature = data.feature_of[column]
        members = rows[feature, start:end]
        if data.nominal[feature]:
            if counts.of_feature[feature] != node:
                counts.of_feature[feature] = node
                _count_categories(data.categories[feature], data.label, members, node, counts)
            inside = counts.ones[column] if counts.of_category[column] == node else 0
            varies = 0 < inside < n
        else:
            varies = data.values[feature, members[n - 1]] > data.values[feature, members[0]] + _SAME
        if not varies:
            columns[at], columns[constant] = columns[constant], column
            constant += 1
            continue
        undrawn -= 1
        columns[at], columns[undrawn] = columns[undrawn], column
        if data.nominal[feature]:
            if inside < smallest or n - inside < smallest:
                continue
            left_squares, right_squares = squares_of_parts(total, counts.classes[column])
            gain = improvement(left_squares, n - inside, right_squares, inside)[0]
            if gain > best:
                split, cut, best = column, n - inside, gain
        else:
            place, best = _best_threshold(
                data.values[feature], data.label, members, total, squares, smallest, best, left
            )
            if place >= 0:
                split, cut = column, place
    return split, cut, constant, state
