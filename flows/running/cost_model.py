"""The cost of a replicate of a cell that was not timed, from the cells that were.

The logarithm of the cost is a Gaussian process. It is a sum of effects of the cell's fan-out, of each part of its
subject (classifier, null hypothesis, test ...) in all fan-outs and in its own, of their combination, of its data set
and of its slice. To these it adds powers of the rows, features and classes; each learner and each test has exponents of
its own, which deviate from common ones. So what a learner costs at a size is learned from all data sets, and the cost
of a learner that was timed at one size grows as that of the others does.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray, IntArray
from sigstats.tasks.plan import Cell

#: The numbers of rows, features and classes of each data set, by its name; NaN where a number is not known.
Sizes = Mapping[str, tuple[float, float, float]]

#: Prior means of the exponents of rows, features and classes.
_POWERS = np.array([0.9, 0.6, 0.4])

#: Standard deviations of the effects on the logarithm of the cost: of a fan-out, of a part of a subject, of a part in
#: one fan-out, of a combination, of a data set.
_FANOUT, _PART, _OWN, _COMBINED, _DATASET = 3.0, 1.5, 0.8, 0.8, 0.4

#: Standard deviations of the common exponents, of a learner's deviation from them, and of a measurement's logarithm.
_POWER, _OWN_POWER, _NOISE = 0.5, 0.4, 0.2

#: Fan-outs, and those that do the same work.
_LIKE = {"repetition": "crossval"}

#: The parts of a subject that name its data.
_DATA = ("dataset", "slice")

#: The parts of a subject whose cost has exponents of its own.
_KINDS = ("classifier", "test")


class CostModel:
    """Predicts the cost of a replicate of each cell.

    Parameters
    ----------
    cells : sequence of Cell
    sizes : mapping of str to (float, float, float)
        The numbers of rows, features and classes of the data sets that the cells name. A number that is not known is
        taken to be the geometric mean of those known.
    """

    def __init__(self, cells: Sequence[Cell], sizes: Sizes) -> None:
        keys = sorted({key for cell in cells for key in cell.subject})
        self._fanout = _codes([like(cell.fanout) for cell in cells])
        self._parts = {key: _codes([cell.subject.get(key) for cell in cells]) for key in keys}
        self._kind = _codes([tuple(cell.subject.get(key) for key in _KINDS) for cell in cells])
        named = [
            (cell.fanout, *sorted(item for item in cell.subject.items() if item[0] not in _DATA)) for cell in cells
        ]
        self._combined = _codes(named)
        self._sizes = _filled(np.array([_log_sizes(cell, sizes) for cell in cells]))

    def predict(self, seen: Sequence[int], logs: Sequence[float]) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the logarithm of the cost of every cell.

        Parameters
        ----------
        seen : sequence of int
            The positions of the cells that were timed; one or more.
        logs : sequence of float
            The logarithms of the measured costs of a replicate.
        """
        at = np.asarray(seen, dtype=np.int64)
        everything = np.arange(len(self._fanout))
        centre = self._sizes[at].mean(axis=0)
        powers = (self._sizes - centre) @ _POWERS
        left = np.asarray(logs) - powers[at]
        usual = float(np.median(left))
        between = self._covariance(everything, at, centre)
        inner = between[at] + _NOISE**2 * np.eye(len(at))
        solved = np.linalg.solve(inner, np.column_stack([left - usual, between.T]))
        mean = usual + powers + between @ solved[:, 0]
        variance: FloatArray = self._variance(centre) - np.einsum("ij,ji->i", between, solved[:, 1:])
        return np.asarray(mean, dtype=np.float64), np.asarray(np.sqrt(np.maximum(variance, 0.0)), dtype=np.float64)

    def _covariance(self, rows: IntArray, columns: IntArray, centre: FloatArray) -> FloatArray:
        def same(codes: IntArray) -> FloatArray:
            return np.asarray(codes[rows][:, None] == codes[columns][None], dtype=np.float64)

        fanout = same(self._fanout)
        total = _FANOUT**2 * fanout + _COMBINED**2 * same(self._combined)
        for key, codes in self._parts.items():
            part = same(codes)
            total += part * (_DATASET**2 * (1 + fanout) if key in _DATA else _PART**2 + _OWN**2 * fanout)
        x, y = self._sizes[rows] - centre, self._sizes[columns] - centre
        return np.asarray(total + (x @ y.T) * (_POWER**2 + _OWN_POWER**2 * same(self._kind)))

    def _variance(self, centre: FloatArray) -> FloatArray:
        parts = sum(2 * _DATASET**2 if key in _DATA else _PART**2 + _OWN**2 for key in self._parts)
        x = self._sizes - centre
        return np.asarray(_FANOUT**2 + _COMBINED**2 + parts + (x * x).sum(axis=1) * (_POWER**2 + _OWN_POWER**2))


def like(fanout: str) -> str:
    """The fan-out that does the same work as `fanout`."""
    return _LIKE.get(fanout, fanout)


def _codes(values: Sequence[Any]) -> IntArray:
    found = {value: code for code, value in enumerate(dict.fromkeys(values))}
    return np.array([found[value] for value in values], dtype=np.int64)


def _log_sizes(cell: Cell, sizes: Sizes) -> tuple[float, float, float]:
    """The rows that a test set has or a classifier is trained on, or else those of the data."""
    n = cell.work.get("n") or cell.work.get("split", {}).get("train")
    rows, features, classes = sizes.get(cell.subject.get("dataset", ""), (math.nan,) * 3)
    rows = n if isinstance(n, int) and n > 0 else rows
    return math.log(rows), math.log(features), math.log(classes)


def _filled(sizes: FloatArray) -> FloatArray:
    """`sizes` with the mean of its column in place of NaN."""
    missing = np.isnan(sizes)
    means = np.where(missing, 0.0, sizes).sum(axis=0) / np.maximum(1, (~missing).sum(axis=0))
    return np.where(missing, means, sizes)
