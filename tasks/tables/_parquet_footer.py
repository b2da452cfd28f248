"""What the footer of a Parquet file says of the stored columns, where what it says agrees with itself.

pyarrow's own objects for a stored column end the process where the footer contradicts itself: their constructor throws
a C++ exception that Cython does not expect, and so does its writer of metadata. Here the footer
is read without them.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ._thrift import read_struct

#: A footer ends with its length and a mark, and is read with so many bytes before it, as Arrow reads it.
_TAIL, _PIECE = 8, 2**16

# Fields of parquet.thrift (Apache Parquet 2.11): FileMetaData, RowGroup, ColumnChunk, ColumnMetaData.
_NUM_ROWS, _ROW_GROUPS = 3, 4
_COLUMNS, _GROUP_ROWS = 1, 3
_META_DATA = 3
_TYPE, _ENCODINGS, _PATH, _VALUES, _STORED, _PACKED, _DATA_AT, _DICTIONARY_AT = 1, 2, 3, 5, 6, 7, 9, 11

#: The physical types by their numbers, and the bytes of a value of those that have a width of their own.
_TYPES = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}


@dataclass(frozen=True)
class StoredColumn:
    """One column of one row group."""

    group: int
    position: int
    path: str
    #: Bytes of a value, 0 where they vary or the schema says it.
    width: int
    #: Their numbers in the format.
    encodings: frozenset[int]
    #: How many values there are, and their bytes once unpacked.
    values: int
    stored: int
    #: Where its pages begin in the file, and their bytes there.
    first: int
    packed: int


def stored_columns(file: pq.ParquetFile, row_groups: Sequence[Any], only: int | None = None) -> Iterator[StoredColumn]:
    """The columns of all row groups, or of one; `row_groups` are those of `row_groups_of`.

    Raises pyarrow.ArrowInvalid, the footer contradicts itself: counts of columns or of values, or a size below 0.
    """
    for at, group in enumerate(row_groups):
        if only is None or at == only:
            yield from _of_group(file, at, group)


def row_groups_of(source: Any) -> list[Any]:
    """The row groups of an open file as its footer has them, of which Arrow has read the schema.

    Raises
    ------
    pyarrow.ArrowInvalid
        The footer contradicts itself, or says a thing twice.
    """
    size = source.seek(0, os.SEEK_END)
    source.seek(max(size - _PIECE, 0))
    end = source.read(_PIECE)
    length = int.from_bytes(end[-_TAIL:-4], "little") + _TAIL
    if length > len(end):
        source.seek(max(size - length, 0))
        end = source.read(length)
    try:
        footer, _ = read_struct(end, len(end) - length)
    except (IndexError, RecursionError):
        raise _contradiction("it ends before what it holds") from None
    groups = footer.get(_ROW_GROUPS, [])
    rows = [_whole(group, _GROUP_ROWS) for group in groups]
    if min(rows, default=0) < 0 or sum(rows) != footer.get(_NUM_ROWS):
        raise _contradiction(f"{footer.get(_NUM_ROWS)} rows, in row groups of {rows[:5]}")
    return list(groups)


def _whole(fields: Any, number: int) -> int:
    value = fields.get(number) if isinstance(fields, dict) else None
    return value if isinstance(value, int) else -1


def _of_group(file: pq.ParquetFile, at: int, group: Any) -> Iterator[StoredColumn]:
    schema, columns = file.metadata.schema, group.get(_COLUMNS, [])
    if len(columns) != len(schema):
        raise _contradiction(f"{len(columns)} columns in row group {at}, {len(schema)} in the schema")
    for position, column in enumerate(columns):
        about, expected = column.get(_META_DATA, {}), schema.column(position)
        path = b".".join(about.get(_PATH, [])).decode("utf-8", "replace")
        values, stored = _whole(about, _VALUES), _whole(about, _STORED)
        kind = dict(enumerate(_TYPES)).get(about.get(_TYPE))
        rows = group[_GROUP_ROWS] if expected.max_repetition_level == 0 else values
        if (path, kind, values) != (expected.path, expected.physical_type, rows) or min(stored, values) < 0:
            said = f"{path!r} with {values} values of {kind} and {stored} bytes in row group {at}"
            wanted = f"{group[_GROUP_ROWS]} rows, and {expected.path!r} of {expected.physical_type}"
            raise _contradiction(f"{said}, where it has {wanted}")
        width = _WIDTHS.get(expected.physical_type, 0)
        encodings = frozenset(about.get(_ENCODINGS, []))
        # Arrow begins where the dictionary is only if that is before the data.
        places = [about.get(_DATA_AT, 0), about.get(_DICTIONARY_AT, 0)]
        first, packed = min(each for each in places if each > 0 or each == places[0]), about.get(_PACKED, 0)
        yield StoredColumn(at, position, path, width, encodings, values, stored, first, packed)


def _contradiction(said: str) -> pa.ArrowInvalid:
    return pa.ArrowInvalid(f"the footer contradicts itself: {said}")
