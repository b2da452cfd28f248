"""Common form of all formats: ids, labels and predictions as text, one per row, and the items of the rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.calls import Errors
from sigstats._common.messages import Note, shown

from ..tables.table import in_one

Ints = NDArray[np.int64]

#: Label and prediction of an answer of which only right or wrong is known.
RIGHT, WRONG = "right", "wrong"


class Parted:
    """A record that contains records."""

    PARTS: ClassVar[Mapping[str, type]]

    def but(self, **named: Any) -> Self:
        """Return a copy with other values of fields, including fields of the contained records."""
        record: Any = self
        for part, kind in self.PARTS.items():
            values = {name: named.pop(name) for name in {*named}.intersection(kind.__annotations__)}
            if values:
                named[part] = replace(getattr(record, part), **values)
        changed: Self = replace(record, **named)
        return changed


@dataclass(frozen=True)
class Outcomes:
    """The true and predicted class of each row, or only the correctness of the answers."""

    label: Any
    #: `label` itself if nothing is predicted.
    prediction: Any
    #: True if there are predictions, not only scores.
    predicted: bool = True
    #: True if the file has only the correctness, or the mark, of each answer.
    graded: bool = False


@dataclass(frozen=True)
class Scores:
    """One number per row: a mark, a cost, or the probability of a class."""

    values: Any
    name: str = ""
    #: The denominators: sums of scores are divided by sums of these.
    per: Any = None
    #: True if the values are lists of the probabilities of all classes (`WithLikeliest.of_classes`).
    of_truth: bool = False
    #: True if a lower score is better; None if the direction is unknown.
    lower: bool | None = False
    #: True if 0 replaces missing values.
    filled: bool = False
    #: True if only the name of the score states the direction.
    by_name: bool = False
    #: The limits of every score, from the log or the table of metrics.
    limits: tuple[float, float] | None = None
    #: The number of answers averaged in each score, if scores are averages.
    counts: Any = None
    #: The reason for a missing score, if a log states it; null otherwise.
    failed: Any = None


@dataclass(frozen=True)
class Source:
    """The metadata of a file."""

    #: Program that wrote a log; empty for a table.
    harness: str = ""
    #: Description of the file: task, model, scorer or metric, filter, epochs.
    subject: Mapping[str, str] = field(default_factory=dict)
    #: The parts of `subject` that a person named.
    meant: frozenset[str] = frozenset()
    #: Settings that should be equal in both files; a note reports others.
    settings: Mapping[str, str] = field(default_factory=dict)
    #: True if the file states that results of one id are answers to one item.
    repeats: bool = False
    #: Advice for repeated ids.
    hint: str = "add --duplicates first, last or all"
    #: All columns of a table, for messages.
    names: tuple[str, ...] = ()
    #: The column of tasks, if ids restart in each and therefore begin with the task.
    task: str = ""


@dataclass(frozen=True)
class Predictions(Parted):
    """The predictions of one model."""

    PARTS = {"outcomes": Outcomes, "score": Scores, "source": Source}  # noqa: RUF012

    where: str
    #: If codes were requested, ids may be int64 in ascending order, and classes dictionary arrays.
    ids: Any
    outcomes: Outcomes
    score: Scores | None = None
    source: Source = Source()
    #: The columns that options name as groups, slices, weights ..., if the file has them.
    requested: Mapping[str, Any] = field(default_factory=dict)
    #: The number of the answer among several answers to the item `ids`; None if ids are unique.
    epoch: Any = None
    #: The same array as `ids` if the ids are known to be unique.
    distinct: Any = None
    #: True if the ids are the positions of the rows.
    by_position: bool = False
    #: The ids of rows that are joined by their position nevertheless.
    unused_ids: Any = None
    #: Values that identify the question in both files: ``target``, ``input``, ``doc_hash`` ...
    identity: Mapping[str, Any] = field(default_factory=dict)
    #: The other columns of the file, as dictionary arrays, if they were read.
    other_columns: Mapping[str, Any] = field(default_factory=dict)
    dropped: "Predictions | None" = None
    #: Notes on the file for the user, one per line.
    notes: tuple[Note, ...] = ()

    @property
    def keys(self) -> Any:
        """The unique keys: the ids, with their epochs if there are any."""
        if self.epoch is None:
            return self.ids
        return pc.binary_join_element_wise(self.ids, self.epoch, " epoch ")

    def decoded(self) -> Self:
        """Return the same with text instead of codes."""
        value = self._changed(lambda column: column.cast(pa.string()), ("ids", "label", "prediction"))
        return replace(value, distinct=value.ids if self.distinct is self.ids else self.distinct)

    def take(self, rows: Any) -> Self:
        """Return some of the rows."""
        columns = ("ids", "label", "prediction", "values", "per", "epoch", "unused_ids", "counts", "failed")
        changed = self._changed(lambda column: column.take(rows), columns)
        identity = {name: column.take(rows) for name, column in self.identity.items()}
        other_columns = {name: column.take(rows) for name, column in self.other_columns.items()}
        return replace(changed, identity=identity, other_columns=other_columns)

    def _changed(self, change: Callable[[Any], Any], names: Sequence[str]) -> Self:
        """Return the same with these columns changed, if they exist, in groups and slices too."""
        columns = {**vars(self), **vars(self.outcomes), **(vars(self.score) if self.score else {})}
        changed = {name: change(columns[name]) for name in names if columns.get(name) is not None}
        return self.but(requested={name: change(column) for name, column in self.requested.items()}, **changed)


def item_codes(ids: Any) -> Ints:
    """Return the number of the item of each row, by first appearance."""
    codes = in_one(pc.index_in(ids, value_set=pc.unique(ids)))
    values: Ints = np.from_dlpack(codes).astype(np.int64)
    return values


def first_rows(codes: Ints) -> Ints:
    """Return the first row of each item."""
    rows = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    rows[codes[::-1]] = np.arange(len(codes))[::-1]
    return rows


def places(codes: Ints, order: Ints) -> Ints:
    """Number the rows of each item from 0; `order`: all rows, by item."""
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    numbers = np.empty(len(codes), dtype=np.int64)
    numbers[order] = np.arange(len(codes)) - starts[codes[order]]
    return numbers


def are_distinct(side: Predictions) -> bool:
    """Return True if each id of a file, or each epoch of it, appears once."""
    if side.epoch is None and side.distinct is not None and side.distinct is side.ids:
        return True
    return bool(pc.count_distinct(side.keys).as_py() == len(side.keys))


def repeated_keys(side: Predictions) -> Errors:
    """Return repeated ids, or epochs of an id."""
    if not are_distinct(side):
        counts = pc.value_counts(side.keys)
        repeated = counts.field("values").filter(pc.greater(counts.field("counts"), pa.scalar(1)))
        yield ValueError(f"{side.where}: {some_ids_are(repeated)} repeated, as spelled in the other file")


def keys_in_two_forms(side: Predictions) -> Errors:
    """Return ids, or epochs of an id, that are one whole number in two forms: 5, 05 and 5.0."""
    if side.by_position or not pa.types.is_string(side.ids.type):
        return
    how: dict[str, Any] = {"pattern": r"^\+?(-?)0*([0-9]+?)(?:\.0*)?$", "replacement": r"\1\2"}
    ids, epoch = (part if part is None else pc.replace_substring_regex(part, **how) for part in (side.ids, side.epoch))
    spelled = replace(side, ids=ids, epoch=epoch, distinct=None)
    if not spelled.keys.equals(side.keys) and not are_distinct(spelled):
        codes = item_codes(spelled.keys)
        first = first_rows(codes)[codes]
        row = int(np.flatnonzero(first != np.arange(len(codes)))[0])
        both = " and ".join(shown(side.keys[place].as_py()) for place in (int(first[row]), row))
        yield ValueError(f"{side.where}: ids {both} are one number in two forms; write them alike, or rename one")


def some_ids(ids: Any) -> str:
    """Return the first few ids."""
    more = f" and {len(ids) - 3:,} more" if len(ids) > 3 else ""
    return f"id{'s' * (len(ids) != 1)} {', '.join(shown(value) for value in ids[:3].to_pylist())}{more}"


def some_ids_are(ids: Any) -> str:
    """Return the first few ids, as the subject of a sentence."""
    return f"{some_ids(ids)} {'is' if len(ids) == 1 else 'are'}"
