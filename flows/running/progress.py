"""The progress of a run, as a bar on a terminal or in a notebook, or as lines at intervals."""

import contextlib
import html
import json
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column

from sigstats._common.messages import printable
from sigstats._common.numerals import duration, significant
from sigstats.tasks.engine.blocks import Receipt
from sigstats.tasks.plan import Cell, Plan

from ..errors import now
from .costs import CellProgress, Sizes, TimeLeft

#: The minimum number of seconds between two drawings of the bar, since the remaining time is a sum over all cells.
BAR_SECONDS = 0.2
#: The number of seconds after which a step that shows no progress is named.
PATIENCE_SECONDS = 2.0


class TerminalBar(Progress):
    """A progress bar in the last line of a terminal."""

    def __init__(self, console: Console, total: int) -> None:
        # On a narrow terminal, only the text is shortened.
        text = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True))
        super().__init__(
            SpinnerColumn(), TimeElapsedColumn(), BarColumn(bar_width=20), text, console=console, expand=True
        )
        self._replicates = self.add_task("starting", total=total)

    def draw(self, done: int, text: str) -> None:
        """Show the number of replicates that are done, and a line of text."""
        self.update(self._replicates, completed=done, description=printable(text))


class NotebookBar:
    """A progress bar in the output of a notebook cell. Each drawing replaces the drawing before.

    >>> bar = NotebookBar(200)
    >>> bar.draw(50, "1/4 cells")
    >>> bar
    1/4 cells
    >>> bar._repr_html_()
    '<progress value="50" max="200"></progress> 1/4 cells'
    """

    def __init__(self, total: int) -> None:
        self._total, self._done, self._text = total, 0, "starting"
        self._handle: Any = None

    def start(self) -> None:
        """Show the bar in the output of the running notebook cell."""
        from IPython.display import display

        self._handle = display(self, display_id=True)

    def draw(self, done: int, text: str) -> None:
        """Show the number of replicates that are done, and a line of text."""
        self._done, self._text = done, text
        if self._handle is not None:
            self._handle.update(self)

    def stop(self) -> None:
        """Do nothing: the last drawing stays."""

    def __repr__(self) -> str:
        return printable(self._text)

    def _repr_html_(self) -> str:
        text = html.escape(printable(self._text))
        return f'<progress value="{self._done}" max="{max(self._total, 1)}"></progress> {text}'


