"""Rows of arrays, data frames and sparse matrices: taken, and with permuted features."""

from typing import Any

import numpy as np

from .._common.validation import IntArray, as_array, refuse


def as_rows(X: Any, n: int, null: str) -> Any:
    """`X` as rows that can be permuted, or ValueError."""
    if hasattr(X, "iloc") or hasattr(X, "tocsr"):
        rows = X if hasattr(X, "iloc") else X.tocsr()
        if null == "features" and not hasattr(X, "iloc"):
            raise refuse("X", f"<{type(X).__name__}>", "a dense array for null='features'")
    else:
        wanted = "a rectangular array of numbers, with a row for each observation"
        rows = as_array(X, "X", wanted)
        if rows.dtype.kind not in "biufUSO" or rows.ndim != 2:
            raise refuse("X", X, wanted)
    if len(rows.shape) != 2 or rows.shape[0] != n or rows.shape[1] == 0:
        raise refuse("X (shape)", rows.shape, f"({n}, d): as many rows as y has, one feature or more")
    return rows


def take(X: Any, rows: IntArray) -> Any:
    """These rows of `X`."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def permute_features(X: Any, source: IntArray) -> Any:
    """The rows in which value j of row i is that of row ``source[j, i]``."""
    if not hasattr(X, "iloc"):
        return np.take_along_axis(X, source.T, axis=0)
    mixed = X.copy()
    for j, rows in enumerate(source):
        mixed.isetitem(j, X.iloc[:, j].array.take(rows))
    return mixed
