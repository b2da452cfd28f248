"""Unlike numbers of answers to an item: what is ranked is the mean of each model's answers to it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.data_frames import is_missing
from .._common.validation import FloatArray, IntArray, refuse, shown


def missing_in(table: Any) -> NDArray[np.bool_]:
    """A mask of missing answers: None, NaN, or what pandas has for it.

    >>> missing_in(np.array([["a", None]], dtype=object))
    array([[False,  True]])
    """
    if table.dtype.kind == "f":
        return np.asarray(np.isnan(table))
    if table.dtype.kind != "O":
        return np.zeros(table.shape, dtype=np.bool_)
    return np.array([[is_missing(each) for each in row] for row in table.tolist()])


def item_means(marks: FloatArray, items: IntArray, names: Any, models: Any) -> tuple[FloatArray, IntArray]:
    """The mean of each model's answers to each item, and their number.

    `marks` (ndarray of float, shape (n, k)): NaN where a model has no answer.
    `items` (ndarray of int, shape (n,)): codes from 0.
    `names` and `models`: what the items and the models are called.

    Returns a tuple of (ndarray of float, ndarray of int), each of shape (items, k). Raises ValueError if a model has
    no answer to an item.

    >>> item_means(np.array([[1, 0], [0, np.nan], [1, 1]]), np.array([0, 0, 1]), ["x", "y"], ["a", "b"])
    (array([[0.5, 0. ],
           [1. , 1. ]]), array([[2, 1],
           [1, 1]]))
    """
    n = len(names)
    there = ~np.isnan(marks)
    sums = np.column_stack([np.bincount(items, np.nan_to_num(column), minlength=n) for column in marks.T])
    counts = np.column_stack([np.bincount(items, column, minlength=n) for column in there.T]).astype(np.int64)
    if (counts == 0).any():
        item, model = np.argwhere(counts == 0)[0]
        raise refuse(f"correct[{shown(models[model])}]", "no answer", f"one or more to item {shown(names[item])}")
    return sums / counts, counts


def first_of_each(codes: IntArray, items: IntArray, what: str, names: Any) -> IntArray:
    """The code of each item, which all its rows have.

    Raises ValueError if the rows of an item have several.

    >>> first_of_each(np.array([3, 3, 7]), np.array([0, 0, 1]), "groups", ["x", "y"])
    array([3, 7])
    """
    found = np.zeros(len(names), dtype=np.int64)
    found[items] = codes
    differs = np.flatnonzero(found[items] != codes)
    if len(differs):
        raise refuse(what, f"several for item {shown(names[items[differs[0]]])}", "one for all answers to an item")
    return found
