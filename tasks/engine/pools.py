"""Pools of workers that run blocks. All other modules rely only on the protocol `Pool`.

`Serial` is a plain loop. `RoutedPool` combines pools for blocks with different needs. `GrowingPool` begins in this
process and continues on a cluster. The pool of a Dask cluster is in `sigstats.tasks.engine.dask_pool`.
"""

import contextvars
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from operator import sub
from typing import Protocol, Self, TypeAlias

import psutil

from ..fan_out import is_parallel, own_code
from ..plan import Block, Cell, Needs, Plan
from ..storage.store import Store
from .blocks import BlockSizer, Failure, Receipt
from .guarded import run_guarded

#: The maximum number of threads of this process for cells. They only wait, so a thousand are cheap, but not free.
MOST_CELLS = 1024

#: The maximum number of threads of this process that compute blocks. Only one of them runs uncompiled code at a time.
MOST_HERE = 4
#: Seconds of processor time that sending a block to a worker costs: the messages to the scheduler and back.
SENDING = 0.01
#: The weight of a block relative to the next block in their mean time, since small cells may come before large ones.
_LATELY = 0.98

#: A function that is called with the outcome of a block.
Done: TypeAlias = Callable[[Receipt | Failure], None]


class Pool(Protocol):
    """Workers that run blocks."""

    @property
    def workers(self) -> int:
        """The number of blocks that can run at once, at least 1."""

    @property
    def cells(self) -> int:
        """The number of cells to compute at once, at least 1."""

    @property
    def open(self) -> dict[BlockSizer, float]:
        """The cells in progress, with the seconds of work that are not in a block yet (0 if unknown)."""

    @property
    def seconds_a_block(self) -> float:
        """The least seconds of work per block with which the scheduler can keep all workers busy."""

    @property
    def idle(self) -> bool:
        """True if some workers have no submitted block."""

    @property
    def staff(self) -> frozenset[str] | None:
        """The names of the workers, or None if the scheduler does not answer."""

    @property
    def strangers(self) -> Mapping[str, str]:
        """The versions of the workers whose code differs from this process. They compute no blocks."""

    def prepare(self, plan: Plan, priority: int = 0) -> None:
        """Prepare for the blocks of a plan with this priority, for example by importing its fan-outs on the workers."""

    def submit(self, block: Block, store: Store, done: Done) -> Callable[[], None]:
        """Start a block and return a function that cancels it. `done` is called at most once, from any thread."""


#: The `staff` of a run without workers.
THIS_PROCESS = frozenset({"this process"})


@dataclass
class Serial:
    """The plain loop, in which each block runs when it is submitted. It is the reference for all other pools."""

    workers: int = 1
    cells: int = 1
    open: dict[BlockSizer, float] = field(default_factory=dict)
    seconds_a_block: float = 0.0
    idle: bool = False
    staff: frozenset[str] = THIS_PROCESS
    strangers: Mapping[str, str] = field(default_factory=dict)

    def prepare(self, plan: Plan, priority: int = 0) -> None:
        """Do nothing, since the blocks run in this process."""

    def submit(self, block: Block, store: Store, done: Done) -> Callable[[], None]:  # noqa: D102
        done(run_guarded(block, store))
        return lambda: None


@dataclass
class RoutedPool:
    """Sends each block to the pool for its needs, or to the common pool."""

    #: The pool for all other blocks.
    common: Pool
    #: The pools by the needs of their blocks.
    by_needs: Mapping[Needs, Pool]
    open: dict[BlockSizer, float] = field(default_factory=dict)

    @property
    def _pools(self) -> list[Pool]:
        return [self.common, *self.by_needs.values()]

    @property
    def workers(self) -> int:
        """The number of workers of all pools."""
        return sum(pool.workers for pool in self._pools)

    @property
    def cells(self) -> int:
        """The number of cells of all pools."""
        return sum(pool.cells for pool in self._pools)

    @property
    def seconds_a_block(self) -> float:
        """The largest value of all pools."""
        return max(pool.seconds_a_block for pool in self._pools)

    @property
    def idle(self) -> bool:
        """True if any pool is idle."""
        return any(pool.idle for pool in self._pools)

    @property
    def staff(self) -> frozenset[str] | None:
        """The workers of all pools, or None if a scheduler does not answer."""
        staffs = [pool.staff for pool in self._pools]
        known = [staff for staff in staffs if staff is not None]
        return frozenset().union(*known) if len(known) == len(staffs) else None

    @property
    def strangers(self) -> Mapping[str, str]:
        """The workers with different code in all pools, with their versions."""
        return {worker: version for pool in self._pools for worker, version in pool.strangers.items()}

    def prepare(self, plan: Plan, priority: int = 0) -> None:
        """Let all pools prepare for the plan."""
        for pool in self._pools:
            pool.prepare(plan, priority)

    def submit(self, block: Block, store: Store, done: Done) -> Callable[[], None]:  # noqa: D102
        return self.by_needs.get(Needs.of(block.cell), self.common).submit(block, store, done)


