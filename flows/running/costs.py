"""The cost of a replicate of each cell, as far as it is known from others.

It is that of the known cell of the same kind that is nearest in size, times powers of the rows, features and classes;
of a kind of which none is known, the geometric mean over the kinds of the same fan-out.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray, IntArray
from sigstats.tasks.datasets.dataset import Dataset
from sigstats.tasks.datasets.documents import Documents
from sigstats.tasks.plan import Cell
from sigstats.tasks.storage.store import StoredData
from sigstats.tasks.work import TrainingSet

#: The numbers of rows, features and classes of each data set, by its name; NaN where a number is not known.
Sizes = Mapping[str, tuple[float, float, float]]

#: The exponents of rows, features and classes.
_POWERS = np.array([0.9, 0.6, 0.4])

#: Fan-outs, and those that do the same work.
_LIKE = {"repetition": "crossval"}

#: Measured seconds are taken to be at least this, so that they have a logarithm.
_NOTHING = 1e-6


class CostModel:
    """Predicts the cost of a replicate of each cell.

    `sizes`: the numbers of rows, features and classes of the data sets that the cells name. A number that is not
    known is taken to be the geometric mean of those known.

    Attributes
    ----------
    kinds, fanouts : ndarray of int, shape (cells,)
        Equal for cells of one kind, and of fan-outs that do the same work.
    """

    def __init__(self, cells: Sequence[Cell], sizes: Sizes) -> None:
        self.kinds = _codes([kind_of_cell(cell) for cell in cells])
        self.fanouts = _codes([_LIKE.get(cell.fanout, cell.fanout) for cell in cells])
        self._sizes = _filled(np.array([_log_sizes(cell, sizes) for cell in cells]).reshape(-1, len(_POWERS)))
        self._growth = self._sizes @ _POWERS
        self._distance = np.full(len(cells), np.inf)
        self._left = np.full(len(cells), np.nan)
        self._measured = np.zeros(len(cells), dtype=np.bool_)

    def learn(self, at: int, seconds: float) -> None:
        """Take in the measured cost of a replicate of the cell at this place, in place of what was known of it."""
        alike = self.kinds == self.kinds[at]
        distance = np.abs(self._sizes - self._sizes[at]).sum(axis=1)
        nearer = alike & ~self._measured & (distance <= self._distance)
        nearer[at] = self._measured[at] = True
        self._distance[nearer] = distance[nearer]
        self._left[nearer] = math.log(max(seconds, _NOTHING)) - self._growth[at]

    def each(self) -> FloatArray:
        """Seconds a replicate of every cell; NaN in fan-outs of which no cell was timed."""
        known = np.isfinite(self._left)
        number = np.bincount(self.fanouts[known], minlength=self.fanouts.max(initial=-1) + 1)
        total = np.bincount(self.fanouts[known], self._left[known], minlength=len(number))
        with np.errstate(invalid="ignore"):
            usual = total / number
        return np.asarray(np.exp(np.where(known, self._left, usual[self.fanouts]) + self._growth))


def kind_of_cell(cell: Cell) -> tuple[str, ...]:
    """What decides which code a cell imports and compiles: its fan-out and its subject without the data."""
    return (cell.fanout, *(value for key, value in cell.subject.items() if key not in ("dataset", "slice", "n")))


def sizes_of(datasets: Iterable[StoredData]) -> Sizes:
    """The sizes of tables and of documents, whose features are known once a classifier has counted their words."""
    found: dict[str, tuple[float, float, float]] = {}
    for each in datasets:
        if isinstance(each, Documents):
            found[each.name] = len(each), math.nan, math.nan
        elif isinstance(each, Dataset):
            found[each.name] = len(each), each.X.shape[1], len(each.classes)
    return found


def _codes(values: Sequence[Any]) -> IntArray:
    found = {value: code for code, value in enumerate(dict.fromkeys(values))}
    return np.array([found[value] for value in values], dtype=np.int64)


def _log_sizes(cell: Cell, sizes: Sizes) -> tuple[float, float, float]:
    """The rows that a test set has or a classifier is trained on, or else those of the data."""
    work = cell.work
    n = work.split.train if isinstance(work, TrainingSet) else getattr(work, "n", None)
    rows, features, classes = sizes.get(cell.subject.get("dataset", ""), (math.nan,) * 3)
    rows = n if isinstance(n, int) and n > 0 else rows
    return math.log(rows), math.log(features), math.log(classes)


def _filled(sizes: FloatArray) -> FloatArray:
    """`sizes` with the mean of its column in place of NaN."""
    missing = np.isnan(sizes)
    means = np.where(missing, 0.0, sizes).sum(axis=0) / np.maximum(1, (~missing).sum(axis=0))
    return np.where(missing, means, sizes)
