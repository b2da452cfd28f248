"""What a study and the server of its flow run tell each other meanwhile: its progress, and that it is cancelled.

Prefect itself stops only the runs of its runners and workers.
"""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

import psutil
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import ArtifactCreate, ArtifactUpdate
from prefect.context import FlowRunContext
from prefect.logging import get_run_logger
from prefect.states import Cancelled

from sigstats._common.messages import one_line, printable
from sigstats.tasks.threads import periodic

from ..running.progress import Display
from .artifacts import key_of
from .server import SIGN, impatient, this_process

#: Seconds between two requests, and those that the server has to answer one.
_EVERY, _PATIENCE = 2.0, 5.0


#: As many times in a row the server may fail to answer.
_FAILURES = 3


class Loss:
    """Tells once, with `say`, that Prefect's server is gone."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say: Callable[[str], None] | None = say

    def tell(self, reason: str) -> None:
        """Tell it, with the reason."""
        say, self._say = self._say, None
        if say is not None:
            say(f"note: Prefect does not follow the run, which goes on without it ({reason[:200]})")


@contextmanager
def watched(display: Display, stop: threading.Event, loss: Loss) -> Iterator[None]:
    """Log what `display` says in the flow run around this context, show the progress there, and obey its server.

    `stop` is set within seconds after the flow run was cancelled; the run is Cancelled from then on, however its
    process ends. A server that ceases to answer is told of by `loss`, and asked again and again.
    """
    context = FlowRunContext.get()
    assert context is not None
    assert context.flow_run is not None
    logger = get_run_logger()
    watch = _Watch(display, stop, loss, context.flow_run.id)
    before, display.log = display.log, lambda text: logger.info("%s", printable(text.strip()))
    try:
        with impatient(_PATIENCE) as asked:
            with periodic(lambda: asked(watch.look), _EVERY, name="flow run"):
                yield
            if not watch.failures:
                asked(watch.look)
    finally:
        display.log = before


class _Watch:
    def __init__(self, display: Display, stop: threading.Event, loss: Loss, flow_run: UUID) -> None:
        self._display = display
        self._stop = stop
        self._loss = loss
        self._flow_run = flow_run
        self._shown = -1.0
        self._artifact: UUID | None = None
        self._signed = time.monotonic()
        self.failures = 0

    def look(self, client: SyncPrefectClient) -> None:
        """Ask the server once, and tell it of the progress."""
        if self._stop.is_set():
            return
        try:
            self._obey(client)
            self._show(client)
            self.failures = 0
        except Exception as error:
            self.failures += 1
            if self.failures == _FAILURES:
                self._loss.tell(one_line(error) or type(error).__name__)

    def _obey(self, client: SyncPrefectClient) -> None:
        run = client.read_flow_run(self._flow_run)
        # Workers of a pool set it; the runner ends a run whose process is gone, or that gives no sign of life.
        place = run.infrastructure_pid
        host, _, number = (place or "").rpartition(":")
        if host == socket.gethostname() and number.isdecimal() and not psutil.pid_exists(int(number)):
            place = None  # of an earlier attempt
        if place is None or time.monotonic() - self._signed > SIGN:
            self._signed = time.monotonic()
            client.update_flow_run(self._flow_run, infrastructure_pid=place or this_process())
        state = run.state
        if state is not None and (state.is_cancelling() or state.is_cancelled()):
            self._stop.set()
            if state.is_cancelling():
                client.set_flow_run_state(self._flow_run, Cancelled(message="the run was asked to stop"))

    def _show(self, client: SyncPrefectClient) -> None:
        done = self._display.fraction
        if done is None or done == self._shown:
            return
        self._shown, percent = done, 100.0 * done
        if self._artifact is not None:
            client.update_artifact(self._artifact, ArtifactUpdate(data=percent))
            return
        study = self._display.study
        made = ArtifactCreate(
            key=key_of(study, "progress"),
            type="progress",
            description=printable(f"{study}: replicates"),
            data=percent,
            flow_run_id=self._flow_run,
        )
        self._artifact = client.create_artifact(made).id
