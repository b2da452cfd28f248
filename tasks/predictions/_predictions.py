"""What every format gives: ids, labels and predictions as text, one a row."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.score_direction import is_lower_better
from sigstats._common.validation import hint, shown

from ..tables.numbers import is_number
from ..tables.spelling import same_spelling
from ..tables.table import Table
from ._items import occurrences

#: What stands for label and prediction where a file only says whether an answer was right.
RIGHT, WRONG = "right", "wrong"

#: As the name of a score, all that a log has.
ALL_SCORES = "all"

#: A whole number of more digits may be more than a float holds.
_LONGEST_NUMBER = 308

#: What becomes of answers in a log that failed or have no score.
Unscored: TypeAlias = Literal["refuse", "drop", "wrong"]


@dataclass(frozen=True)
class Columns:
    """The names of columns; in JSON and Parquet, ``answer.text`` is a key of an object.

    Attributes
    ----------
    id, label, prediction : str
    group : str or None
        Rows of one group are not independent.
    slices : tuple of str
        Columns whose values part the rows.
    task : str or None
        The column that says which of several tasks a row is of.
    score : str or None
        A number of each row: the probability of the positive class, a mark ... In a log, the name of its scorer or
        metric.
    one_of_all : bool
        Whether each score of a log is meant, and this one stands for the tasks that have it.
    epoch : str or None
        In a table, which of several answers to one item each row is; rows of one id are then answers to one item.
    filter : str or None
        In a log, which filter's answers are meant.
    model : str or None
        In a log of several models, whose answers are meant.
    named : set of str
        Those of ``id``, ``label``, ``prediction`` that a person named; a log, which has none of them, refuses them.
    rows : str or None
        In a JSON object, the key that holds the list of rows.
    unscored : {"refuse", "drop", "wrong"}
        In a log, what becomes of answers that failed or have no score.
    coded : bool
        Whether ids and classes of a table may stay numbers and codes, for `join`.
    lower, higher : set of str
        The scores of which a person said that the lower, or the higher, is better.
    truth : Predictions or None
        The labels of another file, by id.
    by_position : bool or None
        Whether the rows of a table are known by their position, not by an id; None: where it has no ids.
    """

    id: str = "id"
    label: str = "label"
    prediction: str = "prediction"
    group: str | None = None
    slices: tuple[str, ...] = ()
    task: str | None = None
    score: str | None = None
    one_of_all: bool = False
    epoch: str | None = None
    filter: str | None = None
    model: str | None = None
    rows: str | None = None
    unscored: Unscored = "refuse"
    named: frozenset[str] = frozenset()
    coded: bool = False
    lower: frozenset[str] = frozenset()
    higher: frozenset[str] = frozenset()
    truth: "Predictions | None" = None
    by_position: bool | None = False

    @property
    def optional(self) -> tuple[str, ...]:
        """The columns that one of two files may lack."""
        one = [each for each in (self.group, self.task) if each is not None]
        return tuple(dict.fromkeys([*self.slices, *one]))

    @property
    def texts(self) -> tuple[str, ...]:
        """All columns but the score."""
        epoch = () if self.epoch is None else (self.epoch,)
        return (self.id, self.label, self.prediction, *epoch, *self.optional)

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
        If they were asked for as codes: ids may be of int64 in ascending order, the others dictionary arrays.
    others : mapping of str to pyarrow.Array of string
        Groups and slices, as far as the file has them.
    graded : bool
        Whether the file says no more than whether each answer was right, or the mark of each.
    harness : str
        What wrote a log; empty for a table.
    score : pyarrow.Array of float64, or None
    predicted : bool
        Whether there are predictions; where not, `prediction` is `label`, and the scores are all there is.
    epoch : pyarrow.Array of string, or None
        Which of several answers to the item `ids` a row is; None if every id is there once.
    identity : mapping of str to pyarrow.Array of string
        What shows that two files asked the same question: ``target``, ``input``, ``doc_hash`` ...
    subject : mapping of str to str
        What was read, for a person: task, model, scorer or metric, filter, epochs.
    meant : set of str
        The parts of `subject` that a person named.
    settings : mapping of str to str
        What else should be equal in both files, and is told where it is not.
    notes : tuple of str
        What a person should know of the file, a line each.
    answers : pyarrow.Array of int64, or None
        How many answers each row is the average of, where it is one.
    dropped : Predictions or None
        The answers that were left out.
    distinct : pyarrow.Array or None
        These very ids, where each of them is known to be there once.
    hint : str
        What would be right where an id is there twice.
    measured : str
        The name of the score.
    lower : bool or None
        Whether the lower score is the better one; None where that is not certain.
    by_position : bool
        Whether the ids are the positions of the rows.
    """

    where: str
    ids: Any
    label: Any
    prediction: Any
    others: Mapping[str, Any] = field(default_factory=dict)
    graded: bool = False
    harness: str = ""
    score: Any = None
    predicted: bool = True
    epoch: Any = None
    identity: Mapping[str, Any] = field(default_factory=dict)
    subject: Mapping[str, str] = field(default_factory=dict)
    meant: frozenset[str] = frozenset()
    settings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    answers: Any = None
    dropped: "Predictions | None" = None
    distinct: Any = None
    hint: str = "expected each id once"
    measured: str = ""
    lower: bool | None = False
    by_position: bool = False

    @property
    def keys(self) -> Any:
        """What is there once: the ids, with their epochs where there are any."""
        if self.epoch is None:
            return self.ids
        return pc.binary_join_element_wise(self.ids, self.epoch, " epoch ")

    def decoded(self) -> Self:
        """The same with text, and no codes."""
        ids = _decoded(self.ids)
        return replace(
            self,
            ids=ids,
            label=_decoded(self.label),
            prediction=_decoded(self.prediction),
            others={name: _decoded(column) for name, column in self.others.items()},
            distinct=ids if self.distinct is self.ids else self.distinct,
        )

    def take(self, rows: Any) -> Self:
        """Some of the rows."""
        return replace(
            self,
            ids=self.ids.take(rows),
            label=self.label.take(rows),
            prediction=self.prediction.take(rows),
            others={name: column.take(rows) for name, column in self.others.items()},
            score=None if self.score is None else self.score.take(rows),
            epoch=None if self.epoch is None else self.epoch.take(rows),
            answers=None if self.answers is None else self.answers.take(rows),
            identity={name: column.take(rows) for name, column in self.identity.items()},
        )


