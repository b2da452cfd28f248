"""The files in a ZIP, unpacked within the limit of what is read."""

import contextlib
import io
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from .buffer import Buffer
from .limit import Budget
from .packing import PIECE

#: How Zstandard is numbered among the ways to pack a ZIP, which Python learned with 3.14.
_ZSTANDARD = 93


class Archive:
    """The files in a ZIP.

    Parameters
    ----------
    opened : zipfile.ZipFile
    budget : Budget
        What may still be unpacked.
    """

    def __init__(self, opened: zipfile.ZipFile, budget: Budget) -> None:
        self._opened = opened
        self._budget = budget
        self.names = tuple(opened.namelist())

    def read(self, name: str) -> bytes:
        """The content of a file; ValueError where it is damaged, or where more than the limit is unpacked."""
        info = self._opened.getinfo(name)
        self._budget.require(self._budget.spent + info.file_size)  # as the archive says, before any of it is unpacked
        held = Buffer()
        try:
            for piece in self._pieces(info):
                self._budget.spend(len(piece))
                held.add(piece)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            raise ValueError(f"{name[:100]} is damaged: {' '.join(str(error).split())[:120]}") from None
        return held.joined()

    def _pieces(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        with contextlib.ExitStack() as opened:
            source: Any
            if info.compress_type == _ZSTANDARD:
                import pyarrow as pa

                stored = io.BytesIO(_stored(self._opened, info))
                source = opened.enter_context(pa.CompressedInputStream(stored, "zstd"))
            else:
                source = opened.enter_context(self._opened.open(info))
            while piece := source.read(PIECE):
                yield piece


def _stored(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The bytes of a file as they are packed."""
    source: Any = archive.fp
    source.seek(info.header_offset)
    header = source.read(30)
    if len(header) < 30 or not header.startswith(b"PK\x03\x04"):
        raise zipfile.BadZipFile("its header is not where the archive says")
    source.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), io.SEEK_CUR)
    return bytes(source.read(info.compress_size))
