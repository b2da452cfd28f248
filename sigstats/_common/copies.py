"""Rows that are copies of others: equal in all columns, though not by chance."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .data_frames import joint_codes
from .validation import IntArray

#: Content of fewer different rows than this, or than a share of all, is a category.
_FEWEST, _LEAST_SHARE = 10, 0.02
#: The largest ratio of the numbers of rows that differ in all columns and in their content.
_FINE = 1.1
#: A column is no evidence of copies if a larger share of the pairs of rows are equal in it.
_ALIKE = 0.7


def copied_rows(content: IntArray, other_columns: Sequence[IntArray]) -> NDArray[np.bool_] | None:
    """A mask of rows that equal an earlier row in their content and other columns; None if no row does."""
    contents = int(content.max()) + 1
    if contents < max(_FEWEST, _LEAST_SHARE * len(content)):
        return None
    joint = joint_codes([content, *other_columns])
    first = np.unique(joint, return_index=True)[1]
    if len(first) == len(joint) or len(first) > _FINE * contents:
        return None
    copies = np.ones(len(joint), dtype=bool)
    copies[first] = False
    return copies


#: With fewer votes, all may occur twice by chance.
_FEWEST_TWICE = 20


def are_mirrored(votes: IntArray) -> bool:
    """True if all votes (two models, sign) occur twice, in turn or in halves, with the sides exchanged."""
    n = len(votes)
    halves = (
        [(votes[::2], votes[1::2]), (votes[: n // 2], votes[n // 2 :])] if n % 2 == 0 and n >= _FEWEST_TWICE else []
    )
    return any(np.array_equal(one, other[:, [1, 0, 2]] * [1, 1, -1]) for one, other in halves)


def equal_by_chance(content: IntArray, columns: Sequence[IntArray]) -> bool:
    """True if equal rows are no more frequent than expected from categorical columns.

    Copies are equal in all columns. If a column is independent of the others, rows that are equal in all other columns
    are equal in it as often as any rows.
    """
    n, pairs = len(content), len(content) * (len(content) - 1) / 2
    if n < 2 or len(columns) < 2 or max(int(codes.max()) + 1 for codes in columns) > n / 2:
        return False
    equal, *of_columns = map(_equal_pairs, (content, *columns))
    if equal <= _at_most_by_chance(math.prod(number / pairs for number in of_columns) * pairs):
        return True
    for place in range(len(columns)):
        share = of_columns[place] / pairs
        if share <= _ALIKE:
            rest = _equal_pairs(joint_codes([*columns[:place], *columns[place + 1 :]]))
            if equal <= _at_most_by_chance(rest * share):
                return True
    return False


def _equal_pairs(codes: IntArray) -> float:
    rows = np.bincount(codes)
    return float(rows @ (rows - 1) / 2)


def _at_most_by_chance(expected: float) -> float:
    return 1.05 * expected + 3 * math.sqrt(expected) + 1
