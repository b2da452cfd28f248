"""Delimited text (CSV), the first line of which names the columns."""

from pathlib import Path

from ..input_files import read_bytes
from ..tables.delimited import DelimitedTable
from ._predictions import Columns, Predictions, from_table

ORDER = 100


def reads(place: Path) -> bool:  # noqa: ARG001
    """Whatever no other format takes."""
    return True


def read(place: Path, columns: Columns) -> Predictions:
    """Read the columns that are wanted."""
    return from_table(DelimitedTable(str(place), read_bytes(str(place), Path()), wanted=columns.wanted), columns)
