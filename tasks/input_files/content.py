"""What is in one file: opened once, unpacked, and text in UTF-8, within the limit of what is read."""

import contextlib
import io
import itertools
import os
import stat
import zipfile
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from sigstats._common.printable import printable

from .archive import Archive
from .buffer import Buffer
from .encoding import in_utf8, marked_encoding
from .json_text import parse_json
from .limit import Budget
from .packing import PIECE, packing, unpacked

#: The first bytes, by which a format is known.
START = 2**16

#: The longest first line that is read.
_LINE = 2**24

#: Milliseconds until a pipe that no process has opened for writing is refused.
_PATIENCE = 2000

#: Containers of which a part may be read by its place, wherever the file lies.
_BY_PLACE = (b"PAR1", b"PK\x03\x04")


class Content:
    """What is in a file.

    Attributes
    ----------
    where : str
        What messages call the file.
    name : str
        Its name without its folder.
    start : bytes
        The first bytes of what is in it: text is in UTF-8, without a byte order mark.
    path : pathlib.Path or None
        A file of this machine that holds just these bytes, if there is one.
    budget : Budget
        What may still be read of it.
    """

    def __init__(
        self,
        location: str,
        start: bytes,
        *,
        path: Path | None = None,
        whole: bytes | None = None,
        source: Any = None,
    ) -> None:
        self.where = printable(location)
        self.name = location.rpartition("/")[2]
        self._folder = location.removesuffix(self.name)
        self.start = start
        self.path = path
        self.budget = Budget(self.where)
        self.budget.spent = len(whole or b"")
        self._whole = whole
        self._source = source

    def whole(self) -> bytes:
        """All bytes; ValueError where they are more than the limit."""
        if self._whole is None:
            if self.path is not None:
                self.require_size()
                try:
                    self._whole = self.path.read_bytes()
                except OSError as error:
                    raise _unreadable(self.where, error) from None
                self.budget.spend(len(self._whole))
            else:
                self._source.seek(0)
                self._whole = _collect(self.where, _pieces(self._source), self.budget)
        return self._whole

    def require_size(self) -> None:
        """Refuse a file of this machine that is larger than the limit."""
        if self.path is not None:
            self.budget.require(self.path.stat().st_size)

    def by_place(self) -> Any:
        """What Arrow and `zipfile` read parts of: a path, or an open file."""
        if self.path is not None and str(self.path) == printable(str(self.path)):  # Arrow takes paths of text alone
            return self.path
        return io.BytesIO(self.whole()) if self._source is None else self._source

    def beside(self, name: str) -> Any:
        """What a JSON file of the same folder says; None where there is none that can be read."""
        try:
            with open_content(self._folder + name) as content:
                return content.json()
        except ValueError:
            return None

    def json(self) -> Any:
        """What the text means as JSON; ValueError where it is none."""
        try:
            return parse_json(self.whole(), self.budget)
        except ValueError as error:
            raise self.error("cannot be read as JSON", error) from None

    @contextlib.contextmanager
    def archive(self) -> Iterator[Archive]:
        """The files in a ZIP; ValueError where it is damaged."""
        try:
            with zipfile.ZipFile(self.by_place()) as opened:
                yield Archive(opened, self.budget)
        except (zipfile.BadZipFile, NotImplementedError) as error:
            raise self.error("cannot be read as a ZIP", error) from None

    @cached_property
    def parquet_names(self) -> tuple[str, ...]:
        """The names of the columns of a Parquet file; none where it is damaged."""
        import pyarrow.parquet as pq

        try:
            return tuple(pq.ParquetFile(self.by_place()).schema_arrow.names)
        except Exception:  # a damaged file may raise anything, and whoever reads it says what
            return ()

    def error(self, complaint: str, cause: Exception) -> ValueError:
        """A complaint in one line that names the file; `cause` itself where it is one."""
        if isinstance(cause, ValueError) and str(cause).startswith(self.where):
            return cause
        return ValueError(f"{self.where}: {complaint} ({reason(cause)})")

    @cached_property
    def first_line(self) -> bytes:
        """The first line, or as much of it as a line of a table may have."""
        end = self.start.find(b"\n")
        if end >= 0 or len(self.start) < START:
            return self.start[: end + 1] if end >= 0 else self.start
        if self.path is None:
            end = self.whole().find(b"\n", 0, _LINE)
            return self.whole()[: end if end >= 0 else _LINE]
        self.require_size()
        with self.path.open("rb") as handle:
            return handle.readline(_LINE)


