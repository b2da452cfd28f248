"""The time that a run still takes, estimated from the cost of its cells so far and from their stopping rules."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sigstats.tasks.plan import Cell

from .costs import CostModel, Sizes


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
    #: Whether the cell is complete, or failed.
    ended: bool = False
    #: The number of replicates at which the stopping rule is expected to stop; None if unknown.
    expected: int | None = None

    @property
    def each(self) -> float | None:
        """Seconds of work for a replicate, as blocks after the first took, if there are any; None while unknown."""
        if self.computed > self.first[0]:
            return (self.seconds - self.first[1]) / (self.computed - self.first[0])
        return self.seconds / self.computed if self.computed and self.done >= self.cell.replicates else None

    def add(self, replicates: int, seconds: float) -> None:
        """Count the replicates of a block that this run computed."""
        if not self.computed:
            self.first = replicates, seconds
        self.computed += replicates
        self.seconds += seconds

    @property
    def p_value(self) -> float | None:
        """The p-value of the replicates so far; None unless they are compared with an observed result."""
        return (1 + self.exceedances) / (1 + self.judged) if self.judged else None

    def expect(self) -> None:
        """Estimate from the replicates so far at which number the cell's rule stops."""
        if self.cell.stopping is not None and self.p_value is not None:
            self.expected = self.cell.rule.stops_at(self.p_value)


class TimeLeft:
    """Estimates the time until the end; the cost of cells that have not begun is estimated from those that have."""

    def __init__(self, cells: Sequence[CellProgress], sizes: Sizes) -> None:
        self.cells = cells
        self._costs = CostModel([one.cell for one in cells], sizes)
        self._learnt = [0] * len(cells)

    def seconds(self, workers: int) -> float:
        """The seconds until the end on this number of workers; infinite while nothing is known."""
        for at, one in enumerate(self.cells):
            if one.computed != self._learnt[at] and one.each is not None:
                self._learnt[at] = one.computed
                self._costs.learn(at, one.each)
        part = self._stopped_part()
        work = 0.0
        for one, each in zip(self.cells, self._costs.each().tolist(), strict=True):
            if one.done >= one.cell.replicates or one.ended:
                continue
            total: float = one.cell.replicates
            if one.cell.stopping is not None:
                total *= part if one.expected is None else one.expected / one.cell.replicates
            # A cell that exceeds the expected number computes at least one more lane.
            left = max(total - one.done, min(one.cell.lane_size, one.cell.replicates - one.done))
            work += left * (math.inf if math.isnan(each) else each)
        return work / workers

    def _stopped_part(self) -> float:
        """The share of their replicates that cells with a stopping rule compute, by those for which it is known."""
        known = [
            (one.computed if one.ended else one.expected or 0, one.cell.replicates)
            for one in self.cells
            if one.cell.stopping is not None and one.computed and (one.ended or one.expected)
        ]
        return sum(wanted for wanted, _ in known) / sum(most for _, most in known) if known else 1.0
