"""Which blocks the deaths of workers are laid to.

Workers are taken away for many reasons: preemption, a walltime, a lost node. Code of this package kills none, so a
hundred deaths say nothing of a block. Code of another package may: it has a process of its own, but runs as the same
user. A block of which workers died again and again is computed with no other block of such code under way, so that what
dies then died of it or was taken away.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..plan import Block
from ..replicates import own_code
from ..storage.store import Store
from .needs import tried
from .run_block import Failure, Receipt

#: How often a block without code of other packages is sent again that Dask gave up, because so many workers died that
#: had it. Dask counts each death of a worker against the blocks that it had, if it was told to go too. From the first
#: time on the block is computed in a process of its own (`sigstats.tasks.engine.guarded`).
MOST_TRIALS = 100

#: How often a block of other packages' code is tried alone. Dask gives it four workers each time, and four before that:
#: where a third of all workers is lost while they compute one block, this befalls two blocks of a million. Further
#: blocks of a classifier that was named are tried once.
MOST_ALONE = 2


class WorkersKilled(Exception):
    """Worker after worker died that computed a block."""


@dataclass(eq=False)
class Submission:
    """A block that was sent to the scheduler, or waits to be sent."""

    block: Block
    store: Store
    done: Callable[[Receipt | Failure], None]
    deaths: int = 0
    trials: int = 0
    alone: int = 0
    losses: int = 0
    future: Any = None
    unwanted: bool = False
    own: bool = field(init=False)

    def __post_init__(self) -> None:
        self.own = own_code(self.block.cell) is not None

    @property
    def who(self) -> str:
        """The classifier or the test, as the study calls it."""
        return tried(self.block.cell) or self.block.cell.name


class Suspects:
    """Holds blocks of other packages' code back while one of them is tried alone."""

    def __init__(self) -> None:
        self._waiting: list[Submission] = []
        self._under_way: set[Submission] = set()
        self._guilty: set[str] = set()
        self._tried: Submission | None = None

    def admit(self, new: Iterable[Submission]) -> list[Submission]:
        """Those of the new blocks, and of those that wait, that may be sent now; called by one thread at a time."""
        given = list(new)
        self._waiting = [each for each in self._waiting if not each.unwanted] + [each for each in given if each.own]
        admitted = [each for each in given if not each.own]
        suspects = [each for each in self._waiting if each.trials or each.who in self._guilty]
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

    def ended(self, given: Submission) -> None:
        """Note that a block is no longer under way."""
        self._under_way.discard(given)

    def killed(self, given: Submission, workers: int) -> WorkersKilled | None:
        """Note that so many workers died that had a block; the error if that is laid to it."""
        given.deaths += workers
        given.trials += 1
        given.alone += given is self._tried
        most = MOST_TRIALS if not given.own else MOST_ALONE - 1 if given.who not in self._guilty else 0
        if (given.alone if given.own else given.trials) <= most:
            return None
        if given.own:
            self._guilty.add(given.who)
        return WorkersKilled(f"{given.who}: it killed its worker {given.deaths} times")
