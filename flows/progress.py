"""Progress that a person can read: a bar where there is a terminal, a line now and then where there is none."""

import contextlib
import datetime
import json
import math
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean
from types import TracebackType
from typing import Any, ClassVar, Literal, Self, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tasks.plan import Cell, Plan
from tasks.work import Receipt

#: The bar is drawn anew so often at most: the time left is a sum over all cells.
BAR_SECONDS = 0.2

#: What is done in less needs no word.
PATIENCE_SECONDS = 2.0

#: A part of what a cell is about: its fan-out, the kind of the part, its value.
_Part: TypeAlias = tuple[str, ...]


@dataclass
class _Count:
    """What is known of one cell: replicates that came in, the work they took, whether it is at its end.

    And how many replicates its rule will let it have, as far as can be told.
    """

    cell: Cell
    done: int = 0
    computed: int = 0
    seconds: float = 0.0
    judged: int = 0
    exceedances: int = 0
    ended: bool = False
    expected: int | None = None

    @property
    def each(self) -> float | None:
        """Seconds of work a replicate, once it is known."""
        return self.seconds / self.computed if self.computed else None

    @property
    def p_value(self) -> float | None:
        """What the replicates that came in make of its p-value, where they are compared with what was observed."""
        return (1 + self.exceedances) / (1 + self.judged) if self.judged else None

    def expect(self) -> None:
        """Guess where the cell's rule stops from the replicates that came in."""
        if self.cell.stopping is not None and self.p_value is not None:
            self.expected = self.cell.rule.stops_at(self.p_value)


class Display:
    """What a run shows on standard error while it works.

    Parameters
    ----------
    quiet : bool
        Show nothing but errors.
    every : float
        Seconds between two lines where there is no terminal.
    log_format : {"text", "json"}
        Sentences for a person, or an object a line for a program: each has ``time``, ``event`` and ``study``, one of a
        cell its ``cell``, one of a block the number of its ``replicates`` too, and its p-value so far.
    """

    def __init__(
        self, *, quiet: bool = False, every: float = 15.0, log_format: Literal["text", "json"] = "text", study: str = ""
    ) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True, quiet=quiet)
        self.every = every
        self.json = log_format == "json"
        self.study = study
        self._lock = threading.Lock()
        self._bar: Progress | None = None
        self._counts: dict[str, _Count] = {}
        self._latest: _Count | None = None
        self._costs = _Costs([])
        self._fitted_to: int | None = None
        self._workers: Callable[[], int] = lambda: 1
        self._started = self._spoke = 0.0

    def say(self, text: str) -> None:
        """One line of its own."""
        if self.json:
            self.event("message", text=text)
        else:
            self.console.print(text, markup=False)

    def event(self, event: str, **fields: Any) -> None:
        """An object in a line of its own; nothing where a person reads."""
        if self.json and not self.console.quiet:
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
            line = json.dumps({"time": now, "event": event, "study": self.study, **fields}, ensure_ascii=False)
            print(line, file=sys.stderr, flush=True)  # noqa: T201

    @contextlib.contextmanager
    def reading(self) -> Iterator[Callable[[str, int, int], None]]:
        """While data is read, a bar where there is a terminal, and a line now and then where there is none.

        Gives what is to be told the name of that which is read, how many files of it are, and of how many.
        """
        lock, began = threading.Lock(), time.monotonic()
        with contextlib.ExitStack() as shown:
            bar, spoke, bars = None, began, {}
            if self._terminal:
                columns = SpinnerColumn(), TextColumn("reading {task.description}"), BarColumn(), MofNCompleteColumn()
                bar = shown.enter_context(Progress(*columns, console=self.console, transient=True))

            def told(what: str, done: int, total: int) -> None:
                nonlocal spoke
                with lock:
                    if bar:
                        if what not in bars:
                            bars[what] = bar.add_task(what)
                        bar.update(bars[what], completed=done, total=total)
                    elif time.monotonic() - spoke >= self.every:
                        spoke = time.monotonic()
                        if self.json:
                            self.event("reading", what=what, done=done, total=total)
                        else:
                            self.say(f"  reading {what}: {done:,}/{total:,}{self._time_left(done, total, began)}")

            yield told

    @staticmethod
    def _time_left(done: int, total: int, began: float) -> str:
        if not done:
            return ""
        return f", about {duration((time.monotonic() - began) / done * (total - done))} left"

    @contextlib.contextmanager
    def patience(self, what: str) -> Iterator[None]:
        """Say what is being done if it takes its time."""
        timer = threading.Timer(PATIENCE_SECONDS, self.say, [f"  {what}"])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    @property
    def _terminal(self) -> bool:
        return sys.stderr.isatty() and not self.console.quiet and not self.json

    def start(self, plan: Plan, *, workers: Callable[[], int]) -> Self:
        """Begin to count, on as many workers as there are at the time; use the result as a context."""
        self._counts = {cell.name: _Count(cell) for cell in plan.cells}
        self._workers = workers
        self._started = self._spoke = time.monotonic()
        self.event("start", cells=len(plan.cells), replicates=plan.replicates, workers=workers())
        if self._terminal:
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
            self._draw(self._bar)
            self._bar.stop()

    def advance(self, cell: Cell, replicates: int, receipt: Receipt | None) -> None:
        """Replicates that came in, and their receipt; None where they were in the store."""
        with self._lock:
            count = self._counts[cell.name]
            count.done += replicates
            if receipt is not None:
                count.computed += replicates
                count.seconds += receipt.seconds
                if receipt.exceedances is not None:
                    count.judged += replicates
                    count.exceedances += receipt.exceedances
                    self._latest = count
                    count.expect()
                so_far = {} if count.p_value is None else {"p_so_far": count.p_value}
                seconds = round(receipt.seconds, 6)
                self.event("block", cell=cell.name, replicates=replicates, seconds=seconds, **so_far)
            self._show()

    def cell_done(self, cell: Cell) -> None:
        """A cell is complete, or failed."""
        with self._lock:
            count = self._counts[cell.name]
            count.ended = True
            self.event("cell", cell=cell.name, replicates=count.done, seconds=round(count.seconds, 6), **cell.subject)
            self._show()

    def _show(self) -> None:
        if time.monotonic() - self._spoke >= (BAR_SECONDS if self._bar else self.every):
            self._spoke = time.monotonic()
            if self._bar:
                self._draw(self._bar)
            elif self.json:
                self.event("progress", **self._totals())
            else:
                self.say(f"  {self._line()}")

    def _draw(self, bar: Progress) -> None:
        done = sum(count.done for count in self._counts.values())
        bar.update(self._task, completed=done, description=self._line())

    def _totals(self) -> dict[str, Any]:
        """Where the run stands: cells, replicates, replicates a second, seconds left (None while unknown)."""
        counts = self._counts.values()
        left = self._left()
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
        return (
            f"{at['cells_done']}/{at['cells']} cells, {at['replicates_done']:,}/{at['replicates']:,} replicates, "
            f"{at['rate']:,.0f}/s{about}{self._so_far()}"
        )

    def _so_far(self) -> str:
        count = self._latest
        if count is None or count.p_value is None:
            return ""
        return f"; {' / '.join(count.cell.subject.values())}: p = {count.p_value:.2g} so far"

    def _left(self) -> float:
        """Seconds until the end; for cells that have not begun by what those have cost that are like them."""
        seen = [(count.cell, count.each) for count in self._counts.values() if count.each]
        if self._fitted_to is None or len(seen) > 1.02 * self._fitted_to:
            self._costs, self._fitted_to = _Costs(seen), len(seen)
        costs = self._costs
        part = self._stopped_part()
        work = 0.0
        for count in self._counts.values():
            if count.done >= count.cell.replicates or count.ended:
                continue
            total: float = count.cell.replicates
            if count.cell.stopping is not None:
                total *= part if count.expected is None else count.expected / count.cell.replicates
            # A cell that goes on beyond what was expected has a lane or more to come.
            left = max(total - count.done, min(count.cell.lane_size, count.cell.replicates - count.done))
            work += left * (costs.guess(count.cell) if count.each is None else count.each)
        return work / self._workers()

    def _stopped_part(self) -> float:
        """The part of its replicates that a cell with a rule has until it stops, by those that are known."""
        known = [
            (count.computed if count.ended else count.expected or 0, count.cell.replicates)
            for count in self._counts.values()
            if count.cell.stopping is not None and count.computed and (count.ended or count.expected)
        ]
        return sum(wanted for wanted, _ in known) / sum(most for _, most in known) if known else 1.0


