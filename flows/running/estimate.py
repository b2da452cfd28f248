"""The cost of a study before it runs: replicates, seconds, bytes.

Cells are timed until a budget is spent, each part of what they are about as early as can be; the others are guessed.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from sigstats.tasks.engine.execute import done_and_left
from sigstats.tasks.engine.guarded import run_guarded
from sigstats.tasks.engine.run_block import Failure
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.replicates import input_cells
from sigstats.tasks.storage.seal import seal
from sigstats.tasks.storage.store import Store

from .prepared import Prepared
from .progress import duration
from .time_left import Costs

#: Seconds after which no further cell is timed.
TIMING_SECONDS = 30.0

#: Seconds between two lines of what is known so far.
_SPEAK_SECONDS = 3.0

#: With more cells the plan lists the costliest alone.
_MOST_LINES, _COSTLIEST = 100, 20


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
    each : float or None
        Seconds a replicate on one worker, measured or guessed; None where nothing is known.
    timed : bool
        Whether it was measured.
    share : float or None
        The share of the timed replicates that are at least as extreme as observed, where both are known.
    bytes : int or None
        Size of the cell's file.
    problem : str
        Why the cell cannot be computed; empty where it can.
    """

    cell: Cell
    done: int
    left: int
    each: float | None = None
    timed: bool = False
    share: float | None = None
    bytes: int | None = None
    problem: str = ""

    @property
    def seconds(self) -> float | None:
        """Work for what is left, on one worker; where a rule may stop the cell, at most."""
        return 0.0 if self.left == 0 else None if self.each is None else self.each * self.left


def count(plan: Plan, output: str) -> list[Estimate]:
    """What of each cell is done and what is left, without its cost."""
    store = Store(output)
    return [Estimate(cell, *done_and_left(cell, store)) for cell in plan.cells]


def counts_in_words(plan: Plan, estimates: Sequence[Estimate]) -> str:
    """How many cells and replicates there are, are done and are to do."""
    left, done = sum(one.left for one in estimates), sum(one.done for one in estimates)
    return f"{plan.study}: {len(plan.cells):,} cells, {plan.replicates:,} replicates: {left:,} to do, {done:,} done"


def estimate(
    prepared: Prepared,
    counted: Sequence[Estimate],
    *,
    scratch: Store,
    say: Callable[[str], None] = lambda line: None,
    budget: float = TIMING_SECONDS,
) -> list[Estimate]:
    """The cost of every cell.

    A lane of a cell is computed twice; what is left of it is in proportion.

    Parameters
    ----------
    prepared : Prepared
    counted : sequence of Estimate
        What `count` gives.
    scratch : Store
        Where data sets and blocks may be written; it is thrown away.
    say : callable
        Called now and then with a line of what is known so far.
    budget : float
        Seconds after which no further cell is timed.
    """
    for dataset in prepared.datasets:
        scratch.write_data(dataset)
    found = {one.cell.name: one for one in counted}
    # What reads another cell's results cannot be tried before these are there.
    sizes = {dataset.name: float(dataset.nbytes) for dataset in prepared.datasets}
    open_cells = [one.cell for one in counted if one.left and not input_cells(one.cell)]
    open_cells.sort(key=lambda cell: sizes.get(cell.subject.get("dataset", ""), 0.0))
    started = spoke = time.monotonic()
    for number, cell in enumerate(_in_turn(open_cells), start=1):
        found[cell.name] = _timed(found[cell.name], scratch)
        now = time.monotonic()
        if now - started > budget:
            break
        if now - spoke > _SPEAK_SECONDS:
            spoke = now
            known = _guessed(list(found.values()), sizes)
            work = duration(sum(one.seconds or 0.0 for one in known))
            say(f"so far: about {work} of work, by {number:,} of {len(open_cells):,} cells")
    return _guessed(list(found.values()), sizes)


def _in_turn(cells: Sequence[Cell]) -> list[Cell]:
    """Cells with a part (a data set, a classifier, of a fan-out) that none before has come first, a fan-out in turn."""
    seen: set[tuple[str, ...]] = set()
    first: dict[str, list[Cell]] = {}
    later: list[Cell] = []
    for cell in cells:
        parts = {(cell.fanout, *part) for part in cell.subject.items()}
        (later if parts <= seen else first.setdefault(cell.fanout, [])).append(cell)
        seen |= parts
    in_turn = [cell for each in zip_longest(*first.values()) for cell in each if cell is not None]
    return in_turn + later


