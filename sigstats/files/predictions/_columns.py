"""Records of the names of columns in a file, and of the options for reading them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sigstats._common.calls import check_together
from sigstats._common.column_names import DOUBTFUL, KNOWN, RATER
from sigstats._common.validation import shown
from sigstats.measures.metrics import is_lower_better

from ._other_columns import is_read_for_notes
from ._predictions import Parted, Predictions

#: The name that selects all scores of a log.
ALL_SCORES = "all"
#: In a table of several models, the column of their names.
MODELS = "model"


@dataclass(frozen=True)
class UnitColumns:
    """The columns from which `Units` are made: dependence, weights, tasks and slices of rows."""

    #: Rows of one group are not independent.
    group: str | None = None
    #: The time of each row, where rows near in time are not independent.
    order: str | None = None
    #: In a table, the number of the answer among several answers to one item; rows of one id are then such answers.
    epoch: str | None = None
    #: In a table, the run of a recipe that a row belongs to, such as a training seed.
    run: str | None = None
    #: The column of tasks, if there are several.
    task: str | None = None
    #: The column with the number of rows of the population that a row represents.
    weights: str | None = None
    #: Columns whose values divide the rows.
    slices: tuple[str, ...] = ()
    #: For a numeric column of slices, the number of bins of about equal size.
    bins: tuple[tuple[str, int], ...] = ()

    @property
    def complete(self) -> tuple[str, ...]:
        """The columns that one of two files may lack, but in which no value may be missing."""
        return tuple(name for name in (self.group, self.order, self.task, self.weights) if name is not None)


@dataclass(frozen=True)
class Scoring:
    """The columns of scores, and their direction."""

    #: The denominator of each row, such as words or successes: sums of scores are divided by sums of this column.
    per: str | None = None
    #: All scores to read; one is compared at a time. `ALL_SCORES` reads all scores of a log.
    scores: tuple[str, ...] = ()
    #: The scores that the user declared as better if lower, or better if higher.
    lower: frozenset[str] = frozenset()
    higher: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if both := self.lower & self.higher:
            raise ValueError(f"lower_is_better: {shown(min(both))} is in higher_is_better too; name it in one of them")

    def is_lower_better(self, score: str, per: str = "") -> bool | None:
        """True if a lower score is better, by the user's options or the table of metrics; None if neither states it."""
        return is_lower_better(score, lower=self.lower, higher=self.higher, per=per)


@dataclass(frozen=True)
class Chosen:
    """The answers to read from a file of several models or filters."""

    #: The model to read, in a log or table of several models.
    model: str | None = None
    #: The filter to read, in a log.
    filter: str | None = None


@dataclass(frozen=True)
class Form:
    """Options for reading the content of a file as a table."""

    #: In a JSON object, the key that holds the list of rows.
    rows: str | None = None
    #: The encoding of text; by default UTF-8, or the one that a byte order mark states.
    encoding: str | None = None
    #: In a table, texts that mean a missing value, and classes that only look like one.
    missing: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    #: True if ids and classes of a table may stay numbers and codes, for `join`.
    coded: bool = False
    #: All instances of SWE-bench, for reports that do not list the unresolved ones.
    instances: tuple[str, ...] = ()


