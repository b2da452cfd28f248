"""A pool that begins in this process and goes on with the workers of a cluster."""

import contextvars
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from ..plan import Block, Plan
from ..replicates import own_code
from ..storage.store import Store
from .guarded import run_guarded
from .pools import Pool, RoutedPool, Serial
from .run_block import Failure, Receipt
from .submissions import Lately

#: Seconds of processors that a worker costs for each block: the messages to the scheduler and back.
SENDING = 0.01
#: The weight of a block over that of the next one in their mean time, since small cells may come before large ones.
_LATELY = 0.98


class GrowingPool(RoutedPool):
    """Runs blocks in this process, one at a time, until the workers of a cluster have started; use it as a context.

    Many studies end before a cluster has started. So it is started during the work, once that has taken some seconds,
    unless a block takes less than to send it. If it cannot be started, the work goes on in this process.

    `open_pool`: returns a context manager that starts the cluster and, at its end, closes it.
    `expected`: the number of workers that the cluster will have.
    `after`: seconds of processor time of this process, from the first block on, after which the cluster is started:
    on a busy machine a cluster takes longer to start as well. It is also started after ten times as many seconds by
    the clock, since blocks may wait without using the processor.
    `stop`: set to stop early: blocks that wait for their turn are then not computed.
    `say`: called with one line if the cluster could not be started.
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
        self._grown = self._busy = False
        self._lately = Lately(_LATELY)
        self._turn = threading.Condition()
        self._begun = threading.Event()
        self._over = threading.Event()
        self._prepared: tuple[Plan, int] | None = None
        here = contextvars.copy_context()
        self._starter = threading.Thread(target=here.run, args=(self._grow,), name="cluster", daemon=True)

    def __enter__(self) -> Self:
        self._starter.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._begun.set()
        self._starter.join()

    @property
    def cells(self) -> int:
        """Two for each worker that the cluster will have, or as many as it asks for once it has started."""
        return max(2 * self._expected, super().cells)

    def prepare(self, plan: Plan, priority: int = 0) -> None:
        """Let the workers of the cluster prepare for the plan as soon as they have started."""
        self._prepared = plan, priority

    def submit(  # noqa: D102
        self, block: Block, store: Store, done: Callable[[Receipt | Failure], None]
    ) -> Callable[[], None]:
        self._begun.set()
        with self._turn:
            while not self._grown and self._busy and not self._stop.is_set():
                self._turn.wait(0.1)
            grown = self._grown
            if not grown:
                if self._stop.is_set():
                    return lambda: None
                self._busy = True
        if grown:
            return super().submit(block, store, done)
        own, clock, processor = own_code(block.cell) is not None, time.monotonic(), time.thread_time()
        try:
            outcome = run_guarded(block, store)
            taken = time.monotonic() - clock if own else time.thread_time() - processor
            self._lately.add(taken)
        finally:
            with self._turn:
                self._busy = False
                self._turn.notify()
        done(outcome)
        return lambda: None

    def _grow(self) -> None:
        """Start the cluster when it is time, and end it when the context ends."""
        self._begun.wait()
        began, worked = time.monotonic(), time.process_time()
        while (
            time.process_time() - worked < self._after and time.monotonic() - began < 10 * self._after
        ) or self._lately.mean < SENDING:
            if self._over.wait(0.1):
                return
        if self._over.is_set():
            return
        try:
            with self._open_pool() as pool:
                if self._prepared is not None:
                    pool.prepare(*self._prepared)
                with self._turn:
                    self.common, self._grown = pool, True
                    self._turn.notify_all()
                self._over.wait()
        except Exception as error:
            if self._grown:  # it failed to close, which changes no result
                return
            reason = " ".join(str(error).split()) or type(error).__name__
            self._say(f"note: no workers could be started, so the run goes on in this process ({reason[:200]})")
