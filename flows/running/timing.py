"""Cells are timed before a study runs, first those that the total depends on most; the others are predicted."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sigstats._common.validation import FloatArray
from sigstats.tasks.datasets.dataset import Dataset
from sigstats.tasks.datasets.documents import Documents
from sigstats.tasks.engine.guarded import run_guarded
from sigstats.tasks.engine.run_block import Failure, Receipt
from sigstats.tasks.plan import Block, Cell
from sigstats.tasks.replicates import observed_cell, stand_in
from sigstats.tasks.storage.seal import seal
from sigstats.tasks.storage.store import Store

from .cost_model import CostModel, like
from .estimate import Estimate
from .prepared import Prepared
from .progress import duration

#: Seconds after which no further cell is timed.
TIMING_SECONDS = 30.0

#: After that only the first cell of each kind is timed, until this many times as many seconds have passed.
_KINDS = 2

#: The share of these seconds that one cell may take, unless its share of the uncertainty is larger.
_PART_OF_BUDGET = 0.1

#: Seconds that the timing of a cell takes besides its replicates.
_LEAST = 0.05

#: Seconds between two lines that report the total so far.
_SPEAK_SECONDS = 3.0

#: A block that takes fewer seconds is timed with more replicates.
_SHORT = 0.3

#: A replicate that takes more seconds is not repeated to separate what a process does once.
_LONG = 20.0

#: A share of a cell's time that is not measured separately.
_SMALL = 0.1

#: Replicates may take long in cells that have fewer than this.
_FEW = 50

#: Measured seconds are taken to be at least this, so that they have a logarithm.
_NOTHING = 1e-6


def estimate(
    prepared: Prepared,
    counted: Sequence[Estimate],
    *,
    scratch: Store,
    say: Callable[[str], None] = lambda line: None,
    budget: float = TIMING_SECONDS,
) -> list[Estimate]:
    """Estimate the cost of every cell.

    Parameters
    ----------
    prepared : Prepared
    counted : sequence of Estimate
        The result of `sigstats.flows.running.estimate.count`.
    scratch : Store
        A temporary store for data sets and blocks.
    say : callable
        Called every few seconds with a line that reports the total so far.
    budget : float
        Seconds after which no further cell is timed, unless it is the first of its kind.

    Returns
    -------
    list of Estimate
        `counted` with costs: measured, or predicted from those measured.
    """
    for dataset in prepared.datasets:
        scratch.write_data(dataset)
    timing = _Timing(prepared, counted, scratch, budget)
    started = spoke = time.monotonic()
    for number, at in enumerate(timing.in_turn(lambda: budget - (time.monotonic() - started)), start=1):
        timing.time(at)
        now = time.monotonic()
        if now - started > _KINDS * budget:
            break
        if now - spoke > _SPEAK_SECONDS:
            spoke = now
            work = duration(sum(one.expected or 0.0 for one in timing.guessed()))
            say(f"so far: about {work} of work, from {number:,} of {len(timing.open):,} cells")
    return timing.guessed()


class _Timing:
    """The cells of a plan while they are timed."""

    def __init__(self, prepared: Prepared, counted: Sequence[Estimate], scratch: Store, budget: float) -> None:
        self.estimates = list(counted)
        self.scratch = scratch
        self._budget = budget
        # A cell that reads another cell's results, which do not exist yet, is tried with invented ones.
        self._tried = {at: stand_in(one.cell, scratch) for at, one in enumerate(counted) if one.left}
        self.open = [at for at, cell in self._tried.items() if cell is not None]
        sizes = {each.name: _size(each) for each in prepared.datasets if isinstance(each, (Dataset, Documents))}
        self._small = {each.name: each.nbytes for each in prepared.datasets}
        self._model = CostModel([one.cell for one in counted], sizes)
        self._place = {one.cell.name: at for at, one in enumerate(counted)}
        self._warm: set[tuple[str, ...]] = set()

    def in_turn(self, seconds_left: Callable[[], float]) -> Iterator[int]:
        """Each kind of cell on its smallest data set, then always the cell that may change the total most.

        Replicates of kinds that have few of them may take long: before those, the others have a third of the time.
        """
        kinds: dict[tuple[str, ...], int] = {}
        for at in sorted(self.open, key=lambda at: self._small.get(self._cell(at).subject.get("dataset", ""), 0)):
            kinds.setdefault(_kind(self._cell(at)), at)
        few = [at for at in kinds.values() if 1 < self._cell(at).replicates < _FEW]
        few.sort(key=lambda at: -self._cell(at).replicates)
        yield from (at for at in kinds.values() if at not in few)
        if few:
            yield from self._doubtful(lambda: seconds_left() - self._budget * 2 / 3)
            yield from few
        yield from self._doubtful(seconds_left)

    def _doubtful(self, seconds_left: Callable[[], float]) -> Iterator[int]:
        while (chosen := self._most_doubtful(seconds_left())) is not None:
            yield chosen

    def _most_doubtful(self, seconds: float) -> int | None:
        rest = [at for at in self.open if not self.estimates[at].timed and not self.estimates[at].problem]
        rest = [at for at in rest if _kind(self._cell(at)) in self._warm]
        found = self._predicted()
        if not rest or found is None:
            return rest[0] if rest and seconds > 0 else None
        mean, spread = found
        each = np.exp(mean[rest])
        doubt = each * np.array([self.estimates[at].left for at in rest]) * np.expm1(np.minimum(spread[rest], 2.0))
        price = _LEAST + 2 * each * np.exp(spread[rest] / 2)
        part = np.maximum(_PART_OF_BUDGET, doubt / doubt.sum())
        affordable = price <= np.minimum(part * self._budget, seconds)
        if not affordable.any():
            return None
        return rest[int(np.argmax(np.where(affordable, doubt / price, -1.0)))]

    def _predicted(self) -> tuple[FloatArray, FloatArray] | None:
        seen = [at for at, one in enumerate(self.estimates) if one.timed and one.each]
        if not seen:
            return None
        return self._model.predict(seen, [math.log(max(self.estimates[at].each or 0.0, _NOTHING)) for at in seen])

    def _cell(self, at: int) -> Cell:
        return self.estimates[at].cell

    def time(self, at: int) -> None:
        """Time a cell, after the cell of its observed result."""
        compared = observed_cell(self._cell(at))
        before = None if compared is None else self._place.get(compared.name)
        if before is not None and not self.estimates[before].timed and self.estimates[before].left:
            self.time(before)
        kind, cell = _kind(self._cell(at)), self._tried[at]
        assert cell is not None  # only open cells are timed
        found = _timed(replace(self.estimates[at], cell=cell), self.scratch, cold=kind not in self._warm)
        self._warm.add(kind)
        if found.problem and cell is not self._cell(at):
            self.open.remove(at)  # with invented results; the cell itself may not fail
            return
        self.estimates[at] = replace(found, cell=self._cell(at))

    def guessed(self) -> list[Estimate]:
        """The estimates: measured, or predicted from those measured."""
        found = self._predicted()
        seen = {like(one.cell.fanout) for one in self.estimates if one.timed}
        shares = [(one.cell, one.share) for one in self.estimates if one.share is not None]
        prepared = {_prepared_by(one.cell): one.once for one in self.estimates if one.timed}

        def guess(at: int, one: Estimate) -> Estimate:
            if one.share is None and one.left and (one.cell.stopping or observed_cell(one.cell) is not None):
                one = replace(one, share=_usual_share(one.cell, shares))
            if one.timed or one.problem or not one.left or found is None or self._tried[at] is None:
                return one
            if like(one.cell.fanout) not in seen:
                return one
            once = prepared.get(_prepared_by(one.cell), 0.0)
            return replace(one, each=math.exp(found[0][at]), once=once, bytes=3000 + 2 * one.cell.replicates)

        return [guess(at, one) for at, one in enumerate(self.estimates)]


def _size(data: Dataset | Documents) -> tuple[float, float, float]:
    """Rows, features and classes; the features of documents are known once a classifier has counted their words."""
    if isinstance(data, Documents):
        return len(data), math.nan, math.nan
    return len(data), data.X.shape[1], len(data.classes)


def _kind(cell: Cell) -> tuple[str, ...]:
    """What decides which code a cell imports and compiles: its fan-out and its subject without the data."""
    return (cell.fanout, *(value for key, value in cell.subject.items() if key not in ("dataset", "slice", "n")))


def _prepared_by(cell: Cell) -> tuple[str, ...]:
    """A key: cells for which it is equal prepare about the same."""
    return (*_kind(cell), *(cell.subject.get(key, "") for key in ("dataset", "n")))


def _first(cell: Cell, replicates: int) -> Block:
    """The first replicates of a cell, at most a lane."""
    return replace(cell, replicates=min(replicates, cell.replicates)).block(0, 1)


def _timed(one: Estimate, scratch: Store, *, cold: bool) -> Estimate:
    """Time one replicate, which prepares what all share; then a lane, or the replicate again if it takes long.

    What a process imports and compiles once is no cost of a cell. If the process is `cold` and this takes much of the
    time, the first replicate is timed again. The one before reads the same files by another path: what it prepared is
    kept by path, so it is prepared anew.
    """
    cell = one.cell
    files, block = _renamed(scratch) if cold else scratch, _first(cell, 1)
    first = run_guarded(block, files)
    again = run_guarded(block, files) if cell.replicates > 1 and not isinstance(first, Failure) else first
    if cold and not isinstance(again, Failure) and _matters(first, again, cell):
        first = run_guarded(block, scratch)
    if isinstance(first, Failure):
        return replace(one, problem=f"{first.error}: {first.message}")
    if cell.replicates == 1:
        size = _stored(cell, files)
        return replace(one, each=first.seconds, timed=True, share=_share(first), bytes=size)
    if not isinstance(again, Failure) and again.seconds < _SHORT:
        block = _first(cell, cell.lane_size)
        again = run_guarded(block, files)
    if isinstance(again, Failure):
        return replace(one, problem=f"{again.error}: {again.message}")
    each = again.seconds / (block.last - block.first)
    once = max(0.0, first.seconds - each)
    size = 3000 + 2 * cell.replicates
    return replace(one, each=each, once=once, timed=True, share=_share(again), bytes=size)


def _matters(first: Receipt | Failure, again: Receipt, cell: Cell) -> bool:
    """Whether imports and compilation may have taken so much that the first replicate must be timed again."""
    if isinstance(first, Failure) or first.seconds >= _LONG:
        return False
    return cell.replicates == 1 or first.seconds - again.seconds > _SMALL * again.seconds * cell.replicates


def _renamed(scratch: Store) -> Store:
    """The same files by another path."""
    folder = Path(scratch.root, "data")
    folder.mkdir(parents=True, exist_ok=True)
    return Store(str(folder / ".."))


def _share(receipt: Receipt) -> float | None:
    return None if receipt.exceedances is None else receipt.exceedances / (receipt.last - receipt.first)


def _usual_share(cell: Cell, shares: Sequence[tuple[Cell, float]]) -> float | None:
    """The mean share of the cells that have most in common with `cell`; None if no share is known."""
    alike = [len(cell.subject.items() & other.subject.items()) for other, _ in shares]
    nearest = [share for (_, share), common in zip(shares, alike, strict=True) if common == max(alike)]
    return sum(nearest) / len(nearest) if nearest else None


def _stored(cell: Cell, scratch: Store) -> int:
    table = scratch.read_block(cell, 0, 1)
    return len(seal(table, kind=cell.fanout, fingerprint=cell.fingerprint))
