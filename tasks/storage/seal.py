"""Sealed Parquet files: the names of the files of a cell's replicates, and the seal that each file carries.

The seal is the kind of a file, the fingerprint of its owner, and a digest of its rows. A truncated or altered file, or
a file from another study, raises `Damaged` and is never used silently.

A file of replicates contains a range of them, ``first <= replicate < last``, in order. The name gives the range; the
choice among overlapping files is `disjoint`.
"""

import hashlib
import io
import json
import re
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cachetools import LRUCache, cached
from numpy.typing import NDArray

from ..plan import Cell
from ..record import canonical
from ..schema import REPLICATE, SCHEMA_VERSION, SPAN, to_numpy

_KEY = b"sigstats"
#: The number of rows of a row group, as in PyArrow. A larger table can be written and read group by group.
ROWS = 1 << 20
#: A table in parts: a function of column names (None for all) that yields the row groups of these columns.
Parts: TypeAlias = Callable[[list[str] | None], Iterable[pa.Table]]
#: The largest file in bytes for which the table is cached, and the size of the cache. A run reads the file of a cell
#: several times, to find missing replicates, to finish, summarise and report it, and checking it takes longest.
_MOST_CACHED, _CACHE = 2**18, 2**26
#: The memory of an entry of the cache in addition to its table, in bytes.
_ENTRY = 2**11


class Damaged(Exception):
    """A stored file is damaged or belongs to something else. The message names the file and the reason."""


def seal(table: pa.Table, *, kind: str, fingerprint: str) -> bytes:
    """Return `table` as the bytes of a sealed Parquet file. Equal tables give equal bytes."""
    buffer = io.BytesIO()
    write_sealed(buffer, _parts_of(table), table.schema, len(table), kind=kind, fingerprint=fingerprint)
    return buffer.getvalue()


def write_sealed(target: IO[bytes], parts: Parts, schema: pa.Schema, rows: int, *, kind: str, fingerprint: str) -> None:
    """Write a table as a sealed Parquet file. It is given as one part, or in parts of `ROWS` rows and a last part."""
    digest = _content_digest(parts, schema, rows, SCHEMA_VERSION, kind, fingerprint)
    values = {"schema": SCHEMA_VERSION, "kind": kind, "fingerprint": fingerprint, "digest": digest}
    schema = schema.with_metadata(dict(schema.metadata or {}) | {_KEY: canonical(values).encode()})
    with pq.ParquetWriter(target, schema, compression="zstd", write_page_checksum=True) as writer:
        for part in parts(None):
            writer.write_table(part.replace_schema_metadata(schema.metadata))


def write_joined(
    target: IO[bytes], tables: Callable[[], Iterable[pa.Table]], *, in_memory: bool, kind: str, fingerprint: str
) -> None:
    """Write the rows of several tables as one file. Unless they fit `in_memory`, each column reads them again."""
    loaded = list(tables()) if in_memory else None

    def parts(columns: list[str] | None) -> Iterator[pa.Table]:
        return _in_groups((table if columns is None else table.select(columns)) for table in loaded or tables())

    sizes = [(len(table), table.schema) for table in loaded or tables()]
    rows, schema = sum(size for size, _ in sizes), sizes[0][1]
    write_sealed(target, parts, schema, rows, kind=kind, fingerprint=fingerprint)


