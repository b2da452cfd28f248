"""One run at a time where there are no locks: a lease on an fsspec store, which its holder renews.

Leases are numbered objects of one folder, and the highest number counts. All that the store must do is to refuse to
create an object that exists (on S3 a conditional write). A holder that was killed renews no more; a run that watches
the lease for `PATIENCE` seconds by its own clock, and sees no change, takes the next number. Where a store ignores the
condition, or a holder was asleep for so long, two runs meet: they write equal files, so only work is wasted.
"""

import contextlib
import time
import uuid
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from ..periodic import repeated

#: Seconds between two renewals, and without one until the holder is given up.
RENEWAL, PATIENCE = 2.0, 10.0


class Held(Exception):
    """Another run holds the lease."""


@contextlib.contextmanager
def lease(system: Any, folder: str) -> Iterator[None]:
    """Hold the lease of `folder` on the fsspec file system `system`, or raise Held.

    Examples
    --------
    >>> import fsspec
    >>> from sigstats.tasks.storage.lease import lease
    >>> system = fsspec.filesystem("memory")
    >>> with lease(system, "/a-lease"):
    ...     [name.rpartition("/")[2] for name in system.ls("/a-lease", detail=False)]
    ['000000001']
    """
    mine = _take(system, folder)

    def renew() -> None:
        with contextlib.suppress(Exception):  # the next renewal may succeed; a run that takes over harms nothing
            system.pipe_file(mine, _token())

    try:
        with repeated(renew, RENEWAL, name="lease"):
            yield
    finally:
        with contextlib.suppress(Exception):  # a run that comes next waits for it to expire
            system.rm_file(mine)


def _take(system: Any, folder: str) -> str:
    while (last := _highest(system, folder)) and not _expired(system, last):
        pass
    number = int(PurePosixPath(last).name) + 1 if last else 1
    mine = f"{folder}/{number:09d}"
    try:
        system.pipe_file(mine, _token(), mode="create")
    except FileExistsError:
        raise Held(folder) from None
    if last:
        with contextlib.suppress(FileNotFoundError):
            system.rm_file(last)
    return mine


def _highest(system: Any, folder: str) -> str | None:
    system.invalidate_cache()
    try:
        found = system.ls(folder, detail=False)
    except FileNotFoundError:
        return None
    return max((str(name) for name in found if PurePosixPath(str(name)).name.isdigit()), default=None)


def _expired(system: Any, name: str) -> bool:
    """Whether nobody renews the lease; False where it was given back meanwhile, and Held where it is alive."""
    try:
        seen = system.cat_file(name)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            time.sleep(RENEWAL / 4)
            if system.cat_file(name) != seen:
                raise Held(name)
    except FileNotFoundError:
        return False
    return True


def _token() -> bytes:
    return uuid.uuid4().hex.encode()
