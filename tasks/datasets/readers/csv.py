"""Comma-separated text: ``{name = "mine", source = "csv", path = "mine.csv", target = "label"}``.

`sigstats.files.tables` describes the dialect. The first line names the columns, unless ``names`` does; ``separator``
and ``encoding`` are only needed if they are not detected. Empty fields and the strings in ``missing`` are missing
values. A column of numbers is numeric, and a column without numbers is nominal. A mixed column is refused unless
``missing`` or ``nominal`` explains it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sigstats.files.inputs import as_utf8, place, read_bytes, size_of_fields
from sigstats.files.inputs.limit import Budget
from sigstats.files.tables.delimited import DelimitedTable

from ..dataset import Dataset
from ..options import COLUMNS, Kinds, validate_options
from ..tables import TEXT, TextColumns, Texts, dataset

OPTIONS: Mapping[str, Kinds] = {
    **COLUMNS,
    "path": str,
    "names": list,
    "missing": list,
    "separator": str,
    "encoding": str,
}
REQUIRED = ("path", "target")


def load(spec: Mapping[str, Any], base: Path) -> Dataset:
    """Read the file."""
    spec = validate_options(spec, OPTIONS, required=REQUIRED)
    where = place(spec["path"], base)
    separator = spec.get("separator")
    if separator is not None and (len(separator) != 1 or separator in '\r\n"'):
        raise ValueError(f"data set {spec['name']}: separator: {separator!r} is not valid; expected one character")
    content = as_utf8(read_bytes(where, spec.get("encoding")), where, spec.get("encoding", "utf-8"))
    Budget(where).require(size_of_fields(content, b"\n" + (separator or ",;\t|").encode()))
    table = DelimitedTable(where, content, names=spec.get("names"), separator=spec.get("separator"))
    return dataset(_Columns(table, set(spec.get("missing", []))), spec)


class _Columns(TextColumns):
    """The columns of delimited text, in which some strings mean a missing value."""

    def __init__(self, table: DelimitedTable, missing: set[str]) -> None:
        super().__init__(table.where, table.names)
        self._table = table
        self._missing = missing

    def row(self, row: int) -> str:
        return self._table.row(row)

    def texts(self, name: str) -> Texts:
        encoded = self._table.texts_or_missing(name).dictionary_encode()
        Budget(self.where).require(TEXT * len(encoded.dictionary))
        names = [None if text in self._missing else text for text in encoded.dictionary.to_pylist()]
        return Texts.of(names, encoded.indices.fill_null(-1).to_numpy().astype(np.int64))
