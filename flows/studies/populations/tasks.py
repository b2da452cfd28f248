"""Rows of several tasks, on some of which one of two models is worse."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sigstats.tasks.record import record
from sigstats.tasks.work import TaskRows

from ...running.options import Progress
from ._source import LoadedSource, PopulationSource, PopulationSpec, Tests

Shares = Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=2, max_length=1000)]


class Tasks(PopulationSource):
    """Two models on several tasks, B the worse one on some, with as many rows as the sizes of the study say."""

    source: Literal["tasks"]
    shares: Annotated[Shares, Field(description="The rows of each task, or their shares: only the ratios count")]
    discordant: Annotated[
        list[Annotated[float, Field(ge=0, le=1)]],
        Field(description="The share of each task's rows that one model alone gets right"),
    ]
    worse: Annotated[
        list[Annotated[float, Field(ge=-1, le=1)]],
        Field(description="How much worse B is on each task, beside the others; negative where it is better"),
    ]
    errors: Annotated[
        float, Field(gt=0, le=100, description="By how many standard errors, on all rows of the tasks where B is worse")
    ] = 3.0

    @model_validator(mode="after")
    def _of_each(self) -> "Tasks":
        for name in ("discordant", "worse"):
            if len(getattr(self, name)) != len(self.shares):
                raise ValueError(
                    f"{name}: {len(getattr(self, name))} values are not valid; expected {len(self.shares)}, as shares"
                )
        return self

    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:  # noqa: ARG002
        """One population."""
        values = record(TaskRows, self.model_dump(exclude={"source", "name"}))
        return LoadedSource(populations=[PopulationSpec(slice=None, values=values, rows=None)])
