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

from ..config.study import Study
from ..running.interrupt import leave_the_rest
from ..running.study import OneCell, in_threads
from .environment import server_configured, set_up
from .orphan_guard import start_guard

#: Seconds that Prefect has to end its flow once all cells have ended.
_PATIENCE = 60.0


class CellFailed(Exception):
    """A cell that is not complete, with the traceback of its first failed block."""


def run_cells(
    study: Study,
    plan: Plan,
    store: Store,
    one_cell: OneCell,
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
    import prefect
    from prefect.artifacts import create_markdown_artifact
    from prefect.cache_policies import NO_CACHE
    from prefect.futures import wait
    from prefect.logging import get_run_logger
    from prefect.states import Cancelled, Completed, Failed
    from prefect.task_runners import ThreadPoolTaskRunner

    outcomes: dict[str, Outcome] = {}
    errors: list[Exception] = []

    @prefect.task(name="cell", task_run_name="{name}", cache_policy=NO_CACHE, persist_result=False)
    def cell_task(name: str, cell: Cell) -> Any:
        logger = get_run_logger()
        try:
            outcome = one_cell(cell)
        except Interrupted:
            return Cancelled(message="the run was asked to stop")
        except Exception as error:  # of the run, not of a block: told below
            errors.append(error)
            raise
        outcomes[cell.name] = outcome
        logger.info(
            "%s: %d replicates found, %d computed in %d blocks, %.2f s of work",
            name,
            outcome.found,
            outcome.stored - outcome.found,
            outcome.blocks,
            outcome.seconds,
        )
        if not outcome.complete:
            first = outcome.failures[0]
            logger.error("block %d-%d failed\n%s", first.first, first.last, first.traceback)
            raise CellFailed(f"block {first.first}-{first.last}: {first.error}: {first.message}")
        return Completed(message=f"{outcome.wanted} replicates")

    runner: Any = ThreadPoolTaskRunner(max_workers=threads)

    @prefect.flow(
        name=f"sigstats-{study.kind}",
        flow_run_name=study.name.replace("{", "(").replace("}", ")"),
        task_runner=runner,
        validate_parameters=False,
        persist_result=False,
    )
    def study_flow(study: dict[str, Any], output: str) -> Any:  # noqa: ARG001 (Prefect shows the parameters of a run)
        for wave in waves(plan.cells):
            wait([cell_task.submit(cell.name, cell) for cell in wave])
        failed = [cell for cell in plan.cells if cell.name in outcomes and not outcomes[cell.name].complete]
        if stop.is_set():
            return Cancelled(message="the run was asked to stop")
        create_markdown_artifact(_markdown(plan, failed, output), key="study", description=f"{plan.study}: its cells")
        if failed or errors:
            return Failed(message=f"{len(failed) + len(errors)} of {len(plan.cells)} cells failed")
        return Completed(message=f"{len(plan.cells)} cells")

    if not server_configured():
        start_guard()  # of the temporary server that the flow is about to start
    lost = _followed(
        lambda: study_flow(study.model_dump(mode="json"), store.root, return_state=True),
        over=lambda: len(outcomes) + len(errors) >= len(plan.cells),
    )
    if lost is not None:
        # Prefect's record is kept in the output too, and a server that cannot write says no more than "error 500".
        store.files.write(".room", bytes(1 << 16))
        store.files.remove(".room")
        reason = " ".join(str(lost).split())[:200] or "no reason given"
        say(f"note: Prefect no longer follows the run, which goes on without it ({type(lost).__name__}: {reason})")
    if stop.is_set():
        raise Interrupted
    if errors:
        raise errors[0]
    for wave in waves(plan.cells):
        left = [cell for cell in wave if cell.name not in outcomes]
        for outcome in in_threads(left, one_cell, threads=threads):
            outcomes[outcome.cell.name] = outcome
    return [outcomes[cell.name] for cell in plan.cells]


def _followed(flow: Callable[[], object], *, over: Callable[[], bool]) -> Exception | None:
    """Run the flow in a thread of its own; return what kept Prefect from following, None where it did to the end.

    Its client tries each request for a minute, and its events for longer: once all is `over`, that is not waited for.
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
