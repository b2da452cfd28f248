"""Which columns of a file are read, and how: a few records of names and options."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from sigstats.measures.metrics import is_lower_better

from ._likeliest import classes_in
from ._predictions import Parted, Predictions

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
class UnitColumns:
    """The columns from which `Units` are made: dependence, weights, tasks and slices of rows."""

    #: Rows of one group are not independent.
    group: str | None = None
    #: The time of each row, where rows near in time are not independent.
    order: str | None = None
    #: In a table, which of several answers to one item each row is; rows of one id are then answers to one item.
    epoch: str | None = None
    #: In a table, which run of a recipe, such as a seed of its training, each row is of.
    run: str | None = None
    #: The column that says which of several tasks a row is of.
    task: str | None = None
    #: The column that says how many rows of the population each row stands for.
    weights: str | None = None
    #: Columns whose values part the rows.
    slices: tuple[str, ...] = ()
    #: How many bins of about equally many rows a column of slices that is a number makes.
    bins: tuple[tuple[str, int], ...] = ()

    @property
    def complete(self) -> tuple[str, ...]:
        """The columns that one of two files may lack, in which no value may be missing."""
        return tuple(name for name in (self.group, self.order, self.task, self.weights) if name is not None)


@dataclass(frozen=True)
class Scoring:
    """How scores count."""

    #: A number of each row that the score is divided by, in sums over rows: of words, of successes.
    per: str | None = None
    #: All scores that are read, one of which is compared at a time; `ALL_SCORES` of a log.
    scores: tuple[str, ...] = ()
    #: The scores of which a person said that the lower, or the higher, is better.
    lower: frozenset[str] = frozenset()
    higher: frozenset[str] = frozenset()

    def is_lower_better(self, score: str, per: str = "") -> bool | None:
        """True if a lower score is better, as a person or else the table of metrics states; None if neither does."""
        return is_lower_better(score, lower=self.lower, higher=self.higher, per=per)


@dataclass(frozen=True)
class Chosen:
    """The answers that are meant in a file of several models or filters."""

    #: In a log of several models, whose answers are meant; in a table, whose rows.
    model: str | None = None
    #: In a table of several models, the column of their names.
    models: str = "model"
    #: In a log, which filter's answers are meant.
    filter: str | None = None


@dataclass(frozen=True)
class Form:
    """How the content of a file is read as a table."""

    #: In a JSON object, the key that holds the list of rows.
    rows: str | None = None
    #: Whether the first line of delimited text is a row; its columns are then numbers from 0.
    no_header: bool = False
    #: The encoding of text; by default UTF-8, or the one that a byte order mark states.
    encoding: str | None = None
    #: In a table, texts that mean a missing value, and classes that are none although they look like it.
    missing: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    #: Whether ids and classes of a table may stay numbers and codes, for `join`.
    coded: bool = False
    #: All of SWE-bench's instances, for reports that do not name those that were not resolved.
    instances: tuple[str, ...] = ()


@dataclass(frozen=True)
class Columns(Parted):
    """The names of columns, and how they are read; in JSON and Parquet, ``answer.text`` is a key of an object."""

    PARTS = {"units": UnitColumns, "scoring": Scoring, "chosen": Chosen, "form": Form}  # noqa: RUF012

    id: str = "id"
    label: str = "label"
    prediction: str = "prediction"
    #: A number of each row: the probability of the positive class, a mark ... In a log, the name of its scorer or
    #: metric.
    score: str | None = None
    #: Names and patterns of the columns with the probability of each class.
    probabilities: str | None = None
    #: Those of ``id``, ``label``, ``prediction`` that a person named; a log, which has none of them, refuses them.
    named: frozenset[str] = frozenset()
    #: The labels of another file, by id.
    truth: Predictions | None = None
    #: Whether the rows of a table are known by their position, not by an id; None: where it has no ids.
    by_position: bool | None = False
    #: What becomes of answers that failed or have no score, and of results that repeat an id.
    unscored: Unscored = "refuse"
    duplicates: Literal["refuse", "first", "last", "all"] = "refuse"
    units: UnitColumns = UnitColumns()
    scoring: Scoring = Scoring()
    chosen: Chosen = Chosen()
    form: Form = Form()

    @property
    def optional(self) -> tuple[str, ...]:
        """The columns that one of two files may lack."""
        return tuple(dict.fromkeys([*self.units.slices, *self.units.complete]))

    @property
    def wanted(self) -> tuple[str, ...]:
        """All columns, each once."""
        units, scoring, chosen = self.units, self.scoring, self.chosen
        scores = (self.score, *scoring.scores, scoring.per, None if chosen.model is None else chosen.models)
        names = (self.id, self.label, self.prediction, units.epoch, units.run, *self.optional, *scores)
        return tuple(dict.fromkeys(name for name in names if name is not None))

    @property
    def numbers(self) -> frozenset[str]:
        """The columns of scores."""
        return frozenset([*self.scoring.scores, *([] if self.score is None else [self.score])])

    def in_table(self, names: Sequence[str]) -> "TableColumns":
        """The names for a table with these columns; well-known names are used for columns that nobody named."""
        # Beside marks no label is looked for: what is named so may be a text that was asked for.
        marks = self.score is not None and self.scoring.is_lower_better(self.score) is not None
        known: dict[str, str] = {}
        unclear: tuple[tuple[str, str, str], ...] = ()
        for key, others in _KNOWN.items():
            own = getattr(self, key)
            theirs = (key != "id" and marks) or (key == "label" and self.truth is not None)
            if theirs or key in self.named or own != getattr(Columns, key):
                continue
            there = [name for name in names if name.lower() in others and name not in self.wanted]
            if own in names and there and key != "id":
                unclear += ((key, own, there[0]),)
            elif own not in names and len(there) == 1:
                known[key] = there[0]
        if "label" in known and self.label == self.prediction:  # a file of labels
            known["prediction"] = known["label"]
        columns = TableColumns(**{**vars(self), **known}, known=tuple(known.items()), unclear=unclear)
        if self.probabilities is None:
            return columns
        free = [name for name in names if name not in columns.wanted]
        return replace(columns, of_classes=classes_in(self.probabilities, free))

    def wanted_in(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns that are read of a table of these columns, whichever of the scores is compared."""
        by_score = [replace(self, score=score) for score in self.scoring.scores] or [self]
        every = (name for own in by_score for columns in (own, own.in_table(names)) for name in columns.wanted)
        return tuple(dict.fromkeys(every))


@dataclass(frozen=True)
class TableColumns(Columns):
    """The columns that a table has."""

    #: Those of the first three that were recognised by other names, and these names.
    known: tuple[tuple[str, str], ...] = ()
    #: ``label`` or ``prediction``, its column, and another column that is named as if it were the same.
    unclear: tuple[tuple[str, str, str], ...] = ()
    #: The classes with a column of probabilities, and these columns.
    of_classes: tuple[tuple[str, str], ...] = ()

    @property
    def wanted(self) -> tuple[str, ...]:
        """All columns, each once."""
        return tuple(dict.fromkeys((*super().wanted, *(name for _, name in self.of_classes))))
