"""A lease on an fsspec store, renewed by its holder, so that runs do not overlap on a store without locks.

Leases are numbered objects in one folder, and the highest number is valid. The store only needs to refuse to create an
existing object (on S3, by a conditional write). A killed holder does not renew its lease: a run that watches the lease
for `PATIENCE` seconds by its own clock and sees no change takes the next number. If a store ignores the condition, or a
holder is suspended for longer, two runs overlap. They write equal files, so only work is wasted.
"""

import contextlib
import os
import platform
import time
import uuid
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from ..process import periodic

#: Seconds between two renewals, and seconds without a renewal after which the lease expires.
RENEWAL, PATIENCE = 4.0, 15.0


class Held(Exception):
    """Another run holds the lease. The message names the process and the host of the run, if they are known."""


def this_process() -> str:
    """Return the name of this process for the messages of other runs that find the lock or the lease taken."""
    return f"process {os.getpid()} on host {platform.node()}"


@contextlib.contextmanager
def lease(system: Any, folder: str) -> Iterator[None]:
    """Hold the lease of `folder` on the fsspec file system `system`.

    Raises Held if another run holds it.
    """
    mine = _take(system, folder)

    def renew() -> None:
        with contextlib.suppress(Exception):  # the next renewal may succeed; if another run takes over, no harm is done
            system.pipe_file(mine, _token())

    try:
        with periodic(renew, RENEWAL, name="lease"):
            yield
    finally:
        with contextlib.suppress(Exception):  # the next run waits for it to expire
            system.rm_file(mine)


def _take(system: Any, folder: str) -> str:
    """Create the object with the next number and return its name, once no other run holds the lease."""
    while (last := _highest(system, folder)) and not _expired(system, last):
        pass
    number = int(PurePosixPath(last).name) + 1 if last else 1
    mine, token = f"{folder}/{number:09d}", _token()
    try:
        system.pipe_file(mine, token, mode="create")
    except Exception as error:
        # The answer may be lost; a client that repeats the request then finds the object that the first request made.
        content = _content(system, mine)
        if content != token:
            if content or isinstance(error, FileExistsError):
                raise Held(_holder_in(content)) from None
            raise
    if last:
        with contextlib.suppress(FileNotFoundError):
            system.rm_file(last)
    return mine


def _highest(system: Any, folder: str) -> str | None:
    """Return the name of the object with the highest number, or None if the folder has none."""
    system.invalidate_cache()
    try:
        paths = system.ls(folder, detail=False)
    except FileNotFoundError:
        return None
    return max((str(name) for name in paths if PurePosixPath(str(name)).name.isdigit()), default=None)


def _expired(system: Any, name: str) -> bool:
    """Return True if the lease is not renewed, or False if it is released meanwhile; raise Held if it is renewed."""
    try:
        seen = system.cat_file(name)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            time.sleep(RENEWAL / 8)
            if system.cat_file(name) != seen:
                raise Held(_holder_in(seen))
    except FileNotFoundError:
        return False
    return True


def _token() -> bytes:
    """Return content that differs at every renewal. The second line names the holder."""
    return f"{uuid.uuid4().hex}\n{this_process()}".encode()


def _content(system: Any, name: str) -> bytes:
    """Return the content of a lease, or nothing if it cannot be read, since it may have been released meanwhile."""
    with contextlib.suppress(Exception):
        return bytes(system.cat_file(name))
    return b""


def _holder_in(token: bytes) -> str:
    return token.decode(errors="replace").partition("\n")[2]
