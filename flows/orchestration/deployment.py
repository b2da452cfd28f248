"""A deployment of Prefect that runs a study, on a schedule or on demand: one flow for all kinds of study.

Import this module only after `sigstats.flows.orchestration.environment`.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import httpx
import prefect
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.deployments.runner import RunnerDeployment
from prefect.exceptions import ObjectNotFound
from prefect.logging import get_run_logger
from prefect.runner import Runner
from prefect.settings import PREFECT_API_URL
from prefect.types.entrypoint import EntrypointType

from ..clusters import allowed, load_cluster
from ..config.ready import place_of
from ..running.options import RunOptions
from ..running.result import StudyResult
from ..studies import kind_of, load_study
from .outage import outages_told
from .run import follow
from .server import why_unusable
from .whole_study import publish


@prefect.flow(name="sigstats", flow_run_name="{output}", persist_result=False, validate_parameters=False)
def study_flow(
    study: str,
    output: str,
    settings: list[str] | None = None,
    cluster: str | None = None,
    base: str | None = None,
    allow: list[str] | None = None,
    pages: str | None = None,
) -> StudyResult:
    """Run a study file to its report.

    Parameters
    ----------
    study : str
        The study file, or the name of a ready study.
    output : str
        A folder or an fsspec URL. Replicates in it are not computed again, and a history in it is extended.
    settings : list of str, optional
        ``key=value`` texts that replace values of the file.
    cluster : str, optional
        As ``--cluster``.
    base : str, optional
        The folder that relative paths of the study's data start from; by default that of the study file.
    pages : str, optional
        The address at which the output is served.
    allow : list of str, optional
        As ``--allow``.

    Returns
    -------
    StudyResult
        It has ``summary``, ``report`` and ``output``; that of a regression study has its ``verdict`` too.

    Raises
    ------
    StudyFailed
        If the verdict is fail or cells failed, each time that it is called; its message has the reasons.
    """
    place = place_of(study)
    loaded = load_study(place.path, settings or [])
    get_run_logger().info("%s: %s", loaded.name, loaded.question)
    where = None if cluster is None else load_cluster(cluster)
    options = RunOptions(
        base=place.base if base is None else Path(base),
        output=output,
        cluster=where,
        follow=follow,
        allow=allowed(allow or [], where),
    )
    result = kind_of(loaded).run(loaded, options)
    # Prefect's flow returns the data of a state.
    return cast(StudyResult, publish(result, study=loaded.name, output=output, pages=pages))


def deployment_of(
    *, name: str, parameters: dict[str, Any], cron: str | None, timezone: str, work_pool: str | None
) -> RunnerDeployment:
    """A deployment of `study_flow` that is not applied yet.

    While a run of it is under way, the next scheduled one is cancelled: it would read the same files.

    Raises
    ------
    ValueError
        If `cron` or `timezone` is not valid.
    """
    from prefect.schedules import Cron

    made = study_flow.to_deployment(
        name=name,
        schedule=Cron(cron, timezone=timezone) if cron else None,
        parameters=parameters,
        concurrency_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW),
        work_pool_name=work_pool,
        entrypoint_type=EntrypointType.MODULE_PATH,
        description="A study of sigstats: README.md says what it answers.",
    )
    assert isinstance(made, RunnerDeployment)  # a coroutine where a loop runs, and here none does
    return made


class NoServer(Exception):
    """No Prefect server answers; the message is its address."""


class NoSuchPool(Exception):
    """The server has no work pool of this name."""


class _Runner(Runner):
    """Prefect's runner, which SIGTERM ends in order, as Ctrl-C does."""

    def handle_sigterm(self, *_args: Any, **_kwargs: Any) -> None:
        raise KeyboardInterrupt


def serve_deployment(deployment: RunnerDeployment, say: Callable[[str], None], serving: str) -> None:
    """Register the deployment and start the runs that fall due, each in a process of its own, until this one ends.

    Parameters
    ----------
    deployment : RunnerDeployment
    say : callable
        Called with a line when the server ceases to answer, and when it answers again.
    serving : str
        The line that is printed once the deployment is registered.

    Raises
    ------
    NoServer
        If no server answers.
    """

    async def serve() -> None:
        runner = _Runner(pause_on_shutdown=False)
        await runner.aadd_deployment(deployment)
        say(serving)
        await runner.start()

    with contextlib.suppress(KeyboardInterrupt), _reachable(), outages_told(say):
        asyncio.run(serve())


def apply_deployment(deployment: RunnerDeployment) -> str:
    """Register the deployment for the workers of its pool; return its id.

    Raises
    ------
    NoServer, NoSuchPool
    """
    with _reachable(), get_client(sync_client=True) as client:
        try:
            client.read_work_pool(str(deployment.work_pool_name))
        except ObjectNotFound:
            pools = ", ".join(sorted(pool.name for pool in client.read_work_pools()))
            raise NoSuchPool(f"expected a work pool of the server ({pools or 'it has none'})") from None
        return str(deployment.apply())


@contextlib.contextmanager
def _reachable() -> Iterator[None]:
    try:
        if why_unusable() is not None:
            raise NoServer(str(PREFECT_API_URL.value()))
        yield
    except httpx.TransportError:
        raise NoServer(str(PREFECT_API_URL.value())) from None
