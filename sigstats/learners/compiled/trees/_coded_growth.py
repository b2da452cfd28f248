"""Forests of classification trees from coded columns, compiled by Numba, with scikit-learn's own trees and votes.

A random forest with columns of few levels counts classes by level, extra trees count rows up to a threshold, and a tree
that looks at all columns searches them at once. A node is one list of its rows, for extra trees in the order of their
classes. Splits are compared by the same floats in the same order as in scikit-learn, computed from integers whose sums
do not depend on the order of rows.
"""

from typing import Any, NamedTuple

import numpy as np

from sigstats.learners.compiled.jit import compiled, inlined, lean, merged

from ._all_columns import Search, best_of_all, count_root, leave_counts, make_search, release
from ._coded_splits import Choice, Coded, Tried, are_values, best_of_levels, code_below, draw_columns
from ._drawn_thresholds import Drawn, best_of_drawn, draw_code
from ._forest_folds import EPSILON, Retrained, Settings, count, decide, draw_all, helps, keep_constants, parted


class Tree(NamedTuple):
    """The nodes, and the shares of classes in leaves of more than one class.

    Of a node that is split: its column, the highest code that goes left, and where it goes to the left and right: to a
    node, or to leaf -1 - k, whose rows are all of class k or have the shares k - n_classes. The first node is none: its
    left is where all begin.
    """

    nodes: Any
    shares: Any


class Room(NamedTuple):
    """Memory that each node overwrites."""

    tried: Tried
    drawn: Drawn
    levels: Any
    columns: Any
    constants: Any
    total: Any
    left: Any
    spare: Any
    waiting: Any
    search: Search


@merged
def _make_room(sample: Coded, m: int, settings: Settings) -> tuple[Room, Tree]:
    """Room for trees of up to `m` rows."""
    d, n_classes = len(sample.values), settings.n_classes
    width = sample.codes.shape[1]
    lanes, sides = np.zeros((3, width), dtype=sample.codes.dtype), np.zeros((2, width), dtype=np.uint32)
    rows, of_class = np.zeros(width, dtype=np.uint32), np.zeros((1, width), dtype=np.uint16)
    own = Room(
        Tried(lanes[0], lanes[1], np.empty(d, dtype=np.int64), np.empty(d, dtype=np.int64)),
        Drawn(lanes[2], sides, rows, of_class, np.empty(d)),
        np.zeros((1 if settings.drawn_thresholds else sample.values.shape[1], n_classes + 1), dtype=np.int64),
        np.empty(d, dtype=np.int32),
        np.empty(d, dtype=np.int32),
        np.empty(n_classes, dtype=np.int64),
        np.empty(n_classes, dtype=np.int64),
        np.empty(m, dtype=np.uint32),
        np.empty((m + 1, 8), dtype=np.int64),
        make_search(sample, settings),
    )
    return own, Tree(np.empty((m + 1, 4), dtype=np.int32), np.empty((m, n_classes), dtype=np.float64))


@inlined
def _choose(sample: Coded, members: Any, settings: Settings, varying: int, n: int, room: Room) -> Any:
    """The best split on the columns that were drawn."""
    tried, total, smallest = room.tried, room.total, settings.smallest
    count(sample, members, total)
    if not settings.drawn_thresholds:
        return best_of_levels(sample, members, tried, varying, total, n, smallest, room.left, room.levels)
    once = settings.once
    return best_of_drawn(sample, members, tried, varying, total, n, smallest, once, room.left, room.drawn)


@inlined
def _choose_of_two(sample: Coded, members: Any, drawn_thresholds: bool, room: Room) -> Choice:
    """The split of two rows of two classes, which any column parts: the first that was drawn."""
    tried, feature = room.tried, np.uint64(room.tried.columns[0])
    low, high = np.int64(tried.lowest[feature]), np.int64(tried.highest[feature])
    code = draw_code(sample, feature, low, high, tried.draws[0]) if drawn_thresholds else low
    first = np.uint64(sample.codes[members[0], feature] > code)
    left, right = np.int64(sample.weight[members[first]]), np.int64(sample.weight[members[np.uint64(1) - first]])
    return Choice(np.int64(feature), code, left, left * left, right * right)


