"""The cost of a study before it runs: replicates, seconds, bytes."""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sigstats.tasks.engine.execute import done_and_left
from sigstats.tasks.engine.guarded import run_guarded
from sigstats.tasks.engine.run_block import Failure
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.replicates import input_cells
from sigstats.tasks.storage.seal import seal
from sigstats.tasks.storage.store import Store

from .prepared import Prepared
from .progress import duration


@dataclass(frozen=True)
class Estimate:
    """The cost of one cell.

    Attributes
    ----------
    cell : Cell
    done : int
        Replicates that are stored.
    left : int
        Replicates that are not stored yet; where a rule may stop the cell, at most.
    seconds : float or None
        Work for those, on one worker; None where it was not measured.
    bytes : int or None
        Size of the cell's file, likewise.
    problem : str
        Why the cell cannot be computed; empty where it can.
    """

    cell: Cell
    done: int
    left: int
    seconds: float | None = None
    bytes: int | None = None
    problem: str = ""


def estimate(prepared: Prepared, *, output: str, timing: bool = True) -> list[Estimate]:
    """The cost of every cell, from one stream chunk of it computed twice in a temporary folder."""
    store = Store(output)
    found = []
    with tempfile.TemporaryDirectory(prefix="sigstats-plan-") as folder:
        scratch = Store(folder)
        if timing:
            for dataset in prepared.datasets:
                scratch.write_data(dataset)
        for cell in prepared.plan.cells:
            done, left = done_and_left(cell, store)
            # What reads another cell's results cannot be tried before these are there.
            tried = timing and not input_cells(cell)
            found.append(_timed(cell, done, left, scratch) if tried else Estimate(cell, done, left))
    return found


def _timed(cell: Cell, done: int, left: int, scratch: Store) -> Estimate:
    block = cell.block(0, 1)
    outcome = run_guarded(block, scratch)  # also fills what a worker keeps
    if isinstance(outcome, Failure):
        return Estimate(cell, done, left, problem=f"{outcome.error}: {outcome.message}")
    if outcome.seconds < 1:
        started = time.perf_counter()
        again = run_guarded(block, scratch)
        seconds = again.seconds if not isinstance(again, Failure) else time.perf_counter() - started
    else:
        seconds = outcome.seconds
    table = scratch.read_block(cell, block.first, block.last)
    each = len(seal(table, kind=cell.fanout, fingerprint=cell.fingerprint)) if cell.replicates == 1 else None
    size = each if each is not None else 3000 + 2 * cell.replicates
    return Estimate(cell, done, left, seconds * left / (block.last - block.first), size)


def render(plan: Plan, estimates: Sequence[Estimate], *, workers: int) -> str:
    """The plan as text."""
    width = max(len(_subject(item.cell)) for item in estimates)
    lines = [f"{plan.study}: {len(plan.cells)} cells, {plan.replicates:,} replicates"]
    for item in estimates:
        most = "at most " if item.left and item.cell.stopping is not None else ""
        cost = item.problem or ("" if item.seconds is None else most + duration(item.seconds))
        amount = f"{item.left:>9,} to do, {item.done:>9,} done"
        lines.append(f"  {item.cell.fanout:10s} {_subject(item.cell):{width}s} {amount} {cost}".rstrip())
    seconds = [item.seconds for item in estimates if item.seconds is not None]
    if seconds:
        size = sum(item.bytes or 0 for item in estimates)
        about = "at most" if any(item.left and item.cell.stopping is not None for item in estimates) else "about"
        lines.append(
            f"{about} {duration(sum(seconds))} of work, {duration(sum(seconds) / workers)} on {workers} worker(s), "
            f"{max(1, size // 1000):,} kB of replicates"
        )
    untried = sum(bool(input_cells(item.cell)) for item in estimates)
    if seconds and untried:
        lines.append(f"and {untried} cells that read what others compute, so cannot be tried before")
    lines.append(f"then: {', '.join(plan.analyses)}; alpha = {plan.alpha:g}, adjusted by {plan.adjust}")
    return "\n".join(lines)


def _subject(cell: Cell) -> str:
    return " / ".join(cell.subject.values())
