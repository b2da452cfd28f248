"""A Parquet file."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ..input_files import reason
from ._predictions import Columns, Predictions, from_table

ORDER = 10


def reads(place: Path) -> bool:
    """A file that starts as Parquet does."""
    with place.open("rb") as handle:
        return handle.read(4) == b"PAR1"


def read(place: Path, columns: Columns) -> Predictions:
    """Read the columns that are wanted."""
    wanted = {columns.id, columns.label, columns.prediction, columns.score, *columns.optional}
    try:
        file = pq.ParquetFile(place)
        names = [name for name in file.schema_arrow.names if name in wanted]
        # Without the columns that are wanted, those that are there make a better message.
        table = file.read(columns=names or None)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"{place}: cannot be read as Parquet ({reason(error)})") from None
    if len(names) < 3 and columns.score is None:
        table = file.schema_arrow.empty_table() if not table.num_rows else file.read()
    return from_table(str(place), table, columns)
