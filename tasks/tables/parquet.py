"""The columns of a Parquet file, within a limit: a file of kilobytes may hold gigabytes, one value said many times."""

from collections.abc import Collection, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..input_files.limit import Budget

_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 12}
#: The encodings by which a few bytes stand for many long values.
_DICTIONARY = {"PLAIN_DICTIONARY", "RLE_DICTIONARY"}
_PREFIXES = "DELTA_BYTE_ARRAY"
#: Bytes for where a text begins.
_OFFSET = 4
#: Rows that are read at a time at most.
_BATCH = 2**16


def read_parquet(source: Any, budget: Budget, wanted: Collection[str] | None = None) -> tuple[list[str], pa.Table]:
    """The names of all columns, and the table of those that are wanted.

    Parameters
    ----------
    source
        A path, or an open file that can be read by place.
    budget : Budget
        What the columns may take in memory.
    wanted : collection of str, optional
        All by default; names that the file lacks are left out.

    Raises
    ------
    ValueError
        The columns take more than the limit. Whatever Arrow raises for a damaged file is passed on.
    """
    file = pq.ParquetFile(source)
    names = file.schema_arrow.names
    columns = [name for name in names if wanted is None or name in wanted]
    chunks = list(_chunks(file, columns))
    budget.require(sum(chunk.stored for chunk in chunks))
    try:
        budget.require(sum(chunk.bound for chunk in chunks))
    except ValueError:
        longest = [_longest_value(source, chunk, names) for chunk in chunks]
        sizes = [chunk.size(each) for chunk, each in zip(chunks, longest, strict=True)]
        if sum(sizes) > budget.limit:
            rows = min(max(budget.limit // (16 * max(longest) * len(columns)), 1), _BATCH)
            _require_size(file, columns, rows, budget)
    return names, file.read(columns=columns)


class _Chunk:
    """One column of one row group, as the footer tells it."""

    def __init__(self, group: int, about: Any, width: int) -> None:
        self.group, self.path, self.values = group, about.path_in_schema, about.num_values
        self.stored = about.total_uncompressed_size
        self._width = _WIDTHS.get(about.physical_type, width)
        self.dictionary = not self._width and not _DICTIONARY.isdisjoint(about.encodings)
        self.repeats = self.dictionary or (not self._width and _PREFIXES in about.encodings)

    @property
    def bound(self) -> int:
        """What it takes in memory at most: no value is longer than all that is stored."""
        return self.size(self.stored)

    def size(self, longest: int) -> int:
        """The same, where the length of the longest value is known."""
        if self._width:
            return int(self.values * self._width)
        return int(self.values * _OFFSET + (self.values * longest if self.repeats else self.stored))


def _chunks(file: Any, columns: list[str]) -> Iterator[_Chunk]:
    about = file.metadata
    for group in range(about.num_row_groups):
        row_group = about.row_group(group)
        for position in range(row_group.num_columns):
            chunk = row_group.column(position)
            if any(chunk.path_in_schema == name or chunk.path_in_schema.startswith(f"{name}.") for name in columns):
                width = about.schema.column(position).length or 0
                yield _Chunk(group, chunk, width if chunk.physical_type == "FIXED_LEN_BYTE_ARRAY" else 0)


def _longest_value(source: Any, chunk: _Chunk, names: list[str]) -> int:
    """The length of the longest value, from the dictionary alone, if there is no value beside it."""
    if not chunk.dictionary or chunk.path not in names:
        return int(chunk.stored)
    file = pq.ParquetFile(source, read_dictionary=[chunk.path])
    column: Any = next(file.iter_batches(1, row_groups=[chunk.group], columns=[chunk.path])).column(0)
    if not pa.types.is_dictionary(column.type):
        return int(chunk.stored)
    longest: Any = pc.max(pc.binary_length(column.dictionary))
    return max(int(longest.as_py() or 0), 1)


def _require_size(file: Any, columns: list[str], rows: int, budget: Budget) -> None:
    """Refuse columns that take more than the limit, of which so many rows are held at a time."""
    for batch in file.iter_batches(rows, columns=columns):
        budget.spend(batch.nbytes)
