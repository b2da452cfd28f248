"""Progress that a person can read: a bar where there is a terminal, a line now and then where there is none."""

import sys
import threading
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed or 0:,.0f}/s")


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
        self._cells = self._all_cells = self._done = self._found = self._all = 0
        self._started = self._spoke = 0.0

    def say(self, text: str) -> None:
        """One line of its own."""
        self.console.print(text, markup=False)

    def start(self, cells: int, replicates: int) -> Self:
        """Begin to count; use the result as a context."""
        self._all_cells, self._all = cells, replicates
        self._started = self._spoke = time.monotonic()
        if sys.stderr.isatty() and not self.console.quiet:
            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.fields[cells]}/{task.fields[all_cells]} cells"),
                BarColumn(),
                TextColumn("{task.completed:,.0f}/{task.total:,.0f} replicates"),
                _Rate(),
                TimeRemainingColumn(elapsed_when_finished=True),
                console=self.console,
            )
            self._task = self._bar.add_task("", total=replicates, cells=0, all_cells=cells)
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

    def found(self, replicates: int) -> None:
        """Replicates that were there already: they say nothing of the speed."""
        with self._lock:
            self._found += replicates
            if self._bar:
                self._bar.update(self._task, total=self._all - self._found)

    def advance(self, replicates: int) -> None:
        """Replicates that came in."""
        with self._lock:
            self._done += replicates
            if self._bar:
                self._bar.advance(self._task, replicates)
            elif time.monotonic() - self._spoke >= self.every:
                self._spoke = time.monotonic()
                self.say(self._line())

    def cell_done(self) -> None:
        """A cell is complete, or failed."""
        with self._lock:
            self._cells += 1
            if self._bar:
                self._bar.update(self._task, cells=self._cells)

    def _line(self) -> str:
        seconds = time.monotonic() - self._started
        rate = self._done / max(seconds, 1e-9)
        left = (self._all - self._found - self._done) / max(rate, 1e-9)
        return (
            f"  {self._cells}/{self._all_cells} cells, {self._done + self._found:,}/{self._all:,} replicates, "
            f"{rate:,.0f}/s, about {duration(left)} left"
        )


def duration(seconds: float) -> str:
    """A time that is only about right, in the unit that fits."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
