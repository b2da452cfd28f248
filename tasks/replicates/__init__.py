"""The fan-outs by name: how a block of replicates is computed. A new fan-out is one new module of this folder.

What a module offers is stated in `sigstats.tasks.fan_out`. The modules of this folder know those of it that they use,
never this registry.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Unpack

from sigstats._common.registry import Registry

from ..fan_out import (
    CountsRejections,
    DrawsTestSets,
    FanOut,
    HasExceedances,
    HasObservedCell,
    HasRevisions,
    HasStandIn,
    OfCell,
    ReadsCells,
    RunsOwnCode,
    new_cell,
)
from ..plan import Cell
from ..storage.store import Store

REGISTRY = Registry(
    __name__,
    FanOut,
    what="fan-out",
    optional=(
        ReadsCells,
        HasStandIn,
        HasExceedances,
        CountsRejections,
        DrawsTestSets,
        HasObservedCell,
        HasRevisions,
        RunsOwnCode,
    ),
)


def fanout(name: str) -> FanOut:
    """The module of a fan-out."""
    return REGISTRY.module(name)


def input_cells(cell: Cell) -> list[Cell]:
    """The cells whose replicates the computation of `cell` reads."""
    module = fanout(cell.fanout)
    return module.needs(cell.work) if isinstance(module, ReadsCells) else []


def stand_in(cell: Cell, store: Store) -> Cell | None:
    """`cell` if it reads no other, or a cell that takes about as long and reads none; None if there is none."""
    if not input_cells(cell):
        return cell
    module = fanout(cell.fanout)
    work = module.stand_in(cell.work, store) if isinstance(module, HasStandIn) else None
    return None if work is None else replace(cell, work=work)


def observed_cell(cell: Cell) -> Cell | None:
    """The cell of the observed result of `cell`; None if its replicates hold the comparison themselves."""
    module = fanout(cell.fanout)
    return module.observed(cell) if isinstance(module, HasObservedCell) else None


def own_code(cell: Cell) -> Mapping[str, str] | None:
    """What identifies the code of other packages that `cell` runs; None if it runs none."""
    module = fanout(cell.fanout)
    return module.own_code(cell.work) if isinstance(module, RunsOwnCode) else None


def prerequisites(cell: Cell) -> list[Cell]:
    """The cells that must be complete before `cell` is computed: its inputs, and what its rule compares with."""
    observed = None if cell.stopping is None else observed_cell(cell)
    return [*input_cells(cell), *([] if observed is None else [observed])]


def waves(cells: Sequence[Cell]) -> list[list[Cell]]:
    """The cells in groups, in their order: the prerequisites of a group are in the groups before it."""

    def level(cell: Cell) -> int:
        return max((level(before) + 1 for before in prerequisites(cell)), default=0)

    levels = [level(cell) for cell in cells]
    return [[cell for cell, own in zip(cells, levels, strict=True) if own == each] for each in sorted(set(levels))]


def cell(name: str, **of: Unpack[OfCell]) -> Cell:
    """A cell of the fan-out `name`."""
    return new_cell(name, fanout(name), **of)
