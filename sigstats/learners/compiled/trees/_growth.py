"""Trees and forests from features that are cast and sorted once, compiled by Numba: scikit-learn's own trees and votes.

scikit-learn sorts every feature anew in every node. Permuted labels leave the order of a feature as it is, and a
permuted feature takes its order along, so here a feature is sorted once a data set; where a node is split, its rows
are parted in the order they have. Where thresholds are drawn, or classes counted by level, one list of rows will do. A
bootstrap sample says how often each training row was drawn, and depends on the seed and the number of rows alone.
"""

from typing import Any, NamedTuple

import numpy as np

from sigstats._common.compiled import borrowed, compiled, inlined
from sigstats._common.validation import IntArray

from ._draws import EPSILON, Features, Sample, Settings, helps
from ._splits import FEW, NONE, Node, Room, Split, best_split


class Retrained(NamedTuple):
    """A forest that predicts the rows of the fold `tested` and is grown on all others."""

    #: Where the sequences by which scikit-learn draws columns and thresholds start; not 0; array of int64, shape
    #: (trees,).
    seeds: Any
    #: How often the rows are drawn, in the order of their places; array of int32, shape (trees, training rows).
    draws: Any
    #: array of uint32, shape (n,).
    label: Any
    #: array of int64, shape (n,).
    fold: Any
    #: The row at each place; array of int64, shape (n,).
    at: IntArray
    tested: int
    #: Where the classes are written to; array of int64, shape (n,).
    predicted: IntArray


class Tree(NamedTuple):
    """The nodes that are split, their thresholds, and the shares of classes in leaves of more than one class.

    Of a node its column, and where it goes to the left and right: to a node, or to leaf -1 - k, whose rows are all of
    class k or have the shares k - n_classes. The first node is none: its left is where all begin.
    """

    nodes: Any
    thresholds: Any
    shares: Any


class Lists(NamedTuple):
    """The columns, those known to be constant, nodes that wait, where rows go, and which node a list was parted in."""

    columns: Any
    constants: Any
    waiting: Any
    goes_left: Any
    spare: Any
    parted_in: Any


@inlined
def _count(sample: Sample, members: Any, counts: Any) -> Any:
    """Count classes into `counts`, by the label and the weight of each row; the number drawn and the squared counts."""
    counts[:] = 0
    for row in members:
        counts[sample.label[row]] += sample.weight[row]
    drawn, squares = 0, 0
    for count in counts:
        drawn += count
        squares += count * count
    return drawn, squares


@inlined
def _goes_right(features: Features, column: Any, threshold: float, row: Any) -> Any:
    """True if a row goes right: it is of a category, or above a threshold."""
    feature = features.feature_of[column]
    if features.nominal[feature]:
        return features.categories[feature, row] == column
    return features.values[feature, row] > threshold


@inlined
def _part(members: Any, goes_left: Any, spare: Any) -> Any:
    """Put the rows that go left first, both parts in the order they had; how many these are."""
    lefts = np.uint64(0)
    for at in range(np.uint64(len(members))):
        row = members[at]
        members[lefts] = row
        spare[at - lefts] = row
        lefts += np.uint64(goes_left[row])
    for at in range(lefts, np.uint64(len(members))):
        members[at] = spare[at - lefts]
    return np.int64(lefts)


@compiled
def _part_all(features: Features, rows: Any, node: Node, split: Split, varying: Any, lists: Lists) -> Any:
    """Part the rows of a node in the lists of the features that vary in it; a list that is parted, and the cut."""
    start, end = node.start, node.end
    for row in rows[node.listed, start:end]:
        lists.goes_left[row] = not _goes_right(features, split.column, split.threshold, row)
    if end - start <= FEW or len(rows) == 1:
        return node.listed, _part(rows[node.listed, start:end], lists.goes_left, lists.spare)
    feature = features.feature_of[split.column]
    lists.parted_in[feature] = node.number
    cut = _part(rows[feature, start:end], lists.goes_left, lists.spare)
    for column in varying:
        other = features.feature_of[column]
        if lists.parted_in[other] != node.number:
            lists.parted_in[other] = node.number
            _part(rows[other, start:end], lists.goes_left, lists.spare)
    return int(feature), cut


