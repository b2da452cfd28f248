"""The best split of a node of a tree, as scikit-learn finds it, compiled by Numba.

Counts are whole numbers, so that sums of them do not depend on the order of rows. A nominal feature, which scikit-learn
sees as a column of 0 and 1 for each category, is one list of rows: one pass counts the classes of all its categories.
Where columns have few levels classes are counted by level, and where thresholds are drawn up to the threshold.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled, inlined

from ._draws import SAME, Features, Sample, Settings, draw_place, floor_of, improvement, next_draw, promising

#: So few rows are sorted by each column that is tried, which costs less than keeping them in order.
FEW: Final = 16


class Split(NamedTuple):
    """A split: its gain, column or -1, threshold, the draws that go left, and squared counts.

    Of a split by level the threshold is the highest level that goes left.
    """

    gain: float
    column: int
    threshold: float
    n_left: int
    left_squares: int
    right_squares: int


NONE: Final = Split(-np.inf, -1, 0.0, 0, 0, 0)


class Node(NamedTuple):
    """A node: its number, the list that is known to have its rows and where they are in it, draws, squared counts."""

    number: int
    listed: int
    start: int
    end: int
    n: int
    squares: int


class Room(NamedTuple):
    """Memory that each node overwrites: counts of classes in all, left and by level; rows and values in order."""

    total: Any
    left: Any
    of_level: Any
    ordered: Any
    keys: Any
    #: Of each feature and category the node in which it was counted last; different rows, and draws by class, there.
    of_feature: Any
    of_category: Any
    rows: Any
    classes: Any


@inlined
def _bounds(values: Any, members: Any) -> Any:
    """The lowest and the highest value."""
    low = high = values[members[0]]
    for row in members:
        low, high = min(low, values[row]), max(high, values[row])
    return low, high


@inlined
def _best_threshold(
    sample: Sample, column: int, keys: Any, members: Any, node: Node, smallest: int, best: Split, room: Room
) -> Split:
    """The best split so far and of a column, of which `keys` are the values of `members`, in order."""
    left, total, n, floor = room.left, room.total, node.n, floor_of(best.gain, node.n)
    left[:] = 0
    left_squares, right_squares, n_left = 0, node.squares, 0
    for cut in range(np.uint64(1), np.uint64(len(members))):
        row, before, value = members[cut - np.uint64(1)], keys[cut - np.uint64(1)], keys[cut]
        own, weight, below = sample.label[row], sample.weight[row], np.int64(cut)
        so_far = left[own]
        left[own] = so_far + weight
        left_squares += weight * (2 * so_far + weight)
        right_squares -= weight * (2 * (total[own] - so_far) - weight)
        n_left += weight
        if not value > before + SAME or below < smallest or len(members) - below < smallest:
            continue
        if not promising(left_squares, n_left, right_squares, n - n_left, floor):
            continue
        gain = improvement(left_squares, n_left, right_squares, n - n_left)[0]
        if gain > best.gain:
            threshold = float(before) / 2.0 + float(value) / 2.0
            best = Split(gain, column, threshold, n_left, left_squares, right_squares)
            floor = floor_of(gain, n)
    return best


@inlined
def _best_level(
    sample: Sample,
    column: int,
    levels: Any,
    members: Any,
    classes: Any,
    node: Node,
    smallest: int,
    best: Split,
    room: Room,
) -> Split:
    """The same of a column of few levels, by counts of the `classes` that there are in each."""
    left, total, counts, n, m = room.left, room.total, room.of_level, node.n, len(members)
    low, high, cut, n_left, floor = np.int64(255), np.int64(0), 0, 0, floor_of(best.gain, n)
    for row in members:
        own_level = np.uint64(levels[row])
        low, high = min(low, np.int64(own_level)), max(high, np.int64(own_level))
        counts[own_level, sample.label[row]] += (1 << 32) + np.int64(sample.weight[row])
    left[:] = 0
    for level in range(low, high):
        left_squares, right_squares, here = 0, 0, 0
        for own in classes:
            mark = counts[level, own]
            counts[level, own] = 0
            here += mark
            count = left[own] + (mark & 0xFFFFFFFF)
            left[own] = count
            left_squares += count * count
            rest = total[own] - count
            right_squares += rest * rest
        if here == 0:
            continue
        cut += here >> 32
        n_left += here & 0xFFFFFFFF
        if cut < smallest or m - cut < smallest:
            continue
        if not promising(left_squares, n_left, right_squares, n - n_left, floor):
            continue
        gain = improvement(left_squares, n_left, right_squares, n - n_left)[0]
        if gain > best.gain:
            best = Split(gain, column, float(level), n_left, left_squares, right_squares)
            floor = floor_of(gain, n)
    counts[high] = 0
    return best


@inlined
def _at_threshold(
    sample: Sample, column: int, threshold: float, members: Any, node: Node, smallest: int, best: Split, room: Room
) -> Split:
    """The same of a threshold that was drawn."""
    left, total, values = room.left, room.total, sample.features.values[sample.features.feature_of[column]]
    left[:] = 0
    cut: Any = 0
    n_left, left_squares, right_squares = 0, 0, 0
    for row in members:
        goes = np.int64(values[row] <= threshold)
        cut += goes
        left[sample.label[row]] += sample.weight[row] * goes
    if min(cut, len(members) - cut) < smallest:
        return best
    for own in range(len(total)):
        count, rest = left[own], total[own] - left[own]
        n_left += count
        left_squares += count * count
        right_squares += rest * rest
    gain = improvement(left_squares, n_left, right_squares, node.n - n_left)[0]
    return Split(gain, column, threshold, n_left, left_squares, right_squares) if gain > best.gain else best


@inlined
def _sort(values: Any, members: Any, ordered: Any, keys: Any) -> None:
    """Put a few rows, and their values, in the order of these."""
    for at in range(len(members)):
        row = members[at]
        value = values[row]
        place = at
        while place > 0 and keys[place - 1] > value:
            ordered[place], keys[place] = ordered[place - 1], keys[place - 1]
            place -= 1
        ordered[place], keys[place] = row, value


@inlined
def _count_categories(sample: Sample, categories: Any, members: Any, node: int, room: Room) -> None:
    """Count the rows of a node in each category, by class."""
    for row in members:
        category = categories[row]
        if room.of_category[category] != node:
            room.of_category[category] = node
            room.rows[category] = 0
            room.classes[category] = 0
        room.rows[category] += 1
        room.classes[category, sample.label[row]] += sample.weight[row]


@inlined
def _of_category(column: int, node: Node, best: Split, room: Room) -> Split:
    """The same of a category, whose rows go to the right."""
    without, within, inside = 0, 0, 0
    for own_class in range(len(room.total)):
        own = room.classes[column, own_class]
        inside += own
        within += own * own
        without += (room.total[own_class] - own) ** 2
    gain = improvement(without, node.n - inside, within, inside)[0]
    return Split(gain, column, 0.0, node.n - inside, without, within) if gain > best.gain else best


@compiled
def best_split(
    sample: Sample, rows: Any, node: Node, settings: Settings, columns: Any, known: int, state: int, room: Room
) -> Any:
    """The best split of a node among some columns, how many are constant (put first), and the state of the sequence.

    None is better than one that parts the classes, after which columns are drawn, but not searched.
    """
    features, m, smallest, drawn_thresholds = (
        sample.features,
        node.end - node.start,
        settings.smallest,
        settings.drawn_thresholds,
    )
    by_level, listed = len(features.levels) > 0 and m > FEW, rows[node.listed, node.start : node.end]
    best, keys, inside, threshold = NONE, room.keys[:m], 0, 0.0
    classes = np.flatnonzero(room.total) if by_level else room.left
    constant, drawn, undrawn, visited = known, 0, len(columns), 0
    while undrawn > constant and (visited < settings.tried or visited <= constant - known + drawn):
        visited += 1
        at, drawn, state = draw_place(columns, known, constant, drawn, undrawn, state)
        if at < 0:
            continue
        column = columns[at]
        feature, members, varies = features.feature_of[column], listed, False
        nominal, values = features.nominal[feature], features.values[feature]
        if nominal:
            if room.of_feature[feature] != node.number:
                room.of_feature[feature] = node.number
                _count_categories(sample, features.categories[feature], members, node.number, room)
            inside = room.rows[column] if room.of_category[column] == node.number else 0
            varies = 0 < inside < m
        elif by_level:
            levels = features.levels[feature]
            for row in members:
                if levels[row] != levels[members[0]]:
                    varies = True
                    break
        elif drawn_thresholds:
            keys[0], keys[m - 1] = _bounds(values, members)
        elif m <= FEW:
            members = room.ordered[:m]
            _sort(values, listed, members, keys)
        else:
            members = rows[feature, node.start : node.end]
            keys[0], keys[m - 1] = values[members[0]], values[members[m - 1]]
        if not nominal and not by_level:
            varies = keys[m - 1] > keys[0] + SAME
        to = undrawn - 1 if varies else constant
        columns[at], columns[to] = columns[to], column
        constant += not varies
        undrawn -= varies
        if not varies:
            continue
        if drawn_thresholds:
            state, low, high = next_draw(state), float(keys[0]), float(keys[m - 1])
            threshold = (high - low) * float(state & 0x7FFFFFFF) / 2147483647.0 + low
            threshold = low if threshold == high else threshold
        if best.gain >= 0:
            continue
        if nominal:
            if min(inside, m - inside) >= smallest:
                best = _of_category(column, node, best, room)
        elif drawn_thresholds:
            best = _at_threshold(sample, column, threshold, members, node, smallest, best, room)
        elif by_level:
            levels = features.levels[feature]
            best = _best_level(sample, column, levels, members, classes, node, smallest, best, room)
        else:
            for each in range(np.uint64(m if m > FEW else 0)):
                keys[each] = values[members[each]]
            best = _best_threshold(sample, column, keys, members, node, smallest, best, room)
    if by_level and best.column >= 0:
        threshold = _between(features, features.feature_of[best.column], best.threshold, listed)
        best = Split(best.gain, best.column, threshold, best.n_left, best.left_squares, best.right_squares)
    return best, constant, state


@inlined
def _between(features: Features, feature: int, level: float, members: Any) -> float:
    """The threshold in the middle between the values up to a level and those above it."""
    values, levels, below, above = features.values[feature], features.levels[feature], -np.inf, np.inf
    for row in members:
        value = float(values[row])
        if levels[row] <= level:
            below = max(below, value)
        else:
            above = min(above, value)
    return below / 2.0 + above / 2.0
