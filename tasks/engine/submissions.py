"""Blocks on the workers of Dask: which of them may have killed its workers, and what the scheduler takes for each.

Workers disappear for many reasons: preemption, a walltime, a lost node. Code of this package does not kill workers, so
even a hundred deaths prove nothing about a block. Code of another package may kill its worker: it has its own process,
but runs as the same user. A block whose workers died repeatedly is computed while no other block of such code is
active. A worker that dies at that time was killed by this block, or disappeared for another reason.
"""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..fan_out import own_code
from ..plan import Block, who_of
from ..storage.store import Store
from .blocks import Failure, Receipt

#: Dask gives a block up if too many workers die that had it, and it counts workers that were told to end as well. A
#: block without code of other packages is then sent again, this often at most, and computed in a process of its own
#: (`sigstats.tasks.engine.guarded`).
MOST_TRIALS = 100

#: A block of other packages' code is tried alone this often. Dask gives it four workers each time, and four before
#: that: if a third of all workers is lost while they compute one block, two blocks in a million are blamed wrongly.
#: Further blocks of a classifier that was named are tried once.
MOST_ALONE = 2


class WorkersKilled(Exception):
    """The workers that computed a block died, one after another."""


@dataclass(eq=False)
class Submission:
    """A block that was sent to the scheduler, or waits to be sent; `turn` is 0 for those that go first."""

    block: Block
    store: Store
    done: Callable[[Receipt | Failure], None]
    turn: int = 0
    deaths: int = 0
    trials: int = 0
    alone: int = 0
    losses: int = 0
    future: Any = None
    unwanted: bool = False
    imported: bool = field(init=False)

    def __post_init__(self) -> None:
        self.imported = own_code(self.block.cell) is not None

    @property
    def who(self) -> str:
        """The classifier or the test, by its name in the study."""
        return who_of(self.block.cell) or self.block.cell.name


class Suspects:
    """Holds back blocks of other packages' code while one of them is tried by itself."""

    def __init__(self) -> None:
        self._waiting: list[Submission] = []
        self._under_way: set[Submission] = set()
        self._guilty: set[str] = set()
        self._tried: Submission | None = None
        self.deadly = False

    def admit(self, new: Iterable[Submission]) -> list[Submission]:
        """The blocks, new or waiting, that may be sent now; to be called by one thread at a time."""
        self._waiting = [submission for submission in self._waiting if not submission.unwanted]
        admitted: list[Submission] = []
        for submission in new:
            (self._waiting if submission.imported else admitted).append(submission)
        suspects = [submission for submission in self._waiting if submission.trials or submission.who in self._guilty]
        if self._under_way and (suspects or self._tried in self._under_way):
            return admitted
        self._tried = suspects[0] if suspects else None
        if suspects:
            sent = suspects[:1]
            self._waiting.remove(sent[0])
        else:
            sent, self._waiting = self._waiting, []
        self._under_way.update(sent)
        return admitted + sent

    def ended(self, submission: Submission) -> None:
        """Note that a block is no longer active."""
        self._under_way.discard(submission)

    def killed(self, submission: Submission, workers: int) -> WorkersKilled | None:
        """Count workers that died while they had a block; return an error if the block is found to be the cause."""
        submission.deaths += workers
        submission.trials += 1
        self.deadly |= not submission.imported
        submission.alone += submission is self._tried
        if not submission.imported and submission.trials <= MOST_TRIALS:
            return None
        if submission.imported:
            if submission.alone < (1 if submission.who in self._guilty else MOST_ALONE):
                return None
            self._guilty.add(submission.who)
        return WorkersKilled(f"{submission.who}: it killed its worker {submission.deaths} times")


#: Seconds that the scheduler and this process take for a block (docs/clusters.md), and the most that may be measured.
_SENDING, _MOST_SENDING = 0.002, 0.01
#: Blocks wait for the scheduler if the workers are busy for less than this part of the time.
_BUSY = 0.8


class TaskOverhead:
    """Measures the `seconds` that the scheduler and this process take for a block, a task of Dask.

    This can be measured only while they limit the run: workers are idle, although blocks were sent for all of them.
    Other studies on the same workers look alike, hence the upper limit.
    """

    def __init__(self) -> None:
        self.seconds = _SENDING
        self._begun, self._blocks, self._worked = math.inf, 0, 0.0  # workers that start are not measured

    def add(self, worked: float, workers: int, *, idle: bool) -> None:
        """Take in a block that took `worked` seconds; `idle`: there may be fewer blocks than workers."""
        self._blocks, self._worked = self._blocks + 1, self._worked + worked
        if idle or self._blocks >= 3 * workers:
            passed = time.monotonic() - self._begun
            if not idle and self._worked < _BUSY * workers * passed:
                self.seconds = min(max(passed / self._blocks, _SENDING), _MOST_SENDING)
            self._begun, self._blocks, self._worked = time.monotonic(), 0, 0.0
