"""Packed files: gzip, bzip2, xz and Zstandard, known by their first bytes, and ZIP, unpacked within the limit."""

import bz2
import contextlib
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from .limit import Budget

#: Bytes that are unpacked at a time.
PIECE = 2**20

_MARKS = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    "bzip2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "Zstandard": re.compile(rb"\x28\xb5\x2f\xfd"),
}


def packing(start: bytes) -> str | None:
    """The packing of a file with these first bytes; None if it is not packed."""
    return next((name for name, mark in _MARKS.items() if mark.match(start)), None)


def unpacked(name: str, source: BinaryIO) -> Iterator[bytes]:
    """The content of a packed file, in pieces of at most `PIECE` bytes."""
    try:
        with _opened(name, source) as opened:
            yield from pieces(opened)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        raise ValueError(f"is damaged {name} data: {' '.join(str(error).split())[:120]}") from None


def _opened(name: str, source: BinaryIO) -> Any:
    if name == "gzip":
        return gzip.GzipFile(fileobj=source)
    if name != "Zstandard":
        return bz2.BZ2File(source) if name == "bzip2" else lzma.LZMAFile(source)
    import pyarrow as pa

    file: Any = source  # the stubs of pyarrow ask for a class where any file will do
    return pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")


def pieces(opened: Any) -> Iterator[bytes]:
    """The rest of an open file, in pieces of at most `PIECE` bytes."""
    while piece := opened.read(PIECE):
        yield piece


#: How Zstandard is numbered among the ways to pack a ZIP, which Python learned with 3.14.
_ZSTANDARD = 93


class Archive:
    """The files in a ZIP, unpacked within a budget."""

    def __init__(self, opened: zipfile.ZipFile, budget: Budget) -> None:
        self._opened = opened
        self._budget = budget
        self.names = tuple(opened.namelist())
        #: The same with their places; a name that was written twice has two.
        self.entries = tuple(opened.infolist())

    def read(self, name: str | zipfile.ZipInfo) -> bytes:
        """Read a file; raise ValueError if it is damaged or unpacks to more than the limit."""
        info = name if isinstance(name, zipfile.ZipInfo) else self._opened.getinfo(name)
        self._budget.require(self._budget.spent + info.file_size)  # as the archive says, before any of it is unpacked
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
    """The bytes of a file as they are packed."""
    source: Any = archive.fp
    source.seek(info.header_offset)
    header = source.read(30)
    if len(header) < 30 or not header.startswith(b"PK\x03\x04"):
        raise zipfile.BadZipFile("its header is not where the archive says")
    source.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), io.SEEK_CUR)
    return bytes(source.read(info.compress_size))
