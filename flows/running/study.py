"""The run of a study that is computed in cells: check it, store its inputs, compute, summarise and report."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import sigstats
from sigstats._common.extras import compiles_first
from sigstats._common.messages import rephrased
from sigstats.tasks.engine.execute import Interrupted, Outcome
from sigstats.tasks.engine.guarded import end_idle
from sigstats.tasks.engine.pools import Pool
from sigstats.tasks.fan_out import FAN_OUTS, fanout, own_code
from sigstats.tasks.own_code import difference
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.process import STUDY, periodic, require_addresses
from sigstats.tasks.results import Results, read_plan
from sigstats.tasks.storage.files import Locked
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

from ..config.model import Study
from ..errors import BadInput, file_errors
from ..kinds import kind_named
from .cells import CellComputer, run_cells, run_in_rounds
from .costs import Sizes, sizes_of
from .options import Prepared, Progress, RunOptions
from .output import identity_of, refuse_another, write_inputs
from .progress import Display
from .result import CellStudyResult
from .workers import StaffChanges, StaffWatch, add_changes, anything_left, changes_of, workers_for

#: Folder of the code that Numba compiles for studies that retrain.
_COMPILED = Path(sigstats.__path__[0], "learners", "compiled")
#: Seconds between two checks of the workers.
_LOOK_SECONDS = 1.0


def run_study(study: Study, prepare: Callable[[Progress], Prepared], options: RunOptions) -> CellStudyResult:
    """Run a study and write its report, or compute only a part of the study. Stored replicates are not computed again.

    Raises MemoryError if the limit on the address space (``ulimit -v``) is too low. Raises Interrupted if the run is
    asked to stop; completed work is stored.
    """
    require_addresses(STUDY, "a study")
    started, display = time.monotonic(), options.display
    with display.reading() as progress:
        prepared = prepare(_interruptible(progress, options.stop))
    display.say(f"{study.name}: {study.question}")
    for note in prepared.notes:
        display.say(f"note: {note}")
    store = Store(options.output)
    with store.files.remembered():
        return _run(study, prepared, store, options, started)


def _run(study: Study, prepared: Prepared, store: Store, options: RunOptions, started: float) -> CellStudyResult:
    display = options.display
    identity = identity_of(study, prepared)
    refuse_another(store, identity, prepared)
    part = options.part
    plan, lanes = prepared.plan, {}
    if part is not None:
        lanes = part.lanes(plan.cells)
        plan = replace(plan, cells=tuple(cell for cell in plan.cells if cell.name in lanes))
    left, sizes = anything_left(plan, store, lanes), sizes_of(prepared.datasets)
    with contextlib.ExitStack() as workers:
        workers.callback(end_idle)
        pool = workers.enter_context(workers_for(prepared, options, left=left))
        with _locked_output(store, identity, prepared, options) as exists:
            for file in options.code:
                store.files.write(f"code/{file.name}", file.read_bytes())
            outcomes, changes = _compute_cells(plan, store, pool, options, lanes, left=left, sizes=sizes, exists=exists)
            workers.close()
            results = {} if part is not None else _summarise(store, plan, outcomes, display)
    return CellStudyResult(
        plan=plan,
        **results,
        failed=tuple(outcome for outcome in outcomes if not outcome.complete),
        output=store.root,
        replicates=sum(min(outcome.stored, outcome.wanted) for outcome in outcomes),
        seconds=time.monotonic() - started,
        engines=frozenset().union(*(outcome.engines for outcome in outcomes)),
        changes=changes,
        all_changes=changes_of(store),
        part=part,
    )


def _summarise(store: Store, plan: Plan, outcomes: Sequence[Outcome], display: Display) -> dict[str, Any]:
    from sigstats.tasks.summary import summarize  # a plan needs neither

    from ..report.evidence import Evidence
    from ..report.page import write_report
    from ..report.rows import hypotheses

    store.files.refresh()
    if all(outcome.complete for outcome in outcomes):
        store.drop_blocks(plan.cells)
    with display.patience(f"summarising {len(outcomes):,} computations"):
        summarize(store, kind_named(plan.kind).analyses)
    with display.patience("writing the report"):
        evidence = Evidence(Results(store))
        report, rows = write_report(store, evidence), evidence.concluded
    return {"report": report, "rows": rows, "decisions": evidence.decisions(hypotheses(rows))}


def _interruptible(progress: Progress, stop: threading.Event) -> Progress:
    def report(what: str, done: int, total: int) -> None:
        if stop.is_set():
            raise Interrupted
        progress(what, done, total)

    return report


@contextlib.contextmanager
def _locked_output(
    store: Store, identity: Mapping[str, Any], prepared: Prepared, options: RunOptions
) -> Iterator[Callable[[], bool]]:
    """Lock the output while the context lasts, and write the inputs to it. Parts of a study share the lock.

    Yields a function that returns True if the output still exists. Raises FileNotFoundError if it is gone at the end.
    """
    part = options.part
    with contextlib.ExitStack() as held:
        in_use = rephrased(
            lambda text: f"--output: {text}; wait for it to end, or choose another output", BadInput, Locked
        )
        with file_errors(f"--output: {store.root} cannot be written"), in_use:
            exists = held.enter_context(store.files.lock(shared=part is not None))
            store.files.refresh()
            if part is None:
                held.enter_context(options.holding(store))
            useless = refuse_another(store, identity, prepared)
            again = [useless, *changed_code(store, prepared.plan)]
            again += write_inputs(store, identity, prepared, alone=part is None)
        for reason in filter(None, again):
            options.display.say(f"computed again: {reason}")
        try:
            yield exists
        finally:
            if not exists():
                raise FileNotFoundError(
                    f"{store.root} was moved or removed during the run; to continue from the stored blocks, run the "
                    "same command with the new location as output"
                ) from None


def _compute_cells(
    plan: Plan,
    store: Store,
    pool: Pool,
    options: RunOptions,
    lanes: Mapping[str, tuple[int, int]],
    *,
    left: bool,
    sizes: Sizes,
    exists: Callable[[], bool],
) -> tuple[list[Outcome], StaffChanges]:
    """Compute all cells, and report joining and lost workers; stop if the output disappears."""
    display, stop = options.display, options.stop
    if left and any(fanout(cell.fanout).compiles for cell in plan.cells) and compiles_first(_COMPILED):
        display.say("note: Numba first compiles for this processor, only once; `sigstats warm-up` does it beforehand")
    watch = StaffWatch(pool, display.say)

    def look() -> None:
        watch.look()
        if not exists():
            stop.set()

    pool.prepare(plan, options.priority)
    compute = options.around(CellComputer(store, pool, options, lanes).compute)
    try:
        with (
            display.start(_plan_of_part(plan, lanes), workers=lambda: pool.workers, sizes=sizes),
            periodic(look, _LOOK_SECONDS, name="staff"),
        ):
            run = partial(run_cells, compute=compute, threads=lambda: pool.cells, stop=stop)
            return run_in_rounds(plan.cells, store, run, part=bool(lanes), complete=display.complete), watch.changes
    finally:
        if options.part is None:
            add_changes(store, watch.changes)


def _plan_of_part(plan: Plan, lanes: Mapping[str, tuple[int, int]]) -> Plan:
    """Return the plan with the number of replicates that a part computes, to show the progress of the part."""
    if not lanes:
        return plan

    def of(cell: Cell) -> Cell:
        block = cell.block(*lanes.get(cell.name, (0, cell.lanes)))
        return replace(cell, replicates=block.last - block.first)

    return replace(plan, cells=tuple(map(of, plan.cells)))


def changed_code(store: Store, plan: Plan) -> Iterator[str]:
    """Yield a line for each classifier or test in a plan whose code differs from the code behind the stored cells.

    The line has the name of the classifier or test, and the change.
    """
    try:
        cells = [cell for cell in read_plan(store).cells if cell.fanout in FAN_OUTS]
    except (FileNotFoundError, Damaged, OSError):
        return
    before, named = {cell.definition: code for cell in cells if (code := own_code(cell))}, set()
    for cell in plan.cells:
        code = own_code(cell)
        old = before.get(cell.definition) if code else None
        name = next((cell.subject[part] for part in ("classifier", "test") if part in cell.subject), "")
        if code and old and name not in named and (change := difference(old, code)):
            named.add(name)
            yield f"{name}, since {change}"
