"""A grid of simulated populations: two classifiers by prevalence, recall, precision, difference and dependence."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from sigstats.tasks.populations.two_classifiers import two_classifiers

from ...running.prepared import Progress
from ._source import LoadedSource, PopulationSource, PopulationSpec, Tests, counted_population

Share = Annotated[float, Field(gt=0, lt=1)]
Probability = Annotated[float, Field(gt=0, le=1)]

#: What may vary, from the outside of a nested-loop plot to its inside.
FACTORS = ("recall", "precision", "dependence", "difference", "prevalence")


class Simulated(PopulationSource):
    """Two classifiers of two classes whose joint outcomes have given probabilities: all combinations of the lists."""

    source: Literal["simulated"]
    prevalence: Annotated[list[Share], Field(min_length=1, description="The shares of rows that are truly positive")]
    recall: Annotated[list[Probability], Field(min_length=1, description="Of A")]
    precision: Annotated[list[Probability], Field(min_length=1, description="Of A")]
    difference: Annotated[
        list[Annotated[float, Field(gt=-1, lt=1)]],
        Field(
            min_length=1,
            default_factory=lambda: [0.0],
            description="By how much recall and precision of B are higher; where both are equal, so is F1",
        ),
    ]
    dependence: Annotated[
        list[Annotated[float, Field(ge=0, le=1)]],
        Field(
            min_length=1,
            default_factory=lambda: [0.5],
            description="How much their errors coincide: 0 independent, 1 the rarer one never without the other",
        ),
    ]

    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:  # noqa: ARG002
        """One population for each combination."""
        return LoadedSource(populations=list(self._populations()))

    def _populations(self) -> Iterator[PopulationSpec]:
        lists = {name: getattr(self, name) for name in FACTORS}
        varied = [name for name in FACTORS if len(lists[name]) > 1]
        for values in product(*lists.values()):
            factors = dict(zip(lists, values, strict=True))
            label = ", ".join(f"{name} = {factors[name]:g}" for name in varied) or None
            found = counted_population(label, two_classifiers(**factors))
            yield replace(found, factors=factors)


SOURCE = Simulated
