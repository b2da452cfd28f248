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
    """The names of columns; in JSON and Parquet, ``answer.text`` is a key of an object."""

    id: str = "id"
    label: str = "label"
    prediction: str = "prediction"
    #: Rows of one group are not independent.
    group: str | None = None
    #: Columns whose values part the rows.
    slices: tuple[str, ...] = ()
    #: The column that says which of several tasks a row is of.
    task: str | None = None
    #: A number of each row: the probability of the positive class, a mark ... In a log, the name of its scorer or
    #: metric.
    score: str | None = None
    #: Whether each score of a log is meant, and this one stands for the tasks that have it.
    one_of_all: bool = False
    #: In a table, which of several answers to one item each row is; rows of one id are then answers to one item.
    epoch: str | None = None
    #: In a log, which filter's answers are meant.
    filter: str | None = None
    #: In a log of several models, whose answers are meant.
    model: str | None = None
    #: In a JSON object, the key that holds the list of rows.
    rows: str | None = None
    #: In a log, what becomes of answers that failed or have no score.
    unscored: Unscored = "refuse"
    #: Those of ``id``, ``label``, ``prediction`` that a person named; a log, which has none of them, refuses them.
    named: frozenset[str] = frozenset()
    #: Whether ids and classes of a table may stay numbers and codes, for `join`.
    coded: bool = False
    #: The scores of which a person said that the lower, or the higher, is better.
    lower: frozenset[str] = frozenset()
    higher: frozenset[str] = frozenset()
    #: The labels of another file, by id.
    truth: "Predictions | None" = None
    #: Whether the rows of a table are known by their position, not by an id; None: where it has no ids.
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
    """The predictions of one model."""

    #: The file.
    where: str
    #: If they were asked for as codes: ids may be of int64 in ascending order, the others dictionary arrays.
    ids: Any
    label: Any
    prediction: Any
    #: Groups and slices, as far as the file has them.
    others: Mapping[str, Any] = field(default_factory=dict)
    #: Whether the file says no more than whether each answer was right, or the mark of each.
    graded: bool = False
    #: What wrote a log; empty for a table.
    harness: str = ""
    score: Any = None
    #: Whether there are predictions; where not, `prediction` is `label`, and the scores are all there is.
    predicted: bool = True
    #: Which of several answers to the item `ids` a row is; None if every id is there once.
    epoch: Any = None
    #: What shows that two files asked the same question: ``target``, ``input``, ``doc_hash`` ...
    identity: Mapping[str, Any] = field(default_factory=dict)
    #: What was read, for a person: task, model, scorer or metric, filter, epochs.
    subject: Mapping[str, str] = field(default_factory=dict)
    #: The parts of `subject` that a person named.
    meant: frozenset[str] = frozenset()
    #: What else should be equal in both files, and is told where it is not.
    settings: Mapping[str, str] = field(default_factory=dict)
    #: What a person should know of the file, a line each.
    notes: tuple[str, ...] = ()
    #: How many answers each row is the average of, where it is one.
    answers: Any = None
    #: The answers that were left out.
    dropped: "Predictions | None" = None
    #: These very ids, where each of them is known to be there once.
    distinct: Any = None
    #: What would be right where an id is there twice.
    hint: str = "expected each id once"
    #: The name of the score.
    measured: str = ""
    #: Whether the lower score is the better one; None where that is not certain.
    lower: bool | None = False
    #: Whether the ids are the positions of the rows.
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

    Raises ValueError, one line that names file, column and row.
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
