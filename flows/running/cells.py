"""The cells of a study, each computed once those that it needs are complete, a few at a time."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from typing import Protocol, TypeAlias

from sigstats.tasks.engine.execute import Interrupted, Outcome, run_cell
from sigstats.tasks.engine.pools import Pool
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.replicates import prerequisites, waves
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

from ..config.study import Study
from .progress import Display

#: Computes one cell and returns how it ended; raises Interrupted when the run is to stop.
ComputeCell: TypeAlias = Callable[[Cell], Outcome]


class CellRunner(Protocol):
    """Computes all cells of a plan and returns how each ended, in the order of the plan."""

    def __call__(
        self,
        study: Study,
        plan: Plan,
        store: Store,
        compute: ComputeCell,
        *,
        threads: int,
        stop: threading.Event,
        say: Callable[[str], None],
    ) -> list[Outcome]:
        """Call `compute` with every cell, on at most so many threads."""


def run_cells(
    study: Study,  # noqa: ARG001 (what follows a run shows the study)
    plan: Plan,
    store: Store,  # noqa: ARG001
    compute: ComputeCell,
    *,
    threads: int,
    stop: threading.Event,  # noqa: ARG001 (`compute` looks at it)
    say: Callable[[str], None],  # noqa: ARG001
) -> list[Outcome]:
    """The `CellRunner` that nothing follows."""
    return run_rest(plan, compute, {}, threads=threads)


def run_rest(plan: Plan, compute: ComputeCell, ended: dict[str, Outcome], *, threads: int) -> list[Outcome]:
    """Compute the cells that have not ended, and return how all ended."""
    for wave in waves(plan.cells):
        rest = [cell for cell in wave if cell.name not in ended]
        if threads == 1:
            outcomes = [compute(cell) for cell in rest]
        else:
            with ThreadPoolExecutor(threads, thread_name_prefix="cell") as executor:
                outcomes = list(executor.map(compute, rest))
        ended |= {outcome.cell.name: outcome for outcome in outcomes}
    return [ended[cell.name] for cell in plan.cells]


class CellComputer:
    """Computes cells on the workers of a pool, shows how far each is, and writes its receipts.

    Parameters
    ----------
    store : Store
    pool : Pool
    display : Display
    stop : threading.Event
        Set to leave early.
    """

    def __init__(self, store: Store, pool: Pool, display: Display, stop: threading.Event) -> None:
        self._store = store
        self._pool = pool
        self._display = display
        self._stop = stop
        self._ended: dict[str, Outcome] = {}

    def compute(self, cell: Cell) -> Outcome:
        """Compute a cell, unless a cell that it needs has failed.

        Raises
        ------
        Interrupted
            If the run is to stop.
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
        progress = partial(self._display.advance, cell)
        outcome = run_cell(cell, self._store, self._pool, stop=self._stop, progress=progress)
        for note in outcome.notes:
            self._display.say(f"made again: {note}")
        _write_receipts(self._store, outcome)
        return outcome


def _write_receipts(store: Store, outcome: Outcome) -> None:
    """Append what a cell's blocks took to its receipts, and forget it."""
    if not outcome.receipts and not outcome.failures:
        return
    name = f"receipts/{outcome.cell.name}.json"
    try:
        before = store.read_json(name).get("blocks", [])
    except (FileNotFoundError, Damaged):
        before = []
    store.write_json(
        name,
        {
            "cell": outcome.cell.name,
            "subject": dict(outcome.cell.subject),
            "blocks": [*before, *(asdict(receipt) for receipt in outcome.receipts)],
            "failures": [
                {**asdict(failure), "block": f"{failure.first}-{failure.last}"} for failure in outcome.failures
            ],
        },
    )
    outcome.receipts.clear()
