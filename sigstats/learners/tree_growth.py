"""Classification trees from columns that are sorted once, compiled by Numba.

scikit-learn sorts every feature anew in every node. Permuted labels leave the order of a column as it is, and a
permuted column takes its order along, so here a column is sorted once a data set; where a node is split, its rows are
parted in the order they have.

The trees are scikit-learn's own, ties included: the improvement by a split is made of the same floats in the same
order, and columns are looked at in the order that scikit-learn draws, as the first of equal splits wins.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numba import njit

from sigstats.checks import IntArray

#: scikit-learn holds values no farther apart than this to be equal.
_SAME: Final = np.float32(1e-7)
_EPSILON: Final = float(np.finfo(np.float64).eps)
_LEAF: Final = -1


def _compiled(function: Callable[..., Any]) -> Any:
    """Compile, and keep the result beside the source or in the user's cache, where either can be written to."""
    try:
        return njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # nowhere to keep it
        return njit(nogil=True, error_model="numpy")(function)


@_compiled
def _class_counts(label: Any, members: Any, counts: Any) -> int:
    """Count classes into `counts`, and return the sum of the squares."""
    counts[:] = 0
    for row in members:
        counts[label[row]] += 1
    squares = 0
    for count in counts:
        squares += count * count
    return squares


@_compiled
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
        left_impurity = 1.0 - left_squares / (float(cut) * float(cut))
        right_impurity = 1.0 - right_squares / (float(rest) * float(rest))
        improvement = -float(rest) * right_impurity - float(cut) * left_impurity
        if improvement > best:
            best, place = improvement, cut
    return place, best


@_compiled
def _part(members: Any, goes_left: Any, spare: Any) -> None:
    """Put the rows that go left first, both parts in the order they had."""
    lefts = np.uint64(0)
    for at in range(np.uint64(len(members))):
        row = members[at]
        members[lefts] = row
        spare[at - lefts] = row
        lefts += np.uint64(goes_left[row])
    members[lefts:] = spare[: np.uint64(len(members)) - lefts]


@_compiled
def _wait(node: Any, start: int, end: int, listed: int, depth: int, known: int, child: int) -> None:
    """Note a node's rows, a column that lists them, its depth, its known constant columns, and whose child it is."""
    node[0], node[1], node[2], node[3], node[4], node[5] = start, end, listed, depth, known, child