@inlined
def _wait(
    node: Any, start: int, end: int, listed: int, depth: int, known: int, child: int, n: int, squares: int
) -> None:
    """Note a node's rows, what lists them, its depth, its known constant columns, whose child it is, and its counts."""
    node[0], node[1], node[2], node[3], node[4], node[5] = start, end, listed, depth, known, child
    node[6], node[7] = n, squares


@compiled
def _grow(sample: Sample, rows: Any, settings: Settings, seed: int, tree: Tree, room: Room, lists: Lists) -> None:
    """Grow a tree on the rows that `rows` lists, in the order of each feature."""
    features, nodes, n_classes = sample.features, tree.nodes, settings.n_classes
    columns, constants, waiting = lists.columns.copy(), lists.constants, lists.waiting
    room.of_feature[:], room.of_category[:], lists.parted_in[:] = -1, -1, -1
    drawn_in_all, squares = _count(sample, rows[0], room.total)
    height, made, shared, number, state = 0, 1, 0, 0, seed
    if squares == drawn_in_all * drawn_in_all:
        nodes[0, 1] = -1 - np.int64(sample.label[rows[0, 0]])
    else:
        _wait(waiting[0], 0, rows.shape[1], 0, 0, 0, 0, drawn_in_all, squares)
        height = 1
    while height:
        height -= 1
        own = waiting[height]
        start, end, listed, depth, known, child, n, squares = (
            own[0], own[1], own[2], own[3], own[4], own[5], own[6], own[7],
        )  # fmt: skip
        m, impurity = end - start, 1.0 - squares / (float(n) * float(n))
        number += 1
        node, split, constant = Node(number, listed, start, end, n, squares), NONE, known
        _count(sample, rows[listed, start:end], room.total)
        if not (depth >= settings.deepest or m < settings.fewest or m < 2 * settings.smallest or impurity <= EPSILON):
            split, constant, state = best_split(sample, rows, node, settings, columns, known, state, room)
            columns[:known] = constants[:known]
            constants[known:constant] = columns[known:constant]
        parts = split.left_squares, split.n_left, split.right_squares
        if split.column < 0 or not helps(*parts, n, impurity, drawn_in_all):
            nodes[child >> 1, 1 + (child & 1)] = -1 - n_classes - shared
            for own_class in range(n_classes):
                tree.shares[shared, own_class] = float(room.total[own_class]) / float(n)
            shared += 1
            continue
        nodes[child >> 1, 1 + (child & 1)] = made
        nodes[made, 0], tree.thresholds[made] = split.column, split.threshold
        pure_left = split.left_squares == split.n_left * split.n_left
        rest = n - split.n_left
        pure_right = split.right_squares == rest * rest
        grows = depth + 1 < settings.deepest and not (pure_left and pure_right)
        listed, cut = _part_all(features, rows, node, split, columns[constant:] if grows else columns[:0], lists)
        middle = start + cut
        if pure_right:
            nodes[made, 2] = -1 - np.int64(sample.label[rows[listed, middle]])
        else:
            _wait(waiting[height], middle, end, listed, depth + 1, constant, 2 * made + 1, rest, split.right_squares)
            height += 1
        if pure_left:
            nodes[made, 1] = -1 - np.int64(sample.label[rows[listed, start]])
        else:
            _wait(
                waiting[height], start, middle, listed, depth + 1, constant, 2 * made, split.n_left, split.left_squares
            )
            height += 1
        made += 1


@inlined
def _vote(features: Features, tree: Tree, tested: Any, votes: Any) -> None:
    """Add the shares of classes in the leaves of the tested rows."""
    n_classes = votes.shape[1]
    for row in tested:
        node = tree.nodes[0, 1]
        while node >= 0:
            node = tree.nodes[node, 1 + int(_goes_right(features, tree.nodes[node, 0], tree.thresholds[node], row))]
        leaf = -1 - node
        if leaf < n_classes:
            votes[row, leaf] += 1.0
            continue
        for own_class in range(n_classes):
            votes[row, own_class] += tree.shares[leaf - n_classes, own_class]


