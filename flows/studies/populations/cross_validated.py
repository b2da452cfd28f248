"""Learners that are retrained on many samples of a population, and compared by cross-validation (Sturm's question)."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from sigstats.flows.config.model import Options
from sigstats.tasks.record import Learner, Scheme, TwoViews

from ...running.options import Progress
from ._source import LoadedSource, PopulationSource, PopulationSpec, Retrained, Tests

Distance = Annotated[float, Field(ge=0, le=100)]


class CrossValidated(PopulationSource):
    """One learner on two halves of the features of two normal classes, cross-validated on each sample."""

    source: Literal["cross-validated"]
    learner: Annotated[
        str, Field(min_length=1, description="A ready learner, or the import path of a scikit-learn classifier")
    ] = "naive-bayes"
    params: Annotated[Options, Field(default_factory=dict, description="The parameters of the classifier")]
    features: Annotated[int, Field(ge=1, le=1000, description="The features that A sees; B sees as many others")] = 5
    separation: Annotated[
        list[Distance],
        Field(
            min_length=1,
            description="How far apart the means of the two classes are for A, in standard deviations: the best "
            "accuracy is Phi(separation / 2)",
        ),
    ]
    difference: Annotated[
        list[Distance],
        Field(min_length=1, default_factory=lambda: [0.0], description="By how much further apart they are for B"),
    ]
    folds: Annotated[int, Field(ge=2, le=1000, description="The number of stratified folds")] = 10
    repeats: Annotated[
        list[Annotated[int, Field(ge=1, le=1000)]],
        Field(
            min_length=1,
            default_factory=lambda: [1],
            description="How often each sample is cross-validated, with other folds",
        ),
    ]

    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:  # noqa: ARG002
        """One population for each separation, difference and number of repetitions."""
        from sigstats.learners import build  # slow to import, for studies that train nothing too

        build(self.learner, params=self.params, missing=False)  # refuses an unknown learner or parameter
        return LoadedSource(populations=list(self._populations()))

    def _populations(self) -> Iterator[PopulationSpec]:
        for separation, difference, repeats in product(self.separation, self.difference, self.repeats):
            rows = f"separation = {separation:g}, difference = {difference:g}"
            yield PopulationSpec(
                slice=f"{rows}, {repeats} x {self.folds} folds",
                values=TwoViews(features=self.features, separation=separation, difference=difference),
                rows=None,
                factors={"separation": separation, "difference": difference, "repeats": repeats},
                retrained=Retrained(
                    rows=rows,
                    learner=Learner(learner=self.learner, params=self.params),
                    scheme=Scheme(folds=self.folds, repeats=repeats),
                ),
            )
