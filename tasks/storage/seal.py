"""The seal of a Parquet file: its kind, the fingerprint of what it belongs to, and a digest of its rows.

A file that is truncated, altered or of another study is refused by `Damaged`, never silently used.
"""

import contextlib
import hashlib
import io
import json
import threading

import pyarrow as pa
import pyarrow.parquet as pq
from cachetools import LRUCache

from ..record import canonical
from ..schema import SCHEMA_VERSION, to_numpy

_KEY = b"sigstats"
#: Tables of files of at most the first number of bytes are kept, all together of at most the second: a run reads the
#: file of a cell to see what is left, to finish it, to summarise it and to report it, and to check it takes longest.
_SMALL, _KEPT = 2**18, 2**26
_SIZE_OF_ENTRY = 2**11
_kept: "LRUCache[tuple[bytes, str, str | None], pa.Table]" = LRUCache(
    _KEPT, getsizeof=lambda t: t.nbytes + _SIZE_OF_ENTRY
)
_lock = threading.Lock()


class Damaged(Exception):
    """A stored file that is not whole or belongs to something else; the message names it and gives the reason."""


def seal(table: pa.Table, *, kind: str, fingerprint: str) -> bytes:
    """The bytes of a Parquet file of `table` with its seal; equal tables give equal bytes."""
    digest = _content_digest(table, SCHEMA_VERSION, kind, fingerprint)
    values = {"schema": SCHEMA_VERSION, "kind": kind, "fingerprint": fingerprint, "digest": digest}
    metadata = dict(table.schema.metadata or {}) | {_KEY: canonical(values).encode()}
    buffer = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), buffer, compression="zstd", write_page_checksum=True)
    return buffer.getvalue()


def unseal(content: bytes, name: str, *, kind: str, fingerprint: str | None = None) -> pa.Table:
    """The table of a sealed file, which messages call `name`; any fingerprint is accepted by default.

    Raises Damaged if the file is not whole, was altered, is of another kind, or carries another fingerprint.
    """
    if len(content) > _SMALL:
        return _checked(content, name, kind, fingerprint)
    key = (content, kind, fingerprint)
    with _lock:
        table = _kept.get(key)
    if table is None:
        table = _checked(content, name, kind, fingerprint)
        with _lock, contextlib.suppress(ValueError):  # larger than all that is kept
            _kept[key] = table
    return table


def _checked(content: bytes, name: str, kind: str, fingerprint: str | None) -> pa.Table:
    try:
        table = pq.read_table(io.BytesIO(content), page_checksum_verification=True)
        values = json.loads((table.schema.metadata or {})[_KEY])
        items = (values["schema"], values["kind"], values["fingerprint"], values["digest"])
        rest = {key: value for key, value in table.schema.metadata.items() if key != _KEY} or None
        table = table.replace_schema_metadata(rest)
        whole = items[3] == _content_digest(table, *items[:3])
    except Exception as error:  # any bit may be flipped, in a name of a column too, so anything may fail
        raise Damaged(f"{name} is not a whole file of this program ({type(error).__name__})") from None
    if not whole:
        raise Damaged(f"{name} was altered after it was written")
    if items[:2] != (SCHEMA_VERSION, kind):
        raise Damaged(f"{name} holds {items[1]!r} of schema {items[0]}, not {kind!r} of schema {SCHEMA_VERSION}")
    if fingerprint is not None and items[2] != fingerprint:
        raise Damaged(f"{name} belongs to something else (fingerprint {items[2][:10]}, not {fingerprint[:10]})")
    return table


def _content_digest(table: pa.Table, *about: object) -> str:
    state = hashlib.sha256(repr(about).encode())
    for key, value in sorted((table.schema.metadata or {}).items()):
        state.update(repr((key, value)).encode())
    for field, column in zip(table.schema, table.columns, strict=True):
        meaning = sorted(item for item in (field.metadata or {}).items() if not item[0].startswith(b"PARQUET:"))
        state.update(repr((field.name, str(field.type), field.nullable, meaning, len(column))).encode())
        if column.null_count == 0 and (pa.types.is_primitive(field.type) and not pa.types.is_temporal(field.type)):
            state.update(to_numpy(column).tobytes())
        else:
            state.update(json.dumps(column.to_pylist(), default=str).encode())
    return state.hexdigest()