@inlined
def _part(codes: Any, members: Any, code: Any, spare: Any) -> Any:
    """Put the rows that go left first, both parts in the order they had; how many."""
    lefts = np.uint64(0)
    for at in range(np.uint64(len(members))):
        row = members[at]
        members[lefts], spare[at - lefts] = row, row
        lefts += np.uint64(np.int64(codes[row]) <= code)
    for at in range(lefts, np.uint64(len(members))):
        members[at] = spare[at - lefts]
    return np.int64(lefts)


@inlined
def _wait(node: Any, start: int, end: int, depth: int, known: int, child: int, n: int, squares: int, slot: int) -> None:
    """Note a node's rows, depth, known constant columns, whose child it is, draws, squared counts, and its counts."""
    node[0], node[1], node[2], node[3] = start, end, depth, known
    node[4], node[5], node[6], node[7] = child, n, squares, slot


@lean
def _grow(
    sample: Coded, rows: Any, tests: Any, all_rows: Any, settings: Settings, ahead: Any, tree: Tree, room: Room
) -> None:
    """Grow a tree on the rows that `rows` lists, in the order of their classes; `all_rows` counts these and `tests`."""
    # Of values, which is known when this is compiled, nothing that looks at all columns is compiled.
    at_once = settings.at_once and not are_values(sample.codes)
    columns, constants, waiting, nodes = room.columns, room.constants, room.waiting, tree.nodes
    for column in range(len(columns)):
        columns[column] = column
    drawn_in_all, squares = count(sample, rows, room.total)
    # A place in what was drawn ahead, or a number of the sequence.
    height, made, shared, state = 0, 1, 0, 0 if at_once else np.int64(ahead[0])
    nodes[0] = -1
    nodes[0, 0] = 0
    if _is_pure(drawn_in_all, squares):
        nodes[0, 2] = -1 - np.int64(sample.label[rows[0]])
    else:
        slot = count_root(sample, tests, all_rows, room.search.levels) if at_once else -1
        _wait(waiting[0], 0, len(rows), 0, 0, 0, drawn_in_all, squares, slot)
        height = 1
    while height:
        height -= 1
        own = waiting[height]
        start, end, depth, known = own[0], own[1], own[2], own[3]
        child, n, squares, slot = own[4], own[5], own[6], own[7]
        members, m = rows[start:end], end - start
        impurity = 1.0 - squares / (float(n) * float(n))
        choice, constant = Choice(-1, 0, 0, 0, 0), known
        if not (depth >= settings.deepest or m < settings.fewest or m < 2 * settings.smallest or impurity <= EPSILON):
            if at_once:
                varying, constant, state = draw_all(
                    sample, members, columns, known, ahead, state, room.tried, room.search.columns
                )
            else:
                varying, constant, state = draw_columns(
                    sample, columns, members, known, settings.tried, settings.drawn_thresholds, state, room.tried
                )
            if m == 2 and varying:
                choice = _choose_of_two(sample, members, settings.drawn_thresholds, room)
            elif varying and at_once:
                count(sample, members, room.total)
                choice, slot = best_of_all(
                    sample,
                    members,
                    slot,
                    room.tried,
                    varying,
                    squares,
                    settings.smallest,
                    room.total,
                    room.left,
                    room.search,
                )
            elif varying:
                choice = _choose(sample, members, settings, varying, n, room)
            if not at_once:
                keep_constants(columns, constants, known, constant)
        parts = choice.left_squares, choice.n_left, choice.right_squares
        if choice.feature < 0 or not helps(*parts, n, impurity, drawn_in_all):
            nodes[child >> 1, 2 + (child & 1)] = -1 - settings.n_classes - shared
            count(sample, members, room.total)
            for own_class in range(settings.n_classes):
                tree.shares[shared, own_class] = float(room.total[own_class]) / float(n)
            shared += 1
            release(slot, room.search.levels)
            continue
        feature, code = np.uint64(choice.feature), choice.code
        cut = _part(sample.columns[feature], members, code, room.spare)
        if not settings.drawn_thresholds:
            code = _code_between(sample, choice.feature, code, members[cut:])
        node, made = made, made + 1
        nodes[child >> 1, 2 + (child & 1)] = node
        nodes[node, 0], nodes[node, 1] = choice.feature, code
        n_left, rest, middle = choice.n_left, n - choice.n_left, start + cut
        left_ends, right_ends = _is_pure(n_left, choice.left_squares), _is_pure(rest, choice.right_squares)
        left_slot, right_slot = leave_counts(sample, members, cut, left_ends, right_ends, slot, room.search.levels)
        if right_ends:
            nodes[node, 3] = -1 - np.int64(sample.label[members[cut]])
        else:
            squares = choice.right_squares
            _wait(waiting[height], middle, end, depth + 1, constant, 2 * node + 1, rest, squares, right_slot)
            height += 1
        if left_ends:
            nodes[node, 2] = -1 - np.int64(sample.label[members[0]])
        else:
            squares = choice.left_squares
            _wait(waiting[height], start, middle, depth + 1, constant, 2 * node, n_left, squares, left_slot)
            height += 1


