"""Prefect's view of a study: a flow run, and a task run for every cell.

Blocks are computed by the pool's workers and cells by threads of this process. Neither waits for Prefect, which follows
them in a thread of its own: each of its tasks ends as its cell does. Import this module only after
`sigstats.flows.orchestration.environment`.
"""

import contextvars
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sigstats.tasks.engine.execute import Interrupted
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.replicates import waves

from ..escaping import markdown_code
from ..running.cells import CellRun
from ..running.interrupt import leave_the_rest
from ..running.result import worst_first
from .environment import server_configured, set_up
from .orphan_guard import start_guard

#: Prefect's temporary server, which takes as many seconds to start, is started for a run that has taken this many
#: seconds and is expected to take as many more.
_WORTH_A_SERVER = 30.0

#: Seconds after the last cell for which Prefect's server may be silent: a configured one, and one that is starting.
_PATIENCE, _PATIENCE_AT_START = 15.0, 60.0


class CellFailed(Exception):
    """A cell that is not complete, with the traceback of its first failed block."""


@contextmanager
def follow(run: CellRun) -> Iterator[None]:
    """Follow a run of cells as a flow run, for as long as the context lasts.

    A configured server records every run. Without one, a temporary server records runs on a cluster that the person
    named, and those that take longer than some seconds.
    """
    configured = server_configured()
    serial = run.cluster is not None and run.cluster.model_dump().get("kind") == "serial"
    if not configured and (serial or not run.left):
        yield
        return
    flow = _CellFlow(run)
    patient = not configured and run.cluster is None
    # The flow of a deployment stays its parent.
    here = contextvars.copy_context()
    thread = threading.Thread(target=here.run, args=(flow.follow, patient), name="prefect", daemon=True)
    thread.start()
    try:
        yield
    finally:
        _wait_for(thread, flow, _PATIENCE if configured else _PATIENCE_AT_START)


def _proves_long(run: CellRun) -> bool:
    """Wait until the run has taken `_WORTH_A_SERVER` seconds and will take as many more; False if it ends first."""
    if run.over.wait(_WORTH_A_SERVER):
        return False
    while run.seconds_left() < _WORTH_A_SERVER:
        if run.over.wait(1.0):
            return False
    return True


def _wait_for(thread: threading.Thread, flow: "_CellFlow", patience: float) -> None:
    """Wait until Prefect has recorded all cells, or until it has recorded nothing for `patience` seconds.

    Prefect's client repeats each request for a minute, and its events for longer.
    """
    seen, since = flow.recorded, time.monotonic()
    while thread.is_alive():
        thread.join(0.1)
        if flow.recorded != seen:
            seen, since = flow.recorded, time.monotonic()
        elif time.monotonic() - since > patience:
            flow.lose(TimeoutError(f"its server did not answer for {patience:.0f} s"))
            return


class _CellFlow:
    """A flow run of which each task is a cell.

    Attributes
    ----------
    recorded : int
        The number of steps that Prefect has recorded.
    """

    def __init__(self, run: CellRun) -> None:
        self.recorded = 0
        self._run = run
        self._lost = False

    def follow(self, patient: bool) -> None:
        """Run the flow to its end; if `patient`, only once the run has proved long."""
        run = self._run
        if patient and not _proves_long(run):
            return
        try:
            set_up(run.output)
            if not server_configured():
                start_guard()  # of the temporary server that the flow is about to start
            self._follow()
        except Exception as error:
            self.lose(error)

    def lose(self, error: Exception) -> None:
        """Report, once, that Prefect no longer follows the run."""
        leave_the_rest()
        if self._lost or self._run.stop.is_set():
            return
        self._lost = True
        self._run.changes.prefect_lost += 1
        reason = " ".join(str(error).split())[:200] or "no reason given"
        self._run.say(
            f"note: Prefect no longer follows the run, which goes on without it ({type(error).__name__}: {reason})"
        )

    def _follow(self) -> None:
        import prefect
        from prefect.cache_policies import NO_CACHE
        from prefect.futures import wait
        from prefect.task_runners import ThreadPoolTaskRunner

        from .cancelling import cancel_stops

        run = self._run

        @prefect.task(name="cell", task_run_name="{name}", cache_policy=NO_CACHE, persist_result=False)
        def cell_task(name: str) -> Any:
            return self._state_of_cell(name)

        runner: Any = ThreadPoolTaskRunner(max_workers=run.threads)

        @prefect.flow(
            name=f"sigstats-{run.study.kind}",
            flow_run_name=run.study.name.replace("{", "(").replace("}", ")"),
            task_runner=runner,
            validate_parameters=False,
            persist_result=False,
        )
        def study_flow(study: dict[str, Any], output: str) -> Any:  # noqa: ARG001 (Prefect shows a run's parameters)
            with cancel_stops(run.stop):
                for wave in waves(run.plan.cells):
                    wait([cell_task.submit(cell.name) for cell in wave])
            return self._state()

        study_flow(run.study.model_dump(mode="json"), run.output, return_state=True)

    def _state_of_cell(self, name: str) -> Any:
        """The final state of a cell, once it has ended."""
        from prefect.logging import get_run_logger
        from prefect.states import Cancelled, Completed

        from .artifacts import message_of

        self.recorded += 1
        logger = get_run_logger()
        try:
            outcome = self._run.ends[name].result()
        except Interrupted:
            return Cancelled(message="the run was asked to stop")
        finally:
            self.recorded += 1
        computed = outcome.stored - outcome.found
        counts = f"{outcome.found} replicates found, {computed} computed in {outcome.blocks} blocks"
        logger.info("%s: %s, %.2f s of work", name, counts, outcome.seconds)
        if not outcome.complete:
            first = outcome.failures[0]
            logger.error("block %d-%d failed\n%s", first.first, first.last, first.traceback)
            raise CellFailed(message_of(f"block {first.first}-{first.last}", [f"{first.error}: {first.message}"]))
        return Completed(message=f"{outcome.wanted} replicates")

    def _state(self) -> Any:
        """The final state of the flow; an artifact lists the cells that failed."""
        from prefect.artifacts import create_markdown_artifact
        from prefect.states import Cancelled, Completed, Failed

        run = self._run
        plan = run.plan
        if run.stop.is_set():
            return Cancelled(message="the run was asked to stop")
        failed = [cell for cell in plan.cells if self._failed(cell)]
        text = _markdown(plan, failed, run.output)
        create_markdown_artifact(text, key="study", description=f"{plan.study}: its cells")
        if failed:
            return Failed(message=f"{len(failed)} of {len(plan.cells)} cells failed")
        return Completed(message=f"{len(plan.cells)} cells")

    def _failed(self, cell: Cell) -> bool:
        end = self._run.ends[cell.name]
        return end.exception() is not None or not end.result().complete


def _markdown(plan: Plan, failed: Sequence[Cell], output: str) -> str:
    counts = f"{len(plan.cells)} cells, {plan.replicates:,} replicates"
    lines = [
        f"# {plan.study}",
        "",
        f"{counts}, {len(failed)} failed. Results: {markdown_code(output)}.",
        "",
    ]
    lines += [f"- {line}" for line in worst_first([f"failed: {markdown_code(cell.name)}" for cell in failed])]
    return "\n".join(lines)
