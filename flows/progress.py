"""Progress that a person can read: a bar where there is a terminal, a line now and then where there is none."""

import math
import sys
import threading
import time
from dataclasses import dataclass
from statistics import fmean
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tasks.plan import Cell, Plan


@dataclass
class _Count:
    """What is known of one cell: replicates that came in, the work they took, and whether it is at its end."""

    cell: Cell
    done: int = 0
    computed: int = 0
    seconds: float = 0.0
    ended: bool = False

    @property
    def each(self) -> float | None:
        """Seconds of work a replicate, once it is known."""
        return self.seconds / self.computed if self.computed else None


class Display:
    """What a run shows on standard error while it works.

    Parameters
    ----------
    quiet : bool
        Show nothing but errors.
    every : float
        Seconds between two lines where there is no terminal.
    """

    def __init__(self, *, quiet: bool = False, every: float = 15.0) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True, quiet=quiet)
        self.every = every
        self._lock = threading.Lock()
        self._bar: Progress | None = None
        self._counts: dict[str, _Count] = {}
        self._workers = 1
        self._started = self._spoke = 0.0

    def say(self, text: str) -> None:
        """One line of its own."""
        self.console.print(text, markup=False)

    def start(self, plan: Plan, *, workers: int) -> Self:
        """Begin to count; use the result as a context."""
        self._counts = {cell.name: _Count(cell) for cell in plan.cells}
        self._workers = workers
        self._started = self._spoke = time.monotonic()
        if sys.stderr.isatty() and not self.console.quiet:
            self._bar = Progress(
                SpinnerColumn(),
                BarColumn(),
                TextColumn("{task.description}"),
                TimeElapsedColumn(),
                console=self.console,
            )
            self._task = self._bar.add_task("starting", total=plan.replicates)
        return self

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def advance(self, cell: Cell, replicates: int, seconds: float | None) -> None:
        """Replicates that came in, and the work they took; None where they were in the store."""
        with self._lock:
            count = self._counts[cell.name]
            count.done += replicates
            if seconds is not None:
                count.computed += replicates
                count.seconds += seconds
            self._show()

    def cell_done(self, cell: Cell) -> None:
        """A cell is complete, or failed."""
        with self._lock:
            self._counts[cell.name].ended = True
            self._show()

    def _show(self) -> None:
        if self._bar:
            done = sum(count.done for count in self._counts.values())
            self._bar.update(self._task, completed=done, description=self._line())
        elif time.monotonic() - self._spoke >= self.every:
            self._spoke = time.monotonic()
            self.say(f"  {self._line()}")

    def _line(self) -> str:
        counts = self._counts.values()
        ended = sum(count.ended for count in counts)
        done = sum(count.done for count in counts)
        wanted = sum(count.cell.replicates for count in counts)
        rate = sum(count.computed for count in counts) / max(time.monotonic() - self._started, 1e-9)
        left = self._left()
        about = f", about {duration(left)} left" if math.isfinite(left) else ""
        return f"{ended}/{len(counts)} cells, {done:,}/{wanted:,} replicates, {rate:,.0f}/s{about}"

    def _left(self) -> float:
        """Seconds until the end: cells that have not begun are taken to cost what their kind has cost so far."""
        known: dict[str, list[float]] = {}
        for count in self._counts.values():
            if count.each is not None:
                known.setdefault(count.cell.fanout, []).append(count.each)
        work = 0.0
        for count in self._counts.values():
            if not count.ended:
                kind = known.get(count.cell.fanout)
                each = count.each if count.each is not None else fmean(kind) if kind else math.inf
                work += each * (count.cell.replicates - count.done) if count.done < count.cell.replicates else 0.0
        return work / self._workers


def duration(seconds: float) -> str:
    """A time that is only about right, in the unit that fits."""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
