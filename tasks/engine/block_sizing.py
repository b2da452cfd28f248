"""Cells cut into blocks of about equal cost, which is known only once the first has come in."""

from ..plan import Block, Cell
from .run_block import Failure, Receipt

#: Seconds of work in a block: long beside the engine's 2 ms for a task, short beside a person's patience.
TARGET_SECONDS = 2.0

#: Seconds of work in a block for each worker, where there are so many that one scheduler could not feed them otherwise:
#: five times what a block takes in it and in this process (docs/scaling.md).
TARGET_SECONDS_A_WORKER = 0.01

#: What is left is dealt out in blocks of no less than this part of the target, so that the workers end together.
_LEAST_PART = 1 / 8


class Cut:
    """Cuts the missing lanes into blocks, of one lane until their cost is known."""

    def __init__(self, cell: Cell, gaps: list[tuple[int, int]], target_seconds: float) -> None:
        self.cell = cell
        self.gaps = gaps
        self.target_seconds = target_seconds
        self.seconds = 0.0
        self.lanes = 0
        self.known = cell.lanes - sum(last - first for first, last in gaps)
        self.one_by_one = False

    def window(self, workers: int) -> int:
        """How many blocks may be on their way: one to learn from, then enough to keep every worker busy.

        Fewer where a rule may stop the cell, since they may be in vain.
        """
        if not self.lanes:
            return 1
        return workers if self.cell.stopping is not None else 2 * workers

    def again(self, failed: Failure) -> bool:
        """Whether a failed block is done again lane by lane, since a rule may stop before the one that fails.

        If not, nothing more is cut, except before it where a rule may stop.
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
        """Take in what a block has cost."""
        # The first block also pays for what a worker keeps, so later ones replace it in the average.
        if self.lanes == 1:
            self.seconds, self.lanes = 0.0, 0
        lanes = -(-(receipt.last - receipt.first) // self.cell.lane_size)
        self.seconds += receipt.seconds
        self.lanes += lanes
        self.known += lanes

    def _wanted(self, left: int, workers: int) -> int:
        """Lanes of the next block: as the target says, and near the end half of what a worker has left."""
        if not self.lanes:
            return 1
        each = max(self.seconds / self.lanes, 1e-6)
        target = max(self.target_seconds, workers * TARGET_SECONDS_A_WORKER) if self.target_seconds else 0.0
        dealt = min(max(-(-left // (2 * workers)), int(_LEAST_PART * target / each)), -(-left // workers))
        return max(1, min(int(target / each), dealt))

    def next(self, workers: int) -> Block | None:
        """The next block, None where no lane is left."""
        if not self.gaps:
            return None
        left = sum(last - first for first, last in self.gaps)
        wanted = self._wanted(left, workers)
        first, last = self.gaps[0]
        if self.cell.stopping is not None:  # no more than there are already, since they may be in vain
            wanted = 1 if self.one_by_one else min(wanted, max(1, self.known))
        end = min(last, first + wanted)
        self.gaps[0] = (end, last)
        if end == last:
            self.gaps.pop(0)
        return self.cell.block(first, end)
