"""Time some cells before a study runs, first one of each kind, then the costliest; predict the others.

`estimate` is the entry. `_Timing` chooses the cells and collects their costs; `_cost_of` runs a few replicates of one.
"""

import contextlib
import math
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sigstats._common.numerals import duration
from sigstats.tasks.engine.blocks import Failure, Receipt
from sigstats.tasks.engine.guarded import run_guarded
from sigstats.tasks.fan_out import observed_cell, own_code, stand_in
from sigstats.tasks.plan import Block, Cell
from sigstats.tasks.storage.data import write_data
from sigstats.tasks.storage.seal import PARTS
from sigstats.tasks.storage.store import Store

from .costs import CostModel, kind_of_cell, sizes_of
from .estimate import Estimate
from .options import Prepared

#: Processor seconds after which no further cell is timed.
TIMING_SECONDS = 60.0
#: Timing the first cell of each kind may take this many times the budget.
_FACTOR_FOR_KINDS = 2
#: The share of the budget that one cell may take, unless the cell's share of the work is larger.
_PART_OF_BUDGET = 0.1
#: The share of the work that timing may take, and the seconds that it may take however little the work is.
_PART_OF_WORK, _ALWAYS = 0.25, 10.0
#: The share of the replicates of a cell that are timed, and the number that are timed however few there are.
_PART_OF_CELL, _FEWEST = 0.1, 10
#: Seconds that the timing of a cell takes besides its replicates.
_LEAST = 0.05
#: Seconds between two lines that report the total so far.
_SPEAK_SECONDS = 3.0
#: Seconds that a block of several replicates may take, if these take as long as those before.
_SHORT = 0.3
#: Seconds to read a small file, which do not grow with its size.
_READING = 0.005
#: A replicate that takes more seconds is not repeated to measure imports, unless it is the only one of its cell.
_LONG = 20.0
#: A share of a cell's time that is not measured separately.
_SMALL = 0.1
#: Replicates may take long in cells that have fewer than this.
_FEW = 50


def estimate(
    prepared: Prepared,
    counted: Sequence[Estimate],
    *,
    scratch: Store,
    say: Callable[[str], None] = lambda line: None,
    budget: float = TIMING_SECONDS,
) -> list[Estimate]:
    """Estimate the cost of every cell.

    `counted`: the result of `sigstats.flows.running.estimate.count`.
    `scratch`: a temporary store for data sets and blocks.
    `say`: called every few seconds with a line that reports the total so far.
    `budget`: processor seconds, without imports and compilation, after which no further cell is timed, unless it is the
    first of its kind. A quarter of the predicted work, if that is less and more than ten seconds.

    Returns `counted` with costs: measured, or predicted from those measured.
    """
    for dataset in prepared.datasets:
        write_data(scratch, dataset)
    timing = _Timing(prepared, counted, scratch, budget)
    spoke = time.monotonic()
    for number, at in enumerate(timing.in_turn(), start=1):
        timing.time(at)
        if timing.enough():
            break
        if time.monotonic() - spoke > _SPEAK_SECONDS:
            spoke = time.monotonic()
            work = duration(sum(one.expected or 0.0 for one in timing.predicted()))
            say(f"so far: about {work} of work, from {number:,} of {len(timing.timeable):,} cells")
    return timing.predicted()


