"""JSON with a key for each column: one object per line, an array of objects, or one object that contains the rows.

Lines of simple objects are read by Arrow (`_fast`); all other files are parsed by Python, object by object.
"""

import contextlib
import json
import mmap
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.messages import RepeatedKeyError, each_once
from sigstats._common.validation import refuse, shown

from ...inputs import reading
from ...inputs.content import Content, parse_json, size_of_objects
from ...tables.spelling import LARGEST_WHOLE
from ...tables.table import Table
from .._columns import Columns
from .._other_columns import MOST_VALUES
from . import NoTable, program_output

ORDER = 50
NAME = "JSON lines, a JSON array of objects"
TABLE = True

#: The name of a type in JSON, and the Arrow type of its column; a key that the first object lacks is read as text.
KINDS: dict[type, tuple[str, pa.DataType]] = {
    str: ("string", pa.string()),
    bool: ("boolean", pa.bool_()),
    int: ("number", pa.int64()),
    float: ("number", pa.float64()),
    type(None): ("null", pa.string()),
}

#: An object with more keys, none of them a wanted column, maps ids to predictions.
_MANY = 10
#: Bytes that a thread parses at once.
_PIECE = 2**24

BEGINS = re.compile(rb"\s*(\[\s*)?\{")


def read(content: Content, columns: Columns) -> Table:
    """Read the wanted keys; the contents of other keys do not matter."""
    is_array = content.start.lstrip().startswith(b"[")
    damage = pa.ArrowException, OSError, ValueError, RecursionError, OverflowError
    with reading(content.where, damage, fault=f"cannot be read as {'a JSON array' if is_array else 'JSON-lines'}"):
        if content.path is not None:
            content.budget.require(content.path.stat().st_size)
        keys, table = _keys_and_table(content, columns, is_array=is_array)
    names = names_of(keys, table)
    is_one_object = not is_array and table.num_rows == 1 and columns.form.rows is None
    is_output = (is_array or is_one_object) and program_output(keys)
    if columns.id not in names and (is_output or (is_one_object and is_nested(content.json()))):
        raise NoTable
    return Table(content.where, table, names=names)


def _keys_and_table(content: Content, columns: Columns, *, is_array: bool) -> tuple[list[str], pa.Table]:
    if is_array:
        return table_of(parse_json(content.whole(), content.budget), columns)
    if columns.form.rows is None:
        rows = rows_of_object(content, columns)
    elif not isinstance(rows := within(content.json(), columns.form.rows), list):
        raise refuse(f"{content.where}: rows", columns.form.rows, "a key with a list of objects")
    if rows is not None:
        return table_of(rows, columns)
    return _fast(content, columns) or table_of(_objects(content), columns)


def _fast(content: Content, columns: Columns) -> tuple[list[str], pa.Table] | None:
    """Return the keys of the first object, and the columns if Arrow has one type for each; None otherwise."""
    from pyarrow import json as arrow_json  # slow to import, for other formats too

    first = first_of(content)
    if first is None or _has_long_line(content):
        return None
    schema, wanted = [], columns.wanted_in(list(first))
    for name in wanted:
        if "." in name and name not in first:
            return None
        kind = KINDS.get(type(first.get(name)))
        if kind is None:
            return None
        schema.append(pa.field(name, pa.float64() if name in columns.numbers and kind[0] == "number" else kind[1]))
    roots = {name.partition(".")[0] for name in wanted if "." in name}.difference(wanted)  # objects there raise errors
    schema += [pa.field(root, pa.null()) for root in roots]
    options = arrow_json.ParseOptions(explicit_schema=pa.schema(schema), unexpected_field_behavior="ignore")
    try:
        table = arrow_json.read_json(content.by_place(), arrow_json.ReadOptions(block_size=_PIECE), options)
        table = table.select(wanted)
    except pa.ArrowInvalid:
        return None
    scores = (table.column(name) for name in columns.numbers)
    floats: list[Any] = [column for column in scores if pa.types.is_floating(column.type)]
    if any((pc.max(pc.call_function("abs", [value])).as_py() or 0) > LARGEST_WHOLE for value in floats):
        return None  # float64 may have rounded a whole number: read values as they are written
    others = [name for name in first if name not in wanted]
    if others and table.num_rows * len(first) <= MOST_VALUES:
        with contextlib.suppress(pa.ArrowException):  # of several kinds
            rest = arrow_json.read_json(content.by_place(), arrow_json.ReadOptions(block_size=_PIECE))
            for name in others:
                table = table.append_column(name, rest.column(name))
    return list(first), table