def in_notebook() -> bool:
    """Return True if this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class Display:
    """The progress of a run on standard error.

    `quiet`: show only errors.
    `every`: seconds between two lines if there is no terminal.
    `log_format`: sentences for people, or a JSON object per line for programs. Each object has ``time``, ``event`` and
    ``study``. Objects about cells also have ``cell``, and objects about blocks ``replicates``, ``seconds`` and, if
    known, ``p_so_far``. The error that ends a command has ``text`` and ``code``, but no study.
    `study`: the name of the study, for the JSON objects.

    Attributes
    ----------
    log : callable
        Also called with each line of text, even if it is not shown.
    """

    def __init__(
        self, *, quiet: bool = False, every: float = 15.0, log_format: Literal["text", "json"] = "text", study: str = ""
    ) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True, quiet=quiet)
        self.every = every
        self.json = log_format == "json"
        self.study = study
        self.log: Callable[[str], None] = lambda text: None
        self._lock = threading.Lock()
        self._bar: TerminalBar | NotebookBar | None = None
        self._counts: dict[str, CellProgress] = {}
        self._latest: CellProgress | None = None
        self._workers: Callable[[], int] = lambda: 1
        self._started = self._spoke = 0.0

    def say(self, text: str) -> None:
        """Write one line of text."""
        self.log(text)
        if self.json:
            self.event("message", text=text)
        else:
            self.console.print(printable(text), markup=False)

    def event(self, event: str, **fields: Any) -> None:
        """Write a JSON object on a separate line if the log is for programs."""
        if self.json and not self.quiet:
            line = json.dumps({"time": now(), "event": event, "study": self.study, **fields})
            print(line, file=sys.stderr, flush=True)  # noqa: T201

    @contextlib.contextmanager
    def reading(self) -> Iterator[Callable[[str, int, int], None]]:
        """Show the progress of reading, as a bar on a terminal or as lines at intervals.

        Yields
        ------
        callable
            ``progress(name, done, total)``: `done` of the `total` files of the input `name` have been read.
        """
        lock, began = threading.Lock(), time.monotonic()
        with contextlib.ExitStack() as shown:
            bar, spoke, bars = None, began, {}
            if self._terminal:
                columns = (
                    SpinnerColumn(),
                    TextColumn("reading {task.description}", markup=False),
                    BarColumn(),
                    MofNCompleteColumn(),
                )
                bar = shown.enter_context(Progress(*columns, console=self.console, transient=True))

            def report(what: str, done: int, total: int) -> None:
                nonlocal spoke
                with lock:
                    if bar:
                        if what not in bars:
                            bars[what] = bar.add_task(printable(what))
                        bar.update(bars[what], completed=done, total=total)
                    elif time.monotonic() - spoke >= self.every:
                        spoke = time.monotonic()
                        if self.json:
                            self.event("reading", what=what, done=done, total=total)
                        else:
                            pace = (time.monotonic() - began) / max(done, 1)
                            left = f", about {duration(pace * (total - done))} left" if done else ""
                            self.say(f"  reading {what}: {done:,}/{total:,}{left}")

            yield report

    @contextlib.contextmanager
    def patience(self, what: str) -> Iterator[None]:
        """Print the step `what` if it takes longer than `PATIENCE_SECONDS`."""
        timer = threading.Timer(PATIENCE_SECONDS, self.say, [f"  {what}"])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    @property
    def quiet(self) -> bool:
        """True if only errors are shown."""
        return self.console.quiet

    @property
    def _terminal(self) -> bool:
        return sys.stderr.isatty() and not self.quiet and not self.json

    @contextlib.contextmanager
    def start(self, plan: Plan, *, workers: Callable[[], int], sizes: Sizes) -> Iterator[None]:
        """Count the replicates of a plan, and draw a bar within the context.

        `sizes`: the known sizes of the data sets of the plan, to estimate the remaining time.
        """
        self._counts = {cell.name: CellProgress(cell) for cell in plan.cells}
        self._time_left = TimeLeft(list(self._counts.values()), sizes)
        self._workers = workers
        self._started = self._spoke = time.monotonic()
        self.event("start", cells=len(plan.cells), replicates=plan.replicates, workers=workers())
        if self._terminal:
            self._bar = TerminalBar(self.console, plan.replicates)
        elif in_notebook() and not self.quiet and not self.json:
            self._bar = NotebookBar(plan.replicates)
        if self._bar is None:
            yield
            return
        self._bar.start()
        try:
            yield
        finally:
            self._draw(self._bar)
            self._bar.stop()

    def advance(self, cell: Cell, replicates: int, receipt: Receipt | None) -> None:
        """Count replicates of a cell.

        `receipt`: the receipt of the block, or None if the replicates were already stored.
        """
        with self._lock:
            count = self._counts[cell.name]
            count.done += replicates
            if receipt is not None:
                count.add(replicates, receipt.seconds, receipt.exceedances)
                if receipt.exceedances is not None:
                    self._latest = count
                so_far = {} if count.p_value is None else {"p_so_far": count.p_value}
                seconds = round(receipt.seconds, 6)
                self.event("block", cell=cell.name, replicates=replicates, seconds=seconds, **so_far)
            self._show()

    def complete(self, cell: Cell) -> None:
        """Count all replicates of a cell, including those that its stopping rule saved."""
        self._counts[cell.name].done = self._counts[cell.name].cell.replicates

    def cell_done(self, cell: Cell) -> None:
        """Count a cell that is complete or has failed."""
        with self._lock:
            count = self._counts[cell.name]
            count.ended = True
            self.event("cell", cell=cell.name, replicates=count.done, seconds=round(count.seconds, 6), **cell.subject)
            self._show()

    @property
    def fraction(self) -> float | None:
        """The fraction of all replicates that is done, or None while none are counted."""
        with self._lock:
            total = sum(count.cell.replicates for count in self._counts.values())
            return sum(count.done for count in self._counts.values()) / total if total else None

    def _show(self) -> None:
        if time.monotonic() - self._spoke >= (BAR_SECONDS if self._bar else self.every):
            self._spoke = time.monotonic()
            if self._bar:
                self._draw(self._bar)
            elif self.json:
                self.event("progress", **self._totals())
            else:
                self.say(f"  {self._line()}")

    def _draw(self, bar: TerminalBar | NotebookBar) -> None:
        bar.draw(sum(count.done for count in self._counts.values()), self._line())

    def _totals(self) -> dict[str, Any]:
        """Return the state of the run: cells, replicates, replicates per second, seconds left (None while unknown)."""
        counts = self._counts.values()
        left = self._time_left.seconds(self._workers())
        return {
            "cells_done": sum(count.ended for count in counts),
            "cells": len(counts),
            "replicates_done": sum(count.done for count in counts),
            "replicates": sum(count.cell.replicates for count in counts),
            "rate": sum(count.computed for count in counts) / max(time.monotonic() - self._started, 1e-9),
            "seconds_left": left if math.isfinite(left) else None,
        }

    def _line(self) -> str:
        at = self._totals()
        about = "" if at["seconds_left"] is None else f", about {duration(at['seconds_left'])} left"
        latest = self._latest
        if latest is not None and latest.p_value is not None:
            subject = " / ".join(latest.cell.subject.values())
            about += f"; {subject}: p = {significant(latest.p_value, 2)} so far"
        return (
            f"{at['cells_done']}/{at['cells']} computations, "
            f"{at['replicates_done']:,}/{at['replicates']:,} replicates, {at['rate']:,.0f}/s{about}"
        )
