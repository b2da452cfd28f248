"""The flow of all studies, which can be called in another flow, served or deployed."""

from functools import partial
from pathlib import Path
from typing import Any, cast

from prefect import flow, runtime

from sigstats._common.validation import refuse

from ..errors import BadInput
from ..running.kind import find_study, kind_of
from ..running.options import run_options, texts
from ..running.result import StudyResult
from .flow_run import FLOW, run_here


def _name() -> str:
    """Return the name of a flow run: the name of its study, or the stem of the argument if the study is invalid."""
    given = runtime.flow_run.parameters
    try:
        return find_study(given["study"], given.get("settings") or [])[0].name
    except Exception:  # the flow itself refuses the study
        return Path(str(given["study"])).stem


# Prefect's validation reports an invalid value in several lines without naming it; its pages show the types anyway.
@flow(name=FLOW, flow_run_name=_name, persist_result=False, validate_parameters=False)
def study_flow(
    study: str | Path | dict[str, Any],
    output: str | Path,
    settings: list[str] | None = None,
    cluster: Any = None,
    workers: int | None = None,
    base: str | Path | None = None,
    allow: list[str] | None = None,
    priority: int = 0,
    pages: str | None = None,
) -> StudyResult:
    """Run a study and write its report, as one flow run. Each cell is computed in a task run.

    Parameters
    ----------
    study : str, path or dict
        The study file, the name of a ready study, or the content of a study file.
    output : str or path
        A folder or an fsspec URL. Stored replicates are not computed again, and a stored history is extended.
    settings : list of str, optional
        ``key=value`` strings that replace values of the study.
    cluster : str, distributed.Client or distributed.deploy.Cluster, optional
        As ``--cluster``, or a Dask client or cluster, which is used and left open.
    workers : int, optional
        The number of worker processes of a local cluster.
    base : str or path, optional
        The folder at which relative paths of the study's data start; by default the folder of the study file.
    allow : list of str, optional
        As ``--allow``.
    priority : int, optional
        As for `sigstats.run_study`.
    pages : str, optional
        The address at which the output is served.

    Returns
    -------
    StudyResult
        The result, with ``summary``, ``report`` and ``output``, and ``verdict`` for a regression study.

    Raises
    ------
    StudyFailed
        If the verdict is fail or cells failed. The message contains the reasons.
    ValueError
        If the study, its data or the output are not valid. Nothing is written.
    """
    try:
        loaded, folder = find_study(study, texts(settings or [], "settings", "strings, as in ['seed=7']"))
        kind = kind_of(loaded)
        if base is not None and not isinstance(base, (str, Path)):
            raise refuse("base", base, "a folder")
        options = run_options(
            loaded, folder if base is None else Path(base), in_cells=kind.has_cells, output=output,
            cluster=cluster, workers=workers, allow=allow or [], priority=priority, quiet=True,
        )  # fmt: skip
        if pages is not None and not str(pages).startswith(("http://", "https://")):
            raise refuse("pages", pages, "an address that begins with https://")
        # Prefect's flow returns the data of a state.
        return cast(StudyResult, run_here(loaded, options, partial(kind.run, loaded), pages=pages))
    except BadInput as error:
        raise ValueError(str(error)) from None
