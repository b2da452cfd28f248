"""A table of JSON objects, with a column for each key that is wanted."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from sigstats._common.validation import shown

from ...input_files.encoding import Twice
from ...tables.numbers import LARGEST_WHOLE
from .._predictions import Columns

#: What a value is to JSON, and the column that holds it; a key that the first object lacks is taken for text.
KINDS: dict[type, tuple[str, pa.DataType]] = {
    str: ("string", pa.string()),
    bool: ("boolean", pa.bool_()),
    int: ("number", pa.int64()),
    float: ("number", pa.float64()),
    type(None): ("null", pa.string()),
}


def table_of(objects: Iterable[Any], columns: Columns) -> tuple[list[str], pa.Table]:
    """The keys of the first object, and the columns that are wanted.

    Raises ValueError, one line: a row that is no object, a key that is there twice, a column of several kinds.
    """
    keys: list[str] = []
    values: dict[str, list[Any]] = {name: [] for name in columns.wanted}
    for number, row in enumerate(objects):
        if not isinstance(row, dict):
            raise ValueError(f"row {number} (from 0) is no object")
        twice = row.keys_twice.intersection(values) if isinstance(row, Twice) else ()
        if twice:
            raise ValueError(f"row {number} (from 0) has {shown(min(twice))} more than once")
        keys = keys if number else list(row)
        for name, column in values.items():
            column.append(row[name] if name in row else within(row, name))
    return keys, pa.table({name: _column(name, each, exact=name == columns.score) for name, each in values.items()})


def within(value: Any, path: str) -> Any:
    """What stands at ``answer.text`` in an object; None if there is nothing."""
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def names_of(keys: list[str], table: pa.Table) -> list[str]:
    """The keys of the first object, and those that others have values of."""
    return [*keys, *(n for n in table.column_names if n not in keys and table[n].null_count < table.num_rows)]


def _column(name: str, values: list[Any], *, exact: bool) -> Any:
    """A column of one type, numbers of any size among them; as text where `exact` ones may be rounded."""
    kinds = {type(value) for value in values} - {type(None)}
    _require_one_kind(name, kinds)
    if exact and kinds == {int, float} and any(type(value) is int and abs(value) > LARGEST_WHOLE for value in values):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    if float in kinds:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if int in kinds and not _fits_int64(values):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    return pa.array(values, next((KINDS[kind][1] for kind in kinds), pa.string()))


def _require_one_kind(name: str, kinds: set[type]) -> None:
    for kind in kinds.difference(KINDS):
        found = "lists" if kind is list else "objects"
        raise ValueError(f"column {shown(name)} has {found}; expected text or numbers")
    words = sorted({f"{KINDS[kind][0]}s" for kind in kinds})
    if len(words) > 1:
        raise ValueError(f"column {shown(name)} has {' and '.join(words)}; expected one kind")


def _fits_int64(values: list[Any]) -> bool:
    return all(value is None or -(2**63) <= value < 2**63 for value in values)