def _in_groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Yield the rows of tables, in order, as parts for `write_sealed`."""
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        while sum(map(len, waiting)) >= ROWS:
            rows = pa.concat_tables(waiting)
            yield rows.slice(0, ROWS).combine_chunks()
            waiting = [rows.slice(ROWS)]
    if any(map(len, waiting)):
        yield pa.concat_tables(waiting).combine_chunks()


def _parts_of(table: pa.Table) -> Parts:
    """Return a table as one part."""
    return lambda columns: [table if columns is None else table.select(columns)]


def unseal(content: bytes, name: str, *, kind: str, fingerprint: str | None = None) -> pa.Table:
    """Return the table of a sealed file. Messages call the file `name`; any fingerprint is accepted by default.

    Raises Damaged if the file is damaged or altered, or has another kind or fingerprint.
    """
    read = _read_cached if len(content) <= _MOST_CACHED else _read_whole
    return read(content, name, kind, fingerprint)


def _read_whole(content: bytes, name: str, kind: str, fingerprint: str | None) -> pa.Table:
    (table,) = read_sealed(io.BytesIO(content), name, kind=kind, fingerprint=fingerprint, whole=True)(None)
    return table


_read_cached = cached(
    LRUCache(_CACHE, getsizeof=lambda table: table.nbytes + _ENTRY),
    key=lambda content, name, kind, fingerprint: (content, kind, fingerprint),
    lock=threading.Lock(),
)(_read_whole)


def read_sealed(source: Any, name: str, *, kind: str, fingerprint: str | None = None, whole: bool = False) -> Parts:
    """Return the row groups of a sealed file, or its `whole` table as one part, after the checks of `unseal`."""
    try:
        file = pq.ParquetFile(source, page_checksum_verification=True)
        stored = file.schema_arrow.metadata or {}
        values = json.loads(stored[_KEY])
        version, stored_kind, stored_fingerprint = about = values["schema"], values["kind"], values["fingerprint"]
        schema = file.schema_arrow.with_metadata({key: value for key, value in stored.items() if key != _KEY})

        def groups(columns: list[str] | None) -> Iterator[pa.Table]:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group, columns).replace_schema_metadata(schema.metadata or None)

        parts = _parts_of(file.read().replace_schema_metadata(schema.metadata or None)) if whole else groups
        intact = values["digest"] == _content_digest(parts, schema, file.metadata.num_rows, *about)
    except Exception as error:  # any bit may be flipped, even in a column name, so anything may fail
        raise Damaged(f"{name} is damaged, or was not written by sigstats ({type(error).__name__})") from None
    if not intact:
        raise Damaged(f"{name} was altered after it was written")
    if (version, stored_kind) != (SCHEMA_VERSION, kind):
        raise Damaged(f"{name} contains {stored_kind!r} (schema {version}), not {kind!r} (schema {SCHEMA_VERSION})")
    if fingerprint is not None and stored_fingerprint != fingerprint:
        problem = f"fingerprint {stored_fingerprint[:10]}, not {fingerprint[:10]}"
        raise Damaged(f"{name} belongs to another study or cell ({problem})")
    return parts


def _content_digest(parts: Parts, schema: pa.Schema, rows: int, *about: object) -> str:
    """Return the digest of the values of a table, its schema and `about`, which does not depend on the row groups."""
    state = hashlib.sha256(repr(about).encode())
    for key, value in sorted((schema.metadata or {}).items()):
        state.update(repr((key, value)).encode())
    for field in schema:
        meaning = sorted(item for item in (field.metadata or {}).items() if not item[0].startswith(b"PARQUET:"))
        state.update(repr((field.name, str(field.type), field.nullable, meaning, rows)).encode())
        numbers = pa.types.is_primitive(field.type) and not pa.types.is_temporal(field.type)
        if numbers and not any(part.column(0).null_count for part in parts([field.name])):
            for part in parts([field.name]):
                state.update(to_numpy(part.column(0)).tobytes())
        else:
            values: Any = (part.column(0).to_pylist() for part in parts([field.name]))
            texts = (json.dumps(some, default=str)[1:-1] for some in values if some)
            state.update(f"[{', '.join(texts)}]".encode())
    return state.hexdigest()


#: The folders of finished cells, and of the blocks of unfinished cells.
REPLICATES, BLOCKS = "replicates", "blocks"
#: The folder of parts of cells, which are stored for later plans with more parts.
PARTS = "counts"
_NAME = re.compile(r"/(\d+)-(\d+)\.parquet$")


def folders(cell: Cell) -> tuple[str, str]:
    """Return the folder of a finished cell, and the folder of its blocks."""
    return f"{REPLICATES}/{cell.name}", f"{BLOCKS}/{cell.name}"


def finished_name(cell: Cell, first: int, last: int) -> str:
    """Return the name of the file of a finished cell."""
    return f"{folders(cell)[0]}/{first:09d}-{last:09d}.parquet"


def block_name(cell: Cell, first: int, last: int) -> str:
    """Return the name of the file of a block."""
    if (first, last) == (0, cell.replicates) and cell.stopping is None:
        return finished_name(cell, first, last)  # one block is the whole cell
    return f"{folders(cell)[1]}/{first:09d}-{last:09d}.parquet"


def range_of(cell: Cell, name: str) -> tuple[int, int] | None:
    """Return the range in the name of a file, or None if the cell has no such block.

    The last lane of a file may be incomplete if it was written for a plan with fewer replicates.
    """
    match = _NAME.search(name)
    if match is None:
        return None
    first, last = int(match[1]), int(match[2])
    return (first, last) if first < last <= cell.replicates and first % cell.lane_size == 0 else None


def usable_range(cell: Cell, first: int, last: int) -> tuple[int, int]:
    """Return the part of a file's range that a cell can use: the whole lanes, since the last lane may be cut short."""
    return first, last if last == cell.replicates else last - last % cell.lane_size


