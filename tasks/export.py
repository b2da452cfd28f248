"""The replicates of a study as tables that any engine reads: one per fan-out, in Hive-style folders."""

import io
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from .plan import Cell, group_by
from .results import Results
from .schema import column
from .storage.files import open_files

#: The parts of a subject that are folders, in order; the others are columns of the files.
FOLDERS = ("dataset", "classifier", "null_hypothesis")

#: Engines read this folder as a missing value.
_MISSING = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Exported:
    """The exported files."""

    #: A table each.
    fanouts: tuple[str, ...]
    files: int
    rows: int
    #: The cells that are left out, since replicates of them are missing.
    incomplete: tuple[Cell, ...]


def export(results: Results, to: str) -> Exported:
    """Write the replicates of all complete cells, one file for each data set, classifier and null hypothesis.

    ``TO/fanout=retrain/dataset=iris/classifier=lda/null_hypothesis=labels/replicates.parquet``

    `to`: a folder or an fsspec URL. Raises LookupError if no cell is complete; nothing was written.
    """
    files = open_files(to)
    if files.names("") or files.folders(""):
        raise ValueError(f"{to!r} is not valid; it contains files; choose a new or empty folder")
    parts: dict[str, set[str]] = {}
    for cell in results.plan.cells:
        parts.setdefault(cell.fanout, set()).update(cell.columns)
    partitions = group_by(results.plan.cells, lambda cell: folder_of(cell, parts[cell.fanout]))
    fanouts: dict[str, None] = {}
    incomplete: list[Cell] = []
    written = rows = 0
    for folder, cells in partitions.items():
        by_cell = {cell: table for cell in cells if (table := results.read(cell)) is not None}
        incomplete += [cell for cell in cells if cell not in by_cell]
        if by_cell:
            table = _join(by_cell)
            content = io.BytesIO()
            pq.write_table(table, content)
            files.write(f"{folder}/replicates.parquet", content.getvalue())
            fanouts[cells[0].fanout] = None
            written, rows = written + 1, rows + table.num_rows
    if not written:
        raise LookupError(f"none of {len(incomplete)} cells is complete; run the study again to continue")
    return Exported(tuple(fanouts), written, rows, tuple(incomplete))


def folder_of(cell: Cell, parts: Collection[str]) -> str:
    """The folder of a cell; its levels are `parts`, the parts of the subjects of its fan-out's cells."""
    values = {key: cell.columns.get(key) for key in FOLDERS if key in parts}
    named = (f"{key}={_MISSING if value is None else quote(value, safe='')}" for key, value in values.items())
    return "/".join([f"fanout={cell.fanout}", *named])


def _join(cells: Mapping[Cell, pa.Table]) -> pa.Table:
    """The replicates of the cells of a folder, after the parts of their subjects that are not in its name."""
    named = {*FOLDERS, *(name for table in cells.values() for name in table.column_names)}
    keys = list(dict.fromkeys(key for cell in cells for key in cell.columns if key not in named))
    tables = []
    for cell, table in cells.items():
        for place, key in enumerate(keys):
            field = column(key, pa.string(), "name", f"the {key} of the cell", nullable=True)
            table = table.add_column(place, field, pa.array([cell.columns.get(key)] * table.num_rows, pa.string()))
        tables.append(table.replace_schema_metadata(None))
    return pa.concat_tables(tables, promote_options="default")
