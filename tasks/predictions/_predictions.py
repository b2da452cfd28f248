"""What every format gives: ids, labels and predictions as text, one a row."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.validation import hint, shown

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
    score : str or None
        A number of each row: the probability of the positive class, a mark ...
    """

    id: str = "id"
    label: str = "label"
    prediction: str = "prediction"
    group: str | None = None
    slices: tuple[str, ...] = ()
    score: str | None = None

    @property
    def optional(self) -> tuple[str, ...]:
        """The columns that one of two files may lack."""
        return (*self.slices, *(() if self.group is None else (self.group,)))

    @property
    def texts(self) -> tuple[str, ...]:
        """All columns but the score."""
        return (self.id, self.label, self.prediction, *self.optional)

    @property
    def wanted(self) -> tuple[str, ...]:
        """All columns, each once."""
        return tuple(dict.fromkeys([*self.texts, *(() if self.score is None else (self.score,))]))


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
    score : pyarrow.Array of float64, or None
    predicted : bool
        Whether there are predictions; where not, `prediction` is `label`, and the scores are all there is.
    """

    where: str
    ids: Any
    label: Any
    prediction: Any
    others: Mapping[str, Any] = field(default_factory=dict)
    graded: bool = False
    score: Any = None
    predicted: bool = True


def from_table(where: str, table: pa.Table, columns: Columns) -> Predictions:
    """The predictions in a table of columns.

    Raises
    ------
    ValueError
        One line that names file, column and row.
    """
    if not table.num_rows:
        raise ValueError(f"{where}: there are no rows; expected one or more")
    ids = _text(where, table, columns.id)
    score = None if columns.score is None else _number(where, table, columns.score)
    label, prediction = (_text(where, table, name) for name in _classes_of(table, columns))
    others = {name: _text(where, table, name) for name in columns.optional if name in table.column_names}
    predicted = columns.score is None or columns.prediction in table.column_names
    return Predictions(where, ids, label, prediction, others, score=score, predicted=predicted)


def named(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """The table with all columns of its file, those empty that were not read.

    So a column that is not there is told from one that is there twice, and the nearest name can be told.
    """
    for name in (Counter(names) - Counter(table.column_names)).elements():
        table = table.append_column(name, pa.nulls(table.num_rows))
    return table


def _classes_of(table: pa.Table, columns: Columns) -> tuple[str, str]:
    """The columns of label and prediction; a file with scores needs no predictions."""
    if columns.score is not None and columns.prediction not in table.column_names:
        return columns.label, columns.label
    return columns.label, columns.prediction


def _number(where: str, table: pa.Table, name: str) -> Any:
    _require(where, table, name)
    column = table.column(name)
    try:
        numbers = column.cast(pa.float64()).combine_chunks()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        bad = next((value for value in column.to_pylist() if not _is_number(value)), None)
        raise ValueError(f"{where}: column {shown(name)}: {shown(bad)} is not valid; expected numbers") from None
    finite = pc.is_finite(numbers)
    if not pc.all(finite).as_py():
        row = pc.index(finite, False).as_py()
        raise ValueError(f"{where}: column {shown(name)}: row {row} (from 0) is not finite; expected a number")
    return numbers


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _require(where: str, table: pa.Table, name: str) -> None:
    """Refuse a column that is not there, or twice, or has gaps."""
    times = table.column_names.count(name)
    if not times:
        raise ValueError(f"{where}: column {shown(name)} is not there; {hint(name, table.column_names)}")
    if times > 1:
        raise ValueError(f"{where}: column {shown(name)} is there {times} times; expected every column once")
    column = table.column(name)
    if column.null_count:
        row = pc.index(pc.is_null(column), True).as_py()
        raise ValueError(f"{where}: column {shown(name)}: row {row} (from 0) is empty; expected a value")


def _text(where: str, table: pa.Table, name: str) -> Any:
    _require(where, table, name)
    column = table.column(name)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_nested(kind) or pa.types.is_binary(kind):
        raise ValueError(f"{where}: column {shown(name)} is of type {kind}; expected text or whole numbers")
    if pa.types.is_floating(kind):
        # 1.0 is the class 1 of a table that once had a missing value; 0.5 is no class.
        if not pc.all(pc.equal(column, pc.floor(column))).as_py():
            raise ValueError(f"{where}: column {shown(name)} has fractions; expected text or whole numbers")
        try:
            column = column.cast(pa.int64())
        except pa.ArrowInvalid:
            wanted = f"text or whole numbers of at most {2**63 - 1}"
            raise ValueError(f"{where}: column {shown(name)} has larger numbers; expected {wanted}") from None
    return column.cast(pa.string()).combine_chunks()


def from_grades(where: str, ids: list[str], marks: list[float], others: Mapping[str, list[str]]) -> Predictions:
    """The predictions of a harness that says how good each answer was: right or wrong, or a mark between."""
    right = pa.array([RIGHT] * len(ids), pa.string())
    graded = [RIGHT if mark == 1 else WRONG for mark in marks]
    return Predictions(
        where,
        pa.array(ids, pa.string()),
        right,
        pa.array(graded, pa.string()),
        {name: pa.array(values, pa.string()) for name, values in others.items() if any(values)},
        graded=True,
        score=pa.array(marks, pa.float64()),
        predicted=set(marks) <= {0.0, 1.0},
    )
