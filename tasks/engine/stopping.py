"""The number of replicates that a cell needs: all, or only those up to the point where its stopping rule ends it.

A rule is applied to the replicates in order, beginning with the first. Its stop is therefore part of the result: it
depends neither on the order in which blocks are computed, nor on later blocks that are already computed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats.sequential.joint_rule import JointRule, JointStop
from sigstats.sequential.precision_rules import PrecisionRule

from ..fan_out import fanout, observed_cell
from ..plan import Cell, group_by
from ..storage.store import Store


def _counted_by(cell: Cell) -> Callable[[pa.Table, pa.Table | None], Any] | None:
    """Return the criterion by which a cell's rule counts replicates: at least as extreme as observed, or rejections."""
    fan_out, rule = fanout(cell.fanout), cell.rule
    rejections = fan_out.rejections
    if rejections is not None and isinstance(rule, PrecisionRule):
        return lambda table, observed: rejections(table, rule.alpha)
    return fan_out.exceeds


def exceeds(cell: Cell, table: pa.Table, observed: pa.Table | None) -> NDArray[Any]:
    """Return a mask of the replicates of `table` that a cell's rule counts, or numbers if rows combine several."""
    counts = _counted_by(cell)
    if counts is None:
        raise TypeError(f"the replicates of {cell.fanout} are not compared with an observed result")
    flags: NDArray[Any] = counts(table, observed)
    return flags


def exceedances(cell: Cell, table: pa.Table, store: Store) -> int | None:
    """Return the number of replicates of `table` that the rule of a cell counts, or None if it is not known yet."""
    flags = None if _counted_by(cell) is None else _flags(cell, table, store)
    return None if flags is None else int(flags.sum())


def _flags(cell: Cell, table: pa.Table, store: Store) -> NDArray[np.bool_] | None:
    """Return the mask of `exceeds`, or None if the observed result is not stored yet."""
    compared = observed_cell(cell)
    try:
        observed = None if compared is None else _observed(store, compared)
    except (LookupError, OSError):
        return None
    return exceeds(cell, table, observed)


@lru_cache(maxsize=16)
def _observed(store: Store, cell: Cell) -> pa.Table:
    table = store.read_prefix(cell)
    if table is None:
        raise LookupError(cell.name)
    return table


def joint_ends(cells: Iterable[Cell], store: Store) -> dict[str, JointStop]:
    """Return where each cell that stops together with others would end, by cell name, from the stored replicates."""
    joint = [cell for cell in cells if isinstance(cell.rule, JointRule)]
    ends: dict[str, JointStop] = {}
    for family in group_by(joint, lambda cell: (cell.fanout, cell.subject["null"], cell.rule)).values():
        rule: Any = family[0].rule
        stops = rule.stops([_stored_flags(cell, store) for cell in family])
        ends |= {cell.name: stop for cell, stop in zip(family, stops, strict=True)}
    return ends


def _stored_flags(cell: Cell, store: Store) -> NDArray[np.bool_]:
    """Return the mask of `exceeds` for the leading stored replicates, which may be none."""
    table = store.read_prefix(cell)
    flags = None if table is None else _flags(cell, table, store)
    return np.empty(0, dtype=np.bool_) if flags is None else flags


def for_now(cells: Sequence[Cell], store: Store) -> list[Cell]:
    """Return the cells with the number of replicates that they are known to need so far.

    Cells that stop together need more replicates in each round. While such replicates are missing, the cell has the
    rule ``fixed``; once all are stored, it has no stopping rule.
    """
    ends, now = joint_ends(cells, store), list(cells)
    for position, cell in enumerate(cells):
        if stop := ends.get(cell.name):
            needed = cell.whole_lanes(stop.replicates)
            now[position] = replace(cell, replicates=needed, stopping={"rule": "fixed"} if stop.waits else None)
    return now


class StoppingTracker:
    """Applies the stopping rule of a cell to its replicates while they are computed, in any order.

    Attributes
    ----------
    replicates : int
        The number of replicates that the cell needs: all until the rule stops, then the whole lanes up to the stop.
    """

    def __init__(self, cell: Cell, store: Store, done: Iterable[tuple[int, int]]) -> None:
        self.replicates = cell.replicates
        self._cell = cell
        self._store = store
        compared = None if cell.stopping is None else observed_cell(cell)
        self._observed = None if compared is None else store.read_prefix(compared)
        self._active = cell.stopping is not None and (compared is None) == (self._observed is None)
        #: What `exceeds` returned for the replicates before `_reached`, the first missing one.
        self._flags: NDArray[Any] = np.empty(0, dtype=np.bool_)
        self._reached = 0
        #: For the first replicate of each later file, the replicate after its last.
        self._waiting: dict[int, int] = {}
        for bounds in done:
            self.add(*bounds)

    def add(self, first: int, last: int) -> None:
        """Add the replicates ``first <= replicate < last``, which are stored in one file."""
        if not self._active:
            return
        self._waiting[first] = last
        before = self._reached
        while self._reached in self._waiting:
            table = self._store.read_block(self._cell, self._reached, self._waiting[self._reached])
            self._flags = np.concatenate([self._flags, exceeds(self._cell, table, self._observed)])
            self._reached = self._waiting.pop(self._reached)
        result = self._cell.rule.test(self._flags) if self._reached > before else None
        if result is not None:
            self.replicates = self._cell.whole_lanes(result.n_resamples)
            self._active = False
