"""Tables of counts of one classifier or of samples, and the numbers computed from them."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from sigstats._common.class_spelling import is_summary
from sigstats._common.messages import Note, refuse, shown
from sigstats.files.tables.spelling import to_numbers
from sigstats.files.tables.table import Table
from sigstats.goodness_of_fit.goodness_of_fit_test import relax_probabilities
from sigstats.tables import as_confusion_table, without_margins
from sigstats.tasks.significance import LIKENESS

from ...config.model import Strict, each_once, only
from . import Case, Classes, Counts, Entry, Name, OfTwo, Printed, Ways, coded_classes, codes, read_table


class Tables(Entry):
    """A confusion matrix, or a file of predictions or counts."""

    TEST: ClassVar[str] = "efficiency"
    ORDER: ClassVar[int] = 10
    WAYS: ClassVar[Ways] = (("counts",), ("path",))

    methods: tuple[str, ...] = Field(
        ("auto",), strict=False, min_length=1, description="auto, exact, mid-p, monte-carlo, chi2"
    )
    counts: list[Counts] | None = Field(None, description="Matrix of counts; true classes in rows")
    path: str | None = Field(None, description="CSV or Parquet file with a row per object, or per cell of counts")
    label: Annotated[str, Field(description="Column of true classes"), only("path")] = "label"
    prediction: Annotated[str, Field(description="Column of assigned classes"), only("path")] = "prediction"
    count: Annotated[str | None, Field(description="Column of counts, if rows are not objects"), only("path")] = None
    classes: Classes = None
    by: str | None = Field(None, description="Column that distinguishes several matrices")

    @model_validator(mode="after")
    def _with_path(self) -> Self:
        if self.by is not None and (self.printed or self.path is None):
            raise refuse("by", self.by, "only with a path, and without printed")
        return self

    def cases(self, base: Path) -> Iterator[Case]:
        """Yield the matrix, or every matrix of the file."""
        if self.path is None:
            yield self.case({"table": without_margins(as_confusion_table(self.counts)).tolist()})
            return
        extra = [name for name in (self.count, self.by) if name is not None]
        table = read_table(self.path, base, filled=[self.label, self.prediction, *extra])
        counts = None if self.count is None else np.array(table.counts(self.count), dtype=np.int64)
        (true, assigned), _, notes = coded_classes(table, [self.label, self.prediction], self.classes, counts, self.by)
        if self.count is not None:
            notes += _row_notes(table, [self.count], "the counts are added", [self.label, self.prediction, self.by])
        (group,), names = codes(table.texts(self.by)) if self.by else ([np.zeros_like(true)], [""])
        for position, name in enumerate(names):
            rows = np.flatnonzero(group == position)
            matrix = _matrix(true[rows], assigned[rows], None if counts is None else counts[rows])
            yield self.case({"table": matrix}, notes, dataset=f"{self.name}: {name}" if self.by else self.name)


def _matrix(true: Any, assigned: Any, counts: NDArray[np.int64] | None) -> list[list[int]]:
    """Return the matrix of true and assigned classes, each row counted once or as often as `counts` states."""
    classes, both = np.unique([true, assigned], return_inverse=True)
    cells = np.bincount(both[0] * len(classes) + both[1], counts, len(classes) ** 2).astype(np.int64)
    matrix: list[list[int]] = cells.reshape(len(classes), -1).tolist()
    return matrix


def _row_notes(table: Table, counts: Sequence[str], use: str, keys: Sequence[str | None] = ()) -> list[Note]:
    """Return notes on equal names, and on a row that is the sum of the others. Raise ValueError for a "total".

    The name of a row is its values in the columns `keys`, by default all columns of text.
    """
    texts = {name: table.texts_or_missing(name) for name in keys or {*table.names}.difference(counts) if name}
    columns = [column.to_pylist() for column in texts.values() if keys or to_numbers(column) is None]
    names = list(zip(*columns, strict=True))
    values = np.array([table.numbers(name).to_numpy() for name in counts])
    as_classes = []
    odd = {text: None for row in names for text in row if text and is_summary(text)}
    for name in odd:
        if _are_totals(name, names, values, {name}) or _are_totals(name, names, values, {*odd}):
            problem = f"{shown(name)} is a total; remove its rows, or give the class another name"
            raise ValueError(f"{table.where}: {problem}")
        as_classes.append(Note("repeated-class", f"{shown(name)} counts as a class, not as a total"))
    sentences = [f"{', '.join(map(str, row))} has {n} rows" for row, n in Counter(names).items() if n > 1]
    if len(values) > 1 and (2 * values == values.sum(axis=1, keepdims=True)).all(axis=0).any():
        sentences.append("one row is the sum of all others")
    return as_classes + [Note("repeated-class", f"{sentence}; {use}") for sentence in sentences[:3]]


def _are_totals(name: str, rows: Sequence[tuple[Any, ...]], values: NDArray[Any], odd: Collection[str]) -> bool:
    """Return True if all rows with a name are sums, or all means, of those without an odd one.

    If some of these have the same other names, they are of these only.
    """
    others = [place for place, row in enumerate(rows) if not {*row}.intersection(odd)]
    if not others:
        return False
    sums = means = True
    for place, row in enumerate(rows):
        if name in row:
            keys = [(column, text) for column, text in enumerate(row) if text != name]
            alike = [other for other in others if all(rows[other][column] == text for column, text in keys)] or others
            part = values[:, alike]
            sums &= np.allclose(values[:, place], part.sum(axis=1))
            means &= np.allclose(values[:, place], part.mean(axis=1))
    return sums or means


class Samples(OfTwo):
    """Counts of classes in two samples, or a file of them."""

    TEST: ClassVar[str] = "homogeneity"
    ORDER: ClassVar[int] = 30
    WAYS: ClassVar[Ways] = (("counts_a", "counts_b"), ("path",))

    a: Name = Field(description="First sample; with a path, its column of counts")
    b: Name = Field(description="Second sample; with a path, its column of counts")
    counts_a: Counts | None = Field(None, description="Counts of the first sample, by class")
    counts_b: Counts | None = Field(None, description="Counts of the second sample, in the same order")
    path: str | None = Field(None, description="CSV or Parquet file with a row per class")

    def cases(self, base: Path) -> Iterator[Case]:
        """Yield the two samples."""
        counts_a, counts_b, notes = self.counts_a, self.counts_b, list[Note]()
        if self.path is not None:
            table = read_table(self.path, base, filled=[self.a, self.b])
            counts_a, counts_b = (table.counts(name) for name in (self.a, self.b))
            notes = _row_notes(table, [self.a, self.b], "each counts as a class")
        yield self.case({"counts_a": counts_a, "counts_b": counts_b}, notes, a=self.a, b=self.b)


Ordering = Literal["probability", "chi2", "likelihood-ratio"]


class Relaxation(Strict):
    """Share of objects that may be misclassified: the last class, without a probability."""

    share: float = Field(gt=0, lt=1, description="Share of all objects")
    classes: list[Annotated[int, Field(ge=0)]] | None = Field(
        None, description="Positions, from 0, of the classes whose objects may be misclassified; all by default"
    )


class Requirements(Entry):
    """Counts of classes and their required probabilities, or a file of them."""

    TEST: ClassVar[str] = "goodness-of-fit"
    ORDER: ClassVar[int] = 40
    WAYS: ClassVar[Ways] = (("counts", "probabilities"), ("path",))

    counts: Counts | None = Field(None, description="Count of each class")
    probabilities: list[float] | None = Field(None, description="Required probability of each class")
    path: str | None = Field(None, description="CSV or Parquet file with a row per class")
    count: Annotated[str, Field(description="Column of counts"), only("path")] = "count"
    probability: Annotated[str, Field(description="Column of probabilities"), only("path")] = "probability"
    relax: Relaxation | None = Field(None, description="Allowed misclassified objects")
    ordering: Annotated[
        Ordering,
        Field(description="Order of outcomes, for the methods exact and monte-carlo"),
        only("methods", "exact", "monte-carlo"),
    ] = "probability"

    def cases(self, base: Path) -> Iterator[Case]:
        """Yield the counts with the required probabilities."""
        counts, probabilities, notes = self.counts, self.probabilities, list[Note]()
        if self.path is not None:
            table = read_table(self.path, base, filled=[self.count, self.probability])
            notes = _row_notes(table, [self.count, self.probability], "each counts as a class")
            counts = table.counts(self.count)
            probabilities = table.numbers(self.probability).to_numpy().tolist()
        if self.relax is not None:
            probabilities = list(relax_probabilities(probabilities, self.relax.share, classes=self.relax.classes))
        yield self.case({"counts": counts, "probabilities": probabilities, "ordering": self.ordering}, notes)


class Known(Printed):
    """A known algorithm."""

    name: Name = Field(description="Name in the results")
    probabilities: list[float] = Field(min_length=2, description="Probability of each class")


class Alternatives(Entry):
    """Class counts of a new algorithm and class probabilities of known ones."""

    TEST: ClassVar[str] = "goodness-of-fit"
    ORDER: ClassVar[int] = 50

    counts: Counts = Field(min_length=2, description="Counts of the new algorithm, by class")
    known: list[Known] = Field(min_length=2, description="Known algorithms")

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        each_once([known.name for known in self.known])
        if self.printed:
            raise ValueError("printed: is not valid here; expected with each known algorithm")
        return self

    def cases(self, base: Path) -> Iterator[Case]:  # noqa: ARG002
        """Yield one for each known algorithm."""
        for known in self.known:
            yield Case(
                subject={"dataset": self.name, "a": known.name},
                test=self.TEST,
                data={"counts": self.counts, "probabilities": known.probabilities, "ordering": "probability"},
                printed=known,
                shown_as=LIKENESS,
            )


class Enumerations(Entry):
    """A confusion matrix whose tables are counted, not tested."""

    TEST: ClassVar[str] = "enumeration-size"
    ORDER: ClassVar[int] = 55

    methods: tuple[str, ...] = Field(("count",), strict=False, min_length=1, description="count")
    counts: list[Counts] = Field(description="Matrix of counts; true classes in rows")

    def cases(self, base: Path) -> Iterator[Case]:  # noqa: ARG002
        """Yield the matrix."""
        yield self.case({"table": without_margins(as_confusion_table(self.counts)).tolist()})


class Sizes(Entry):
    """A level; nothing is tested."""

    TEST: ClassVar[str] = "monte-carlo-size"
    ORDER: ClassVar[int] = 60

    methods: tuple[str, ...] = Field(("formula",), strict=False, min_length=1, description="formula")
    alpha: float = Field(gt=0, lt=1, description="Level of the test")

    def cases(self, base: Path) -> Iterator[Case]:  # noqa: ARG002
        """Yield the level."""
        yield self.case({"alpha": self.alpha})


ENTRIES: Mapping[str, type[Entry]] = {
    "tables": Tables,
    "samples": Samples,
    "requirements": Requirements,
    "alternatives": Alternatives,
    "enumerations": Enumerations,
    "sizes": Sizes,
}