def require_range(tables: Iterable[pa.Table], first: int, last: int, file: str = "") -> None:
    """Raise Damaged (ValueError without a `file`) unless tables contain exactly the replicates of this range."""
    problem = f"replicates are not valid; expected {first} to {last - 1} in order"
    error = Damaged(f"{file}: {problem}") if file else ValueError(problem)
    begin = end = first  # of the row before
    for table in tables:
        numbers, ends = _bounds(table)
        # A row has the same replicate as the row before, or the next one.
        fits = (numbers == np.append(begin, numbers[:-1])) | (numbers == np.append(end, ends[:-1]))
        if not len(numbers) or not fits.all():
            raise error
        begin, end = int(numbers[-1]), int(ends[-1])
    if end != last:
        raise error


def _bounds(table: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first replicate of each row, and its last replicate plus one."""
    numbers = to_numpy(table.column(REPLICATE.name))
    span = to_numpy(table.column(SPAN.name)) if SPAN.name in table.column_names else 1
    return numbers, numbers + span


def replicates_of(table: pa.Table) -> int:
    """Return the number of replicates up to the end of a table."""
    return int(_bounds(table.slice(len(table) - 1))[1][0])


def first_replicates(table: pa.Table, replicates: int) -> pa.Table:
    """Return the rows of a table that begin with one of the first `replicates` replicates."""
    return table.slice(0, int(np.searchsorted(table.column(REPLICATE.name).to_numpy(), replicates)))


def disjoint(files: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Choose ranges of files that do not overlap; return them in order.

    The choice covers the longest range without a gap from the first replicate on; among such choices, it has the most
    replicates in the fewest files. Two runs that share the root cut a cell in different ways, and the cell is complete
    as soon as one run has completed it. If a stopping rule ended a cell, a block that overlaps the file of the finished
    cell cannot displace it.
    """
    files = sorted(files, key=lambda file: file[::-1])
    ends = [last for _, last in files]
    # The best choice among the first k files, for each k: the end of its gapless range, the number of replicates, minus
    # the number of files, and the chain of chosen files.
    best: list[tuple[int, int, int, Any]] = [(0, 0, 0, None)]
    for number, (first, last) in enumerate(files):
        reached, replicates, minus_files, chain = best[bisect_right(ends, first, hi=number)]
        reached = last if reached == first else reached
        with_file = (reached, replicates + last - first, minus_files - 1, ((first, last), chain))
        best.append(max(best[-1], with_file, key=lambda choice: choice[:3]))
    chosen, chain = [], best[-1][3]
    while chain is not None:
        file, chain = chain
        chosen.append(file)
    return chosen[::-1]
