"""The cells of a study as task runs of Prefect, in which they are computed.

A task run asks nothing of the server: Prefect sends its states and its log from threads of their own. A tag of it that
has a concurrency limit does ask.
"""

from collections.abc import Callable
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger
from prefect.states import Cancelled, Completed

from sigstats._common.messages import one_line
from sigstats.tasks.engine.execute import Interrupted, Outcome
from sigstats.tasks.plan import Cell

from ..running.options import ComputeCell
from .artifacts import message_of


class CellFailed(Exception):
    """A cell that is not complete; the log of its task run has the traceback of its first failed block."""


def in_task_runs(say: Callable[[str], None]) -> Callable[[ComputeCell], ComputeCell]:
    """The `around` of `RunOptions` that computes each cell in a task run of the flow run around the call.

    Tags, retries and limits of Prefect act on the cells. A cell whose task run fails on Prefect's side, as of a limit
    whose server is gone, is computed without it, and `say` is called with a line.
    """

    def around(compute: ComputeCell) -> ComputeCell:
        cells: dict[str, Cell] = {}
        ends: dict[str, Outcome | BaseException] = {}

        @task(name="cell", task_run_name="{name}", cache_policy=NO_CACHE, persist_result=False)
        def cell_task(name: str) -> Any:
            try:
                outcome = ends[name] = compute(cells[name])
            except Interrupted as stopped:
                ends[name] = stopped
                return Cancelled(message="the run was asked to stop")
            except BaseException as error:
                ends[name] = error
                raise
            return _recorded(outcome)

        def computed(cell: Cell) -> Outcome:
            cells[cell.name] = cell
            try:
                cell_task(cell.name, return_state=True)
            except Exception as error:
                if cell.name not in ends:
                    say(
                        f"note: Prefect does not record {cell.name}, which goes on without it ({one_line(error)[:200]})"
                    )
            end = ends.pop(cell.name, None)
            del cells[cell.name]
            if isinstance(end, BaseException):
                raise end
            return compute(cell) if end is None else end

        return computed

    return around


def _recorded(outcome: Outcome) -> Any:
    """The final state of a cell's task run, whose message says what was done."""
    if outcome.complete:
        computed = f"{outcome.stored - outcome.found} computed in {outcome.blocks} blocks"
        return Completed(message=f"{outcome.found} replicates found, {computed}, {outcome.seconds:.2f} s of work")
    first = outcome.failures[0]
    get_run_logger().error("block %d-%d failed\n%s", first.first, first.last, first.traceback)
    raise CellFailed(message_of(f"block {first.first}-{first.last}", [f"{first.error}: {first.message}"]))
