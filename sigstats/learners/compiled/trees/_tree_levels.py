"""Classification trees from features of few levels, compiled by Numba.

Where a feature has a few distinct values, as a pixel or a rating has, the classes of a node's rows are counted for each
level, and the best threshold is found from these counts: nothing is sorted, and a node is one list of its rows.

The trees are scikit-learn's own, ties included, as those of `_tree_growth` are.
"""

from typing import Any, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled
from sigstats._common.validation import IntArray

from ._tree_splits import EPSILON, class_counts, draw_place, improvement


class Coded(NamedTuple):
    """The rows from which trees are grown, as `predict_fold_by_levels` has them."""

    codes: Any
    label: Any


class Counts(NamedTuple):
    """What is counted in a node.

    Rows by class, to the left of a threshold too; rows by level, class and feature; and by feature those to the left
    of a threshold: by class, their number, and the squares of both sides.
    """

    total: Any
    left: Any
    classes: Any
    lefts: Any
    cut: Any
    left_squares: Any
    right_squares: Any


class Best(NamedTuple):
    """By feature: the lowest and highest level in a node, the best gain, its level, and how many rows go left."""

    lowest: Any
    highest: Any
    gain: Any
    level: Any
    cut: Any


@compiled
def _bounds(codes: Any, members: Any, best: Best) -> None:
    """Find the lowest and highest level of each feature in a node."""
    lowest, highest = best.lowest, best.highest
    lowest[:] = codes[members[0]]
    highest[:] = lowest
    for row in members[1:]:
        own = codes[row]
        for feature in range(len(own)):
            lowest[feature] = min(lowest[feature], own[feature])
            highest[feature] = max(highest[feature], own[feature])


@compiled
def _best_levels(data: Coded, members: Any, smallest: int, counts: Counts, best: Best) -> None:
    """Find the best threshold of each feature; all features are searched together, level by level."""
    n, total = len(members), counts.total
    classes, lefts, cut = counts.classes, counts.lefts, counts.cut
    left_squares, right_squares = counts.left_squares, counts.right_squares
    gains, levels, cuts = best.gain, best.level, best.cut
    classes[:] = 0
    for row in members:
        own, own_class = data.codes[row], data.label[row]
        for feature in range(len(own)):
            classes[own[feature], own_class, feature] += 1
    lefts[:] = 0
    cut[:] = 0
    gains[:] = -np.inf
    levels[:] = -1
    for level in range(len(classes) - 1):
        left_squares[:] = 0
        right_squares[:] = 0
        for own_class in range(len(total)):
            here, below, whole = classes[level, own_class], lefts[own_class], total[own_class]
            if whole == 0:
                continue
            for feature in range(len(cut)):
                left = np.int32(below[feature] + np.int32(here[feature]))
                right = np.int32(whole - left)
                below[feature] = left
                left_squares[feature] = np.int32(left_squares[feature] + np.int32(left * left))
                right_squares[feature] = np.int32(right_squares[feature] + np.int32(right * right))
                cut[feature] = np.int32(cut[feature] + np.int32(here[feature]))
        for feature in range(len(cut)):
            rest = n - cut[feature]
            gain = improvement(left_squares[feature], cut[feature], right_squares[feature], rest)[0]
            # A level that is not there gives the threshold before it once more, which is not better.
            if (cut[feature] >= smallest) & (rest >= smallest) & (gain > gains[feature]):
                gains[feature], levels[feature], cuts[feature] = gain, level, cut[feature]


@compiled
def _best_split(
    data: Coded,
    members: Any,
    columns: Any,
    known: int,
    smallest: int,
    state: int,
    counts: Counts,
    each: Best,
) -> Any:
    """The best split of a node: its feature, or -1, the level up to which rows go left, and how many they are.

    And how many features are constant, which are put first in `columns`, and where the sequence of draws is: as in
    `_tree_splits.best_split`.
    """
    split, level, cut, best = -1, -1, -1, -np.inf
    _bounds(data.codes, members, each)
    _best_levels(data, members, smallest, counts, each)
    constant = known
    drawn, undrawn = 0, len(columns)
    while undrawn > constant:
        at, drawn, state = draw_place(columns, known, constant, drawn, undrawn, state)
        if at < 0:
            continue
        feature = columns[at]
        if each.lowest[feature] == each.highest[feature]:
            columns[at], columns[constant] = columns[constant], feature
            constant += 1
            continue
        undrawn -= 1
        columns[at], columns[undrawn] = columns[undrawn], feature
        if each.gain[feature] > best:
            split, level, cut, best = feature, each.level[feature], each.cut[feature], each.gain[feature]
    return split, level, cut, constant, state


@compiled
def _part(codes: Any, feature: int, level: int, members: Any, spare: Any) -> Any:
    """Put the rows up to a level first; return that level and the next, of those that are there."""
    lefts, rights = 0, 0
    below, above = -1, 256
    for row in members:
        code = int(codes[row, feature])
        if code <= level:
            members[lefts] = row
            lefts += 1
            below = max(below, code)
        else:
            spare[rights] = row
            rights += 1
            above = min(above, code)
    members[lefts:] = spare[:rights]
    return below, above


