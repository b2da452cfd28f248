"""Run the blocks of a cell on a pool of workers, and join them when all are stored.

`run_cell` is the entry. A cell consists of lanes, each with its own random stream; a block is a range of lanes. The
store determines which replicates are done; the engine remembers nothing.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ..fan_out import prerequisites
from ..plan import Cell, missing_lanes
from ..storage.seal import Damaged
from ..storage.store import Store
from .blocks import TARGET_SECONDS, BlockSizer, Failure, Receipt
from .pools import Pool, pool_of
from .stopping import StoppingTracker

#: The maximum number of attempts to complete a cell if files disappear or are damaged meanwhile.
_TRIALS = 3

#: Seconds after which idle workers compute further lanes while the first lane of a cell still runs. Without this delay,
#: a thousand short lanes would keep the scheduler busy for as long.
LEARNING_SECONDS = 1.0

#: Called with a number of completed replicates, and their receipt if they were computed in this run.
Progress: TypeAlias = Callable[[int, Receipt | None], None]


def _silent(replicates: int, receipt: Receipt | None) -> None:
    """Report no progress."""


class Interrupted(Exception):
    """The run was asked to stop. The next run continues from the stored blocks."""


@dataclass
class Outcome:
    """The outcome of a cell, updated while it is computed."""

    cell: Cell
    #: Number of replicates that the store had at the start.
    taken_up: int = 0
    #: Number of replicates that this run must compute or find: all, unless it computes only a part of the study.
    share: int = -1
    #: Number of replicates that the cell needs: `share`, until a stopping rule reduces it.
    wanted: int = field(init=False)
    #: The receipts of the blocks. The caller may empty the list after writing them, since a long run has millions.
    receipts: list[Receipt] = field(default_factory=list)
    #: Number of computed blocks.
    blocks: int = 0
    #: Seconds of work on these blocks.
    seconds: float = 0.0
    #: Engines that computed the blocks, according to the receipts.
    engines: set[str] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)
    #: A line per file that could not be used and was computed again.
    notes: list[str] = field(default_factory=list)
    #: Number of replicates of `share` that are in the store.
    stored: int = field(init=False)

    def __post_init__(self) -> None:
        self.share = self.cell.replicates if self.share < 0 else self.share
        self.wanted = self.share
        self.stored = self.taken_up

    def add(self, receipt: Receipt) -> None:
        """Count a computed block."""
        self.receipts.append(receipt)
        self.blocks += 1
        self.seconds += receipt.seconds
        self.engines.add(receipt.engine)
        self.stored += receipt.last - receipt.first

    @property
    def complete(self) -> bool:
        """True if every replicate that the cell needs is in the store."""
        return self.stored >= self.wanted


def run_cell(
    cell: Cell,
    store: Store,
    pool: Pool,
    *,
    stop: threading.Event | None = None,
    progress: Progress = _silent,
    target_seconds: float = TARGET_SECONDS,
    lanes: tuple[int, int] | None = None,
) -> Outcome:
    """Compute the missing replicates of a cell, then join its blocks into one file.

    The first block is a single lane; its cost determines the size of the other blocks. If it takes longer than a
    second, idle workers compute further lanes meanwhile.
    A failed block ends the cell, since other blocks would also fail; completed blocks are kept. A stopping rule ends
    the cell once it stops on the leading replicates. The run waits for blocks beyond the stop, since workers would
    still write them, and then drops them.

    `progress` is called with the number of replicates of each computed block and the block's receipt. With None as the
    receipt, it is called first with the number of stored replicates, and at the end with the number of replicates that
    the cell's rule saved.

    Raises Interrupted if `stop` is set. Raises Damaged or FileNotFoundError if written files are repeatedly damaged or
    missing when they are read.
    """
    for before in prerequisites(cell):
        first = run_cell(before, store, pool, stop=stop)
        if not first.complete:
            return Outcome(cell, failures=first.failures)
    whole = (0, cell.lanes)
    lanes = lanes or whole
    outcome = Outcome(cell, share=_replicates(cell, [lanes]))
    for trial in range(1, _TRIALS + 1):
        try:
            _compute_missing(outcome, store, pool, stop, progress if trial == 1 else _silent, target_seconds, lanes)
            if not outcome.complete:
                return outcome
            outcome.failures.clear()  # blocks beyond the stop
            if lanes == whole:
                store.finish(cell, outcome.wanted)
            break
        except (Damaged, FileNotFoundError) as error:  # the disk failed, or another run in the folder was faster
            if trial == _TRIALS:
                raise
            outcome.notes.append(str(error))
    if outcome.stored < outcome.share:
        progress(outcome.share - outcome.stored, None)
    return outcome


def done_and_left(cell: Cell, store: Store, lanes: tuple[int, int] | None = None) -> tuple[int, int]:
    """Return how many replicates of a cell are stored, and how many it still needs (at most, if it may stop early).

    `lanes`: count only these lanes, ``first <= lane < last``.
    """
    done = store.find(cell).done
    tracker = StoppingTracker(cell, store, done)
    lanes = lanes or (0, cell.lanes)
    share = _replicates(cell, [lanes])
    stored = share - _replicates(cell, _missing(cell, done, lanes))
    return stored, max(0, min(tracker.replicates, share) - stored)


def _replicates(cell: Cell, lanes: Iterable[tuple[int, int]]) -> int:
    """Return the number of replicates in ranges of lanes."""
    return sum(min(last * cell.lane_size, cell.replicates) - first * cell.lane_size for first, last in lanes)


def _missing(cell: Cell, done: Iterable[tuple[int, int]], lanes: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the ranges of lanes within `lanes` that no stored range of replicates covers."""
    ranges = [(max(first, lanes[0]), min(last, lanes[1])) for first, last in missing_lanes(cell, done)]
    return [(first, last) for first, last in ranges if first < last]


