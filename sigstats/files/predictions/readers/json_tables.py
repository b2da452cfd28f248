"""JSON with a key for each column: an object a line, an array of objects, or one object that holds rows."""

import contextlib
import json
import mmap
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.validation import refuse

from ...inputs.content import Content, as_object, parse_json, size_of_objects
from ...tables.arrow_table import ArrowTable
from ...tables.spelling import LARGEST_WHOLE
from .._columns import Columns
from .._items import MOST_VALUES
from . import NoTable, what_lies_beside
from ._json_rows import KINDS, first_of, is_nested, names_of, rows_of_object, table_of, within

ORDER = 50
NAME = "JSON lines, a JSON array of objects"
LOG = False

#: Bytes that a thread parses at once.
_PIECE = 2**24


BEGINS = re.compile(rb"\s*(\[\s*)?\{")


def read(content: Content, columns: Columns) -> ArrowTable:
    """Read the keys that are wanted; what other keys hold decides nothing."""
    array = content.start.lstrip().startswith(b"[")
    try:
        if content.path is not None:
            content.budget.require(content.path.stat().st_size)
        if array:
            keys, table = table_of(parse_json(content.whole(), content.budget, twice=True), columns)
        elif columns.form.rows is not None:
            keys, table = table_of(_rows(content, columns.form.rows), columns)
        elif (rows := rows_of_object(content, columns)) is not None:
            keys, table = table_of(rows, columns)
        else:
            keys, table = _fast(content, columns) or table_of(_objects(content), columns)
    except (pa.ArrowException, OSError, ValueError, RecursionError, OverflowError) as error:
        raise content.error(f"cannot be read as {'a JSON array' if array else 'JSON-lines'}", error) from None
    names = names_of(keys, table)
    alone = not array and table.num_rows == 1 and columns.form.rows is None
    if columns.id not in names and (what_lies_beside(keys) if array or alone else False):
        raise NoTable
    if columns.id not in names and alone and is_nested(content.json()):
        raise NoTable
    return ArrowTable(content.where, table, names=names)


def _rows(content: Content, path: str) -> list[Any]:
    items = within(content.json(), path)
    if not isinstance(items, list):
        raise refuse(f"{content.where}: rows", path, "a key with a list of objects")
    return items


def _fast(content: Content, columns: Columns) -> tuple[list[str], pa.Table] | None:
    """The keys of the first object, and the columns if Arrow has one type for each; None otherwise."""
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
    options = arrow_json.ParseOptions(explicit_schema=pa.schema(schema), unexpected_field_behavior="ignore")
    try:
        table = arrow_json.read_json(content.by_place(), arrow_json.ReadOptions(block_size=_PIECE), options)
    except pa.ArrowInvalid:
        return None
    if _has_large_score(table, columns):
        return None
    others = [name for name in first if name not in wanted]
    if others and table.num_rows * len(first) <= MOST_VALUES:
        with contextlib.suppress(pa.ArrowException):  # of several kinds
            rest = arrow_json.read_json(content.by_place(), arrow_json.ReadOptions(block_size=_PIECE))
            for name in others:
                table = table.append_column(name, rest.column(name))
    return list(first), table


def _has_large_score(table: pa.Table, columns: Columns) -> bool:
    """True if a score may have been a whole number that float64 rounds: then each is read as it is written."""
    scores = (table.column(name) for name in columns.numbers)
    floats: list[Any] = [column for column in scores if pa.types.is_floating(column.type)]
    return any((pc.max(pc.call_function("abs", [value])).as_py() or 0) > LARGEST_WHOLE for value in floats)


def _has_long_line(content: Content) -> bool:
    """True if a line is too long for Arrow, which holds a file several times until it has found that out."""
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
    lines = 0
    text, at = content.whole(), 0
    while at < len(text):
        end = text.find(b"\n", at) + 1 or len(text)
        content.budget.require(content.budget.spent + end - at)  # before it is copied
        line = text[at:end]
        try:
            value = parse_json(line, content.budget, twice=True) if line.strip() else None
        except json.JSONDecodeError:  # an object of several lines, or several on one
            yield from _spread(text[at:], content, lines)
            return
        at, lines = end, lines + 1
        if line.strip():
            yield value


def _spread(text: bytes, content: Content, before: int) -> Iterator[Any]:
    """Objects that may span lines, after this many earlier lines."""
    content.budget.require(content.budget.spent + size_of_objects(text))
    decoder, rest, at = json.JSONDecoder(object_pairs_hook=as_object), text.decode(), 0
    while at < len(rest):
        if rest[at].isspace():
            at += 1
            continue
        try:
            value, at = decoder.raw_decode(rest, at)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {before + error.lineno}, column {error.colno}: {error.msg}") from None
        yield value
