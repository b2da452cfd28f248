"""A Parquet file."""

import contextlib
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...input_files.content import Content
from ...tables.arrow import ArrowTable
from .._from_table import from_table
from .._items import MOST_VALUES
from .._predictions import Columns, Predictions

ORDER = 10
NAME = "Parquet"
LOG = False


def reads(content: Content) -> bool:
    """A file that starts as Parquet does."""
    return content.start.startswith(b"PAR1")


def read(content: Content, columns: Columns) -> Predictions:
    """Read the columns that are wanted."""
    from ...tables.parquet import read_parquet  # slow to import, for other formats too

    try:
        inner = [name for name in columns.wanted if "." in name and name not in content.parquet_names]
        roots = [name.partition(".")[0] for name in inner]
        names, table = read_parquet(content.by_place(), content.budget, (*columns.wanted, *roots), coded=columns.coded)
        for name in inner:
            if (found := _within(table, name.split("."))) is not None:
                names, table = [*names, name], table.append_column(name, found)
        table = _with_all(content, names, table)
    except Exception as error:  # a damaged file may raise anything
        raise content.error("cannot be read as Parquet", error) from None
    return from_table(ArrowTable(content.where, table, names=names, fractions=True), columns)


def _with_all(content: Content, names: list[str], table: Any) -> Any:
    """The table with the other columns of a small file, where these can be read."""
    from ...tables.parquet import read_parquet

    others = [name for name in names if name not in table.column_names]
    if others and table.num_rows * len(names) <= MOST_VALUES:
        with contextlib.suppress(Exception):
            _, rest = read_parquet(content.by_place(), content.budget, others)
            for name, column in zip(rest.column_names, rest.columns, strict=True):
                table = table.append_column(name, column)
    return table


def _within(table: Any, path: list[str]) -> Any:
    """The values at a place in a column of objects; None if there is no such place."""
    root, *inner = path
    kind: Any = table.schema.field(root).type if root in table.column_names else None
    for key in inner:
        if kind is None or not pa.types.is_struct(kind) or kind.get_field_index(key) < 0:
            return None
        kind = kind.field(key).type
    return None if kind is None else pc.struct_field(table.column(root), inner)
