"""JSON-lines: an object a line, with a key for each column."""

from pathlib import Path

import pyarrow as pa
from pyarrow import json

from ..sources._places import reason
from ._predictions import Columns, Predictions, from_table

ORDER = 50


def reads(place: Path) -> bool:
    """A file whose first line begins with a brace."""
    with place.open("rb") as handle:
        return handle.readline(1000).lstrip().startswith(b"{")


def read(place: Path, columns: Columns) -> Predictions:
    """Read the keys that are wanted."""
    try:
        table = json.read_json(place)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"{place}: cannot be read as JSON-lines ({reason(error)})") from None
    return from_table(str(place), table, columns)
