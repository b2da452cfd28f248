"""Rows that are copies of others: equal in all columns, though not by chance.

Equal predictions do not make rows copies, since easy rows have the same ones. Equal content does, such as features or
a text, if it is so fine that nearly all rows that differ in any column also differ in their content.
"""

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
#: Content that more votes share on average, such as that of three judges, does not identify a vote.
_MOST_OF_ONE = 8


def check_sides(votes: IntArray, content: IntArray | None = None) -> None:
    """Raise ValueError if all votes (two models, sign) occur twice, with the sides exchanged.

    In turn or in halves; or in any order, if the rest of their `content`, as codes, distinguishes most votes.
    """
    n, exchanged = len(votes), votes[:, [1, 0, 2]] * [1, 1, -1]
    if n % 2 or n < _FEWEST_TWICE:
        return
    halves = (slice(None, None, 2), slice(1, None, 2)), (slice(n // 2), slice(n // 2, None))
    mirrored = any(np.array_equal(votes[one], exchanged[other]) for one, other in halves)
    if content is not None and int(content.max()) + 1 >= n / _MOST_OF_ONE:
        first, second = (np.column_stack([content, side]) for side in (votes, exchanged))
        mirrored |= np.array_equal(first[np.lexsort(first.T)], second[np.lexsort(second.T)])
    if mirrored:
        cure = "leave out one of each pair, or give the question of each vote (items, --item)"
        raise ValueError(f"votes: all {n:,} occur twice with the sides exchanged; {cure}")


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
