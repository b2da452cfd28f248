"""Parquet, and Arrow's own files and streams, within a limit: a file of kilobytes may contain gigabytes.

`read_parquet` compares the sizes in the metadata with the limit, and if these leave it open, those of decoded batches.
`read_ipc` counts batches as it reads them. A forged file may contain more than its metadata state (`docs/security.md`).
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..inputs.limit import Budget

#: The largest number of rows in a batch, and the bytes of text that it should contain at most.
_BATCH_ROWS, _BATCH_BYTES = 2**16, 2**27
#: Bytes of a value of the physical types that have a width.
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
#: The encodings in which a few bytes stand for many long values.
_DICTIONARY, _PREFIXES = {"PLAIN_DICTIONARY", "RLE_DICTIONARY"}, "DELTA_BYTE_ARRAY"
#: The end of an Arrow file, and the beginning of another.
_TWO_FILES = b"ARROW1ARROW1\0\0"
#: The end of an Arrow stream.
_END = b"\xff\xff\xff\xff\0\0\0\0"
#: Bytes of the offset at which a string begins.
_OFFSET = 4


class _Chunk(NamedTuple):
    """One column of one row group, as described by the metadata."""

    path: str
    values: int
    #: Bytes of all values once they are unpacked, but still encoded.
    stored: int
    #: Smallest and largest possible size in memory, in bytes: no text is longer than all stored bytes.
    least: int
    most: int
    #: True if texts are codes of a dictionary.
    dictionary: bool
    #: True if texts are stored without the prefix shared with the previous text.
    prefixes: bool


def open_parquet(source: Any, **options: Any) -> pq.ParquetFile:
    """Open a Parquet file, a path or an open file that can be read by place; checksums of pages are verified."""
    return pq.ParquetFile(source, page_checksum_verification=True, pre_buffer=False, **options)


def read_parquet(
    source: Any, budget: Budget, wanted: Collection[str] | None = None, *, coded: bool = False
) -> tuple[list[str], pa.Table]:
    """Return the names of all columns, and the table of those that are wanted.

    `source`: a path, or an open file that can be read by place.
    `budget`: the memory that the columns may take.
    `wanted`: all by default; names that the file lacks are left out.
    `coded`: whether text that is stored as codes of few values is read as codes, which takes a fifth of the time.

    Errors of Arrow for a damaged file are passed on.
    """
    reopen = partial(open_parquet, source)
    names = reopen().schema_arrow.names
    columns = [name for name in names if wanted is None or name in wanted]
    return names, read_columns(reopen, columns, budget, coded=coded)


def read_columns(
    reopen: Callable[..., pq.ParquetFile],
    columns: Sequence[str],
    budget: Budget,
    *,
    group: int | None = None,
    coded: bool = False,
) -> pa.Table:
    """Return columns of a file, or of one of its row groups, within the limit.

    `reopen`: opens the file with the options of `pyarrow.parquet.ParquetFile`. The rest is as in `read_parquet`.
    """
    file = reopen()
    groups = list(range(file.num_row_groups)) if group is None else [group]
    chunks = [chunk for value in groups for chunk in _chunks(file, columns, value)]
    budget.require(sum(chunk.stored for chunk in chunks))
    budget.require(sum(chunk.least for chunk in chunks))
    if sum(chunk.most for chunk in chunks) > budget.limit:
        for size in _decoded_sizes(reopen, chunks, columns, groups, budget.limit):
            budget.require(size)
    if coded and (few := _of_few_values(file, columns, chunks)):
        file = reopen(read_dictionary=few)
    table = file.read_row_groups(groups, columns=list(columns), use_threads=group is None)
    table.validate(full=True)  # a code without a value would be looked up in memory that is not the file's
    return table


def stored_size(file: pq.ParquetFile, columns: Sequence[str], group: int) -> int:
    """Return the stored bytes of these columns in a row group, whose rows may be read in batches."""
    return sum(chunk.stored for chunk in _chunks(file, columns, group))


def _chunks(file: pq.ParquetFile, columns: Sequence[str], group: int) -> Iterator[_Chunk]:
    """Yield the chunks of these columns, and of the fields within them, in a row group."""
    metadata = file.metadata.row_group(group)
    for place in range(metadata.num_columns):
        leaf, chunk = file.schema.column(place), metadata.column(place)
        if leaf.path not in columns and not any(leaf.path.startswith(f"{name}.") for name in columns):
            continue
        width = leaf.length or _WIDTHS.get(leaf.physical_type, 0)
        values, stored = chunk.num_values, chunk.total_uncompressed_size
        if min(values, stored) < 0:
            raise pa.ArrowInvalid(f"column {leaf.path!r} with {values} values in {stored} bytes")
        encodings = () if width else chunk.encodings
        dictionary, prefixes = not _DICTIONARY.isdisjoint(encodings), _PREFIXES in encodings
        least = values * (width or _OFFSET)
        most = least if width else least + stored * (values if dictionary or prefixes else 1)
        yield _Chunk(leaf.path, values, stored, least, most, dictionary, prefixes)


def _of_few_values(file: pq.ParquetFile, columns: Sequence[str], chunks: Sequence[_Chunk]) -> list[str]:
    """Return the columns of text that are stored as codes of at most two bytes."""
    schema = file.schema_arrow
    texts = {schema.names[place] for place, kind in enumerate(schema.types) if kind in (pa.string(), pa.large_string())}
    many = {chunk.path for chunk in chunks if not chunk.dictionary or chunk.stored > 2 * chunk.values}
    return [name for name in columns if name in texts - many and schema.names.count(name) == 1]


def _decoded_sizes(
    reopen: Callable[..., pq.ParquetFile],
    chunks: Sequence[_Chunk],
    columns: Sequence[str],
    groups: Sequence[int],
    limit: int,
) -> Iterator[int]:
    """Yield the size in memory of more and more batches of few rows. Texts, which may repeat, are read as codes."""
    shared = [chunk.stored for chunk in chunks if chunk.prefixes]
    texts = {chunk.path for chunk in chunks if chunk.dictionary} - {chunk.path for chunk in chunks if chunk.prefixes}
    rows = min(_BATCH_BYTES * chunk.values // chunk.stored for chunk in chunks if chunk.stored)
    if shared:
        rows = min(rows, limit // (16 * max(shared) * len(shared)))
    file, size = reopen(read_dictionary=sorted(texts)), 0
    for group in groups:  # one by one, since Arrow joins no codes within lists
        for batch in file.iter_batches(min(max(rows, 1), _BATCH_ROWS), row_groups=[group], columns=list(columns)):
            batch.validate(full=True)
            size += sum(map(_decoded_size, batch.columns))
            yield size


def _decoded_size(array: Any) -> int:
    """Return the size of an array in memory, in bytes, once its codes are replaced by their values."""
    if pa.types.is_dictionary(array.type):
        lengths: Any = pc.binary_length(array.dictionary)
        return _OFFSET * len(array) + int(pc.sum(lengths.take(array.indices)).as_py() or 0)
    if pa.types.is_nested(array.type):
        inner = [array.keys, array.items] if pa.types.is_map(array.type) else array.flatten()
        return _OFFSET * len(array) + sum(map(_decoded_size, inner if isinstance(inner, list) else [inner]))
    return int(array.nbytes)


def read_ipc(content: bytes, budget: Budget) -> pa.Table:
    """Return the table in a file or a stream of Arrow; its errors for a damaged one are passed on.

    Batches are unpacked one after the other, and each is counted once it is.
    """
    if _TWO_FILES in content:
        raise ValueError("has more than one file; write all rows to one")
    source: Any = pa.BufferReader(pa.py_buffer(content))
    is_file = content.startswith(b"ARROW1")
    reader: Any = pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)
    batches, before = [], pa.total_allocated_bytes()
    for batch in map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader:
        taken = max(pa.total_allocated_bytes() - before, 0)  # nothing for what is used where it lies in `content`
        budget.spend(taken + batch.num_rows)
        before += taken
        batches.append(batch)
    if not is_file and not (source.tell() == len(content) and content.endswith(_END)):
        wrong = "has more than one stream" if source.tell() < len(content) else "ends without the end of the stream"
        raise ValueError(f"{wrong}; write all rows to one stream, and close it")
    table = pa.Table.from_batches(batches, reader.schema)
    table.validate(full=True)
    return table
