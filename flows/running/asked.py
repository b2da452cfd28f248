"""How a study is run that was called from Python: every argument is checked before anything is written."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sigstats._common.validation import as_count, as_real, refuse

from ..clusters import allowed, as_cluster
from ..config.model import Study
from .options import RunOptions, as_place, own_place, read_key
from .progress import Display

#: Far longer than any run.
_MOST_SECONDS = 1e9


def texts(value: Any, name: str, of: str) -> Sequence[str]:
    """A list of texts, or ValueError."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(each, str) for each in value):
        raise refuse(name, value, f"a list of {of}")
    return value


def asked(
    study: Study,
    base: Path,
    *,
    in_cells: bool,
    output: Any,
    cluster: Any,
    workers: Any,
    allow: Any,
    cache: Any,
    priority: Any,
    quiet: bool,
    cache_key: Any = None,
    cell_timeout: Any = None,
) -> RunOptions:
    """Return what `RunOptions` makes of the arguments of a call; a study that is not `in_cells` has no workers.

    Raises BadInput or ValueError, of one line.
    """
    place = as_place(output)
    of_cells = {"cluster": cluster, "workers": workers, "cache": cache, "cache_key": cache_key}
    for name, value in () if in_cells else of_cells.items():
        if value is not None:
            raise refuse(name, value, f"none: a {study.kind} study runs in this process")
    packages = texts(allow, "allow", "names of packages")
    priority = as_count(priority, "priority", minimum=-1000, maximum=1000)
    shared = None if cache is None else own_place(as_place(cache, "cache"), place)
    where = None if cluster is None and workers is None else as_cluster(cluster, workers)
    if cell_timeout is not None:
        cell_timeout = as_real(cell_timeout, "cell_timeout", low=0, high=_MOST_SECONDS, open_ends=True)
    return RunOptions(
        base=base,
        output=place,
        cluster=where,
        display=Display(quiet=quiet, study=study.name),
        allow=allowed(packages, where),
        cache=shared,
        cache_key=None if cache_key is None else read_key(as_place(cache_key, "cache_key"), shared),
        priority=priority,
        cell_timeout=cell_timeout,
    )
