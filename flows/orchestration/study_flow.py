"""The flow of every study: in a flow of one's own, served, or deployed.

Imports are absolute: `Flow.serve` loads this file by its path.
"""

from functools import partial
from pathlib import Path
from typing import Any, cast

from prefect import flow, runtime
from pydantic import PositiveFloat

from sigstats.flows.clusters import allowed, as_cluster
from sigstats.flows.errors import BadInput
from sigstats.flows.orchestration.flow_run import FLOW, run_here
from sigstats.flows.running.options import RunOptions
from sigstats.flows.running.progress import Display
from sigstats.flows.running.result import StudyResult
from sigstats.flows.studies import find_study, kind_of


def _name() -> str:
    """The name of a flow run: that of its study, or what was given as the study if it cannot be read."""
    given = runtime.flow_run.parameters
    try:
        return find_study(given["study"], given.get("settings") or [])[0].name
    except BadInput:
        return Path(str(given["study"])).stem


@flow(name=FLOW, flow_run_name=_name, persist_result=False)
def study_flow(
    study: str | Path | dict[str, Any],
    output: str | Path,
    settings: list[str] | None = None,
    cluster: Any = None,
    workers: int | None = None,
    base: str | Path | None = None,
    allow: list[str] | None = None,
    cache: str | None = None,
    priority: int = 0,
    cell_timeout: PositiveFloat | None = None,
    pages: str | None = None,
) -> StudyResult:
    """Run a study to its report, as one flow run. Each cell is computed in a task run of it.

    Parameters
    ----------
    study : str, path or dict
        The study file, the name of a ready study, or the content of a study file.
    output : str or path
        A folder or an fsspec URL. Replicates in it are not computed again, and a history in it is extended.
    settings : list of str, optional
        ``key=value`` texts that replace values of the study.
    cluster : str, distributed.Client or distributed.deploy.Cluster, optional
        As ``--cluster``, or a client or a cluster of Dask, which is used and left as it was.
    workers : int, optional
        The number of worker processes of a local cluster.
    base : str or path, optional
        The folder that relative paths of the study's data start from; by default that of the study file.
    allow : list of str, optional
        As ``--allow``.
    cache : str, optional
        As ``--cache``.
    priority : int, optional
        As ``--priority``.
    cell_timeout : float, optional
        Seconds by the clock after which a cell that is not complete counts as failed. What is computed of it is stored.
    pages : str, optional
        The address at which the output is served.

    Returns
    -------
    StudyResult
        It has ``summary``, ``report`` and ``output``; that of a regression study has its ``verdict`` too.

    Raises
    ------
    StudyFailed
        If the verdict is fail or cells failed, each time that it is called; its message has the reasons.
    ValueError
        If the study, its data or the output are not valid; nothing was written.
    """
    try:
        loaded, folder = find_study(study, settings or [])
        where = None if cluster is None and workers is None else as_cluster(cluster, workers)
        options = RunOptions(
            base=folder if base is None else Path(base),
            output=str(output),
            cluster=where,
            display=Display(quiet=True, study=loaded.name),
            allow=allowed(allow or [], where),
            cache=cache,
            priority=priority,
            cell_timeout=cell_timeout,
        )
        # Prefect's flow returns the data of a state.
        return cast(StudyResult, run_here(loaded, options, partial(kind_of(loaded).run, loaded), pages=pages))
    except BadInput as error:
        raise ValueError(str(error)) from None
