"""Let a Prefect server run a study on a schedule.

Without --work-pool this process keeps running and starts the scheduled runs, until Ctrl-C. With it, the command makes a
deployment and ends; the workers of the pool need this package and the files of the study.
"""

import argparse
from pathlib import Path
from typing import Any

from sigstats._common.messages import printable

from ..config.toml_files import place_of
from ..errors import DONE, BadInput
from . import option
from ._options import add_allow, add_output, add_study, as_options, output_of, study_of

GROUP = "studies"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``sigstats deploy``."""
    add_study(parser)
    add_output(parser)
    text = 'cron schedule in UTC: "0 6 * * *" is daily at six (default: runs start by hand)'
    option(parser, "--cron", "WHEN", text)
    option(parser, "--cluster", "WHERE", "cluster, as for run")
    add_allow(parser)
    option(parser, "--pages", "URL", "URL at which the output is served, for links in Prefect's artifacts")
    option(parser, "--work-pool", "POOL", "work pool of the server")


def run(options: argparse.Namespace) -> int:
    """Make the deployment."""
    from ..orchestration import server_configured, set_up
    from ..running.kind import kind_of
    from ..running.options import run_options

    study, base = study_of(options)
    place = place_of(options.study)
    output, in_cells = output_of(options, study), kind_of(study).has_cells
    with as_options():
        run_options(study, base, in_cells=in_cells, output=output, cluster=options.cluster, allow=options.allow)
    if options.pages is not None and not options.pages.startswith(("http://", "https://")):
        raise BadInput(f"--pages: {options.pages!r} is not valid; expected an address that begins with https://")
    if not server_configured():
        raise BadInput("deploy: PREFECT_API_URL is not set; start a server with `prefect server start` and set it")
    set_up()
    from prefect.deployments.runner import DeploymentApplyError

    from ..orchestration.deployment import apply_deployment, deployment_of, serve_deployment

    parameters: dict[str, Any] = {
        "study": place.ready or str(place.path.absolute()),
        "base": str(place.base.absolute()),
        "pages": options.pages,
        "output": _absolute(output),
        "settings": options.set,
        "allow": options.allow,
        "cluster": None if options.cluster is None else _absolute_cluster(options.cluster),
    }
    try:
        deployment = deployment_of(
            name=study.name, parameters=parameters, cron=options.cron, work_pool=options.work_pool
        )
    except ValueError as error:
        raise BadInput(f"--cron: {options.cron!r} is not valid; {_first(error)}") from None
    kept = f"{deployment.flow_name}/{deployment.name}"
    try:
        if options.work_pool is None:
            serve_deployment(deployment, _say, f"serving {kept}, {options.cron or 'no schedule'}: Ctrl-C ends it")
        else:
            made = apply_deployment(deployment, _say)
            _say(f"deployed {kept} to the work pool {options.work_pool}: {made}")
    except DeploymentApplyError as error:
        raise BadInput(f"deploy: the server rejects this deployment ({_first(error)})") from None
    return DONE


def _say(line: str) -> None:
    print(printable(line), flush=True)  # noqa: T201


def _absolute(place: str) -> str:
    return place if "://" in place else str(Path(place).absolute())


def _absolute_cluster(cluster: str) -> str:
    """Return the absolute path of a cluster file; the name of a kind and an address stay as they are."""
    from ..clusters import kinds

    return cluster if cluster in kinds() else _absolute(cluster)


def _first(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    problem = next((line for line in lines if line.startswith("Value error")), lines[-1])
    return problem.removeprefix("Value error, ").partition(" [type=")[0]
