"""Run the blocks of a cell on a pool of workers, and join them when all are there.

The pool is a plain loop (`Serial`, the reference) or a Dask client (`DaskPool`); nothing here or in a fan-out knows
which. What is done is asked of the store, never of the engine's memory.
"""

import contextlib
import itertools
import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from .fanouts import needed
from .plan import Block, Cell, missing_lanes
from .stopping import Wanted
from .store import Store, missing
from .work import Failure, Receipt, failure, run_block

#: Seconds of work in a block: long beside the engine's 2 ms for a task, short beside a person's patience.
TARGET_SECONDS = 2.0

#: Seconds of work in a block for each worker, where there are so many that one scheduler could not feed them otherwise:
#: twice what a block takes in it and in this process (docs/scaling.md).
TARGET_SECONDS_A_WORKER = 0.01

#: How long the end of a run waits for blocks that are computed in vain, in seconds.
SETTLE_SECONDS = 60.0

#: Threads that this process may have for cells: they wait, so a thousand cost little, but not nothing.
MOST_CELLS = 1024


class Interrupted(Exception):
    """The run was asked to stop; what is on disk stays and is taken up again."""


class Pool(Protocol):
    """Workers that run blocks."""

    @property
    def workers(self) -> int:
        """How many blocks can run at once, at least 1."""

    @property
    def cells(self) -> int:
        """How many cells to work on at once, at least 1."""

    @property
    def full(self) -> bool:
        """Whether enough blocks are on their way to keep every worker busy; a cell may always have one."""

    def submit(self, block: Block, store: Store, done: Callable[[Receipt | Failure], None]) -> Callable[[], None]:
        """Start a block; `done` is called once, from any thread, with its outcome. Returns what cancels it."""

    def settle(self) -> None:
        """Wait until no worker computes a block any more whose outcome is known already."""


@dataclass
class Serial:
    """The plain loop: each block runs when it is submitted. Every other pool must agree with it."""

    workers: int = 1
    cells: int = 1
    full: bool = False

    def submit(  # noqa: D102
        self, block: Block, store: Store, done: Callable[[Receipt | Failure], None]
    ) -> Callable[[], None]:
        done(run_block(block, store))
        return lambda: None

    def settle(self) -> None:  # noqa: D102
        pass


