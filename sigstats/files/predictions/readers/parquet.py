"""A Parquet file, and the files and streams of Arrow (Feather)."""

import contextlib
import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...inputs import reading
from ...inputs.content import Content
from ...tables.table import Table
from .._columns import Columns
from .._other_columns import MOST_VALUES

ORDER = 10
NAME = "Parquet, Feather (Arrow)"
TABLE = True

BEGINS = re.compile(rb"PAR1|ARROW1|\xff{4}")


def read(content: Content, columns: Columns) -> Table:
    """Read the requested columns, and all columns of small files."""
    from ...tables.arrow_files import read_ipc, read_parquet  # slow to import, for other formats too

    parquet = content.start.startswith(b"PAR1")
    kind = "Parquet" if parquet else "Arrow's format"
    with reading(content.where, fault=f"cannot be read as {kind}"):  # a damaged file may raise anything
        if parquet:
            wanted = columns.wanted_in(content.parquet_names)
            roots = [name.partition(".")[0] for name in wanted if "." in name]
            stored = (*wanted, *roots)
            names, table = read_parquet(content.by_place(), content.budget, stored, coded=columns.form.coded)
        else:
            table = read_ipc(content.whole(), content.budget)
            names = table.column_names
        for name in columns.wanted_in(names):
            if "." in name and name not in names and (within := _within(table, name.split("."))) is not None:
                names, table = [*names, name], table.append_column(name, within)
        others = [name for name in names if name not in table.column_names]
        if others and table.num_rows * len(names) <= MOST_VALUES:
            with contextlib.suppress(Exception):
                _, rest = read_parquet(content.by_place(), content.budget, others)
                for name, column in zip(rest.column_names, rest.columns, strict=True):
                    table = table.append_column(name, column)
    return Table(content.where, table, names=names)


def _within(table: Any, path: list[str]) -> Any:
    root, *inner = path
    kind: Any = table.schema.field(root).type if root in table.column_names else None
    for key in inner:
        if kind is None or not pa.types.is_struct(kind) or kind.get_field_index(key) < 0:
            return None
        kind = kind.field(key).type
    return None if kind is None else pc.struct_field(table.column(root), inner)
