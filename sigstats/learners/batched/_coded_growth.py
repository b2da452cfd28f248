"""Forests of classification trees from coded columns, compiled by Numba, with scikit-learn's own trees and votes.

A random forest whose columns have few levels counts classes by level, extra trees count rows up to a threshold. A node
is one list of its rows, of extra trees in the order of their classes. What is compared is made of the same floats in
the same order as scikit-learn's, of whole numbers whose sums do not depend on the order of rows.
"""

from typing import Any

import numpy as np

from sigstats._common.compiled import borrowed, compiled, inlined
from sigstats._common.validation import IntArray

from ._coded_levels import best_of_levels
from ._coded_room import Room, Tree, borrow, make_room
from ._coded_splits import Choice, Coded, code_below, draw_columns, find_bounds
from ._coded_thresholds import FEW, MANY, best_at_once, best_one_by_one
from ._forest_splits import Settings, count
from ._tree_growth import _part
from ._tree_splits import EPSILON, improvement


@inlined
def _choose(
    sample: Coded, members: Any, settings: Settings, found: int, n: int, squares: int, even: bool, room: Room
) -> Any:
    """The best split on the columns that were drawn."""
    tried, total, smallest = room.tried, room.total, settings.smallest
    if not settings.drawn_thresholds:
        return best_of_levels(sample, members, tried, found, total, n, squares, smallest, room.left, room.levels)
    if even and FEW < len(members) < MANY:
        return best_at_once(sample, members, tried, found, total, smallest, room.lefts, room.thresholds)
    return best_one_by_one(sample, members, tried, found, total, n, smallest, room.left)


@inlined
def _helps(choice: Choice, n: int, impurity: float, drawn_in_all: int) -> bool:
    """Whether scikit-learn takes the split."""
    if choice.feature < 0:
        return False
    n_left, rest = choice.n_left, n - choice.n_left
    _, left_impurity, right_impurity = improvement(choice.left_squares, n_left, choice.right_squares, rest)
    gain = impurity - float(rest) / float(n) * right_impurity - float(n_left) / float(n) * left_impurity
    return not float(n) / float(drawn_in_all) * gain + EPSILON < 0


@inlined
def _wait(node: Any, start: int, end: int, depth: int, known: int, child: int) -> None:
    """Note a node's rows, its depth, its known constant columns, and whose child it is."""
    node[0], node[1], node[2], node[3], node[4] = start, end, depth, known, child


@compiled
def _grow(sample: Coded, rows: Any, settings: Settings, seed: int, even: bool, tree: Tree, room: Room) -> None:
    """Grow a tree on the rows that `rows` lists; `even` says that each was drawn once."""
    columns, constants, waiting, codes = room.columns, room.constants, room.waiting, sample.codes
    for column in range(len(columns)):
        columns[column] = column
    _wait(waiting[0], 0, len(rows), 0, 0, -1)
    height, nodes, state, drawn_in_all = 1, 0, seed, 0
    while height:
        height -= 1
        own = waiting[height]
        start, end, depth, known, child = own[0], own[1], own[2], own[3], own[4]
        members = rows[start:end]
        n, squares = count(sample, members, room.total)
        impurity = 1.0 - squares / (float(n) * float(n))
        node, nodes = nodes, nodes + 1
        if child >= 0:
            tree.children[child >> 1, child & 1] = node
        else:
            drawn_in_all = n
        few = end - start < settings.fewest or end - start < 2 * settings.smallest
        choice = Choice(-1, 0, 0.0, 0, 0, 0, 0)
        constant = known
        if not (depth >= settings.deepest or few or impurity <= EPSILON):
            find_bounds(codes, members, room.tried)
            found, constant, state = draw_columns(
                sample.values, columns, known, settings.tried, settings.drawn_thresholds, state, room.tried
            )
            choice = _choose(sample, members, settings, found, n, squares, even, room)
            for at in range(known):
                columns[at] = constants[at]
            for at in range(known, constant):
                constants[at] = columns[at]
        if not _helps(choice, n, impurity, drawn_in_all):
            tree.asked[node] = -1
            for own_class in range(settings.n_classes):
                tree.shares[node, own_class] = float(room.total[own_class]) / float(n)
            continue
        feature = np.uint64(choice.feature)
        for row in members:
            room.goes_left[row] = codes[row, feature] <= choice.code
        _part(members, room.goes_left, room.spare)
        tree.asked[node], tree.code[node] = choice.feature, choice.code
        if not settings.drawn_thresholds:
            tree.code[node] = _code_between(sample, members[choice.cut :], choice)
        middle = start + choice.cut
        _wait(waiting[height], middle, end, depth + 1, constant, 2 * node + 1)
        _wait(waiting[height + 1], start, middle, depth + 1, constant, 2 * node)
        height += 2


