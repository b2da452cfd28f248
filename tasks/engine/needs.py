"""What the blocks of a cell need of a worker, besides one thread."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..plan import Cell


@dataclass(frozen=True)
class Needs:
    """What a classifier or a test of another package needs."""

    #: Memory of its process in bytes; 0 if none is asked for.
    memory: int = 0
    #: The number of threads of its numerical libraries.
    threads: int = 1
    #: GPUs.
    gpu: int = 0
    #: The classifiers or tests that need it, for messages; comparisons of needs ignore it.
    who: str = field(default="", compare=False)

    @classmethod
    def of(cls, cell: Cell) -> "Needs":
        """The needs of a cell's blocks."""
        limits = cell.limits or {}
        return cls(
            memory=int(limits.get("memory", 0)),
            threads=int(limits.get("threads", 1)),
            gpu=int(limits.get("gpu", 0)),
            who=tried(cell) or cell.name,
        )

    @property
    def amounts(self) -> dict[str, int]:
        """The amounts that it asks of a worker, by the names of Dask's resources; empty if any worker suffices."""
        asked = {"memory": self.memory, "threads": self.threads if self.threads > 1 else 0, "gpu": self.gpu}
        return {name: amount for name, amount in asked.items() if amount}

    def __str__(self) -> str:
        """The needs as a study file states them."""
        said = {"memory": f"{self.memory / 2**30:.3g} GiB", "threads": self.threads, "gpu": self.gpu}
        return ", ".join(f"{name} = {said[name]}" for name in self.amounts)


def tried(cell: Cell) -> str:
    """The classifier or the test of a cell, for messages; empty if it has none."""
    return next((f"{kind} {cell.subject[kind]}" for kind in ("classifier", "test") if kind in cell.subject), "")


def needs_of(cells: Iterable[Cell]) -> tuple[Needs, ...]:
    """The different needs of cells, without those that any worker meets."""
    return tuple(dict.fromkeys(_asked(cells)))


def _asked(cells: Iterable[Cell]) -> Iterator[Needs]:
    for cell in cells:
        needs = Needs.of(cell)
        if needs.amounts:
            yield needs
