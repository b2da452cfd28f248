"""Delimited text: CSV, and the same with tabs, semicolons, bars or spaces, or with one value per line.

`_heading` finds the separator and the names of the columns. Arrow reads the rows (`read_columns`), or else Python's csv
module, which is slower and names the line of an error (`_records`).
"""

import functools
import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from sigstats._common.validation import shown

from ..inputs.opening import TO_UTF8
from . import _records
from .spelling import Array, is_number, to_numbers
from .table import Table

_MARK = b"\xef\xbb\xbf"
#: The line with which Excel states the separator, above the names.
_SEPARATOR_LINE = re.compile(rb"sep=([^\r\n])\r?\n", re.IGNORECASE)
#: Lines directly above the names or rows that begin with a number sign and a space, as `numpy.savetxt` writes them.
COMMENTS = re.compile(rb"(?:#(?:[ \t]+([^\r\n]*))?(?:\r\n?|\n))+(?=[^\s#])")
_WORD = re.compile(rb'"(?:[^"]|"")*"|[^"\s]+')
#: Spaces at the ends of lines, and those after another one.
_BLANKS = re.compile(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)|(?<=[ \t])[ \t]+")
#: The bytes at the start that tell whether spaces separate columns.
_START = 2**16
#: The words in the second and third line of Orange's tables.
_ORANGE_TYPES = {b"discrete", b"continuous", b"string", b"time", b"d", b"c", b"s", b"t"}
_ORANGE_FLAGS = {b"", b"class", b"meta", b"ignore", b"i", b"m", b"c"}
_COMMENT = re.compile(rb"#(?<![^\r\n]#)(?=[ \t])")
#: A number with a decimal comma, and one whose comma may as well part thousands.
_DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)


