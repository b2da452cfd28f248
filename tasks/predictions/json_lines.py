"""JSON-lines: an object a line, with a key for each column."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import json as arrow_json

from sigstats._common.validation import shown

from ..input_files import reason
from ..tables.arrow import ArrowTable
from ._predictions import Columns, Predictions, from_table

ORDER = 50

#: Bytes that a thread parses at once.
_PIECE = 2**24

#: What a value is to JSON, and the column that holds it; a key that the first object lacks is taken for text.
_KINDS: dict[type, tuple[str, pa.DataType]] = {
    str: ("string", pa.string()),
    bool: ("boolean", pa.bool_()),
    int: ("number", pa.int64()),
    float: ("number", pa.float64()),
    type(None): ("null", pa.string()),
}


class _Twice(dict[str, Any]):
    """An object with keys that are there more than once."""

    keys_twice: frozenset[str]


def reads(place: Path) -> bool:
    """A file whose first line begins with a brace."""
    with place.open("rb") as handle:
        return handle.readline(1000).lstrip().startswith(b"{")


def read(place: Path, columns: Columns) -> Predictions:
    """Read the keys that are wanted; what other keys hold decides nothing."""
    try:
        keys, table = _fast(place, columns) or _any(place, columns)
    except (pa.ArrowException, OSError, ValueError, RecursionError, OverflowError) as error:
        raise ValueError(f"{place}: cannot be read as JSON-lines ({reason(error)})") from None
    later = [name for name in table.column_names if name not in keys and table[name].null_count < table.num_rows]
    return from_table(ArrowTable(str(place), table, names=[*keys, *later]), columns)


def _fast(place: Path, columns: Columns) -> tuple[list[str], pa.Table] | None:
    """The keys of the first object, and the columns if each is of one type for Arrow; None where one is not."""
    with place.open("rb") as handle:
        try:
            first = json.loads(handle.readline(_PIECE))
        except ValueError:  # an object of several lines
            return None
    schema = []
    for name in columns.wanted:
        kind = _KINDS.get(type(first.get(name)))
        if kind is None:
            return None
        schema.append(pa.field(name, pa.float64() if name == columns.score and kind[0] == "number" else kind[1]))
    options = arrow_json.ParseOptions(explicit_schema=pa.schema(schema), unexpected_field_behavior="ignore")
    try:
        return list(first), arrow_json.read_json(place, arrow_json.ReadOptions(block_size=_PIECE), options)
    except pa.ArrowInvalid:
        return None


def _any(place: Path, columns: Columns) -> tuple[list[str], pa.Table]:
    """The same, object by object: whatever Arrow refuses is read, or named."""
    keys: list[str] = []
    values: dict[str, list[Any]] = {name: [] for name in columns.wanted}
    for number, row in enumerate(_objects(place)):
        if not isinstance(row, dict):
            raise ValueError(f"row {number} (from 0) is no object")
        twice = row.keys_twice.intersection(values) if isinstance(row, _Twice) else ()
        if twice:
            raise ValueError(f"row {number} (from 0) has {shown(min(twice))} more than once")
        keys = keys if number else list(row)
        for name, column in values.items():
            column.append(row.get(name))
    return keys, pa.table({name: _column(name, column) for name, column in values.items()})


def _objects(place: Path) -> Iterator[Any]:
    decoder, text, at = json.JSONDecoder(object_pairs_hook=_object), place.read_text(encoding="utf-8"), 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        else:
            found, at = decoder.raw_decode(text, at)
            yield found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        found = _Twice(found)
        found.keys_twice = frozenset(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
    return found


def _column(name: str, values: list[Any]) -> Any:
    """A column of one type, numbers of any size among them."""
    kinds = {type(value) for value in values} - {type(None)}
    _require_one_kind(name, kinds)
    if float in kinds:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if int in kinds and not _fits_int64(values):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    return pa.array(values, next((_KINDS[kind][1] for kind in kinds), pa.string()))


def _require_one_kind(name: str, kinds: set[type]) -> None:
    for kind in kinds.difference(_KINDS):
        found = "lists" if kind is list else "objects"
        raise ValueError(f"column {shown(name)} has {found}; expected text or numbers")
    words = sorted({f"{_KINDS[kind][0]}s" for kind in kinds})
    if len(words) > 1:
        raise ValueError(f"column {shown(name)} has {' and '.join(words)}; expected one kind")


def _fits_int64(values: list[Any]) -> bool:
    return all(value is None or -(2**63) <= value < 2**63 for value in values)
