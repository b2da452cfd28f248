"""Simulated systems (Sturm)."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from sigstats.tasks.populations.population import random_classifiers

from ...running.options import Progress
from ._source import LoadedSource, PopulationSource, Tests, counted_population


class Sturm(PopulationSource):
    """Two simulated systems: I assigns random classes, II is right for a part of the rows and random otherwise."""

    source: Literal["sturm"]
    classes: Annotated[int, Field(ge=2, le=10**6, description="The number of classes, equally likely")] = 10
    right: Annotated[
        list[Annotated[float, Field(ge=0, le=1)]],
        Field(min_length=1, description="For which parts of the rows system II is made to be right, r"),
    ]

    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:  # noqa: ARG002
        """One population for each r."""
        return LoadedSource(
            populations=[
                counted_population(f"r = {100 * r:g}%", random_classifiers(self.classes, r)) for r in self.right
            ]
        )
