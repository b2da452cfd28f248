"""Rows of JSON: the rows in an object, and their table, with a column for each wanted key."""

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from sigstats._common.validation import shown

from ...inputs.content import Content, Twice, parse_json
from ...tables.spelling import LARGEST_WHOLE
from .._columns import Columns
from . import what_lies_beside

#: What a value is to JSON, and the column that holds it; a key that the first object lacks is taken for text.
KINDS: dict[type, tuple[str, pa.DataType]] = {
    str: ("string", pa.string()),
    bool: ("boolean", pa.bool_()),
    int: ("number", pa.int64()),
    float: ("number", pa.float64()),
    type(None): ("null", pa.string()),
}


#: An object of more keys, none of which is a column that is wanted, has the prediction of each id.
_MANY = 10


def table_of(objects: Iterable[Any], columns: Columns) -> tuple[list[str], pa.Table]:
    """The keys of the first object, and the columns that are wanted."""
    keys: list[str] = []
    values: dict[str, list[Any]] = {}
    for number, row in enumerate(objects):
        if not isinstance(row, dict):
            raise ValueError(f"row {number} (from 0) is not an object")
        if not number:
            keys = list(row)
            values = {name: [] for name in columns.wanted_in(keys)}
        twice = row.keys_twice.intersection(values) if isinstance(row, Twice) else ()
        if twice:
            raise ValueError(f"row {number} (from 0) has {shown(min(twice))} more than once")
        for name, column in values.items():
            column.append(row[name] if name in row else within(row, name))
    values = values or {name: [] for name in columns.wanted}
    return keys, pa.table({name: _column(name, value, exact=name in columns.numbers) for name, value in values.items()})


def within(value: Any, path: str) -> Any:
    """The value at ``answer.text`` in an object; None if there is none."""
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def names_of(keys: list[str], table: pa.Table) -> list[str]:
    """The keys of the first object, and those that others have values of."""
    return [*keys, *(n for n in table.column_names if n not in keys and table[n].null_count < table.num_rows)]


def _column(name: str, values: list[Any], *, exact: bool) -> Any:
    """A column of one type, with numbers of any size; as text if `exact` ones may be rounded."""
    kinds = {type(value) for value in values} - {type(None)}
    for kind in kinds.difference(KINDS):
        raise ValueError(f"column {shown(name)} has {'lists' if kind is list else 'objects'}; expected text or numbers")
    if len(words := sorted({f"{KINDS[kind][0]}s" for kind in kinds})) > 1:
        raise ValueError(f"column {shown(name)} has {' and '.join(words)}; expected one kind")
    if exact and kinds == {int, float} and any(type(value) is int and abs(value) > LARGEST_WHOLE for value in values):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    if float in kinds:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if int in kinds and not all(value is None or -(2**63) <= value < 2**63 for value in values):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    return pa.array(values, next((KINDS[kind][1] for kind in kinds), pa.string()))


def is_nested(entries: Any) -> bool:
    """True if an object contains lists or objects, and so is not a row."""
    return isinstance(entries, dict) and any(isinstance(value, (list, dict)) for value in entries.values())


def first_of(content: Content) -> dict[str, Any] | None:
    """The object in the first line of a file that begins with a brace; None if it has several lines."""
    try:
        first: dict[str, Any] = parse_json(content.first_line, content.budget)
    except UnicodeDecodeError:
        raise
    except ValueError:
        return None
    return first


def rows_of_object(content: Content, columns: Columns) -> list[Any] | None:
    """The rows of a file that is one object; None if it is several objects, or not a table.

    Read are pandas' forms ``split``, ``columns``, ``index`` and ``table``, the first of which is MLflow's too; an
    object with the row of each id; and one with the prediction of each id.
    """
    first = first_of(content)
    if first is not None and not _holds_more(first, columns):
        return None
    try:
        entries = content.json(twice=True)
    except ValueError:  # several objects
        return None
    if not isinstance(entries, dict):
        return None
    rows = _rows(entries, columns)
    for value in () if rows is None else (entries, *entries.values()):  # of keys that are ids, or columns, none is lost
        content.once(value)
    return rows


def _holds_more(first: Mapping[str, Any], columns: Columns) -> bool:
    """True if the first line may be a whole table rather than a row."""
    mapped = len(first) > (_MANY if columns.truth is None else 1) and not {
        columns.prediction,
        columns.label,
        columns.score,
    }.intersection(first)
    return (is_nested(first) or mapped) and not isinstance(first.get(columns.id), (str, int, float))


def _rows(result: Mapping[str, Any], columns: Columns) -> list[Any] | None:
    names, data, values = result.get("columns"), result.get("data"), list(result.values())
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        rows = [dict(zip(map(str, names), row, strict=False)) for row in data]
        index = result.get("index")
        if isinstance(index, list) and len(index) == len(rows) and columns.id not in names:
            return [{columns.id: key, **row} for key, row in zip(index, rows, strict=True)]
        return rows
    if isinstance(data, list) and isinstance(result.get("schema"), dict):
        return data
    if values and all(isinstance(value, dict) for value in values):
        return _of_objects(result, columns)
    if len(result) > 1 and all(isinstance(value, (str, int, float)) for value in values):
        name = columns.prediction if columns.score is None else columns.score
        return [{columns.id: key, name: value} for key, value in result.items()]
    return None


def _of_objects(result: Mapping[str, Mapping[str, Any]], columns: Columns) -> list[Any] | None:
    first = next(iter(result.values()))
    wanted = {columns.id, columns.label, columns.prediction, columns.score}
    alike = len(result) > 1 and all(value.keys() == first.keys() for value in result.values())
    if alike and (wanted.intersection(result) or all(map(str.isdecimal, first))):
        keyed = () if columns.id in result else first
        rows = [{name: column[key] for name, column in result.items()} for key in first]
        return [{columns.id: key, **row} for key, row in zip(keyed, rows, strict=True)] if keyed else rows
    named = any(name in first or (name or "").partition(".")[0] in first for name in wanted)
    if named or (alike and not what_lies_beside(result)):
        return [{columns.id: key, **row} for key, row in result.items()]
    return None