@inlined
def _code_between(sample: Coded, rights: Any, choice: Choice) -> Any:
    """The highest code that goes left where the threshold is halfway between the codes of the node on both sides."""
    values: Any = sample.values[choice.feature]
    above: Any = 1 << 30
    for row in rights:
        above = min(above, np.int64(sample.codes[row, np.uint64(choice.feature)]))
    threshold = float(values[choice.code]) / 2.0 + float(values[above]) / 2.0
    return code_below(values, threshold, choice.code, above)


@compiled
def _vote(sample: Coded, tree: Tree, tested: Any, votes: Any) -> None:
    """Add the shares of classes in the leaves of the tested rows."""
    asked, code, children, codes = tree.asked, tree.code, tree.children, sample.codes
    for row in tested:
        node = np.uint64(0)
        while asked[node] >= 0:
            right = np.uint64(codes[row, np.uint64(asked[node])] > code[node])
            node = np.uint64(children[node, right])
        for own_class in range(votes.shape[1]):
            votes[row, own_class] += tree.shares[node, own_class]


@compiled
def predict_coded_fold(
    settings: Settings,
    seeds: Any,
    draws: Any,
    codes: Any,
    columns: Any,
    values: Any,
    label: Any,
    fold: Any,
    at: IntArray,
    tested: int,
    predicted: IntArray,
) -> None:
    """Predict the rows of the fold `tested` by the forest that is grown on all others.

    Parameters
    ----------
    settings : Settings
    seeds : array of int64, shape (trees,)
        Where the sequences by which scikit-learn draws columns and thresholds start; not 0.
    draws : array of int32, shape (trees, training rows)
        How often the rows are drawn, in the order of their places.
    codes : array of unsigned integers, shape (n, width)
        The rank of each value among those of its column, and zeros beyond the columns.
    columns : array of unsigned integers, shape (columns, n)
        The same by column; not read where thresholds are drawn.
    values : array of float32, shape (columns, codes)
        The value of each code, in increasing order.
    label : array of uint32, shape (n,)
    fold : array of int64, shape (n,)
    at : array of int64, shape (n,)
        The row at each place.
    tested : int
    predicted : array of int64, shape (n,)
        Where the classes are written to.
    """
    n, m, n_classes = len(codes), draws.shape[1], settings.n_classes
    train, tests = _parted(label, fold, tested, n_classes if settings.drawn_thresholds else 1, m)
    sample = Coded(codes, columns, values, label, np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int64))
    votes = np.zeros((n, n_classes))
    tree = Tree(
        np.empty(2 * m, dtype=np.int32),
        np.empty(2 * m, dtype=np.int32),
        np.empty((2 * m, 2), dtype=np.int32),
        np.empty((2 * m, n_classes), dtype=np.float64),
    )
    room, rows, places = make_room(sample, m, settings), np.empty(m, dtype=np.uint32), np.empty(m, dtype=np.int64)
    filled = 0
    for row in at:
        if fold[row] != tested:
            places[filled] = row
            filled += 1
    _poll(settings, seeds, draws, sample, train, tests, places, tree, room, rows, votes)
    for row in tests:
        predicted[row] = np.argmax(votes[row] / float(len(seeds)))


@compiled
def _poll(
    settings: Settings,
    seeds: Any,
    draws: Any,
    owned: Coded,
    train: Any,
    tests: Any,
    places: Any,
    tree: Tree,
    room: Room,
    rows: Any,
    votes: Any,
) -> None:
    """Add the votes of all trees; `places` are the training rows in the order in which `draws` has them."""
    sample = Coded(
        borrowed(owned.codes),
        borrowed(owned.columns),
        borrowed(owned.values),
        borrowed(owned.label),
        borrowed(owned.weight),
        borrowed(owned.marks),
    )
    scratch, grown = borrow(room, tree)
    rows = borrowed(rows)
    for each in range(len(seeds)):
        different, even = 0, True
        for at in range(len(places)):
            drawn = draws[each, at]
            sample.weight[places[at]] = drawn
            sample.marks[places[at]] = 1 << 32 | np.int64(drawn)
            even &= drawn <= 1
        for row in train:
            if sample.weight[row]:
                rows[different] = row
                different += 1
        _grow(sample, rows[:different], settings, seeds[each], even, grown, scratch)
        _vote(sample, grown, tests, votes)


@compiled
def _parted(label: Any, fold: Any, tested: int, n_runs: int, m: int) -> Any:
    """The rows to train on and those to test; where there is more than one run, a run has the rows of a class."""
    train, tests = np.empty(m, dtype=np.uint32), np.empty(len(fold) - m, dtype=np.uint32)
    filled, left = 0, 0
    for run in range(n_runs):
        for row in range(len(label)):
            if fold[row] != tested and (n_runs == 1 or label[row] == run):
                train[filled] = row
                filled += 1
    for row in range(len(label)):
        if fold[row] == tested:
            tests[left] = row
            left += 1
    return train, tests
