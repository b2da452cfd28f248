"""The fan-outs of cells by name: how one block of the replicates of a cell is computed.

A fan-out is a module of the folder of a kind of study, imported on first use. It has the members of `FanOut`, and
optionally these functions:

- ``WORK``: the record of its work; without it, replicates depend only on the seed.
- ``IN_WORDS``: a phrase for its replicates; the name of the fan-out by default.
- ``COMPILES``: present if Numba compiles its code.
- ``LIKE``: the fan-out that does the same work, if there is one.
- ``needs(work)``: the cells whose replicates it reads; these are computed first.
- ``stand_in(work, store)``: work of about the same duration that reads no other cell, for timing before other cells
  exist; None if impossible. The store has the study's data sets, and may be written to.
- ``observed(cell)``: the cell that computes the observed result.
- ``exceeds(table, observed)``: a mask of the replicates that are at least as extreme as the table of the observed
  cell (None for a fan-out without an observed cell).
- ``rejections(table, alpha)``: a mask of the replicates that are rejections at a level, or misses of an interval;
  their number in each row if a row represents several replicates.
- ``drawn_rows(block, store, index)``: the rows of a test set of the first lane of a block, or distinct rows with their
  ``count``, if replicates are results of a test on test sets that can be drawn again.
- ``beside_others(work)``: True for work that enters `sigstats.tasks.threads.alone` only when necessary; all other work
  runs inside it.
- ``revision(work)``: a number that grows whenever the replicates of this work change while those of other work do
  not.
- ``own_code(work)``: for work that runs code of other packages, the ``learner`` and the identity of that code; None for
  other work.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NotRequired, Protocol, TypedDict, Unpack

import numpy as np
import pyarrow as pa

from .plan import Block, Cell
from .record import Work, plain
from .schema import from_numpy
from .storage.store import Store

#: The module of each fan-out.
FAN_OUTS = {
    "categorise": "sigstats.tasks.calibration.categorise",
    "count": "sigstats.tasks.calibration.count",
    "cross-validate": "sigstats.tasks.calibration.cross_validate",
    "crossval": "sigstats.tasks.benchmark.crossval",
    "evaluate": "sigstats.tasks.significance.evaluate",
    "fold-test": "sigstats.tasks.calibration.fold_test",
    "interval": "sigstats.tasks.calibration.interval",
    "measured": "sigstats.tasks.benchmark.measured",
    "measured-retrain": "sigstats.tasks.benchmark.measured_retrain",
    "own-test": "sigstats.tasks.calibration.own_test",
    "predict": "sigstats.tasks.calibration.predict",
    "repetition": "sigstats.tasks.benchmark.repetition",
    "replicate": "sigstats.tasks.significance.replicate",
    "retrain": "sigstats.tasks.benchmark.retrain",
    "scores": "sigstats.tasks.benchmark.scores",
    "subsample": "sigstats.tasks.calibration.subsample",
    "tally": "sigstats.tasks.calibration.tally",
    "tune": "sigstats.tasks.calibration.tune",
}


class FanOut(Protocol):
    """The members of every fan-out."""

    @property
    def VERSION(self) -> int:  # noqa: N802
        """Raised whenever equal values would give other replicates."""

    @property
    def LANE_SIZE(self) -> int:  # noqa: N802
        """Number of replicates that share one random stream."""

    @property
    def SCHEMA(self) -> pa.Schema:  # noqa: N802
        """The columns of its replicates, the first of which is ``replicate``."""

    def stream(self, work: Any, /) -> dict[str, Any]:
        """The key of the random stream."""

    def compute(self, block: Block, store: Store, work: Any, /) -> pa.Table:
        """The table of the block's replicates, in order."""


class OfCell(TypedDict):
    """The description of a cell besides its fan-out; as in `sigstats.tasks.plan.Cell`."""

    subject: Mapping[str, str]
    work: Work
    seed: int
    replicates: int
    stopping: NotRequired[Mapping[str, Any] | None]
    limits: NotRequired[Mapping[str, float] | None]


def draws_nothing(work: Any) -> dict[str, Any]:  # noqa: ARG001
    """The ``stream`` of a fan-out that draws no random numbers, or by seeds in its work."""
    return {"draws": "none"}


def replicates_table(block: Block, schema: pa.Schema, **columns: Any) -> pa.Table:
    """The table of a block with a row a replicate, which are numbered here."""
    numbered: dict[str, Any] = {"replicate": np.arange(block.first, block.last, dtype=np.int64), **columns}
    return pa.table(
        {name: from_numpy(values, schema.field(name).type) for name, values in numbered.items()}, schema=schema
    )


def fanout(name: str) -> FanOut:
    """The module of a fan-out."""
    module: Any = importlib.import_module(FAN_OUTS[name])
    return module  # type: ignore[no-any-return]


def offered(fan_out: FanOut, name: str) -> Callable[..., Any] | None:
    """A function that a fan-out may have; None if it does not."""
    return getattr(fan_out, name, None)


def work_type(name: str) -> type[Work]:
    """The record of the work of a fan-out; `Work` if the fan-out is not known."""
    return getattr(fanout(name), "WORK", Work) if name in FAN_OUTS else Work


def version_of(fan_out: FanOut, work: Any) -> int:
    """The version of the replicates of this work."""
    revision = offered(fan_out, "revision")
    return fan_out.VERSION + (0 if revision is None else revision(work))


def cell(name: str, **of: Unpack[OfCell]) -> Cell:
    """A cell of the fan-out `name`."""
    fan_out, work = fanout(name), of["work"]
    version, stream = version_of(fan_out, work), plain(fan_out.stream(work))
    return Cell(fanout=name, version=version, stream=stream, lane_size=fan_out.LANE_SIZE, **of)


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
    """The identity of the code of other packages that `cell` runs; None if it runs none."""
    code = offered(fanout(cell.fanout), "own_code")
    return None if code is None else code(cell.work)


def beside_others(cell: Cell) -> bool:
    """True if several threads of a process may compute blocks of `cell`, or of it and of other such cells, at once."""
    beside = offered(fanout(cell.fanout), "beside_others")
    return beside is not None and beside(cell.work)


def compiles(cell: Cell) -> bool:
    """True if Numba compiles what `cell` runs, where it has not done so before."""
    return offered(fanout(cell.fanout), "COMPILES") is not None


def in_words(cell: Cell) -> str:
    """What the replicates of `cell` are."""
    return getattr(fanout(cell.fanout), "IN_WORDS", cell.fanout)


def counts_as(cell: Cell) -> str:
    """The fan-out whose replicates take as long as those of `cell`."""
    return getattr(fanout(cell.fanout), "LIKE", cell.fanout)


def prerequisites(cell: Cell) -> list[Cell]:
    """The cells that must be complete before `cell` is computed: its inputs, and those that its rule compares with."""
    observed = None if cell.stopping is None else observed_cell(cell)
    return [*input_cells(cell), *([] if observed is None else [observed])]
