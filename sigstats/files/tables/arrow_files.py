"""Parquet, and Arrow's own files and streams, within a limit: a file of kilobytes may hold gigabytes."""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from struct import calcsize, unpack_from
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..inputs.limit import Budget
from ._parquet_file import PagedFile as PagedFile
from ._parquet_file import StoredColumn

_TEXTS = (pa.string(), pa.large_string())
#: Rows that are read at a time at most.
_BATCH = 2**16


def read_parquet(
    source: Any, budget: Budget, wanted: Collection[str] | None = None, *, coded: bool = False
) -> tuple[list[str], pa.Table]:
    """The names of all columns, and the table of those that are wanted.

    `source`: a path, or an open file that can be read by place.
    `budget`: what the columns may take in memory.
    `wanted`: all by default; names that the file lacks are left out.
    `coded`: whether text that is stored as codes of few values is read as codes, which takes a fifth of the time.

    Whatever Arrow raises for a damaged file is passed on.
    """
    file = PagedFile(source)
    names = file.schema_arrow.names
    columns = [name for name in names if wanted is None or name in wanted]
    reopen = partial(PagedFile, source)
    require_columns(reopen, file, columns, budget)
    if coded and (few := _of_few_values(file, columns)):
        file = reopen(read_dictionary=few)
    return names, file.read(columns=columns)


def _of_few_values(file: PagedFile, columns: Sequence[str]) -> list[str]:
    """The columns of text of which a value takes two bytes at most where it is stored: they are codes."""
    schema = file.schema_arrow
    at = {name: schema.get_field_index(name) for name in columns}  # below 0 where a name is there twice
    texts = [name for name, position in at.items() if position >= 0 and schema.types[position] in _TEXTS]
    many = {chunk.path for chunk in file.stored(texts) if not chunk.dictionary or chunk.stored > 2 * chunk.values}
    return [name for name in texts if name not in many]


def require_columns(
    reopen: Callable[..., PagedFile],
    file: PagedFile,
    columns: Sequence[str],
    budget: Budget,
    *,
    group: int | None = None,
) -> None:
    """Refuse columns of a file, or of one of its row groups, that would take more than the limit."""
    chunks = list(file.stored(columns, group))
    budget.require(sum(chunk.stored for chunk in chunks))
    budget.require(sum(chunk.least for chunk in chunks if chunk.nested))
    try:
        budget.require(sum(chunk.size(chunk.stored) for chunk in chunks))
    except ValueError:
        longest = [_longest_value(reopen, chunk, file.schema_arrow.names) for chunk in chunks]
        sizes = [chunk.size(each) for chunk, each in zip(chunks, longest, strict=True)]
        if sum(sizes) > budget.limit:
            known = [chunk.nested and each < chunk.stored for chunk, each in zip(chunks, longest, strict=True)]
            budget.require(sum(size for size, exact in zip(sizes, known, strict=True) if exact))
            rows = min(max(budget.limit // (16 * max(longest) * len(columns)), 1), _BATCH)
            _require_size(file, columns, rows, budget, group)


def require_stored(file: PagedFile, columns: Sequence[str], group: int, budget: Budget) -> None:
    """Refuse columns of a row group of which more is stored than the limit; their rows may be read in batches."""
    budget.require(sum(chunk.stored for chunk in file.stored(columns, group)))


def _longest_value(reopen: Callable[..., PagedFile], chunk: StoredColumn, names: Sequence[str]) -> int:
    """The length of the longest value, from the dictionary alone, if there is no value beside it."""
    if not chunk.dictionary or not chunk.values or chunk.path.split(".")[0] not in names:
        return chunk.stored
    file = reopen(read_dictionary=[chunk.path])
    column: Any = next(file.iter_batches(1, row_groups=[chunk.group], columns=[chunk.path])).column(0)
    while pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        column = column.values
    if not pa.types.is_dictionary(column.type):
        return chunk.stored
    longest: Any = pc.max(pc.binary_length(column.dictionary))
    return max(int(longest.as_py() or 0), 1)


def _require_size(file: Any, columns: Sequence[str], rows: int, budget: Budget, group: int | None) -> None:
    """Refuse columns that take more than the limit, of which so many rows are held at a time."""
    groups = None if group is None else [group]
    for batch in file.iter_batches(rows, row_groups=groups, columns=columns):
        budget.spend(batch.nbytes)


_FILE = b"ARROW1"
_OF_DICTIONARY, _OF_ROWS = 2, 3


def read_ipc(content: bytes, budget: Budget) -> pa.Table:
    """The table in a file or a stream; whatever Arrow raises for a damaged one is passed on."""
    whole: Any = pa.py_buffer(content)
    messages: Any
    if content.startswith(_FILE):
        read = pa.ipc.open_file(whole).read_all
        messages = (pa.ipc.read_message(whole[at:]) for at in _places(content))
    else:
        read = pa.ipc.open_stream(whole).read_all
        messages = pa.ipc.MessageReader.open_stream(whole)
    for message in messages:
        budget.spend(sum(_sizes(message.metadata.to_pybytes(), message.body)))
    table = read()
    table.validate(full=True)
    return table


def _number(data: bytes, kind: str, at: int) -> int:
    return int(unpack_from(kind, data, at)[0])


def _field(data: bytes, table: int, place: int) -> int:
    """The position of a field of a table, 0 where it is left out."""
    names, at = table - _number(data, "<i", table), 4 + 2 * place
    offset = _number(data, "<H", names + at) if at < _number(data, "<H", names) else 0
    return table + offset if offset else 0


def _places(content: bytes) -> Iterator[int]:
    """The positions of the messages of a file, by the footer of Arrow's File.fbs, which is all that readers go by."""
    end = len(content) - len(_FILE) - calcsize("<i")
    footer = content[end - _number(content, "<i", end) : end]
    root = _number(footer, "<I", 0)
    for place in (_OF_DICTIONARY, _OF_ROWS):
        if at := _field(footer, root, place):
            start = at + _number(footer, "<I", at)
            for number in range(_number(footer, "<I", start)):
                yield _number(footer, "<q", start + 4 + number * calcsize("<qiiq"))


def _sizes(metadata: bytes, body: Any) -> Iterator[int]:
    """The number of rows of a message and the unpacked sizes of its buffers, by Arrow's Message.fbs."""
    number, field = partial(_number, metadata), partial(_field, metadata)
    root = number("<I", 0)
    kind, header = number("<B", field(root, 1)), field(root, 2)
    if kind not in (_OF_DICTIONARY, _OF_ROWS):
        return
    batch = header + number("<I", header)
    if kind == _OF_DICTIONARY:
        batch = field(batch, 1) + number("<I", field(batch, 1))
    yield number("<q", field(batch, 0)) if field(batch, 0) else 0
    if not field(batch, 2) or body is None:
        return
    start = field(batch, 2) + number("<I", field(batch, 2))
    packed = bool(field(batch, 3))
    for place in range(number("<I", start)):
        offset, length = unpack_from("<qq", metadata, start + 4 + place * calcsize("<qq"))
        # A packed buffer begins with its size; -1 says that it is not.
        yield max(length, unpack_from("<q", body, offset)[0] if packed and length else 0)
