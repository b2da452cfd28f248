"""Arrow's files and streams, as Feather is one, within a limit: packed buffers may hold gigabytes."""

from collections.abc import Iterator
from struct import calcsize, unpack_from
from typing import Any

import pyarrow as pa

from ..input_files.limit import Budget

#: Behind its first bytes a file is a stream.
_FILE, _BEFORE = b"ARROW1", 8
_OF_DICTIONARY, _OF_ROWS = 2, 3


def read_ipc(content: bytes, budget: Budget) -> pa.Table:
    """The table in a file or a stream; whatever Arrow raises for a damaged one is passed on."""
    stream: Any = pa.py_buffer(content)[_BEFORE if content.startswith(_FILE) else 0 :]
    for message in pa.ipc.MessageReader.open_stream(stream):
        budget.spend(sum(_sizes(message.metadata.to_pybytes(), message.body)))
    table = pa.ipc.open_stream(stream).read_all()
    table.validate(full=True)
    return table


def _sizes(metadata: bytes, body: Any) -> Iterator[int]:
    """The number of rows of a message and the unpacked sizes of its buffers, by Arrow's Message.fbs."""

    def number(kind: str, at: int) -> int:
        return int(unpack_from(kind, metadata, at)[0])

    def field(table: int, place: int) -> int:  # 0 where it is left out
        names, at = table - number("<i", table), 4 + 2 * place
        offset = number("<H", names + at) if at < number("<H", names) else 0
        return table + offset if offset else 0

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
