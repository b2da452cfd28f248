"""The Prefect server: a check that it answers, a connection during a study, and the active run of a deployment.

A study reports its progress to the server and checks whether it is cancelled, since Prefect itself only stops the runs
of its runners and workers.
"""

import datetime as dt
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import Any
from uuid import UUID

import httpx
import psutil
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import ArtifactCreate, ArtifactUpdate
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterId, FlowRunFilter
from prefect.client.schemas.objects import FlowRun, State
from prefect.client.schemas.sorting import FlowRunSort
from prefect.context import FlowRunContext
from prefect.logging import get_run_logger
from prefect.settings import PREFECT_CLIENT_MAX_RETRIES, temporary_settings
from prefect.states import Cancelled, Crashed, Running

from sigstats._common.messages import one_line, printable
from sigstats.tasks.process import periodic
from sigstats.tasks.storage.store import Store

from ..running.progress import Display
from .artifacts import key_of

#: Seconds between two requests of a run, and seconds within which the server must answer a request.
_CALL_EVERY, _ANSWER = 2.0, 5.0
_NOT_PAUSED = "a study cannot be paused; cancel it instead, and its next run continues from there"
#: Number of successive requests without an answer after which the server counts as lost.
_FAILURES = 3


class ServerLoss:
    """Reports once, by `say`, that Prefect's server is gone."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say: Callable[[str], None] | None = say

    def report(self, reason: str) -> None:
        """Report the loss and its reason."""
        say, self._say = self._say, None
        if say is not None:
            say(f"note: Prefect does not follow the run, which continues without it ({reason[:200]})")


@contextmanager
def followed_by_server(display: Display, stop: threading.Event, loss: ServerLoss) -> Iterator[None]:
    """Log the lines of `display` and show the progress in the enclosing flow run, and obey its server.

    `stop` is set within seconds after the flow run is cancelled. From then on the state of the flow run is Cancelled,
    even if its process is killed. If the server stops answering, `loss` is called, and requests continue.
    """
    context = FlowRunContext.get()
    assert context is not None
    assert context.flow_run is not None
    logger = get_run_logger()
    watch = _Watch(display, stop, loss, context.flow_run.id)
    before, display.log = display.log, lambda text: logger.info("%s", printable(text.strip()))
    try:
        with server_calls(_ANSWER) as call:
            with periodic(lambda: call(watch.look), _CALL_EVERY, name="flow run"):
                yield
            if not watch.failures:
                call(watch.look)
    finally:
        display.log = before


class _Watch:
    def __init__(self, display: Display, stop: threading.Event, loss: ServerLoss, flow_run: UUID) -> None:
        self._display = display
        self._stop = stop
        self._loss = loss
        self._flow_run = flow_run
        self._shown = -1.0
        self._artifact: UUID | None = None
        self._signed = time.monotonic()
        self._around: list[UUID] | None = None
        self.failures = 0

    def look(self, client: SyncPrefectClient) -> None:
        """Poll the server once, and send it the progress."""
        if self._stop.is_set():
            return
        try:
            self._obey(client)
            self._show(client)
            self.failures = 0
        except Exception as error:
            self.failures += 1
            if self.failures == _FAILURES:
                self._loss.report(one_line(error) or type(error).__name__)

    def _obey(self, client: SyncPrefectClient) -> None:
        run = client.read_flow_run(self._flow_run)
        # Workers of a pool set it. The runner ends a run if its process is gone or gives no sign of life.
        place = run.infrastructure_pid
        host, _, number = (place or "").rpartition(":")
        if host == socket.gethostname() and number.isdecimal() and not psutil.pid_exists(int(number)):
            place = None  # the process of an earlier attempt
        if place is None or time.monotonic() - self._signed > SIGN:
            self._signed = time.monotonic()
            client.update_flow_run(self._flow_run, infrastructure_pid=place or this_process())
        if self._around is None:
            self._around = list(_around(client, run))
        runs = (run, *map(client.read_flow_run, self._around))
        ends = [one for one in runs if one.state and (one.state.is_cancelling() or one.state.is_cancelled())]
        if ends:
            self._stop.set()
            for one in runs[: runs.index(ends[-1]) + 1]:
                if one is run or not one.deployment_id:  # Prefect ends the processes of its deployments
                    client.set_flow_run_state(one.id, Cancelled(message="the run was asked to stop"))
            return
        if run.state is not None and run.state.is_paused():
            client.set_flow_run_state(self._flow_run, Running(message=_NOT_PAUSED), force=True)
            self._display.say(f"note: {_NOT_PAUSED}")

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


def _around(client: SyncPrefectClient, run: FlowRun) -> Iterator[UUID]:
    """Yield the ids of the flow runs that enclose a flow run, from the inside outwards."""
    while run.parent_task_run_id is not None:
        outer = client.read_task_run(run.parent_task_run_id).flow_run_id
        assert outer is not None
        yield outer
        run = client.read_flow_run(outer)


#: The file in an output with the id of the flow run that works on it.
_HOLDER = "flow_run.json"


@contextmanager
def recorded_holder(flow_run: str, store: Store) -> Iterator[None]:
    """Record in a locked output which flow run works on it. An earlier flow run that was killed becomes Crashed."""
    with suppress(Exception):  # the server does not know the run, or does not answer
        before = store.read_json(_HOLDER)["flow_run"]
        with server_calls(_ANSWER) as call:
            state = call(lambda client: client.read_flow_run(before)).state
            if before != flow_run and state is not None and not state.is_final():
                crashed: State[None] = Crashed(message=f"its process is gone; run {flow_run} continues in its output")
                call(lambda client: client.set_flow_run_state(before, crashed, force=True))
    store.write_json(_HOLDER, {"flow_run": flow_run})
    try:
        yield
    finally:
        store.files.remove(_HOLDER)


#: Seconds within which a server must answer first. Prefect's own client would wait for six and a half minutes.
_FIRST_ANSWER = 10.0


@contextmanager
def server_calls(seconds: float) -> Iterator[Callable[[Callable[[SyncPrefectClient], Any]], Any]]:
    """Yield a function that calls functions with a client, which makes each request once and waits `seconds`.

    Changing a setting of Prefect and making a client takes 40 ms of processor time, and a request takes 1 ms.
    """
    with temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 0}):
        context = copy_context()
        client = get_client(sync_client=True, httpx_settings={"timeout": seconds})
    with client:
        yield lambda ask: context.copy().run(ask, client)


def why_unusable() -> str | None:
    """Return in a few words why the configured server cannot be used, or None if it answers a request."""
    reasons: list[str | None] = []

    def ask() -> None:
        try:
            with server_calls(_FIRST_ANSWER) as call:
                error = call(lambda client: client.api_healthcheck())
                if error is None:  # a server may report that it is up, but answer nothing else
                    call(lambda client: client.read_flows(limit=1))
        except Exception as problem:  # invalid settings, or a client that cannot start
            error = problem
        refused = error is not None and not isinstance(error, httpx.HTTPStatusError)
        reasons.append((str(error) or type(error).__name__) if refused else None)

    # Each arriving byte renews the time-out of the client, and name servers have separate time-outs.
    thread = threading.Thread(target=ask, name="prefect server", daemon=True)
    thread.start()
    thread.join(_FIRST_ANSWER)
    reason = reasons[0] if reasons else f"it did not answer for {_FIRST_ANSWER:.0f} s"
    return None if reason is None else " ".join(reason.split())


#: Seconds within which a process must start before its run counts as left behind.
_STARTING = 120.0
#: Seconds between two signs of life that a run sends to its server, and seconds without a sign after which a run on
#: another host counts as left behind.
SIGN, _LEFT_BEHIND = 60.0, 600.0


def this_process() -> str:
    """Return the host and the id of this process, which are recorded with its flow run on the server."""
    return f"{socket.gethostname()}:{psutil.Process().pid}"


class Slot:
    """Watches the runs of a deployment while it is served.

    `say`: called with a line for each run that is cancelled because another is active, or that was left behind.
    """

    def __init__(self, deployment: UUID, say: Callable[[str], None]) -> None:
        self._deployment = DeploymentFilter(id=DeploymentFilterId(any_=[deployment]))
        self._say = say
        self._since = dt.datetime.now(dt.UTC)
        self._told: set[UUID] = set()
        self._seen: dict[UUID, tuple[object, float]] = {}

    def look(self, client: SyncPrefectClient) -> None:
        """End the runs whose process is gone, and report the cancelled runs."""
        seen, self._seen = self._seen, {}  # a server that was away has no signs of life
        for run in self._in_states(client, "PENDING", "RUNNING", "CANCELLING"):
            if self._left_behind(run, seen):
                client.set_flow_run_state(run.id, Crashed(message="its process is gone"))
                self._say(f"note: the run {run.name} is ended, since its process is gone")
        for run in self._in_states(client, "CANCELLED"):
            state = run.state
            if run.id in self._told or state is None or state.timestamp < self._since:
                continue
            self._told.add(run.id)
            if "concurrency limit" in str(state.message):
                due = run.expected_start_time or state.timestamp
                self._say(f"note: the run due {due:%Y-%m-%d %H:%M} UTC is cancelled: another is under way")

    def _left_behind(self, run: FlowRun, seen: dict[UUID, tuple[object, float]]) -> bool:
        """Return True if the process of a run on this host is gone, or a run elsewhere gives no sign of life for long.

        The time since the last sign of life is measured by this process, since the clocks of hosts differ.
        """
        now = time.monotonic()
        sign, since = seen.get(run.id, (None, now))
        self._seen[run.id] = run.updated, since if sign == run.updated else now
        host, _, number = (run.infrastructure_pid or "").rpartition(":")
        # A repeated run has the id of its last process until the next process has begun.
        again = run.run_count > 1 or (run.state is not None and run.state.is_pending())
        if host == socket.gethostname():
            if _computes(int(number), run.id):
                return False
            if not again:
                return True
        elsewhere = host not in ("", socket.gethostname())
        return now - self._seen[run.id][1] >= (_LEFT_BEHIND if elsewhere else _STARTING)

    def _in_states(self, client: SyncPrefectClient, *types: str) -> list[FlowRun]:
        states = FlowRunFilter.model_validate({"state": {"type": {"any_": list(types)}}})
        newest = FlowRunSort.EXPECTED_START_TIME_DESC
        return client.read_flow_runs(flow_run_filter=states, deployment_filter=self._deployment, sort=newest, limit=50)


def _computes(process: int, run: UUID) -> bool:
    """Return True if the process with this id is still the process of the run, and not a later process."""
    try:
        environment = psutil.Process(process).environ()
        # On Linux, a process has an empty environment until its program is loaded.
        return not environment or environment.get("PREFECT__FLOW_RUN_ID") == str(run)
    except psutil.AccessDenied:  # a process of another user
        return True
    except psutil.Error:
        return False
