"""Data of cross-validated forests, and the improvement and order of splits, compiled by Numba.

Improvements are computed from the same floats in the same order as by scikit-learn, and columns are searched in the
order that it draws, since the first of equal splits wins.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np

from ...._common.validation import IntArray
from ..jit import compiled, inlined, lean

#: scikit-learn treats values that differ by at most this as equal.
SAME: Final = np.float32(1e-7)
LOG_OF_TWO: Final = math.log(2.0)
EPSILON: Final = float(np.finfo(np.float64).eps)


@inlined
def ginis(left_squares: int, n_left: int, right_squares: int, n_right: int) -> Any:
    """Return the Gini impurities of both sides, from sums of squared counts."""
    left = 1.0 - left_squares / (float(n_left) * float(n_left))
    return left, 1.0 - right_squares / (float(n_right) * float(n_right))


@lean
def entropies(left: Any, total: Any, n_left: int, n_right: int) -> Any:
    """Return the entropies of both sides in bits, from counts of classes on the left and in total."""
    on_left, on_right = 0.0, 0.0
    for label in range(len(total)):
        own, rest = left[label], total[label] - left[label]
        if own > 0:
            share = float(own) / float(n_left)
            on_left -= share * (math.log(share) / LOG_OF_TWO)
        if rest > 0:
            share = float(rest) / float(n_right)
            on_right -= share * (math.log(share) / LOG_OF_TWO)
    return on_left, on_right


@lean
def _rules_out(terms: Any, left: Any, total: Any, n_left: int, n_right: int, best: float) -> Any:
    """Return True if the improvement by entropy is certainly below `best` in spite of rounding; takes no logarithm."""
    gain = -terms[n_left] - terms[n_right]
    for label in range(len(total)):
        gain += terms[left[label]] + terms[total[label] - left[label]]
    return gain < best - 1e-9 * float(n_left + n_right)


@inlined
def improvement(
    terms: Any, left: Any, total: Any, left_squares: int, n_left: int, right_squares: int, n_right: int, best: float
) -> Any:
    """Return the improvement by which scikit-learn ranks splits, -inf if below `best`, and both impurities."""
    if len(terms) == 0:
        on_left, on_right = ginis(left_squares, n_left, right_squares, n_right)
    elif _rules_out(terms, left, total, n_left, n_right, best):
        return -np.inf, 0.0, 0.0
    else:
        on_left, on_right = entropies(left, total, n_left, n_right)
    return -float(n_right) * on_right - float(n_left) * on_left, on_left, on_right


@lean
def is_accepted(split: Any, n: int, impurity: float, drawn_in_all: int) -> bool:
    """Return True if scikit-learn accepts the split of a node with `n` draws."""
    n_left, rest = float(split.n_left), float(n - split.n_left)
    gain = impurity - rest / float(n) * split.right_impurity - n_left / float(n) * split.left_impurity
    return not float(n) / float(drawn_in_all) * gain + EPSILON < 0


@lean
def next_draw(state: int) -> int:
    """Return the next number of scikit-learn's generator, a 32-bit xorshift."""
    state = (state ^ (state << 13)) & 0xFFFFFFFF
    state ^= state >> 17
    return (state ^ (state << 5)) & 0xFFFFFFFF


@lean
def draw_place(columns: Any, known: int, constant: int, drawn: int, undrawn: int, state: int) -> tuple[int, int, int]:
    """Return the place of the next column to search, the number of known constants drawn, and the generator's state.

    The place is -1 if a known constant was drawn. `columns` contains, in this order: known constants that were drawn,
    other known constants, new constants of this node, columns not drawn yet, and from `undrawn` on searched columns.
    """
    state = next_draw(state)
    at = drawn + (state & 0x7FFFFFFF) % (undrawn - (constant - known) - drawn)
    if at < known:
        columns[drawn], columns[at] = columns[at], columns[drawn]
        return -1, drawn + 1, state
    return at + constant - known, drawn, state


@lean
def keep_constants(columns: Any, constants: Any, known: int, constant: int) -> None:
    """Restore the order of the known constants, and add the new constants of this node."""
    for at in range(known):
        columns[at] = constants[at]
    for at in range(known, constant):
        constants[at] = columns[at]


class Settings(NamedTuple):
    """Limits of depth, rows of a split node and of a leaf; columns tried; drawn thresholds; classes; criterion."""

    deepest: int
    fewest: int
    smallest: int
    tried: int
    drawn_thresholds: bool
    n_classes: int
    #: c log2(c) for each possible sum of draws c, used to rule out thresholds; empty for the Gini impurity.
    terms: Any


class Features(NamedTuple):
    """The features of the rows."""

    #: Feature of each column. A nominal feature has a column for each category. Array of int64, shape (columns,).
    feature_of: Any
    #: True if a feature is nominal; array of bool, shape (features,).
    nominal: Any
    #: List of rows sorted by the feature, or 0, the unsorted list of all rows; array of int64, shape (features,).
    list_of: Any
    #: Values of numeric features; array of float32, shape (features, n).
    values: Any
    #: Level of a numeric value, or column of a category; array of uint32, shape (features, n).
    codes: Any
    #: Values of the levels, increasing; array of float32, shape (features, most levels).
    levels: Any


class Sample(NamedTuple):
    """Rows of a tree: features, labels and numbers of draws."""

    features: Features
    label: Any
    weight: Any


class Retrained(NamedTuple):
    """One forest per fold, grown on all other folds, that predicts the rows of the fold."""

    #: Seeds of scikit-learn's generators of columns and thresholds, not 0; array of int64, shape (trees,).
    seeds: Any
    #: Numbers of draws of training rows by place, for each size of training set; array of int32, shape (sizes, trees,
    #: largest size).
    draws: Any
    #: Index of the size of each fold's training set; array of int64, shape (folds,).
    size_of: Any
    #: Label of each row; array of uint32, shape (n,).
    label: Any
    #: Fold of each row; array of int64, shape (n,).
    fold: Any
    #: Row in each place; array of int64, shape (n,).
    at: IntArray
    #: Output: the predicted classes; array of int64, shape (n,).
    predicted: IntArray


@compiled
def train_and_test(forest: Retrained, tested: int) -> Any:
    """Return the training rows in the order of `draws`, and the rows of the test fold."""
    n, left = len(forest.fold), 0
    rows = np.empty(n, dtype=np.uint32)
    for row in range(n):
        rows[left] = row
        left += int(forest.fold[row] == tested)
    tests, train, filled = rows[:left].copy(), rows, 0
    for row in forest.at:
        if forest.fold[row] != tested:
            train[filled] = row
            filled += 1
    return train[:filled], tests


@inlined
def count_classes(sample: Any, members: Any, counts: Any) -> Any:
    """Write weighted counts of classes to `counts`; return their sum and the sum of their squares."""
    counts[:] = 0
    for row in members:
        counts[sample.label[row]] += sample.weight[row]
    drawn, squares = 0, 0
    for count in counts:
        drawn += count
        squares += count * count
    return drawn, squares


@compiled
def write_predictions(forest: Retrained, votes: Any) -> None:
    """Write the predicted classes: the first class with the largest mean share over all trees."""
    trees = float(len(forest.seeds))
    for row in range(len(votes)):
        most = -1.0
        for own_class in range(votes.shape[1]):
            share = votes[row, own_class] / trees
            if share > most:
                most, forest.predicted[row] = share, own_class