def _decoded(column: Any) -> Any:
    return column if column.type == pa.string() else column.cast(pa.string())


def _require_moderate(table: Table, name: str, texts: Any) -> None:
    """Refuse a number that no float holds: it is no class, and no measurement."""
    values = texts.dictionary if pa.types.is_dictionary(texts.type) else texts
    if (pc.max(pc.binary_length(values)).as_py() or 0) <= _LONGEST_NUMBER:
        return
    for row, text in enumerate(texts.to_pylist()):
        if len(text) > _LONGEST_NUMBER and is_number(text) and math.isinf(float(text)):
            raise table.error(name, f": {shown(text)} is not valid; expected a class, or a number below 1e308", row)


def _require_labels(table: Table, columns: Columns) -> None:
    if columns.label not in table.names and "label" not in columns.named:
        raise ValueError(
            f"{table.where}: column {shown(columns.label)} is not there, the true class of each row; expected "
            "--label COLUMN, or --labels FILE, which brings them by id"
        )


def _by_position(table: Table, columns: Columns) -> bool:
    """Whether the rows are known by their position; a table without ids is refused otherwise."""
    there = columns.id in table.names
    if columns.by_position is None:
        return not there and "id" not in columns.named
    if columns.by_position and (columns.truth is not None or columns.group == columns.id):
        other = "--group" if columns.truth is None else "--labels"
        raise ValueError(f"{table.where}: by-position is not valid with {other}, which needs ids; expected one of them")
    if not columns.by_position and not there and "id" not in columns.named and table.names:
        wanted = f"{hint(columns.id, table.names)} (--id COLUMN)"
        raise table.error(columns.id, f" is not there; {wanted}; or --by-position, for the same rows in the same order")
    return columns.by_position


def _positions_note(table: Table, columns: Columns, *, labelled: bool) -> tuple[str, ...]:
    """A line on rows that a person wants joined by position."""
    if not columns.by_position:
        return ()
    beside = "the labels agree" if labelled else "no labels say that they are the same"
    return (f"{table.num_rows:,} rows are joined by their position; {beside}",)


def _labels(truth: Predictions, ids: Any, where: str) -> Any:
    """The labels that another file has for these ids."""
    of_ids, known = same_spelling([ids, truth.ids])
    rows = pc.index_in(of_ids, value_set=known)
    if rows.null_count:
        odd = of_ids.filter(pc.is_null(rows))[0].as_py()
        raise ValueError(f"{where}: id {shown(odd)} has no label in {truth.where}; expected a label of each row")
    return truth.label.take(rows)


def from_table(table: Table, columns: Columns) -> Predictions:
    """The predictions in a table.

    Raises
    ------
    ValueError
        One line that names file, column and row.
    """
    for name, value in (("filter", columns.filter), ("model", columns.model)):
        if value is not None:
            raise ValueError(f"{table.where}: {name}: {shown(value)} is not valid; a table has none")
    texts, ids = table.texts, None
    positions = _by_position(table, columns)
    if columns.coded and columns.truth is None and columns.epoch is None and columns.group != columns.id:
        texts = table.coded
        if not positions:
            table.require_values(columns.id)
            ids = table.ascending(columns.id)
    if positions:
        ids = pa.array(range(table.num_rows), pa.int64())
        ids = ids if texts == table.coded else ids.cast(pa.string())
    ascending = ids is not None or table.is_increasing(columns.id)
    ids = table.texts(columns.id) if ids is None else ids
    score = None if columns.score is None else table.exact_numbers(columns.score)
    # A file with scores needs no predictions, and one of marks alone no labels.
    predicted = columns.score is None or columns.prediction in table.names or "prediction" in columns.named
    labelled = predicted or columns.truth or columns.label in table.names or "label" in columns.named
    if columns.truth is not None:
        label = _labels(columns.truth, ids, table.where)
    elif labelled:
        _require_labels(table, columns)
        label = texts(columns.label)
    else:
        label = pa.repeat(RIGHT, table.num_rows)
    prediction = texts(columns.prediction) if predicted else label
    for name, column in ((columns.label, label), (columns.prediction, prediction)):
        _require_moderate(table, name, column)
    others = {name: texts(name) for name in columns.optional if name in table.names}
    epoch = None
    if columns.epoch is not None:
        epoch = table.texts(columns.epoch)
    elif columns.group == columns.id:
        epoch = occurrences(ids)
    return Predictions(
        table.where,
        ids,
        label,
        prediction,
        others,
        graded=not labelled,
        score=score,
        predicted=predicted,
        epoch=epoch,
        distinct=ids if ascending else None,
        hint=f"expected each id once (--group {columns.id} or --epoch COLUMN takes them as answers to one item)",
        notes=_positions_note(table, columns, labelled=bool(labelled)),
        measured=columns.score or "",
        by_position=positions,
        lower=is_lower_better(columns.score or "", lower=columns.lower, higher=columns.higher),
    )
