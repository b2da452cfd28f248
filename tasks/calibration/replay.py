"""Replays of single test sets of a calibration study: the rows of a test set, and the answer of each test.

A test set depends only on the seed, the population, the size and its number. It can therefore be drawn again from its
part of the random stream. The answers are computed again and compared with the stored ones.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from ..engine.blocks import Failure, failure
from ..engine.guarded import run_guarded
from ..fan_out import fanout, input_cells, own_code
from ..plan import Block, Cell
from ..process import threads
from ..results import Results
from ..storage.seal import Damaged
from ..storage.store import Store
from .rejections import with_rows

#: Time limit in seconds for a call of a test from another package, if the study sets no ``time_limit``.
CALL_SECONDS = 60.0


@dataclass(frozen=True)
class Replay:
    """A test set and the answer of one test."""

    #: The cell that applies the test to test sets of one size.
    cell: Cell
    #: The rows of the test set, or its distinct rows with their counts.
    rows: pa.Table
    #: The computed answer, with the columns of the cell's replicates, or None if the test fails.
    answer: Mapping[str, Any] | None
    #: The error of the test, or how its process ended, or None if the test gave an answer.
    problem: str | None
    #: The stored answer, or None if the test set was not drawn or its replicates are missing.
    stored: Mapping[str, Any] | None

    @property
    def same(self) -> bool:
        """True if the computed answer equals the stored answer to the last bit."""
        if self.stored is None or self.answer is None:
            return False
        return repr(dict(self.stored)) == repr(dict(self.answer))


def can_replay(cell: Cell) -> bool:
    """Return True if the replicates of a cell are answers on test sets."""
    return fanout(with_rows(cell).fanout).drawn_rows is not None


def replay(results: Results, cell: Cell, trial: int) -> Replay:
    """Draw a test set again and apply the test of a cell to it. A test from another package runs in its own process.

    Raises LookupError if replicates that the cell reads are missing, or if another version of the test computed the
    stored replicates. Raises Damaged if stored replicates of the cell cannot be used.
    """
    cell = with_rows(cell)
    fan_out = fanout(cell.fanout)
    version, drawn_rows = fan_out.version + fan_out.revision(cell.work), fan_out.drawn_rows
    assert drawn_rows is not None
    if cell.version != version:
        raise LookupError(f"{cell.name} has version {cell.version} of this test, not {version}; run the study again")
    for before in input_cells(cell):
        if results.table(before) is None:
            raise LookupError(f"{before.name} is incomplete; run the study again to complete it")
    table = results.table(cell)
    if table is None and (damaged := results.store.find(cell).damaged):
        raise Damaged(damaged[0])
    stored = None if table is None or trial >= table.num_rows else table.slice(trial, 1).to_pylist()[0]
    lane = trial // cell.lane_size
    limits = {"time_limit": CALL_SECONDS, **(cell.limits or {})}  # they only limit code from other packages
    block = replace(cell, limits=limits).block(lane, lane + 1)
    with threads(1):
        computed = _compute(block, results.store)
        rows = drawn_rows(block, results.store, trial - block.first)
    if isinstance(computed, Failure):
        return Replay(cell, rows, None, f"{computed.error}: {computed.message}", stored)
    return Replay(cell, rows, computed.slice(trial - block.first, 1).to_pylist()[0], None, stored)


def _compute(block: Block, store: Store) -> pa.Table | Failure:
    """Return the replicates of a block, or the error of its test, without writing to the store."""
    if own_code(block.cell):
        with tempfile.TemporaryDirectory(prefix="sigstats-replay-") as folder:
            outcome = run_guarded(block, _Aside(store.root, folder))
            if isinstance(outcome, Failure):
                return outcome
            return Store(folder).read_block(block.cell, block.first, block.last)
    try:
        return fanout(block.cell.fanout).compute(block, store, block.cell.work)
    except (Damaged, OSError):
        raise
    except Exception as error:  # as in a run, the error only fails this test
        return failure(block, error)


class _Aside(Store):
    """A store that is only read. Blocks are written to another folder."""

    def __init__(self, root: str, folder: str) -> None:
        super().__init__(root)
        self._folder = folder

    def write_block(self, cell: Cell, first: int, last: int, table: pa.Table) -> bytes:
        """Write a block to the other folder."""
        return Store(self._folder).write_block(cell, first, last, table)
