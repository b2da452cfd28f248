"""A Parquet file: ``{name = "mine", source = "parquet", path = "mine.parquet", target = "label"}``.

Integers, floats and decimals are numeric; strings, booleans and dictionaries are nominal; nulls, NaN and the strings
that ``missing`` lists are missing values. A column of strings is refused if some are numbers and others are not, or if
all are numbers and some have decimals, unless ``nominal`` lists it. Times, lists and other types are refused; ``drop``
leaves such a column out.
The index of a pandas table is only a column if the study file names it.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sigstats._common.number_texts import is_number
from sigstats.files.inputs import place, reading, reason
from sigstats.files.inputs.content import open_content
from sigstats.files.tables.arrow_files import read_parquet
from sigstats.files.tables.spelling import is_text

from ..dataset import Dataset
from ..options import COLUMNS, Kinds, validate_options
from ..tables import DataColumns, Numbers, Texts, dataset

OPTIONS: Mapping[str, Kinds] = {**COLUMNS, "path": str, "missing": list}
REQUIRED = ("path", "target")

_READABLE = (
    is_text, pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null,
)  # fmt: skip


def load(spec: Mapping[str, Any], base: Path) -> Dataset:
    """Read the file."""
    spec = validate_options(spec, OPTIONS, required=REQUIRED)
    where = place(spec["path"], base)
    with open_content(where) as content, reading(content.where, fault="is not a readable Parquet file"):
        _, table = read_parquet(content.by_place(), content.budget)
        index = _pandas_index(table)
    asked = {spec["target"], *spec.get("columns", []), *spec.get("drop", []), *spec.get("nominal", [])}
    table = table.drop_columns([name for name in index if name not in asked])
    return dataset(_Stored(where, table, missing=spec.get("missing", [])), spec)


class _Stored(DataColumns):
    def __init__(self, where: str, table: pa.Table, *, missing: list[str]) -> None:
        super().__init__(where, table.column_names)
        self.table = table
        self.missing = missing

    def numbers(self, name: str) -> Numbers | None:
        column = self._column(name)
        kind = column.type
        if is_text(self.table.column(name).type):
            texts = self.texts(name)
            if self.missing and all(map(is_number, texts.names)):  # numbers, but for the missing values
                texts = self._texts(name, [])
            self.refuse_mixed(name, texts, nominal=True)
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            return None
        try:
            # Arrow converts nulls to NaN.
            return column.cast(pa.float64()).to_numpy()
        except pa.ArrowException as error:  # for example, an integer beyond 2**53
            raise self.error(name, f"cannot be converted to float64 ({reason(error)})") from None

    def texts(self, name: str) -> Texts:
        return self._texts(name, self.missing)

    def _texts(self, name: str, missing: list[str]) -> Texts:
        column = self._column(name)
        kind = column.type
        if not any(is_kind(kind) for is_kind in _READABLE):
            raise self.error(name, f"the type {kind} is not supported; convert it, or list the column in drop")
        names: dict[str | None, int] = {}
        try:
            codes = [names.setdefault(_text(value), len(names)) for value in column.to_pylist()]
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise self.error(name, f"cannot be read as text ({reason(error)})") from None
        kept = [None if text in missing else text for text in names]
        return Texts.of(kept, np.array(codes, dtype=np.int64))

    def _column(self, name: str) -> "pa.ChunkedArray[Any]":
        column = self.table.column(name)
        if not pa.types.is_dictionary(column.type):
            return column
        try:
            # A dictionary of numbers contains categories, not numbers.
            values = column.cast(column.type.value_type)
            return values if pa.types.is_string(values.type) else values.cast(pa.string())
        except pa.ArrowException as error:
            raise self.error(name, f"its dictionary cannot be read ({reason(error)})") from None


def _pandas_index(table: pa.Table) -> list[str]:
    about = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
    return [name for name in about.get("index_columns", []) if isinstance(name, str) and name in table.column_names]


def _text(value: Any) -> str | None:
    if value is None or value != value:  # NaN is missing, like null
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
