"""Rows of a data set that are copies of rows in other folds, and features that are copies of others."""

import math
from typing import Any

import numpy as np

from .._common.data_frames import copied_rows, joint_codes
from .._common.validation import IntArray

#: A share of copies that is told, how many warnings are, and how many values are looked at.
_MANY_COPIES, _MOST_TOLD, _MOST_VALUES = 0.01, 3, 2**24


def copies_note(X: Any, y: IntArray, folds: IntArray, null: str) -> str:
    """A warning if tested rows are copies of others that are trained on, or a feature is one; otherwise empty."""
    columns = _codes_of_columns(X)
    if not columns:
        return ""
    content, told = joint_codes(columns), []
    copies = copied_rows(content, [y])
    if copies is not None and copies.sum() > _MANY_COPIES * len(y):
        pairs = np.unique(np.column_stack([content, folds]), axis=0)[:, 0]
        across = int((np.bincount(pairs)[content] > 1).sum())
        if across:
            told.append(
                f"{across:,} of {len(y):,} rows equal others that another fold tests: groups keep copies together"
            )
    if null == "features":
        seen: dict[bytes, int] = {}
        for j, codes in enumerate(columns):
            if (other := seen.setdefault(codes.tobytes(), j)) != j and codes.any():
                told.append(f"feature {j} (from 0) is a copy of feature {other}: by that they are not independent")
    return "; ".join(told[:_MOST_TOLD])


def _codes_of_columns(X: Any) -> list[IntArray]:
    """The values of each feature as codes from 0; empty if they are not distinguishable, or too many."""
    if hasattr(X, "tocsr") or math.prod(X.shape) > _MOST_VALUES:
        return []
    try:
        values = [X.iloc[:, j].to_numpy() for j in range(X.shape[1])] if hasattr(X, "iloc") else X.T
        return [np.unique(value, return_inverse=True)[1].ravel() for value in values]
    except TypeError:  # values that cannot be put in order
        return []
