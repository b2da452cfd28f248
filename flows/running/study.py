"""The run of every study that is computed in cells: check, store the inputs, compute, summarise, report."""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sigstats
from sigstats._common.compiled_or import compiles_first
from sigstats._common.numerals import significant
from sigstats._common.printable import printable
from sigstats.tasks.engine.execute import Interrupted, Outcome
from sigstats.tasks.engine.guarded import end_idle
from sigstats.tasks.engine.pools import Pool
from sigstats.tasks.periodic import periodic
from sigstats.tasks.plan import Plan
from sigstats.tasks.results import Results
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.storage.cell_cache import CellCache
from sigstats.tasks.storage.files import Locked
from sigstats.tasks.storage.store import Store
from sigstats.tasks.summary.summarize import summarize

from ..config.study import Study
from ..errors import DONE, FAILED, BadInput
from ..report.page import write_report
from .cells import CellComputer, CellRun, run_cells
from .changed_code import changed_code
from .options import RunOptions
from .output import begin, identity_of, refuse_another
from .prepared import Prepared, Progress
from .progress import Display, duration
from .result import Artifacts, worst_first
from .staff import StaffChanges, StaffWatch, add_changes, changes_of
from .workers import anything_left, workers_for

if TYPE_CHECKING:
    import pandas as pd

#: A table on a server has at most this many hypotheses; the report has all.
_MOST_ROWS = 200
#: What Numba compiles for studies that retrain.
_COMPILED = Path(sigstats.__path__[0], "learners", "compiled")
#: The workers are looked at every so many seconds.
_LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class CellStudyResult:
    """The result of a study that is computed in cells: a `sigstats.flows.running.result.StudyResult`.

    Attributes
    ----------
    plan : Plan
    rows : tuple of Hypothesis
    failed : tuple of Outcome
        The cells that are not complete.
    output, report : str
        The paths or URLs of the results and of the report.
    replicates : int
        The number of replicates that the results rest on.
    seconds : float
        The duration of the run.
    engines : frozenset of str
        Where blocks were computed: "serial" is this process, "dask" the workers of a cluster. Empty if nothing was left
        to compute.
    changes, all_changes : StaffChanges
        The changes among the workers, in this run and in all runs of the output.
    """

    plan: Plan
    rows: tuple[Hypothesis, ...]
    failed: tuple[Outcome, ...]
    output: str
    report: str
    replicates: int
    seconds: float
    engines: frozenset[str]
    changes: StaffChanges
    all_changes: StaffChanges

    @property
    def code(self) -> int:
        """The exit code."""
        return FAILED if self.failed else DONE

    @property
    def title(self) -> str:
        """The number of cells, or of those that failed."""
        if self.failed:
            return f"{len(self.failed)} of {len(self.plan.cells)} cells failed"
        return f"{len(self.plan.cells)} cells, {len(self.rows)} hypotheses"

    @property
    def subject(self) -> str:
        """The number of replicates that the results rest on."""
        return f"{self.replicates:,} replicates"

    @property
    def reasons(self) -> Sequence[str]:
        """A line for each cell that failed, with its reason."""
        return [f"failed: {', '.join(each.cell.subject.values())}: {_reason(each)}" for each in self.failed]

    @property
    def summary(self) -> "pd.DataFrame":
        """One row for each hypothesis, without the columns in which no row has a value."""
        return Results(Store(self.output)).summary.to_pandas().dropna(axis="columns", how="all")

    @property
    def since(self) -> None:
        """None: a cell that failed is computed again by each run."""

    @property
    def artifacts(self) -> Artifacts:
        """A link to the report, and a table of the hypotheses, the rejected ones first."""
        said = str(self.all_changes)
        return Artifacts(
            links={"report": self.report},
            tables={"hypotheses": _as_table(self.rows)},
            markdown={"workers": f"Over all runs of this output: {said}."} if said else {},
        )

    def tell(self, display: Display) -> None:
        """Show the cells that failed, the totals, and the path of the report."""
        for outcome in self.failed:
            display.event("failed", cell=outcome.cell.name, error=_reason(outcome))
        for line in worst_first(self.reasons):
            print(printable(f"sigstats: {line}"), file=sys.stderr)  # noqa: T201
        rejected = sum(row.decision == "reject" for row in self.rows)
        by = _where(self.engines, self.changes.lost)
        display.say(
            f"{len(self.plan.cells)} cells, {self.replicates:,} replicates, {len(self.rows)} hypotheses, "
            f"{rejected} rejected at {significant(self.plan.alpha)}, in {duration(self.seconds)}{by}"
        )
        if said := str(self.all_changes):
            display.say(f"over all runs of this output: {said}")
        display.say(f"report: {self.report}")
        display.event(
            "end",
            cells=len(self.plan.cells),
            failed=len(self.failed),
            replicates=self.replicates,
            hypotheses=len(self.rows),
            rejected=rejected,
            seconds=round(self.seconds, 3),
            engines=sorted(self.engines),
            workers_lost=self.changes.lost,
            changes=asdict(self.all_changes),
            report=self.report,
        )


def _where(engines: Collection[str], lost: int) -> str:
    if not engines:
        return "; nothing was left to compute"
    places = {"serial": "this process", "dask": "workers"}
    losses = f", of which {lost:,} {'was' if lost == 1 else 'were'} lost" if lost else ""
    return f" by {' and '.join(place for engine, place in places.items() if engine in engines)}{losses}"


