"""Several tasks, each of which counts the same in their mean."""

import numpy as np

from .validation import FloatArray, IntArray

#: The name of the slice in which each task counts the same.
MEAN_OVER_TASKS = "mean over tasks"


def task_weights(tasks: IntArray) -> FloatArray:
    """The weight of each row: one over the rows of its task; in all, the number of tasks."""
    return np.asarray(1 / np.bincount(tasks)[tasks], dtype=np.float64)
