"""What the pages of a stored column say of themselves, each in a header before it.

The footer says how much a column takes once it is unpacked, and Arrow takes as much for each page as the page says. So
a limit that looks at the footer alone lets a file through whose footer says little.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ._parquet_footer import row_groups_of
from ._thrift import read_struct

# Fields of parquet.thrift (Apache Parquet 2.11): PageHeader, DataPageHeader, DataPageHeaderV2.
_UNPACKED, _PACKED, _DATA, _DATA_2 = 2, 3, 5, 8
_ENCODING, _ENCODING_2 = 2, 4
#: A header is read in pieces of so many bytes; with one of more than so many Arrow has given up.
_PIECE, _MOST = 2**9, 2**24


class PagedFile(pq.ParquetFile):
    """An open Parquet file of which the headers of pages can be read.

    Checksums of pages are verified, and so are codes, which Arrow hands on unseen where it reads values as codes: one
    that is beyond its dictionary would be looked up in memory that is none of the file's.

    `source`: a path, or an open file that can be read by place. `remote`: whether each look at a header is a request
    to somebody else's machine: then none is read.
    """

    def __init__(self, source: Any, *, remote: bool = False, **options: Any) -> None:
        super().__init__(source, page_checksum_verification=True, **options)
        self._from, self._remote = source, remote

    def read(self, *what: Any, **options: Any) -> Any:
        """As `pyarrow.parquet.ParquetFile.read`."""
        return _with_codes_of_values(super().read(*what, **options))

    def read_row_group(self, *what: Any, **options: Any) -> Any:
        """As `pyarrow.parquet.ParquetFile.read_row_group`."""
        return _with_codes_of_values(super().read_row_group(*what, **options))

    def iter_batches(self, *what: Any, **options: Any) -> Iterator[pa.RecordBatch]:
        """As `pyarrow.parquet.ParquetFile.iter_batches`."""
        for batch in super().iter_batches(*what, **options):
            yield _with_codes_of_values(batch)

    def pages(self, first: int, packed: int) -> "Pages":
        """What the headers of a column say whose pages begin there and take so many bytes."""
        if self._remote:
            return Pages(0, frozenset())
        with self._bytes() as file:
            return pages(file, first, packed)

    @cached_property
    def row_groups(self) -> list[Any]:
        """The row groups as the footer has them; pyarrow.ArrowInvalid where it contradicts itself."""
        with self._bytes() as file:
            return row_groups_of(file)

    def _bytes(self) -> AbstractContextManager[Any]:
        return Path(self._from).open("rb") if isinstance(self._from, (str, Path)) else nullcontext(self._from)


class Pages(NamedTuple):
    """The bytes of all pages of a column once unpacked, and the numbers of the encodings of their values."""

    unpacked: int
    encodings: frozenset[int]


def pages(source: Any, first: int, packed: int) -> Pages:
    """What the headers say of the pages from one place of an open file on, up to the first that cannot be read.

    What is behind that one is not read by Arrow either.
    """
    unpacked, encodings, at = 0, set(), first
    while at < first + packed:
        found = _header(source, at)
        if found is None:
            break
        header, length = found
        unpacked += max(_whole(header, _UNPACKED), 0)
        for kind, encoding in ((_DATA, _ENCODING), (_DATA_2, _ENCODING_2)):
            about = header.get(kind)
            if isinstance(about, dict):
                encodings.add(_whole(about, encoding))
        at += length + max(_whole(header, _PACKED), 0)
    return Pages(unpacked, frozenset(encodings))


def _whole(fields: dict[int, Any], number: int) -> int:
    value = fields.get(number, 0)
    return value if isinstance(value, int) else 0


def _header(source: Any, at: int) -> tuple[dict[int, Any], int] | None:
    """A header and its length; None if there is none."""
    size = _PIECE
    while size <= _MOST:
        source.seek(at)
        content = source.read(size)
        try:
            return read_struct(content, 0)
        except (IndexError, RecursionError):  # it is longer than the piece, or no header
            if len(content) < size:
                return None
            size *= 8
    return None


def _with_codes_of_values(table: Any) -> Any:
    """The table; pyarrow.ArrowInvalid if a code in it is of no value."""
    for column in table.columns:
        for array in column.chunks if isinstance(column, pa.ChunkedArray) else (column,):
            _require_codes(array)
    return table


def _require_codes(array: Any) -> None:
    while pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        array = array.values
    if not pa.types.is_dictionary(array.type):
        return
    found: Any = pc.min_max(array.indices)
    low, high = found["min"].as_py(), found["max"].as_py()
    if high is not None and not 0 <= low <= high < len(array.dictionary):
        raise pa.ArrowInvalid("Index not in dictionary bounds")
