"""A Parquet file."""

from ..input_files.content import Content
from ..tables.arrow import ArrowTable
from ._predictions import Columns, Predictions, from_table

ORDER = 10
NAME = "Parquet"
LOG = False


def reads(content: Content) -> bool:
    """A file that starts as Parquet does."""
    return content.start.startswith(b"PAR1")


def read(content: Content, columns: Columns) -> Predictions:
    """Read the columns that are wanted."""
    from ..tables.parquet import read_parquet  # slow to import, for other formats too

    try:
        names, table = read_parquet(content.by_place(), content.budget, columns.wanted)
    except Exception as error:  # a damaged file may raise anything
        raise content.error("cannot be read as Parquet", error) from None
    return from_table(ArrowTable(content.where, table, names=names, fractions=True), columns)
