"""The common form of all formats: ids, labels and predictions as text, one per row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.note import Note
from sigstats.measures.metrics import is_lower_better

from ._likeliest import classes_in

#: What stands for label and prediction where a file only says whether an answer was right.
RIGHT, WRONG = "right", "wrong"

#: As the name of a score, all that a log has.
ALL_SCORES = "all"

#: What becomes of answers that failed or have no score.
Unscored: TypeAlias = Literal["refuse", "drop", "wrong"]

#: Well-known other names of the columns.
_KNOWN = {
    "id": (
        *("example_id", "sample_id", "instance_id", "item_id", "row_id", "question_id", "qid", "uid"),
        *("image_id", "doc_id", "query_id", "case_id", "test_id", "record_id", "id_code", "passengerid"),
    ),
    "label": ("gold_label", "true_label", "y_true", "ground_truth", "gold", "target", "actual", "truth"),
    "prediction": ("pred_label", "predicted_label", "y_pred", "pred", "predicted", "guess"),
}


@dataclass(frozen=True)
class Columns:
    """The names of columns; in JSON and Parquet, ``answer.text`` is a key of an object."""

    id: str = "id"
    label: str = "label"
    prediction: str = "prediction"
    #: Rows of one group are not independent.
    group: str | None = None
    #: The time of each row, where rows near in time are not independent.
    order: str | None = None
    #: Columns whose values part the rows.
    slices: tuple[str, ...] = ()
    #: How many bins of about equally many rows a column of slices that is a number makes.
    bins: tuple[tuple[str, int], ...] = ()
    #: The column that says which of several tasks a row is of.
    task: str | None = None
    #: A number of each row: the probability of the positive class, a mark ... In a log, the name of its scorer or
    #: metric.
    score: str | None = None
    #: The column that says how many rows of the population each row stands for.
    weights: str | None = None
    #: A number of each row that the score is divided by, in sums over rows: of words, of successes.
    per: str | None = None
    #: Names and patterns of the columns with the probability of each class; these classes and columns in a table.
    probabilities: str | None = None
    of_classes: tuple[tuple[str, str], ...] = ()
    #: All scores that are read, of which `score` is compared at a time; `ALL_SCORES` of a log.
    scores: tuple[str, ...] = ()
    #: In a table, which of several answers to one item each row is; rows of one id are then answers to one item.
    epoch: str | None = None
    #: In a table, which run of a recipe, such as a seed of its training, each row is of.
    run: str | None = None
    #: In a log, which filter's answers are meant.
    filter: str | None = None
    #: In a log of several models, whose answers are meant; in a table, whose rows.
    model: str | None = None
    #: In a table of several models, the column of their names.
    models: str = "model"
    #: In a JSON object, the key that holds the list of rows.
    rows: str | None = None
    #: What becomes of answers that failed or have no score, and of results that repeat an id.
    unscored: Unscored = "refuse"
    duplicates: Literal["refuse", "first", "last", "all"] = "refuse"
    #: In a table, texts that mean a missing value, and classes that are none although they look like it.
    missing: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
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
    #: Whether the first line of delimited text is a row; its columns are then numbers from 0.
    no_header: bool = False
    #: The encoding of text; by default UTF-8, or the one that a byte order mark states.
    encoding: str | None = None
    #: All of SWE-bench's instances, for reports that do not name those that were not resolved.
    instances: tuple[str, ...] = ()
    #: Those of the first three that were recognised by other names, and these names.
    known: tuple[tuple[str, str], ...] = ()
    #: ``label`` or ``prediction``, its column, and another column that is named as if it were the same.
    unclear: tuple[tuple[str, str, str], ...] = ()

    @property
    def optional(self) -> tuple[str, ...]:
        """The columns that one of two files may lack."""
        return tuple(dict.fromkeys([*self.slices, *self.others]))

    @property
    def others(self) -> tuple[str, ...]:
        """The optional columns in which no value may be missing."""
        return tuple(name for name in (self.group, self.order, self.task, self.weights) if name is not None)

    @property
    def wanted(self) -> tuple[str, ...]:
        """All columns, each once."""
        scores = (self.score, *self.scores, self.per, None if self.model is None else self.models)
        scores += tuple(name for _, name in self.of_classes)
        names = (self.id, self.label, self.prediction, self.epoch, self.run, *self.optional, *scores)
        return tuple(dict.fromkeys(name for name in names if name is not None))

    @property
    def numbers(self) -> frozenset[str]:
        """The columns of scores."""
        return frozenset([*self.scores, *([] if self.score is None else [self.score])])

    def in_table(self, names: Sequence[str]) -> Self:
        """The names for a table with these columns; well-known names are used for columns that nobody named."""
        # Beside marks no label is looked for: what is named so may be a text that was asked for.
        marks = self.score is not None and is_lower_better(self.score, lower=self.lower, higher=self.higher) is not None
        by_key: dict[str, Any] = {}
        unclear: tuple[tuple[str, str, str], ...] = ()
        for key, known in _KNOWN.items():
            own = getattr(self, key)
            theirs = (key != "id" and marks) or (key == "label" and self.truth is not None)
            if theirs or key in self.named or own != getattr(Columns, key):
                continue
            there = [name for name in names if name.lower() in known and name not in self.wanted]
            if own in names and there and key != "id":
                unclear += ((key, own, there[0]),)
            elif own not in names and len(there) == 1:
                by_key[key] = there[0]
        if "label" in by_key and self.label == self.prediction:  # a file of labels
            by_key["prediction"] = by_key["label"]
        columns = replace(self, **by_key, known=tuple(by_key.items()), unclear=unclear) if by_key or unclear else self
        if self.probabilities is None:
            return columns
        free = [name for name in names if name not in columns.wanted]
        return replace(columns, of_classes=classes_in(self.probabilities, free))

    def wanted_in(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns that are read of a table of these columns, whichever of the scores is compared."""
        by_score = [replace(self, score=score) for score in self.scores] or [self]
        every = (name for own in by_score for columns in (own, own.in_table(names)) for name in columns.wanted)
        return tuple(dict.fromkeys(every))


