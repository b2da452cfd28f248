"""A study as one flow run of Prefect, with its artifacts.

Import this module only after `sigstats.flows.orchestration.environment`.
"""

import contextlib
import contextvars
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import prefect
from prefect.client.schemas.objects import State
from prefect.events import emit_event
from prefect.logging import get_run_logger
from prefect.states import Completed

from sigstats._common.printable import printable
from sigstats._common.validation import one_line

from ..config.study import Study
from ..running.interrupt import leave_the_rest
from ..running.result import StudyResult, worst_first
from .artifacts import key_of, leave_artifacts, message_of
from .cancelling import cancel_stops
from .server import why_unusable

R = TypeVar("R", bound=StudyResult)

#: At most these seconds Prefect has to begin its flow, or to end it, before its server is asked whether it answers.
_QUIET, _PATIENCE = 5.0, 60.0


def run_as_flow(
    study: Study, *, output: str, work: Callable[[], R], say: Callable[[str], None], stop: threading.Event
) -> R:
    """Return what `work` returns, computed in a flow run of the configured server; raise what it raises.

    If the flow run is cancelled, `stop` is set.

    If the server does not answer, `say` is called with a line, and the study runs without it.
    """
    results: list[R] = []
    raised: list[Exception] = []
    begun, ended = threading.Lock(), threading.Event()

    def compute() -> None:
        if not begun.acquire(blocking=False):
            raise TimeoutError("the study began without Prefect")
        try:
            results.append(work())
        except Exception as error:
            raised.append(error)
            raise
        finally:
            ended.set()

    @prefect.flow(
        name=f"sigstats-{study.kind}", flow_run_name=study.name, persist_result=False, validate_parameters=False
    )
    def study_flow(study: Study, output: str) -> "State[R]":
        with cancel_stops(stop):
            compute()
        return publish(results[0], study=study.name, output=output)

    lost = why_unusable() or _lost(lambda: study_flow(study, output, return_state=True), begun, ended)
    if lost is not None:
        leave_the_rest()  # of what waits for the server
        say(f"note: Prefect does not follow the run, which goes on without it ({lost})")
        with contextlib.suppress(TimeoutError):  # the flow began it after all
            compute()
        ended.wait()
    if raised:
        raise raised[0]
    return results[0]


def _lost(flow: Callable[[], object], begun: threading.Lock, ended: threading.Event) -> str | None:
    """Run a flow in a thread of its own; return why it was lost: its error, or a server that ceased to answer.

    Prefect's client repeats each request for minutes.
    """
    failed: list[str] = []

    def follow() -> None:
        try:
            flow()
        except Exception as error:  # told to the caller
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
    """Wait while `waiting` is true; return why the server does not go on, or None if it does."""
    since = asked = time.monotonic()
    while waiting():
        time.sleep(0.05)
        if time.monotonic() - since > _PATIENCE:
            return f"its server held it up for {_PATIENCE:.0f} s"
        if time.monotonic() - asked > _QUIET:
            if (reason := why_unusable()) is not None:
                return reason
            asked = time.monotonic()
    return None


class StudyFailed(Exception):
    """A study with a verdict of fail, or with cells that failed; the message has its reasons, the worst first.

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


def publish(result: R, *, study: str, output: str, pages: str | None = None) -> "State[R]":
    """Leave the artifacts of a result with the flow run of its study; return the state in which that ends.

    Prefect shows the state's message, and gives the result to callers of the flow.

    An exit code other than 0 emits the event ``sigstats.study.failed``; if an earlier run found the same in the same
    files, ``sigstats.study.still-failing``.

    Raises
    ------
    StudyFailed
        If the exit code is not 0, each time that it is not.
    """
    logger = get_run_logger()
    logger.info("%s", printable(f"{result.title}: {result.subject}"))
    leave_artifacts(result, study=study, output=output, pages=pages)
    since = "" if result.since is None else f"{result.since:%Y-%m-%d %H:%M} UTC"
    if not result.code:
        title = f"nothing new since {since}: {result.title}" if since else result.title
        return Completed(message=message_of(title, result.reasons), data=result)
    for line in worst_first(result.reasons):
        logger.error("%s", printable(line))
    title = f"still failing since {since}: {result.title}" if since else result.title
    message = message_of(title, result.reasons)
    emit_event(
        event=f"sigstats.study.{'still-failing' if since else 'failed'}",
        resource={"prefect.resource.id": f"sigstats.study.{key_of(study, 'study')}", "prefect.resource.name": study},
        payload={"message": message, "output": output, "since": since},
    )
    raise StudyFailed(message, result.reasons)
