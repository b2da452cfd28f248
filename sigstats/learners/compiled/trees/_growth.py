"""Trees, random forests and extra trees, compiled by Numba: scikit-learn's own trees and votes.

scikit-learn sorts every feature again in every node. Permuted labels leave the order of a feature unchanged, and a
permuted feature carries its order along, so here features are sorted once per data set, and splitting a node keeps the
order of its rows. Features of few levels and drawn thresholds need no order. The number of draws of each training row
in a bootstrap sample depends only on the seed and the number of rows.
"""

from typing import Any

import numpy as np

from sigstats.learners.compiled.jit import compiled, inlined, lean, merged

from ._forest_folds import (
    EPSILON,
    Features,
    Retrained,
    Sample,
    Settings,
    count_classes,
    improvement,
    is_accepted,
    keep_constants,
    train_and_test,
    write_predictions,
)
from ._levels import Levels, levels_of
from ._splits import FEW, Categories, Node, Room, Split, best_split


@lean
def _partition(members: Any, goes_left: Any, spare: Any) -> None:
    """Put the rows that go left first; both sides keep their order."""
    lefts = np.uint64(0)
    for at in range(np.uint64(len(members))):
        row = members[at]
        members[lefts] = row
        spare[at - lefts] = row
        lefts += np.uint64(goes_left[row])
    for at in range(lefts, np.uint64(len(members))):
        members[at] = spare[at - lefts]


@lean
def _push(node: Any, start: int, end: int, depth: int, known: int, child: int) -> None:
    """Push a node: its rows, depth, known constant columns and parent."""
    node[0], node[1], node[2], node[3], node[4] = start, end, depth, known, child


@inlined
def _goes_right(features: Features, column: Any, threshold: float, row: Any) -> Any:
    """Return True if a row goes right: it belongs to the category, or is above the threshold."""
    feature = features.feature_of[column]
    if features.nominal[feature]:
        return features.codes[feature, row] == column
    return features.values[feature, row] > threshold


@merged
def _partition_lists(
    features: Features, rows: Any, node: Node, split: Split, varying: Any, goes_left: Any, spare: Any
) -> None:
    """Partition the rows of a node in the list of all rows and the lists of features that vary in it."""
    start, end = node.start, node.end
    for row in rows[0, start:end]:
        goes_left[row] = not _goes_right(features, split.column, split.threshold, row)
    _partition(rows[0, start:end], goes_left, spare)
    for column in varying:
        own_list = features.list_of[features.feature_of[column]]
        if own_list:
            _partition(rows[own_list, start:end], goes_left, spare)


