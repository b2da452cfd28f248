"""Delimited text (CSV), the first line of which names the columns."""

from ...inputs.content import Content
from ...tables.delimited import DelimitedTable
from .._items import SMALL_FILE
from .._predictions import Columns
from . import is_binary

#: The most that a field takes beside its text, which is held twice, in bytes.
_FIELD = 20

ORDER = 100
NAME = "CSV (commas, tabs, semicolons or bars)"
LOG = False


def reads(content: Content) -> bool:
    """Whatever text no other format takes: two columns or more, since rows have ids and labels."""
    start = content.start.lstrip()
    if is_binary(content) or start.startswith((b"{", b"[")):
        return False
    header = start.partition(b"\n")[0]
    if header.count(b'"') % 2:  # a name with an end of line in it
        header = start
    return any(separator in header for separator in (b",", b"\t", b";", b"|"))


def read(content: Content, columns: Columns) -> DelimitedTable:
    """Read the columns that are wanted, and of small files all."""
    whole = content.whole()
    small = len(whole) <= SMALL_FILE
    fields = 0 if small else whole.count(b"\n") * len(columns.wanted)
    content.budget.require(content.budget.spent + len(whole) + _FIELD * fields)
    names = () if columns.no_header else None
    return DelimitedTable(content.where, whole, wanted=None if small else columns.wanted_in, names=names)
