"""Run a study from Python."""

import contextlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from sigstats._common.registry import GIVEN
from sigstats._common.validation import refuse

from ..config.model import Strict, Study
from ..errors import BadInput
from ..regression.result import RegressionResult
from ..running.from_python import MAIN, GivenCode, given_code
from ..running.kind import find_study, kind_of
from ..running.options import run_options
from ..running.progress import in_notebook
from ..running.result import CellStudyResult
from .results import StudyResults, open_results

if TYPE_CHECKING:
    from distributed import Client
    from distributed.deploy.cluster import Cluster


def run_study(
    study: "str | PathLike[str] | Mapping[str, Any] | Study",
    *,
    output: "str | PathLike[str]",
    cluster: "str | Client | Cluster | None" = None,
    workers: int | None = None,
    allow: Sequence[str] = (),
    priority: int = 0,
    quiet: bool | None = None,
) -> StudyResults:
    """Run a study and open its results, without Prefect.

    A regression study is evaluated once, and its history grows; a regression gives a ``.verdict`` of ``"fail"``, not an
    error. Any other study is computed in cells.

    Replicates that the output contains are not computed again, so after an interruption (Ctrl-C) the same call
    continues. An interruption waits for the current block.

    When not to use: for one comparison (`sigstats.compare`); for runs that a schedule starts (``sigstats deploy``).

    Parameters
    ----------
    study : str, path, mapping or Study
        A study file, the name of a ready study, or the content of a study file. The content may include NumPy values
        and paths, a data frame as the ``path`` of a data set or population, and a class, function or estimator of this
        program as a classifier or test. The run stores frames and code with the study, by their content.
    output : str or path
        A folder or an fsspec URL.
    cluster : str, distributed.Client or distributed.deploy.Cluster, optional
        ``"serial"``, ``"local"``, the address of a Dask scheduler, or a cluster file; by default this process, joined
        by local processes once processors have been idle for some seconds. A client or cluster object is used and left
        open. Within a Dask task on the same cluster, the study returns the task's thread to its worker until it ends.
    workers : int, optional
        The number of worker processes of a local cluster.
    allow : sequence of str
        Packages whose classifiers and tests the study may import and run. ``"__main__"`` allows sending code of this
        program to the workers of a cluster; on this machine it needs no permission.
    priority : int, optional
        Dask's `priority`: blocks of the study with the higher one go first on shared workers.
    quiet : bool, optional
        False to show progress, on standard error or as a bar in a notebook; True to show nothing. By default progress
        is shown only in a notebook.

    Returns
    -------
    StudyResults

    Raises
    ------
    ValueError
        If the study, its data or the output are not valid; nothing is written.
    RuntimeError
        If cells failed. The results of the others are stored, and `open_results` reads them.

    Examples
    --------
    >>> import tempfile
    >>> import sigstats
    >>> pair = {"name": "two", "a": "old", "b": "new", "counts_a": [3, 9], "counts_b": [7, 5]}
    >>> study = {"kind": "significance", "samples": [pair]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = sigstats.run_study(study, output=folder)
    ...     results.summary["p_value"].round(3).tolist()
    [0.214]
    """
    if quiet is not None and not isinstance(quiet, bool):
        raise refuse("quiet", quiet, "True, False or None")
    with contextlib.ExitStack() as context:
        context.enter_context(_as_value_error())
        code = context.enter_context(given_code())
        loaded, base = find_study(study, code=code)
        kind = kind_of(loaded)
        options = run_options(
            loaded, base, in_cells=kind.has_cells, output=output, cluster=cluster, workers=workers, allow=allow,
            priority=priority, quiet=not in_notebook() if quiet is None else quiet,
        )  # fmt: skip
        allowed = (*options.allow, *_allowed_code(code, allow, options.cluster))
        options = replace(options, allow=allowed, code=code.files)
        with _main_left_alone():
            result = kind.run(loaded, options)
    if isinstance(result, CellStudyResult) and result.failed:
        raise RuntimeError("; ".join([result.title, *result.reasons]))
    opened = open_results(options.output)
    return replace(opened, _record=result.record) if isinstance(result, RegressionResult) else opened


def _allowed_code(code: GivenCode, allow: Sequence[str], where: Strict | None) -> list[str]:
    """Return the modules of this program's own code; BadInput if they would leave this machine without permission."""
    on_this_machine = where is None or where.model_dump().get("kind") in ("serial", "local")
    if code.files and not on_this_machine and MAIN not in allow:
        raise BadInput(
            "study: code of this program is not sent to the workers of a cluster by default; add "
            f'allow=["{MAIN}"], or import it from a package that the workers have'
        )
    return [file.stem for file in code.files]


@contextlib.contextmanager
def _as_value_error() -> Iterator[None]:
    """Turn an error of the program into a ValueError that names arguments of `run_study`, not options."""
    try:
        yield
    except BadInput as error:
        # Python knows neither the prefix of its own code, nor --set, nor the file of a data frame.
        text = re.sub(rf"{GIVEN}\w+:|--set |^study: (?=study: )", "", str(error))
        text = re.sub(r"memory://sigstats/\w+/([\w-]+)\.parquet", r"data frame \1", text)
        option, colon, rest = text.partition(":")
        name = option.removeprefix("--").replace("-", "_") if option.startswith("--") else option
        raise ValueError(name + colon + rest) from None


@contextlib.contextmanager
def _main_left_alone() -> Iterator[None]:
    """Keep worker processes from importing, and so running again, the script that runs the study."""
    main = sys.modules["__main__"]
    kept = {name: getattr(main, name) for name in ("__file__", "__spec__") if hasattr(main, name)}
    for name in kept:
        setattr(main, name, None)
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(main, name, value)
