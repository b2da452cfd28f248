"""The means of models: over rows that may come in groups, with intervals, over items, and over tasks."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.data_frames import is_missing
from .._common.validation import FloatArray, IntArray, refuse, shown
from ..intervals import Interval, clopper_pearson, student_quantile
from ..unseen_row.means import Units, UnseenGroup, mean_interval, row_of_groups, sums_by, units_of

#: The name of the slice in which each task counts the same.
MEAN_OVER_TASKS = "mean over tasks"


def task_weights(tasks: IntArray) -> FloatArray:
    """Return the weight of each row: one over the rows of its task; in all, the number of tasks."""
    return np.asarray(1 / np.bincount(tasks)[tasks], dtype=np.float64)


def share_interval(right: Any, groups: IntArray | None, confidence: float) -> Interval:
    """Return the interval of an accuracy: Clopper and Pearson's, or its generalisation to means of groups.

    One more group does not undo it. With fewer than 110 groups, this group is as large as the largest, and all right
    or all wrong; with more it is like those seen (`sigstats.unseen_row.means`).
    """
    if groups is None:
        return clopper_pearson(int(right.sum()), len(right), confidence_level=confidence)
    return mean_interval(share_units(right, groups, "auto"), (0.0, 1.0), confidence)


def share_units(right: Any, groups: IntArray, unseen_group: UnseenGroup) -> Units:
    """Return the groups by their shares of right answers. `share_interval` gives the interval of the mean share."""
    sums, sizes = np.bincount(groups, right).astype(np.float64), np.bincount(groups)
    return units_of(sums, sizes, row_of_groups(len(sums), unseen_group))


def student_interval(scores: Any, groups: IntArray | None, confidence: float) -> Interval:
    """Return Student's interval of a mean score, with the variance of the groups' sums if rows are in groups."""
    units = len(scores) if groups is None else len(np.unique(groups))
    if units < 2:
        return Interval(-math.inf, math.inf, confidence)
    half = -student_quantile(units - 1, (1 - confidence) / 2) * standard_error(scores, groups)
    mean = float(np.sort(scores).mean())  # no order of rows changes its last digit
    return Interval(mean - half, mean + half, confidence)


def standard_error(scores: FloatArray, groups: IntArray | None) -> float:
    """Return the standard error of the mean, by groups (Liang and Zeger 1986), with the factor G / (G - 1)."""
    sums = scores - np.sort(scores).mean()
    if groups is not None:
        sums = sums_by(np.unique(groups, return_inverse=True)[1], sums)
    sums = np.sort(sums)
    return math.sqrt(float(sums @ sums) * len(sums) / (len(sums) - 1)) / len(scores)


def missing_in(table: Any) -> NDArray[np.bool_]:
    """Return a mask of missing answers: None, NaN, or the missing value of pandas."""
    if table.dtype.kind == "f":
        return np.asarray(np.isnan(table))
    if table.dtype.kind != "O":
        return np.zeros(table.shape, dtype=np.bool_)
    return np.array([[is_missing(value) for value in row] for row in table.tolist()])


def item_means(marks: FloatArray, items: IntArray, names: Any, models: Any) -> tuple[FloatArray, IntArray]:
    """Return the mean of each model's answers to each item, and their number.

    `marks`: NaN if a model has no answer. `items`: codes from 0. `names` and `models`: names of the items and of the
    models. Raises ValueError if a model has no answer to an item.
    """
    n = len(names)
    present = ~np.isnan(marks)
    sums = np.column_stack([np.bincount(items, np.nan_to_num(column), minlength=n) for column in marks.T])
    counts = np.column_stack([np.bincount(items, column, minlength=n) for column in present.T]).astype(np.int64)
    if (counts == 0).any():
        item, model = np.argwhere(counts == 0)[0]
        raise ValueError(f"correct[{shown(models[model])}]: no answer to item {shown(names[item])}; leave the item out")
    return sums / counts, counts


def first_of_each(codes: IntArray, items: IntArray, what: str, names: Any) -> IntArray:
    """Return the code of each item, shared by all its rows; raise ValueError if the rows of an item have several."""
    code_of_item = np.zeros(len(names), dtype=np.int64)
    code_of_item[items] = codes
    differs = np.flatnonzero(code_of_item[items] != codes)
    if len(differs):
        raise refuse(what, f"several for item {shown(names[items[differs[0]]])}", "one for all answers to an item")
    return code_of_item
