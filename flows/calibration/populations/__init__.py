"""The interface of the sources of populations from which a calibration study draws test sets."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import Field

from sigstats.tasks.calibration.population import Population
from sigstats.tasks.calibration.populations.tests import AnyPopulation
from sigstats.tasks.calibration.work import AppliedTest, DrawnFrom, Events, ScoredRows
from sigstats.tasks.record import Learner, Named, Scheme, TwoViews
from sigstats.tasks.storage.data import StoredData

from ...config.model import Strict
from ...running.options import Progress

Name = Annotated[str, Field(min_length=1, max_length=40, description="Name in the results")]

Tests: TypeAlias = Collection[AppliedTest]


@dataclass(frozen=True, kw_only=True)
class PopulationSpec:
    """A population, as cells draw test sets from it."""

    #: The name among the populations of one source.
    slice: str | None
    #: Description in the work of a cell.
    values: DrawnFrom | TwoViews
    #: The number of rows; None if it is endless.
    rows: int | None
    #: None if it is not known before classifiers are trained, or of scores.
    population: AnyPopulation | None = None
    grouped: bool = False
    #: Values that it was made of, if populations are a grid.
    factors: Mapping[str, float] = field(default_factory=dict)
    #: Options of learners that are retrained on each sample.
    retrained: "Retrained | None" = None

    @property
    def scored(self) -> bool:
        """True for a population of scores, False for one of predictions."""
        return isinstance(self.values, ScoredRows)


@dataclass(frozen=True, kw_only=True)
class Retrained:
    """Settings of retraining learners on each sample of a population."""

    learner: Learner
    scheme: Scheme
    #: The name of the population without the scheme.
    rows: str


@dataclass(frozen=True, kw_only=True)
class LoadedSource:
    """The populations of a source, and the data that they are read from."""

    populations: Sequence[PopulationSpec]
    #: Data that cells read.
    data: Sequence[StoredData] = ()
    #: A note on it, one line.
    note: str = ""


class PopulationSource(Strict):
    """A source of populations, as a study file describes it."""

    source: str
    name: Name

    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:  # noqa: ARG002
        """Return the populations of the source; relative paths start at `base`. By default nothing is read.

        Raises ValueError, one line with the option, the value and a correct value.
        """
        return LoadedSource(populations=list(self.populations()))

    def populations(self) -> Iterable[PopulationSpec]:
        """Return the populations, in the order of the results, of a source that reads nothing."""
        raise NotImplementedError


def counted_population(slice_: str | None, population: AnyPopulation) -> PopulationSpec:
    """Return a population whose outcomes, or events, are counted."""
    values: Population | Events
    if isinstance(population, Population):
        values = population
    else:
        stored = Named(name=population.name, digest=population.digest())
        values = Events(events=stored, endless=population.endless, swapped=population.swapped)
    return PopulationSpec(slice=slice_, values=values, rows=population.rows, population=population)