@compiled
def _grow(data: Coded, values: Any, members: Any, n_classes: int, limits: tuple[int, int, int], seed: int) -> Any:
    """Grow a tree on the rows `members`, as `_tree_growth` does."""
    deepest, fewest, smallest = limits
    m, n_features = len(members), len(values)
    asked = np.empty(2 * m, dtype=np.int32)
    thresholds = np.empty(2 * m, dtype=np.float64)
    children = np.empty((2 * m, 2), dtype=np.int32)
    columns = np.arange(n_features).astype(np.int32)
    constants = np.empty(n_features, dtype=np.int32)
    spare = np.empty(m, dtype=np.uint32)
    counts = Counts(
        np.empty(n_classes, dtype=np.int32),
        np.empty(n_classes, dtype=np.int32),
        np.empty((values.shape[1], n_classes, n_features), dtype=np.uint16),
        np.empty((n_classes, n_features), dtype=np.int32),
        np.empty(n_features, dtype=np.int32),
        np.empty(n_features, dtype=np.int32),
        np.empty(n_features, dtype=np.int32),
    )
    each = Best(
        np.empty(n_features, dtype=np.uint8),
        np.empty(n_features, dtype=np.uint8),
        np.empty(n_features, dtype=np.float64),
        np.empty(n_features, dtype=np.int32),
        np.empty(n_features, dtype=np.int32),
    )
    right = np.empty(n_classes, dtype=np.int32)
    waiting = np.empty((m + 1, 5), dtype=np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3], waiting[0, 4] = 0, m, 0, 0, -1
    height, nodes, state = 1, 0, seed
    while height:
        height -= 1
        own = waiting[height]
        start, end, depth, known, child = own[0], own[1], own[2], own[3], own[4]
        n = end - start
        here = members[start:end]
        squares = class_counts(data.label, here, counts.total)
        impurity = 1.0 - squares / (float(n) * float(n))
        node, nodes = nodes, nodes + 1
        if child >= 0:
            children[child >> 1, child & 1] = node
        split, level, cut, constant = -1, -1, -1, known
        if not (depth >= deepest or n < fewest or n < 2 * smallest or impurity <= EPSILON):
            split, level, cut, constant, state = _best_split(data, here, columns, known, smallest, state, counts, each)
            columns[:known] = constants[:known]
            constants[known:constant] = columns[known:constant]
        if split >= 0:
            below, above = _part(data.codes, split, level, here, spare)
            left_squares = class_counts(data.label, here[:cut], counts.left)
            right_squares = class_counts(data.label, here[cut:], right)
            _, left_impurity, right_impurity = improvement(left_squares, cut, right_squares, n - cut)
            gain = impurity - float(n - cut) / float(n) * right_impurity - float(cut) / float(n) * left_impurity
            if float(n) / float(m) * gain + EPSILON < 0:
                split = -1
        asked[node] = split
        if split < 0:
            children[node] = np.argmax(counts.total)
            continue
        thresholds[node] = float(values[split, below]) / 2.0 + float(values[split, above]) / 2.0
        for side in range(2):
            own = waiting[height + side]
            own[0] = start if side else start + cut
            own[1] = start + cut if side else end
            own[2], own[3], own[4] = depth + 1, constant, 2 * node + 1 - side
        height += 2
    return asked, thresholds, children


@compiled
def predict_fold_by_levels(
    limits: tuple[int, int, int],
    seed: int,
    n_classes: int,
    values: Any,
    codes: Any,
    label: Any,
    fold: Any,
    tested: int,
    predicted: IntArray,
) -> None:
    """Predict the rows of the fold `tested` by the tree that is grown on all others.

    There are at most 256 levels of a feature, and so few rows that the square of their number fits into 31 bits.

    Parameters
    ----------
    limits : (int, int, int)
        The largest depth, the fewest rows of a node that is split, and the fewest of a leaf.
    seed : int
        Where the sequence by which scikit-learn draws columns starts; not 0.
    n_classes : int
    values : array of float32, shape (features, levels)
        The value of each level of a feature, in increasing order.
    codes : array of uint8, shape (n, features)
        The level of each row.
    label, fold : arrays of uint32, shape (n,)
    tested : int
    predicted : array of int64, shape (n,)
        Where the classes are written to.
    """
    members = np.flatnonzero(fold != tested).astype(np.uint32)
    data = Coded(codes, label)
    asked, thresholds, children = _grow(data, values, members, n_classes, limits, seed)
    for row in range(len(label)):
        if fold[row] == tested:
            node = 0
            while asked[node] >= 0:
                feature = asked[node]
                right = values[feature, codes[row, feature]] > thresholds[node]
                node = children[node, 1 if right else 0]
            predicted[row] = children[node, 0]
