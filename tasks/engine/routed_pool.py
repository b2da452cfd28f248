"""Several pools as one: a block goes to the workers that have what it needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..plan import Block, Plan
from ..storage.store import Store
from .needs import Needs
from .pools import Pool
from .run_block import Failure, Receipt


@dataclass(frozen=True)
class RoutedPool:
    """Sends each block to the pool of its needs, or to the common one."""

    #: The workers for blocks without needs.
    common: Pool
    #: The workers for each of the needs.
    own: Mapping[Needs, Pool]

    @property
    def _pools(self) -> list[Pool]:
        return [self.common, *self.own.values()]

    @property
    def workers(self) -> int:
        """The sum over all pools."""
        return sum(pool.workers for pool in self._pools)

    @property
    def cells(self) -> int:
        """The sum over all pools."""
        return sum(pool.cells for pool in self._pools)

    @property
    def full(self) -> bool:
        """Whether every pool has enough blocks."""
        return all(pool.full for pool in self._pools)

    @property
    def idle(self) -> bool:
        """Whether a pool has workers without a block."""
        return any(pool.idle for pool in self._pools)

    @property
    def staff(self) -> frozenset[str] | None:
        """The workers of all pools; None if a scheduler does not answer."""
        staffs = [pool.staff for pool in self._pools]
        known = [staff for staff in staffs if staff is not None]
        return frozenset().union(*known) if len(known) == len(staffs) else None

    @property
    def memory_limit(self) -> int | None:
        """The smallest memory limit of a worker in bytes; None if there is none."""
        limits = [limit for pool in self._pools if (limit := getattr(pool, "memory_limit", None)) is not None]
        return min(limits, default=None)

    def prepare(self, plan: Plan, priority: int = 0) -> None:
        """Let all pools prepare for the plan."""
        for pool in self._pools:
            pool.prepare(plan, priority)

    def submit(  # noqa: D102
        self, block: Block, store: Store, done: Callable[[Receipt | Failure], None]
    ) -> Callable[[], None]:
        return self.own.get(Needs.of(block.cell), self.common).submit(block, store, done)
