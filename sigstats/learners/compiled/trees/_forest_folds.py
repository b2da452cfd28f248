"""Forests retrained without a fold that they then predict: their data, and the improvement and the order of splits.

Compiled by Numba. What is compared is made of the same floats in the same order as scikit-learn's, and columns are
searched in the order that it draws, as the first of equal splits wins.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from ...._common.validation import IntArray
from ..jit import compiled, inlined, lean

#: scikit-learn holds values no farther apart than this to be equal.
SAME: Final = np.float32(1e-7)
EPSILON: Final = float(np.finfo(np.float64).eps)


@lean
def improvement(left_squares: int, n_left: int, right_squares: int, n_right: int) -> Any:
    """The number by which scikit-learn compares splits, and the impurities of the parts."""
    left_impurity = 1.0 - left_squares / (float(n_left) * float(n_left))
    right_impurity = 1.0 - right_squares / (float(n_right) * float(n_right))
    return -float(n_right) * right_impurity - float(n_left) * left_impurity, left_impurity, right_impurity


@lean
def helps(left_squares: int, n_left: int, right_squares: int, n: int, impurity: float, drawn_in_all: int) -> bool:
    """True if scikit-learn takes the split of a node of `n` draws."""
    rest = n - n_left
    _, left_impurity, right_impurity = improvement(left_squares, n_left, right_squares, rest)
    gain = impurity - float(rest) / float(n) * right_impurity - float(n_left) / float(n) * left_impurity
    return not float(n) / float(drawn_in_all) * gain + EPSILON < 0


@lean
def next_draw(state: int) -> int:
    """The next number of scikit-learn's sequence: an xorshift of 32 bits."""
    state = (state ^ (state << 13)) & 0xFFFFFFFF
    state ^= state >> 17
    return (state ^ (state << 5)) & 0xFFFFFFFF


@lean
def draw_place(columns: Any, known: int, constant: int, drawn: int, undrawn: int, state: int) -> tuple[int, int, int]:
    """The place of the next column to look at, how many known constants were drawn, and the state of the sequence.

    The place is -1 if a known constant was drawn. In `columns` stand known constants that were drawn, known constants,
    constants found in this node, those not drawn yet, and from `undrawn` on those that were searched.
    """
    state = next_draw(state)
    at = drawn + (state & 0x7FFFFFFF) % (undrawn - (constant - known) - drawn)
    if at < known:
        columns[drawn], columns[at] = columns[at], columns[drawn]
        return -1, drawn + 1, state
    return at + constant - known, drawn, state


@lean
def keep_constants(columns: Any, constants: Any, known: int, constant: int) -> None:
    """Put the known constants back in their order, and note those that were found in this node."""
    for at in range(known):
        columns[at] = constants[at]
    for at in range(known, constant):
        constants[at] = columns[at]


class Settings(NamedTuple):
    """Limits: depth, rows of a split node and of a leaf, columns tried; thresholds are drawn; number of classes."""

    deepest: int
    fewest: int
    smallest: int
    tried: int
    drawn_thresholds: bool
    n_classes: int


class Features(NamedTuple):
    """The features of the rows."""

    #: The feature of each column: a number, or one of the categories of a nominal feature; array of int64, shape
    #: (columns,).
    feature_of: Any
    #: array of bool, shape (features,).
    nominal: Any
    #: The list of rows in the order of a number's values; 0, that of all rows, if there is none; array of int64, shape
    #: (features,).
    list_of: Any
    #: The numbers; array of float32, shape (features, n).
    values: Any
    #: The rank of a number among its few levels, or the column in which a row has 1, for nominal features; array of
    #: uint32, shape (features, n).
    codes: Any
    #: The values of the levels, increasing; array of float32, shape (features, most levels).
    levels: Any


class Sample(NamedTuple):
    """The rows of a tree: their features, class and number of draws."""

    features: Features
    label: Any
    weight: Any


class Retrained(NamedTuple):
    """A forest for each fold, which predicts the rows of the fold and is grown on all others."""

    #: Where the sequences by which scikit-learn draws columns and thresholds start; not 0; array of int64, shape
    #: (trees,).
    seeds: Any
    #: How often training rows are drawn, in the order of their places, for each number of them; array of int32, shape
    #: (sizes, trees, most training rows).
    draws: Any
    #: Which of these each fold has; array of int64, shape (folds,).
    size_of: Any
    #: array of uint32, shape (n,).
    label: Any
    #: array of int64, shape (n,).
    fold: Any
    #: The row at each place; array of int64, shape (n,).
    at: IntArray
    #: Where the classes are written to; array of int64, shape (n,).
    predicted: IntArray


@compiled
def parted(forest: Retrained, tested: int) -> Any:
    """The training rows in the order of `draws`, and the rows of a test fold as they are."""
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
def count(sample: Any, members: Any, counts: Any) -> Any:
    """Count classes into `counts`, by the label and the weight of each row; the number drawn and the squared counts."""
    counts[:] = 0
    for row in members:
        counts[sample.label[row]] += sample.weight[row]
    drawn, squares = 0, 0
    for count in counts:
        drawn += count
        squares += count * count
    return drawn, squares


@compiled
def decide(forest: Retrained, votes: Any) -> None:
    """Write the classes of all rows, the first of those with the largest mean of all trees' shares."""
    trees = float(len(forest.seeds))
    for row in range(len(votes)):
        most = -1.0
        for own_class in range(votes.shape[1]):
            share = votes[row, own_class] / trees
            if share > most:
                most, forest.predicted[row] = share, own_class
