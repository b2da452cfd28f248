"""Classification trees from features that are sorted once, compiled by Numba.

scikit-learn sorts every feature anew in every node. Permuted labels leave the order of a feature as it is, and a
permuted feature takes its order along, so here a feature is sorted once a data set; where a node is split, its rows
are parted in the order they have. A nominal feature, which scikit-learn sees as a column of 0 and 1 for each category,
is one list here: one pass counts the classes of all its categories.

The trees are scikit-learn's own, ties included: the improvement by a split is made of the same floats in the same
order, and columns are looked at in the order that scikit-learn draws, as the first of equal splits wins.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled
from sigstats._common.validation import IntArray

#: scikit-learn holds values no farther apart than this to be equal.
_SAME: Final = np.float32(1e-7)
_EPSILON: Final = float(np.finfo(np.float64).eps)


@compiled
def _class_counts(label: Any, members: Any, counts: Any) -> int:
    """Count classes into `counts`, and return the sum of the squares."""
    counts[:] = 0
    for row in members:
        counts[label[row]] += 1
    squares = 0
    for count in counts:
        squares += count * count
    return squares


@compiled
def _improvement(left_squares: int, n_left: int, right_squares: int, n_right: int) -> Any:
    """What scikit-learn compares splits by, and the impurities of the parts."""
    left_impurity = 1.0 - left_squares / (float(n_left) * float(n_left))
    right_impurity = 1.0 - right_squares / (float(n_right) * float(n_right))
    return -float(n_right) * right_impurity - float(n_left) * left_impurity, left_impurity, right_impurity


@compiled
def _best_cut(
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
        improvement = _improvement(left_squares, cut, right_squares, rest)[0]
        if improvement > best:
            best, place = improvement, cut
    return place, best


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


class _Data(NamedTuple):
    """What `predict_fold` is given of the rows."""

    values: Any
    categories: Any
    feature_of: Any
    nominal: Any
    label: Any


class _Counted(NamedTuple):
    """Of features the last node in which their categories were counted.

    Of categories the last node in which they were seen, and there their rows, and these by class.
    """

    of_feature: Any
    of_category: Any
    ones: Any
    classes: Any


@compiled
def _count_categories(categories: Any, label: Any, members: Any, node: int, counted: _Counted) -> None:
    """Count the rows of a node in each category, by class."""
    for row in members:
        category = categories[row]
        if counted.of_category[category] != node:
            counted.of_category[category] = node
            counted.ones[category] = 0
            counted.classes[category] = 0
        counted.ones[category] += 1
        counted.classes[category, label[row]] += 1


@compiled
def _squares_of_parts(total: Any, inside: Any) -> Any:
    """The sums of squared class counts without and with the rows that `inside` counts."""
    without, within = 0, 0
    for own_class in range(len(total)):
        within += inside[own_class] ** 2
        without += (total[own_class] - inside[own_class]) ** 2
    return without, within


@compiled
def _wait(node: Any, start: int, end: int, listed: int, depth: int, known: int, child: int) -> None:
    """Note a node's rows, a feature that lists them, its depth, its known constant columns, and whose child it is."""
    node[0], node[1], node[2], node[3], node[4], node[5] = start, end, listed, depth, known, child


@compiled
def _drawn(state: int) -> int:
    """The next number of scikit-learn's sequence: an xorshift of 32 bits."""
    state = (state ^ (state << 13)) & 0xFFFFFFFF
    state ^= state >> 17
    return (state ^ (state << 5)) & 0xFFFFFFFF


@compiled
def _choose(
    data: _Data,
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
    counted: _Counted,
) -> Any:
    """The best split of a node: its column, or -1, and how many rows go left.

    And how many columns are constant, which are put first in `columns`, and where the sequence of draws is.
    """
    n = end - start
    split, cut, best = -1, -1, -np.inf
    constant = known
    # Columns: known constants that were drawn, known constants, constants found here, those not drawn yet,
    # and from `undrawn` on those that were looked at.
    drawn, undrawn = 0, len(columns)
    while undrawn > constant:
        state = _drawn(state)
        at = drawn + (state & 0x7FFFFFFF) % (undrawn - (constant - known) - drawn)
        if at < known:
            columns[drawn], columns[at] = columns[at], columns[drawn]
            drawn += 1
            continue
        at += constant - known
        column = columns[at]
        feature = data.feature_of[column]
        members = rows[feature, start:end]
        if data.nominal[feature]:
            if counted.of_feature[feature] != node:
                counted.of_feature[feature] = node
                _count_categories(data.categories[feature], data.label, members, node, counted)
            inside = counted.ones[column] if counted.of_category[column] == node else 0
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
            left_squares, right_squares = _squares_of_parts(total, counted.classes[column])
            improvement = _improvement(left_squares, n - inside, right_squares, inside)[0]
            if improvement > best:
                split, cut, best = column, n - inside, improvement
        else:
            place, best = _best_cut(data.values[feature], data.label, members, total, squares, smallest, best, left)
            if place >= 0:
                split, cut = column, place
    return split, cut, constant, state


@compiled
def _grow(data: _Data, rows: Any, columns: Any, n_classes: int, limits: tuple[int, int, int], seed: int) -> Any:
    """Grow a tree on the rows that `rows` lists in the order of each feature; `columns` are those there are.

    Returns, by node, the column it asks for (-1 in a leaf), the threshold of a number, and the nodes to go to (in a
    leaf: the class, twice).
    """
    values, categories, feature_of, nominal, label = data
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
    counted = _Counted(
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
        squares = _class_counts(label, rows[listed, start:end], total)
        impurity = 1.0 - squares / (float(n) * float(n))
        node, nodes = nodes, nodes + 1
        if child >= 0:
            children[child >> 1, child & 1] = node
        split, cut, constant = -1, -1, known
        if not (depth >= deepest or n < fewest or n < 2 * smallest or impurity <= _EPSILON):
            split, cut, constant, state = _choose(
                data, rows, columns, node, start, end, known, smallest, state, total, squares, left, counted
            )
            columns[:known] = constants[:known]
            constants[known:constant] = columns[known:constant]
        if split >= 0:
            feature = feature_of[split]
            members = rows[feature, start:end]
            if nominal[feature]:
                left_squares, right_squares = _squares_of_parts(total, counted.classes[split])
            else:
                left_squares = _class_counts(label, members[:cut], left)
                right_squares = _class_counts(label, members[cut:], right)
            rest = n - cut
            _, left_impurity, right_impurity = _improvement(left_squares, cut, right_squares, rest)
            gain = impurity - float(rest) / float(n) * right_impurity - float(cut) / float(n) * left_impurity
            if float(n) / float(m) * gain + _EPSILON < 0:
                split = -1
        asked[node] = split
        if split < 0:
            children[node] = np.argmax(total)
            continue
        if nominal[feature]:
            for row in members:
                goes_left[row] = categories[feature, row] != split
            _part(members, goes_left, spare)
        else:
            below, above = values[feature, members[cut - 1]], values[feature, members[cut]]
            thresholds[node] = float(below) / 2.0 + float(above) / 2.0
            for at in range(n):
                goes_left[members[at]] = at < cut
        left_ends = left_impurity <= _EPSILON or cut < fewest
        right_ends = right_impurity <= _EPSILON or rest < fewest
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
    data = _Data(values, categories, feature_of, nominal, label)
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
