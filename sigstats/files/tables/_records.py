"""Delimited text record by record, with Python's csv module: strict, and with the line of every error."""

import csv
import io
import itertools
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from sigstats._common.validation import shown

from .spelling import is_number

#: Bytes that are no UTF-8 become lone surrogates, so that a fault in a column that is not read is no error.
ERRORS = "surrogateescape"
#: The separators that are tried, in this order, if none is named.
SEPARATORS = (",", "\t", ";", "|")
#: Records that are held as Python strings at a time.
_CHUNK = 8192
#: The longest field. The module's own limit is 128 KiB, less than an answer of a language model may have.
_LONGEST = 2**31 - 1


def records(
    content: bytes, where: str, separator: str, *, start: int = 0, line: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records from a byte on, each with the number of its first line; `line` lines lie before."""
    source = io.BytesIO(content)
    source.seek(start)
    yield from _parse(io.TextIOWrapper(source, "utf-8", ERRORS, newline=""), where, separator, line)


def header(content: bytes, where: str, separator: str | None, *, start: int = 0) -> tuple[list[str], str, int, int]:
    """Return the first record, the separator, the position after the record and the number of lines so far.

    The separator is the first of `SEPARATORS` that occurs in the record, unless one is named.
    """
    candidates = SEPARATORS if separator is None else (separator,)
    items: list[tuple[list[str], str, int, int]] = []
    faults: list[ValueError] = []
    for candidate in candidates:
        try:
            items.append(_first(content, where, candidate, start))
        except ValueError as error:
            faults.append(error)
            continue
        if len(items[-1][0]) > 1:
            return items[-1]
    if not items:
        raise faults[0]
    return items[0]


def too_long(where: str) -> ValueError:
    """Return the complaint about a field that is too long for the csv module and Arrow."""
    return ValueError(f"{where}: a field is longer than {_LONGEST:,} bytes, the most that can be read; expected less")


def blank(record: list[str]) -> bool:
    """Return True if a line is blank and is skipped."""
    return not record or (len(record) == 1 and not record[0].strip())


def read_columns(
    rows: Iterator[tuple[int, list[str]]], where: str, width: int, positions: list[int]
) -> tuple[int, dict[int, "pa.Array[Any] | int"]]:
    """Return the number of records and the columns at `positions`: strings, null if a field is empty.

    A column that is not valid text is replaced by the line of its first invalid field.
    """
    parts: dict[int, list[pa.Array[Any]]] = {position: [pa.array([], pa.string())] for position in positions}
    undecodable: dict[int, int] = {}
    total = 0

    def whole(row: tuple[int, list[str]]) -> tuple[int, list[str]]:
        if len(row[1]) != width:
            raise ValueError(f"{where}, line {row[0]}: {len(row[1])} fields; expected {width}")
        return row

    in_order = map(whole, rows)
    while chunk := list(itertools.islice(in_order, _CHUNK)):
        total += len(chunk)
        for position in positions:
            values = [record[position].strip() or None for _, record in chunk]
            try:
                parts[position].append(pa.array(values, pa.string()))
            except UnicodeEncodeError:
                first = next(i for i, value in enumerate(values) if any("\ud800" <= c <= "\udfff" for c in value or ""))
                undecodable.setdefault(position, chunk[first][0])
    return total, {
        position: undecodable[position] if position in undecodable else pa.concat_arrays(parts[position])
        for position in positions
    }


def swallowed_rows(rows: Iterator[tuple[int, list[str]]], separator: str, width: int) -> tuple[int, int] | None:
    """Return the first and last quoted lines in which two or more fields are numbers or occur in other rows."""
    seen: set[tuple[int, str]] = set()
    for line, record in rows:
        lines = [text.split(separator) for text in separator.join(record).replace("\r", "").split("\n")]
        seen.update(cell for cell in enumerate(lines[0]) if cell[1] and len(seen) < _CHUNK)
        if len(lines) > 2 and {*map(len, lines)} == {width}:
            numbers = {c for row in lines for c in enumerate(row) if is_number(c[1]) and is_number(lines[0][c[0]])}
            if all(len((seen | numbers).intersection(enumerate(row))) > 1 for row in lines[1:-1]):
                return line, line + len(lines) - 1
    return None


def _parse(lines: Iterator[str], where: str, separator: str, before: int) -> Iterator[tuple[int, list[str]]]:
    if csv.field_size_limit() < _LONGEST:  # of the process: other threads may parse at the same time
        csv.field_size_limit(_LONGEST)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    line = before + 1
    try:
        for record in reader:
            if not blank(record):
                yield line, record
            line = before + reader.line_num + 1
    except csv.Error as error:
        if "field limit" in str(error):
            raise too_long(f"{where}, line {line}") from None
        text = "a quoted field has no end" if "unexpected end" in str(error) else "text follows a closing quote"
        wanted = f"fields in whole quotes with {shown(separator)} between them"
        raise ValueError(f"{where}, line {line}: {text}; expected {wanted}") from None


def _first(content: bytes, where: str, separator: str, start: int) -> tuple[list[str], str, int, int]:
    source = io.BytesIO(content)
    source.seek(start)
    end, lines = start, 0

    def physical() -> Iterator[str]:
        nonlocal end, lines
        for line in io.TextIOWrapper(source, "utf-8", ERRORS, newline=""):
            end += len(line.encode("utf-8", ERRORS))
            lines += 1
            yield line

    _, record = next(_parse(physical(), where, separator, 0), (0, []))
    return record, separator, end, lines
