"""What every source of populations has, and what it gives."""

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from sigstats.flows.config.model import Strict
from sigstats.flows.running.prepared import Progress
from sigstats.tasks.plan import Cell
from sigstats.tasks.populations.population import Population
from sigstats.tasks.populations.tests import AnyPopulation
from sigstats.tasks.storage.store import StoredData

Name = Annotated[str, Field(min_length=1, max_length=40, description="Its name in the results")]

#: The options of each test of a study.
Tests: TypeAlias = Collection[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class PopulationSpec:
    """A population, as cells draw test sets from it."""

    #: Its name among those of one source.
    slice: str | None
    #: What the work of a cell says of it.
    values: Mapping[str, Any]
    #: How many rows there are; None if it is endless.
    rows: int | None
    #: None if it is not known before classifiers are trained, or of scores.
    population: AnyPopulation | None = None
    #: Whether it is of scores, not of predictions.
    scored: bool = False
    #: Whether its rows come in groups.
    grouped: bool = False
    #: What it was made of, where populations are a grid.
    factors: Mapping[str, float] = field(default_factory=dict)
    #: Where learners are retrained on each sample: the ``learner``, the ``scheme`` of cross-validation, and what the
    #: ``rows`` are without it.
    retrained: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class LoadedSource:
    """What a source gives."""

    populations: Sequence[PopulationSpec]
    #: The cells that compute them, where they are not known yet.
    cells: Sequence[Cell] = ()
    #: What these cells read.
    data: Sequence[StoredData] = ()
    #: What a person should know of it, one line.
    note: str = ""


class PopulationSource(Strict):
    """A source of populations, as a study file describes it."""

    source: str
    name: Name

    @abstractmethod
    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:
        """The populations of the source; relative paths start at `base`.

        Raises ValueError, one line that names the option, the value and what would be right.
        """


def counted_population(slice_: str | None, population: Population) -> PopulationSpec:
    """A population whose outcomes are counted."""
    values = asdict(population) | {"outcomes": list(population.outcomes)}
    return PopulationSpec(slice=slice_, values=values, rows=population.rows, population=population)


def about(source: Cell) -> dict[str, Any]:
    """What the work of a cell says of another that it reads."""
    return {
        "fanout": source.fanout,
        "subject": dict(source.subject),
        "work": dict(source.work),
        "seed": source.seed,
        "replicates": source.replicates,
    }
