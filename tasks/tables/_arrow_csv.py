"""Delimited text by Arrow, in parallel: for text that both parsers read alike, which nearly all text is."""

import functools
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

#: Bytes that a thread parses at once. A row that is longer is read with all others in one piece, of at most 2 GiB.
_PIECE, _WHOLE = 2**20, 2**31 - 1
_QUOTE, _LINE_ENDS = ord('"'), b"\r\n"
_SPACE, _NOT_ASCII = 0x20, 0x80
_FILLED = re.compile(rb"[^\r\n]")


def read_columns(
    content: bytes, separator: str, width: int, positions: list[int], *, start: int
) -> tuple[int, dict[int, Any]] | None:
    """The number of rows and the columns at `positions`; None if the csv module has to look at the text."""
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
    # Told that no quotes hold an end of line, Arrow may misread text where they do, without an error.
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
    """Fields without the white space around them; an empty one is null."""
    texts = column.combine_chunks()
    if not _may_have_space(texts):
        return texts
    texts = pc.utf8_trim_whitespace(texts)
    return pc.if_else(pc.equal(texts, pa.scalar("")), pa.scalar(None, pa.string()), texts)


def _may_have_space(texts: Any) -> bool:
    """Whether a text may begin or end with white space: trimming all of them takes longer than parsing them."""
    _, offsets, data = texts.buffers()
    if data is None:
        return False
    bounds = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    first, last = bounds[:-1], bounds[1:] - 1
    edges = np.frombuffer(data, np.uint8)[np.concatenate([first, last])[np.tile(first <= last, 2)]]
    return bool(((edges <= _SPACE) | (edges >= _NOT_ASCII)).any())


def _has_whole_quotes(content: bytes, separator: str, start: int) -> bool:
    """Whether each quote opens a field, closes one, or is one of two inside a field.

    Quotes open and close in turn. One that opens stands behind a separator, the end of a line, or a quote that closed
    just before it, which makes it the second of two; one that closes stands before any of these.
    """
    text = np.frombuffer(content, np.uint8)[start:]
    beside = (ord(separator), _QUOTE, *_LINE_ENDS)
    closes = 0  # whether the next quote does
    for first in range(0, len(text), _PIECE):
        quotes = np.flatnonzero(text[first : first + _PIECE] == _QUOTE) + first
        # Clipped, what lies before the first byte and behind the last is a quote.
        before = text.take(quotes[closes::2] - 1, mode="clip")
        after = text.take(quotes[1 - closes :: 2] + 1, mode="clip")
        for neighbours in (before, after):
            if not functools.reduce(np.logical_or, [neighbours == byte for byte in beside]).all():
                return False
        closes = (closes + len(quotes)) % 2
    return not closes