@contextlib.contextmanager
def open_content(path: str, *, encoding: str | None = None) -> Iterator[Content]:
    """What is in a file or behind an fsspec URL.

    Parameters
    ----------
    path : str
    encoding : str, optional
        The encoding of its text, which then stays as it is; by default what its byte order mark says.

    Raises
    ------
    ValueError
        One line that names the file: it is missing, a folder, damaged, or holds more than is read.
    """
    where = printable(path)
    with contextlib.ExitStack() as opened:
        scheme, separator, rest = path.partition("://")
        if not separator or scheme in ("file", "local"):
            local = Path(rest if separator else path)
            source, regular = _open_local(local, where, opened)
        else:
            local, source, regular = Path(), _open_remote(path, where, opened), False
        try:
            start = _first(source, START)
        except Exception as error:  # a remote file system may raise anything
            raise _unreadable(where, error) from None
        packed = packing(start)
        if packed is None and (encoding or marked_encoding(start)) is None and regular:
            yield Content(path, start, path=local)
        elif packed is None and start.startswith(_BY_PLACE) and source.seekable():
            yield Content(path, start, source=source)
        else:
            whole = _collect(where, _plain(_Joined(start, source), packed, encoding), Budget(where))
            yield Content(path, whole[:START], whole=whole)


class _Joined(io.RawIOBase):
    """A stream whose first bytes were read already."""

    def __init__(self, start: bytes, rest: Any) -> None:
        self._start = start
        self._rest = rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._start:
            return bytes(self._rest.read(size) or b"")
        size = len(self._start) if size < 0 else size
        found, self._start = self._start[:size], self._start[size:]
        return found


def _plain(source: Any, packed: str | None, encoding: str | None) -> Iterator[bytes]:
    pieces = _pieces(source) if packed is None else unpacked(packed, source)
    first = next(pieces, b"")
    if packed is not None and packing(first) is not None:
        raise ValueError(f"holds a file that is packed again, as {packing(first)}; expected one that is packed once")
    found = marked_encoding(first) if encoding is None else None
    pieces = itertools.chain([first], pieces)
    yield from pieces if found is None else in_utf8(pieces, found)


def _pieces(source: Any) -> Iterator[bytes]:
    while piece := source.read(PIECE):
        yield piece


def _collect(where: str, pieces: Iterable[bytes], budget: Budget) -> bytes:
    held = Buffer()
    try:
        for piece in pieces:
            budget.spend(len(piece))
            held.add(piece)
        return held.joined()
    except MemoryError:
        raise ValueError(f"{where}: is larger than the memory that is free") from None
    except Exception as error:  # a remote file system may raise anything
        if str(error).startswith(where):
            raise
        raise (
            ValueError(f"{where}: {error}") if isinstance(error, ValueError) else _unreadable(where, error)
        ) from None


def _first(source: Any, size: int) -> bytes:
    found = source.read(size)
    while 0 < len(found) < size and (more := source.read(size - len(found))):  # a pipe gives what it has
        found += more
    return bytes(found)


def _open_local(path: Path, where: str, opened: contextlib.ExitStack) -> tuple[Any, bool]:
    """A file of this machine, and whether it can be opened again."""
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise ValueError(f"{where}: is a folder; expected a file")
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            raise ValueError(
                f"{where}: is a device, which may have no end; expected a file or a pipe, of which no more than "
                f"{Budget(where).shown} is read"
            )
        if stat.S_ISFIFO(kind):
            return _open_pipe(path, where, opened), False
        return opened.enter_context(path.open("rb")), stat.S_ISREG(kind)
    except FileNotFoundError:
        raise ValueError(f"{where}: there is no such file") from None
    except OSError as error:
        raise _unreadable(where, error) from None
    except ValueError as error:  # a path with a null character
        if str(error).startswith(where):
            raise
        raise ValueError(f"{where}: is no path ({error})") from None


def _open_pipe(path: Path, where: str, opened: contextlib.ExitStack) -> "_Joined":
    """A pipe that somebody writes to: one that nobody does would be waited for without end."""
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
    return _Joined(start, source)


def _open_remote(path: str, where: str, opened: contextlib.ExitStack) -> BinaryIO:
    import fsspec

    try:
        source: BinaryIO = opened.enter_context(fsspec.open(path, "rb"))
    except FileNotFoundError:
        raise ValueError(f"{where}: there is no such file") from None
    except Exception as error:  # a remote file system may raise anything
        raise _unreadable(where, error) from None
    return source


def _unreadable(where: str, error: Exception) -> ValueError:
    return ValueError(f"{where}: cannot be read ({getattr(error, 'strerror', None) or reason(error)})")


def reason(error: Exception) -> str:
    """What an error of another library says, in one short line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}".removesuffix(": ")
