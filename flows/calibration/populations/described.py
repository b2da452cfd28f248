"""Populations that a study file describes fully: rows by kinds, in time, judged, or of tasks, and votes."""

import math
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field, model_validator

from sigstats.tasks.calibration import work
from sigstats.tasks.calibration.populations import judged, series, task_rows, votes
from sigstats.tasks.calibration.populations import kinds as row_kinds
from sigstats.tasks.record import record

from ...config.model import Strict
from ._source import KnownSource, PopulationSpec

Said = str | int | float


class Described(KnownSource):
    """A source of one population, which its options describe."""

    WORK: ClassVar[type[work.Described]]

    def populations(self) -> list[PopulationSpec]:
        """One population."""
        values = self.values()
        rows = values.rows if isinstance(values, judged.JudgedRows) else None
        return [PopulationSpec(slice=None, values=values, rows=rows)]

    def values(self) -> work.Described:
        """The description in the work of a cell."""
        return record(self.WORK, self.model_dump(exclude={"source", "name"}))


class Kind(Strict):
    """A kind of row: the truth and the outputs of A and B."""

    share: float = Field(gt=0, le=1, description="Share of the rows, or of the groups")
    label: str | int = Field("", description="True class (0 or 1 if there are two); none for marks")
    a: Said = Field(description="Output of A: class, probability of class 1, or mark from 0 to 1")
    b: Said = Field(description="Output of B")
    times: int = Field(1, ge=1, le=10**6, description="Size of such a group as a multiple of `group`")


class Kinds(Described):
    """Independent rows of a few kinds, with classes, probabilities of class 1, or marks from 0 to 1."""

    source: Literal["kinds"]
    kinds: list[Kind] = Field(min_length=2, description="Kinds of rows; shares add up to 1")
    group: int = Field(1, ge=1, le=10**6, description="Rows per group, all of one kind; sizes are multiples of it")

    @model_validator(mode="after")
    def _whole(self) -> "Kinds":
        total = math.fsum(kind.share for kind in self.kinds)
        if abs(total - 1) > 1e-9:
            raise ValueError(f"kinds: shares of {total:.9g} in all are not valid; expected 1")
        return self

    def values(self) -> row_kinds.Kinds:
        """The kinds as columns of values."""
        times = tuple(kind.times for kind in self.kinds)
        return row_kinds.Kinds(
            shares=tuple(kind.share for kind in self.kinds),
            labels=tuple(str(kind.label) for kind in self.kinds),
            a=tuple(str(kind.a) for kind in self.kinds),
            b=tuple(str(kind.b) for kind in self.kinds),
            group=self.group,
            times=() if {*times} == {1} else times,
        )


#: A value for A and one for B, both between 0 and 1.
Both: TypeAlias = Annotated[list[Annotated[float, Field(gt=0, lt=1)]], Field(min_length=2, max_length=2)]


class Judged(Described):
    """Two models, judged on all rows; people label as many rows as `sizes` states."""

    WORK: ClassVar[type[work.Described]] = judged.JudgedRows

    source: Literal["judged"]
    rows: int = Field(2000, ge=2, le=10**6, description="Rows that the judge sees")
    accuracy: Both = Field(description="Accuracies of A and B as people see them; means of marks")
    sensitivity: Both = Field(description="Share of right answers of A and B that the judge calls right")
    specificity: Both = Field(description="Share of wrong answers of A and B that the judge calls wrong")
    answers: int = Field(1, ge=1, le=1000, description="Dependent answers per item")
    marks: int = Field(1, ge=1, le=1000, description="Highest mark (the lowest is 0); 1 means right or wrong")
    same: float = Field(0.0, ge=0, lt=1, description="Share of items on which B gives the answer of A")


Shares = Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=2, max_length=1000)]


class Tasks(Described):
    """Two models on several tasks, on some of which B is worse."""

    WORK: ClassVar[type[work.Described]] = task_rows.TaskRows

    source: Literal["tasks"]
    shares: Shares = Field(description="Relative numbers of rows of the tasks")
    discordant: list[Annotated[float, Field(ge=0, le=1)]] = Field(description="Share of discordant rows of each task")
    worse: list[Annotated[float, Field(ge=-1, le=1)]] = Field(
        description="Relative loss of B on each task; negative if it is better"
    )
    errors: float = Field(
        3.0, gt=0, le=100, description="Size of the loss in standard errors, on all rows of the tasks where B is worse"
    )

    @model_validator(mode="after")
    def _of_each(self) -> "Tasks":
        for name in ("discordant", "worse"):
            if len(getattr(self, name)) != len(self.shares):
                raise ValueError(
                    f"{name}: {len(getattr(self, name))} values are not valid; expected {len(self.shares)}, as shares"
                )
        return self


class TimeSeries(Described):
    """Scores of two models, ordered in time; the differences of rows have variance 1."""

    WORK: ClassVar[type[work.Described]] = series.Series

    source: Literal["time-series"]
    correlation: float = Field(gt=-1, lt=1, description="Autocorrelation of the differences of neighbouring rows")
    difference: float = Field(0.0, ge=-10, le=10, description="Mean score of B minus that of A")


Spread = Annotated[float, Field(ge=0, le=10)]


class Votes(Described):
    """Votes between two of several models of known strengths; `sizes` counts votes."""

    WORK: ClassVar[type[work.Described]] = votes.Votes

    source: Literal["votes"]
    strengths: list[Annotated[float, Field(ge=-20, le=20)]] = Field(
        min_length=2, max_length=1000, description="Strength of each model; differences are log odds"
    )
    voters: int = Field(40, ge=2, le=10**6, description="Number of voters")
    items: int = Field(80, ge=2, le=10**6, description="Number of items")
    voter_sd: Spread = Field(0.0, description="Standard deviation of voters' effects on strengths")
    item_sd: Spread = Field(0.0, description="Standard deviation of items' effects on strengths")
    ties: float = Field(0.0, ge=0, lt=1, description="Share of ties")
    dissenters: float = Field(
        0.0, ge=0, le=0.5, description="Share of voters who prefer the later model with 95%; the others balance them"
    )
