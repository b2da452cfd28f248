"""Rows of a few kinds, for the intervals of any measure; and the verdicts of a judge that errs, with some labels."""

import math
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from sigstats.tasks import work
from sigstats.tasks.record import record
from sigstats.tasks.work import JudgedRows

from ...config.model import Strict
from ...running.options import Progress
from ._source import LoadedSource, PopulationSource, PopulationSpec, Tests

Said = str | int | float


class Kind(Strict):
    """A kind of row: what is true, and what A and B say."""

    share: Annotated[float, Field(gt=0, le=1, description="Which share of the rows, or of the groups, is of this kind")]
    label: Annotated[str | int, Field(description="The true class, with 0 and 1 for two; none for marks")] = ""
    a: Annotated[Said, Field(description="The class, the probability of the class 1, or the mark from 0 to 1, by A")]
    b: Annotated[Said, Field(description="The same by B")]


class Kinds(PopulationSource):
    """Rows of a few kinds, drawn independently: classes, probabilities of the class 1, or marks from 0 to 1."""

    source: Literal["kinds"]
    kinds: Annotated[list[Kind], Field(min_length=2, description="The kinds of rows; their shares add up to 1")]
    group: Annotated[
        int, Field(ge=1, le=10**6, description="The rows of a group, all of one kind; sizes are multiples of it")
    ] = 1

    @model_validator(mode="after")
    def _whole(self) -> "Kinds":
        total = math.fsum(kind.share for kind in self.kinds)
        if abs(total - 1) > 1e-9:
            raise ValueError(f"kinds: shares of {total:.9g} in all are not valid; expected 1")
        return self

    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:  # noqa: ARG002
        """One population."""
        values = work.Kinds(
            shares=tuple(kind.share for kind in self.kinds),
            labels=tuple(str(kind.label) for kind in self.kinds),
            a=tuple(str(kind.a) for kind in self.kinds),
            b=tuple(str(kind.b) for kind in self.kinds),
            group=self.group,
        )
        return LoadedSource(populations=[PopulationSpec(slice=None, values=values, rows=None)])


#: Of A and of B.
Both: TypeAlias = Annotated[list[Annotated[float, Field(gt=0, lt=1)]], Field(min_length=2, max_length=2)]


class Judged(PopulationSource):
    """Two models as a judge sees them on all rows, and people on so many rows as the sizes of the study say."""

    source: Literal["judged"]
    rows: Annotated[int, Field(ge=2, le=10**6, description="The rows that the judge sees")] = 2000
    accuracy: Annotated[Both, Field(description="Of A and of B, as people see it; of marks the mean")]
    sensitivity: Annotated[Both, Field(description="How often the judge calls right what people do, of A and of B")]
    specificity: Annotated[Both, Field(description="How often the judge calls wrong what people do, of A and of B")]
    answers: Annotated[int, Field(ge=1, le=1000, description="Answers to an item, which are not independent")] = 1
    marks: Annotated[
        int, Field(ge=1, le=1000, description="The highest mark, of marks from 0; 1 is right and wrong")
    ] = 1

    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:  # noqa: ARG002
        """One population."""
        values = record(JudgedRows, self.model_dump(exclude={"source", "name"}))
        return LoadedSource(populations=[PopulationSpec(slice=None, values=values, rows=self.rows)])
