"""Columns of a file of delimited text or of a Parquet file that a study names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats.tasks.input_files import place, read_bytes
from sigstats.tasks.input_files.content import open_content
from sigstats.tasks.tables.arrow import ArrowTable
from sigstats.tasks.tables.delimited import DelimitedTable
from sigstats.tasks.tables.spelling import is_number, same_spelling
from sigstats.tasks.tables.table import Table


def read_table(path: str, base: Path, names: Sequence[str] | None = None) -> Table:
    """The columns `names` of a file, all by default."""
    where = place(path, base)
    table: Table
    if where.endswith((".parquet", ".pq")):
        from sigstats.tasks.tables.parquet import read_parquet

        with open_content(where) as content:
            try:
                known, columns = read_parquet(content.by_place(), content.budget, names)
            except Exception as error:  # a damaged file may raise anything
                raise content.error("cannot be read as Parquet", error) from None
        table = ArrowTable(where, columns, names=known, as_python=True)
    else:
        table = DelimitedTable(where, read_bytes(where), wanted=names)
    for name in table.names if names is None else names:
        table.require_values(name)
    return table


def codes(*columns: Any) -> tuple[list[NDArray[np.int64]], list[str]]:
    """Columns of names as positions among all names that occur in any of them, and those names.

    They are sorted: by their value where all are numbers, or else as text.
    """
    columns = tuple(same_spelling(columns))
    found: set[str] = {value for column in columns for value in column.unique().to_pylist()}
    numeric = all(map(is_number, found))
    classes = sorted(found, key=lambda name: (float(name) if numeric else 0.0, name))
    lookup = pa.array(classes, pa.string())
    return [pc.index_in(column, value_set=lookup).to_numpy().astype(np.int64) for column in columns], classes
