"""Prefect deployments that run a study on a schedule or on demand."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.deployments.runner import RunnerDeployment
from prefect.exceptions import ObjectNotFound
from prefect.runner import Runner
from prefect.settings import PREFECT_API_URL
from prefect.types.entrypoint import EntrypointType
from prefect.utilities.services import critical_service_loop

from sigstats.tasks.process import periodic

from ..errors import BadInput
from .server import Slot, server_calls, why_unusable
from .study_flow import study_flow


def deployment_of(
    *, name: str, parameters: dict[str, Any], cron: str | None, work_pool: str | None
) -> RunnerDeployment:
    """Return a deployment of `study_flow`, without applying it.

    A scheduled run is cancelled if the previous run is still active, since it would read the same files.
    """
    from prefect.schedules import Cron

    made = study_flow.to_deployment(
        name=name,
        schedule=Cron(cron, timezone="UTC") if cron else None,
        parameters=parameters,
        concurrency_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW),
        work_pool_name=work_pool,
        entrypoint_type=EntrypointType.MODULE_PATH,
        description="A study of sigstats; see its README.md.",
    )
    assert isinstance(made, RunnerDeployment)  # it would be a coroutine in an event loop
    return made


class _Runner(Runner):
    """Prefect's runner, which ends as cleanly after SIGTERM as after Ctrl-C."""

    def handle_sigterm(self, *_args: Any, **_kwargs: Any) -> None:
        raise KeyboardInterrupt


def serve_deployment(deployment: RunnerDeployment, say: Callable[[str], None], serving: str) -> None:
    """Register the deployment and start scheduled runs, in separate processes, until this process ends.

    `say`: called with a line when the server stops answering and when it answers again, for each run that is cancelled
    because another is active or ended because its process is gone, and if the server had a deployment with this name
    for another study or output. `serving`: the line that is printed when the deployment is registered.
    """

    async def serve() -> None:
        runner = _Runner(pause_on_shutdown=False)
        _tell_of_another(deployment, say)
        slot = Slot(await runner.aadd_deployment(deployment), say)

        def look() -> None:
            with contextlib.suppress(Exception):  # `outages_reported` reports a server that does not answer
                call(slot.look)

        with server_calls(_EVERY) as call:
            call(slot.look)
            say(serving)
            with periodic(look, _EVERY, name="slot"):
                try:
                    await runner.start()
                finally:
                    look()  # the runner ends the processes of runs without changing their states

    with contextlib.suppress(KeyboardInterrupt), _reachable(), outages_reported(say):
        asyncio.run(serve())


def apply_deployment(deployment: RunnerDeployment, say: Callable[[str], None]) -> str:
    """Register the deployment for the workers of its pool; return the id of the deployment.

    `say`: called with a line if the server had a deployment with this name for another study or output.
    """
    with _reachable(), get_client(sync_client=True) as client:
        named = str(deployment.work_pool_name)
        try:
            client.read_work_pool(named)
        except ObjectNotFound:
            pools = ", ".join(sorted(pool.name for pool in client.read_work_pools())) or "it has none"
            wanted = f"expected a work pool of the server ({pools})"
            raise BadInput(f"--work-pool: {named!r} is not valid; {wanted}") from None
        _tell_of_another(deployment, say)
        return str(deployment.apply())


def _tell_of_another(deployment: RunnerDeployment, say: Callable[[str], None]) -> None:
    """Report the study and the output that this deployment replaces. A server has one deployment per name."""
    name = f"{deployment.flow_name}/{deployment.name}"
    with get_client(sync_client=True) as client, contextlib.suppress(ObjectNotFound):
        before = client.read_deployment_by_name(name).parameters
        if any(before.get(key) != deployment.parameters[key] for key in ("study", "output")):
            replaced = f"{before.get('study')}, with results in {before.get('output')}"
            say(f"note: {name} no longer runs {replaced}; to keep both, choose another name (--set name=NAME)")


@contextlib.contextmanager
def _reachable() -> Iterator[None]:
    at = PREFECT_API_URL.value()
    silent = BadInput(f"deploy: no Prefect server answers at {at}; start it or set PREFECT_API_URL")
    try:
        if why_unusable() is not None:
            raise silent
        yield
    except httpx.TransportError:
        raise silent from None


#: Seconds between two requests to the server.
_EVERY = 5.0
#: The number of times that Prefect's loops double their interval during an outage, up to ten minutes.
_BACKOFF = 6


@contextmanager
def outages_reported(say: Callable[[str], None]) -> Iterator[None]:
    """Report in one line that the configured server does not answer, and in another line that it answers again.

    By default, Prefect's loops print the tracebacks of their last requests, and one loop gives up. In this context they
    are silent and continue.
    """
    watch = OutageWatch(why_unusable, say, address=str(PREFECT_API_URL.value()))
    before = critical_service_loop.__defaults__ or ()
    patient = {print: _silent, 1: _BACKOFF}
    # The defaults are: memory, consecutive, backoff, printer, run_once, jitter_range.
    critical_service_loop.__defaults__ = tuple(
        patient.get(value, value) if value is print or type(value) is int else value for value in before
    )
    try:
        with periodic(watch.look, _EVERY, name="outages"):
            yield
    finally:
        critical_service_loop.__defaults__ = before


def _silent(*_: object) -> None:
    pass


@dataclass
class OutageWatch:
    """Reports when a server stops answering and when it answers again."""

    ask: Callable[[], str | None]
    say: Callable[[str], None]
    address: str
    answers: bool = True

    def look(self) -> None:
        """Query the server once, and report a change."""
        reason = self.ask()
        if reason is not None and self.answers:
            self.say(f"note: no Prefect server answers at {self.address} ({reason}); runs that fall due wait for it")
        elif reason is None and not self.answers:
            self.say("note: the Prefect server answers again")
        self.answers = reason is None
