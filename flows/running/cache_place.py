"""The cache in which studies share finished cells: its place, which is no output of a study, and its key."""

import contextlib
import os
from pathlib import Path

from sigstats.tasks.storage.files import open_files

from ..errors import BadInput


def own_place(cache: str, output: str, name: str = "cache") -> str:
    """Return the place of the cache, unless it is the output of a study.

    `cache` and `output`: folders or URLs. `name`: the name of the argument, for the message. Returns `cache`. Raises
    BadInput if the cache is `output`, or the output of another study.
    """
    if _place(cache) == _place(output):
        raise BadInput(f"{name}: {cache!r} is not valid; expected another place than {name.replace('cache', 'output')}")
    with contextlib.suppress(OSError, ValueError):  # the run reports a cache that it cannot reach
        if "plan.parquet" in open_files(cache).names(""):
            wanted = "a place of its own, which is no output of a study"
            raise BadInput(f"{name}: {cache!r} is not valid; expected {wanted}")
    return cache


def read_key(file: str, cache: str | None, name: str = "cache_key") -> bytes:
    """Return the content of the file of a cache's key, without white space at its ends.

    `cache`: the cache; a key without one is refused. `name`: the name of the argument, for the message. Raises
    BadInput if there is no cache, or the file cannot be read or holds fewer than 16 bytes.
    """
    if cache is None:
        raise BadInput(f"{name}: {file!r} is not valid without {name.removesuffix('key')[:-1]}")
    try:
        key = Path(file).read_bytes().strip()
    except (OSError, ValueError) as error:
        raise BadInput(f"{name}: {file!r} cannot be read ({getattr(error, 'strerror', None) or error})") from None
    if len(key) < 16:
        raise BadInput(f"{name}: {file!r} holds {len(key)} bytes; expected a secret of 16 or more")
    return key


def _place(folder: str) -> str:
    """The one name of a folder that may be given by a relative path or by a link."""
    scheme, separator, path = folder.partition("://")
    if separator and scheme not in ("file", "local"):
        return folder.rstrip("/")
    return os.path.realpath(path if separator else folder)  # unlike Path.resolve, it accepts a circle of links
