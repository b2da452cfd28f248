"""The pool of the workers of a Dask client."""

import contextlib
import contextvars
import functools
import itertools
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..plan import Block, Needs, Plan, group_by
from ..process import begun_thread
from ..storage.store import Store
from .blocks import BlockSizer, Failure, Receipt, failure, load_fanouts
from .dask_staff import DaskStaff, OtherCode, Submission, Suspects, opened_span, run_with, version
from .pools import MOST_CELLS, Done

T = TypeVar("T")

#: The maximum number of times that a block is sent again because the scheduler lost its connection and its blocks.
_MOST_LOSSES = 10
#: The maximum number of times that Dask repeats a block if the worker loses its connection to the store.
_RETRIES = 2
#: Seconds that the scheduler and this process need per block (benchmarks/scheduler.md).
_SENDING = 0.002


@dataclass
class DaskPool(DaskStaff):
    """A pool that submits blocks as plain futures of a `distributed.Client`.

    A message to the scheduler and its answer cost more than their content. So blocks that are submitted while a message
    is under way are sent together with the next message, and receipts are fetched together. An idle pool sends at once.
    """

    #: The expected number of workers, if a batch system starts them later or they start on demand.
    expected: int = 1
    #: The names of Dask resources that some workers have. Blocks that need them request them.
    asks: frozenset[str] = frozenset()
    #: As in `Pool`.
    open: dict[BlockSizer, float] = field(default_factory=dict, init=False)
    _token: str = field(default_factory=lambda: f"0{uuid.uuid4().hex[:9]}", init=False, repr=False)
    # The annotations and the span of the caller, which new threads do not inherit.
    _context: contextvars.Context = field(default_factory=contextvars.copy_context, init=False, repr=False)
    _span: Any = field(default=None, init=False, repr=False)
    _priority: int = field(default=0, init=False, repr=False)
    _numbers: Iterator[int] = field(default_factory=itertools.count, init=False, repr=False)
    _submitted: set[Submission] = field(default_factory=set, init=False, repr=False)
    _fetching: ThreadPoolExecutor = field(
        default_factory=functools.partial(begun_thread, "receipts"), init=False, repr=False
    )
    _sending: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _suspects: Suspects = field(default_factory=Suspects, init=False, repr=False)
    _to_send: deque[Submission] = field(default_factory=deque, init=False, repr=False)
    _to_fetch: deque[Submission] = field(default_factory=deque, init=False, repr=False)

    @property
    def cells(self) -> int:
        """Two cells per worker, so that no worker waits while the cost of a lane is measured.

        Each cell needs a thread of this process.
        """
        return min(2 * max(self.expected, self.workers), MOST_CELLS)

    @property
    def seconds_a_block(self) -> float:
        """Five times the seconds that the scheduler needs to send a block to every worker."""
        return 5 * self.workers * _SENDING

    @property
    def idle(self) -> bool:
        """True if fewer blocks are submitted than there are workers."""
        return len(self._submitted) < self.workers

    def prepare(self, plan: Plan, priority: int = 0) -> None:
        """Let the workers import the plan's fan-outs, and open a span. Later workers import with their first block."""
        names = sorted({cell.fanout for cell in plan.cells})
        self._priority = priority
        self._span = self._context.run(opened_span, plan.study)

        def ask() -> None:
            with contextlib.suppress(BaseException):  # a worker died, or the cluster is closed; a block imports it then
                self.client.run(load_fanouts, names, wait=False)

        threading.Thread(target=ask, name="prepare", daemon=True).start()

    def submit(self, block: Block, store: Store, done: Done) -> Callable[[], None]:  # noqa: D102
        # Blocks that keep the workers busy precede waiting blocks, including the waiting blocks of other studies. So a
        # study that has few blocks left, or sends its first ones, is not held up by a long study.
        submission = Submission(block, store, done, turn=min(len(self._submitted) // self.workers, 3))
        self._submitted.add(submission)
        self._to_send.append(submission)
        self._send()

        def cancel() -> None:
            self._submitted.discard(submission)
            submission.unwanted = True
            with contextlib.suppress(Exception):  # the block may not have been sent, or the cluster may be gone
                submission.future.cancel()

        return cancel

    def _send(self) -> None:
        """Send all waiting blocks. Blocks that are added meanwhile are sent by the next thread that gets the lock."""
        with self._sending:
            while batch := self._suspects.admit(block for block in _drain(self._to_send) if not block.unwanted):
                alike = group_by(batch, lambda waiting: (waiting.turn, tuple(self._asked(waiting).items())))
                for (turn, resources), submissions in alike.items():
                    self._context.run(self._map, submissions, self._priority - turn / 4, dict(resources))

    def _asked(self, submission: Submission) -> dict[str, int]:
        """Return the resources that a block requests of its worker."""
        amounts = Needs.of(submission.block.cell).amounts
        return {name: amount for name, amount in amounts.items() if name in self.asks}

    def _key(self, block: Block) -> tuple[str, str, int]:
        """Return a Dask key with the fan-out as its prefix. The key's group also contains the data set."""
        group = f"{block.cell.fanout.replace('_', '-')}-{self._token}-{block.cell.subject.get('dataset', '')}"
        return group.rstrip("-"), block.key, next(self._numbers)

    def _map(self, submissions: list[Submission], priority: float, resources: dict[str, int]) -> None:
        """Send blocks that request the same resources, with the same priority."""
        from dask.base import annotate

        try:
            self.await_connection()
            only = self.only
            with contextlib.nullcontext() if self._span is None else annotate(span=self._span):
                futures = self.client.map(
                    functools.partial(run_with, version()),
                    [submission.block for submission in submissions],
                    [submission.store for submission in submissions],
                    [self._suspects.deadly] * len(submissions),
                    engine="dask",
                    key=[self._key(submission.block) for submission in submissions],
                    pure=False,
                    retries=_RETRIES,
                    priority=priority,
                    resources=resources or None,
                    workers=only,
                    allow_other_workers=only is not None,  # a worker may have joined after the versions were requested
                )
            for submission, future in zip(submissions, futures, strict=True):
                submission.future = future
                future.add_done_callback(functools.partial(self._finished, submission))
        except Exception as gone:  # the cluster is gone, or memory is too short to start a thread
            self._end_all(submissions, gone)

    def _finished(self, submission: Submission, _: Any) -> None:
        self._to_fetch.append(submission)
        with contextlib.suppress(RuntimeError):  # the process is ending
            self._fetching.submit(self._fetch)

    def _fetch(self) -> None:
        """Fetch all receipts in one thread. More blocks end while it waits for an answer."""
        batch = _drain(self._to_fetch)
        try:
            self._receive(batch)
        except BaseException as error:  # for example, memory is short; no other code would end these blocks
            self._end_all(batch, error)

    def _receive(self, batch: list[Submission]) -> None:
        if not batch:
            return
        receipts: dict[int, Any] = {}
        with contextlib.suppress(BaseException):  # each future reports its own error below
            receipts = self.client.gather({at: item.future for at, item in enumerate(batch)}, errors="skip")
        for at, submission in enumerate(batch):
            outcome = receipts.get(at)
            if outcome is None:
                self._failed(submission)
                continue
            with contextlib.suppress(Exception):  # the client may be closed by now
                submission.future.release()  # otherwise Dask computes it again if the worker with the receipt dies
            self._end(submission, outcome)
        self._send()

    def _failed(self, submission: Submission) -> None:
        try:
            self.await_connection()
            self._end(submission, submission.future.result())
        except BaseException as error:  # the block failed, its workers died, or the connection was lost
            self._again(submission, error)

    def _again(self, submission: Submission, error: BaseException) -> None:
        """Send a block again, unless the block itself caused the error."""
        from distributed import KilledWorker

        self._suspects.ended(submission)
        caused: BaseException | None = error  # by the block itself
        if isinstance(error, KilledWorker):
            caused = self._suspects.killed(submission, error.allowed_failures + 1)
        elif isinstance(error, OtherCode):
            caused = None
        elif submission.future.status != "error":
            submission.losses += 1
            caused = error if submission.losses > _MOST_LOSSES else None
        if submission.unwanted or caused is not None:
            self._end(submission, failure(submission.block, caused or error))
        else:
            self._to_send.append(submission)

    def _end_all(self, submissions: list[Submission], error: BaseException) -> None:
        for submission in submissions:
            self._end(submission, failure(submission.block, error))

    def _end(self, submission: Submission, outcome: Receipt | Failure) -> None:
        self._suspects.ended(submission)
        try:
            self._submitted.remove(submission)
        except KeyError:  # it was cancelled or has already ended, for example if an error follows its receipt
            return
        submission.unwanted = True
        submission.done(outcome)


def _drain(waiting: deque[T]) -> list[T]:
    """Remove and return all items, in order. Other threads may add items meanwhile."""
    taken = []
    with contextlib.suppress(IndexError):
        while True:
            taken.append(waiting.popleft())
    return taken
