"""``[[outcomes]]``: two classifiers of one positive class. Do they differ in error rate, cost or F1."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from sigstats._common.messages import shown
from sigstats.joint.outcomes import JointOutcomes
from sigstats.measures.measure import as_measure
from sigstats.tasks.own_code import with_measure_code

from . import _entry
from ._entry import codes, read_table


class Entry(_entry.Entry):
    """The eight joint outcomes of two classifiers; or a file of both classifiers' predictions."""

    TEST: ClassVar[str] = "joint-outcomes"
    ORDER: ClassVar[int] = 25

    methods: Annotated[
        tuple[str, ...],
        Field(
            strict=False,
            min_length=1,
            description="proportion, proportion-independent, dcf, dcf-independent, bootstrap",
        ),
    ] = ("bootstrap",)
    a: Annotated[_entry.Name, Field(description="The first classifier; with a path, the column of its predictions")]
    b: Annotated[_entry.Name, Field(description="The second classifier, likewise")]
    counts: Annotated[
        _entry.Counts | None,
        Field(
            min_length=8,
            max_length=8,
            description="Truly positive: both right, only b, only a, none; truly negative: none, only a, only b, both",
        ),
    ] = None
    path: Annotated[str | None, Field(description="A CSV or Parquet file instead, a row for each object")] = None
    label: Annotated[str, Field(description="The file's column of true classes")] = "label"
    positive: Annotated[str | None, Field(description="The positive class, with a path")] = None
    measure: Annotated[str, Field(description="What is resampled, for the method bootstrap")] = "f1"
    cost_fn: Annotated[float | None, Field(ge=0, description="The cost of a miss, for dcf")] = None
    cost_fp: Annotated[float | None, Field(ge=0, description="The cost of a false alarm, for dcf")] = None
    prior: Annotated[float | None, Field(ge=0, le=1, description="The prior of the positive class, for dcf")] = None

    @model_validator(mode="after")
    def _given(self) -> Self:
        self.require_exactly_one(counts=self.counts is not None, path=self.path is not None)
        if (self.positive is None) != (self.path is None):
            raise ValueError(
                f"positive: {shown(self.positive)} is not valid; expected a class with a path, and only then"
            )
        if any(method.startswith("dcf") for method in self.methods):
            for name in ("cost_fn", "cost_fp", "prior"):
                if getattr(self, name) is None:
                    raise ValueError(f"{name}: is missing; expected a number for the method dcf")
        as_measure(self.measure)  # raises ValueError where there is none of that name
        return self

    def cases(self, base: Path) -> Iterator[_entry.Case]:
        """The pair."""
        counts = self.counts
        if self.path is not None:
            wanted = [self.label, self.a, self.b]
            table = read_table(self.path, base, wanted)
            columns, names = codes(*map(table.texts, wanted))
            if self.positive not in names:
                raise ValueError(
                    f"positive: {shown(self.positive)} is not valid; expected one of {', '.join(names[:20])}"
                )
            label, of_a, of_b = (column == names.index(self.positive) for column in columns)
            found = JointOutcomes.from_predictions(label, of_a, of_b, positive=True)
            counts = [found.e1, found.e2, found.e3, found.e4, found.e5, found.e6, found.e7, found.e8]
        data: dict[str, Any] = with_measure_code({"outcomes": counts, "measure": self.measure})
        data |= {name: getattr(self, name) for name in ("cost_fn", "cost_fp", "prior")}
        yield self.case(data, a=self.a, b=self.b)
