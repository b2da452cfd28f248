"""Several short blocks as one task: Dask takes as long for a task as a short block takes to be computed and stored."""

import math
import time
from collections.abc import Sequence
from itertools import groupby

from ..plan import Block
from ..storage.store import Store
from .guarded import run_guarded
from .run_block import Failure, Receipt, receipt
from .suspects import Submission

#: Seconds of work in a task of several blocks, and the most blocks in it.
_TASK_SECONDS, _MOST = 0.5, 16
#: A worker begins no further block of a task after these seconds: some may take longer than those before them.
_MOST_SECONDS = 1.0
#: Seconds for which a short block waits for others to go with it.
HOLD = 0.1


class Lately:
    """The mean number of seconds that blocks took, each of them weighing `weight` times as much as the next one."""

    def __init__(self, weight: float) -> None:
        self._weight = weight
        self._seconds = self._blocks = 0.0

    def add(self, seconds: float) -> None:
        """Take in a block."""
        self._seconds, self._blocks = self._weight * self._seconds + seconds, self._weight * self._blocks + 1

    @property
    def mean(self) -> float:
        """Infinite while there is no block."""
        return self._seconds / self._blocks if self._blocks else math.inf


def at_once(lately: Lately) -> int:
    """The number of blocks in a task: 1 until it is known that they are short."""
    return max(1, min(int(_TASK_SECONDS / max(lately.mean, 1e-6)), _MOST))


def divided(given: Sequence[Submission], size: int) -> list[list[Submission]]:
    """Blocks as tasks of at most `size` blocks of one store; a block that is `single` is a task."""

    def kind(each: Submission) -> object:
        return id(each) if size == 1 or each.single else each.store

    tasks = []
    for _, some in groupby(given, kind):
        alike = list(some)
        tasks += [alike[at : at + size] for at in range(0, len(alike), size)]
    for task in tasks:
        for each in task:
            each.task = task
    return tasks


def run_together(blocks: Sequence[Block], store: Store, apart: bool, *, engine: str) -> list[Receipt | Failure]:
    """Compute blocks and store them, as `run_guarded` does; of several, those that the store lacks.

    Returns the outcomes of the first blocks, at least one. The rest is not done: time is up, or the store failed.
    """
    if len(blocks) == 1:
        return [run_guarded(blocks[0], store, apart, engine=engine)]
    began, outcomes = time.monotonic(), list[Receipt | Failure]()
    for block in blocks:
        if outcomes and time.monotonic() - began > _MOST_SECONDS:
            break
        try:
            outcomes.append(_stored(block, store, engine) or run_guarded(block, store, engine=engine))
        except OSError:
            if not outcomes:
                raise
            break
    return outcomes


def _stored(block: Block, store: Store, engine: str) -> Receipt | None:
    """The receipt of a block that a worker has stored before it died."""
    stored = store.written_block(block.cell, block.first, block.last)
    return stored and receipt(block, store, *stored, seconds=0.0, overhead=0.0, engine=engine)
