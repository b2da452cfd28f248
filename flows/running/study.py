"""The one way every study takes: check, keep what comes in, fan out, summarise, report."""

import contextlib
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from sigstats.tasks.engine.execute import Interrupted, Outcome, run_cell
from sigstats.tasks.engine.pools import Pool
from sigstats.tasks.periodic import periodic
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.replicates import prerequisites, waves
from sigstats.tasks.schema import Hypothesis
from sigstats.tasks.storage.files import Locked
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store
from sigstats.tasks.summary.summarize import summarize

from .. import clusters
from ..config.cluster import load_cluster
from ..config.study import Strict, Study
from ..errors import BadInput
from ..report.page import write_report
from ..studies import Prepared, Reading, in_silence, prepare
from .output import begin, identity_of, refuse_another
from .progress import Display

#: A worker holds the data, an encoded or scaled copy, the training fold and what the learner makes of it.
_COPIES = 4

#: How often a person is told that no worker is there, in seconds.
_UNSTAFFED_SECONDS = 60.0

#: Computes one cell and returns how it ended; raises Interrupted when the run is to stop.
OneCell = Callable[[Cell], Outcome]


@dataclass(frozen=True)
class Finished:
    """A run that came to its end.

    Attributes
    ----------
    plan : Plan
    rows : tuple of Hypothesis
    failed : tuple of Outcome
        The cells that are not complete.
    report : str
        Where the report is.
    replicates : int
        How many replicates the results rest on.
    """

    plan: Plan
    rows: tuple[Hypothesis, ...]
    failed: tuple[Outcome, ...]
    report: str
    replicates: int


def run_study(
    study: Study,
    *,
    base: Path,
    output: str,
    cluster: Strict | None,
    display: Display,
    stop: threading.Event,
) -> Finished:
    """Run a study to its report, taking up what the output holds already.

    Parameters
    ----------
    study : Study
    base : pathlib.Path
        Where relative paths of its data start.
    output : str
        A folder or an fsspec URL.
    cluster : Strict or None
        Where it runs; None for the plain loop if the study is small, and for local processes if not.
    display : Display
    stop : threading.Event
        Set to leave early.

    Raises
    ------
    BadInput
        If the data or the output do not fit the study; nothing was written.
    Interrupted
        If `stop` was set; what is done is kept.
    """
    with display.reading() as told:

        def reading(what: str, done: int, total: int) -> None:
            if stop.is_set():
                raise Interrupted
            told(what, done, total)

        prepared = prepared_study(study, base, reading)
    if cluster is None:
        cluster = load_cluster("serial" if prepared.small else None)
    if output.startswith("memory://") and cluster.model_dump().get("kind") != "serial":
        raise BadInput(
            f"--output: {output} is not valid; only --cluster serial can keep results in this process's memory"
        )
    for note in prepared.notes:
        display.say(f"note: {note}")
    store = Store(output)
    identity = identity_of(study, prepared)
    refuse_another(store, identity)
    with clusters.open_pool(cluster) as pool, contextlib.ExitStack() as held:
        _require_memory(prepared, getattr(pool, "memory_limit", None))
        try:
            held.enter_context(store.files.lock())
            useless = refuse_another(store, identity)
            begin(store, identity, prepared)
        except Locked as other:
            raise BadInput(f"--output: {other}; wait for it to end, or choose another output") from None
        except OSError as error:
            raise BadInput(
                f"--output: {output} is not valid; it cannot be written ({error.strerror or error})"
            ) from None
        if useless:
            display.say(f"made again: {useless}")
        outcomes = fan_out(study, prepared.plan, store, pool, cluster, display, stop)
        if all(outcome.complete for outcome in outcomes):
            store.drop_blocks(prepared.plan.cells)
        with display.patience(f"summarising {len(outcomes):,} cells"):
            rows = summarize(store)
        with display.patience("writing the report"):
            report = write_report(store)
    failed = tuple(outcome for outcome in outcomes if not outcome.complete)
    replicates = sum(min(outcome.stored, outcome.wanted) for outcome in outcomes)
    return Finished(prepared.plan, tuple(rows), failed, report, replicates)


def prepared_study(study: Study, base: Path, reading: Reading = in_silence) -> Prepared:
    """The plan of a study and what it reads, with bad input as one line."""
    try:
        return prepare(study, base, reading)
    except ValueError as error:
        raise BadInput(str(error)) from None


def _require_memory(prepared: Prepared, limit: int | None) -> None:
    """Refuse a data set of which a worker cannot hold the few copies that training makes."""
    for dataset in prepared.datasets:
        needed = _COPIES * dataset.nbytes
        if limit is not None and needed > limit:
            raise BadInput(
                f"data set {dataset.name}: {dataset.nbytes / 1e6:,.0f} MB are not valid; training needs about "
                f"{needed / 1e6:,.0f} MB, expected at most {limit / 1e6:,.0f} MB, the memory_limit of a worker"
            )


def fan_out(
    study: Study,
    plan: Plan,
    store: Store,
    pool: Pool,
    cluster: Strict,
    display: Display,
    stop: threading.Event,
) -> list[Outcome]:
    """Compute every cell, each seen by Prefect as a task of the study's flow where Prefect is used."""
    ended: dict[str, Outcome] = {}

    def one_cell(cell: Cell) -> Outcome:
        if stop.is_set():
            raise Interrupted
        outcome = ended[cell.name] = without(cell) or computed(cell)
        display.cell_done(cell)
        return outcome

    def without(cell: Cell) -> Outcome | None:
        """The outcome of a cell that lacks what it needs."""
        lacking = [ended[before.name] for before in prerequisites(cell) if before.name in ended]
        failures = [failed for outcome in lacking if not outcome.complete for failed in outcome.failures]
        return Outcome(cell, failures=failures) if failures else None

    def computed(cell: Cell) -> Outcome:
        outcome = run_cell(cell, store, pool, stop=stop, progress=partial(display.advance, cell))
        for note in outcome.notes:
            display.say(f"made again: {note}")
        _keep_receipts(store, outcome)
        return outcome

    def tell_of_nobody() -> None:
        if not pool.staffed:
            display.say("note: no worker is there; the blocks wait for one")

    pool.prepare(cell.fanout for cell in plan.cells)
    with display.start(plan, workers=lambda: pool.workers), periodic(tell_of_nobody, _UNSTAFFED_SECONDS, name="staff"):
        if uses_prefect(cluster):
            from ..orchestration.run import run_cells

            return run_cells(study, plan, store, one_cell, threads=pool.cells, stop=stop, say=display.say)
        for wave in waves(plan.cells):
            in_threads(wave, one_cell, threads=pool.cells)
        return [ended[cell.name] for cell in plan.cells]


def in_threads(cells: Sequence[Cell], one_cell: OneCell, *, threads: int) -> list[Outcome]:
    """Compute all cells, a few at a time."""
    if threads == 1:
        return [one_cell(cell) for cell in cells]
    with ThreadPoolExecutor(threads, thread_name_prefix="cell") as executor:
        return list(executor.map(one_cell, cells))


def uses_prefect(cluster: Strict) -> bool:
    """Whether Prefect follows the run: with a Dask cluster always, with the plain loop where a server is configured.

    Starting Prefect's own temporary server takes longer than most studies that a plain loop suits.
    """
    from ..orchestration.environment import server_configured

    return cluster.model_dump().get("kind") != "serial" or server_configured()


def _keep_receipts(store: Store, outcome: Outcome) -> None:
    """Write what a cell's blocks took, and forget it."""
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