def _timed(one: Estimate, scratch: Store) -> Estimate:
    cell = one.cell
    block = cell.block(0, 1)
    outcome = run_guarded(block, scratch)  # also fills what a worker keeps
    if isinstance(outcome, Failure):
        return replace(one, problem=f"{outcome.error}: {outcome.message}")
    again = run_guarded(block, scratch) if outcome.seconds < 1 else outcome
    seconds = outcome.seconds if isinstance(again, Failure) else again.seconds
    replicates = block.last - block.first
    size = 3000 + 2 * cell.replicates
    if cell.replicates == 1:
        table = scratch.read_block(cell, block.first, block.last)
        size = len(seal(table, kind=cell.fanout, fingerprint=cell.fingerprint))
    share = None if outcome.exceedances is None else outcome.exceedances / replicates
    return replace(one, each=seconds / replicates, timed=True, share=share, bytes=size)


def _guessed(estimates: list[Estimate], sizes: dict[str, float]) -> list[Estimate]:
    """The cells that were not timed, by those that were; a data set of which none was costs by its size."""
    timed = [one for one in estimates if one.timed and one.each]
    costs = Costs([(one.cell, one.each or 0.0) for one in timed])
    known = {name for one in timed if (name := one.cell.subject.get("dataset")) in sizes}
    usual = math.exp(sum(math.log(sizes[name]) for name in known if name) / len(known)) if known else 0.0
    shares = [one.share for one in timed if one.share is not None]

    def guess(one: Estimate) -> Estimate:
        if one.timed and one.share is None and one.cell.fanout == "retrain" and shares:
            return replace(one, share=sum(shares) / len(shares))
        each = costs.guess(one.cell)
        if one.timed or one.problem or not one.left or input_cells(one.cell) or not math.isfinite(each):
            return one
        name = one.cell.subject.get("dataset", "")
        factor = sizes[name] / usual if usual and name in sizes and name not in known else 1.0
        share = sum(shares) / len(shares) if shares and one.cell.fanout == "retrain" else None
        return replace(one, each=each * factor, share=share, bytes=3000 + 2 * one.cell.replicates)

    return [guess(one) for one in estimates]


def render(plan: Plan, estimates: Sequence[Estimate], *, workers: int) -> str:
    """The plan as text: the cells, or the costliest of many, and the whole."""
    shown = list(estimates)
    if len(shown) > _MOST_LINES:
        shown = sorted(shown, key=lambda one: -(one.seconds or 0.0))[:_COSTLIEST]
    width = max(len(_subject(item.cell)) for item in shown)
    lines = [counts_in_words(plan, estimates), *(_line(item, width) for item in shown)]
    if len(shown) < len(estimates):
        lines.append(f"  ... and {len(estimates) - len(shown):,} cells, each of which costs less")
        lines += [f"  cannot be computed: {_subject(one.cell)}: {one.problem}" for one in estimates if one.problem]
    if any(item.timed for item in estimates):
        lines += _totals(estimates, workers)
    lines.append(f"then: {', '.join(plan.analyses)}; alpha = {plan.alpha:g}, adjusted by {plan.adjust}")
    return "\n".join(lines)


def _line(item: Estimate, width: int) -> str:
    """What of a cell is to do, and how long it takes."""
    most = "at most " if _may_stop(item) else ""
    cost = item.problem or ("" if item.each is None else f"{most}{'' if item.timed else '~'}{_took(item)}")
    amount = f"{item.left:>9,} to do, {item.done:>9,} done"
    return f"  {item.cell.fanout:10s} {_subject(item.cell):{width}s} {amount} {cost}".rstrip()


def _totals(estimates: Sequence[Estimate], workers: int) -> list[str]:
    """How long everything takes, and what that does not rest on or leaves out."""
    work = sum(item.seconds or 0.0 for item in estimates)
    size = sum(item.bytes or 0 for item in estimates)
    about = "at most" if any(map(_may_stop, estimates)) else "about"
    both = f"{about} {duration(work)} of work, {duration(work / workers)} on {workers} worker(s)"
    lines = [f"{both}, {max(1, size // 1000):,} kB of replicates"]
    guessed = sum(item.each is not None and not item.timed for item in estimates)
    if guessed:
        lines.append(f"{guessed:,} of {len(estimates):,} cells (~) were not timed, but guessed from the others")
    untried = sum(bool(item.left and input_cells(item.cell)) for item in estimates)
    if untried:
        lines.append(f"and {untried} cells that read what others compute, so cannot be tried before")
    unknown = sum(bool(item.each is None and item.left and not item.problem) for item in estimates) - untried
    if unknown:
        lines.append(f"and {unknown:,} cells of whose kind none was timed yet")
    return lines


def _may_stop(item: Estimate) -> bool:
    """Whether what is left of a cell is the most that may be computed of it."""
    return bool(item.left) and item.cell.stopping is not None


def _took(item: Estimate) -> str:
    return duration(item.seconds or 0.0)


def _subject(cell: Cell) -> str:
    return " / ".join(cell.subject.values())
