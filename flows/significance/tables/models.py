"""Tables of several models: discordant pairs or joint outcomes of two classifiers, and scores on data sets.

Scores answer which of several models is best over data sets, and which are tied.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from sigstats._common.messages import Note
from sigstats._common.validation import hint, refuse, shown
from sigstats.joint.outcomes import JointOutcomes
from sigstats.many_datasets.score_tables import Missing, ScoreTable, filled, read_scores
from sigstats.many_datasets.signed_rank import usual_rope
from sigstats.measures.measure import as_measure
from sigstats.measures.metrics import against_direction
from sigstats.measures.own import is_path
from sigstats.tasks.own_code import with_measure_code
from sigstats.tasks.statistical_tests import FEWEST_DATA_SETS

from ...config.model import only
from . import Case, Classes, Counts, Entry, Name, OfTwo, Ways, coded_classes, read_table


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
        """Yield the pair."""
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
        """Yield the pair."""
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


#: Each pair is a cell of its own, with files of its own.
MOST_PAIRS = 100_000


class Scores(Entry):
    """Scores of models on data sets, in a file or by value."""

    TEST: ClassVar[str] = "signed-rank"
    ORDER: ClassVar[int] = 5
    WAYS: ClassVar[Ways] = (("path",), ("values",))
    # The p-values of a test are adjusted together, and one picture shows which models differ.
    ALONE: ClassVar[bool] = True

    methods: tuple[str, ...] = Field(("exact",), strict=False, min_length=1, description="exact")
    path: str | None = Field(None, description="CSV or Parquet file with a row per data set, or a row per score")
    datasets: Annotated[str, Field(description="Column of the names of data sets"), only("path")] = "dataset"
    models: Annotated[list[str], Field(min_length=2)] | str | None = Field(
        None, description="Columns of scores, by default all others; or the column of models if each row has one score"
    )
    values: dict[Name, list[float]] | None = Field(
        None, min_length=2, description="Scores of each model, in place of a file"
    )
    missing: Missing = Field(
        "refuse",
        description="If a model has no score on a data set: refuse; drop the data set; take the worst score there; or "
        "compare pairs where both have one",
    )
    control: str | None = Field(None, description="Model with which all others are compared; all pairs by default")
    greater_is_better: bool = Field(True, description="False for errors and losses")
    rope: float | None = Field(None, ge=0, description="Largest irrelevant difference; 0.01, or 5% of scores above 1")

    @model_validator(mode="after")
    def _with_path(self) -> Self:
        if self.models is not None and (self.path is None or self.datasets in self.models):
            text = "given without a path" if self.path is None else f"{shown(self.datasets)}"
            raise ValueError(f"models: {text} is not valid; expected columns of scores in the file")
        return self

    def cases(self, base: Path) -> Iterator[Case]:
        """Yield all models together, if there are at least three, and every pair, or each model and the control."""
        given = self._given() if self.path is None else self._read(self.path, base)
        models = given.models
        if self.control is not None and self.control not in models:
            raise ValueError(f"control: {shown(self.control)} is not valid; {hint(self.control, models)}")
        pairs = math.comb(len(models), 2) if self.control is None else len(models) - 1
        if pairs > MOST_PAIRS:
            raise refuse(
                "scores",
                pairs,
                f"{MOST_PAIRS} or fewer; models or control chooses some",
                quantity="number of pairs of models",
            )
        if "greater_is_better" not in self.model_fields_set:
            names = [given.column] if given.column else models
            for note in against_direction(names, greater=True, cure="set greater_is_better = false"):
                raise ValueError(f"greater_is_better: is missing; {note}")
        table, notes = filled(given, self.missing, greater_is_better=self.greater_is_better)
        whole = table.whole()
        if len(whole.datasets) < FEWEST_DATA_SETS:
            raise refuse("scores", len(whole.datasets), f"{FEWEST_DATA_SETS} or more", quantity="number of data sets")
        rope = usual_rope(table.scores) if self.rope is None else self.rope
        common: dict[str, Any] = {"greater_is_better": self.greater_is_better, "rope": rope, "control": self.control}
        common |= {"note": "; ".join(note.rstrip(".") for note in notes)} if notes else {}
        if len(models) > 2:
            yield Case(
                subject={"dataset": self.name},
                test="friedman",
                data={**common, "scores": whole.scores.tolist()},
                methods=("auto",),
                printed=self,
            )
        # JSON has no NaN.
        columns = [[None if math.isnan(score) else score for score in column] for column in table.scores.T.tolist()]
        control = None if self.control is None else models.index(self.control)
        every = combinations(range(len(models)), 2)
        for a, b in every if control is None else ((control, b) for b in range(len(models)) if b != control):
            yield Case(
                subject={"dataset": self.name, "a": models[a], "b": models[b]},
                test=self.TEST,
                data={**common, "a": columns[a], "b": columns[b]},
            )

    def _given(self) -> ScoreTable:
        scores = self.values or {}
        longest = max(scores, key=lambda name: len(scores[name]))
        for name, column in scores.items():
            if len(column) < len(scores[longest]):
                raise refuse(
                    f"values: {name}", len(column), f"{len(scores[longest])}, as of {longest}", quantity="length"
                )
        return read_scores(np.column_stack(list(scores.values())), list(scores), None)

    def _read(self, path: str, base: Path) -> ScoreTable:
        of_row = [self.datasets, self.models] if isinstance(self.models, str) else [self.datasets]
        wanted = [*of_row, *self.models] if isinstance(self.models, list) else None
        table = read_table(path, base, wanted, of_row)
        columns = {
            name: table.texts(name) if name in of_row else table.numbers(name, or_missing=True)
            for name in wanted or table.names
        }
        return read_scores(pa.table(columns), self.models, self.datasets)


ENTRIES: Mapping[str, type[Entry]] = {"pairs": Pairs, "outcomes": Outcomes, "scores": Scores}