def _has_long_line(content: Content) -> bool:
    """Return True if a line is too long for Arrow, which would copy the file several times before it fails."""
    with contextlib.ExitStack() as opened:
        text: Any
        if content.path is None:
            text = content.whole()
        else:
            file = opened.enter_context(content.path.open("rb"))
            text = opened.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        half = _PIECE // 2
        return any(text.find(b"\n", at, at + half) < 0 for at in range(0, len(text) - half, half))


def _objects(content: Content) -> Iterator[Any]:
    """Read object by object, including rows that Arrow refuses, or name the first wrong one."""
    text, at, lines = content.whole(), 0, 0
    while at < len(text):
        end = text.find(b"\n", at) + 1 or len(text)
        content.budget.require(content.budget.spent + end - at)  # before it is copied
        line = text[at:end]
        if line.strip():
            try:
                value = parse_json(line, content.budget)
            except json.JSONDecodeError:  # an object of several lines, or several on one
                yield from _spread(text[at:], content, lines)
                return
            yield value
        at, lines = end, lines + 1


def _spread(text: bytes, content: Content, before: int) -> Iterator[Any]:
    """Yield objects that may span lines, after this many earlier lines."""
    content.budget.require(content.budget.spent + size_of_objects(text))
    decoder, rest, at = json.JSONDecoder(object_pairs_hook=each_once), text.decode(), 0
    while at < len(rest):
        if rest[at].isspace():
            at += 1
            continue
        try:
            value, at = decoder.raw_decode(rest, at)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {before + error.lineno}, column {error.colno}: {error.msg}") from None
        yield value


def table_of(objects: Iterable[Any], columns: Columns) -> tuple[list[str], pa.Table]:
    """Return the keys of the first object, and the columns that are wanted."""
    keys: list[str] = []
    values: dict[str, list[Any]] = {}
    for number, row in enumerate(objects):
        if not isinstance(row, dict):
            raise ValueError(f"row {number} (from 0) is not an object")
        if not number:
            keys = list(row)
            values = {name: [] for name in columns.wanted_in(keys)}
        for name, column in values.items():
            column.append(row[name] if name in row else within(row, name))
    values = values or {name: [] for name in columns.wanted}
    return keys, pa.table({name: _column(name, value, exact=name in columns.numbers) for name, value in values.items()})


def within(value: Any, path: str) -> Any:
    """Return the value at a path such as ``answer.text`` in an object; None if it is missing."""
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def names_of(keys: list[str], table: pa.Table) -> list[str]:
    """Return the keys of the first object, and those for which other objects have values."""
    return [*keys, *(n for n in table.column_names if n not in keys and table[n].null_count < table.num_rows)]


def _column(name: str, values: list[Any], *, exact: bool) -> Any:
    """Return a column of one type, with numbers of any size; as text if `exact` ones may be rounded."""
    kinds = {type(value) for value in values} - {type(None)}
    for kind in kinds.difference(KINDS):
        key = next((key for value in values if isinstance(value, dict) for key in value), None)
        path = "" if key is None else f", such as those of {shown(f'{name}.{key}')}"
        columns = kind is list and len(values) == 1  # the only object has the columns of a table
        wanted = "an object for each row (pandas: orient='records')" if columns else "text or numbers"
        raise ValueError(f"column {shown(name)} has {'lists' if kind is list else 'objects'}; expected {wanted}{path}")
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
    """Return True if an object contains lists or objects, and so is not a row."""
    return isinstance(entries, dict) and any(isinstance(value, (list, dict)) for value in entries.values())


