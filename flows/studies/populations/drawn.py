"""What a source of populations gives, and what its options are made of."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from sigstats.tasks.plan import Cell
from sigstats.tasks.populations.population import Population
from sigstats.tasks.populations.tests import AnyPopulation
from sigstats.tasks.storage.data import StoredData

Name = Annotated[str, Field(min_length=1, max_length=40, description="Its name in the results")]

#: The options of each test of a study.
Tests: TypeAlias = Collection[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A population as cells draw from it.

    Attributes
    ----------
    slice : str or None
        Its name among those of one source.
    values : mapping
        What the work of a cell says of it.
    rows : int or None
        How many rows there are; None where it is endless.
    population : Population or None
        None where it is not known before classifiers are trained, or of scores.
    scored : bool
        Whether it is of scores, not of predictions.
    """

    slice: str | None
    values: Mapping[str, Any]
    rows: int | None
    population: AnyPopulation | None = None
    scored: bool = False


@dataclass(frozen=True, kw_only=True)
class Read:
    """What a source gives: populations, the cells that compute them, the data that these need, and a note."""

    drawn: Sequence[Drawn]
    cells: Sequence[Cell] = ()
    data: Sequence[StoredData] = ()
    note: str = ""


def known(slice_: str | None, population: Population) -> Drawn:
    """A population whose outcomes are counted."""
    values = asdict(population) | {"outcomes": list(population.outcomes)}
    return Drawn(slice=slice_, values=values, rows=population.rows, population=population)


def about(source: Cell) -> dict[str, Any]:
    """What the work of a cell says of another that it reads."""
    return {
        "fanout": source.fanout,
        "subject": dict(source.subject),
        "work": dict(source.work),
        "seed": source.seed,
        "replicates": source.replicates,
    }
