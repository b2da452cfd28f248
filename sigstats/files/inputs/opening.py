"""Open and unpack local files, pipes and URLs. Errors say in one line why a file cannot be read.

Gzip, bzip2, xz and Zstandard are recognised by their first bytes; they and ZIP are unpacked within the limit.
"""

import bz2
import contextlib
import gzip
import io
import lzma
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from sigstats._common.credentials import refuse_credentials
from sigstats._common.extras import MissingExtra, with_extra
from sigstats._common.messages import RepeatedKeyError

from .limit import Budget

Errors: TypeAlias = type[Exception] | tuple[type[Exception], ...]


class Joined(io.RawIOBase):
    """A stream whose first bytes have already been read."""

    def __init__(self, start: bytes, rest: Any) -> None:
        self._start = start
        self._rest = rest

    def readable(self) -> bool:
        """True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, at most `size`, beginning with those that were already read."""
        if not self._start:
            return bytes(self._rest.read(size) or b"")
        size = len(self._start) if size < 0 else size
        result, self._start = self._start[:size], self._start[size:]
        return result


def open_local(path: Path, where: str, opened: contextlib.ExitStack) -> tuple[Any, bool]:
    """Return a file of this machine, and whether it can be opened again."""
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise ValueError(f"{where}: is a folder; expected a file")
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            expected = f"a file, or a pipe with at most {Budget(where).shown}"
            raise ValueError(f"{where}: is a device, which may never end; expected {expected}")
        return opened.enter_context(path.open("rb")), stat.S_ISREG(kind)
    except FileNotFoundError:
        raise ValueError(f"{where}: there is no such file") from None
    except OSError as error:
        raise unreadable(where, error) from None
    except ValueError as error:  # a path with a null character
        if str(error).startswith(where):
            raise
        raise ValueError(f"{where}: is not a path ({error})") from None


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
    """Return a one-line message that a file cannot be read, with the reason."""
    return ValueError(f"{where}: cannot be read ({getattr(error, 'strerror', None) or reason(error)})")


def reason(error: Exception) -> str:
    """Return the error of another library in one short line."""
    error = with_extra(error)
    text = " ".join(str(error).split())[:200]
    plain = text and type(error) in (ValueError, RepeatedKeyError, MissingExtra)
    return text if plain else f"{type(error).__name__}: {text}".removesuffix(": ")


@contextlib.contextmanager
def reading(
    where: str, of: Errors = Exception, *, fault: str = "cannot be read", parts: Iterable[str] = ()
) -> Iterator[None]:
    """Turn these errors into a one-line ValueError, unless it is one that names the file or a part of it."""
    try:
        yield
    except of as error:
        if isinstance(error, ValueError) and str(error).startswith((where, *parts)):
            raise
        if isinstance(error, UnicodeDecodeError) or "\\udc" in str(error):  # a byte that is not UTF-8
            raise ValueError(f"{where}: is not UTF-8 text; {TO_UTF8}") from None
        raise ValueError(f"{where}: {fault} ({reason(error)})") from None


#: The end of the message on text in another encoding.
TO_UTF8 = "save it as UTF-8 (for example `iconv -f cp1252 -t utf-8 OLD > NEW`)"
#: Bytes that are unpacked at a time.
PIECE = 2**20

#: The first bytes of packed files.
_PACKED = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    "bzip2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "Zstandard": re.compile(rb"\x28\xb5\x2f\xfd"),
}


def packing(start: bytes) -> str | None:
    """Return the name of the compression of a file with these first bytes, or None if it is not compressed."""
    return next((name for name, mark in _PACKED.items() if mark.match(start)), None)


def unpacked(name: str, source: Any) -> Iterator[bytes]:
    """Yield the content of a packed file, in pieces of at most `PIECE` bytes."""
    try:
        if name in _DECOMPRESSORS:
            yield from _decompressed(name, source)
        elif name == "gzip":
            with gzip.GzipFile(fileobj=source) as opened:
                yield from pieces(opened)
        else:
            import pyarrow as pa

            with pa.CompressedInputStream(pa.PythonFile(source, mode="r"), "zstd") as opened:
                yield from pieces(opened)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        raise ValueError(f"is damaged {name} data: {' '.join(str(error).split())[:120]}") from None


#: Python's own readers mistake damage at the start of a later stream for the end of the file.
_DECOMPRESSORS: dict[str, Any] = {"bzip2": bz2.BZ2Decompressor, "xz": lzma.LZMADecompressor}


def _decompressed(name: str, source: Any) -> Iterator[bytes]:
    """Yield the content of all streams; xz allows zero bytes after each."""
    decoder, packed = _DECOMPRESSORS[name](), source.read(PIECE)
    while packed:
        yield decoder.decompress(packed, PIECE)
        while not (decoder.eof or decoder.needs_input):
            yield decoder.decompress(b"", PIECE)
        packed = (decoder.unused_data if decoder.eof else b"") or source.read(PIECE)
        if decoder.eof:
            while name == "xz" and packed and not (packed := packed.lstrip(b"\0")):
                packed = source.read(PIECE)
            decoder = _DECOMPRESSORS[name]() if packed else decoder
    if not decoder.eof:
        raise EOFError("it ends within a stream")


def pieces(opened: Any) -> Iterator[bytes]:
    """Yield the rest of an open file, in pieces of at most `PIECE` bytes."""
    while piece := opened.read(PIECE):
        yield piece


#: The number of Zstandard among the compression methods of ZIP; Python supports it from 3.14 on.
_ZSTANDARD = 93


class Archive:
    """The files in a ZIP, unpacked within a budget."""

    def __init__(self, opened: zipfile.ZipFile, budget: Budget) -> None:
        self._opened = opened
        self._budget = budget
        #: The files with their positions, without those that macOS adds; a name that was written twice has two entries.
        self.entries = tuple(info for info in opened.infolist() if not info.filename.startswith("__MACOSX/"))
        self.names = tuple(info.filename for info in self.entries)

    def read(self, name: str | zipfile.ZipInfo) -> bytes:
        """Read a file; raise ValueError if it is damaged or unpacks to more than the limit."""
        info = name if isinstance(name, zipfile.ZipInfo) else self._opened.getinfo(name)
        self._budget.require(self._budget.spent + info.file_size)  # the size that the archive states, before unpacking
        content = io.BytesIO()
        try:
            for piece in self._pieces(info):
                self._budget.spend(len(piece))
                content.write(piece)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            raise ValueError(f"{info.filename[:100]} is damaged: {' '.join(str(error).split())[:120]}") from None
        return content.getvalue()

    def _pieces(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        with contextlib.ExitStack() as opened:
            source: Any
            if info.compress_type == _ZSTANDARD:
                import pyarrow as pa

                stored = io.BytesIO(_stored(self._opened, info))
                source = opened.enter_context(pa.CompressedInputStream(stored, "zstd"))
            else:
                source = opened.enter_context(self._opened.open(info))
            yield from pieces(source)


def _stored(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Return the bytes of a file as they are packed."""
    source: Any = archive.fp
    source.seek(info.header_offset)
    header = source.read(30)
    if len(header) < 30 or not header.startswith(b"PK\x03\x04"):
        raise zipfile.BadZipFile("its header is not where the archive says")
    source.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), io.SEEK_CUR)
    return bytes(source.read(info.compress_size))
