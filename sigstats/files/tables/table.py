"""Named Arrow columns, read as text or numbers on request."""

import copy
from collections.abc import Collection, Sequence
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.class_spelling import refuse_thousands
from sigstats._common.data_frames import duration_text
from sigstats._common.validation import EXACT_WHOLE, MAX_TOTAL, hint, shown

from .spelling import (
    Array,
    check_points,
    first_rounded,
    is_number,
    is_text,
    is_whole_number,
    to_decimals,
    to_numbers,
    without_empty,
    without_views,
)

#: A column is assumed to have few values if its first rows have few.
_SAMPLE, _FEW = 1000, 100


class Table:
    """The columns of an Arrow table.

    `where`: path of the table in messages.
    `names`: names of all columns of the file, if only some were read; a name may appear twice.
    `has_ids`: False for arrays, whose rows are identified by position.
    `as_python`: whether numbers and booleans become text as in Python: ``1.0``, ``0.5``, ``True``. By default a boolean
    becomes ``true``, and 1.0 the class ``1``, since integer columns with missing values are often stored as floats.
    """

    #: The text and the separator of a delimited file, by which `check_points` judges numbers.
    _content, _separator = b"", ","

    def __init__(
        self,
        where: str,
        table: pa.Table,
        *,
        names: Sequence[str] | None = None,
        has_ids: bool = True,
        as_python: bool = False,
    ) -> None:
        self.where = where
        self.names: tuple[str, ...] = tuple(table.column_names if names is None else names)
        self.num_rows = table.num_rows
        self._table = without_views(table)
        self._as_python, self.has_ids = as_python, has_ids
        #: The columns that were already joined to one chunk.
        self._joined: dict[str, Array] = {}
        #: The positions of the rows in the file, if only some were selected.
        self._rows: Array | None = None

    def take(self, rows: Array) -> Self:
        """Select some rows of a table."""
        some = copy.copy(self)
        some._table, some.num_rows, some._rows, some._joined = self._table.take(rows), len(rows), rows, {}
        return some

    def other_columns(self, names: Collection[str]) -> dict[str, Array]:
        """Return the other columns, if they were read."""
        columns = enumerate(self._table.column_names)
        return {name: self._table.column(i) for i, name in columns if name not in names}

    def row(self, row: int) -> str:
        """Return the name of a row in messages."""
        return f"row {self._place(row)} (from 0)"

    def _place(self, row: int) -> int:
        """Return the position of a row in the file."""
        return row if self._rows is None else int(self._rows[row].as_py())

    def error(self, name: str, complaint: str, row: int | None = None) -> ValueError:
        """Return the one form of every complaint about a column."""
        at = "" if row is None else f", {self.row(row)}"
        return ValueError(f"{self.where}{at}: column {shown(name)}{complaint}")

    def require(self, name: str, *, or_missing: bool = False) -> None:
        """Refuse a table without rows, and a column that is missing, exists twice or, by default, lacks a value."""
        times = self.names.count(name)
        if not times:
            raise self.error(name, f" was not found; {hint(name, self.names)}")
        if times > 1:
            raise self.error(name, f" appears {times} times")
        if not self.num_rows:
            raise ValueError(f"{self.where}: has no rows")
        if not or_missing and pc.any(missing := self.missing(name)).as_py():
            raise self.error(name, " is empty; expected a value", pc.index(missing, True).as_py())

    def texts(self, name: str) -> Array:
        """Return a column as strings, or raise ValueError that names the first row with a missing value."""
        self.require(name)
        return self._text(name)

    def texts_or_missing(self, name: str) -> Array:
        """Return a column as strings, null if a value is missing."""
        self.require(name, or_missing=True)
        return self._text(name)

    def ascending(self, name: str) -> Array | None:
        """Return the column itself if it is known to have distinct whole numbers in ascending order, else None."""
        column = self._values(name)
        if not pa.types.is_integer(column.type) or column.null_count or not isinstance(column, pa.Array):
            return None
        numbers = np.from_dlpack(column)
        return column if bool((numbers[1:] > numbers[:-1]).all()) else None

    def coded(self, name: str) -> Array:
        """Return a column as strings, or as a dictionary array of distinct strings if that is faster."""
        self.require(name)
        column = self._table.column(name)
        encoded = None
        if pa.types.is_dictionary(column.type):
            encoded = _whole_dictionary(column)
        elif pa.types.is_integer(column.type) or is_text(column.type):
            encoded = _encoded(column)
        return self._text(name) if encoded is None else encoded

    def numbers(self, name: str, *, or_missing: bool = False) -> Array:
        """Return a column as finite float64, or raise ValueError that names the first row without an exact one."""
        self.require(name, or_missing=or_missing)
        numbers = self._numbers(name)
        if numbers is None and or_missing:
            numbers = to_numbers(without_empty(self._text(name)))
        if numbers is None:
            texts = enumerate(self._text(name).to_pylist())
            row, text = next((row, text) for row, text in texts if text is not None and not is_number(text))
            raise self.error(name, f": {shown(text)} is not valid; expected a number", row)
        finite: Array = pc.is_finite(numbers)
        if pc.any(pc.invert(finite)).as_py():
            row = pc.index(finite, False).as_py()
            raise self.error(name, f": {shown(numbers[row].as_py())} is not finite; expected a number", row)
        written = self._values(name)
        if is_text(written.type):
            refuse_thousands(str(self.error(name, "")), pc.unique(written[: 10**5]).drop_null().to_pylist())
            self.check_points(name)
        whole = is_text(written.type) or pa.types.is_integer(written.type)
        if (rounded := first_rounded(written, numbers) if whole else None) is not None:
            raise self.error(name, f": {written[rounded].as_py()} is not valid; expected {EXACT_WHOLE}", rounded)
        return numbers

    def check_points(self, name: str, *, fewest: int = 1) -> None:
        """Refuse a column of strings such as 1.250 if, judging by other fields, their points may separate thousands.

        `fewest`: a column with fewer different numbers is not refused.
        """
        if self._content and is_text((written := self._values(name)).type):
            check_points(str(self.error(name, "")), written, self._content, self._separator, fewest)

    def counts(self, name: str) -> list[int]:
        """Return a column of counts, or raise ValueError with the first row that has another value."""
        texts = self.texts(name).to_pylist()
        for row, text in enumerate(texts):
            if not is_whole_number(text) or int(text) < 0:
                raise self.error(name, f": {shown(text)} is not valid; expected a whole number, 0 or more", row)
        return [int(text) for text in texts]

    def missing(self, name: str) -> Array:
        """Return a mask of missing values of a column whose name is unique."""
        column: Any = self._table.column(name) if name in self._table.column_names else None
        coded = column is not None and pa.types.is_dictionary(column.type)
        may_lack = column is None or column.null_count or pa.types.is_floating(column.type)
        if may_lack or (coded and any(part.dictionary.null_count for part in column.chunks)):
            return pc.is_null(self._values(name))
        return in_one(pc.is_null(column))  # without a copy of the column

    def _text(self, name: str) -> Array:
        column = self._values(name)
        kind = column.type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            raise self.error(name, f" is of type {kind}; expected text or whole numbers")
        if self._as_python and (pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            return pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.string())
        if pa.types.is_duration(kind):
            values = column.cast(pa.duration("us"), safe=False).to_pylist()
            return pa.array([None if value is None else duration_text(value) for value in values], pa.string())
        if pa.types.is_floating(kind):
            column = self._as_integers(name, column)
        return column if pa.types.is_string(column.type) else column.cast(pa.string())

    def _as_integers(self, name: str, column: Array) -> Array:
        """Return finite floats as integers if all of them are whole numbers, and unchanged otherwise."""
        if not pc.all(pc.is_finite(column)).as_py():
            raise self.error(name, " has a number that is not finite; expected finite numbers")
        if not pc.all(pc.equal(column, pc.floor(column))).as_py():
            return column
        if (pc.max(pc.call_function("abs", [column])).as_py() or 0) >= MAX_TOTAL:  # floats may have rounded it
            raise self.error(name, f" has larger numbers; expected text or whole numbers below {MAX_TOTAL}")
        return column.cast(pa.int64())

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

    def _values(self, name: str) -> Array:
        """Return a column without dictionary; floats become decimals as printed, NaN becomes null."""
        if name not in self._table.column_names:
            return pa.nulls(self.num_rows, pa.string())
        if name not in self._joined:
            self._joined[name] = to_decimals(in_one(self._table.column(name)))
        column = self._joined[name]
        if pa.types.is_dictionary(column.type):
            column = to_decimals(column.cast(column.type.value_type))
        return pc.if_else(pc.is_nan(column), None, column) if pa.types.is_floating(column.type) else column