class _Costs:
    """Guesses what a replicate of a cell costs: costs differ by factors, one for each part of what a cell is about.

    Such as its data set and its classifier. The factors are fitted to the cells seen, in logarithms, by least squares:
    part after part, a few times over.
    """

    #: How often each factor is fitted to what the others leave.
    sweeps: ClassVar[int] = 8

    def __init__(self, seen: Iterable[tuple[Cell, float]]) -> None:
        kinds: dict[str, list[tuple[list[_Part], float]]] = {}
        for cell, each in seen:
            kinds.setdefault(cell.fanout, []).append((self._parts(cell), math.log(each)))
        self._usual = {kind: fmean(log for _, log in cells) for kind, cells in kinds.items()}
        self._factors: dict[_Part, float] = {}
        for kind, cells in kinds.items():
            self._fit(cells, self._usual[kind])

    @staticmethod
    def _parts(cell: Cell) -> list["_Part"]:
        return [(cell.fanout, *part) for part in cell.subject.items()]

    def _fit(self, cells: list[tuple[list["_Part"], float]], usual: float) -> None:
        for _ in range(self.sweeps):
            for position in range(max(len(parts) for parts, _ in cells)):
                left: dict[_Part, list[float]] = {}
                for parts, log in cells:
                    if position < len(parts):
                        others = sum(self._factors.get(part, 0.0) for part in parts if part != parts[position])
                        left.setdefault(parts[position], []).append(log - usual - others)
                self._factors |= {part: fmean(logs) for part, logs in left.items()}

    def guess(self, cell: Cell) -> float:
        """Seconds a replicate; infinite where no cell of its kind was seen."""
        usual = self._usual.get(cell.fanout)
        if usual is None:
            return math.inf
        return math.exp(usual + sum(self._factors.get(part, 0.0) for part in self._parts(cell)))


def duration(seconds: float) -> str:
    """A time that is only about right, in the unit that fits."""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