@merged
def _grow(sample: Sample, rows: Any, columns: Any, settings: Settings, levels: Levels, seed: int) -> Any:
    """Grow a tree on the rows in the lists `rows`, with the `columns` that exist.

    Returns for each node the column (-1 in a leaf), the threshold, both children, and the shares of classes in a leaf.
    """
    features, n_classes, m = sample.features, settings.n_classes, rows.shape[1]
    n_features, n_levels = len(features.nominal), features.levels.shape[1]
    tree = (
        np.empty(2 * m, dtype=np.int32),
        np.empty(2 * m, dtype=np.float64),
        np.empty((2 * m, 2), dtype=np.int32),
        np.empty((2 * m, n_classes), dtype=np.float64),
    )
    asked, thresholds, children, shares = tree
    n_categories = len(features.feature_of) if features.nominal.any() else 0
    room = Room(
        np.empty(n_classes, dtype=np.int64),
        np.empty(n_classes, dtype=np.int64),
        np.empty(FEW, dtype=np.uint32),
        Categories(
            np.full(n_features, -1, dtype=np.int64),
            np.full(n_categories, -1, dtype=np.int64),
            np.empty(n_categories, dtype=np.int64),
            np.empty((n_categories, n_classes), dtype=np.int64),
        ),
        np.zeros((n_levels, n_classes + 1), dtype=np.int64),
        levels,
    )
    lists = (
        columns.copy(),
        np.empty(len(columns), dtype=np.int64),
        np.zeros(features.values.shape[1], dtype=np.uint8),
        np.empty(m, dtype=np.uint32),
        np.empty((m + 1, 5), dtype=np.int64),
    )
    columns, constants, goes_left, spare, waiting = lists
    _push(waiting[0], 0, m, 0, 0, -1)
    height, nodes, state, drawn_in_all = 1, 0, seed, 0
    while height:
        height -= 1
        own = waiting[height]
        start, end, depth, known, child = own[0], own[1], own[2], own[3], own[4]
        n, squares = count_classes(sample, rows[0, start:end], room.total)
        impurity = improvement(settings.terms, room.total, room.total, squares, n, 0, 0, -np.inf)[1]
        node, nodes = Node(nodes, start, end, n, squares), nodes + 1
        if child >= 0:
            children[child >> 1, child & 1] = node.number
        else:
            drawn_in_all = n
        few = end - start < settings.fewest or end - start < 2 * settings.smallest
        split, constant = Split(-1, 0.0, -1, 0, 0.0, 0.0), known
        if not (depth >= settings.deepest or few or impurity <= EPSILON):
            split, constant, state = best_split(sample, rows, node, settings, columns, known, state, room)
            keep_constants(columns, constants, known, constant)
        if split.column < 0 or not is_accepted(split, n, impurity, drawn_in_all):
            asked[node.number] = -1
            for own_class in range(n_classes):
                shares[node.number, own_class] = float(room.total[own_class]) / float(n)
            continue
        asked[node.number], thresholds[node.number] = split.column, split.threshold
        middle = start + split.cut
        left_grows = split.cut > FEW and split.left_impurity > 0
        right_grows = end - middle > FEW and split.right_impurity > 0
        grows = len(rows) > 1 and depth + 1 < settings.deepest and (left_grows or right_grows)
        varying = columns[constant:] if grows else columns[:0]
        _partition_lists(features, rows, node, split, varying, goes_left, spare)
        _push(waiting[height], middle, end, depth + 1, constant, 2 * node.number + 1)
        _push(waiting[height + 1], start, middle, depth + 1, constant, 2 * node.number)
        height += 2
    return tree


@merged
def _existing_columns(features: Features, rows: Any) -> Any:
    """Return the numeric columns and those of observed categories; scikit-learn has no columns for others."""
    there = np.zeros(len(features.feature_of), dtype=np.bool_)
    for column in range(len(there)):
        there[column] = not features.nominal[features.feature_of[column]]
    for feature in range(len(features.nominal)):
        if features.nominal[feature]:
            for row in rows:
                there[features.codes[feature, row]] = True
    return np.flatnonzero(there)


@compiled
def _filter_lists(order: Any, wanted: Any, m: int) -> Any:
    """Return the lists of rows with only the `m` rows that are wanted, those above 0."""
    lists = np.empty((len(order), m), dtype=np.uint32)
    for feature in range(len(order)):
        filled = 0
        for row in order[feature]:
            if filled == m:
                break
            lists[feature, filled] = row
            filled += wanted[row] > 0
    return lists


@compiled
def predict_all(settings: Settings, forest: Retrained, features: Features, order: Any) -> None:
    """Predict all folds.

    `features`: if some are nominal, all rows are drawn once. `order` (array of uint32, shape (lists, n)): the list of
    all rows, and lists sorted by features.
    """
    n = features.values.shape[1]
    weight, votes = np.zeros(n, dtype=np.int32), np.zeros((n, settings.n_classes))
    sample = Sample(features, forest.label, weight)
    levels = levels_of(features, settings, len(forest.seeds) == 1 and forest.draws.max() == 1)
    for tested in range(len(forest.size_of)):
        placed, tests = train_and_test(forest, tested)
        columns = _existing_columns(features, placed)
        train = _filter_lists(order, forest.fold != tested, len(placed))
        for tree in range(len(forest.seeds)):
            different, drawn_of = 0, forest.draws[forest.size_of[tested], tree]
            for at in range(len(placed)):
                weight[placed[at]] = drawn_of[at]
                different += int(drawn_of[at] > 0)
            weight[tests] = 0
            rows = _filter_lists(train, weight, different)
            asked, thresholds, children, shares = _grow(sample, rows, columns, settings, levels, forest.seeds[tree])
            for row in tests:
                node = 0
                while asked[node] >= 0:
                    node = children[node, 1 if _goes_right(features, asked[node], thresholds[node], row) else 0]
                for own_class in range(settings.n_classes):
                    votes[row, own_class] += shares[node, own_class]
    write_predictions(forest, votes)
