"""Tables of counts of one classifier or of samples, and the numbers computed from them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from sigstats._common.messages import refuse
from sigstats.files.tables.table import Table
from sigstats.goodness_of_fit.goodness_of_fit_test import relax_probabilities
from sigstats.tasks.significance import LIKENESS

from ...config.model import Strict, only
from . import Case, Classes, Counts, Entry, Name, OfTwo, Printed, Ways, class_texts, codes, read_table


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
        """The matrix, or every matrix of the file."""
        if self.path is None:
            yield self.case({"table": self.counts})
            return
        extra = [name for name in (self.count, self.by) if name is not None]
        table = read_table(self.path, base, [self.label, self.prediction, *extra])
        label, prediction = class_texts(table, [self.label, self.prediction], self.classes)
        counts = None if self.count is None else np.array(self._counts(table), dtype=np.int64)
        if self.by is None:
            yield self.case({"table": _matrix(label, prediction, counts)})
            return
        (group,), names = codes(table.texts(self.by))
        for position, name in enumerate(names):
            rows = np.flatnonzero(group == position)
            part = None if counts is None else counts[rows]
            matrix = _matrix(label.take(rows), prediction.take(rows), part)
            yield self.case({"table": matrix}, dataset=f"{self.name}: {name}")

    def _counts(self, table: Table) -> list[int]:
        counts = table.whole_numbers(str(self.count))
        if min(counts) < 0:
            row = next(row for row, count in enumerate(counts) if count < 0)
            raise table.error(str(self.count), f": {counts[row]} is not valid; expected 0 or more", row)
        return counts


def _matrix(label: Any, prediction: Any, counts: NDArray[np.int64] | None) -> list[list[int]]:
    """The matrix of true and assigned classes, each row counted once or as often as `counts` says."""
    (true, assigned), classes = codes(label, prediction)
    matrix = np.zeros((len(classes), len(classes)), dtype=np.int64)
    np.add.at(matrix, (true, assigned), 1 if counts is None else counts)
    cells: list[list[int]] = matrix.tolist()
    return cells


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
        """The two samples."""
        counts_a, counts_b = self.counts_a, self.counts_b
        if self.path is not None:
            table = read_table(self.path, base, [self.a, self.b])
            counts_a, counts_b = (table.whole_numbers(name) for name in (self.a, self.b))
        yield self.case({"counts_a": counts_a, "counts_b": counts_b}, a=self.a, b=self.b)


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
        """The counts with the required probabilities."""
        counts, probabilities = self.counts, self.probabilities
        if self.path is not None:
            table = read_table(self.path, base, [self.count, self.probability])
            counts = table.whole_numbers(self.count)
            probabilities = table.numbers(self.probability).to_numpy().tolist()
        if self.relax is not None:
            probabilities = list(relax_probabilities(probabilities, self.relax.share, classes=self.relax.classes))
        yield self.case({"counts": counts, "probabilities": probabilities, "ordering": self.ordering})


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
        names = [known.name for known in self.known]
        for name in names:
            if names.count(name) > 1:
                raise refuse("known", name, "each name once")
        if self.printed:
            raise ValueError("printed: is not valid here; expected with each known algorithm")
        return self

    def cases(self, base: Path) -> Iterator[Case]:  # noqa: ARG002
        """One for each known algorithm."""
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
        """The matrix."""
        yield self.case({"table": self.counts})


class Sizes(Entry):
    """A level; nothing is tested."""

    TEST: ClassVar[str] = "monte-carlo-size"
    ORDER: ClassVar[int] = 60

    methods: tuple[str, ...] = Field(("formula",), strict=False, min_length=1, description="formula")
    alpha: float = Field(gt=0, lt=1, description="Level of the test")

    def cases(self, base: Path) -> Iterator[Case]:  # noqa: ARG002
        """The level."""
        yield self.case({"alpha": self.alpha})


ENTRIES: Mapping[str, type[Entry]] = {
    "tables": Tables,
    "samples": Samples,
    "requirements": Requirements,
    "alternatives": Alternatives,
    "enumerations": Enumerations,
    "sizes": Sizes,
}
