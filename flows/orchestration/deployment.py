"""Studies as Prefect sees them on a schedule: one flow for all kinds, and its deployment.

A regression study leaves its table, its Markdown and links as artifacts, and a failing verdict fails the flow run with
its reasons. Import this module only after `sigstats.flows.orchestration.environment`.
"""

import asyncio
import contextlib
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import prefect
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.deployments.runner import RunnerDeployment
from prefect.exceptions import ObjectNotFound
from prefect.logging import get_run_logger
from prefect.runner import Runner
from prefect.settings import PREFECT_API_URL
from prefect.states import Completed, Failed
from prefect.types.entrypoint import EntrypointType

from ..comparison.cells import HEADER, cells_of, verdict_of
from ..comparison.sentences import TITLES, reasons
from ..config.cluster import load_cluster
from ..config.study import load_study
from ..regression.evaluate import Evaluated, evaluate
from ..running.progress import Display
from ..running.study import run_study
from ..studies.regression import RegressionStudy


@prefect.flow(name="sigstats", flow_run_name="{output}", persist_result=False, validate_parameters=False)
def study_flow(study: str, output: str, settings: list[str] | None = None, cluster: str | None = None) -> Any:
    """Run a study file to its report.

    Parameters
    ----------
    study : str
        The study file.
    output : str
        A folder or an fsspec URL; what it holds is taken up, and a history is appended to.
    settings : list of str, optional
        ``key=value`` in place of the file's.
    cluster : str, optional
        As ``--cluster``.
    """
    path = Path(study)
    what = load_study(path, settings or [])
    get_run_logger().info("%s: %s", what.name, what.question)
    if isinstance(what, RegressionStudy):
        return _told(what, evaluate(what, base=path.parent, output=output))
    finished = run_study(
        what,
        base=path.parent,
        output=output,
        cluster=None if cluster is None else load_cluster(cluster),
        display=Display(quiet=True, study=what.name),
        stop=threading.Event(),
    )
    _link(what.name, "report", finished.report)
    if finished.failed:
        return Failed(message=f"{len(finished.failed)} of {len(finished.plan.cells)} cells failed")
    return Completed(message=f"{len(finished.plan.cells)} cells, {len(finished.rows)} hypotheses")


def evaluate_under_prefect(study: RegressionStudy, *, base: Path, output: str) -> Evaluated:
    """`sigstats.flows.regression.evaluate.evaluate` as a flow run of the configured server; raises what it raises."""
    found: list[Evaluated] = []
    raised: list[BaseException] = []

    @prefect.flow(name="sigstats-regression", flow_run_name=study.name, persist_result=False, validate_parameters=False)
    def regression_flow(study: RegressionStudy, output: str) -> Any:
        try:
            found.append(evaluate(study, base=base, output=output))
        except Exception as error:
            raised.append(error)
            raise
        return _told(study, found[0])

    regression_flow(study, output, return_state=True)
    if raised:
        raise raised[0]
    return found[0]


def deployment_of(
    *, name: str, parameters: dict[str, Any], cron: str | None, timezone: str, work_pool: str | None
) -> RunnerDeployment:
    """A deployment of `study_flow` that is not applied yet.

    While a run of it is under way, the next tick is cancelled: it would look at the same files.

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
    """Prefect's runner, which SIGTERM ends as Ctrl-C does: in good order."""

    def handle_sigterm(self, *_args: Any, **_kwargs: Any) -> None:
        raise KeyboardInterrupt


def serve_deployment(deployment: RunnerDeployment) -> None:
    """Register the deployment and run what falls due, each run in a process of its own, until this one is ended.

    Raises
    ------
    NoServer
    """

    async def serve() -> None:
        runner = _Runner(pause_on_shutdown=False)
        await runner.aadd_deployment(deployment)
        await runner.start()

    with contextlib.suppress(KeyboardInterrupt), _reachable():
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
        yield
    except httpx.TransportError:
        raise NoServer(str(PREFECT_API_URL.value())) from None


def _told(study: RegressionStudy, found: Evaluated) -> Any:
    """The artifacts of an evaluation, and its verdict as the state of the run."""
    about = found.record.evaluation
    title = TITLES[found.comparison.verdict]
    logger = get_run_logger()
    logger.info("%s: %s against %s, look %d", title, about.candidate, about.baseline, about.look)
    names = (*HEADER, "verdict")
    create_table_artifact(
        [dict(zip(names, (*cells_of(row), verdict_of(row)), strict=True)) for row in found.comparison.rows],
        key=_key(study.name, "measures"),
        description=title,
    )
    create_markdown_artifact(found.markdown, key=_key(study.name, "comparison"), description=title)
    _link(study.name, "report", found.report)
    _link(study.name, "page", found.page)
    said = "; ".join(reasons(found.comparison))
    if found.comparison.verdict == "fail":
        for reason in reasons(found.comparison):
            logger.error("%s", reason)
        return Failed(message=f"{title}: {said}")
    return Completed(message=f"{title}: {said}" if said else title)


def _link(study: str, what: str, place: str) -> None:
    link = place if "://" in place else Path(place).absolute().as_uri()
    create_link_artifact(link, link_text=what, key=_key(study, what), description=f"{study}: {what}")


def _key(study: str, what: str) -> str:
    """An artifact's key: small letters, digits and dashes alone."""
    return re.sub(r"[^a-z0-9]+", "-", f"{study}-{what}".lower()).strip("-")