@dataclass
class DaskPool:
    """Blocks as plain futures of a `distributed.Client`.

    Attributes
    ----------
    client : distributed.Client
    retries : int
        How often the engine may repeat a block whose worker lost its connection to the store.
    trials : int
        How often a block is given to the engine that it gave up because worker after worker died: it counts every
        block that a dead worker had, whichever of them it died of.
    expected : int
        How many workers there will be, where they come later: from a batch system, or as they are needed.
    """

    client: Any
    retries: int = 2
    trials: int = 2
    expected: int = 1
    _asked: float = field(default=-1.0, init=False, repr=False)
    _threads: int = field(default=1, init=False, repr=False)
    # One group of tasks: the scheduler keeps what it learns of each group for ever, and tells groups by their names.
    _group: str = field(default_factory=lambda: f"block-{uuid.uuid4().hex}", init=False, repr=False)
    _numbers: Iterator[int] = field(default_factory=itertools.count, init=False, repr=False)
    _on_their_way: set[str] = field(default_factory=set, init=False, repr=False)

    @property
    def workers(self) -> int:
        """The number of threads the cluster has now, at least 1; asked of the scheduler once a second."""
        now = time.monotonic()
        if now - self._asked > 1.0:
            self._asked = now
            self._threads = max(1, sum(int(threads) for threads in self.client.nthreads().values()))
        return self._threads

    @property
    def cells(self) -> int:
        """Two a worker, so that none waits while a cell learns what a block costs; each takes a thread here."""
        return min(2 * max(self.expected, self.workers), MOST_CELLS)

    @property
    def full(self) -> bool:
        """Whether three blocks a worker are on their way: more would only weigh on the scheduler."""
        return len(self._on_their_way) >= 3 * self.workers

    @property
    def memory_limit(self) -> int | None:
        """The smallest memory limit of a worker in bytes, None where there is none."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return min((int(worker["memory_limit"]) for worker in workers if worker["memory_limit"]), default=None)

    def submit(  # noqa: D102
        self, block: Block, store: Store, done: Callable[[Receipt | Failure], None]
    ) -> Callable[[], None]:
        from distributed import KilledWorker

        given: list[Any] = []
        self._on_their_way.add(block.key)

        def give() -> None:
            future = self.client.submit(
                run_block,
                block,
                store,
                key=(self._group, block.key, next(self._numbers)),
                pure=False,
                retries=self.retries,
            )
            given.append(future)
            future.add_done_callback(finished)

        def finished(future: Any) -> None:
            try:
                outcome = future.result()
                future.release()  # or the block would be computed again if the worker died that has its receipt
                end(outcome)
            except KilledWorker as error:
                if len(given) == self.trials:
                    end(failure(block, error))
                    return
                try:
                    give()
                except Exception as gone:  # the cluster itself is
                    end(failure(block, gone))
            except BaseException as error:  # the worker's own, or that the cluster lost the block
                end(failure(block, error))

        def end(outcome: Receipt | Failure) -> None:
            self._on_their_way.discard(block.key)
            done(outcome)

        def cancel() -> None:
            self._on_their_way.discard(block.key)
            with contextlib.suppress(Exception):  # the cluster may be gone already
                given[-1].cancel()

        give()
        return cancel

    def settle(self) -> None:
        """Wait for blocks that a worker computes again since another died that had their receipts, a minute at most.

        The receipt was here by then, but a block cannot be called back from a worker that has begun it.
        """
        deadline = time.monotonic() + SETTLE_SECONDS
        with contextlib.suppress(Exception):  # a cluster that is gone computes nothing
            while (
                self.client.status == "running"
                and time.monotonic() < deadline
                and any(key[0] == self._group for keys in self.client.processing().values() for key in keys)
            ):
                time.sleep(0.1)


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
    failures: list[Failure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stored: int = field(init=False)

    def __post_init__(self) -> None:
        self.wanted = self.cell.replicates
        self.stored = self.found

    def add(self, receipt: Receipt) -> None:
        """A block that came in."""
        self.receipts.append(receipt)
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
    progress: Callable[[int, float | None], None] = lambda replicates, seconds: None,
    target_seconds: float = TARGET_SECONDS,
) -> Outcome:
    """Compute what the store lacks of a cell, then join its blocks into one file.

    The first block is a single lane; its cost sizes the others. A failed block ends the cell: its other blocks would
    fail likewise, and what is done stays. A stopping rule ends it too, once it stops on the replicates from the first
    on; blocks beyond that are waited for, since a worker would still write them, and dropped.

    Parameters
    ----------
    cell : Cell
    store : Store
    pool : Pool
    stop : threading.Event, optional
        Set to leave early.
    progress : callable
        Called with the number of replicates that came in and the seconds of work they took; with None for the seconds,
        first with what the store had, and at the end with what the cell's rule spared.
    target_seconds : float
        Wanted cost of a block.

    Returns
    -------
    Outcome

    Raises
    ------
    Interrupted
        If `stop` was set.
    """
    for before in needed(cell):
        first = run_cell(before, store, pool, stop=stop)
        if not first.complete:
            return Outcome(cell, failures=first.failures)
    found = store.find(cell)
    outcome = Outcome(cell, found=cell.replicates - missing(cell, found.done), notes=list(found.damaged))
    progress(outcome.found, None)
    wanted = Wanted(cell, store)
    for bounds in found.done:
        wanted.see(*bounds)
    outcome.wanted = wanted.replicates
    if not outcome.complete:
        cut = _Cut(cell, missing_lanes(cell, found.done), target_seconds)
        _fan_out(cut, wanted, outcome, store, pool, stop, progress)
    if outcome.complete:
        outcome.failures.clear()  # beyond the stop
        store.finish(cell, outcome.wanted)
        if outcome.stored < cell.replicates:
            progress(cell.replicates - outcome.stored, None)
    return outcome


def _fan_out(
    cut: "_Cut",
    wanted: Wanted,
    outcome: Outcome,
    store: Store,
    pool: Pool,
    stop: threading.Event | None,
    progress: Callable[[int, float | None], None],
) -> None:
    arrived: queue.SimpleQueue[Receipt | Failure] = queue.SimpleQueue()
    running: dict[int, Callable[[], None]] = {}
    try:
        while True:
            if stop is not None and stop.is_set():
                raise Interrupted
            while not outcome.complete and len(running) < cut.window(pool.workers) and not (running and pool.full):
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
                progress(event.last - event.first, event.seconds)
    finally:
        for cancel in running.values():
            cancel()


class _Cut:
    """Cuts the missing lanes into blocks, of one lane until their cost is known."""

    def __init__(self, cell: Cell, gaps: list[tuple[int, int]], target_seconds: float) -> None:
        self.cell = cell
        self.gaps = gaps
        self.target_seconds = target_seconds
        self.seconds = 0.0
        self.lanes = 0
        self.known = cell.lanes - sum(last - first for first, last in gaps)
        self.one_by_one = False

    def window(self, workers: int) -> int:
        """How many blocks may be on their way: one to learn from, then enough to keep every worker busy.

        Fewer where a rule may stop the cell, since they may be in vain.
        """
        if not self.lanes:
            return 1
        return workers if self.cell.stopping is not None else 2 * workers

    def again(self, failed: Failure) -> bool:
        """Whether a failed block is done again lane by lane, since a rule may stop before the one that fails.

        If not, nothing more is cut, except before it where a rule may stop.
        """
        first, last = failed.first // self.cell.lane_size, -(-failed.last // self.cell.lane_size)
        if self.cell.stopping is None:
            self.gaps = []
        elif last - first == 1:
            self.gaps = [(a, min(b, first)) for a, b in self.gaps if a < first]
        else:
            self.gaps = sorted([*self.gaps, (first, last)])
            self.one_by_one = True
            return True
        return False

    def learn(self, receipt: Receipt) -> None:
        # The first block also pays for what a worker keeps, so later ones replace it in the average.
        if self.lanes == 1:
            self.seconds, self.lanes = 0.0, 0
        lanes = -(-(receipt.last - receipt.first) // self.cell.lane_size)
        self.seconds += receipt.seconds
        self.lanes += lanes
        self.known += lanes

    def next(self, workers: int) -> Block | None:
        if not self.gaps:
            return None
        left = sum(last - first for first, last in self.gaps)
        wanted = 1
        if self.lanes:
            each = max(self.seconds / self.lanes, 1e-6)
            target = max(self.target_seconds, workers * TARGET_SECONDS_A_WORKER) if self.target_seconds else 0.0
            wanted = max(1, min(int(target / each), -(-left // workers)))
        first, last = self.gaps[0]
        if self.cell.stopping is not None:  # no more than there are already, since they may be in vain
            wanted = 1 if self.one_by_one else min(wanted, max(1, self.known))
        end = min(last, first + wanted)
        self.gaps[0] = (end, last)
        if end == last:
            self.gaps.pop(0)
        return self.cell.block(first, end)
