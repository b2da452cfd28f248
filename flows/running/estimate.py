"""The cost of a study before it runs: replicates, seconds (measured in `timing`) and bytes."""

from collections.abc import Sequence
from dataclasses import dataclass

from sigstats._common.numerals import duration, significant
from sigstats.multiplicity import IN_WORDS
from sigstats.tasks.engine.execute import done_and_left
from sigstats.tasks.engine.stopping import for_now
from sigstats.tasks.fan_out import in_words, input_cells
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.storage.seal import ROWS
from sigstats.tasks.storage.store import Store

#: A plan of more cells lists only the costliest.
_MOST_LINES, _COSTLIEST = 100, 20


@dataclass(frozen=True)
class Estimate:
    """The cost of one cell."""

    cell: Cell
    #: Replicates that are stored.
    done: int
    #: Replicates that are not stored yet; if a stopping rule applies, their greatest number.
    left: int
    #: Seconds a replicate on one worker, measured or predicted; None if unknown.
    per_replicate: float | None = None
    #: Seconds to prepare what all replicates share.
    once: float = 0.0
    #: Seconds in which a process imports code of other packages, the first time.
    starting: float = 0.0
    timed: bool = False
    #: The share of the timed replicates that are at least as extreme as the observed result; None if unknown.
    share: float | None = None
    #: Size of the cell's file.
    bytes: int | None = None
    #: Why the cell cannot be computed; empty where it can.
    problem: str = ""

    @property
    def seconds(self) -> float | None:
        """Seconds that the remaining replicates take on one worker; an upper bound if a stopping rule applies."""
        return self._for(self.left) if self.left else 0.0

    @property
    def expected(self) -> float | None:
        """The expected seconds, if the rule stops the cell and extreme replicates stay as frequent as so far."""
        if not self.left or self.cell.stopping is None or self.share is None:
            return self.seconds
        needed = self.cell.whole_lanes(self.cell.rule.stops_at(self.share))
        return self._for(min(self.left, max(0, needed - self.done)))

    def _for(self, replicates: int) -> float | None:
        return None if self.per_replicate is None else self.starting + self.once + self.per_replicate * replicates


def count(plan: Plan, output: str) -> list[Estimate]:
    """Count the stored and the missing replicates of each cell of an output."""
    store = Store(output)
    with store.files.remembered():
        # That a rule has ended cells together cannot be seen from one of them.
        ends = [None if now.stopping else (0, now.lanes) for now in for_now(plan.cells, store)]
        return [Estimate(cell, *done_and_left(cell, store, end)) for cell, end in zip(plan.cells, ends, strict=True)]


def counts_in_words(plan: Plan, estimates: Sequence[Estimate]) -> str:
    """Return the numbers of cells and replicates, and of those done and to do, in a line."""
    left, done = sum(one.left for one in estimates), sum(one.done for one in estimates)
    parts = f"{len(plan.cells):,} computations (cells), {plan.replicates:,} replicates"
    return f"{plan.study}: {parts}: {left:,} to do, {done:,} done"


def render(plan: Plan, estimates: Sequence[Estimate], *, workers: int) -> str:
    """Return the plan as text: its cells, or the costliest of many, and the totals."""
    shown = list(estimates)
    if len(shown) > _MOST_LINES:
        shown = sorted(shown, key=lambda one: -(one.seconds or 0.0))[:_COSTLIEST]
    widths = max(len(in_words(item.cell)) for item in shown), max(len(_subject(item.cell)) for item in shown)
    lines = [counts_in_words(plan, estimates), *(_line(item, widths) for item in shown)]
    if len(shown) < len(estimates):
        lines.append(f"  ... and {len(estimates) - len(shown):,} cells, each of which costs less")
        lines += [f"  cannot be computed: {_subject(one.cell)}: {one.problem}" for one in estimates if one.problem]
    if any(item.timed for item in estimates):
        lines += _totals(estimates, workers)
    lines.append(
        f"then: {', '.join(plan.analyses)}; alpha = {significant(plan.alpha)}, p-values {IN_WORDS[plan.adjust]}"
    )
    return "\n".join(lines)


def _line(item: Estimate, widths: tuple[int, int]) -> str:
    most = "at most " if _may_stop(item) else ""
    cost = item.problem or (
        "" if item.per_replicate is None else f"{most}{'' if item.timed else '~'}{duration(item.seconds or 0.0)}"
    )
    amount = f"{item.left:>9,} to do, {item.done:>9,} done"
    return f"  {in_words(item.cell):{widths[0]}s} {_subject(item.cell):{widths[1]}s} {amount} {cost}".rstrip()


def _totals(estimates: Sequence[Estimate], workers: int) -> list[str]:
    """Return the total time, and the cells that were not timed or are not included."""
    work = sum(item.expected or 0.0 for item in estimates)
    size = sum(item.bytes or 0 for item in estimates)
    both = f"about {duration(work)} of work, {duration(work / workers)} on {workers} worker(s)"
    if any(map(_may_stop, estimates)):
        both += f" (at most {duration(sum(item.seconds or 0.0 for item in estimates))} if no rule stops)"
    lines = [f"{both}, {max(1, size // 1000):,} kB of replicates, of which {ROWS:,} at a time are joined in memory"]
    guessed = sum(item.per_replicate is not None and not item.timed for item in estimates)
    if guessed:
        lines.append(
            f"{guessed:,} of {len(estimates):,} cells (~) were not timed, but estimated from the others: "
            "a cell may take several times more or less"
        )
    reading = [item for item in estimates if item.left and input_cells(item.cell)]
    tried = sum(item.timed for item in reading)
    if tried:
        lines.append(f"{tried:,} cells read results of other cells, and were timed with invented ones")
    untried = sum(item.per_replicate is None for item in reading)
    if untried:
        lines.append(f"and {untried} cells that read results of other cells, so cannot be timed before these")
    unknown = sum(bool(item.per_replicate is None and item.left and not item.problem) for item in estimates) - untried
    if unknown:
        lines.append(f"and {unknown:,} cells of kinds that were not timed")
    return lines


def _may_stop(item: Estimate) -> bool:
    """Return True if a rule may stop the cell before all replicates that are left are computed."""
    return bool(item.left) and item.cell.stopping is not None


def _subject(cell: Cell) -> str:
    return " / ".join(cell.subject.values())
