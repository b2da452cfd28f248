"""Rows counted one by one, compiled by Numba (the extra ``fast``)."""

from typing import Any

import numpy as np

from sigstats.compiled import compiled


@compiled
def count_rows(truth: Any, a: Any, b: Any, first: tuple[int, int, int], size: tuple[int, int, int], table: Any) -> int:
    """Count rows of whole numbers into `table` until one lies beyond it.

    Parameters
    ----------
    truth, a, b : arrays of int, shape (n,)
        Of no unsigned 64 bits.
    first : (int, int, int)
        The number that has the first place in each axis of the table.
    size : (int, int, int)
        How many numbers there are from there on.
    table : array of int64, shape (size[0] * size[1] * size[2],)

    Returns
    -------
    int
        How many rows were counted, n or fewer.
    """
    # As unsigned numbers, those before the first are beyond the size as well: one comparison an axis.
    across, down, deep = np.uint64(size[0]), np.uint64(size[1]), np.uint64(size[2])
    for row in range(len(truth)):
        i = np.uint64(np.int64(truth[row]) - first[0])
        j = np.uint64(np.int64(a[row]) - first[1])
        k = np.uint64(np.int64(b[row]) - first[2])
        if i >= across or j >= down or k >= deep:
            return row
        table[(i * down + j) * deep + k] += 1
    return len(truth)
