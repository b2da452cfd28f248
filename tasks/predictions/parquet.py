"""A Parquet file."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ..input_files import reason
from ..tables.arrow import ArrowTable
from ._predictions import Columns, Predictions, from_table

ORDER = 10


def reads(place: Path) -> bool:
    """A file that starts as Parquet does."""
    with place.open("rb") as handle:
        return handle.read(4) == b"PAR1"


def read(place: Path, columns: Columns) -> Predictions:
    """Read the columns that are wanted."""
    try:
        file = pq.ParquetFile(place)
        names = file.schema_arrow.names
        table = file.read(columns=[name for name in names if name in columns.wanted])
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"{place}: cannot be read as Parquet ({reason(error)})") from None
    return from_table(ArrowTable(str(place), table, names=names), columns)
