"""Run the blocks of a cell on a pool of workers, and join them when all are there.

What is done is asked of the store, never of the engine's memory.
"""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from ..plan import Cell, missing_lanes, missing_replicates
from ..replicates import needed
from ..storage.seal import Damaged
from ..storage.store import Store
from .block_sizing import TARGET_SECONDS, Cut
from .pools import Pool
from .run_block import Failure, Receipt
from .stopping import Wanted

#: How often a cell is completed of which something that was there is not any more.
_TRIALS = 3

#: Is told how many replicates came in, with their receipt if they were computed.
Progress: TypeAlias = Callable[[int, Receipt | None], None]


def _silent(replicates: int, receipt: Receipt | None) -> None:
    """Tell nobody."""


class Interrupted(Exception):
    """The run was asked to stop; what is on disk stays and is taken up again."""


@dataclass
class Outcome:
    """How a cell ended.

    Attributes
    ----------
    cell : Cell
    found : int
        Replicates that were in the store before.
    wanted : int
        Replicates that are wanted: all, until the cell's rule has stopped.
    receipts : list of Receipt
        Those of its blocks, until somebody has put them by: a long run has millions.
    blocks : int
        Blocks that were computed.
    seconds : float
        Work in them.
    failures : list of Failure
    notes : list of str
        Files that could not be used and were made again, one line each.
    stored : int
        Replicates that are in the store now.
    """

    cell: Cell
    found: int = 0
    wanted: int = field(init=False)
    receipts: list[Receipt] = field(default_factory=list)
    blocks: int = 0
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stored: int = field(init=False)

    def __post_init__(self) -> None:
        self.wanted = self.cell.replicates
        self.stored = self.found

    def add(self, receipt: Receipt) -> None:
        """A block that came in."""
        self.receipts.append(receipt)
        self.blocks += 1
        self.seconds += receipt.seconds
        self.stored += receipt.last - receipt.first

    @property
    def complete(self) -> bool:
        """Whether every wanted replicate is in the store."""
        return self.stored >= self.wanted


def run_cell(
    cell: Cell,
    store: Store,
    pool: Pool,
    *,
    stop: threading.Event | None = None,
    progress: Progress = _silent,
    target_seconds: float = TARGET_SECONDS,
) -> Outcome:
    """Compute what the store lacks of a cell, then join its blocks into one file.

    The first block is a single lane, and one for every worker that would be idle; their cost sizes the others. A failed
    block ends the cell: its other blocks would fail likewise, and what is done stays. A stopping rule ends it too, once
    it stops on the replicates from the first on; blocks beyond that are waited for, since a worker would still write
    them, and dropped.

    Parameters
    ----------
    cell : Cell
    store : Store
    pool : Pool
    stop : threading.Event, optional
        Set to leave early.
    progress : callable
        Called with the number of replicates that came in and their receipt; with None for the receipt, first with what
        the store had, and at the end with what the cell's rule spared.
    target_seconds : float
        Wanted cost of a block.

    Returns
    -------
    Outcome

    Raises
    ------
    Interrupted
        If `stop` was set.
    Damaged, FileNotFoundError
        If what is written is not whole, or not there, again and again when it is read.
    """
    for before in needed(cell):
        first = run_cell(before, store, pool, stop=stop)
        if not first.complete:
            return Outcome(cell, failures=first.failures)
    outcome = Outcome(cell)
    for trial in range(1, _TRIALS + 1):
        try:
            _complete(outcome, store, pool, stop, progress if trial == 1 else _silent, target_seconds)
            if not outcome.complete:
                return outcome
            outcome.failures.clear()  # beyond the stop
            store.finish(cell, outcome.wanted)
            break
        except (Damaged, FileNotFoundError) as error:  # the disk's fault, or another run shares the root and was faster
            if trial == _TRIALS:
                raise
            outcome.notes.append(str(error))
    if outcome.stored < cell.replicates:
        progress(cell.replicates - outcome.stored, None)
    return outcome


def _complete(
    outcome: Outcome,
    store: Store,
    pool: Pool,
    stop: threading.Event | None,
    progress: Progress,
    target_seconds: float,
) -> None:
    cell = outcome.cell
    found = store.find(cell)
    outcome.stored = cell.replicates - missing_replicates(cell, found.done)
    if not outcome.blocks:
        outcome.found = outcome.stored
    outcome.notes.extend(found.damaged)
    progress(outcome.stored, None)
    wanted = Wanted(cell, store)
    for bounds in found.done:
        wanted.see(*bounds)
    outcome.wanted = wanted.replicates
    if not outcome.complete:
        cut = Cut(cell, missing_lanes(cell, found.done), target_seconds)
        _fan_out(cut, wanted, outcome, store, pool, stop, progress)


def _room(cut: Cut, running: int, pool: Pool) -> bool:
    """Whether one more block of a cell may be sent: one that its cost is learned from, or for a worker that is idle."""
    return pool.idle or (running < cut.window(pool.workers) and not (running and pool.full))


def _fan_out(
    cut: Cut,
    wanted: Wanted,
    outcome: Outcome,
    store: Store,
    pool: Pool,
    stop: threading.Event | None,
    progress: Progress,
) -> None:
    arrived: queue.SimpleQueue[Receipt | Failure] = queue.SimpleQueue()
    running: dict[int, Callable[[], None]] = {}
    try:
        while True:
            if stop is not None and stop.is_set():
                raise Interrupted
            while not outcome.complete and _room(cut, len(running), pool):
                block = cut.next(pool.workers)
                if block is None:
                    break
                running[block.first] = pool.submit(block, store, arrived.put)
                if not arrived.empty():
                    break
            if not running:
                return
            try:
                event = arrived.get(timeout=0.2)
            except queue.Empty:
                continue
            running.pop(event.first)
            if isinstance(event, Failure):
                if not cut.again(event):
                    outcome.failures.append(event)
            else:
                outcome.add(event)
                wanted.see(event.first, event.last)
                outcome.wanted = wanted.replicates
                cut.learn(event)
                progress(event.last - event.first, event)
    finally:
        for cancel in running.values():
            cancel()
