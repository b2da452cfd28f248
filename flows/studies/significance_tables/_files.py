"""Columns of a CSV or Parquet file that a study names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.validation import nearest
from sigstats.tasks.input_files import place, reason


def read_columns(path: str, base: Path, names: Sequence[str]) -> pa.Table:
    """The columns `names` of a file, in that order.

    Raises
    ------
    ValueError
        One line that names the file and the column, where it cannot be read or holds a missing value.
    """
    where = place(path, base)
    try:
        table = _read(where)
    except FileNotFoundError:
        raise ValueError(f"{where}: there is no such file") from None
    except Exception as error:  # pyarrow and a remote file system may raise anything
        raise ValueError(f"{where}: cannot be read ({reason(error)})") from None
    for name in names:
        if table.column_names.count(name) != 1:
            near = nearest(name, table.column_names)
            hint = f"did you mean {near!r}?" if near else f"expected one of {', '.join(table.column_names)}"
            raise ValueError(f"{where}: column {name!r} is not there once; {hint}")
        missing = table.column(name).null_count
        if missing:
            row = table.column(name).is_null().to_pylist().index(True)
            raise ValueError(f"{where}: column {name!r}: row {row} (from 0) is empty; expected a value")
    if not table.num_rows:
        raise ValueError(f"{where}: there are no rows; expected one or more")
    return table.select(list(names))


def whole_numbers(table: pa.Table, name: str, where: str) -> list[int]:
    """A column of counts."""
    column = table.column(name)
    if not pa.types.is_integer(column.type):
        raise ValueError(f"{where}: column {name!r} is of type {column.type}; expected whole numbers")
    return [int(value) for value in column.to_numpy()]


def codes(*columns: "pa.ChunkedArray[Any]") -> tuple[list[NDArray[np.int64]], list[Any]]:
    """Columns of names as positions among all names that occur in any of them, sorted; and those names."""
    kinds = {str(column.type) for column in columns}
    if len(kinds) > 1:
        columns = tuple(column.cast(pa.string()) for column in columns)
    found: set[Any] = {value for column in columns for value in column.unique().to_pylist()}
    classes = sorted(found)
    lookup = pa.array(classes, type=columns[0].type)
    import pyarrow.compute as pc

    return [pc.index_in(column, value_set=lookup).to_numpy().astype(np.int64) for column in columns], classes


def _read(where: str) -> pa.Table:
    import fsspec

    with fsspec.open(where, "rb") as handle:
        if where.endswith((".parquet", ".pq")):
            import pyarrow.parquet as pq

            return pq.read_table(handle)
        import pyarrow.csv as csv

        return csv.read_csv(handle, convert_options=csv.ConvertOptions(strings_can_be_null=True))
