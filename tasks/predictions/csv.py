"""Comma-separated text, the first line of which names the columns."""

from csv import Error, reader
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from ..input_files import reason
from ._predictions import Columns, Predictions, from_table, named

ORDER = 100

#: Bytes that a thread parses at once. A row that is longer is read with all others in one piece, of at most 2 GiB.
_PIECE, _WHOLE = 2**20, 2**31 - 1


def reads(place: Path) -> bool:  # noqa: ARG001
    """Whatever no other format takes."""
    return True


def read(place: Path, columns: Columns) -> Predictions:
    """Read the columns that are wanted; an empty field is missing."""
    try:
        names = _names(place)
        table = _read(place, columns, [name for name in columns.wanted if name in names])
    except (pa.ArrowException, OSError, ValueError, Error) as error:
        raise ValueError(f"{place}: cannot be read as CSV ({reason(error)})") from None
    return from_table(str(place), named(table, names), columns)


def _names(place: Path) -> list[str]:
    """The names of the columns; no line before them holds anything."""
    with place.open(encoding="utf-8-sig", errors="replace", newline="") as handle:
        return next((row for row in reader(handle) if row), [])


def _read(place: Path, columns: Columns, wanted: list[str]) -> pa.Table:
    # Text as it stands: 007 and 7 are two ids. What is in columns that nobody asked for decides nothing.
    options = csv.ConvertOptions(
        strings_can_be_null=True,
        null_values=[""],
        column_types=dict.fromkeys(columns.texts, pa.string()),
        include_columns=wanted or None,
    )
    form = csv.ParseOptions(newlines_in_values=True)
    size = place.stat().st_size
    try:
        return csv.read_csv(place, csv.ReadOptions(block_size=_PIECE), form, options)
    except pa.ArrowInvalid:
        if size <= _PIECE:
            raise
    whole = csv.ReadOptions(block_size=min(size + 1, _WHOLE))
    return csv.read_csv(place, whole, form, options)