@compiled
def _columns_there(features: Features, rows: Any) -> Any:
    """The columns of numbers, and those of the categories that some row has: another is no column for scikit-learn."""
    there = np.zeros(len(features.feature_of), dtype=np.bool_)
    for column in range(len(there)):
        there[column] = not features.nominal[features.feature_of[column]]
    for feature in range(len(features.nominal)):
        if features.nominal[feature]:
            for row in rows:
                there[features.categories[feature, row]] = True
    return np.flatnonzero(there)


@compiled
def _list_rows(order: Any, wanted: Any, lists: Any) -> None:
    """Write those rows of each list that are wanted to `lists`."""
    for each in range(len(order)):
        filled = 0
        for row in order[each]:
            if wanted[row]:
                lists[each, filled] = row
                filled += 1


@compiled
def _make_room(features: Features, columns: Any, m: int, n_classes: int) -> Any:
    """Room for trees of up to `m` rows."""
    n_features, n_columns = len(features.nominal), len(features.feature_of)
    n_categories = n_columns if features.nominal.any() else 0
    tree = Tree(
        np.empty((m + 1, 3), dtype=np.int32),
        np.empty(m + 1, dtype=np.float64),
        np.empty((m, n_classes), dtype=np.float64),
    )
    room = Room(
        np.empty(n_classes, dtype=np.int64),
        np.empty(n_classes, dtype=np.int64),
        np.zeros((256 if len(features.levels) else 0, n_classes), dtype=np.int64),
        np.empty(FEW, dtype=np.uint32),
        np.empty(m + FEW, dtype=np.float32),
        np.empty(n_features, dtype=np.int64),
        np.empty(n_categories, dtype=np.int64),
        np.empty(n_categories, dtype=np.int64),
        np.empty((n_categories, n_classes), dtype=np.int64),
    )
    lists = Lists(
        columns,
        np.empty(len(columns), dtype=np.int64),
        np.empty((m + 1, 8), dtype=np.int64),
        np.zeros(features.categories.shape[1], dtype=np.uint8),
        np.empty(m, dtype=np.uint32),
        np.empty(n_features, dtype=np.int64),
    )
    return tree, room, lists


@compiled
def predict_fold(settings: Settings, forest: Retrained, features: Features, order: Any) -> None:
    """Predict a fold.

    `features`: where some are nominal, all rows are drawn once. `order` (array of uint32, shape (features, n)): the
    rows in the order of each feature's values; of a nominal feature in any. Or one list of them, shape (1, n), where
    thresholds are drawn or features have levels.
    """
    m, fold = forest.draws.shape[1], forest.fold
    placed = forest.at[fold[forest.at] != forest.tested]
    tests = np.flatnonzero(fold == forest.tested)
    train = np.empty((len(order), m), dtype=np.uint32)
    _list_rows(order, fold != forest.tested, train)
    sample = Sample(features, forest.label, np.zeros(len(fold), dtype=np.int32))
    votes = np.zeros((len(fold), settings.n_classes))
    room = _make_room(features, _columns_there(features, placed), m, settings.n_classes)
    _poll(settings, forest, sample, placed, tests, train, np.empty_like(train), room, votes)
    for row in tests:
        forest.predicted[row] = np.argmax(votes[row] / float(len(forest.seeds)))


@compiled
def _poll(
    settings: Settings,
    forest: Retrained,
    owned: Sample,
    placed: Any,
    tests: Any,
    train: Any,
    drawn: Any,
    room: Any,
    votes: Any,
) -> None:
    """Add the votes of all trees; `placed` are the training rows in the order in which `draws` has them."""
    sample, (tree, own, lists) = borrowed(owned), borrowed(room)
    for each in range(len(forest.seeds)):
        different = 0
        for at in range(len(placed)):
            sample.weight[placed[at]] = forest.draws[each, at]
            different += forest.draws[each, at] > 0
        rows = drawn.ravel()[: len(train) * different].reshape(len(train), different)
        _list_rows(train, sample.weight, rows)
        _grow(sample, borrowed(rows), settings, forest.seeds[each], tree, own, lists)
        _vote(sample.features, tree, tests, votes)
