"""The content of one file, unpacked, with text in UTF-8, within the limit of memory.

`open_content` reads the first bytes, and decides from these how a `Content` reads the rest: again from a file of this
machine, by position from an open file, or in pieces that are unpacked and decoded only once.
"""

import codecs
import contextlib
import io
import itertools
import json
import zipfile
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from sigstats._common.messages import RepeatedKeyError, each_once, printable, rephrased

from .limit import Budget
from .opening import Archive, Joined, open_local, open_remote, packing, pieces, reading, unpacked, unreadable

#: Byte order marks.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}


def marked_encoding(start: bytes) -> str | None:
    """Return the encoding of a byte order mark; None if there is no mark."""
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)


def in_utf8(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield text in UTF-8, without its mark."""
    if encoding == "utf-8-sig":  # the reader of the text checks the rest
        for number, piece in enumerate(pieces):
            yield piece[len(codecs.BOM_UTF8) :] if number == 0 else piece
        return
    try:
        for text in codecs.iterdecode(pieces, encoding):
            yield text.encode()
    except UnicodeError:
        raise ValueError(f"is not text in {encoding.upper()}, as its byte order mark says") from None


#: The largest overhead of an element, an object and a list over their text, in bytes.
_ELEMENT, _OBJECT, _LIST = 100, 260, 80


def parse_json(text: bytes, budget: Budget) -> Any:
    """Parse a JSON text."""
    budget.require(budget.spent + size_of_objects(text))
    try:
        return json.loads(text.decode(), object_pairs_hook=each_once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def size_of_objects(text: bytes) -> int:
    """Return the largest number of bytes that JSON text and its Python objects may need."""
    elements = text.count(b",") + text.count(b":")
    strings = 2 * len(text) * (1 if text.isascii() else 4)  # of the text, and in the objects
    objects = _ELEMENT * elements + _OBJECT * text.count(b"{") + _LIST * text.count(b"[")
    return strings + objects


#: How many first bytes are read to recognise a format.
START = 2**16

#: The longest first line that is read.
_LINE = 2**24

#: Parquet and ZIP, whose parts can be read by position, also in remote files.
_BY_POSITION = (b"PAR1", b"PK\x03\x04")


class Content:
    """The content of the file that messages call `where`; `name` is its name without its folder.

    `start`: the first bytes of the content; text is in UTF-8, without a byte order mark.
    `path`: a file of this machine with exactly this content, if there is one; otherwise one of the following.
    `whole`: the content. `parts`: its pieces, which can be read once. `source`: an open file that can be read again.
    """

    def __init__(
        self,
        location: str,
        start: bytes,
        *,
        path: Path | None = None,
        whole: bytes | None = None,
        parts: Iterable[bytes] = (),
        source: Any = None,
    ) -> None:
        self.where = printable(location)
        self.name = location.rpartition("/")[2]
        self._folder = location.removesuffix(self.name)
        self.start = start
        self.path = path
        #: The number of bytes that may still be read.
        self.budget = Budget(self.where)
        self.budget.spent = len(whole or b"")
        self._whole = whole
        self._parts = parts
        #: The error of the first attempt to read the pieces.
        self._fault: ValueError | None = None
        self._source = source

    def whole(self) -> bytes:
        """Return all bytes; raise ValueError if they exceed the limit."""
        if self._whole is None:
            if self.path is None:
                self._whole = self._collected()
            else:
                self.budget.require(self.path.stat().st_size)
                try:
                    self._whole = self.path.read_bytes()
                except OSError as error:
                    raise unreadable(self.where, error) from None
                self.budget.spend(len(self._whole))
        return self._whole

    def _collected(self) -> bytes:
        """Return the content of a source or packed file, which can be read only once; errors are raised again."""
        if self._fault is not None:
            raise self._fault
        if self._source is not None:
            self._source.seek(0)
        try:
            return _collect(self.where, self._parts or pieces(self._source), self.budget)
        except ValueError as error:
            self._fault = error
            raise

    def by_place(self) -> Any:
        """Return a path or an open file that Arrow and `zipfile` can read in parts."""
        if self.path is not None and str(self.path) == printable(str(self.path)):  # Arrow takes only printable paths
            return self.path
        return io.BytesIO(self.whole()) if self._source is None else self._source

    def json_in_same_folder(self, name: str) -> Any:
        """Return the content of a JSON file in the same folder; None if there is none that can be read."""
        try:
            with open_content(self._folder + name) as content:
                return content.json()
        except ValueError:
            return None

    def json(self) -> Any:
        """Parse as JSON, or raise ValueError."""
        repeated_keys = rephrased(f"{self.where}: ", RepeatedKeyError, of=RepeatedKeyError)
        with reading(self.where, ValueError, fault="cannot be read as JSON"), repeated_keys:
            return parse_json(self.whole(), self.budget)

    @contextlib.contextmanager
    def archive(self) -> Iterator[Archive]:
        """The files in a ZIP; ValueError if it is damaged."""
        damage = reading(self.where, (zipfile.BadZipFile, NotImplementedError), fault="cannot be read as a ZIP")
        with damage, zipfile.ZipFile(self.by_place()) as opened:
            if min((entry.header_offset for entry in opened.infolist()), default=0):
                raise zipfile.BadZipFile("it follows other content, such as another ZIP")
            yield Archive(opened, self.budget)

    @cached_property
    def parquet_names(self) -> tuple[str, ...]:
        """The column names of a Parquet file; empty if the file is damaged."""
        import pyarrow.parquet as pq

        try:
            return tuple(pq.ParquetFile(self.by_place()).schema_arrow.names)
        except Exception:  # a damaged file may raise anything, and whoever reads it says what
            return ()

    @cached_property
    def first_line(self) -> bytes:
        """The first line, or as much of it as a line of a table may have."""
        end = self.start.find(b"\n")
        if end >= 0 or len(self.start) < START:
            return self.start[: end + 1] if end >= 0 else self.start
        if self.path is None:
            end = self.whole().find(b"\n", 0, _LINE)
            return self.whole()[: end if end >= 0 else _LINE]
        self.budget.require(self.path.stat().st_size)
        with self.path.open("rb") as handle:
            return handle.readline(_LINE)


@contextlib.contextmanager
def open_content(path: str, *, encoding: str | None = None) -> Iterator[Content]:
    """Open a file or an fsspec URL.

    `encoding`: the encoding of its text, which then stays as it is; by default what its byte order mark says.
    """
    where = printable(path)
    with contextlib.ExitStack() as opened:
        scheme, separator, rest = path.partition("://")
        if not separator or scheme in ("file", "local"):
            local = Path(rest if separator else path)
            source, regular = open_local(local, where, opened)
        else:
            local, source, regular = Path(), open_remote(path, where, opened), False
        try:
            start = source.read(START)
            while 0 < len(start) < START and (more := source.read(START - len(start))):  # a pipe gives what it has
                start += more
            start = bytes(start)
        except Exception as error:  # a remote file system may raise anything
            raise unreadable(where, error) from None
        packed = packing(start)
        if packed is None and (encoding or marked_encoding(start)) is None and regular:
            yield Content(path, start, path=local)
        elif packed is None and start.startswith(_BY_POSITION) and source.seekable():
            yield Content(path, start, source=source)
        else:
            plain = _plain(Joined(start, source), packed, encoding)
            first = _collect(where, _until(plain, START), Budget(where))
            yield Content(path, first[:START], parts=itertools.chain([first], plain))


def _plain(source: Any, packed: str | None, encoding: str | None) -> Iterator[bytes]:
    """Yield the unpacked content, with marked text in UTF-8. `packed`: the name of the compression, if any."""
    content = pieces(source) if packed is None else unpacked(packed, source)
    first = next(content, b"")
    if packed is not None and packing(first) is not None:
        raise ValueError(f"contains another packed file ({packing(first)}); unpack it first")
    mark = marked_encoding(first) if encoding is None else None
    whole = itertools.chain([first], content)
    yield from whole if mark is None else in_utf8(whole, mark)


def _collect(where: str, parts: Iterable[bytes], budget: Budget) -> bytes:
    content = io.BytesIO()  # a large one grows in place, and gives its value without a copy
    try:
        for piece in parts:
            budget.spend(len(piece))
            content.write(piece)
        return content.getvalue()
    except MemoryError:
        raise ValueError(f"{where}: is larger than the free memory") from None
    except Exception as error:  # a remote file system may raise anything
        if str(error).startswith(where):
            raise
        raise (ValueError(f"{where}: {error}") if isinstance(error, ValueError) else unreadable(where, error)) from None


def _until(parts: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield the first pieces, up to this many bytes."""
    for piece in parts:
        yield piece
        size -= len(piece)
        if size <= 0:
            return
