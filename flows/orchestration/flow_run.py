"""Studies as Prefect flow runs: cells as task runs, artifacts and assets."""

import contextlib
import contextvars
import datetime as dt
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import prefect
import prefect.runtime
from prefect.assets import Asset, AssetProperties, materialize
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.events import Event, RelatedResource, Resource
from prefect.logging import get_run_logger
from prefect.logging.handlers import APILogHandler
from prefect.states import Cancelled, Completed

from sigstats._common.messages import printable
from sigstats._common.validation import one_line
from sigstats.tasks.engine.execute import Interrupted

from ..config.model import Study
from ..running.interrupt import leave_the_rest
from ..running.kind import kind_of
from ..running.options import RunOptions
from ..running.result import StudyResult, first_lines
from .artifacts import asset_key, in_task_runs, key_of, leave_artifacts, message_of
from .server import ServerLoss, followed_by_server, recorded_holder, why_unusable

R = TypeVar("R", bound=StudyResult)

FLOW = "sigstats"
#: Seconds between checks of the server while Prefect begins or ends its flow, and the maximum seconds for that.
_QUIET, _PATIENCE = 5.0, 60.0
#: The ids of the flow runs with an attempt that failed in this process.
_failed: set[str] = set()


def run_here(
    study: Study,
    options: RunOptions,
    run: Callable[[RunOptions], R],
    *,
    pages: str | None = None,
    loss: ServerLoss | None = None,
) -> "State[R] | R":
    """Run a study in the enclosing flow run. The cells are task runs.

    Returns the final state of the flow run, or the result if an earlier attempt has failed: with a state, Prefect would
    raise the error of that attempt. Raises StudyFailed in each attempt with an exit code other than 0.
    """
    if not kind_of(study).has_cells:  # a study with cells logs this itself
        get_run_logger().info("%s", printable(f"{study.name}: {study.question}"))
    try:
        with followed_by_server(options.display, options.stop, loss or ServerLoss(options.display.say)):
            around, holding = in_task_runs(options.display.say), partial(recorded_holder, prefect.runtime.flow_run.id)
            result = run(replace(options, around=around, holding=holding))
        state = publish(result, study=study.name, output=options.output, pages=pages)
        return result if prefect.runtime.flow_run.id in _failed else state
    except Interrupted:
        return Cancelled(message="the run was asked to stop")
    except Exception:
        _failed.add(prefect.runtime.flow_run.id)
        raise
    finally:
        with contextlib.suppress(Exception):  # waiting log lines would be lost if the process ends
            APILogHandler().flush()


def run_as_flow(study: Study, options: RunOptions, run: Callable[[RunOptions], R]) -> R:
    """Call `run` in a flow run on the configured server; return its result or raise its error.

    If the server does not answer, the display shows a note, and the study runs without the server.
    """
    loss = ServerLoss(options.display.say)
    results: list[R] = []
    raised: list[Exception] = []
    begun, ended = threading.Lock(), threading.Event()

    def compute(options: RunOptions) -> R:
        if not begun.acquire(blocking=False):
            raise TimeoutError("the study began without Prefect")
        try:
            results.append(run(options))
        except Exception as error:
            raised.append(error)
            raise
        finally:
            ended.set()
        return results[0]

    name = study.name.replace("{", "(").replace("}", ")")  # Prefect would fill in braces

    @prefect.flow(name=FLOW, flow_run_name=name, persist_result=False, validate_parameters=False)
    def study_flow(study: Study, output: str) -> "State[R] | R":  # noqa: ARG001 (Prefect shows a run's parameters)
        return run_here(study, options, compute, loss=loss)

    lost = why_unusable() or _lost(lambda: study_flow(study, options.output, return_state=True), begun, ended)
    if lost is not None:
        leave_the_rest()  # threads may still wait for the server
        if not options.stop.is_set():
            loss.report(lost)
        with contextlib.suppress(TimeoutError):  # the flow began the study after all
            compute(options)
        ended.wait()
    if raised:
        raise raised[0]
    return results[0]


def _lost(flow: Callable[[], object], begun: threading.Lock, ended: threading.Event) -> str | None:
    """Run a flow in a separate thread; return the reason if it was lost: its error, or a server that stopped answering.

    The separate thread is needed since Prefect's client repeats each request for minutes.
    """
    failed: list[str] = []

    def follow() -> None:
        try:
            flow()
        except Exception as error:  # returned to the caller
            failed.append(f"{type(error).__name__}: {one_line(error)[:200]}")

    thread = threading.Thread(target=contextvars.copy_context().run, args=(follow,), name="prefect", daemon=True)
    thread.start()
    lost = _held_up(lambda: not begun.locked() and thread.is_alive())
    if lost is None:
        while thread.is_alive() and not ended.wait(0.1):
            pass
        lost = _held_up(thread.is_alive)
    return lost or (failed[0] if failed else None)


