"""Votes between two of several models at a time."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from sigstats.tasks import work
from sigstats.tasks.record import record

from ...running.options import Progress
from ._source import LoadedSource, PopulationSource, PopulationSpec, Tests

Spread = Annotated[float, Field(ge=0, le=10)]


class Votes(PopulationSource):
    """Models of known strengths, two of which meet in each vote, as many as the sizes of the study say."""

    source: Literal["votes"]
    strengths: Annotated[
        list[Annotated[float, Field(ge=-20, le=20)]],
        Field(min_length=2, max_length=1000, description="The strength of each model: differences are log odds"),
    ]
    voters: Annotated[int, Field(ge=2, le=10**6, description="The number of voters")] = 40
    items: Annotated[int, Field(ge=2, le=10**6, description="The number of items")] = 80
    voter_sd: Annotated[
        Spread, Field(description="The standard deviation of what a voter adds to the strength of a model")
    ] = 0.0
    item_sd: Annotated[
        Spread, Field(description="The standard deviation of what an item adds to the strength of a model")
    ] = 0.0
    ties: Annotated[float, Field(ge=0, lt=1, description="The share of votes that are ties")] = 0.0

    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:  # noqa: ARG002
        """One population."""
        values = record(work.Votes, self.model_dump(exclude={"source", "name"}))
        return LoadedSource(populations=[PopulationSpec(slice=None, values=values, rows=None)])
