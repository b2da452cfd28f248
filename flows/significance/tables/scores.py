"""``[[scores]]``: which of several models is best over data sets, and which are tied."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from sigstats._common.validation import hint, refuse, shown

from ...config.model import only
from . import Case, Entry, Name, Ways, read_table

#: With fewer data sets nothing is said of data sets like them.
FEWEST_DATA_SETS = 3

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
    path: str | None = Field(None, description="CSV or Parquet file with a row per data set")
    datasets: Annotated[str, Field(description="Column of the names of data sets"), only("path")] = "dataset"
    models: list[str] | None = Field(None, min_length=2, description="Columns of scores; all others by default")
    values: dict[Name, list[float]] | None = Field(
        None, min_length=2, description="Scores of each model, in place of a file"
    )
    control: str | None = Field(None, description="Model with which all others are compared; all pairs by default")
    greater_is_better: bool = Field(True, description="False for errors and losses")
    rope: float = Field(0.01, ge=0, description="Largest practically irrelevant difference")

    @model_validator(mode="after")
    def _with_path(self) -> Self:
        if self.models is not None and (self.path is None or self.datasets in self.models):
            text = "given without a path" if self.path is None else f"{shown(self.datasets)}"
            raise ValueError(f"models: {text} is not valid; expected columns of scores in the file")
        return self

    def cases(self, base: Path) -> Iterator[Case]:
        """All models together, if there are at least three, and every pair, or each model and the control."""
        scores = self._scores(base)
        if self.control is not None and self.control not in scores:
            raise ValueError(f"control: {shown(self.control)} is not valid; {hint(self.control, scores)}")
        pairs = math.comb(len(scores), 2) if self.control is None else len(scores) - 1
        if pairs > MOST_PAIRS:
            raise refuse("scores (pairs of models)", pairs, f"{MOST_PAIRS} or fewer; models or control chooses some")
        common = {"greater_is_better": self.greater_is_better, "rope": self.rope, "control": self.control}
        if len(scores) > 2:
            yield Case(
                subject={"dataset": self.name},
                test="friedman",
                data={**common, "scores": [list(row) for row in zip(*scores.values(), strict=True)]},
                methods=("auto",),
                printed=self,
            )
        for a, b in _pairs(list(scores), self.control):
            yield Case(
                subject={"dataset": self.name, "a": a, "b": b},
                test=self.TEST,
                data={**common, "a": scores[a], "b": scores[b]},
            )

    def _scores(self, base: Path) -> Mapping[str, list[float]]:
        scores = self._given_scores() if self.path is None else self._read_scores(self.path, base)
        if len(scores) < 2:
            raise refuse("scores (models)", len(scores), "two or more")
        count = len(next(iter(scores.values())))
        if count < FEWEST_DATA_SETS:
            raise refuse("scores (data sets)", count, f"{FEWEST_DATA_SETS} or more")
        return scores

    def _given_scores(self) -> Mapping[str, list[float]]:
        scores = self.values or {}
        longest = max(scores, key=lambda name: len(scores[name]))
        for name, column in scores.items():
            if len(column) < len(scores[longest]):
                raise refuse(f"values: {name} (length)", len(column), f"{len(scores[longest])}, as of {longest}")
        return scores

    def _read_scores(self, path: str, base: Path) -> Mapping[str, list[float]]:
        table = read_table(path, base, None if self.models is None else [self.datasets, *self.models])
        names = table.texts(self.datasets).to_pylist()
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise table.error(self.datasets, f": {shown(twice)} appears twice")
        models = [name for name in table.names if name != self.datasets] if self.models is None else self.models
        return {name: table.numbers(name).to_pylist() for name in models}


def _pairs(names: Sequence[str], control: str | None) -> list[tuple[Any, Any]]:
    return list(combinations(names, 2)) if control is None else [(control, name) for name in names if name != control]


ENTRIES = {"scores": Scores}