class _Timing:
    """The costs of cells: measured one by one, or predicted from those measured.

    `at` is always the place of a cell in `estimates`. The seconds that a process spends on imports and compilation,
    once, are not counted in the budget. A run imports again, in the first cell of a kind; compiled code is stored.
    """

    def __init__(self, prepared: Prepared, counted: Sequence[Estimate], scratch: Store, budget: float) -> None:
        self.estimates = list(counted)
        self.scratch = scratch
        self._budget = budget
        # A cell that reads another cell's results, which do not exist yet, is tried with invented ones.
        self._stand_ins = {at: stand_in(one.cell, scratch) for at, one in enumerate(counted) if one.left}
        self.timeable = [at for at, cell in self._stand_ins.items() if cell is not None]
        data_bytes = {dataset.name: dataset.nbytes for dataset in prepared.datasets}
        self._data_bytes = [data_bytes.get(one.cell.subject.get("dataset", ""), 0) for one in counted]
        cells, sizes = [one.cell for one in counted], sizes_of(prepared.datasets)
        self._costs, self._fixed_costs = CostModel(cells, sizes), CostModel(cells, sizes)
        self._left = np.array([one.left for one in counted], dtype=np.float64)
        self._untimed = np.isin(np.arange(len(counted)), self.timeable)
        self._places = {one.cell.name: at for at, one in enumerate(counted)}
        self._first_of_kind = {kind_of_cell(cells[at]): at for at in reversed(self._stand_ins)}
        self._imports: dict[tuple[str, ...], float] = {}
        self._paths: dict[str, Store] = {}
        self._spent = 0.0

    def in_turn(self) -> Iterator[int]:
        """Yield a cell of each fan-out, then one of each kind on its smallest data set, then those with the most work.

        Kinds with few replicates may take long: before those, the others have a third of the time.
        """
        kinds: dict[tuple[str, ...], int] = {}
        for at in sorted(self.timeable, key=self._data_bytes.__getitem__):
            kinds.setdefault(kind_of_cell(self._cell(at)), at)
        firsts = {self._cell(at).fanout: at for at in reversed([*kinds.values()])}
        few = [at for at in kinds.values() if 1 < self._cell(at).replicates < _FEW]
        few.sort(key=lambda at: -self._cell(at).replicates)
        yield from (at for at in dict.fromkeys([*reversed(firsts.values()), *kinds.values()]) if at not in few)
        if few:
            yield from self._costliest(self._budget / 3)
            yield from few
        yield from self._costliest(self._budget)

    def enough(self) -> bool:
        """Return True if timing has used its seconds, or its share of the work and has timed a cell of each fan-out."""
        if self._spent > _FACTOR_FOR_KINDS * self._budget:
            return True
        seconds = self._costs.per_replicate()
        if np.isnan(seconds[self.timeable]).any():
            return False
        return self._spent > max(_ALWAYS, _PART_OF_WORK * float(np.nansum(seconds * self._left)))

    def _costliest(self, budget: float) -> Iterator[int]:
        while (seconds := budget - self._spent) > 0:
            costs = self._costs.per_replicate()
            rest = np.flatnonzero(self._untimed & np.isfinite(costs))
            work = costs[rest] * self._left[rest]
            part = np.maximum(_PART_OF_BUDGET, work / max(float(work.sum()), 1e-300))
            affordable = _LEAST + 3 * costs[rest] <= np.minimum(part * self._budget, seconds)
            if not affordable.any():
                return
            yield int(rest[np.argmax(np.where(affordable, work, -1.0))])

    def _cell(self, at: int) -> Cell:
        return self.estimates[at].cell

    def time(self, at: int) -> None:
        """Time a cell, after the cell of its observed result."""
        compared = observed_cell(self._cell(at))
        before = None if compared is None else self._places.get(compared.name)
        if before is not None and not self.estimates[before].timed and self.estimates[before].left:
            self.time(before)
        kind, cell = kind_of_cell(self._cell(at)), self._stand_ins[at]
        self._untimed[at] = False
        assert cell is not None  # only open cells are timed
        counted = self.estimates[at]
        try:
            if cell.fanout not in self._paths:
                self._paths[cell.fanout] = _uncached(self.scratch)
            cost, starting, spent = _cost_of(cell, self._paths[cell.fanout], cold=kind not in self._imports)
        except _BlockFailed as error:
            if cell is counted.cell:
                self.estimates[at] = replace(counted, problem=str(error))
            else:
                self.timeable.remove(at)  # invented results made it fail; the cell itself may succeed
            return
        finally:
            self._imports.setdefault(kind, 0.0)
        self._imports[kind] += starting
        self._spent += spent
        self.estimates[at] = replace(counted, timed=True, **cost)
        self._costs.learn(at, cost["per_replicate"])
        self._fixed_costs.learn(at, cost["once"] - _READING)

    def predicted(self) -> list[Estimate]:
        """Return the estimates: measured, or predicted from those measured."""
        costs, once = self._costs.per_replicate().tolist(), self._fixed_costs.per_replicate().tolist()
        shares = [(one.cell, one.share) for one in self.estimates if one.share is not None]

        def prediction(at: int, one: Estimate) -> Estimate:
            if one.share is None and one.left and (one.cell.stopping or observed_cell(one.cell) is not None):
                one = replace(one, share=_usual_share(one.cell, shares))
            kind = kind_of_cell(one.cell)
            if self._first_of_kind.get(kind) == at:
                one = replace(one, starting=self._imports.get(kind, 0.0))
            if one.timed or one.problem or not one.left or self._stand_ins[at] is None or math.isnan(costs[at]):
                return one
            return replace(one, per_replicate=costs[at], once=once[at], bytes=3000 + 2 * one.cell.replicates)

        return [prediction(at, one) for at, one in enumerate(self.estimates)]


class _BlockFailed(Exception):
    """A timed block failed; the message names the error."""


