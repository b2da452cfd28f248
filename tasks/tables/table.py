"""What every table that is read can tell: the text and the numbers of its columns, and where a value stands."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

import pyarrow.compute as pc

from sigstats._common.validation import EXACT_WHOLE, hint, shown

from .spelling import Array, first_rounded, is_number, to_numbers


class Table(ABC):
    """Columns with names.

    `where`: what messages call the table: its path. `names`: the names of all columns, also of those that were not
    read; a name may be there twice.
    """

    def __init__(self, where: str, names: Sequence[str], num_rows: int) -> None:
        self.where = where
        self.names = tuple(names)
        self.num_rows = num_rows

    @abstractmethod
    def _text(self, name: str) -> Array:
        """The strings of a column that is there once; null is missing."""

    @abstractmethod
    def _numbers(self, name: str) -> Array | None:
        """The float64 numbers of a column that is there once, without missing values; None if one is no number."""

    @abstractmethod
    def whole_numbers(self, name: str) -> list[int]:
        """A column as whole numbers, or ValueError that names the first row with another value."""

    @abstractmethod
    def missing(self, name: str) -> Array:
        """For each row whether the value of a column that is there once is missing."""

    def beside(self, names: Collection[str]) -> list[Array]:  # noqa: ARG002 - of a kind that reads these alone
        """The columns other than these, as far as they were read."""
        return []

    def row(self, row: int) -> str:
        """How messages call a row."""
        return f"row {row} (from 0)"

    def error(self, name: str, complaint: str, row: int | None = None) -> ValueError:
        """The one form of every complaint about a column."""
        at = "" if row is None else f", {self.row(row)}"
        return ValueError(f"{self.where}{at}: column {shown(name)}{complaint}")

    def require(self, *names: str) -> None:
        """Refuse a table without rows, and columns that are not there or there twice."""
        for name in names:
            times = self.names.count(name)
            if not times:
                raise self.error(name, f" is not there; {hint(name, self.names)}")
            if times > 1:
                raise self.error(name, f" is there {times} times; expected every column once")
        if not self.num_rows:
            raise ValueError(f"{self.where}: there are no rows; expected one or more")

    def texts(self, name: str) -> Array:
        """A column as strings, or ValueError that names the first row where a value is missing."""
        self.require_values(name)
        return self._text(name)

    def texts_or_missing(self, name: str) -> Array:
        """A column as strings, null where a value is missing."""
        self.require(name)
        return self._text(name)

    def coded(self, name: str) -> Array:
        """The same, or a dictionary array of strings, each there once, where that is at hand sooner."""
        return self.texts(name)

    def ascending(self, name: str) -> Array | None:  # noqa: ARG002 - of text it takes longer than it saves
        """A column as it is, where it is known to be of whole numbers in ascending order, each there once."""
        return None

    def _as_written(self, name: str) -> Array | None:
        """The strings or whole numbers that float64 numbers are made of; None if a column is stored as these."""
        return self._text(name)

    def numbers(self, name: str, *, or_missing: bool = False) -> Array:
        """A column as finite float64 numbers, or ValueError that names the first row without one, or a rounded one."""
        if or_missing:
            self.require(name)
        else:
            self.require_values(name)
        numbers = self._numbers(name)
        if numbers is None:
            texts = self._text(name)
            row, text = next((row, text) for row, text in enumerate(texts.to_pylist()) if not is_number(text or "0"))
            raise self.error(name, f": {shown(text)} is not valid; expected a number", row)
        if or_missing:
            numbers = pc.if_else(pc.is_nan(numbers), None, numbers)
        finite: Array = pc.is_finite(numbers)
        if pc.any(pc.invert(finite)).as_py():
            row = pc.index(finite, False).as_py()
            raise self.error(name, f": {shown(numbers[row].as_py())} is not finite; expected a number", row)
        written = self._as_written(name)
        rounded = None if written is None else first_rounded(written, numbers)
        if written is not None and rounded is not None:
            raise self.error(name, f": {written[rounded].as_py()} is not valid; expected {EXACT_WHOLE}", rounded)
        return numbers

    def require_values(self, name: str) -> None:
        """Refuse a column that is not there, or that lacks a value."""
        self.require(name)
        missing: Array = self.missing(name)
        if pc.any(missing).as_py():
            raise self.error(name, " is empty; expected a value", pc.index(missing, True).as_py())


class SomeRows(Table):
    """Some rows of a table; `rows` are their positions."""

    def __init__(self, table: Table, rows: Array) -> None:
        super().__init__(table.where, table.names, len(rows))
        self._table, self._rows = table, rows

    def missing(self, name: str) -> Array:  # noqa: D102
        return self._table.missing(name).take(self._rows)

    def beside(self, names: Collection[str]) -> list[Array]:  # noqa: D102
        return [column.take(self._rows) for column in self._table.beside(names)]

    def row(self, row: int) -> str:  # noqa: D102
        return self._table.row(self._rows[row].as_py())

    def whole_numbers(self, name: str) -> list[int]:  # noqa: D102
        return [self._table.whole_numbers(name)[row] for row in self._rows.to_pylist()]

    def _text(self, name: str) -> Array:
        return self._table._text(name).take(self._rows)

    def _numbers(self, name: str) -> Array | None:
        found = self._table._numbers(name)
        return to_numbers(self._text(name)) if found is None else found.take(self._rows)

    def _as_written(self, name: str) -> Array | None:
        found = self._table._as_written(name)
        return None if found is None else found.take(self._rows)
