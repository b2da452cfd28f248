"""Pools of workers that run blocks: a plain loop, or several pools as one. All other modules know only the Protocol."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ..plan import Block, Cell, Needs, Plan
from ..storage.store import Store
from .blocks import BlockSizer, Failure, Receipt
from .guarded import run_guarded

#: The most threads of this process for cells. They only wait, so a thousand are cheap, though not free.
MOST_CELLS = 1024


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
        """The cells under way, with the seconds of work that is in no block yet; 0 if it is unknown."""

    @property
    def seconds_a_block(self) -> float:
        """The seconds of work in a block that let the scheduler feed all workers."""

    @property
    def idle(self) -> bool:
        """True if there are workers for which no block is submitted."""

    @property
    def staff(self) -> frozenset[str] | None:
        """The names of the workers; None if the scheduler, which knows them, does not answer."""

    @property
    def strangers(self) -> Mapping[str, str]:
        """The versions of the workers whose code differs from this process; they compute no block."""

    @property
    def memory_limit(self) -> int | None:
        """The smallest memory limit of a worker in bytes; None if there is none."""

    def prepare(self, plan: Plan, priority: int = 0) -> None:
        """Prepare for the blocks of a plan, with this priority; the workers import its fan-outs."""

    def submit(self, block: Block, store: Store, done: Callable[[Receipt | Failure], None]) -> Callable[[], None]:
        """Start a block, and return a function that cancels it; `done` is called once, from any thread."""


#: The `staff` of a run without workers.
THIS_PROCESS = frozenset({"this process"})


@dataclass
class Serial:
    """The plain loop: each block runs when it is submitted. It is the reference for every other pool."""

    workers: int = 1
    cells: int = 1
    open: dict[BlockSizer, float] = field(default_factory=dict)
    seconds_a_block: float = 0.0
    idle: bool = False
    staff: frozenset[str] = THIS_PROCESS
    strangers: Mapping[str, str] = field(default_factory=dict)
    memory_limit: int | None = None

    def prepare(self, plan: Plan, priority: int = 0) -> None:
        """Do nothing: the blocks run in this process."""

    def submit(  # noqa: D102
        self, block: Block, store: Store, done: Callable[[Receipt | Failure], None]
    ) -> Callable[[], None]:
        done(run_guarded(block, store))
        return lambda: None


@dataclass
class RoutedPool:
    """Sends each block to the pool of its needs, or to the common one."""

    #: The workers for blocks without needs.
    common: Pool
    #: The workers for each of the needs.
    by_needs: Mapping[Needs, Pool]
    open: dict[BlockSizer, float] = field(default_factory=dict)

    @property
    def _pools(self) -> list[Pool]:
        return [self.common, *self.by_needs.values()]

    @property
    def workers(self) -> int:
        """The sum over all pools."""
        return sum(pool.workers for pool in self._pools)

    @property
    def cells(self) -> int:
        """The sum over all pools."""
        return sum(pool.cells for pool in self._pools)

    @property
    def seconds_a_block(self) -> float:
        """The maximum over all pools."""
        return max(pool.seconds_a_block for pool in self._pools)

    @property
    def idle(self) -> bool:
        """True if a pool has workers without a block."""
        return any(pool.idle for pool in self._pools)

    @property
    def staff(self) -> frozenset[str] | None:
        """The workers of all pools; None if a scheduler does not answer."""
        staffs = [pool.staff for pool in self._pools]
        known = [staff for staff in staffs if staff is not None]
        return frozenset().union(*known) if len(known) == len(staffs) else None

    @property
    def strangers(self) -> Mapping[str, str]:
        """The versions in all pools."""
        return {worker: version for pool in self._pools for worker, version in pool.strangers.items()}

    @property
    def memory_limit(self) -> int | None:
        """The smallest memory limit of a worker in bytes; None if there is none."""
        return min((limit for pool in self._pools if (limit := pool.memory_limit) is not None), default=None)

    def prepare(self, plan: Plan, priority: int = 0) -> None:
        """Let all pools prepare for the plan."""
        for pool in self._pools:
            pool.prepare(plan, priority)

    def submit(  # noqa: D102
        self, block: Block, store: Store, done: Callable[[Receipt | Failure], None]
    ) -> Callable[[], None]:
        return self.by_needs.get(Needs.of(block.cell), self.common).submit(block, store, done)


def pool_of(pool: Pool, cell: Cell) -> Pool:
    """Return the pool for the blocks of a cell, by its needs."""
    while isinstance(pool, RoutedPool):
        pool = pool.by_needs.get(Needs.of(cell), pool.common)
    return pool
