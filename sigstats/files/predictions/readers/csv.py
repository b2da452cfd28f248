"""Delimited text (CSV) whose first line names the columns, and text with one value per line."""

import re

from ...inputs.content import Content
from ...tables.delimited import COMMENTS, DelimitedTable, has_columns_of_numbers
from .._columns import Columns
from . import RUN, is_binary

#: The most that a field takes in addition to its text, which is stored twice, in bytes.
_FIELD = 20
#: All columns are read of files of at most this many bytes; of larger files, only the compared columns.
_SMALL = 2**23

ORDER = 100
NAME = "CSV (commas, tabs, semicolons or bars), numbers between spaces, one value per line"
TABLE = True

BEGINS = re.compile(b"")  # any text


def reads(content: Content) -> bool:
    """Return True for text that no other format takes, in columns or with one word in its first line."""
    comments = COMMENTS.match(content.start)
    start = content.start[comments.end() if comments else 0 :].lstrip()
    if is_binary(content) or start.startswith((b"{", b"[", b"<")) or RUN.match(start):  # a run of TREC
        return False
    header = start.partition(b"\n")[0]
    if header.count(b'"') % 2:  # a name with an end of line in it
        header = start
    return bool({*b",\t;|"}.intersection(header)) or len(header.split()) == 1 or has_columns_of_numbers(start)


def read(content: Content, columns: Columns) -> DelimitedTable:
    """Read the columns that are wanted, and all columns of small files."""
    whole = content.whole()
    small = len(whole) <= _SMALL
    fields = 0 if small else whole.count(b"\n") * len(columns.wanted)
    content.budget.require(content.budget.spent + len(whole) + _FIELD * fields)
    return DelimitedTable(content.where, whole, wanted=None if small else columns.wanted_in)
