"""The columns of an Arrow table, as text or numbers."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .spelling import Array, to_decimals, to_numbers
from .table import Table

#: A column whose first values are few is taken for one of few values.
_SAMPLE, _FEW = 1000, 100


class ArrowTable(Table):
    """The columns of an Arrow table.

    `names`: the names of all columns of the file, where only some of them were read.
    `has_ids`: False for arrays.
    `as_python`: whether numbers and truth values are text as Python writes them: ``1.0``, ``0.5``, ``True``. By
    default a truth value is ``true``, and 1.0 is the class ``1`` of a column that once had a missing value.
    """

    def __init__(
        self,
        where: str,
        table: pa.Table,
        *,
        names: Sequence[str] | None = None,
        has_ids: bool = True,
        as_python: bool = False,
    ) -> None:
        super().__init__(where, table.column_names if names is None else names, table.num_rows)
        self._table = table
        self._as_python, self.has_ids = as_python, has_ids
        self._whole_columns: dict[str, Array] = {}

    def missing(self, name: str) -> Array:  # noqa: D102
        column: Any = self._table.column(name) if name in self._table.column_names else None
        coded = column is not None and pa.types.is_dictionary(column.type)
        may_lack = column is None or column.null_count or pa.types.is_floating(column.type)
        if may_lack or (coded and any(part.dictionary.null_count for part in column.chunks)):
            return pc.is_null(self._values(name))
        return in_one(pc.is_null(column))  # without a copy of the column

    def ascending(self, name: str) -> Array | None:  # noqa: D102
        column = self._values(name)
        if not pa.types.is_integer(column.type) or column.null_count or not isinstance(column, pa.Array):
            return None
        numbers = np.from_dlpack(column)
        return column if bool((numbers[1:] > numbers[:-1]).all()) else None

    def beside(self, names: Collection[str]) -> dict[str, Array]:  # noqa: D102
        columns = enumerate(self._table.column_names)
        return {name: self._table.column(i) for i, name in columns if name not in names}

    def coded(self, name: str) -> Array:  # noqa: D102
        self.require_values(name)
        column = self._table.column(name)
        encoded = None
        if pa.types.is_dictionary(column.type):
            encoded = _whole_dictionary(column)
        elif pa.types.is_integer(column.type) or is_text(column.type):
            encoded = _encoded(column)
        return self._text(name) if encoded is None else encoded

    def _text(self, name: str) -> Array:
        column = self._values(name)
        kind = column.type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            raise self.error(name, f" is of type {kind}; expected text or whole numbers")
        if self._as_python and (pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            return pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.string())
        if pa.types.is_floating(kind):
            column = self._whole(name, column)
        return _as_strings(column)

    def _whole(self, name: str, column: Array) -> Array:
        if not pc.all(pc.equal(column, pc.floor(column))).as_py():
            if pc.all(pc.is_finite(column)).as_py():
                return column
            raise self.error(name, " has fractions; expected text or whole numbers")
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            wanted = f"text or whole numbers of at most {2**63 - 1}"
            raise self.error(name, f" has larger numbers; expected {wanted}") from None

    def _numbers(self, name: str) -> Array | None:
        column = self._values(name)
        if is_text(column.type):
            return to_numbers(column.cast(pa.string()))
        if pa.types.is_integer(column.type):
            return column.cast(pa.float64(), safe=False)
        try:
            return column.cast(pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise self.error(name, f" is of type {column.type}; expected numbers") from None

    def _as_written(self, name: str) -> Array | None:
        column = self._values(name)
        return column if is_text(column.type) or pa.types.is_integer(column.type) else None

    def _values(self, name: str) -> Array:
        """A column without the dictionary of its values, and floats as the decimals that they print, null for NaN."""
        if name not in self._table.column_names:
            return pa.nulls(self.num_rows, pa.string())
        if name not in self._whole_columns:
            self._whole_columns[name] = to_decimals(in_one(self._table.column(name)))
        column = self._whole_columns[name]
        if pa.types.is_dictionary(column.type):
            column = to_decimals(column.cast(column.type.value_type))
        return pc.if_else(pc.is_nan(column), None, column) if pa.types.is_floating(column.type) else column


def is_text(kind: pa.DataType) -> bool:
    """True if a type is of strings."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _as_strings(column: Array) -> Array:
    """The values as text; if few differ, each is converted once."""
    encoded = _encoded(column) if isinstance(column, pa.Array) else None
    return column.cast(pa.string()) if encoded is None else encoded.dictionary.take(encoded.indices)


def _encoded(column: Array) -> Array | None:
    """The values as a dictionary array of strings, if few of them differ."""
    if len(pc.unique(column[:_SAMPLE])) > _FEW:
        return None
    encoded = in_one(column.dictionary_encode())
    if len(encoded.dictionary) > _SAMPLE:
        return None
    return pa.DictionaryArray.from_arrays(encoded.indices, encoded.dictionary.cast(pa.string()))


def in_one(column: Array) -> Array:
    """The chunks of a column as one array, without a copy if there is only one chunk."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _whole_dictionary(column: Array) -> Array | None:
    """A column that is stored as codes of text; None if its dictionary has a value twice, or one that no row has."""
    whole = in_one(column.unify_dictionaries())
    if not pa.types.is_string(whole.type.value_type) or len(pc.unique(whole.dictionary)) < len(whole.dictionary):
        return None
    seen = np.bincount(np.from_dlpack(whole.indices), minlength=len(whole.dictionary))
    return whole if seen.all() else None