def first_of(content: Content) -> dict[str, Any] | None:
    """Return the object in the first line of a file that begins with a brace; None if it has several lines."""
    try:
        first: dict[str, Any] = parse_json(content.first_line, content.budget)
    except UnicodeDecodeError:
        raise
    except ValueError:
        return None
    return first


def rows_of_object(content: Content, columns: Columns) -> list[Any] | None:
    """Return the rows of a file that is one object; None if it is several objects, or not a table.

    The forms are pandas' ``split`` (also MLflow's), ``columns``, ``index`` and ``table``; an object with the row of
    each id; and one with the prediction of each id.
    """
    first = first_of(content)
    if first is not None and not _may_be_table(first, columns):
        return None
    try:
        entries = content.json()
    except RepeatedKeyError:
        raise
    except ValueError:  # several objects
        return None
    return _rows_of_mapping(entries, columns, content.where) if isinstance(entries, dict) else None


def _may_be_table(first: Mapping[str, Any], columns: Columns) -> bool:
    """Return True if the first line may be a whole table rather than a row."""
    answers = {columns.prediction, columns.label, columns.score}
    mapped = len(first) > (_MANY if columns.truth is None else 1) and answers.isdisjoint(first)
    return (is_nested(first) or mapped) and not isinstance(first.get(columns.id), (str, int, float))


def _rows_of_mapping(result: Mapping[str, Any], columns: Columns, where: str) -> list[Any] | None:
    """Return the rows of an object in one of the forms that `rows_of_object` reads; None if it is in another."""
    names, data, values = result.get("columns"), result.get("data"), list(result.values())
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):  # split
        return _of_split([str(name).strip() for name in names], data, list(result.get("index") or []), columns, where)
    if isinstance(data, list) and isinstance(result.get("schema"), dict):  # table
        return data
    if values and all(isinstance(value, dict) for value in values):
        return _of_objects(result, columns)
    if len(result) > 1 and all(isinstance(value, (str, int, float)) for value in values):  # a prediction for each id
        name = columns.prediction if columns.score is None else columns.score
        return [{columns.id: key, name: value} for key, value in result.items()]
    return None


def _of_split(names: list[str], data: list[Any], index: list[Any], columns: Columns, where: str) -> list[Any]:
    has_ids = bool(index) and columns.id not in names
    unequal = any(len(row) != len(names) for row in data) or (has_ids and len(index) != len(data))
    if unequal or len(set(names)) < len(names):
        raise ValueError(f"{where}: columns, index and data do not fit; expected a value for each column and row")
    rows = [dict(zip(names, row, strict=True)) for row in data]
    return [{columns.id: key, **row} for key, row in zip(index, rows, strict=True)] if has_ids else rows


def _of_objects(result: Mapping[str, Mapping[str, Any]], columns: Columns) -> list[Any] | None:
    """Return the rows of an object of objects, one per column (``columns``) or per row (``index``, or ids)."""
    first = next(iter(result.values()))
    wanted = {columns.id, columns.label, columns.prediction, columns.score}
    alike = len(result) > 1 and all(value.keys() == first.keys() for value in result.values())
    if alike and (wanted.intersection(result) or all(map(str.isdecimal, first))):
        ids = [{} if columns.id in result else {columns.id: key} for key in first]
        return [
            id_ | {name: column[key] for name, column in result.items()} for id_, key in zip(ids, first, strict=True)
        ]
    named = any(name in first or (name or "").partition(".")[0] in first for name in wanted)
    if named or (alike and not program_output(result)):
        return [{columns.id: key, **row} for key, row in result.items()]
    return None
