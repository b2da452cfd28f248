"""Populations of which all is stated: kinds of rows, rows that a judge sees, rows of several tasks, and votes."""

import math
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeAlias, cast

from pydantic import Field, model_validator

from sigstats.tasks import work
from sigstats.tasks.record import record

from ...config.model import Strict
from ...running.options import Progress
from ._source import LoadedSource, PopulationSource, PopulationSpec, Tests

Said = str | int | float


class Described(PopulationSource):
    """A source of one population, whose options are what it is made of."""

    WORK: ClassVar[type[work.Described]]

    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:  # noqa: ARG002
        """One population."""
        values = self.values()
        rows = values.rows if isinstance(values, work.JudgedRows) else None
        return LoadedSource(populations=[PopulationSpec(slice=None, values=values, rows=rows)])

    def values(self) -> work.DrawnFrom:
        """What the work of a cell says of it."""
        return cast("work.DrawnFrom", record(self.WORK, self.model_dump(exclude={"source", "name"})))


class Kind(Strict):
    """A kind of row: what is true, and what A and B say."""

    share: float = Field(gt=0, le=1, description="Which share of the rows, or of the groups, is of this kind")
    label: str | int = Field("", description="The true class, with 0 and 1 for two; none for marks")
    a: Said = Field(description="The class, the probability of the class 1, or the mark from 0 to 1, by A")
    b: Said = Field(description="The same by B")


class Kinds(Described):
    """Rows of a few kinds, drawn independently: classes, probabilities of the class 1, or marks from 0 to 1."""

    source: Literal["kinds"]
    kinds: list[Kind] = Field(min_length=2, description="The kinds of rows; their shares add up to 1")
    group: int = Field(1, ge=1, le=10**6, description="The rows of a group, all of one kind; sizes are multiples of it")

    @model_validator(mode="after")
    def _whole(self) -> "Kinds":
        total = math.fsum(kind.share for kind in self.kinds)
        if abs(total - 1) > 1e-9:
            raise ValueError(f"kinds: shares of {total:.9g} in all are not valid; expected 1")
        return self

    def values(self) -> work.Kinds:
        """The kinds, each a value of every column."""
        return work.Kinds(
            shares=tuple(kind.share for kind in self.kinds),
            labels=tuple(str(kind.label) for kind in self.kinds),
            a=tuple(str(kind.a) for kind in self.kinds),
            b=tuple(str(kind.b) for kind in self.kinds),
            group=self.group,
        )


#: Of A and of B.
Both: TypeAlias = Annotated[list[Annotated[float, Field(gt=0, lt=1)]], Field(min_length=2, max_length=2)]


class Judged(Described):
    """Two models as a judge sees them on all rows, and people on so many rows as the sizes of the study say."""

    WORK: ClassVar[type[work.Described]] = work.JudgedRows

    source: Literal["judged"]
    rows: int = Field(2000, ge=2, le=10**6, description="The rows that the judge sees")
    accuracy: Both = Field(description="Of A and of B, as people see it; of marks the mean")
    sensitivity: Both = Field(description="How often the judge calls right what people do, of A and of B")
    specificity: Both = Field(description="How often the judge calls wrong what people do, of A and of B")
    answers: int = Field(1, ge=1, le=1000, description="Answers to an item, which are not independent")
    marks: int = Field(1, ge=1, le=1000, description="The highest mark, of marks from 0; 1 is right and wrong")
    same: float = Field(0.0, ge=0, lt=1, description="The share of items to which B gives the answer of A")


Shares = Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=2, max_length=1000)]


class Tasks(Described):
    """Two models on several tasks, B the worse one on some, with as many rows as the sizes of the study say."""

    WORK: ClassVar[type[work.Described]] = work.TaskRows

    source: Literal["tasks"]
    shares: Shares = Field(description="The rows of each task, or their shares: only the ratios count")
    discordant: list[Annotated[float, Field(ge=0, le=1)]] = Field(
        description="The share of each task's rows that one model alone gets right"
    )
    worse: list[Annotated[float, Field(ge=-1, le=1)]] = Field(
        description="How much worse B is on each task, beside the others; negative where it is better"
    )
    errors: float = Field(
        3.0, gt=0, le=100, description="By how many standard errors, on all rows of the tasks where B is worse"
    )

    @model_validator(mode="after")
    def _of_each(self) -> "Tasks":
        for name in ("discordant", "worse"):
            if len(getattr(self, name)) != len(self.shares):
                raise ValueError(
                    f"{name}: {len(getattr(self, name))} values are not valid; expected {len(self.shares)}, as shares"
                )
        return self


Spread = Annotated[float, Field(ge=0, le=10)]


class Votes(Described):
    """Models of known strengths, two of which meet in each vote, as many as the sizes of the study say."""

    WORK: ClassVar[type[work.Described]] = work.Votes

    source: Literal["votes"]
    strengths: list[Annotated[float, Field(ge=-20, le=20)]] = Field(
        min_length=2, max_length=1000, description="The strength of each model: differences are log odds"
    )
    voters: int = Field(40, ge=2, le=10**6, description="The number of voters")
    items: int = Field(80, ge=2, le=10**6, description="The number of items")
    voter_sd: Spread = Field(0.0, description="The standard deviation of what a voter adds to the strength of a model")
    item_sd: Spread = Field(0.0, description="The standard deviation of what an item adds to the strength of a model")
    ties: float = Field(0.0, ge=0, lt=1, description="The share of votes that are ties")
    dissenters: float = Field(
        0.0, ge=0, le=0.5, description="The share of voters for the later model in 95%; the others make it even"
    )
