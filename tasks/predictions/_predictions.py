"""What every format gives: ids, labels and predictions as text, one a row."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sigstats.checks import nearest, shown

#: What stands for label and prediction where a file only says whether an answer was right.
RIGHT, WRONG = "right", "wrong"


@dataclass(frozen=True)
class Columns:
    """The names of columns.

    Attributes
    ----------
    id, label, prediction : str
    group : str or None
        Rows of one group are not independent.
    slices : tuple of str
        Columns whose values part the rows.
    """

    id: str = "id"
    label: str = "label"
    prediction: str = "prediction"
    group: str | None = None
    slices: tuple[str, ...] = ()

    @property
    def optional(self) -> tuple[str, ...]:
        """The columns that one of two files may lack."""
        return (*self.slices, *(() if self.group is None else (self.group,)))


@dataclass(frozen=True)
class Predictions:
    """The predictions of one model.

    Attributes
    ----------
    where : str
        The file.
    ids, label, prediction : pyarrow.Array of string
    others : mapping of str to pyarrow.Array of string
        Groups and slices, as far as the file has them.
    graded : bool
        Whether the file says no more than whether each answer was right.
    """

    where: str
    ids: Any
    label: Any
    prediction: Any
    others: Mapping[str, Any] = field(default_factory=dict)
    graded: bool = False


def from_table(where: str, table: pa.Table, columns: Columns) -> Predictions:
    """The predictions in a table of columns.

    Raises
    ------
    ValueError
        One line that names file, column and row.
    """
    if not table.num_rows:
        raise ValueError(f"{where}: there are no rows; expected one or more")
    ids, label, prediction = (_text(where, table, name) for name in (columns.id, columns.label, columns.prediction))
    others = {name: _text(where, table, name) for name in columns.optional if name in table.column_names}
    return Predictions(where, ids, label, prediction, others)


def _text(where: str, table: pa.Table, name: str) -> Any:
    if name not in table.column_names:
        near = nearest(name, table.column_names)
        listed = ", ".join(table.column_names[:20])
        hint = f"did you mean {near!r}?" if near else f"expected one of {listed}"
        raise ValueError(f"{where}: column {shown(name)} is not there; {hint}")
    column = table.column(name)
    if column.null_count:
        row = pc.index(pc.is_null(column), True).as_py()
        raise ValueError(f"{where}: column {shown(name)}: row {row} (from 0) is empty; expected a value")
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_nested(kind) or pa.types.is_binary(kind):
        raise ValueError(f"{where}: column {shown(name)} is of type {kind}; expected text or whole numbers")
    if pa.types.is_floating(kind):
        # 1.0 is the class 1 of a table that once had a missing value; 0.5 is no class.
        if not pc.all(pc.equal(column, pc.floor(column))).as_py():
            raise ValueError(f"{where}: column {shown(name)} has fractions; expected text or whole numbers")
        column = column.cast(pa.int64())
    return column.cast(pa.string()).combine_chunks()