def _compute_missing(
    outcome: Outcome,
    store: Store,
    pool: Pool,
    stop: threading.Event | None,
    progress: Progress,
    target_seconds: float,
    lanes: tuple[int, int],
) -> None:
    """Compute the missing replicates of these lanes, until a block fails or all that the cell needs are stored."""
    cell = outcome.cell
    files = store.find(cell)
    missing = _missing(cell, files.done, lanes)
    outcome.stored = outcome.share - _replicates(cell, missing)
    if not outcome.blocks:
        outcome.taken_up = outcome.stored
    outcome.notes.extend(files.damaged)
    progress(outcome.stored, None)
    tracker = StoppingTracker(cell, store, files.done)
    outcome.wanted = min(tracker.replicates, outcome.share)
    if outcome.complete:
        return
    with closing(_SentBlocks(BlockSizer(cell, missing, target_seconds), store, pool)) as blocks:
        while True:
            if stop is not None and stop.is_set():
                raise Interrupted
            if not outcome.complete:
                blocks.send()
            if not blocks.cancel:
                return
            result = blocks.receive()
            if isinstance(result, Failure):
                if not blocks.sizer.retry(result):
                    outcome.failures.append(result)
            elif result is not None:
                store.wrote_block(cell, result.first, result.last, result.content)
                outcome.add(replace(result, content=None))
                tracker.add(result.first, result.last)
                outcome.wanted = min(tracker.replicates, outcome.share)
                blocks.sizer.learn(result)
                progress(result.last - result.first, result)


class _SentBlocks:
    """The blocks of a cell that were sent to a pool and have not come back."""

    def __init__(self, sizer: BlockSizer, store: Store, pool: Pool) -> None:
        self.sizer = sizer
        #: The function that cancels a block, by the block's first replicate.
        self.cancel: dict[int, Callable[[], None]] = {}
        self._store, self._pool = store, pool
        self._returned: queue.SimpleQueue[Receipt | Failure] = queue.SimpleQueue()
        self._begun = time.monotonic()
        pool.open[sizer] = 0.0

    def send(self) -> None:
        """Send blocks until the pool has no more room or a block comes back."""
        sizer, pool = self.sizer, self._pool
        while has_room(sizer, len(self.cancel), pool, self._begun):
            others = sum(pool.open.copy().values()) - pool.open[sizer]
            block = sizer.next_block(pool_of(pool, sizer.cell).workers, others, pool.seconds_a_block)
            pool.open[sizer] = sizer.seconds_left
            if block is None:
                return
            self.cancel[block.first] = pool.submit(block, self._store, self._returned.put)
            if not self._returned.empty():
                return

    def receive(self) -> Receipt | Failure | None:
        """Return the result of a block that has come back, or None after a fifth of a second without one."""
        try:
            result = self._returned.get(timeout=0.2)
        except queue.Empty:
            return None
        del self.cancel[result.first]
        return result

    def close(self) -> None:
        """Cancel the blocks that have not come back."""
        del self._pool.open[self.sizer]
        for cancel in self.cancel.values():
            cancel()


def has_room(sizer: BlockSizer, running: int, pool: Pool, begun: float) -> bool:
    """Return True if one more block may be sent for a cell that began at this time and has `running` blocks."""
    sub_pool = pool_of(pool, sizer.cell)
    if running < sizer.window(sub_pool.workers, len(pool.open)):
        return True
    return sub_pool.idle and (bool(sizer.lanes) or time.monotonic() - begun >= LEARNING_SECONDS)
