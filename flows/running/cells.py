"""The computation of the cells of a study, several at a time, each after the cells that it needs."""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import asdict
from functools import partial
from graphlib import TopologicalSorter
from queue import Empty, SimpleQueue
from typing import Any

from sigstats.sequential.joint_rule import JointRule
from sigstats.tasks.engine.blocks import Receipt
from sigstats.tasks.engine.execute import Interrupted, Outcome, run_cell
from sigstats.tasks.engine.pools import MOST_CELLS, Pool
from sigstats.tasks.engine.stopping import for_now
from sigstats.tasks.fan_out import prerequisites
from sigstats.tasks.plan import Cell
from sigstats.tasks.results import read_plan
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

from .options import ComputeCell, RunOptions


def run_cells(
    cells: Sequence[Cell], compute: ComputeCell, *, threads: Callable[[], int], stop: threading.Event
) -> list[Outcome]:
    """Compute cells in the context of the caller, and return their outcomes in order.

    `threads`: the number of cells to compute at once, which may change meanwhile.

    Raises Interrupted if `stop` is set. Raises KeyboardInterrupt if it occurs in this thread, after the other threads
    have stopped. Raises an error that ends the run itself; errors of blocks are part of the outcomes. Cells that have
    not begun by then are not computed.
    """
    ended: dict[str, Outcome] = {}
    broken: list[BaseException] = []

    def settle(cell: Cell) -> None:
        try:
            if not broken and not stop.is_set():
                ended[cell.name] = compute(cell)
        except BaseException as error:  # raised again below
            broken.append(error)

    named = {cell.name: cell for cell in cells}
    order = TopologicalSorter({name: {one.name for one in prerequisites(named[name])} & named.keys() for name in named})
    order.prepare()
    if threads() == 1:
        while order.is_active():
            for name in order.get_ready():
                settle(named[name])
                order.done(name)
    else:
        with ThreadPoolExecutor(MOST_CELLS, thread_name_prefix="cell") as executor:
            try:
                ready, under_way, done = deque[str](), 0, SimpleQueue[str]()
                while order.is_active():
                    ready.extend(order.get_ready())
                    while ready and under_way < threads():
                        name, under_way = ready.popleft(), under_way + 1
                        future = executor.submit(copy_context().run, settle, named[name])
                        future.add_done_callback(lambda _, name=name: done.put(name))  # type: ignore[misc]
                    order.done(_wait_for(done))
                    under_way -= 1
            except BaseException:  # Ctrl-C or a time-out, if the study was started from Python
                stop.set()
                raise
    if stop.is_set():
        raise Interrupted
    if broken:
        raise broken[0]
    return [ended[cell.name] for cell in cells]


def run_in_rounds(
    cells: Sequence[Cell],
    store: Store,
    run: Callable[[list[Cell]], list[Outcome]],
    *,
    part: bool,
    complete: Callable[[Cell], None] = lambda cell: None,
) -> list[Outcome]:
    """Run cells and return their outcomes, in order. Cells that stop together run in rounds, after all other cells.

    A round computes the replicates that are needed whatever the results of the other cells. A failed cell ends the
    rounds, and a part of a run computes one round. `complete`: called with each cell that has stopped.
    """
    joint = [cell for cell in cells if isinstance(cell.rule, JointRule)]
    ended = {outcome.cell.name: outcome for outcome in run([cell for cell in cells if cell not in joint])}
    now: dict[str, Cell] = {}
    while joint:
        now = {cell.name: cell for cell in for_now(read_plan(store).cells, store)}
        left = [now[cell.name] for cell in joint if now[cell.name].stopping]
        outcomes = run(left)
        ended |= {outcome.cell.name: outcome for outcome in outcomes}
        if not left:
            for cell in joint:
                store.finish(cell, now[cell.name].replicates)
                complete(cell)
        if part or not left or not all(outcome.complete for outcome in outcomes):
            break
    return [ended.get(cell.name) or Outcome(now[cell.name], taken_up=now[cell.name].replicates) for cell in cells]


def _wait_for(done: "SimpleQueue[str]") -> str:
    """Wait for the next cell that ends; return its name. It waits in steps, so that an exception can interrupt it."""
    while True:
        with contextlib.suppress(Empty):
            return done.get(timeout=1.0)


class CellComputer:
    """Computes cells on the workers of a pool, shows their progress, and writes their receipts."""

    def __init__(self, store: Store, pool: Pool, options: RunOptions, lanes: Mapping[str, tuple[int, int]]) -> None:
        self._store = store
        self._pool = pool
        self._display = options.display
        self._stop = options.stop
        self._receipts = "" if options.part is None else f".{options.part.number}-of-{options.part.total}"
        self._lanes = lanes
        self._ended: dict[str, Outcome] = {}

    def compute(self, cell: Cell) -> Outcome:
        """Compute a cell, unless a cell that it needs has failed.

        Raises Interrupted if the run is asked to stop.
        """
        if self._stop.is_set():
            raise Interrupted
        failures = [
            failure
            for before in prerequisites(cell)
            if before.name in self._ended and not self._ended[before.name].complete
            for failure in self._ended[before.name].failures
        ]
        outcome = self._ended[cell.name] = Outcome(cell, failures=failures) if failures else self._computed(cell)
        self._display.cell_done(cell)
        return outcome

    def _computed(self, cell: Cell) -> Outcome:
        lanes, progress = self._lanes.get(cell.name), partial(self._advance, cell)
        outcome = run_cell(cell, self._store, self._pool, stop=self._stop, progress=progress, lanes=lanes)
        for note in outcome.notes:
            self._display.say(f"computed again: {note}")
        _write_receipts(self._store, outcome, self._receipts)
        return outcome

    def _advance(self, cell: Cell, replicates: int, receipt: Receipt | None) -> None:
        if receipt is not None or cell.name not in self._ended:  # an earlier round has counted the stored replicates
            self._display.advance(cell, replicates, receipt)


def _write_receipts(store: Store, outcome: Outcome, suffix: str) -> None:
    """Append the receipts of a cell's blocks to the stored receipts, and remove them from the outcome."""
    if not outcome.receipts and not outcome.failures:
        return
    name = f"receipts/{outcome.cell.name}{suffix}.json"
    try:
        before = store.read_json(name).get("blocks", [])
    except (FileNotFoundError, Damaged):
        before = []
    store.write_json(
        name,
        {
            "cell": outcome.cell.name,
            "subject": dict(outcome.cell.subject),
            "blocks": [*before, *map(_without_content, outcome.receipts)],
            "failures": [
                {**asdict(failure), "block": f"{failure.first}-{failure.last}"} for failure in outcome.failures
            ],
        },
        indent=None,
    )
    outcome.receipts.clear()


def _without_content(receipt: Receipt) -> dict[str, Any]:
    return {key: value for key, value in asdict(receipt).items() if key != "content"}