def _cost_of(cell: Cell, scratch: Store, *, cold: bool) -> tuple[dict[str, Any], float, float]:
    """Return the cost of a cell as fields of its estimate, the seconds of imports, and the seconds of all other work.

    `cold`: whether this process has not computed a cell of this kind yet. Prepared data are cached by path: `scratch`
    has a path for each fan-out, and the first replicates of a `cold` process have paths of their own. If imports and
    compilation are noticeable, the first replicate is timed again; compiled code is stored, so only imports recur.
    """
    store, block = _uncached(scratch) if cold else scratch, _block_of(cell, 1)
    at_first = _run(block, store)
    receipts = [at_first]
    if cell.replicates > 1:
        receipts.append(_run(block, store))
    if cold and (cell.replicates == 1 or receipts[-1].seconds < min(_LONG, at_first.seconds / (1 + _SMALL))):
        receipts.insert(0, _run(block, _uncached(scratch)))
    first = receipts[0]
    warming = starting = max(0.0, at_first.seconds - first.seconds)
    if warming > _SMALL * first.seconds and own_code(cell) is None:
        with contextlib.suppress(_BlockFailed):  # a process that cannot start is no fault of the cell
            again = _run(block, _uncached(scratch), apart=True)
            starting = min(warming, max(0.0, again.seconds - first.seconds))
    receipts.extend(_larger_blocks(cell, store, receipts[-1].seconds))
    return _line_through(receipts, cell), starting, sum(receipt.seconds for receipt in receipts) - warming


def _larger_blocks(cell: Cell, store: Store, seconds: float) -> Iterator[Receipt]:
    """Time a block of a lane, since each block has fixed costs, or a smaller one if that would take long.

    Blocks of ten times as many replicates follow while the cost of a replicate falls below half of the previous one,
    since a block tests equal test sets only once. `seconds`: the time of one replicate.
    """
    most = min(cell.replicates, max(_FEWEST, int(_PART_OF_CELL * cell.replicates)))
    timed, falls = 1, True
    while falls:
        more = min(most, max(cell.lane_size, 10 * timed), int(timed * _SHORT / max(seconds, 1e-6)))
        if more <= timed:
            return
        receipt = _run(_block_of(cell, more), store)
        yield receipt
        falls = receipt.seconds < more / timed * seconds / 2
        timed, seconds = more, receipt.seconds


def _line_through(receipts: Sequence[Receipt], cell: Cell) -> dict[str, Any]:
    """Return the cost of a cell as a line through the times of its first replicate and of its largest block."""
    first, last = receipts[0], receipts[-1]
    steps, slope = last.last - last.first - 1, min(receipt.seconds for receipt in receipts)
    if steps:
        slope = max(last.seconds - slope, _SMALL * last.seconds) / steps
    size = first.bytes + (last.bytes - first.bytes) * (cell.replicates - 1) // max(1, steps)
    share = None if last.exceedances is None else last.exceedances / (last.last - last.first)
    return {"per_replicate": slope, "once": max(0.0, first.seconds - slope), "share": share, "bytes": size}


def _block_of(cell: Cell, replicates: int) -> Block:
    """Return a block of the first replicates of a cell."""
    cell = replace(cell, replicates=replicates)
    return cell.block(0, cell.lanes)


def _uncached(store: Store) -> Store:
    """Return the store under a new path, for which nothing has been prepared yet."""
    Path(store.root).mkdir(parents=True, exist_ok=True)
    return Store(f"{tempfile.mkdtemp(dir=store.root)}/..")


def _run(block: Block, store: Store, *, apart: bool = False) -> Receipt:
    """Compute a block; its receipt has the processor time, since other programs may be running.

    Code of other packages has a process of its own, and may use threads or wait for something else; its seconds are
    those of the clock. `apart`: whether any block has such a process.
    """
    store.files.drop(PARTS)  # stored parts would take no time
    before = time.process_time()
    outcome = run_guarded(block, store, apart)
    if isinstance(outcome, Failure):
        raise _BlockFailed(f"{outcome.error}: {outcome.message}")
    if apart or own_code(block.cell) is not None:
        return outcome
    return replace(outcome, seconds=min(outcome.seconds, time.process_time() - before))


def _usual_share(cell: Cell, shares: Sequence[tuple[Cell, float]]) -> float | None:
    """Return the mean share of the cells that have most in common with `cell`; None if no share is known."""
    alike = [len(cell.subject.items() & other.subject.items()) for other, _ in shares]
    nearest = [share for (_, share), common in zip(shares, alike, strict=True) if common == max(alike)]
    return sum(nearest) / len(nearest) if nearest else None
