"""Prefect's view of a study: a flow run, and a task run for every cell.

Blocks are plain Dask futures and a worker never talks to Prefect: the cells run as Prefect tasks on threads of this
process, which submit their blocks and wait for them. Import this module only after
`sigstats.flows.orchestration.environment`.
"""

import contextvars
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from sigstats.tasks.engine.execute import Interrupted, Outcome
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.replicates import waves
from sigstats.tasks.storage.store import Store

from ..config.model import Strict
from ..config.study import Study
from ..running.cells import CellRunner, ComputeCell, run_rest
from ..running.cells import run_cells as run_cells_alone
from ..running.interrupt import leave_the_rest
from .environment import server_configured, set_up
from .orphan_guard import start_guard

#: Seconds that Prefect has to end its flow once all cells have ended.
_PATIENCE = 60.0


class CellFailed(Exception):
    """A cell that is not complete, with the traceback of its first failed block."""


def runner_for(cluster: Strict) -> CellRunner:
    """What computes the cells on a cluster: tasks of Prefect on Dask always, and on the plain loop if it has a server.

    Starting Prefect's own temporary server takes longer than most studies that a plain loop suits.
    """
    return run_cells if cluster.model_dump().get("kind") != "serial" or server_configured() else run_cells_alone


def run_cells(
    study: Study,
    plan: Plan,
    store: Store,
    compute: ComputeCell,
    *,
    threads: int,
    stop: threading.Event,
    say: Callable[[str], None],
) -> list[Outcome]:
    """Compute all cells as tasks of one flow run; without Prefect, once it no longer answers.

    Raises
    ------
    Interrupted
        If `stop` was set; the flow run is then cancelled.
    """
    set_up(store.root)
    flow = _CellFlow(study, plan, store.root, compute, threads=threads, stop=stop)
    if not server_configured():
        start_guard()  # of the temporary server that the flow is about to start
    lost = _followed(flow.run, over=lambda: len(flow.outcomes) + len(flow.errors) >= len(plan.cells))
    if lost is not None:
        # Prefect's record is written to the output too, and a server that cannot write says no more than "error 500".
        store.files.write(".room", bytes(1 << 16))
        store.files.remove(".room")
        reason = " ".join(str(lost).split())[:200] or "no reason given"
        say(f"note: Prefect no longer follows the run, which goes on without it ({type(lost).__name__}: {reason})")
    if stop.is_set():
        raise Interrupted
    if flow.errors:
        raise flow.errors[0]
    return run_rest(plan, compute, flow.outcomes, threads=threads)


class _CellFlow:
    """A flow run of which each cell is a task.

    Attributes
    ----------
    outcomes : dict of str to Outcome
        How the cells ended so far, by name.
    errors : list of Exception
        What went wrong with the run itself, not with a block.
    """

    def __init__(
        self, study: Study, plan: Plan, output: str, compute: ComputeCell, *, threads: int, stop: threading.Event
    ) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self.errors: list[Exception] = []
        self._study = study
        self._plan = plan
        self._output = output
        self._compute = compute
        self._threads = threads
        self._stop = stop

    def run(self) -> None:
        """Run the flow to its end."""
        import prefect
        from prefect.cache_policies import NO_CACHE
        from prefect.futures import wait
        from prefect.task_runners import ThreadPoolTaskRunner

        @prefect.task(name="cell", task_run_name="{name}", cache_policy=NO_CACHE, persist_result=False)
        def cell_task(name: str, cell: Cell) -> Any:
            return self._run_cell(name, cell)

        runner: Any = ThreadPoolTaskRunner(max_workers=self._threads)

        @prefect.flow(
            name=f"sigstats-{self._study.kind}",
            flow_run_name=self._study.name.replace("{", "(").replace("}", ")"),
            task_runner=runner,
            validate_parameters=False,
            persist_result=False,
        )
        def study_flow(study: dict[str, Any], output: str) -> Any:  # noqa: ARG001 (Prefect shows a run's parameters)
            for wave in waves(self._plan.cells):
                wait([cell_task.submit(cell.name, cell) for cell in wave])
            return self._state()

        study_flow(self._study.model_dump(mode="json"), self._output, return_state=True)

    def _run_cell(self, name: str, cell: Cell) -> Any:
        """Compute a cell; its end is the state of its task."""
        from prefect.logging import get_run_logger
        from prefect.states import Cancelled, Completed

        logger = get_run_logger()
        try:
            outcome = self._compute(cell)
        except Interrupted:
            return Cancelled(message="the run was asked to stop")
        except Exception as error:
            self.errors.append(error)
            raise
        self.outcomes[cell.name] = outcome
        computed = outcome.stored - outcome.found
        counts = f"{outcome.found} replicates found, {computed} computed in {outcome.blocks} blocks"
        logger.info("%s: %s, %.2f s of work", name, counts, outcome.seconds)
        if not outcome.complete:
            first = outcome.failures[0]
            logger.error("block %d-%d failed\n%s", first.first, first.last, first.traceback)
            raise CellFailed(f"block {first.first}-{first.last}: {first.error}: {first.message}")
        return Completed(message=f"{outcome.wanted} replicates")

    def _state(self) -> Any:
        """The end of the flow, of which an artifact lists the cells that failed."""
        from prefect.artifacts import create_markdown_artifact
        from prefect.states import Cancelled, Completed, Failed

        plan = self._plan
        failed = [cell for cell in plan.cells if cell.name in self.outcomes and not self.outcomes[cell.name].complete]
        if self._stop.is_set():
            return Cancelled(message="the run was asked to stop")
        text = _markdown(plan, failed, self._output)
        create_markdown_artifact(text, key="study", description=f"{plan.study}: its cells")
        if failed or self.errors:
            return Failed(message=f"{len(failed) + len(self.errors)} of {len(plan.cells)} cells failed")
        return Completed(message=f"{len(plan.cells)} cells")


def _followed(flow: Callable[[], object], *, over: Callable[[], bool]) -> Exception | None:
    """Run the flow in a thread of its own; return the error that ended it early, or None.

    Prefect's client repeats each request for a minute, and its events for longer: once all cells are `over`, this waits
    `_PATIENCE` seconds for it and no longer.
    """
    failed: list[Exception] = []

    def follow() -> None:
        try:
            flow()
        except Exception as error:  # handed to the caller
            failed.append(error)

    # The flow of a deployment stays its parent.
    here = contextvars.copy_context()
    thread = threading.Thread(target=here.run, args=(follow,), name="prefect", daemon=True)
    thread.start()
    since = math.inf
    while thread.is_alive():
        thread.join(0.1)
        since = min(since, time.monotonic()) if over() else math.inf
        if time.monotonic() - since > _PATIENCE:
            leave_the_rest()
            return TimeoutError(f"its server did not answer for {_PATIENCE:.0f} s")
    if failed:
        leave_the_rest()
    return failed[0] if failed else None


def _markdown(plan: Plan, failed: Sequence[Cell], output: str) -> str:
    lines = [
        f"# {plan.study}",
        "",
        f"{len(plan.cells)} cells, {plan.replicates:,} replicates, {len(failed)} failed. Results: `{output}`.",
        "",
    ]
    lines += [f"- failed: `{cell.name}`" for cell in failed]
    return "\n".join(lines)