class DelimitedTable(Table):
    """The rows of delimited text; `sigstats.files.tables` states the dialect.

    `content`: the text, in UTF-8.
    `wanted`: the columns to read, all by default; others have no influence.
    `names`: the names of the columns, if the first line is a row.
    `separator`: one character; by default that of the first line.
    """

    def __init__(
        self,
        where: str,
        content: bytes,
        *,
        wanted: Callable[[Sequence[str]], Collection[str]] | None = None,
        names: Sequence[str] | None = None,
        separator: str | None = None,
    ) -> None:
        heading = _heading(where, content, names, separator)
        self._content, self._separator = heading.content, heading.separator
        self._start, self._lines_before = heading.end, heading.lines
        names = [name.strip() for name in heading.names]
        chosen = names if wanted is None else wanted(names)
        positions = [position for position, name in enumerate(names) if name in chosen]
        num_rows, columns = self._read(where, len(names), positions)
        #: Line of the first undecodable field, for columns that have one.
        self._undecodable = {names[i]: line for i, line in columns.items() if isinstance(line, int)}
        texts = {names[i]: column for i, column in columns.items() if not isinstance(column, int)}
        super().__init__(where, pa.table(texts), names=names, has_ids=len(names) > 1)
        self.num_rows = num_rows
        if heading.line is not None and not self.has_ids and positions and names[0] in self._text(names[0]).to_pylist():
            raise _no_names(where, heading)  # a name that is repeated as a value is a value

    def row(self, row: int) -> str:
        """Return the line of a row."""
        line, _ = next(itertools.islice(self._records(self.where), self._place(row), None))
        return f"line {line}"

    def _values(self, name: str) -> Array:
        if (line := self._undecodable.get(name)) is not None:
            remedy = f"{TO_UTF8}, or in a study add `encoding`"
            raise ValueError(f"{self.where}, line {line}: column {shown(name)} is not UTF-8 text; {remedy}")
        return super()._values(name)

    def _numbers(self, name: str) -> Array | None:
        numbers = super()._numbers(name)
        return _with_decimal_commas(self._text(name)) if numbers is None else numbers

    def _read(self, where: str, width: int, positions: list[int]) -> tuple[int, Mapping[int, Any]]:
        """Return the number of rows, and the columns as `_records.read_columns` does."""
        try:
            rows = read_columns(self._content, self._separator, width, positions, start=self._start)
        except pa.ArrowCapacityError:
            raise _records.too_long(where) from None
        num_rows, columns = rows or _records.read_columns(self._records(where), where, width, positions)
        quoted = b'"' in self._content and self._content.count(b"\n", self._start) > num_rows
        if quoted and (lines := _records.swallowed_rows(self._records(where), self._separator, width)):
            raise ValueError(f"{where}, lines {lines[0]} to {lines[1]}: quotes surround rows; remove them")
        if width > 1:
            self._check_comments(where, num_rows)
        return num_rows, columns

    def _check_comments(self, where: str, rows: int) -> None:
        """Refuse lines that may be comments, unless more than a tenth of the rows, and more than one, begin so."""
        marks: list[int] = []
        quotes, last = 0, self._start
        for mark in _COMMENT.finditer(self._content, last):
            quotes, last = quotes + self._content.count(b'"', last, mark.start()), mark.start()
            if quotes % 2 == 0:  # outside of quotes
                marks.append(last)
        if 0 < len(marks) < rows and len(marks) <= max(1, rows // 10):
            line = self._lines_before + len(self._content[self._start : marks[0]].splitlines()) + 1
            raise ValueError(f"{where}, line {line}: may be a comment, as it begins with #; remove or quote it")

    def _records(self, where: str) -> Iterator[tuple[int, list[str]]]:
        return _records.records(self._content, where, self._separator, start=self._start, line=self._lines_before)


class _Heading(NamedTuple):
    """The text, and the column names above its rows."""

    #: The text without superfluous spaces, if spaces separate the columns.
    content: bytes
    separator: str
    names: Sequence[str]
    #: The line of the names in the dialect of the rows; None if they are in a comment, or an argument.
    line: int | None
    #: The position of the first row, and the number of lines above it.
    end: int
    lines: int


def _heading(where: str, content: bytes, names: Sequence[str] | None, separator: str | None) -> _Heading:
    """Return the column names of the argument, the first line, or a comment above. Raise ValueError if unclear."""
    start, above, comments = len(_MARK) if content.startswith(_MARK) else 0, 0, None
    if separator is None and (stated := _SEPARATOR_LINE.match(content, start)):
        start, above, separator = stated.end(), 1, stated[1].decode("ascii", "replace")
    elif separator is None and (comments := COMMENTS.match(content, start)):
        start, above = comments.end(), len(comments[0].splitlines())
    first = _records.header(content, where, separator, start=start)
    spaces = separator is None and len(first.names) == 1 and has_columns_of_numbers(content[start : start + _START])
    if spaces:
        content = content[start:]
        if b'"' not in content:
            content = _BLANKS.sub(b"", content)
        first = _records.header(content, where, " ")
    of_comment = _names_in(comments, first.separator, len(first.names)) if comments else []
    if of_comment and names is not None:
        raise ValueError(f"{where}, line {above}: may name the columns; leave out `names`, or remove the line")
    if of_comment and not any(map(is_number, first.names)):
        raise ValueError(f"{where}, lines {above} and {above + 1}: both may name the columns; remove one")
    if of_comment or names is not None:
        return _Heading(content, first.separator, of_comment or names or (), None, 0 if spaces else start, above)
    below = _below_header(content, first.end, first.separator)
    end, lines = first.end + sum(map(len, below)), above + first.lines + len(below)
    heading = _Heading(content, first.separator, first.names, above + 1, end, lines)
    if (spaces or comments or len(first.names) == 1) and all(map(is_number, first.names)):
        raise _no_names(where, heading)
    return heading


def has_columns_of_numbers(start: bytes) -> bool:
    """Return True if spaces separate columns: all lines have equally many words, and every row has a number."""
    whole = start[: start.rfind(b"\n") + 1 or None]  # the last line may be cut
    lines = [words for line in whole.splitlines() if (words := _WORD.findall(line))]
    rows = lines[1:] or lines
    numbers = (any(is_number(word.decode("latin-1").strip('"')) for word in row) for row in rows)
    return len({*map(len, lines)}) == 1 and len(lines[0]) > 1 and all(numbers)


def _below_header(content: bytes, start: int, separator: str) -> list[bytes]:
    """Return lines below the names that are not rows: one of dashes (Markdown, SQL clients), or two of Orange."""
    first, second, *_ = [*content[start : start + _START].splitlines(keepends=True)[:2], b"", b""]
    if b"--" in first and not first.strip(b"-+|:,;\t\r\n "):
        return [first]
    types, flags = ({field.strip() for field in line.split(separator.encode())} for line in (first, second))
    is_orange = types <= _ORANGE_TYPES and flags <= _ORANGE_FLAGS and flags & {b"class", b"meta"}
    return [first, second] if is_orange else []


def _names_in(comments: re.Match[bytes], separator: str, width: int) -> list[str]:
    """Return the names in the last of these comments, if it has this many words; otherwise empty."""
    words = [word.strip(' "') for word in (comments[1] or b"").decode(errors="replace").strip().split(separator)]
    return words if len(words) == width and " " not in "".join(words) else []


def _no_names(where: str, heading: _Heading) -> ValueError:
    problem = f"{shown(' '.join(heading.names))} is a row, not names of columns"
    return ValueError(f"{where}, line {heading.line}: {problem}; add a first line of names (in a study `names`)")


def _with_decimal_commas(texts: Array) -> Array | None:
    """Parse numbers, some with decimal commas; None if one is not a number, or all commas may separate thousands."""
    written = [text for text in pc.unique(texts).to_pylist() if text is not None]
    with_comma = [text for text in written if "," in text]
    if not all(map(_DECIMAL_COMMA.fullmatch, written)) or all(map(_THOUSANDS.fullmatch, with_comma)):
        return None
    return to_numbers(pc.replace_substring(texts, ",", "."))


#: Bytes that a thread parses at once. A row that is longer is read with all others in one piece, of at most 2 GiB.
_PIECE, _WHOLE = 2**20, 2**31 - 1
_QUOTE, _LINE_ENDS = ord('"'), b"\r\n"
_FILLED = re.compile(rb"[^\r\n]")


def read_columns(
    content: bytes, separator: str, width: int, positions: list[int], *, start: int
) -> tuple[int, dict[int, Any]] | None:
    """Return the number of rows and the columns at `positions`, read by Arrow, or None if csv has to read them."""
    if width < 2 or not separator.isascii():  # a row of one empty field looks like a blank line
        return None
    if not _FILLED.search(content, start):
        return 0, {position: pa.array([], pa.string()) for position in positions}
    quoted = content.find(b'"', start) >= 0
    if quoted and not _has_whole_quotes(content, separator, start):
        return None
    included = [str(position) for position in positions or [0]]
    names = [str(position) for position in range(width)]
    options = csv.ConvertOptions(
        include_columns=included,
        column_types=dict.fromkeys(included, pa.string()),
        strings_can_be_null=True,
        null_values=[""],
    )
    text: Any = pa.py_buffer(content)[start:]
    table = None
    # If quotes contain an end of line and `newlines_in_values` is False, Arrow may misread text without an error.
    form = csv.ParseOptions(delimiter=separator, quote_char='"' if quoted else False, newlines_in_values=quoted)
    for size in (_PIECE, min(len(text) + 1, _WHOLE)):
        try:
            table = csv.read_csv(text, csv.ReadOptions(block_size=size, column_names=names), form, options)
            break
        except pa.ArrowInvalid:  # a row that is longer than a piece, or a fault
            if len(text) < _PIECE:
                break
    if table is None:
        return None
    return table.num_rows, {position: _trim(table.column(str(position))) for position in positions}


def _trim(column: Any) -> Any:
    """Return fields without the white space around them; an empty one is null."""
    texts = pc.utf8_trim_whitespace(column.combine_chunks())
    filled = pc.binary_length(texts).cast(pa.bool_())
    return pc.if_else(filled, texts, pa.nulls(len(texts), pa.string()))  # no scalar of Arrow, which imports pandas


def _has_whole_quotes(content: bytes, separator: str, start: int) -> bool:
    """Return True if each quote opens a field, closes one, or is one of two inside a field.

    Quotes open and close in turn. An opening quote follows a separator, the end of a line, or a closing quote (the
    two are then a doubled quote); a closing quote precedes one of these.
    """
    text = np.frombuffer(content, np.uint8)[start:]
    allowed = (ord(separator), _QUOTE, *_LINE_ENDS)
    closes = 0  # 1 if the next quote closes
    for first in range(0, len(text), _PIECE):
        quotes = np.flatnonzero(text[first : first + _PIECE] == _QUOTE) + first
        # Clipping makes the neighbour beyond the first or last byte that quote itself, which is allowed.
        before = text.take(quotes[closes::2] - 1, mode="clip")
        after = text.take(quotes[1 - closes :: 2] + 1, mode="clip")
        for neighbours in (before, after):
            if not functools.reduce(np.logical_or, [neighbours == byte for byte in allowed]).all():
                return False
        closes = (closes + len(quotes)) % 2
    return not closes
