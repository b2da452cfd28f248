"""The fan-outs: what one block computes. A new fan-out is one new module of this folder.

A module states

``VERSION``
    raised whenever equal values would give other replicates;
``LANE_SIZE``
    how many replicates share one random stream;
``SCHEMA``
    the columns of its replicates, the first of which is ``replicate``;
``stream(work)``
    what the random stream is keyed by;
``compute(block, store)``
    the table of the block's replicates, in order;

where it reads what other cells have computed,

``needs(work)``
    these cells, which are computed before;

and, where its replicates are counted against what was observed,

``exceeds(table, observed)``
    which replicates of a table are at least as extreme as observed;
``observed(cell)``
    the cell whose table is `observed`; without it, `observed` is None.
"""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from ..plan import Cell


def names() -> list[str]:
    """The names of all fan-outs."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))


@cache
def fanout(name: str) -> ModuleType:
    """The module of a fan-out."""
    if name not in names():
        raise ValueError(f"fan-out: {name!r} is not valid; expected one of {', '.join(names())}")
    return importlib.import_module(f"{__name__}.{name}")


def read_by(cell: Cell) -> list[Cell]:
    """The cells whose replicates the computation of `cell` reads."""
    module = fanout(cell.fanout)
    return list(module.needs(cell.work)) if hasattr(module, "needs") else []


def observed_cell(cell: Cell) -> Cell | None:
    """The cell with which the replicates of `cell` are compared; None where they hold all that is needed."""
    module = fanout(cell.fanout)
    found: Cell | None = module.observed(cell) if hasattr(module, "observed") else None
    return found


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
