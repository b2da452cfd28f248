"""Files of this machine, pipes and URLs, opened, or one line that says why one cannot be."""

import contextlib
import io
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

from sigstats._common.credentials import refuse_credentials
from sigstats._common.extras import MissingExtra, with_extra

from .limit import Budget

#: Milliseconds until a pipe that no process has opened for writing is refused.
_PATIENCE = 2000


class Joined(io.RawIOBase):
    """A stream whose first bytes have been read already."""

    def __init__(self, start: bytes, rest: Any) -> None:
        self._start = start
        self._rest = rest

    def readable(self) -> bool:
        """True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size`: those that were read already come first."""
        if not self._start:
            return bytes(self._rest.read(size) or b"")
        size = len(self._start) if size < 0 else size
        result, self._start = self._start[:size], self._start[size:]
        return result


def open_local(path: Path, where: str, opened: contextlib.ExitStack) -> tuple[Any, bool]:
    """A file of this machine, and whether it can be opened again."""
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise ValueError(f"{where}: is a folder; expected a file")
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            raise ValueError(
                f"{where}: is a device, which may never end; expected a file or a pipe, of which at most "
                f"{Budget(where).shown} is read"
            )
        if stat.S_ISFIFO(kind):
            return _open_pipe(path, where, opened), False
        return opened.enter_context(path.open("rb")), stat.S_ISREG(kind)
    except FileNotFoundError:
        raise ValueError(f"{where}: there is no such file") from None
    except OSError as error:
        raise unreadable(where, error) from None
    except ValueError as error:  # a path with a null character
        if str(error).startswith(where):
            raise
        raise ValueError(f"{where}: is not a path ({error})") from None


def _open_pipe(path: Path, where: str, opened: contextlib.ExitStack) -> Joined:
    """A pipe with a writer: one without a writer would be waited for forever."""
    import select

    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    source = opened.enter_context(os.fdopen(number, "rb", buffering=0))
    try:
        start = os.read(number, 1)
    except BlockingIOError:  # there is a writer, which has not written yet
        start = b""
    else:
        waiting = select.poll()
        waiting.register(number, select.POLLIN)
        if not start and not waiting.poll(_PATIENCE):
            raise ValueError(f"{where}: is a pipe that nothing writes to; expected a file")
    os.set_blocking(number, True)
    return Joined(start, source)


def open_remote(path: str, where: str, opened: contextlib.ExitStack) -> BinaryIO:
    """Open a URL by fsspec."""
    import fsspec

    refuse_credentials({"path": path})
    try:
        source: BinaryIO = opened.enter_context(fsspec.open(path, "rb"))
    except FileNotFoundError:
        raise ValueError(f"{where}: there is no such file") from None
    except Exception as error:  # a remote file system may raise anything
        raise unreadable(where, error) from None
    return source


def unreadable(where: str, error: Exception) -> ValueError:
    """A message that a file cannot be read, and why, in one line."""
    return ValueError(f"{where}: cannot be read ({getattr(error, 'strerror', None) or reason(error)})")


def reason(error: Exception) -> str:
    """The error of another library in one short line."""
    error = with_extra(error)
    said = " ".join(str(error).split())[:200]
    plain = said and type(error) in (ValueError, MissingExtra)
    return said if plain else f"{type(error).__name__}: {said}".removesuffix(": ")
