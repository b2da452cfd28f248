"""Named columns, read in the requested type; and those of an Arrow table."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.class_names import refuse_missing_texts
from sigstats._common.validation import EXACT_WHOLE, hint, shown

from .spelling import Array, first_rounded, is_number, is_whole_number, to_numbers, without_empty

#: Texts as short as those that usually mean a missing value, with blanks around them.
_SHORT = r"(?s)^.{0,8}$"


class Table(ABC):
    """Columns with names.

    `where`: what messages call the table: its path. `names`: the names of all columns, also of those that were not
    read; a name may be there twice.
    """

    def __init__(self, where: str, names: Sequence[str], num_rows: int) -> None:
        self.where = where
        self.names = tuple(names)
        self.num_rows = num_rows
        #: Whether its rows may have ids; those of an array are known by their position.
        self.has_ids = True

    @abstractmethod
    def _text(self, name: str) -> Array:
        """The strings of a column that appears once; null is missing."""

    @abstractmethod
    def _numbers(self, name: str) -> Array | None:
        """The float64 numbers of a column that appears once, without missing values; None if one is not a number."""

    @abstractmethod
    def missing(self, name: str) -> Array:
        """For each row, whether the value of a column that appears once is missing."""

    def beside(self, names: Collection[str]) -> dict[str, Array]:  # noqa: ARG002 - of a kind that reads these alone
        """The other columns, if they were read."""
        return {}

    def row(self, row: int) -> str:
        """The name of a row in messages."""
        return f"row {row} (from 0)"

    def error(self, name: str, complaint: str, row: int | None = None) -> ValueError:
        """The one form of every complaint about a column."""
        at = "" if row is None else f", {self.row(row)}"
        return ValueError(f"{self.where}{at}: column {shown(name)}{complaint}")

    def refuse_missing_texts(
        self, name: str, texts: Array, remedy: str, *, classes: Collection[str] = (), what: str = "labels"
    ) -> None:
        """Refuse texts of a column that usually mean a missing value and are not among the classes."""
        values = texts.dictionary if pa.types.is_dictionary(texts.type) else texts
        if pc.any(short := pc.match_substring_regex(values, _SHORT)).as_py():
            short = short.take(texts.indices) if values is not texts else short
            rows_of = {count["values"]: count["counts"] for count in pc.value_counts(texts.filter(short)).to_pylist()}
            where = str(self.error(name, ""))
            refuse_missing_texts(where, rows_of, remedy, classes=classes, n=len(texts), what=what)

    def require(self, name: str) -> None:
        """Refuse a table without rows, and a column that is not there or there twice."""
        times = self.names.count(name)
        if not times:
            raise self.error(name, f" was not found; {hint(name, self.names)}")
        if times > 1:
            raise self.error(name, f" appears {times} times")
        if not self.num_rows:
            raise ValueError(f"{self.where}: has no rows")

    def texts(self, name: str) -> Array:
        """A column as strings, or ValueError that names the first row with a missing value."""
        self.require_values(name)
        return self._text(name)

    def texts_or_missing(self, name: str) -> Array:
        """A column as strings, null if a value is missing."""
        self.require(name)
        return self._text(name)

    def coded(self, name: str) -> Array:
        """The same, or a dictionary array of strings, each there once, where that is at hand sooner."""
        return self.texts(name)

    def ascending(self, name: str) -> Array | None:  # noqa: ARG002 - of text it takes longer than it saves
        """The column itself, if it is known to have distinct whole numbers in ascending order."""
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
        written = self._as_written(name)
        rounded = None if written is None else first_rounded(written, numbers)
        if written is not None and rounded is not None:
            raise self.error(name, f": {written[rounded].as_py()} is not valid; expected {EXACT_WHOLE}", rounded)
        return numbers

    def whole_numbers(self, name: str) -> list[int]:
        """A column as whole numbers, or ValueError that names the first row with another value."""
        texts = self.texts(name).to_pylist()
        for row, text in enumerate(texts):
            if not is_whole_number(text):
                raise self.error(name, f": {shown(text)} is not valid; expected a whole number", row)
        return [int(text) for text in texts]

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

    def beside(self, names: Collection[str]) -> dict[str, Array]:  # noqa: D102
        return {name: column.take(self._rows) for name, column in self._table.beside(names).items()}

    def row(self, row: int) -> str:  # noqa: D102
        return self._table.row(self._rows[row].as_py())

    def _text(self, name: str) -> Array:
        return self._table._text(name).take(self._rows)

    def _numbers(self, name: str) -> Array | None:
        numbers = self._table._numbers(name)
        return to_numbers(self._text(name)) if numbers is None else numbers.take(self._rows)

    def _as_written(self, name: str) -> Array | None:
        written = self._table._as_written(name)
        return None if written is None else written.take(self._rows)


class WithMissing(SomeRows):
    """All rows of a table in which some texts mean a missing value."""

    def __init__(self, table: Table, texts: Sequence[str]) -> None:
        super().__init__(table, pa.array(np.arange(table.num_rows)))
        self._missing = pa.array(texts, pa.string())

    def missing(self, name: str) -> Array:  # noqa: D102
        return pc.is_null(self._text(name))

    def _text(self, name: str) -> Array:
        try:
            text = super()._text(name)
        except ValueError:  # numbers with fractions
            text = self._table.numbers(name, or_missing=True).cast(pa.string())
        return pc.if_else(pc.is_in(text, value_set=self._missing), pa.scalar(None, pa.string()), text)

    def _numbers(self, name: str) -> Array | None:
        return to_numbers(self._text(name))
