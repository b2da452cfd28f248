"""Artifacts of a run on a Prefect server: task runs of cells, tables, Markdown and links, and the state's message.

A task run does not wait for the server, since Prefect sends states and logs from separate threads, unless one of the
tags has a concurrency limit.
"""

import re
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from prefect import task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger
from prefect.states import Cancelled, Completed

from sigstats._common.messages import markdown_code, one_line, printable
from sigstats.tasks.engine.execute import Interrupted, Outcome
from sigstats.tasks.plan import Cell

from ..running.options import ComputeCell
from ..running.result import StudyResult

#: The maximum length of a message, which is shown in a line of a list of runs, in notifications and in chats.
MOST_CHARACTERS = 300
#: The maximum length of the key of an asset.
MOST_OF_A_KEY = 512


def leave_artifacts(result: StudyResult, *, study: str, output: str, pages: str | None) -> None:
    """Publish the artifacts of a result.

    `study`: the name of the study, with which the keys of the artifacts begin.
    `output`: the folder or the URL of the results.
    `pages`: the address at which the output is served, for links to the pages. If it is None, the host and path of a
    page on this machine are shown instead, since a browser elsewhere cannot open it.
    """
    for name, rows in result.artifacts.tables.items():
        shown = [
            {printable(key): printable(value) if isinstance(value, str) else value for key, value in row.items()}
            for row in rows
        ]
        create_table_artifact(shown, key=key_of(study, name), description=result.title)
    for name, text in result.artifacts.markdown.items():
        create_markdown_artifact(text, key=key_of(study, name), description=result.title)
    for name, place in result.artifacts.links.items():
        key, about = key_of(study, name), printable(f"{study}: {name}")
        link = link_to(place, output=output, pages=pages)
        if link is None:
            create_markdown_artifact(_whereabouts(name, place), key=key, description=about)
        else:
            create_link_artifact(link, link_text=name, key=key, description=about)


def link_to(place: str, *, output: str, pages: str | None) -> str | None:
    """Return the address at which any browser can open a page, or None if there is none."""
    base = output.rstrip("/")
    if pages is not None and place.startswith(f"{base}/"):
        return f"{pages.rstrip('/')}{place.removeprefix(base)}"
    return place if place.startswith(("http://", "https://")) else None


def _whereabouts(name: str, place: str) -> str:
    where = place if "://" in place else f"{socket.gethostname()}:{place}"
    return (
        f"The {name} is at {markdown_code(printable(where))}. If the output is served at a URL, "
        "`sigstats deploy --pages URL` makes it a link."
    )


def message_of(title: str, reasons: Sequence[str]) -> str:
    """Return a title and as many of the first reasons as fit into a message, with the number of omitted reasons."""
    lines = [printable(" ".join(reason.split())) for reason in reasons]
    for kept in range(len(lines), 0, -1):
        rest = [f"and {len(lines) - kept:,} more"] if kept < len(lines) else []
        message = f"{title}: {'; '.join([*lines[:kept], *rest])}"
        if len(message) <= MOST_CHARACTERS:
            return message
    whole = f"{title}: {lines[0]}" if lines else title
    end = f"…; and {len(lines) - 1:,} more" if len(lines) > 1 else "…"
    return whole if len(whole) <= MOST_CHARACTERS else whole[: MOST_CHARACTERS - len(end)] + end


def key_of(study: str, name: str) -> str:
    """Return the key of an artifact, which consists of lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", f"{study}-{name}".lower()).strip("-")


def asset_key(place: str) -> str:
    """Return the key of the asset at a path or URL: a URL without the spaces and characters that Prefect refuses.

    >>> asset_key("/data/my out/summary.parquet"), asset_key("s3://bucket/out/history")
    ('file:///data/my_out/summary.parquet', 's3://bucket/out/history')
    """
    url = place if "://" in place else f"file://{Path(place).absolute().as_posix()}"
    return re.sub(r"[^\w./:@+=,;~-]", "_", url)[:MOST_OF_A_KEY]


class CellFailed(Exception):
    """A cell is not complete. The log of its task run has the traceback of the first failed block."""


def in_task_runs(say: Callable[[str], None]) -> Callable[[ComputeCell], ComputeCell]:
    """Return the `around` of `RunOptions` that computes each cell in a task run of the enclosing flow run.

    Prefect's tags, retries and limits apply to the cells. If a task run fails on Prefect's side, for example because
    the server is gone, the cell is computed without a task run, and `say` is called with a line.
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
            return _final_state(outcome)

        def computed(cell: Cell) -> Outcome:
            cells[cell.name] = cell
            try:
                cell_task(cell.name, return_state=True)
            except Exception as error:
                if cell.name not in ends:
                    say(f"note: {cell.name} continues without a record in Prefect ({one_line(error)[:200]})")
            end = ends.pop(cell.name, None)
            del cells[cell.name]
            if isinstance(end, BaseException):
                raise end
            return compute(cell) if end is None else end

        return computed

    return around


def _final_state(outcome: Outcome) -> Any:
    """Return the final state of a cell's task run with a message on the work; raise CellFailed if it is incomplete."""
    if outcome.complete:
        computed = f"{outcome.stored - outcome.taken_up} computed in {outcome.blocks} blocks"
        return Completed(message=f"{outcome.taken_up} replicates found, {computed}, {outcome.seconds:.2f} s of work")
    first = outcome.failures[0]
    get_run_logger().error("block %d-%d failed\n%s", first.first, first.last, first.traceback)
    raise CellFailed(message_of(f"block {first.first}-{first.last}", [f"{first.error}: {first.message}"]))