@dataclass(frozen=True)
class Columns(Parted):
    """The names of columns, and options for reading; in JSON and Parquet, ``answer.text`` is a key of an object."""

    PARTS = {"units": UnitColumns, "scoring": Scoring, "chosen": Chosen, "form": Form}  # noqa: RUF012

    id: str = "id"
    label: str = "label"
    prediction: str = "prediction"
    #: The column of scores, such as marks or probabilities of the positive class. In a log, the name of the scorer or
    #: metric.
    score: str | None = None
    #: Names and patterns of the columns of class probabilities.
    probabilities: str | None = None
    #: The columns among ``id``, ``label`` and ``prediction`` that the user named. Logs lack these columns, and refuse
    #: the names.
    named: frozenset[str] = frozenset()
    #: The labels of another file, by id.
    truth: Predictions | None = None
    #: True if the rows of a table are identified by position, not by id; None: only if the table has no ids.
    by_position: bool | None = False
    #: Treatments of answers that failed or have no score, and of results that repeat an id. By default, repeated ids
    #: are refused unless the file or the grouping implies several answers to one item.
    unscored: Literal["refuse", "drop", "wrong"] = "refuse"
    duplicates: Literal["refuse", "first", "last", "all"] | None = None
    units: UnitColumns = UnitColumns()
    scoring: Scoring = Scoring()
    chosen: Chosen = Chosen()
    form: Form = Form()

    def __post_init__(self) -> None:
        units, truth = self.units, self.truth
        check_together(
            {
                **{name: getattr(units, name) for name in ("order", "weights", "run", "epoch", "group")},
                "probabilities": self.probabilities,
                "score": self.score,
                "by_position": self.by_position,
                "id": self.id if "id" in self.named else None,
                "labels that have ids": truth is not None and not truth.by_position,
                "groups by id": units.group == self.id,
            }
        )

    @property
    def optional(self) -> tuple[str, ...]:
        """The columns that one of two files may lack."""
        return tuple(dict.fromkeys([*self.units.slices, *self.units.complete]))

    @property
    def wanted(self) -> tuple[str, ...]:
        """All columns, each once."""
        units, scoring, chosen = self.units, self.scoring, self.chosen
        scores = (self.score, *scoring.scores, scoring.per, None if chosen.model is None else MODELS)
        names = (self.id, self.label, self.prediction, units.epoch, units.run, *self.optional, *scores)
        return tuple(dict.fromkeys(name for name in names if name is not None))

    @property
    def numbers(self) -> frozenset[str]:
        """The columns of scores."""
        return frozenset([*self.scoring.scores, *([] if self.score is None else [self.score])])

    def in_table(self, names: Sequence[str]) -> "TableColumns":
        """Return the names in a table with these columns. Alternatives replace names that the user did not give."""
        # With marks, no label is searched for: such a column may be the text of the reference answer.
        marks = self.score is not None and self.scoring.is_lower_better(self.score) is not None
        free = [name for name in names if name not in self.wanted]
        known: dict[str, str] = {}
        unclear: tuple[tuple[str, str, str], ...] = ()
        for key, synonyms in KNOWN.items():
            column = getattr(self, key)
            not_needed = (key != "id" and marks) or (key == "label" and self.truth is not None)
            if not_needed or key in self.named or column != getattr(Columns, key):
                continue
            alternatives = [name for name in free if name.lower() in synonyms]
            if key == "id" and not alternatives and any(map(RATER.fullmatch, names)):
                alternatives = [name for name in free if name.lower() == "item"]
            doubtful = [name for name in free if name.lower() in (*DOUBTFUL[key], column, f"{column}.1")]
            doubtful = [name for name in doubtful if name != "y" or "x" not in names]
            readable, rivals = ([column], alternatives + doubtful) if column in names else (alternatives, doubtful)
            if readable and rivals and key != "id":
                unclear += ((key, readable[0], rivals[0]),)
            elif column not in names and len(alternatives) == 1:
                known[key] = alternatives[0]
        if "label" in known and self.label == self.prediction:  # a file of labels
            known["prediction"] = known["label"]
        columns = TableColumns(**{**vars(self), **known}, known=tuple(known.items()), unclear=unclear)
        if self.probabilities is None:
            return columns
        free = [name for name in names if name not in columns.wanted]
        return replace(columns, of_classes=classes_in(self.probabilities, free))

    def wanted_in(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the columns to read from such a table, with all scores and the columns that notes need."""
        by_score = [self, *(replace(self, score=score) for score in self.scoring.scores)]
        wanted = [name for columns in by_score for name in (*columns.wanted, *columns.in_table(names).wanted)]
        return tuple(dict.fromkeys([*wanted, *(name for name in names if is_read_for_notes(name))]))


@dataclass(frozen=True)
class TableColumns(Columns):
    """The columns that a table has."""

    #: The keys among id, label and prediction that were recognised by other names, and these names.
    known: tuple[tuple[str, str], ...] = ()
    #: ``label`` or ``prediction``, its column, and another column whose name suggests the same content.
    unclear: tuple[tuple[str, str, str], ...] = ()
    #: The classes that have a column of probabilities, and these columns.
    of_classes: tuple[tuple[str, str], ...] = ()

    @property
    def wanted(self) -> tuple[str, ...]:
        """All columns, each once."""
        return tuple(dict.fromkeys((*super().wanted, *(name for _, name in self.of_classes))))


def classes_in(pattern: str, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return each class and its column, from names and patterns between commas. ``*`` stands for the class."""
    parts = [part.strip().partition("*") for part in pattern.split(",")]
    return tuple(
        (name[len(start) : len(name) - len(end)] if star else name, name)
        for name in names
        for start, star, end in parts
        if (re.fullmatch(f"{re.escape(start)}.+{re.escape(end)}", name) if star else name == start)
    )
