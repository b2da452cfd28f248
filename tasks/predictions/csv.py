"""Comma-separated text, the first line of which names the columns."""

from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from ..sources._places import reason
from ._predictions import Columns, Predictions, from_table

ORDER = 100


def reads(place: Path) -> bool:  # noqa: ARG001
    """Whatever no other format takes."""
    return True


def read(place: Path, columns: Columns) -> Predictions:
    """Read the columns; an empty field is missing."""
    wanted = [columns.id, columns.label, columns.prediction, *columns.optional]
    # Text as it stands: 007 and 7 are two ids.
    options = csv.ConvertOptions(
        strings_can_be_null=True, null_values=[""], column_types=dict.fromkeys(wanted, pa.string())
    )
    try:
        table = csv.read_csv(place, convert_options=options)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"{place}: cannot be read as CSV ({reason(error)})") from None
    return from_table(str(place), table, columns)
