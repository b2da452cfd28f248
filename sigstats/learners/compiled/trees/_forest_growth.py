"""Random forests from columns in order, compiled by Numba: scikit-learn's own trees, bootstraps and votes.

A bootstrap sample says how often each training row was drawn, and depends on the seed and the number of rows alone. The
columns of a random forest are in order before anything is permuted, as in `_tree_growth`; where a node is split, its
rows are parted in the order they have.
"""

from typing import Any

import numpy as np

from sigstats._common.compiled import compiled

from ._forest_folds import Retrained, decide, parted
from ._forest_splits import FEW, Sample, Settings, Split, best_split, count
from ._tree_growth import _part
from ._tree_splits import EPSILON, improvement


@compiled
def _wait(node: Any, start: int, end: int, listed: int, depth: int, known: int, child: int) -> None:
    """Note a node's rows, what lists them, its depth, its known constant columns, and whose child it is."""
    node[0], node[1], node[2], node[3], node[4], node[5] = start, end, listed, depth, known, child


@compiled
def _grow(sample: Sample, rows: Any, settings: Settings, seed: int) -> Any:
    """Grow a tree on the rows that `rows` lists, in the order of each column.

    Returns, by node, its column (-1 in a leaf), the threshold, the nodes to go to, and the shares of classes in a leaf.
    """
    n_columns, m = len(sample.values), rows.shape[1]
    asked = np.empty(2 * m, dtype=np.int32)
    thresholds = np.empty(2 * m, dtype=np.float64)
    children = np.empty((2 * m, 2), dtype=np.int32)
    shares = np.empty((2 * m, settings.n_classes), dtype=np.float64)
    columns, constants = np.arange(n_columns), np.empty(n_columns, dtype=np.int64)
    ordered = np.empty(FEW, dtype=np.uint32)
    goes_left = np.zeros(sample.values.shape[1], dtype=np.uint8)
    spare = np.empty(m, dtype=np.uint32)
    total = np.empty(settings.n_classes, dtype=np.int64)
    left = np.empty(settings.n_classes, dtype=np.int64)
    waiting = np.empty((m + 1, 6), dtype=np.int64)
    _wait(waiting[0], 0, m, 0, 0, 0, -1)
    height, nodes, state, drawn_in_all = 1, 0, seed, 0
    while height:
        height -= 1
        own = waiting[height]
        start, end, listed, depth, known, child = own[0], own[1], own[2], own[3], own[4], own[5]
        n, squares = count(sample, rows[listed, start:end], total)
        impurity = 1.0 - squares / (float(n) * float(n))
        node, nodes = nodes, nodes + 1
        if child >= 0:
            children[child >> 1, child & 1] = node
        else:
            drawn_in_all = n
        asked[node] = -1
        few = end - start < settings.fewest or end - start < 2 * settings.smallest
        if not (depth >= settings.deepest or few or impurity <= EPSILON):
            place = (listed, start, end)
            split, constant, state = best_split(
                sample, rows, place, settings, columns, known, state, total, n, squares, left, ordered
            )
            columns[:known] = constants[:known]
            constants[known:constant] = columns[known:constant]
            if split.feature >= 0:
                rest = n - split.n_left
                _, left_impurity, right_impurity = improvement(
                    split.left_squares, split.n_left, split.right_squares, rest
                )
                gain = (
                    impurity - float(rest) / float(n) * right_impurity - float(split.n_left) / float(n) * left_impurity
                )
                if not float(n) / float(drawn_in_all) * gain + EPSILON < 0:
                    asked[node], thresholds[node] = split.feature, split.threshold
        if asked[node] < 0:
            for own_class in range(settings.n_classes):
                shares[node, own_class] = float(total[own_class]) / float(n)
            continue
        middle = start + split.cut
        left_grows = split.cut > FEW and left_impurity > EPSILON
        right_grows = end - middle > FEW and right_impurity > EPSILON
        varying = columns[constant:] if left_grows or right_grows else columns[:0]
        listed = _part_all(sample, rows, listed, start, end, split, varying, goes_left, spare)
        _wait(waiting[height], middle, end, listed, depth + 1, constant, 2 * node + 1)
        _wait(waiting[height + 1], start, middle, listed, depth + 1, constant, 2 * node)
        height += 2
    return asked, thresholds, children, shares


@compiled
def _part_all(
    sample: Sample,
    rows: Any,
    listed: int,
    start: int,
    end: int,
    split: Split,
    varying: Any,
    goes_left: Any,
    spare: Any,
) -> int:
    """Part the rows of a node in the lists of the columns that vary in it; the number of a list that is parted."""
    values = sample.values[split.feature]
    for row in rows[listed, start:end]:
        goes_left[row] = values[row] <= split.threshold
    if end - start <= FEW:
        _part(rows[listed, start:end], goes_left, spare)
        return listed
    for column in varying:
        if column != split.feature:
            _part(rows[column, start:end], goes_left, spare)
    return split.feature


@compiled
def predict_fold(settings: Settings, forest: Retrained, values: Any, order: Any) -> None:
    """Predict a fold.

    Parameters
    ----------
    settings : Settings
    forest : Retrained
    values : array of float32, shape (columns, n)
    order : array of uint32, shape (columns, n)
        The rows in the order of each column's values.
    """
    n, lists, m = values.shape[1], len(order), forest.draws.shape[1]
    placed, tests = parted(forest)
    train = np.empty((lists, m), dtype=np.uint32)
    for each in range(lists):
        filled = 0
        for row in order[each]:
            if forest.fold[row] != forest.tested:
                train[each, filled] = row
                filled += 1
    weight = np.zeros(n, dtype=np.int32)
    votes = np.zeros((n, settings.n_classes))
    for tree in range(len(forest.seeds)):
        different = 0
        for at in range(m):
            weight[placed[at]] = forest.draws[tree, at]
            different += forest.draws[tree, at] > 0
        rows = np.empty((lists, different), dtype=np.uint32)
        for each in range(lists):
            filled = 0
            for row in train[each]:
                if weight[row]:
                    rows[each, filled] = row
                    filled += 1
        sample = Sample(values, forest.label, weight)
        asked, thresholds, children, shares = _grow(sample, rows, settings, forest.seeds[tree])
        for row in tests:
            node = 0
            while asked[node] >= 0:
                node = children[node, 1 if values[asked[node], row] > thresholds[node] else 0]
            for own_class in range(settings.n_classes):
                votes[row, own_class] += shares[node, own_class]
    decide(forest, tests, votes)
