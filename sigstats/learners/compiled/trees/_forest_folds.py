"""Forests that are retrained without a fold and predict it, however their trees grow, compiled by Numba."""

from typing import Any, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled, inlined
from sigstats._common.validation import IntArray


class Settings(NamedTuple):
    """Limits of trees: depth, rows of a node that is split and of a leaf, columns tried; whether thresholds are drawn.

    And the number of classes.
    """

    deepest: int
    fewest: int
    smallest: int
    tried: int
    drawn_thresholds: bool
    n_classes: int


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


@compiled
def parted(forest: Retrained) -> Any:
    """The rows to train on, in the order in which `draws` has them, and those to test, as they stand."""
    m = forest.draws.shape[1]
    train, tests = np.empty(m, dtype=np.uint32), np.empty(len(forest.fold) - m, dtype=np.uint32)
    filled, left = 0, 0
    for row in forest.at:
        if forest.fold[row] != forest.tested:
            train[filled] = row
            filled += 1
    for row in range(len(forest.fold)):
        if forest.fold[row] == forest.tested:
            tests[left] = row
            left += 1
    return train, tests


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
def decide(forest: Retrained, tests: Any, votes: Any) -> None:
    """Write the classes of the tested rows, from the sums of all trees' shares."""
    for row in tests:
        forest.predicted[row] = np.argmax(votes[row] / float(len(forest.seeds)))