def _as_table(rows: Sequence[Hypothesis]) -> list[dict[str, Any]]:
    """The rows of the table of hypotheses on a server."""
    columns = ("dataset", "slice", "classifier", "a", "b", "test", "method", "measure", "estimate", "p_adjusted")
    ordered = sorted(rows, key=lambda row: row.decision != "reject")[:_MOST_ROWS]
    used = [name for name in columns if any(getattr(row, name) is not None for row in ordered)]
    return [{"decision": row.decision, **{name: getattr(row, name) for name in used}} for row in ordered]


def _reason(outcome: Outcome) -> str:
    if not outcome.failures:
        return "replicates are missing"
    return f"{outcome.failures[0].error}: {outcome.failures[0].message}"


def run_study(
    study: Study, prepare: Callable[[Progress], Prepared], options: RunOptions, *, kinds: Collection[str]
) -> CellStudyResult:
    """Run a study to its report. Replicates that the output holds are not computed again.

    Parameters
    ----------
    study : Study
    prepare : callable
        Reads the inputs, reports its progress, and returns the study with its plan.
    options : RunOptions
    kinds : collection of str
        The names of all kinds of study.

    Returns
    -------
    CellStudyResult

    Raises
    ------
    BadInput
        If the data or the output do not fit the study; nothing was written.
    Interrupted
        If the run was told to stop; what is computed is stored.
    """
    started, display = time.monotonic(), options.display
    display.say(f"{study.name}: {study.question}")
    with display.reading() as progress:
        prepared = prepare(_interruptible(progress, options.stop))
    for note in prepared.notes:
        display.say(f"note: {note}")
    store = Store(options.output)
    identity = identity_of(study, prepared)
    refuse_another(store, identity, prepared.plan, kinds)
    left = anything_left(prepared, store)
    with contextlib.ExitStack() as workers:
        workers.callback(end_idle)
        pool = workers.enter_context(workers_for(prepared, options, left=left))
        with _begun(store, identity, prepared, kinds, display):
            outcomes, changes = _computed(study, prepared.plan, store, pool, options, left=left)
            workers.close()
            if all(outcome.complete for outcome in outcomes):
                store.drop_blocks(prepared.plan.cells)
            with display.patience(f"summarising {len(outcomes):,} cells"):
                rows = summarize(store)
            with display.patience("writing the report"):
                report = write_report(store)
    return CellStudyResult(
        plan=prepared.plan,
        rows=tuple(rows),
        failed=tuple(outcome for outcome in outcomes if not outcome.complete),
        output=store.root,
        report=report,
        replicates=sum(min(outcome.stored, outcome.wanted) for outcome in outcomes),
        seconds=time.monotonic() - started,
        engines=frozenset().union(*(outcome.engines for outcome in outcomes)),
        changes=changes,
        all_changes=changes_of(store),
    )


def _interruptible(progress: Progress, stop: threading.Event) -> Progress:
    def told(what: str, done: int, total: int) -> None:
        if stop.is_set():
            raise Interrupted
        progress(what, done, total)

    return told


@contextlib.contextmanager
def _begun(
    store: Store, identity: Mapping[str, Any], prepared: Prepared, kinds: Collection[str], display: Display
) -> Iterator[None]:
    """Lock the output for as long as the context lasts, and write the inputs to it."""
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(store.files.lock())
            useless = refuse_another(store, identity, prepared.plan, kinds)
            again = list(changed_code(store, prepared.plan))
            begin(store, identity, prepared)
        except Locked as other:
            raise BadInput(f"--output: {other}; wait for it to end, or choose another output") from None
        except OSError as error:
            raise BadInput(
                f"--output: {store.root} is not valid; it cannot be written ({error.strerror or error})"
            ) from None
        for reason in [useless, *again] if useless else again:
            display.say(f"made again: {reason}")
        yield


def _computed(
    study: Study, plan: Plan, store: Store, pool: Pool, options: RunOptions, *, left: bool
) -> tuple[list[Outcome], StaffChanges]:
    """Compute all cells, and report the workers that join and are lost meanwhile."""
    display, stop = options.display, options.stop
    if left and any(cell.fanout == "retrain" for cell in plan.cells) and compiles_first(_COMPILED):
        display.say("note: Numba compiles for this processor first, once; `sigstats warm-up` does it beforehand")
    watch = StaffWatch(pool, display.say)
    pool.prepare(cell.fanout for cell in plan.cells)
    cache = None if options.cache is None else CellCache(options.cache, options.cache_key)
    compute = CellComputer(store, pool, display, stop, cache).compute
    run = CellRun(
        study=study,
        plan=plan,
        output=store.root,
        cluster=options.cluster,
        left=left,
        threads=pool.cells,
        stop=stop,
        say=display.say,
        seconds_left=display.seconds_left,
        changes=watch.changes,
    )
    try:
        with (
            display.start(plan, workers=lambda: pool.workers),
            periodic(watch.look, _LOOK_SECONDS, name="staff"),
        ):
            return run_cells(run, compute, options.follow), watch.changes
    finally:
        add_changes(store, watch.changes)
