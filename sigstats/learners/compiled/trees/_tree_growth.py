"""Classification trees from features that are sorted once, compiled by Numba.

scikit-learn sorts every feature anew in every node. Permuted labels leave the order of a feature as it is, and a
permuted feature takes its order along, so here a feature is sorted once a data set; where a node is split, its rows
are parted in the order they have. A nominal feature, which scikit-learn sees as a column of 0 and 1 for each category,
is one list here: one pass counts the classes of all its categories.

The trees are scikit-learn's own, ties included.
"""

from typing import Any

import numpy as np

from sigstats._common.compiled import compiled
from sigstats._common.validation import IntArray

from ._tree_splits import EPSILON, CategoryCounts, Rows, best_split, class_counts, improvement, squares_of_parts


@compiled
def _part(members: Any, goes_left: Any, spare: Any) -> None:
    """Put the rows that go left first, both parts in the order they had."""
    lefts = np.uint64(0)
    for at in range(np.uint64(len(members))):
        row = members[at]
        members[lefts] = row
        spare[at - lefts] = row
        lefts += np.uint64(goes_left[row])
    members[lefts:] = spare[: np.uint64(len(members)) - lefts]


@compiled
def _wait(node: Any, start: int, end: int, listed: int, depth: int, known: int, child: int) -> None:
    """Note a node's rows, a feature that lists them, its depth, its known constant columns, and whose child it is."""
    node[0], node[1], node[2], node[3], node[4], node[5] = start, end, listed, depth, known, child


@compiled
def _decrease(
    data: Rows,
    members: Any,
    cut: int,
    split: int,
    impurity: float,
    total: Any,
    left: Any,
    right: Any,
    counts: CategoryCounts,
) -> Any:
    """By how much a split lowers the impurity of a node, and the impurities of both parts."""
    if data.nominal[data.feature_of[split]]:
        left_squares, right_squares = squares_of_parts(total, counts.classes[split])
    else:
        left_squares = class_counts(data.label, members[:cut], left)
        right_squares = class_counts(data.label, members[cut:], right)
    n = len(members)
    rest = n - cut
    _, left_impurity, right_impurity = improvement(left_squares, cut, right_squares, rest)
    gain = impurity - float(rest) / float(n) * right_impurity - float(cut) / float(n) * left_impurity
    return gain, left_impurity, right_impurity


@compiled
def _send(data: Rows, members: Any, cut: int, split: int, goes_left: Any, spare: Any) -> float:
    """Mark the rows that go left, put them first in `members`, and return the threshold, of a number."""
    feature = data.feature_of[split]
    if data.nominal[feature]:
        for row in members:
            goes_left[row] = data.categories[feature, row] != split
        _part(members, goes_left, spare)
        return 0.0
    below, above = data.values[feature, members[cut - 1]], data.values[feature, members[cut]]
    for at in range(len(members)):
        goes_left[members[at]] = at < cut
    return float(below) / 2.0 + float(above) / 2.0


