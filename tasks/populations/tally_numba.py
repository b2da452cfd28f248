"""Rows counted one by one, compiled by Numba (the extra ``fast``)."""

from typing import Any

import numpy as np

from sigstats._common.compiled import compiled


@compiled
def count_rows(truth: Any, a: Any, b: Any, first: tuple[int, int, int], places: Any, table: Any) -> int:
    """Count rows of whole numbers into `table` until one has no place there.

    Returns how many rows were counted, n or fewer.

    `truth`, `a` and `b` (arrays of int, shape (n,)): of no unsigned 64 bits.
    `first`: the first number of each column that may have a place.
    `places`: for that number of a column and those after it what they add to the place of a row's outcome; far below
    0 for one that has none.
    """
    in_truth, in_a, in_b = places
    # As unsigned numbers, those before the first are beyond the last as well: one comparison a column. They index
    # without a look at their sign.
    for row in range(np.uint64(len(truth))):
        i = np.uint64(np.int64(truth[row]) - first[0])
        j = np.uint64(np.int64(a[row]) - first[1])
        k = np.uint64(np.int64(b[row]) - first[2])
        if i >= np.uint64(len(in_truth)) or j >= np.uint64(len(in_a)) or k >= np.uint64(len(in_b)):
            return row
        at = np.uint64(in_truth[i] + in_a[j] + in_b[k])
        if at >= np.uint64(len(table)):
            return row
        table[at] += 1
    return len(truth)
