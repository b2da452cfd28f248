"""The fan-outs by name: how a block of replicates is computed. A new fan-out is one new module of this folder.

What a module offers is stated in `sigstats.tasks.fan_out`. The modules of this folder know those of it that they use,
never this registry.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Unpack

from sigstats._common.registry import Registry

from ..fan_out import FanOut, OfCell, Offers, new_cell, offered
from ..plan import Cell
from ..storage.store import Store

REGISTRY = Registry(__name__, FanOut, what="fan-out", optional=Offers)


def fanout(name: str) -> FanOut:
    """The module of a fan-out."""
    return REGISTRY.module(name)


def input_cells(cell: Cell) -> list[Cell]:
    """The cells whose replicates the computation of `cell` reads."""
    needs = offered(fanout(cell.fanout), "needs")
    return [] if needs is None else needs(cell.work)


def stand_in(cell: Cell, store: Store) -> Cell | None:
    """`cell` if it reads no other, or a cell that takes about as long and reads none; None if there is none."""
    if not input_cells(cell):
        return cell
    made = offered(fanout(cell.fanout), "stand_in")
    work = None if made is None else made(cell.work, store)
    return None if work is None else replace(cell, work=work)


def observed_cell(cell: Cell) -> Cell | None:
    """The cell of the observed result of `cell`; None if its replicates hold the comparison themselves."""
    observed = offered(fanout(cell.fanout), "observed")
    return None if observed is None else observed(cell)


def own_code(cell: Cell) -> Mapping[str, str] | None:
    """What identifies the code of other packages that `cell` runs; None if it runs none."""
    code = offered(fanout(cell.fanout), "own_code")
    return None if code is None else code(cell.work)


def beside_others(cell: Cell) -> bool:
    """True if several threads of a process may compute blocks of `cell`, or of it and of other such cells, at once."""
    beside = offered(fanout(cell.fanout), "beside_others")
    return beside is not None and beside(cell.work)


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