def pool_of(pool: Pool, cell: Cell) -> Pool:
    """Return the pool for the blocks of a cell, which depends on the cell's needs."""
    while isinstance(pool, RoutedPool):
        pool = pool.by_needs.get(Needs.of(cell), pool.common)
    return pool


class GrowingPool(RoutedPool):
    """Runs blocks in threads of this process until the workers of a cluster have started. Use it as a context manager.

    Many studies end before a cluster would have started. The cluster is therefore started during the work, once
    processors have been idle for some seconds, unless sending a block takes longer than computing it. If the cluster
    cannot be started, the work continues in this process.

    `open_pool`: returns a context manager that starts the cluster and closes it at the end.
    `expected`: the number of workers that the cluster will have.
    `after`: seconds that this process must have computed, and `expected` processors been idle on average, before the
    cluster is started: a busy machine has no use for more processes. It is always started after ten times this time.
    `stop`: an event that is set to stop early. Blocks that wait for their turn are then not computed.
    `say`: called with one line if the cluster cannot be started.
    """

    def __init__(
        self,
        open_pool: Callable[[], AbstractContextManager[Pool]],
        *,
        expected: int,
        after: float,
        stop: threading.Event,
        say: Callable[[str], None],
    ) -> None:
        super().__init__(Serial(), {})
        self._open_pool = open_pool
        self._expected = expected
        self._after = after
        self._stop = stop
        self._say = say
        #: True when the cluster has started; `common` is then its pool.
        self._grown = False
        #: The number of threads that may compute blocks here, and how many of them do.
        self._threads, self._busy = min(expected, MOST_HERE), 0
        #: The weighted sum of the blocks' seconds so far, and the sum of the weights.
        self._seconds, self._blocks = 0.0, 0.0
        #: Notified when a thread is free, or the cluster has started.
        self._changed = threading.Condition()
        #: Set at the first block, and at the end of the context.
        self._begun, self._over = threading.Event(), threading.Event()
        self._prepared: tuple[Plan, int] | None = None
        here = contextvars.copy_context()
        self._starter = threading.Thread(target=here.run, args=(self._grow,), name="cluster", daemon=True)

    def __enter__(self) -> Self:
        self._starter.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._begun.set()
        self._starter.join()

    @property
    def cells(self) -> int:
        """Two cells per expected worker of the cluster, or the number of cells of the started pool if larger."""
        return max(2 * self._expected, super().cells)

    def prepare(self, plan: Plan, priority: int = 0) -> None:
        """Let the workers of the cluster prepare for the plan as soon as they have started."""
        self._prepared = plan, priority

    def submit(self, block: Block, store: Store, done: Done) -> Callable[[], None]:  # noqa: D102
        self._begun.set()
        threads = 1 if is_parallel(block.cell) else self._threads
        with self._changed:
            while self._busy and self._busy + threads > self._threads and not (self._grown or self._stop.is_set()):
                self._changed.wait(0.1)
            grown = self._grown
            if not grown:
                if self._stop.is_set():
                    return lambda: None
                self._busy += threads
        if grown:
            return super().submit(block, store, done)
        try:
            outcome = self._compute_here(block, store)
        finally:
            with self._changed:
                self._busy -= threads
                self._changed.notify_all()
        done(outcome)
        return lambda: None

    def _compute_here(self, block: Block, store: Store) -> Receipt | Failure:
        """Compute a block in this thread, and measure its time."""
        clock, processor = time.monotonic(), time.thread_time()
        outcome = run_guarded(block, store)
        in_other_process = own_code(block.cell) is not None
        seconds = time.monotonic() - clock if in_other_process else time.thread_time() - processor
        self._seconds, self._blocks = _LATELY * self._seconds + seconds, _LATELY * self._blocks + 1
        return outcome

    def _is_useful(self, clock: float, worked: float, idle: float) -> bool:
        """Return True if the cluster should start after these seconds by the clock, of work, and of idle processors."""
        free = min(idle, self._expected * clock - worked) / self._expected
        return min(worked, free) >= self._after or clock >= 10 * self._after

    def _grow(self) -> None:
        """Start the cluster when it is useful, and close it when the context ends."""
        self._begun.wait()
        before = _times()
        while not (self._is_useful(*map(sub, _times(), before)) and self._seconds >= SENDING * self._blocks):
            if self._over.wait(0.1):
                return
        if self._over.is_set():
            return
        try:
            with self._open_pool() as pool:
                if self._prepared is not None:
                    pool.prepare(*self._prepared)
                with self._changed:
                    self.common, self._grown = pool, True
                    self._changed.notify_all()
                self._over.wait()
        except Exception as error:
            if self._grown:  # the cluster failed to close; no result depends on it
                return
            reason = " ".join(str(error).split()) or type(error).__name__
            self._say(f"note: no workers could be started, so the run continues in this process ({reason[:200]})")


def _times() -> tuple[float, float, float]:
    """Return the time by the clock, the processor time of this process, and the idle time of all processors."""
    return time.monotonic(), time.process_time(), psutil.cpu_times().idle
