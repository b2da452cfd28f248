"""``[[scores]]``: which of several models is best over data sets, and which are tied."""

import math
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from sigstats._common.validation import hint, refuse, shown
from sigstats.many_datasets.score_tables import Missing, ScoreTable, filled, read_scores
from sigstats.many_datasets.signed_rank import usual_rope
from sigstats.tasks.statistical_tests import FEWEST_DATA_SETS

from ...config.model import only
from . import Case, Entry, Name, Ways, read_table

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
        """All models together, if there are at least three, and every pair, or each model and the control."""
        given = self._given() if self.path is None else self._read(self.path, base)
        models = given.models
        if self.control is not None and self.control not in models:
            raise ValueError(f"control: {shown(self.control)} is not valid; {hint(self.control, models)}")
        pairs = math.comb(len(models), 2) if self.control is None else len(models) - 1
        if pairs > MOST_PAIRS:
            raise refuse("scores (pairs of models)", pairs, f"{MOST_PAIRS} or fewer; models or control chooses some")
        table, notes = filled(given, self.missing, greater_is_better=self.greater_is_better)
        whole = table.whole()
        if len(whole.datasets) < FEWEST_DATA_SETS:
            raise refuse("scores (data sets)", len(whole.datasets), f"{FEWEST_DATA_SETS} or more")
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
                raise refuse(f"values: {name} (length)", len(column), f"{len(scores[longest])}, as of {longest}")
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


ENTRIES = {"scores": Scores}
