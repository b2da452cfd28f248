"""Where studies share finished cells: not where the results of one are."""

import contextlib
import os

from sigstats.tasks.storage.files import open_files

from ..errors import BadInput


def own_place(cache: str, output: str, name: str = "cache") -> str:
    """The cache, unless it is the output, or that of another study; `name` is the argument's.

    Raises
    ------
    BadInput
    """
    if _place(cache) == _place(output):
        raise BadInput(f"{name}: {cache!r} is not valid; expected another place than {name.replace('cache', 'output')}")
    with contextlib.suppress(OSError, ValueError):  # the run says of a place that cannot be reached that it is left out
        if "plan.parquet" in open_files(cache).names(""):
            wanted = "a place of its own; the output of a study is no cache"
            raise BadInput(f"{name}: {cache!r} is not valid; expected {wanted}")
    return cache


def _place(folder: str) -> str:
    """What is the same for two ways of naming one folder, of which one may be a link."""
    scheme, separator, path = folder.partition("://")
    if separator and scheme not in ("file", "local"):
        return folder.rstrip("/")
    return os.path.realpath(path if separator else folder)  # which takes a circle of links, too
