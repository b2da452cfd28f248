"""The cost of a replicate of each cell, from known ones, and the remaining time of a run.

A cost is that of the known cell of the same kind that is nearest in size, times powers of the rows, features and
classes; if no cell of a kind is known, the geometric mean over the kinds of the same fan-out.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sigstats._common.validation import FloatArray, IntArray
from sigstats.tasks.fan_out import fanout
from sigstats.tasks.plan import Cell
from sigstats.tasks.storage.data import StoredData

#: The numbers of rows, features and classes of each data set, by its name; NaN where a number is not known.
Sizes = Mapping[str, tuple[float, float, float]]

#: The exponents of rows, features and classes.
_POWERS = np.array([0.9, 0.6, 0.4])


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
        self.fanouts = _codes([fanout(cell.fanout).like or cell.fanout for cell in cells])
        logarithms = np.array([_log_sizes(cell, sizes) for cell in cells]).reshape(-1, len(_POWERS))
        missing = np.isnan(logarithms)
        means = np.where(missing, 0.0, logarithms).sum(axis=0) / np.maximum(1, (~missing).sum(axis=0))
        self._sizes = np.where(missing, means, logarithms)
        self._growth = self._sizes @ _POWERS
        self._distance = np.full(len(cells), np.inf)
        self._log_bases = np.full(len(cells), np.nan)  # log cost less the growth by size
        self._measured = np.zeros(len(cells), dtype=np.bool_)

    def learn(self, at: int, seconds: float) -> None:
        """Replace the cost of a replicate of the cell at this place by a measured one."""
        alike = self.kinds == self.kinds[at]
        distance = np.abs(self._sizes - self._sizes[at]).sum(axis=1)
        nearer = alike & ~self._measured & (distance <= self._distance)
        nearer[at] = self._measured[at] = True
        self._distance[nearer] = distance[nearer]
        self._log_bases[nearer] = math.log(max(seconds, 1e-6)) - self._growth[at]  # 0 has no logarithm

    def of_known_kinds(self) -> FloatArray:
        """Return seconds per replicate of every cell; NaN for kinds without a timed cell."""
        return np.asarray(np.exp(self._log_bases + self._growth))

    def per_replicate(self) -> FloatArray:
        """Return seconds per replicate of every cell; NaN for fan-outs without a timed cell."""
        known = np.isfinite(self._log_bases)
        number = np.bincount(self.fanouts[known], minlength=self.fanouts.max(initial=-1) + 1)
        total = np.bincount(self.fanouts[known], self._log_bases[known], minlength=len(number))
        with np.errstate(invalid="ignore"):
            usual = total / number
        return np.asarray(np.exp(np.where(known, self._log_bases, usual[self.fanouts]) + self._growth))


def kind_of_cell(cell: Cell) -> tuple[str, ...]:
    """Return the fan-out and the subject without data: they determine what code a cell imports and compiles."""
    return (cell.fanout, *(value for key, value in cell.subject.items() if key not in ("dataset", "slice", "n")))


def sizes_of(datasets: Iterable[StoredData]) -> Sizes:
    """Return the sizes of the data that classifiers are trained on."""
    return {dataset.name: dataset.sizes for dataset in datasets if hasattr(dataset, "sizes")}


def _codes(values: Sequence[Any]) -> IntArray:
    by_value = {value: code for code, value in enumerate(dict.fromkeys(values))}
    return np.array([by_value[value] for value in values], dtype=np.int64)


def _log_sizes(cell: Cell, sizes: Sizes) -> tuple[float, float, float]:
    """Return the rows that a test set has or a classifier is trained on, or else those of the data."""
    work = cell.work
    n = getattr(work, "n", None)
    rows, features, classes = sizes.get(cell.subject.get("dataset", ""), (math.nan,) * 3)
    rows = n if isinstance(n, int) and n > 0 else rows
    return math.log(rows), math.log(features), math.log(classes)


@dataclass
class CellProgress:
    """The progress of one cell."""

    cell: Cell
    #: Replicates that are stored.
    done: int = 0
    #: Replicates that this run computed.
    computed: int = 0
    #: Seconds of work on these.
    seconds: float = 0.0
    #: Replicates and seconds of the first block, in which a process imports and compiles what it lacks.
    first: tuple[int, float] = (0, 0.0)
    #: Replicates that were compared with the observed result, and those of them that are at least as extreme.
    judged: int = 0
    exceedances: int = 0
    #: True if the cell is complete, or failed.
    ended: bool = False
    #: The number of replicates at which the stopping rule is expected to stop; None if unknown.
    expected: int | None = None

    @property
    def per_replicate(self) -> float | None:
        """Seconds of work per replicate, without the first block if there are others; None while unknown."""
        if self.computed > self.first[0]:
            return (self.seconds - self.first[1]) / (self.computed - self.first[0])
        return self.seconds / self.computed if self.computed and self.done >= self.cell.replicates else None

    def add(self, replicates: int, seconds: float, exceedances: int | None) -> None:
        """Count the replicates of a block that this run computed, and estimate where the cell's rule stops."""
        if not self.computed:
            self.first = replicates, seconds
        self.computed += replicates
        self.seconds += seconds
        if exceedances is not None:
            self.judged += replicates
            self.exceedances += exceedances
            if self.cell.stopping is not None and self.p_value is not None:
                self.expected = self.cell.rule.stops_at(self.p_value)

    @property
    def p_value(self) -> float | None:
        """The p-value of the replicates so far; None unless they are compared with an observed result."""
        return (1 + self.exceedances) / (1 + self.judged) if self.judged else None


class TimeLeft:
    """Estimates the time until the end; a cell that has not begun is assumed to cost as much as others of its kind."""

    def __init__(self, cells: Sequence[CellProgress], sizes: Sizes) -> None:
        self.cells = cells
        self._costs = CostModel([one.cell for one in cells], sizes)
        self._learnt = [0] * len(cells)

    def seconds(self, workers: int) -> float:
        """Return the seconds until the end with this number of workers; infinite while a remaining kind has no cost.

        The costs of other kinds do not help: one classifier may take 100,000 times as long as another.
        """
        for at, one in enumerate(self.cells):
            if one.computed != self._learnt[at] and one.per_replicate is not None:
                self._learnt[at] = one.computed
                self._costs.learn(at, one.per_replicate)
        part = self._stopped_part()
        work = 0.0
        for one, kind in zip(self.cells, self._costs.of_known_kinds().tolist(), strict=True):
            if one.done >= one.cell.replicates or one.ended:
                continue
            total: float = one.cell.replicates
            if one.cell.stopping is not None:
                total *= part if one.expected is None else one.expected / one.cell.replicates
            # A cell beyond the expected number computes at least one more lane (replicates that share a random stream).
            left = max(total - one.done, min(one.cell.lane_size, one.cell.replicates - one.done))
            work += left * (math.inf if math.isnan(kind) else kind)
        return work / workers

    def _stopped_part(self) -> float:
        """The share of replicates that cells with a stopping rule compute, from cells where it is known."""
        # A cell that has ended computes no more; the others are expected to stop at a known number.
        known = [
            (one.computed if one.ended else one.expected or 0, one.cell.replicates)
            for one in self.cells
            if one.cell.stopping is not None and one.computed and (one.ended or one.expected)
        ]
        return sum(wanted for wanted, _ in known) / sum(most for _, most in known) if known else 1.0
