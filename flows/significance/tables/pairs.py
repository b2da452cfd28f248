"""Two classifiers on the same objects: which rows only one got right, and their joint outcomes."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from sigstats._common.messages import Note, refuse
from sigstats.joint.outcomes import JointOutcomes
from sigstats.measures.measure import as_measure
from sigstats.measures.own import is_path
from sigstats.tasks.own_code import with_measure_code

from ...config.model import only
from . import Case, Classes, Counts, Entry, OfTwo, Ways, coded_classes, read_table


class Pairs(OfTwo):
    """Discordant objects of two classifiers, or a file of both predictions."""

    TEST: ClassVar[str] = "mcnemar"
    ORDER: ClassVar[int] = 20
    WAYS: ClassVar[Ways] = (("only_a", "only_b"), ("path",))

    only_a: int | None = Field(None, ge=0, description="Objects that only a got right")
    only_b: int | None = Field(None, ge=0, description="Objects that only b got right")
    n: Annotated[
        int | None, Field(ge=1, description="Number of all objects, for the difference of accuracies"), only("only_a")
    ] = None
    path: str | None = Field(None, description="CSV or Parquet file with a row per object")
    label: Annotated[str, Field(description="Column of true classes"), only("path")] = "label"
    classes: Classes = None
    alternative: Literal["two-sided", "greater", "less"] = Field(
        "two-sided", description="greater: a is better; less: b is better"
    )

    def cases(self, base: Path) -> Iterator[Case]:
        """The pair."""
        only_a, only_b, n, notes = self.only_a, self.only_b, self.n, list[Note]()
        if self.path is not None:
            wanted = [self.label, self.a, self.b]
            (label, of_a, of_b), _, notes = coded_classes(
                read_table(self.path, base, filled=wanted), wanted, self.classes
            )
            right_a, right_b = label == of_a, label == of_b
            only_a, only_b, n = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum()), len(label)
        data = {"only_a": only_a, "only_b": only_b, "n": n, "alternative": self.alternative}
        yield self.case(data, notes, a=self.a, b=self.b)


_DCF = only("methods", "dcf", "dcf-independent")


class Outcomes(OfTwo):
    """Eight joint outcomes of two classifiers, or a file of both predictions."""

    TEST: ClassVar[str] = "joint-outcomes"
    ORDER: ClassVar[int] = 25
    WAYS: ClassVar[Ways] = (("counts",), ("path",))

    methods: tuple[str, ...] = Field(
        ("bootstrap",),
        strict=False,
        min_length=1,
        description="proportion, proportion-independent, dcf, dcf-independent, bootstrap",
    )
    counts: Counts | None = Field(
        None,
        min_length=8,
        max_length=8,
        description="Truly positive: both right, only b, only a, none; truly negative: none, only a, only b, both",
    )
    path: str | None = Field(None, description="CSV or Parquet file with a row per object")
    label: Annotated[str, Field(description="Column of true classes"), only("path")] = "label"
    classes: Classes = None
    positive: str | None = Field(None, description="Positive class, with a path")
    measure: Annotated[
        str,
        Field(
            description="Resampled measure, for the method bootstrap: f1, expected-cost(fn=10,fp=1) ..., or "
            "MODULE:FUNCTION of an allowed package"
        ),
        only("methods", "bootstrap"),
    ] = "f1"
    cost_fn: Annotated[float | None, Field(ge=0, description="Cost of a miss, for dcf"), _DCF] = None
    cost_fp: Annotated[float | None, Field(ge=0, description="Cost of a false alarm, for dcf"), _DCF] = None
    prior: Annotated[float | None, Field(ge=0, le=1, description="Prior of the positive class, for dcf"), _DCF] = None

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if (self.positive is None) != (self.path is None):
            raise refuse("positive", self.positive, "a class with a path, and only then")
        if any(method.startswith("dcf") for method in self.methods):
            for name in ("cost_fn", "cost_fp", "prior"):
                if getattr(self, name) is None:
                    raise ValueError(f"{name}: is missing; expected a number for the method dcf")
        if not is_path(self.measure):  # a path is not imported until its package is allowed
            as_measure(self.measure)  # raises ValueError if the name is unknown
        return self

    def cases(self, base: Path) -> Iterator[Case]:
        """The pair."""
        counts, notes = self.counts, list[Note]()
        if self.path is not None:
            wanted = [self.label, self.a, self.b]
            columns, names, notes = coded_classes(read_table(self.path, base, filled=wanted), wanted, self.classes)
            if self.positive not in names:
                raise refuse("positive", self.positive, f"one of {', '.join(names[:20])}")
            label, of_a, of_b = (column == names.index(self.positive) for column in columns)
            joint = JointOutcomes.from_predictions(label, of_a, of_b, positive=True)
            counts = [joint.e1, joint.e2, joint.e3, joint.e4, joint.e5, joint.e6, joint.e7, joint.e8]
        data: dict[str, Any] = with_measure_code({"outcomes": counts, "measure": self.measure})
        data |= {name: getattr(self, name) for name in ("cost_fn", "cost_fp", "prior")}
        yield self.case(data, notes, a=self.a, b=self.b)


ENTRIES: Mapping[str, type[Entry]] = {"pairs": Pairs, "outcomes": Outcomes}
