"""The common form of all formats: ids, labels and predictions as text, one per row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.messages import Note

#: What stands for label and prediction where a file only says whether an answer was right.
RIGHT, WRONG = "right", "wrong"


class Parted:
    """A record that contains records."""

    PARTS: ClassVar[Mapping[str, type]]

    def but(self, **named: Any) -> Self:
        """A copy with other values of fields, including fields of the contained records."""
        record: Any = self
        for part, kind in self.PARTS.items():
            own = {name: named.pop(name) for name in {*named}.intersection(kind.__annotations__)}
            if own:
                named[part] = replace(getattr(record, part), **own)
        changed: Self = replace(record, **named)
        return changed


@dataclass(frozen=True)
class Said:
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
    #: True if the score is the probability of each row's true class.
    of_truth: bool = False
    #: True if a lower score is better; None if the direction is unknown.
    lower: bool | None = False
    #: True if only the name of the score states the direction.
    by_name: bool = False
    #: The limits of every score, from the log or the table of metrics.
    limits: tuple[float, float] | None = None


@dataclass(frozen=True)
class Source:
    """The metadata of a file."""

    #: What wrote a log; empty for a table.
    harness: str = ""
    #: What was read, for a person: task, model, scorer or metric, filter, epochs.
    subject: Mapping[str, str] = field(default_factory=dict)
    #: The parts of `subject` that a person named.
    meant: frozenset[str] = frozenset()
    #: What else should be equal in both files, and is told where it is not.
    settings: Mapping[str, str] = field(default_factory=dict)
    #: Whether the file states that results of one id are answers to one item.
    repeats: bool = False
    #: What to do where ids repeat.
    hint: str = "add --duplicates first, last or all"
    #: All columns of a table, for messages.
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Predictions(Parted):
    """The predictions of one model."""

    PARTS = {"said": Said, "score": Scores, "source": Source}  # noqa: RUF012

    where: str
    #: If codes were requested, ids may be int64 in ascending order, and classes dictionary arrays.
    ids: Any
    said: Said
    score: Scores | None = None
    source: Source = Source()
    #: Those groups and slices that the file has.
    others: Mapping[str, Any] = field(default_factory=dict)
    #: The number of the answer among several answers to the item `ids`; None if ids are unique.
    epoch: Any = None
    #: The same array as `ids` if the ids are known to be unique.
    distinct: Any = None
    #: Whether the ids are the positions of the rows.
    by_position: bool = False
    #: The ids of rows that are joined by their position nevertheless.
    ids_beside: Any = None
    #: Values that identify the question in both files: ``target``, ``input``, ``doc_hash`` ...
    identity: Mapping[str, Any] = field(default_factory=dict)
    #: The other columns of the file, as dictionary arrays, if they were read.
    beside: Mapping[str, Any] = field(default_factory=dict)
    #: The number of answers averaged in each row, if rows are averages.
    counts: Any = None
    #: The reason for a missing answer, if a log states it; null otherwise.
    failed: Any = None
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
        """The same with text, and no codes."""
        value = self._changed(_decoded, ("ids", "label", "prediction"))
        return replace(value, distinct=value.ids if self.distinct is self.ids else self.distinct)

    def take(self, rows: Any) -> Self:
        """Some of the rows."""
        every = ("ids", "label", "prediction", "values", "per", "epoch", "ids_beside", "counts", "failed")
        value = self._changed(lambda column: column.take(rows), every)
        identity, beside = ({n: v.take(rows) for n, v in item.items()} for item in (self.identity, self.beside))
        return replace(value, identity=identity, beside=beside)

    def _changed(self, change: Callable[[Any], Any], names: Sequence[str]) -> Self:
        """The same with these columns changed, if they exist, in groups and slices too."""
        there = {**vars(self), **vars(self.said), **(vars(self.score) if self.score else {})}
        changed = {name: change(there[name]) for name in names if there.get(name) is not None}
        return self.but(others={name: change(column) for name, column in self.others.items()}, **changed)


def _decoded(column: Any) -> Any:
    return column if column.type == pa.string() else column.cast(pa.string())