@dataclass(frozen=True)
class Predictions:
    """The predictions of one model."""

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
    #: Whether the score is the probability of each row's true class.
    of_truth: bool = False
    #: What the sums of scores are divided by.
    per: Any = None
    #: All columns of a table, for messages.
    names: tuple[str, ...] = ()
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
    notes: tuple[Note, ...] = ()
    #: How many answers each row is the average of, where it is one.
    answers: Any = None
    dropped: "Predictions | None" = None
    #: These very ids, where each of them is known to be there once.
    distinct: Any = None
    #: Why there is no answer, where a log states it; null elsewhere.
    failed: Any = None
    #: Whether the file states that results of one id are answers to one item.
    repeats: bool = False
    #: What to do where ids repeat.
    hint: str = "add --duplicates first, last or all"
    #: The name of the score.
    measured: str = ""
    #: Whether the lower score is the better one; None where that is not certain.
    lower: bool | None = False
    #: Whether only the name of the score states that.
    by_name: bool = False
    #: The limits of every score, as the log or the table of metrics states them.
    limits: tuple[float, float] | None = None
    #: What else the file holds on each row, as dictionary arrays, if that was looked at.
    beside: Mapping[str, Any] = field(default_factory=dict)
    #: Whether the ids are the positions of the rows.
    by_position: bool = False
    #: The ids of rows that are joined by their position nevertheless.
    said: Any = None

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
        every = ("ids", "label", "prediction", "score", "per", "epoch", "answers", "failed")
        value = self._changed(lambda column: column.take(rows), every)
        identity, beside = ({n: v.take(rows) for n, v in item.items()} for item in (self.identity, self.beside))
        return replace(value, identity=identity, beside=beside)

    def _changed(self, change: Callable[[Any], Any], names: Sequence[str]) -> Self:
        """The same with these columns changed, if they exist, in groups and slices too."""
        there = {name: getattr(self, name) for name in names}
        changed: dict[str, Any] = {name: change(column) for name, column in there.items() if column is not None}
        return replace(self, others={name: change(column) for name, column in self.others.items()}, **changed)


def _decoded(column: Any) -> Any:
    return column if column.type == pa.string() else column.cast(pa.string())
