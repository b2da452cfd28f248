"""Delimited text record by record, with Python's csv module: strict, and with the line of every error.

`header` reads the first record, `records` all others, and `read_columns` makes Arrow columns of these. Arrow itself is
faster, but does not read all texts (`delimited.read_columns`).
"""

import csv
import io
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from sigstats._common.validation import shown

from .spelling import is_number

#: Bytes that are not UTF-8 become lone surrogates, so that they are not an error in a column that is not read.
ERRORS = "surrogateescape"
#: The separators that are tried, in this order, if none is named.
SEPARATORS = (",", "\t", ";", "|")
#: The number of records that are kept as Python strings at a time.
_CHUNK = 8192
#: The longest field. The csv module's own limit is 128 KiB, less than an answer of a language model may have.
_LONGEST = 2**31 - 1


class Header(NamedTuple):
    """The first record of a text."""

    names: list[str]
    separator: str
    #: The position after the record, and the number of lines up to there.
    end: int
    lines: int


def records(
    content: bytes, where: str, separator: str, *, start: int = 0, line: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records from a byte on, each with the number of its first line; `line` lines lie before."""
    source = io.BytesIO(content)
    source.seek(start)
    yield from _parse(io.TextIOWrapper(source, "utf-8", ERRORS, newline=""), where, separator, line)


def header(content: bytes, where: str, separator: str | None, *, start: int = 0) -> Header:
    """Return the first record. Its separator is the first of `SEPARATORS` that occurs in it, unless one is named."""
    headers: list[Header] = []
    faults: list[ValueError] = []
    for candidate in SEPARATORS if separator is None else (separator,):
        try:
            headers.append(_header(content, where, candidate, start))
        except ValueError as error:
            faults.append(error)
            continue
        if len(headers[-1].names) > 1:
            return headers[-1]
    if not headers:
        raise faults[0]
    return headers[0]


def _header(content: bytes, where: str, separator: str, start: int) -> Header:
    source = io.BytesIO(content)
    source.seek(start)
    lines: list[str] = []

    def read_lines() -> Iterator[str]:
        for line in io.TextIOWrapper(source, "utf-8", ERRORS, newline=""):
            lines.append(line)
            yield line

    _, record = next(_parse(read_lines(), where, separator, 0), (0, []))
    end = start + sum(len(line.encode("utf-8", ERRORS)) for line in lines)
    return Header(record, separator, end, len(lines))


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
    chunks: dict[int, list[pa.Array[Any]]] = {position: [pa.array([], pa.string())] for position in positions}
    undecodable: dict[int, int] = {}
    total = 0

    def checked(row: tuple[int, list[str]]) -> tuple[int, list[str]]:
        line, record = row
        if len(record) != width:
            raise ValueError(f"{where}, line {line}: {len(record)} fields; expected {width}")
        return row

    checked_rows = map(checked, rows)
    while chunk := list(itertools.islice(checked_rows, _CHUNK)):
        total += len(chunk)
        for position in positions:
            values = [record[position].strip() or None for _, record in chunk]
            try:
                chunks[position].append(pa.array(values, pa.string()))
            except UnicodeEncodeError:
                first = next(i for i, value in enumerate(values) if any("\ud800" <= c <= "\udfff" for c in value or ""))
                undecodable.setdefault(position, chunk[first][0])
    return total, {position: pa.concat_arrays(parts) for position, parts in chunks.items()} | undecodable


def swallowed_rows(rows: Iterator[tuple[int, list[str]]], separator: str, width: int) -> tuple[int, int] | None:
    """Return the first and last quoted lines in which two or more fields are numbers or occur in other rows."""
    seen: set[tuple[int, str]] = set()  # fields with their positions
    for line, record in rows:
        lines = [text.split(separator) for text in separator.join(record).replace("\r", "").split("\n")]
        first, *others = lines
        seen.update(cell for cell in enumerate(first) if cell[1] and len(seen) < _CHUNK)
        if not others[1:] or any(len(fields) != width for fields in lines):
            continue
        numeric = {place for place, text in enumerate(first) if is_number(text)}
        numbers = {cell for fields in lines for cell in enumerate(fields) if cell[0] in numeric and is_number(cell[1])}
        if all(len((seen | numbers).intersection(enumerate(fields))) > 1 for fields in others[:-1]):
            return line, line + len(others)
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