class WithMissing(Table):
    """Another table, in which some `texts` mean a missing value."""

    def __init__(self, table: Table, texts: Sequence[str]) -> None:
        vars(self).update(vars(table))
        self._read = table
        self._missing = _without_zeros(pa.array(texts, pa.string()))

    def take(self, rows: Array) -> Self:  # noqa: D102
        some = super().take(rows)
        some._read = self._read.take(rows)
        return some

    def missing(self, name: str) -> Array:  # noqa: D102
        return pc.is_null(self._values(name))

    def coded(self, name: str) -> Array:  # noqa: D102
        return self.texts(name)

    def row(self, row: int) -> str:  # noqa: D102
        return self._read.row(row)

    def _values(self, name: str) -> Array:
        try:
            text = self._read._text(name)
        except ValueError:  # numbers with fractions
            text = self._read.numbers(name, or_missing=True).cast(pa.string())
        missing = pc.is_in(_without_zeros(text), value_set=self._missing)
        return pc.if_else(missing, pa.scalar(None, pa.string()), text)


def _without_zeros(texts: Array) -> Array:
    """Return strings without redundant zeros in decimal numbers: -1.0 and -01 become -1."""
    return pc.replace_substring_regex(texts, r"^\+?(-?)0*([0-9]+(?:\.[0-9]*[1-9])?)\.?0*$", r"\1\2")


def _encoded(column: Array) -> Array | None:
    """Return the values as a dictionary array of strings, if few are distinct."""
    if len(pc.unique(column[:_SAMPLE])) > _FEW:
        return None
    encoded = in_one(column.dictionary_encode())
    if len(encoded.dictionary) > _SAMPLE:
        return None
    return pa.DictionaryArray.from_arrays(encoded.indices, encoded.dictionary.cast(pa.string()))


def in_one(column: Array) -> Array:
    """Return the chunks of a column as one array, without a copy if there is only one."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _whole_dictionary(column: Array) -> Array | None:
    """Return a column stored as codes of text; None if its dictionary has repeated or unused values."""
    whole = in_one(column.unify_dictionaries())
    if not pa.types.is_string(whole.type.value_type) or len(pc.unique(whole.dictionary)) < len(whole.dictionary):
        return None
    seen = np.bincount(np.from_dlpack(whole.indices), minlength=len(whole.dictionary))
    return whole if seen.all() else None
