"""What every format gives: ids, labels and predictions as text, one a row."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sigstats._common.validation import shown

from ..tables.table import Table

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
        A number of each row: the probability of the positive class, a mark ... In a log, the name of its scorer or
        metric.
    filter : str or None
        In a log, which filter's answers are meant.
    named : set of str
        Those of ``id``, ``label`` and ``prediction`` that a person named; a log, which has none of them, refuses them.
    """

    id: str = "id"
    label: str = "label"
    prediction: str = "prediction"
    group: str | None = None
    slices: tuple[str, ...] = ()
    score: str | None = None
    filter: str | None = None
    named: frozenset[str] = frozenset()

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


def from_table(table: Table, columns: Columns) -> Predictions:
    """The predictions in a table.

    Raises
    ------
    ValueError
        One line that names file, column and row.
    """
    if columns.filter is not None:
        raise ValueError(f"{table.where}: filter: {shown(columns.filter)} is not valid; a table has none")
    ids = table.texts(columns.id)
    score = None if columns.score is None else table.numbers(columns.score)
    label = table.texts(columns.label)
    # A file with scores needs no predictions.
    predicted = columns.score is None or columns.prediction in table.names
    prediction = table.texts(columns.prediction) if predicted else label
    others = {name: table.texts(name) for name in columns.optional if name in table.names}
    return Predictions(table.where, ids, label, prediction, others, score=score, predicted=predicted)