@_compiled
def _grow(values: Any, label: Any, rows: Any, features: Any, n_classes: int, limits: Any, seed: int) -> Any:
    """Grow a tree on the rows that `rows` lists in the order of each column; `features` are the columns there are.

    Returns, by node, the column it asks for (-1 in a leaf), the threshold, and the nodes to go to (in a leaf: the
    class, twice).
    """
    deepest, fewest, smallest = limits
    m = rows.shape[1]
    asked = np.empty(2 * m, dtype=np.int32)
    thresholds = np.empty(2 * m, dtype=np.float64)
    children = np.empty((2 * m, 2), dtype=np.int32)
    constants = np.empty(len(features), dtype=np.int32)
    goes_left = np.zeros(values.shape[1], dtype=np.uint8)
    spare = np.empty(m, dtype=np.uint32)
    total = np.empty(n_classes, dtype=np.int64)
    left = np.empty(n_classes, dtype=np.int64)
    right = np.empty(n_classes, dtype=np.int64)
    waiting = np.empty((m + 1, 6), dtype=np.int64)
    _wait(waiting[0], 0, m, features[0], 0, 0, -1)
    height, nodes, state = 1, 0, seed
    while height:
        height -= 1
        own_node = waiting[height]
        start, end, listed = own_node[0], own_node[1], own_node[2]
        depth, known, child = own_node[3], own_node[4], own_node[5]
        n = end - start
        squares = _class_counts(label, rows[listed, start:end], total)
        impurity = 1.0 - squares / (float(n) * float(n))
        node, nodes = nodes, nodes + 1
        if child >= 0:
            children[child >> 1, child & 1] = node
        column, cut, best = -1, -1, -np.inf
        constant = known
        if not (depth >= deepest or n < fewest or n < 2 * smallest or impurity <= _EPSILON):
            # Columns: known constants that were drawn, known constants, constants found here, those not drawn yet,
            # and from `undrawn` on those that were looked at.
            drawn, undrawn = 0, len(features)
            while undrawn > constant:
                state = (state ^ (state << 13)) & 0xFFFFFFFF
                state ^= state >> 17
                state = (state ^ (state << 5)) & 0xFFFFFFFF
                at = drawn + (state & 0x7FFFFFFF) % (undrawn - (constant - known) - drawn)
                if at < known:
                    features[drawn], features[at] = features[at], features[drawn]
                    drawn += 1
                    continue
                at += constant - known
                feature = features[at]
                members = rows[feature, start:end]
                own = values[feature]
                if own[members[n - 1]] <= own[members[0]] + _SAME:
                    features[at], features[constant] = features[constant], feature
                    constant += 1
                    continue
                undrawn -= 1
                features[at], features[undrawn] = features[undrawn], feature
                place, best = _best_cut(own, label, members, total, squares, smallest, best, left)
                if place >= 0:
                    column, cut = feature, place
            features[:known] = constants[:known]
            constants[known:constant] = features[known:constant]
        if column >= 0:
            members = rows[column, start:end]
            left_squares = _class_counts(label, members[:cut], left)
            right_squares = _class_counts(label, members[cut:], right)
            rest = n - cut
            left_impurity = 1.0 - left_squares / (float(cut) * float(cut))
            right_impurity = 1.0 - right_squares / (float(rest) * float(rest))
            gain = impurity - float(rest) / float(n) * right_impurity - float(cut) / float(n) * left_impurity
            if float(n) / float(m) * gain + _EPSILON < 0:
                column = -1
        asked[node] = column
        if column < 0:
            children[node] = np.argmax(total)
            continue
        own = values[column]
        thresholds[node] = float(own[members[cut - 1]]) / 2.0 + float(own[members[cut]]) / 2.0
        if not (
            depth + 1 >= deepest
            or ((left_impurity <= _EPSILON or cut < fewest) and (right_impurity <= _EPSILON or rest < fewest))
        ):
            for row in members[:cut]:
                goes_left[row] = 1
            for feature in features[constant:]:
                if feature != column:
                    _part(rows[feature, start:end], goes_left, spare)
            for row in members[:cut]:
                goes_left[row] = 0
        _wait(waiting[height], start + cut, end, column, depth + 1, constant, 2 * node + 1)
        _wait(waiting[height + 1], start, start + cut, column, depth + 1, constant, 2 * node)
        height += 2
    return asked, thresholds, children


@_compiled
def predict_fold(
    limits: tuple[int, int, int],
    seed: int,
    values: Any,
    order: Any,
    optional: Any,
    label: Any,
    fold: Any,
    tested: int,
    n_classes: int,
    predicted: IntArray,
) -> None:
    """Predict the rows of the fold `tested` by the tree that is grown on all others.

    Parameters
    ----------
    limits : (int, int, int)
        The largest depth, the fewest rows of a node that is split, and the fewest of a leaf.
    seed : int
        Where the sequence by which scikit-learn draws columns starts; not 0.
    values : array of float32, shape (d, n)
    order : array of uint32, shape (d, n)
        The rows in the order of each column's values.
    optional : array of bool, shape (d,)
        Columns of 0 and 1 that are no column for a tree whose rows are all 0 there.
    label, fold : arrays of uint32, shape (n,)
    tested, n_classes : int
    predicted : array of int64, shape (n,)
        Where the classes are written to.
    """
    d, n = values.shape
    m = 0
    for row in range(n):
        m += fold[row] != tested
    rows = np.empty((d, m), dtype=np.uint32)
    features = np.empty(d, dtype=np.int32)
    present = 0
    position = np.empty(d, dtype=np.int32)
    for column in range(d):
        at = 0
        for row in order[column]:
            if fold[row] != tested:
                rows[column, at] = row
                at += 1
        if not optional[column] or values[column, rows[column, m - 1]] > 0:
            position[present] = column
            present += 1
    features[:present] = position[:present]
    asked, thresholds, children = _grow(values, label, rows, features[:present], n_classes, limits, seed)
    for row in range(n):
        if fold[row] == tested:
            node = 0
            while asked[node] >= 0:
                node = children[node, 0 if values[asked[node], row] <= thresholds[node] else 1]
            predicted[row] = children[node, 0]