@compiled
def _grow(data: Rows, rows: Any, columns: Any, n_classes: int, limits: tuple[int, int, int], seed: int) -> Any:
    """Grow a tree on the rows that `rows` lists in the order of each feature; `columns` are those there are.

    Returns, by node, the column it asks for (-1 in a leaf), the threshold of a number, and the nodes to go to (in a
    leaf: the class, twice).
    """
    values, feature_of, nominal, label = data.values, data.feature_of, data.nominal, data.label
    deepest, fewest, smallest = limits
    n_features, m = rows.shape
    asked = np.empty(2 * m, dtype=np.int32)
    thresholds = np.empty(2 * m, dtype=np.float64)
    children = np.empty((2 * m, 2), dtype=np.int32)
    constants = np.empty(len(columns), dtype=np.int32)
    goes_left = np.zeros(values.shape[1], dtype=np.uint8)
    spare = np.empty(m, dtype=np.uint32)
    total = np.empty(n_classes, dtype=np.int64)
    left = np.empty(n_classes, dtype=np.int64)
    right = np.empty(n_classes, dtype=np.int64)
    counts = CategoryCounts(
        np.full(n_features, -1, dtype=np.int32),
        np.full(len(feature_of), -1, dtype=np.int32),
        np.empty(len(feature_of), dtype=np.int64),
        np.empty((len(feature_of) if nominal.any() else 0, n_classes), dtype=np.int64),
    )
    # Of features the last node whose rows were parted.
    parted_in = np.full(n_features, -1, dtype=np.int32)
    waiting = np.empty((m + 1, 6), dtype=np.int64)
    _wait(waiting[0], 0, m, 0, 0, 0, -1)
    height, nodes, state = 1, 0, seed
    while height:
        height -= 1
        own = waiting[height]
        start, end, listed, depth, known, child = own[0], own[1], own[2], own[3], own[4], own[5]
        n = end - start
        squares = class_counts(label, rows[listed, start:end], total)
        impurity = 1.0 - squares / (float(n) * float(n))
        node, nodes = nodes, nodes + 1
        if child >= 0:
            children[child >> 1, child & 1] = node
        split, cut, constant = -1, -1, known
        if not (depth >= deepest or n < fewest or n < 2 * smallest or impurity <= EPSILON):
            split, cut, constant, state = best_split(
                data, rows, columns, node, start, end, known, smallest, state, total, squares, left, counts
            )
            columns[:known] = constants[:known]
            constants[known:constant] = columns[known:constant]
        if split >= 0:
            feature = feature_of[split]
            members = rows[feature, start:end]
            gain, left_impurity, right_impurity = _decrease(
                data, members, cut, split, impurity, total, left, right, counts
            )
            if float(n) / float(m) * gain + EPSILON < 0:
                split = -1
        asked[node] = split
        if split < 0:
            children[node] = np.argmax(total)
            continue
        thresholds[node] = _send(data, members, cut, split, goes_left, spare)
        rest = n - cut
        left_ends = left_impurity <= EPSILON or cut < fewest
        right_ends = right_impurity <= EPSILON or rest < fewest
        if depth + 1 < deepest and not (left_ends and right_ends):
            parted_in[feature] = node
            for column in columns[constant:]:
                other = feature_of[column]
                if parted_in[other] != node:
                    parted_in[other] = node
                    _part(rows[other, start:end], goes_left, spare)
        _wait(waiting[height], start + cut, end, feature, depth + 1, constant, 2 * node + 1)
        _wait(waiting[height + 1], start, start + cut, feature, depth + 1, constant, 2 * node)
        height += 2
    return asked, thresholds, children


@compiled
def predict_fold(
    limits: tuple[int, int, int],
    seed: int,
    feature_of: Any,
    nominal: Any,
    n_classes: int,
    values: Any,
    categories: Any,
    order: Any,
    label: Any,
    fold: Any,
    tested: int,
    predicted: IntArray,
) -> None:
    """Predict the rows of the fold `tested` by the tree that is grown on all others.

    Parameters
    ----------
    limits : (int, int, int)
        The largest depth, the fewest rows of a node that is split, and the fewest of a leaf.
    seed : int
        Where the sequence by which scikit-learn draws columns starts; not 0.
    feature_of : array of int32, shape (columns,)
        The feature of each column: a number, or one of the categories of a nominal feature.
    nominal : array of bool, shape (features,)
    n_classes : int
    values : array of float32, shape (features, n)
        The numbers.
    categories : array of uint32, shape (features, n)
        The column in which a row has 1, for nominal features.
    order : array of uint32, shape (features, n)
        The rows in the order of each feature's values; of a nominal feature in any.
    label, fold : arrays of uint32, shape (n,)
    tested : int
    predicted : array of int64, shape (n,)
        Where the classes are written to.
    """
    n_features, n = values.shape
    m = 0
    for row in range(n):
        m += fold[row] != tested
    rows = np.empty((n_features, m), dtype=np.uint32)
    there = np.zeros(len(feature_of), dtype=np.bool_)
    for feature in range(n_features):
        at = 0
        for row in order[feature]:
            if fold[row] != tested:
                rows[feature, at] = row
                at += 1
                if nominal[feature]:
                    there[categories[feature, row]] = True
    # A category that no row of the others has is no column of theirs.
    columns = np.empty(len(feature_of), dtype=np.int32)
    n_columns = 0
    for column in range(len(feature_of)):
        if there[column] or not nominal[feature_of[column]]:
            columns[n_columns] = column
            n_columns += 1
    data = Rows(values, categories, feature_of, nominal, label)
    asked, thresholds, children = _grow(data, rows, columns[:n_columns], n_classes, limits, seed)
    for row in range(n):
        if fold[row] == tested:
            node = 0
            while asked[node] >= 0:
                feature = feature_of[asked[node]]
                if nominal[feature]:
                    right = categories[feature, row] == asked[node]
                else:
                    right = values[feature, row] > thresholds[node]
                node = children[node, 1 if right else 0]
            predicted[row] = children[node, 0]
