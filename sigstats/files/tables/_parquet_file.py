"""A Parquet file, and what its footer and the headers of its pages say of the stored columns.

pyarrow's own objects for a stored column end the process where the footer contradicts itself: their constructor throws
a C++ exception that Cython does not expect, and so does its writer of metadata. Here the footer is read without them.

The footer says how much a column takes once it is unpacked, and Arrow takes as much for each page as the header before
the page says. So a limit that looks at the footer alone lets a file through whose footer says little.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ._thrift import read_struct

#: A footer ends with its length and a mark, and is read with so many bytes before it, as Arrow reads it.
_TAIL, _END = 8, 2**16
#: A header is read in pieces of so many bytes; with one of more than so many Arrow has given up.
_PIECE, _MOST = 2**9, 2**24

# Fields of parquet.thrift (Apache Parquet 2.11): FileMetaData, RowGroup, ColumnChunk, ColumnMetaData.
_NUM_ROWS, _ROW_GROUPS = 3, 4
_COLUMNS, _GROUP_ROWS = 1, 3
_META_DATA = 3
_TYPE, _ENCODINGS, _PATH, _VALUES, _STORED, _PACKED, _DATA_AT, _DICTIONARY_AT = 1, 2, 3, 5, 6, 7, 9, 11
# PageHeader, DataPageHeader, DataPageHeaderV2.
_PAGE_UNPACKED, _PAGE_PACKED, _DATA, _DATA_2 = 2, 3, 5, 8
_ENCODING, _ENCODING_2 = 2, 4

#: The physical types by their numbers, and the bytes of a value of those that have a width of their own.
_TYPES = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
#: The encodings by which a few bytes stand for many long values: PLAIN_DICTIONARY and RLE_DICTIONARY, DELTA_BYTE_ARRAY.
_DICTIONARY, _PREFIXES = {2, 8}, 7
#: Bytes for where a text begins.
_OFFSET = 4


@dataclass(frozen=True)
class StoredColumn:
    """One column of one row group, as the footer and the headers of its pages tell it, whichever says more."""

    group: int
    path: str
    #: How many values there are, and their bytes once unpacked.
    values: int
    stored: int
    #: Their numbers in the format.
    encodings: frozenset[int]
    #: Bytes of a value, 0 where they vary.
    width: int
    #: Whether it is in lists, of which one row may hold all values.
    nested: bool

    @property
    def dictionary(self) -> bool:
        """True if values are codes of a dictionary."""
        return not self.width and not _DICTIONARY.isdisjoint(self.encodings)

    @property
    def least(self) -> int:
        """What it takes in memory at least."""
        return self.values * (self.width or _OFFSET)

    def size(self, longest: int) -> int:
        """What it takes in memory at most, where no value is longer."""
        if self.width:
            return self.least
        repeats = self.dictionary or _PREFIXES in self.encodings
        return self.least + (self.values * longest if repeats else self.stored)


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

    def stored(self, names: Collection[str], only: int | None = None) -> Iterator[StoredColumn]:
        """The columns of these names and those within them, of all row groups or of one.

        Raises pyarrow.ArrowInvalid, the footer contradicts itself: counts of columns or of values, or a size below 0.
        """
        for at, group in enumerate(self._row_groups):
            if only is None or at == only:
                for found, first, packed in self._columns(at, group):
                    if any(found.path == name or found.path.startswith(f"{name}.") for name in names):
                        yield self._with_pages(found, first, packed)

    def _columns(self, at: int, group: Any) -> Iterator[tuple[StoredColumn, int, int]]:
        """Each column as the footer has it, where its pages begin in the file, and their bytes there."""
        schema, columns = self.metadata.schema, group.get(_COLUMNS, [])
        if len(columns) != len(schema):
            raise _contradiction(f"{len(columns)} columns in row group {at}, {len(schema)} in the schema")
        for position, column in enumerate(columns):
            about, expected = column.get(_META_DATA, {}), schema.column(position)
            path = b".".join(about.get(_PATH, [])).decode("utf-8", "replace")
            values, stored = _whole(about, _VALUES, -1), _whole(about, _STORED, -1)
            kind = dict(enumerate(_TYPES)).get(about.get(_TYPE))
            nested = expected.max_repetition_level > 0
            rows = values if nested else group[_GROUP_ROWS]
            if (path, kind, values) != (expected.path, expected.physical_type, rows) or min(stored, values) < 0:
                said = f"{path!r} with {values} values of {kind} and {stored} bytes in row group {at}"
                wanted = f"{group[_GROUP_ROWS]} rows, and {expected.path!r} of {expected.physical_type}"
                raise _contradiction(f"{said}, where it has {wanted}")
            width = expected.length or 0 if kind == "FIXED_LEN_BYTE_ARRAY" else _WIDTHS.get(str(kind), 0)
            # Arrow begins where the dictionary is only if that is before the data.
            places = [about.get(_DATA_AT, 0), about.get(_DICTIONARY_AT, 0)]
            first, packed = min(each for each in places if each > 0 or each == places[0]), about.get(_PACKED, 0)
            encodings = frozenset(about.get(_ENCODINGS, []))
            yield StoredColumn(at, path, values, stored, encodings, width, nested), first, packed

    def _with_pages(self, found: StoredColumn, first: int, packed: int) -> StoredColumn:
        """The column with what its pages say, up to the first that cannot be read: Arrow reads no further either."""
        if self._remote:
            return found
        unpacked, encodings, at = 0, set(found.encodings), first
        with self._bytes() as file:
            while at < first + packed and (page := _header(file, at)) is not None:
                header, length = page
                unpacked += max(_whole(header, _PAGE_UNPACKED), 0)
                for kind, encoding in ((_DATA, _ENCODING), (_DATA_2, _ENCODING_2)):
                    if isinstance(header.get(kind), dict):
                        encodings.add(_whole(header[kind], encoding))
                at += length + max(_whole(header, _PAGE_PACKED), 0)
        return replace(found, stored=max(found.stored, unpacked), encodings=frozenset(encodings))

    @cached_property
    def _row_groups(self) -> list[Any]:
        """The row groups as the footer has them, of which Arrow has read the schema."""
        with self._bytes() as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _END, 0))
            end = file.read(_END)
            length = int.from_bytes(end[-_TAIL:-4], "little") + _TAIL
            if length > len(end):
                file.seek(max(size - length, 0))
                end = file.read(length)
        try:
            footer, _ = read_struct(end, len(end) - length)
        except (IndexError, RecursionError):
            raise _contradiction("it ends before what it holds") from None
        groups = list(footer.get(_ROW_GROUPS, []))
        rows = [_whole(group, _GROUP_ROWS, -1) for group in groups]
        if min(rows, default=0) < 0 or sum(rows) != footer.get(_NUM_ROWS):
            raise _contradiction(f"{footer.get(_NUM_ROWS)} rows, in row groups of {rows[:5]}")
        return groups

    def _bytes(self) -> AbstractContextManager[Any]:
        return Path(self._from).open("rb") if isinstance(self._from, (str, Path)) else nullcontext(self._from)


def _whole(fields: Any, number: int, otherwise: int = 0) -> int:
    value = fields.get(number, otherwise) if isinstance(fields, dict) else otherwise
    return value if isinstance(value, int) else otherwise


def _contradiction(said: str) -> pa.ArrowInvalid:
    return pa.ArrowInvalid(f"the footer contradicts itself: {said}")


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
