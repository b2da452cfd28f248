"""Find the best split of a node as scikit-learn does (`best_split`), compiled by Numba.

Counts are integers, so their sums do not depend on the order of rows. `best_split` draws columns in scikit-learn's
order, and searches each of them in one of these ways: a few rows are sorted; a column of few levels is searched by
counts of classes in each level, any other in the order of its values, or at a random threshold. A nominal feature, for
which scikit-learn has a column of 0 and 1 for each category, needs one pass that counts the classes of all categories.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats.learners.compiled.jit import lean

from ._forest_folds import SAME, Sample, Settings, draw_place, improvement, next_draw
from ._levels import Levels, divide_levels, search_levels

#: Up to this many rows, sorting by each column that is tried is faster than sorted lists or counts by level.
FEW: Final = 6


class Split(NamedTuple):
    """A split: column or -1, threshold, distinct rows on the left, draws on the left, impurities of both sides."""

    column: int
    threshold: float
    cut: int
    n_left: int
    left_impurity: float
    right_impurity: float


class Categories(NamedTuple):
    """Last node that counted a feature or category; distinct rows and draws by class in that node."""

    of_feature: Any
    of_category: Any
    rows: Any
    classes: Any


class Node(NamedTuple):
    """A node: number, range of its rows in the lists, draws, squared counts."""

    number: int
    start: int
    end: int
    n: int
    squares: int


class Room(NamedTuple):
    """Memory that each node overwrites.

    Counts of classes in total and on the left, a few sorted rows, categories. By level: draws of each class and
    distinct rows, 0 between searches.
    """

    total: Any
    left: Any
    ordered: Any
    categories: Categories
    by_level: Any
    levels: Levels


@lean
def _best_cut(
    sample: Sample, values: Any, members: Any, node: Node, settings: Settings, best: float, total: Any, left: Any
) -> Any:
    """Return the best place to split the sorted `members`, its improvement, draws on the left and impurities.

    The place is -1 if none improves on `best`.
    """
    left[:] = 0
    left_squares, right_squares, n_left = 0, node.squares, 0
    place, n_there, left_there, right_there = -1, 0, 0.0, 0.0
    n, smallest = node.n, settings.smallest
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
        gain, on_left, on_right = improvement(
            settings.terms, left, total, left_squares, n_left, right_squares, n - n_left, best
        )
        if gain > best:
            best, place, n_there, left_there, right_there = gain, cut, n_left, on_left, on_right
    return place, best, n_there, left_there, right_there


@lean
def _ordered_split(
    sample: Sample, column: int, values: Any, members: Any, node: Node, settings: Settings, best: float, room: Room
) -> Any:
    """Return the best split of a column, its improvement, and whether the column varies; `members` are sorted by it."""
    split, last = Split(-1, 0.0, -1, 0, 0.0, 0.0), len(members) - 1
    if not values[members[last]] > values[members[0]] + SAME:
        return split, best, False
    cut, gain, n_left, on_left, on_right = _best_cut(
        sample, values, members, node, settings, best, room.total, room.left
    )
    if cut >= 0:
        threshold = float(values[members[cut - 1]]) / 2.0 + float(values[members[cut]]) / 2.0
        split = Split(column, threshold, cut, n_left, on_left, on_right)
    return split, gain, True


@lean
def _level_split(
    sample: Sample, column: int, feature: int, members: Any, n: int, settings: Settings, best: float, room: Room
) -> Any:
    """Do the same as `_ordered_split` for a column of few levels, by counts of classes in each level."""
    codes, total, left, by_level = sample.features.codes, room.total, room.left, room.by_level
    n_classes, smallest = len(total), settings.smallest
    low: Any = np.int64(codes[feature, members[0]])
    high: Any = low
    for row in members:
        level: Any = np.int64(codes[feature, row])
        low, high = min(low, level), max(high, level)
        by_level[level, sample.label[row]] += sample.weight[row]
        by_level[level, n_classes] += 1
    left[:] = 0
    cut: Any = 0
    n_left, below, above, last = 0, -1, -1, -1
    split = Split(-1, 0.0, -1, 0, 0.0, 0.0)
    for level in range(low, high + 1):
        rows = by_level[level, n_classes]
        if rows == 0:
            continue
        by_level[level, n_classes] = 0
        above = level if last == below else above
        last = level
        left_squares, right_squares = 0, 0
        for label in range(n_classes):
            own = by_level[level, label]
            by_level[level, label] = 0
            so_far = left[label] + own
            left[label] = so_far
            n_left += own
            left_squares += so_far * so_far
            right_squares += (total[label] - so_far) ** 2
        cut += rows
        if cut < smallest or len(members) - cut < smallest:
            continue
        gain, on_left, on_right = improvement(
            settings.terms, left, total, left_squares, n_left, right_squares, n - n_left, best
        )
        if gain > best:
            best, below = gain, level
            split = Split(column, 0.0, cut, n_left, on_left, on_right)
    if below >= 0:
        levels = sample.features.levels
        threshold = float(levels[feature, below]) / 2.0 + float(levels[feature, above]) / 2.0
        split = Split(column, threshold, split.cut, split.n_left, split.left_impurity, split.right_impurity)
    return split, best, low < high


@lean
def _sort(values: Any, members: Any, ordered: Any) -> None:
    """Sort a few rows by their values."""
    for at in range(len(members)):
        row = members[at]
        value = values[row]
        place = at
        while place > 0 and values[ordered[place - 1]] > value:
            ordered[place] = ordered[place - 1]
            place -= 1
        ordered[place] = row


@lean
def _count_categories(sample: Sample, categories: Any, members: Any, node: int, counts: Categories) -> None:
    """Count the rows of a node in each category, by class."""
    for row in members:
        category = categories[row]
        if counts.of_category[category] != node:
            counts.of_category[category] = node
            counts.rows[category] = 0
            counts.classes[category] = 0
        counts.rows[category] += 1
        counts.classes[category, sample.label[row]] += sample.weight[row]


@lean
def _split_of_counts(
    column: int, threshold: float, cut: int, left: Any, total: Any, settings: Settings, best: float
) -> Any:
    """Return the split of a column with these counts of classes on the left, and its improvement."""
    n_left, n_right, left_squares, right_squares = 0, 0, 0, 0
    for label in range(len(total)):
        own, rest = left[label], total[label] - left[label]
        n_left += own
        n_right += rest
        left_squares += own * own
        right_squares += rest * rest
    gain, on_left, on_right = improvement(
        settings.terms, left, total, left_squares, n_left, right_squares, n_right, best
    )
    return Split(column, threshold, cut, n_left, on_left, on_right), gain


@lean
def _category_split(
    sample: Sample, column: int, feature: int, members: Any, node: Node, settings: Settings, best: float, room: Room
) -> Any:
    """Return the split by a category, its improvement, and whether the category varies."""
    split, counts, left, m = Split(-1, 0.0, -1, 0, 0.0, 0.0), room.categories, room.left, len(members)
    if counts.of_feature[feature] != node.number:
        counts.of_feature[feature] = node.number
        _count_categories(sample, sample.features.codes[feature], members, node.number, counts)
    inside = counts.rows[column] if counts.of_category[column] == node.number else 0
    if min(inside, m - inside) < max(settings.smallest, 1):
        return split, best, 0 < inside < m
    for label in range(len(left)):
        left[label] = room.total[label] - counts.classes[column, label]
    return *_split_of_counts(column, 0.0, m - inside, left, room.total, settings, best), True


@lean
def _random_split(
    sample: Sample, column: int, values: Any, members: Any, settings: Settings, best: float, state: int, room: Room
) -> Any:
    """Return the split at a threshold drawn as by scikit-learn, its improvement, and whether the column varies."""
    split, left = Split(-1, 0.0, -1, 0, 0.0, 0.0), room.left
    low = high = values[members[0]]
    for row in members:
        low, high = min(low, values[row]), max(high, values[row])
    if not high > low + SAME:
        return split, best, False
    # Numba's float() does not convert from 32 bits.
    least, most = np.float64(low), np.float64(high)
    threshold = (most - least) * float(state & 0x7FFFFFFF) / 2147483647.0 + least
    threshold = least if threshold == most else threshold
    left[:] = 0
    cut = np.int64(0)
    for row in members:
        goes = np.int64(np.float64(values[row]) <= threshold)
        cut += goes
        left[sample.label[row]] += sample.weight[row] * goes
    if min(cut, len(members) - cut) < settings.smallest:
        return split, best, True
    return *_split_of_counts(column, threshold, cut, left, room.total, settings, best), True


@lean
def best_split(
    sample: Sample, rows: Any, node: Node, settings: Settings, columns: Any, known: int, state: int, room: Room
) -> Any:
    """Return the best split of a node, the number of constant columns (put first), and the generator's state."""
    features, start, end = sample.features, node.start, node.end
    members, m = rows[0, start:end], end - start
    split, best = Split(-1, 0.0, -1, 0, 0.0, 0.0), -np.inf
    constant, drawn, undrawn, visited = known, 0, len(columns), 0
    at_once = len(room.levels.codes) > 0 and m > FEW
    if at_once:
        search_levels(sample, members, room.total, settings.smallest, room.levels)
    while undrawn > constant and (visited < settings.tried or visited <= constant - known + drawn):
        visited += 1
        at, drawn, state = draw_place(columns, known, constant, drawn, undrawn, state)
        if at < 0:
            continue
        column = columns[at]
        feature = features.feature_of[column]
        values, own_list = features.values[feature], features.list_of[feature]
        if features.nominal[feature]:
            trial, gain, varies = _category_split(sample, column, feature, members, node, settings, best, room)
        elif at_once:
            gain, varies = room.levels.gain[feature], room.levels.varies[feature] > 0
            trial = Split(column, 0.0, room.levels.below[feature], 0, 0.0, 0.0)
        elif settings.drawn_thresholds:
            after = next_draw(state)
            trial, gain, varies = _random_split(sample, column, values, members, settings, best, after, room)
            state = after if varies else state
        elif m <= FEW:
            _sort(values, members, room.ordered)
            trial, gain, varies = _ordered_split(sample, column, values, room.ordered[:m], node, settings, best, room)
        elif own_list:
            ordered = rows[own_list, start:end]
            trial, gain, varies = _ordered_split(sample, column, values, ordered, node, settings, best, room)
        else:
            trial, gain, varies = _level_split(sample, column, feature, members, node.n, settings, best, room)
        to = undrawn - 1 if varies else constant
        columns[at], columns[to] = columns[to], column
        undrawn -= varies
        constant += not varies
        if gain > best:
            split, best = trial, gain
    if at_once and split.column >= 0:
        feature, below, left = features.feature_of[split.column], split.cut, room.left
        cut, threshold = divide_levels(features, feature, below, members, sample.label, left)
        split = _split_of_counts(split.column, threshold, cut, left, room.total, settings, -np.inf)[0]
    return split, constant, state
