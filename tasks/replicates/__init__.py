"""The fan-outs: what one block computes. A new fan-out is one new module of this folder.

A module may offer more than `FanOut` asks for: one that `ReadsCells` reads what other cells have computed, one that is
`Counted` has replicates that are counted against what was observed, and one that is `Compared` finds what was observed
in another cell.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.registry import Registry

from ..plan import Block, Cell
from ..storage.store import Store


class FanOut(Protocol):
    """What a module of this folder offers."""

    @property
    def VERSION(self) -> int:  # noqa: N802
        """Raised whenever equal values would give other replicates."""

    @property
    def LANE_SIZE(self) -> int:  # noqa: N802
        """How many replicates share one random stream."""

    @property
    def SCHEMA(self) -> pa.Schema:  # noqa: N802
        """The columns of its replicates, the first of which is ``replicate``."""

    def stream(self, work: Mapping[str, Any], /) -> dict[str, Any]:
        """What the random stream is keyed by."""

    def compute(self, block: Block, store: Store, /) -> pa.Table:
        """The table of the block's replicates, in order."""


@runtime_checkable
class ReadsCells(Protocol):
    """A fan-out that reads what other cells have computed."""

    def needs(self, work: Mapping[str, Any], /) -> list[Cell]:
        """These cells, which are computed before."""


@runtime_checkable
class Counted(Protocol):
    """A fan-out whose replicates are counted against what was observed."""

    def exceeds(self, table: pa.Table, observed: Any, /) -> NDArray[np.bool_]:
        """Which replicates of a table are at least as extreme as `observed`: a table, or None without `observed`."""


@runtime_checkable
class Compared(Protocol):
    """A counted fan-out that finds what was observed in another cell."""

    def observed(self, cell: Cell, /) -> Cell:
        """The cell whose table is what was observed."""


REGISTRY = Registry(__name__, FanOut, what="fan-out", optional=(ReadsCells, Counted, Compared))


def fanout(name: str) -> FanOut:
    """The module of a fan-out."""
    return REGISTRY.module(name)


def read_by(cell: Cell) -> list[Cell]:
    """The cells whose replicates the computation of `cell` reads."""
    module = fanout(cell.fanout)
    return module.needs(cell.work) if isinstance(module, ReadsCells) else []


def observed_cell(cell: Cell) -> Cell | None:
    """The cell with which the replicates of `cell` are compared; None where they hold all that is needed."""
    module = fanout(cell.fanout)
    return module.observed(cell) if isinstance(module, Compared) else None


def needed(cell: Cell) -> list[Cell]:
    """The cells that must be complete before `cell` is computed: those it reads, and what its rule compares with."""
    compared = None if cell.stopping is None else observed_cell(cell)
    return [*read_by(cell), *([] if compared is None else [compared])]


def waves(cells: Sequence[Cell]) -> list[list[Cell]]:
    """The cells in groups, each of which needs none but those of groups before it; in their order otherwise."""

    def level(cell: Cell) -> int:
        return max((level(before) + 1 for before in needed(cell)), default=0)

    levels = [level(cell) for cell in cells]
    return [[cell for cell, own in zip(cells, levels, strict=True) if own == each] for each in sorted(set(levels))]


def cell(
    name: str,
    *,
    subject: Mapping[str, str],
    work: Mapping[str, Any],
    seed: int,
    replicates: int,
    stopping: Mapping[str, Any] | None = None,
) -> Cell:
    """A cell of the fan-out `name`."""
    module = fanout(name)
    return Cell(
        fanout=name,
        version=module.VERSION,
        subject=subject,
        work=work,
        stream=module.stream(work),
        seed=seed,
        replicates=replicates,
        lane_size=module.LANE_SIZE,
        stopping=stopping,
    )