@inlined
def _is_pure(n: int, squares: int) -> bool:
    """True if all are of one class, by their number and the squared counts of classes."""
    return squares == n * n


@inlined
def _code_between(sample: Coded, feature: Any, below: Any, right: Any) -> Any:
    """The highest code that goes left where the threshold is halfway from a code to the lowest to the right."""
    values: Any = sample.values[feature]
    codes, above = sample.columns[np.uint64(feature)], np.int64(1) << 32
    for row in right:
        above = min(above, np.int64(codes[row]))
    threshold = float(values[below]) / 2.0 + float(values[above]) / 2.0
    return code_below(sample, feature, threshold, below, above, below)


@compiled
def predict_from_codes(settings: Settings, forest: Retrained, ahead: Any, all_rows: Any, data: Any) -> None:
    """Predict all folds.

    `ahead`: of each tree what `draw_ahead` draws, or the seed alone. `all_rows`: what `count_levels` counts. `data`:
    codes, (n, width): the rank of each value among those of its column, or of 32 bits the value as `forest._codes` has
    it, and zeros beyond the columns; (columns, n), the same by column; (columns, codes), the value of each code, in
    increasing order, none of 32 bits; whether scikit-learn tells all values of a column apart.
    """
    codes, columns, values, apart = data
    n, most = len(codes), forest.draws.shape[2]
    owned = (
        np.zeros(n, dtype=np.int32),
        np.zeros(n, dtype=np.int64),
        np.empty(most, dtype=np.uint32),
        np.zeros((n, settings.n_classes)),
    )
    weight, marks, rows, votes = owned
    sample = Coded(codes, columns, values, apart, forest.label, weight, marks)
    room, tree = _make_room(sample, most, settings)
    scratch, grown = room, tree
    for tested in range(len(forest.size_of)):
        lists, draws = (*parted(forest, tested), _by_class(forest, tested, settings.n_classes)), forest.draws
        placed, tests, train = lists
        weight[:] = 0
        for number in range(len(forest.seeds)):
            different, drawn_of = 0, draws[forest.size_of[tested], number]
            for at in range(len(placed)):
                drawn = drawn_of[at]
                weight[placed[at]] = drawn
                marks[placed[at]] = 1 << 32 | np.int64(drawn)
            for row in train:
                if weight[row]:
                    rows[different] = row
                    different += 1
            _grow(sample, rows[:different], tests, all_rows, settings, ahead[number], grown, scratch)
            _vote(sample, grown, tests, votes)
    decide(forest, votes)


@lean
def _vote(sample: Coded, tree: Tree, tested: Any, votes: Any) -> None:
    """Add the shares of classes in the leaves of the tested rows."""
    n_classes = votes.shape[1]
    for row in tested:
        node = np.int64(tree.nodes[0, 2])
        while node >= 0:
            place = np.uint64(node)
            right = np.int64(sample.codes[row, np.uint64(tree.nodes[place, 0])]) > np.uint32(tree.nodes[place, 1])
            node = np.int64(tree.nodes[place, np.uint64(2) + np.uint64(right)])
        leaf = -1 - node
        if leaf < n_classes:
            votes[row, leaf] += 1.0
            continue
        for own_class in range(n_classes):
            votes[row, own_class] += tree.shares[leaf - n_classes, own_class]


@compiled
def _by_class(forest: Retrained, tested: int, n_classes: int) -> Any:
    """The rows to train on, in the order of their classes and then as they stand."""
    label, train = forest.label, np.empty(len(forest.label), dtype=np.uint32)
    filled = np.zeros(n_classes + 1, dtype=np.int64)
    for row in range(len(label)):
        filled[label[row] + 1] += int(forest.fold[row] != tested)
    for own_class in range(n_classes):
        filled[own_class + 1] += filled[own_class]
    for row in range(len(label)):
        if forest.fold[row] != tested:
            train[filled[label[row]]] = row
            filled[label[row]] += 1
    return train[: filled[n_classes]]
