"""What forests are retrained on and predict, however their trees grow, compiled by Numba."""

from typing import Any, NamedTuple

import numpy as np

from sigstats._common.compiled import compiled
from sigstats._common.validation import IntArray


class Retrained(NamedTuple):
    """A forest that predicts the rows of the fold `tested` and is grown on all others.

    Attributes
    ----------
    seeds : array of int64, shape (trees,)
        Where the sequences by which scikit-learn draws columns and thresholds start; not 0.
    draws : array of int32, shape (trees, training rows)
        How often the rows are drawn, in the order of their places.
    label : array of uint32, shape (n,)
    fold : array of int64, shape (n,)
    at : array of int64, shape (n,)
        The row at each place.
    tested : int
    predicted : array of int64, shape (n,)
        Where the classes are written to.
    """

    seeds: Any
    draws: Any
    label: Any
    fold: Any
    at: IntArray
    tested: int
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


@compiled
def decide(forest: Retrained, tests: Any, votes: Any) -> None:
    """Write the classes of the tested rows, from the sums of all trees' shares."""
    for row in tests:
        forest.predicted[row] = np.argmax(votes[row] / float(len(forest.seeds)))