def _held_up(waiting: Callable[[], bool]) -> str | None:
    """Wait while `waiting()` is true; return the reason if the server is stuck, or None."""
    since = checked = time.monotonic()
    while waiting():
        time.sleep(0.05)
        if time.monotonic() - since > _PATIENCE:
            return f"its server blocked it for {_PATIENCE:.0f} s"
        if time.monotonic() - checked > _QUIET:
            if (reason := why_unusable()) is not None:
                return reason
            checked = time.monotonic()
    return None


class StudyFailed(Exception):
    """A study has the verdict fail, or failed cells. The message contains the reasons, beginning with the worst.

    Attributes
    ----------
    reasons : tuple of str
        All reasons, a line each.
    """

    def __init__(self, message: str, reasons: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.reasons = tuple(reasons)

    def __reduce__(self) -> tuple[type["StudyFailed"], tuple[str, tuple[str, ...]]]:
        return type(self), (str(self), self.reasons)


def _leave(result: StudyResult, study: str, output: str, pages: str | None) -> None:
    """Publish the artifacts, in a task run that materialises the study's assets if it has any."""
    assets = [
        Asset(key=asset_key(place), properties=AssetProperties(name=printable(f"{study}: {name}"), url=place))
        for name, place in result.artifacts.assets.items()
    ]
    if not assets:
        leave_artifacts(result, study=study, output=output, pages=pages)
        return

    @materialize(*assets, by="sigstats", name="results", cache_policy=NO_CACHE, persist_result=False)
    def results() -> None:
        for asset in assets:
            asset.add_metadata({"study": study, "result": result.title})
        leave_artifacts(result, study=study, output=output, pages=pages)

    results()


def publish(result: R, *, study: str, output: str, pages: str | None = None) -> "State[R]":
    """Publish the artifacts of a result in the flow run of its study; return the final state of the flow run.

    Prefect shows the state's message, and returns the result to callers of the flow.

    If the exit code is not 0, the event ``sigstats.study.failed`` is emitted or, once the server has received it,
    ``sigstats.study.still-failing``. The first run after the repair emits ``sigstats.study.repaired``.

    Raises StudyFailed if the exit code is not 0.
    """
    logger = get_run_logger()
    logger.info("%s", printable(f"{result.title}: {result.subject}"))
    _leave(result, study, output, pages)
    since = "" if result.since is None else f"{result.since:%Y-%m-%d %H:%M} UTC"
    again = "still failing" if result.code else "nothing new"
    message = message_of(f"{again} since {since}: {result.title}" if since else result.title, result.reasons)
    for line in first_lines(result.reasons) if result.code else ():
        logger.error("%s", printable(line))
    if result.event is not None:
        event = f"sigstats.study.{result.event}"
        if _send_event(event, study, {"message": message, "output": output, "since": since}):
            result.keep_delivered()
        else:
            logger.warning("the event %s was not delivered; the next run sends it again", event)
    if result.code:
        raise StudyFailed(message, result.reasons)
    return Completed(message=message, data=result)


def _send_event(event: str, study: str, payload: dict[str, str]) -> bool:
    """Send an event of this flow run; return whether the server received it, which Prefect's own sender does not."""
    about = {"prefect.resource.id": f"sigstats.study.{key_of(study, 'study')}", "prefect.resource.name": study}
    known = {"flow-run": prefect.runtime.flow_run.id, "deployment": prefect.runtime.deployment.id}
    related = [
        {"prefect.resource.id": f"prefect.{role}.{name}", "prefect.resource.role": role}
        for role, name in known.items()
        if name
    ]
    sent = Event(
        occurred=dt.datetime.now(dt.UTC),
        event=event,
        resource=Resource.model_validate(about),
        related=[RelatedResource.model_validate(one) for one in related],
        payload=payload,
    )
    try:
        with prefect.get_client(sync_client=True) as client:
            client.request("POST", "/events", json=[sent.model_dump(mode="json")]).raise_for_status()
    except Exception:  # whatever the reason, the next run sends the event again
        return False
    return True
