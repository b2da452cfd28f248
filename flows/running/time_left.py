"""The time that a run still takes, estimated from the cost of its cells so far and from their stopping rules."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar, TypeAlias

from sigstats.tasks.plan import Cell

#: A part of a cell's subject: the fan-out, the kind of the part, its value.
_Part: TypeAlias = tuple[str, ...]


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
    #: Replicates that were compared with the observed result, and those of them that are at least as extreme.
    judged: int = 0
    exceedances: int = 0
    #: Whether the cell is complete, or failed.
    ended: bool = False
    #: The number of replicates at which the stopping rule is expected to stop; None if unknown.
    expected: int | None = None

    @property
    def each(self) -> float | None:
        """Seconds of work for a replicate; None while unknown."""
        return self.seconds / self.computed if self.computed else None

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

    def __init__(self, cells: Sequence[CellProgress]) -> None:
        self.cells = cells
        self._costs = Costs([])
        self._fitted_to: int | None = None

    def seconds(self, workers: int) -> float:
        """The seconds until the end on this number of workers; infinite while nothing is known."""
        seen = [(one.cell, one.each) for one in self.cells if one.each]
        if self._fitted_to is None or len(seen) > 1.02 * self._fitted_to:
            self._costs, self._fitted_to = Costs(seen), len(seen)
        part = self._stopped_part()
        work = 0.0
        for one in self.cells:
            if one.done >= one.cell.replicates or one.ended:
                continue
            total: float = one.cell.replicates
            if one.cell.stopping is not None:
                total *= part if one.expected is None else one.expected / one.cell.replicates
            # A cell that exceeds the expected number computes at least one more lane.
            left = max(total - one.done, min(one.cell.lane_size, one.cell.replicates - one.done))
            work += left * (self._costs.guess(one.cell) if one.each is None else one.each)
        return work / workers

    def _stopped_part(self) -> float:
        """The share of their replicates that cells with a stopping rule compute, by those for which it is known."""
        known = [
            (one.computed if one.ended else one.expected or 0, one.cell.replicates)
            for one in self.cells
            if one.cell.stopping is not None and one.computed and (one.ended or one.expected)
        ]
        return sum(wanted for wanted, _ in known) / sum(most for _, most in known) if known else 1.0


class Costs:
    """Estimates the cost of a replicate of a cell as a product of factors, one for each part of the cell's subject.

    Parts are the data set, the classifier and so on. The factors are fitted to the cells seen so far: to the logarithms
    of their costs, by least squares, one kind of part after another, in several sweeps.
    """

    #: How often each factor is fitted to the residuals of the others.
    sweeps: ClassVar[int] = 8

    def __init__(self, seen: Iterable[tuple[Cell, float]]) -> None:
        kinds: dict[str, list[tuple[list[_Part], float]]] = {}
        for cell, each in seen:
            kinds.setdefault(cell.fanout, []).append((self._parts(cell), math.log(each)))
        self._usual = {kind: fmean(log for _, log in cells) for kind, cells in kinds.items()}
        self._factors: dict[_Part, float] = {}
        for kind, cells in kinds.items():
            self._fit(cells, self._usual[kind])

    @staticmethod
    def _parts(cell: Cell) -> list["_Part"]:
        return [(cell.fanout, *part) for part in cell.subject.items()]

    def _fit(self, cells: list[tuple[list["_Part"], float]], usual: float) -> None:
        for _ in range(self.sweeps):
            for position in range(max(len(parts) for parts, _ in cells)):
                left: dict[_Part, list[float]] = {}
                for parts, log in cells:
                    if position < len(parts):
                        others = sum(self._factors.get(part, 0.0) for part in parts if part != parts[position])
                        left.setdefault(parts[position], []).append(log - usual - others)
                self._factors |= {part: fmean(logs) for part, logs in left.items()}

    def guess(self, cell: Cell) -> float:
        """The seconds for a replicate; infinite if no cell of its fan-out was seen."""
        usual = self._usual.get(cell.fanout)
        if usual is None:
            return math.inf
        return math.exp(usual + sum(map(self._factor, self._parts(cell))))

    def _factor(self, part: _Part) -> float:
        """The factor of a part; of one not seen in its fan-out that in another, beside the parts seen in both."""
        if part in self._factors:
            return self._factors[part]
        for other in self._usual:
            elsewhere = (other, *part[1:])
            if elsewhere in self._factors:
                same = [(each, (other, *each[1:])) for each in self._factors if each[:2] == part[:2]]
                both = [self._factors[a] - self._factors[b] for a, b in same if b in self._factors]
                return self._factors[elsewhere] + (fmean(both) if both else 0.0)
        return 0.0
