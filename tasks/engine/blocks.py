"""Blocks of replicates and their sizes. A task on a worker computes a block, stores it and returns a receipt.

Sizes are chosen so that blocks cost about the same. The cost is known only after the first block.
"""

import platform
import time
import traceback
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TypeAlias

import pyarrow as pa

from sigstats._common.messages import one_line

from ..fan_out import fanout, is_parallel
from ..plan import Block, Cell, Needs
from ..process import alone, keep_freed_memory, peak, threads
from ..storage.store import Store
from .stopping import exceedances

#: Size in bytes up to which a worker sends the content of a file with the receipt.
_MOST_SENT = 1 << 15

#: Seconds of work in a block: much longer than the engine's 2 ms per task, and short enough for a display of progress.
TARGET_SECONDS = 2.0

#: The last blocks of a study shrink to this fraction of the target, so that the workers finish at about the same time.
_SMALLEST_FRACTION = 1 / 4

Content: TypeAlias = bytes | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """The record of a stored block."""

    #: First replicate of the block.
    first: int
    #: Last replicate of the block, plus one.
    last: int
    #: Seconds to compute the block.
    seconds: float
    #: Seconds to write the block.
    overhead: float
    #: Size of the file.
    bytes: int
    #: Machine that computed the block.
    host: str
    #: Engine that computed the block: the process of the run, or a worker.
    engine: str = "serial"
    #: Peak memory of the process so far, in bytes, or 0 if unknown.
    memory: int = 0
    #: Number of replicates at least as extreme as observed (or of rejections, if a rule stops at the precision of a
    #: rate), or None if unknown.
    exceedances: int | None = None
    #: The content of the file, if the run would otherwise request it from an object store. It is not stored.
    content: Content = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Failure:
    """The record of a block that could not be computed. The run continues, and the summary reports it."""

    #: First replicate of the block.
    first: int
    #: Last replicate of the block, plus one.
    last: int
    #: Class of the error.
    error: str
    #: Message of the error.
    message: str
    #: Traceback of the error.
    traceback: str


def run_block(block: Block, store: Store, *, engine: str = "serial") -> Receipt | Failure:
    """Compute a block and store it.

    A block may be computed twice: the second file equals the first byte for byte. Numerical libraries are restricted to
    one thread, or to the number in the cell's limits, since the last bits of a sum depend on how the sum is split.

    Returns a failure if the computation raises. Raises OSError if the store fails; the engine may repeat the block.
    """
    may_compute = nullcontext() if is_parallel(block.cell) else alone()
    keep_freed_memory()
    pa.array([])  # the first array makes Arrow import pandas, which no block is to count
    try:
        with may_compute, threads(Needs.of(block.cell).threads):
            started = time.perf_counter()
            table = fanout(block.cell.fanout).compute(block, store, block.cell.work)
    except OSError:
        raise
    except Exception as error:  # a classifier may raise anything; the cell reports it
        return failure(block, error)
    computed = time.perf_counter()
    content = store.write_block(block.cell, block.first, block.last, table)
    overhead = time.perf_counter() - computed
    return Receipt(
        first=block.first,
        last=block.last,
        seconds=computed - started,
        overhead=overhead,
        bytes=len(content),
        host=platform.node(),
        engine=engine,
        memory=peak(),
        exceedances=exceedances(block.cell, table, store),
        content=content if "://" in store.root and len(content) <= _MOST_SENT else None,
    )


async def load_fanouts(fanouts: Sequence[str]) -> None:
    """Import these fan-outs in a worker's event loop.

    The loop also imports the modules that a block's message names. If two threads imported at the same time, each might
    see a partly initialised module.
    """
    for name in fanouts:
        fanout(name)


def failure(block: Block, error: BaseException) -> Failure:
    """Return the record of a block that failed with `error`."""
    text = one_line(error) or "no message"
    return Failure(
        first=block.first,
        last=block.last,
        error=type(error).__name__,
        message=text[:500],
        traceback="".join(traceback.format_exception(error))[-8000:],
    )


class BlockSizer:
    """Cuts the missing lanes of a cell into blocks of one lane each, then of more once the cost of a lane is known."""

    def __init__(self, cell: Cell, gaps: list[tuple[int, int]], target_seconds: float) -> None:
        self.cell = cell
        self.gaps = gaps
        self.target_seconds = target_seconds
        #: The number of lanes with known cost, and their total seconds.
        self.lanes, self.seconds = 0, 0.0
        #: The number of stored lanes.
        self.computed = cell.lanes - sum(last - first for first, last in gaps)
        #: True after a failure, to find the lane that fails.
        self.one_by_one = False

    def window(self, workers: int, cells: int = 1) -> int:
        """Return the number of blocks that may run at once if the workers are shared by this number of cells.

        It is one until the cost of a lane is known, then two for each worker of the cell's share. If a rule may stop
        the cell it is one per worker, since blocks beyond the stop are wasted.
        """
        if not self.lanes:
            return 1
        return -(-(workers if self.cell.stopping is not None else 2 * workers) // cells)

    def retry(self, failed: Failure) -> bool:
        """Return True if a failed block must be computed again, lane by lane.

        A rule may stop the cell before the failing lane. Once that lane is known, only the lanes before it are
        computed, in case the rule stops there. A cell without a rule ends at once.
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
        """Update the cost of a lane with the cost of a computed block."""
        # The first block also fills the caches of its worker, so later blocks replace it in the average.
        if self.lanes == 1:
            self.seconds, self.lanes = 0.0, 0
        lanes = -(-(receipt.last - receipt.first) // self.cell.lane_size)
        self.seconds += receipt.seconds
        self.lanes += lanes
        self.computed += lanes

    @property
    def seconds_left(self) -> float:
        """The seconds of work that are not in a block yet, or 0 while the cost of a lane is unknown."""
        return sum(last - first for first, last in self.gaps) * self.seconds / max(1, self.lanes)

    def _next_lanes(self, workers: int, others: float, least: float) -> int:
        """Return the number of lanes of the next block, by the target time, or near the end by the remaining work."""
        if not self.lanes:
            return 1
        seconds_per_lane = max(self.seconds / self.lanes, 1e-6)
        target = max(self.target_seconds, least) if self.target_seconds else 0.0
        if workers > 1:
            until_the_end = (others + self.seconds_left) / workers
            target = min(target, max(until_the_end / 2, _SMALLEST_FRACTION * target))
        return max(1, int(target / seconds_per_lane))

    def next_block(self, workers: int, others: float = 0.0, least: float = 0.0) -> Block | None:
        """Return the next block, or None if no lane is left.

        `others`: the remaining seconds of work of other cells, which share the workers.
        `least`: the target for the seconds of work in a block, if larger than the sizer's own.
        """
        if not self.gaps:
            return None
        lanes = self._next_lanes(workers, others, least)
        first, last = self.gaps[0]
        if self.cell.stopping is not None:  # at most the number already computed, since a stop may make them useless
            lanes = 1 if self.one_by_one else min(lanes, max(1, self.computed))
        end = min(last, first + lanes)
        self.gaps[0] = (end, last)
        if end == last:
            self.gaps.pop(0)
        return self.cell.block(first, end)
