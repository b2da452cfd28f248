"""Rows that are copies of others: equal in all columns, of which one at least is nearly as fine as all together.

Predictions alone are equal where rows are not. What tells copies from these is content, such as features or a text: as
many rows as differ in any column differ in their content.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .validation import IntArray

#: Content of fewer different rows than this, or than a share of all, is a category.
_FEWEST, _LEAST_SHARE = 10, 0.02
#: By how much more rows may differ in all columns than in their content.
_FINE = 1.1


def joint_codes(columns: Sequence[IntArray]) -> IntArray:
    """The number of each row's combination of codes, which count from 0."""
    found = np.zeros(len(columns[0]), np.int64)
    for codes in columns:
        found = np.unique(found * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return found


def copied_rows(content: IntArray, beside: Sequence[IntArray]) -> NDArray[np.bool_] | None:
    """A mask of rows that equal an earlier one in their content and in the columns beside it; None where none does."""
    own = int(content.max()) + 1
    if own < max(_FEWEST, _LEAST_SHARE * len(content)):
        return None
    joint = joint_codes([content, *beside])
    first = np.unique(joint, return_index=True)[1]
    if len(first) == len(joint) or len(first) > _FINE * own:
        return None
    copies = np.ones(len(joint), dtype=bool)
    copies[first] = False
    return copies
