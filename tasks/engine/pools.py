"""Pools of workers that run blocks: a plain loop, or a Dask client. Nothing else knows which of the two it is."""

import contextlib
import functools
import itertools
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..plan import Block
from ..storage.store import Store
from .run_block import Failure, Receipt, failure, load_fanouts, run_block

#: Threads that this process may have for cells: they wait, so a thousand cost little, but not nothing.
MOST_CELLS = 1024

#: How often a block is sent again because the connection to the scheduler broke, which then forgets what it was asked.
_MOST_LOSSES = 10


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

    @property
    def idle(self) -> bool:
        """Whether there are workers for whom no block is on its way."""

    @property
    def staffed(self) -> bool:
        """Whether there is a worker at all."""

    def prepare(self, fanouts: Iterable[str]) -> None:
        """Have the workers load what the blocks of these fan-outs need, while nobody waits for them."""

    def submit(self, block: Block, store: Store, done: Callable[[Receipt | Failure], None]) -> Callable[[], None]:
        """Start a block; `done` is called once, from any thread, with its outcome. Returns what cancels it."""


@dataclass
class Serial:
    """The plain loop: each block runs when it is submitted. Every other pool must agree with it."""

    workers: int = 1
    cells: int = 1
    full: bool = False
    idle: bool = False
    staffed: bool = True

    def prepare(self, fanouts: Iterable[str]) -> None:
        """Nothing: nobody else works meanwhile."""

    def submit(  # noqa: D102
        self, block: Block, store: Store, done: Callable[[Receipt | Failure], None]
    ) -> Callable[[], None]:
        done(run_block(block, store))
        return lambda: None


def _one_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="receipts")


@dataclass
class _Given:
    """A block that was given to the engine, or waits to be."""

    block: Block
    store: Store
    done: Callable[[Receipt | Failure], None]
    deaths: int = 0
    losses: int = 0
    future: Any = None
    unwanted: bool = False


@dataclass
class DaskPool:
    """Blocks as plain futures of a `distributed.Client`.

    A message to the scheduler and its answer cost more than what they carry. So what comes while one is under way goes
    with the next: blocks are sent together, and their receipts are fetched together. An idle pool waits for nothing.

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
    _fetching: ThreadPoolExecutor = field(default_factory=_one_thread, init=False, repr=False)
    _sending: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _to_send: deque[_Given] = field(default_factory=deque, init=False, repr=False)
    _to_fetch: deque[_Given] = field(default_factory=deque, init=False, repr=False)

    @property
    def workers(self) -> int:
        """The number of threads the cluster has now, at least 1; asked of the scheduler once a second."""
        now = time.monotonic()
        if now - self._asked > 1.0:
            self._asked = now
            with contextlib.suppress(Exception):  # the scheduler is gone, which a block that is submitted will tell
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
    def idle(self) -> bool:
        """Whether fewer blocks are on their way than there are workers."""
        return len(self._on_their_way) < self.workers

    @property
    def staffed(self) -> bool:
        """Whether a worker is there; True where nobody can say."""
        try:
            return bool(self.client.nthreads())
        except Exception:  # the scheduler is gone, which a block tells
            return True

    @property
    def memory_limit(self) -> int | None:
        """The smallest memory limit of a worker in bytes, None where there is none."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return min((int(worker["memory_limit"]) for worker in workers if worker["memory_limit"]), default=None)

    def prepare(self, fanouts: Iterable[str]) -> None:
        """Ask the workers that are there to load them; one that comes later does so with its first block."""
        names = sorted(set(fanouts))

        def ask() -> None:
            with contextlib.suppress(BaseException):  # a worker died, or the cluster is closed; a block loads it then
                self.client.run(load_fanouts, names, wait=False)

        threading.Thread(target=ask, name="prepare", daemon=True).start()

    def submit(  # noqa: D102
        self, block: Block, store: Store, done: Callable[[Receipt | Failure], None]
    ) -> Callable[[], None]:
        given = _Given(block, store, done)
        self._on_their_way.add(block.key)
        self._to_send.append(given)
        self._send()

        def cancel() -> None:
            self._on_their_way.discard(block.key)
            given.unwanted = True
            with contextlib.suppress(Exception):  # it may not have been sent, or the cluster may be gone already
                given.future.cancel()

        return cancel

    def _send(self) -> None:
        """Give the engine every block that waits. Who comes meanwhile waits for the lock, and then sends them all."""
        with self._sending:
            batch = _drain(self._to_send)
            if not batch:
                return
            try:
                self._require_connection()
                futures = self.client.map(
                    run_block,
                    [given.block for given in batch],
                    [given.store for given in batch],
                    key=[(self._group, given.block.key, next(self._numbers)) for given in batch],
                    pure=False,
                    retries=self.retries,
                )
            except Exception as gone:  # the cluster itself is
                for given in batch:
                    self._end(given, failure(given.block, gone))
                return
            for given, future in zip(batch, futures, strict=True):
                given.future = future
                future.add_done_callback(functools.partial(self._finished, given))

    def _finished(self, given: _Given, _: Any) -> None:
        self._to_fetch.append(given)
        with contextlib.suppress(RuntimeError):  # the process ends
            self._fetching.submit(self._fetch)

    def _fetch(self) -> None:
        """Fetch every receipt there is: in one thread, so more blocks end while it waits for an answer."""
        batch = _drain(self._to_fetch)
        if not batch:
            return
        receipts: dict[int, Any] = {}
        with contextlib.suppress(BaseException):  # told by each future below
            receipts = self.client.gather({at: given.future for at, given in enumerate(batch)}, errors="skip")
        for at, ended in enumerate(batch):
            receipt = receipts.get(at)
            if receipt is None:
                self._failed(ended)
                continue
            with contextlib.suppress(Exception):  # the client may be closed by now
                ended.future.release()  # or the block would be computed again if the worker died that has its receipt
            self._end(ended, receipt)

    def _failed(self, given: _Given) -> None:
        from distributed import KilledWorker

        try:
            self._require_connection()
            self._end(given, given.future.result())
        except BaseException as error:
            # The block's own error, that of workers that died of it, or that the connection was lost meanwhile.
            killed, its_own = isinstance(error, KilledWorker), given.future.status == "error"
            given.deaths += killed
            given.losses += not its_own
            last = given.deaths == self.trials if killed else its_own or given.losses > _MOST_LOSSES
            if last or given.unwanted:
                self._end(given, failure(given.block, error))
                return
            self._to_send.append(given)
            self._send()

    def _require_connection(self) -> None:
        """Wait until the client is back at its scheduler; of one that has given that up no answer ever comes."""
        while self.client.status == "connecting":
            time.sleep(0.05)
        if self.client.status != "running":
            raise ConnectionError("the scheduler is gone")

    def _end(self, given: _Given, outcome: Receipt | Failure) -> None:
        self._on_their_way.discard(given.block.key)
        given.done(outcome)


def _drain(waiting: deque[_Given]) -> list[_Given]:
    """Take all that wait, in their order; others may add meanwhile."""
    taken = []
    with contextlib.suppress(IndexError):
        while True:
            taken.append(waiting.popleft())
    return taken
