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
from sigstats.tasks.storage.data import StoredData

Name = Annotated[str, Field(min_length=1, max_length=40, description="Its name in the results")]

#: The options of each test of a study.
Tests: TypeAlias = Collection[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class PopulationSpec:
    """A population, as cells draw test sets from it.

    Attributes
    ----------
    slice : str or None
        Its name among those of one source.
    values : mapping
        What the work of a cell says of it.
    rows : int or None
        How many rows there are; None if it is endless.
    population : Population or None
        None if it is not known before classifiers are trained, or of scores.
    scored : bool
        Whether it is of scores, not of predictions.
    grouped : bool
        Whether its rows come in groups.
    factors : mapping of str to float
        What it was made of, where populations are a grid.
    retrained : mapping or None
        Where learners are retrained on each sample: the ``learner``, the ``scheme`` of
        cross-validation, and what the ``rows`` are without it.
    """

    slice: str | None
    values: Mapping[str, Any]
    rows: int | None
    population: AnyPopulation | None = None
    scored: bool = False
    grouped: bool = False
    factors: Mapping[str, float] = field(default_factory=dict)
    retrained: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class LoadedSource:
    """What a source gives.

    Attributes
    ----------
    populations : sequence of PopulationSpec
    cells : sequence of Cell
        The cells that compute them, where they are not known yet.
    data : sequence of StoredData
        What these cells read.
    note : str
        What a person should know of it, one line.
    """

    populations: Sequence[PopulationSpec]
    cells: Sequence[Cell] = ()
    data: Sequence[StoredData] = ()
    note: str = ""


class PopulationSource(Strict):
    """A source of populations, as a study file describes it."""

    source: str
    name: Name

    @abstractmethod
    def load(self, base: Path, seed: int, *, tests: Tests, progress: Progress) -> LoadedSource:
        """The populations of the source; relative paths start at `base`.

        Raises
        ------
        ValueError
            One line that names the option, the value and what would be right.
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
