"""The best split of a node of a tree of sorted features, as scikit-learn finds it, compiled by Numba.

Counts are whole numbers, so that sums of them do not depend on the order of rows. A nominal feature, which scikit-learn
sees as a column of 0 and 1 for each category, is one list of rows: one pass counts the classes of all its categories.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats.learners.compiled.jit import inlined, lean

from ._forest_folds import SAME, Settings, draw_place, floor_of, improvement, promising

#: So few rows are sorted by each column that is tried, which costs less than keeping them in order.
FEW: Final = 6

#: Draws that are counted in 16 bits with a sign.
_MOST_IN_16: Final = 2**15


class Features(NamedTuple):
    """The features of the rows."""

    #: The feature of each column: a number, or one of the categories of a nominal feature; array of int64, shape
    #: (columns,).
    feature_of: Any
    #: array of bool, shape (features,).
    nominal: Any
    #: The numbers; array of float32, shape (features, n).
    values: Any
    #: The column in which a row has 1, for nominal features; array of uint32, shape (features, n).
    categories: Any


class Sample(NamedTuple):
    """The rows of a tree: their features, class and number of draws.

    ``marks`` are how often in the lowest bits, and the same in the bits of the class, unless it is the first. Of more
    than four classes they have no meaning.
    """

    features: Features
    label: Any
    weight: Any
    marks: Any


class Split(NamedTuple):
    """A split: its column or -1, threshold, the different rows that go left, all drawn that do, and squared counts."""

    column: int
    threshold: float
    cut: int
    n_left: int
    left_squares: int
    right_squares: int


class Categories(NamedTuple):
    """Of each feature and category the node in which it was counted last; different rows, and draws by class, there."""

    of_feature: Any
    of_category: Any
    rows: Any
    classes: Any


class Node(NamedTuple):
    """A node: its number, the list that is known to have its rows and where they are in it, draws, squared counts."""

    number: int
    listed: int
    start: int
    end: int
    n: int
    squares: int


class Room(NamedTuple):
    """Memory that each node overwrites.

    Counts of classes in all and to the left, a few rows in order, sums of marks up to each row, what a split there
    may improve by, categories.
    """

    total: Any
    left: Any
    ordered: Any
    sums: Any
    reach: Any
    categories: Categories


@inlined
def bits_of(n_classes: int) -> int:
    """The bits of a count in `Sample.marks`: of two classes 32, of three or four 16."""
    return 32 if n_classes == 2 else 16


@inlined
def _reach(sums: Any, total: Any, n: int, least: float, reach: Any) -> Any:
    """Lower `least` to the bound of the improvement of the split behind each row; return the number of splits left.

    Let L of t draws to the left, and T of all n, be of a class. A split improves by a constant and the sum over classes
    of (n L - T t)^2, over n t (n - t); these differences sum to 0. LLVM makes vectors of what is done here.
    """
    hits, of_all = np.int64(0), float(n)
    if len(total) == 2:
        ones = float(total[1])
        for at in range(np.uint64(len(sums))):
            n_left, ones_left = float(sums[at] & 0xFFFFFFFF), float(sums[at] >> 32)
            beyond = of_all * ones_left - ones * n_left
            left = 2.0 * (beyond * beyond) - least * (n_left * (of_all - n_left))
            reach[at] = left
            hits += np.int64(left >= 0)
        return hits
    first, second, third = float(total[1]), float(total[2]), float(total[3] if len(total) > 3 else 0)
    for at in range(np.uint64(len(sums))):
        n_left = float(sums[at] & 0xFFFF)
        one = of_all * float(sums[at] >> 16 & 0xFFFF) - first * n_left
        two = of_all * float(sums[at] >> 32 & 0xFFFF) - second * n_left
        three = of_all * float(sums[at] >> 48) - third * n_left
        rest = one + two + three
        left = one * one + two * two + three * three + rest * rest - least * (n_left * (of_all - n_left))
        reach[at] = left
        hits += np.int64(left >= 0)
    return hits


@inlined
def _may_improve(marks: Any, members: Any, total: Any, n: int, squares: int, best: float, sums: Any, reach: Any) -> Any:
    """True if some threshold may improve by as much as `best`; sums of marks up to each row."""
    so_far: Any = np.int64(0)
    for at in range(np.uint64(len(sums))):
        so_far += marks[members[at]]
        sums[at] = so_far
    return _reach(sums, total, n, (floor_of(best, n) - squares / float(n)) * float(n), reach) > 0


@lean
def _best_in_reach(
    sums: Any, reach: Any, values: Any, members: Any, total: Any, n: int, smallest: int, best: float
) -> Any:
    """The same as `_best_threshold`, from sums of marks: only splits that may be as good as `best` are compared."""
    n_classes, bits = len(total), bits_of(len(total))
    place, n_there, left_there, right_there = -1, 0, 0, 0
    floor = floor_of(best, n)
    for at in range(smallest - 1, len(members) - smallest):
        if not (reach[at] >= 0 and values[members[at + 1]] > values[members[at]] + SAME):
            continue
        n_left: Any = np.int64(sums[at] & (1 << bits) - 1)
        rest, left_squares, right_squares = n_left, 0, 0
        for label in range(1, n_classes):
            own: Any = np.int64(sums[at] >> (bits * label) & (1 << bits) - 1)
            rest -= own
            left_squares += own * own
            right_squares += (total[label] - own) ** 2
        left_squares += rest * rest
        right_squares += (total[0] - rest) ** 2
        if not promising(left_squares, n_left, right_squares, n - n_left, floor):
            continue
        gain = improvement(left_squares, n_left, right_squares, n - n_left)[0]
        if gain > best:
            best, place, n_there, left_there, right_there = gain, at + 1, n_left, left_squares, right_squares
            floor = floor_of(best, n)
    return place, best, n_there, left_there, right_there


@lean
def _best_threshold(
    sample: Sample, values: Any, members: Any, total: Any, n: int, squares: int, smallest: int, best: float, left: Any
) -> Any:
    """The place in `members`, in order, where parting improves most and by more than `best`, or -1; and the left."""
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


@lean
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
def _split_of_category(column: int, rows: int, inside: int, counts: Any, total: Any) -> Any:
    """The split that sends the rows of a category to the right, and its improvement."""
    without, within, n, n_inside = 0, 0, 0, 0
    for own_class in range(len(total)):
        own = counts[own_class]
        n += total[own_class]
        n_inside += own
        within += own * own
        without += (total[own_class] - own) ** 2
    split = Split(column, 0.0, rows - inside, n - n_inside, without, within)
    return split, improvement(without, n - n_inside, within, n_inside)[0]


@lean
def best_split(
    sample: Sample, rows: Any, node: Node, settings: Settings, columns: Any, known: int, state: int, room: Room
) -> Any:
    """The best split of a node among some columns, how many are constant (put first), and the state of the sequence."""
    features, counts, m = sample.features, room.categories, node.end - node.start
    split, best = Split(-1, 0.0, -1, 0, 0, 0), -np.inf
    constant, drawn, undrawn, visited = known, 0, len(columns), 0
    while undrawn > constant and (visited < settings.tried or visited <= constant - known + drawn):
        visited += 1
        at, drawn, state = draw_place(columns, known, constant, drawn, undrawn, state)
        if at < 0:
            continue
        column = columns[at]
        feature = features.feature_of[column]
        nominal, values, inside = features.nominal[feature], features.values[feature], 0
        members = rows[feature if m > FEW else node.listed, node.start : node.end]
        if nominal:
            if counts.of_feature[feature] != node.number:
                counts.of_feature[feature] = node.number
                _count_categories(sample, features.categories[feature], members, node.number, counts)
            inside = counts.rows[column] if counts.of_category[column] == node.number else 0
            varies = 0 < inside < m
        else:
            if m <= FEW:
                _sort(values, members, room.ordered)
                members = room.ordered[:m]
            varies = values[members[m - 1]] > values[members[0]] + SAME
        to = undrawn - 1 if varies else constant
        columns[at], columns[to] = columns[to], column
        if not varies:
            constant += 1
            continue
        undrawn -= 1
        if nominal:
            if min(inside, m - inside) >= settings.smallest:
                candidate, gain = _split_of_category(column, m, inside, counts.classes[column], room.total)
                split, best = (candidate, gain) if gain > best else (split, best)
            continue
        if len(room.total) == 2 or (len(room.total) <= 4 and node.n < _MOST_IN_16):
            sums, reach = room.sums[: m - 1], room.reach[: m - 1]
            if not _may_improve(sample.marks, members, room.total, node.n, node.squares, best, sums, reach):
                continue
            cut, best, n_left, left_squares, right_squares = _best_in_reach(
                sums, reach, values, members, room.total, node.n, settings.smallest, best
            )
        else:
            cut, best, n_left, left_squares, right_squares = _best_threshold(
                sample, values, members, room.total, node.n, node.squares, settings.smallest, best, room.left
            )
        if cut >= 0:
            threshold = float(values[members[cut - 1]]) / 2.0 + float(values[members[cut]]) / 2.0
            split = Split(column, threshold, cut, n_left, left_squares, right_squares)
    return split, constant, state
