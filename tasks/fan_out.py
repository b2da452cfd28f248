"""The fan-outs by name. A fan-out computes a block of the replicates of a cell.

A fan-out is a `FanOut` in a module of a kind of study, which is imported on first use.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import Any, NotRequired, TypedDict, Unpack

import numpy as np
import pyarrow as pa

from .plan import Block, Cell
from .record import Work, plain
from .schema import from_numpy
from .storage.store import Store

#: The module and the name of each fan-out.
FAN_OUTS = {
    "categorise": "sigstats.tasks.calibration.computed:CATEGORISE",
    "count": "sigstats.tasks.calibration.computed:COUNT",
    "cross-validate": "sigstats.tasks.calibration.folds:CROSS_VALIDATE",
    "crossval": "sigstats.tasks.benchmark.fan_outs:CROSSVAL",
    "evaluate": "sigstats.tasks.significance:EVALUATE",
    "fold-test": "sigstats.tasks.calibration.folds:FOLD_TEST",
    "interval": "sigstats.tasks.calibration.interval:FAN_OUT",
    "measured": "sigstats.tasks.benchmark.fan_outs:MEASURED",
    "measured-retrain": "sigstats.tasks.benchmark.fan_outs:MEASURED_RETRAIN",
    "own-test": "sigstats.tasks.calibration.own_tests:FAN_OUT",
    "predict": "sigstats.tasks.calibration.computed:PREDICT",
    "repetition": "sigstats.tasks.benchmark.fan_outs:REPETITION",
    "replicate": "sigstats.tasks.significance:REPLICATE_TABLES",
    "retrain": "sigstats.tasks.benchmark.fan_outs:RETRAIN",
    "scores": "sigstats.tasks.benchmark.fan_outs:SCORES",
    "subsample": "sigstats.tasks.calibration.subsample:FAN_OUT",
    "tally": "sigstats.tasks.calibration.rejections:FAN_OUT",
    "tune": "sigstats.tasks.calibration.computed:TUNE",
}


def draws_nothing(work: Any) -> dict[str, Any]:  # noqa: ARG001
    """Return the ``stream`` of a fan-out that draws no random numbers, or only with seeds from its work."""
    return {"draws": "none"}


@dataclass(frozen=True, kw_only=True)
class FanOut:
    """The computation of a block of the replicates of a cell."""

    #: Description of the replicates: a sentence for docs/results.md, and a phrase.
    about: str
    in_words: str
    #: Class of the work; `Work` if replicates depend only on the seed.
    work: type[Work] = Work
    #: Version of the computation. Increase it if equal work would give different replicates.
    version: int = 1
    #: Number that is added to the version, for changes that affect only some work.
    revision: Callable[[Any], int] = lambda work: 0
    #: The number of replicates that share one random stream.
    lane_size: int = 1
    #: The key of the random stream.
    stream: Callable[[Any], dict[str, Any]] = draws_nothing
    #: Columns of the replicates, beginning with ``replicate``.
    schema: pa.Schema
    #: Return the table of the replicates of a block, in order.
    compute: Callable[[Block, Store, Any], pa.Table]
    #: True if Numba compiles the code.
    compiles: bool = False
    #: Name of another fan-out that does the same work, if any.
    like: str | None = None
    #: Return the cells whose replicates the work reads. They are computed first.
    needs: Callable[[Any], list[Cell]] = lambda work: []
    #: Return work of similar duration that reads no other cell of the study, for timing before these cells exist; None
    #: if impossible. The store contains the data sets of the study and is writable.
    stand_in: Callable[[Any, Store], Work | None] = lambda work, store: None
    #: Return the cell that computes the observed result.
    observed: Callable[[Cell], Cell] | None = None
    #: Return a mask of the replicates at least as extreme as the table of the observed cell, if any.
    exceeds: Callable[[pa.Table, Any], Any] | None = None
    #: Return a mask of the replicates that are rejections at a level, or misses of an interval; if a row stands for
    #: several replicates, return their number in each row.
    rejections: Callable[[pa.Table, float], Any] | None = None
    #: If replicates are results on test sets that can be drawn again: return the rows of a test set of the first lane
    #: of a block, or its distinct rows with ``count``.
    drawn_rows: Callable[[Block, Store, int], pa.Table] | None = None
    #: Return True if work enters `sigstats.tasks.process.alone` only when necessary. Other work runs inside it.
    is_parallel: Callable[[Any], bool] = lambda work: False
    #: Return ``learner`` and the identity of the code from other packages that the work runs, or None if there is none.
    own_code: Callable[[Any], Mapping[str, str] | None] = lambda work: None


class OfCell(TypedDict):
    """The fields of a `sigstats.tasks.plan.Cell` that do not depend on its fan-out."""

    subject: Mapping[str, str]
    work: Work
    seed: int
    replicates: int
    stopping: NotRequired[Mapping[str, Any] | None]
    limits: NotRequired[Mapping[str, float] | None]


def replicates_table(block: Block, schema: pa.Schema, **columns: Any) -> pa.Table:
    """Return the table of a block with a numbered row per replicate."""
    numbered: dict[str, Any] = {"replicate": np.arange(block.first, block.last, dtype=np.int64), **columns}
    converted = {name: from_numpy(values, schema.field(name).type) for name, values in numbered.items()}
    return pa.table(converted, schema=schema)


def fanout(name: str) -> FanOut:
    """Return the fan-out with this name."""
    value: FanOut = resolve_name(FAN_OUTS[name])
    return value


def work_type(name: str) -> type[Work]:
    """Return the class of the work of a fan-out, or `Work` if the fan-out is unknown."""
    return fanout(name).work if name in FAN_OUTS else Work


def cell_of(name: str, **of: Unpack[OfCell]) -> Cell:
    """Return a cell of the fan-out `name`."""
    fan_out, work = fanout(name), of["work"]
    version, stream = fan_out.version + fan_out.revision(work), plain(fan_out.stream(work))
    return Cell(fanout=name, version=version, stream=stream, lane_size=fan_out.lane_size, **of)


def input_cells(cell: Cell) -> list[Cell]:
    """Return the cells whose replicates the computation of `cell` reads."""
    return fanout(cell.fanout).needs(cell.work)


def stand_in(cell: Cell, store: Store) -> Cell | None:
    """Return `cell`, a cell of similar cost if `cell` reads other cells of the study, or None if there is none."""
    if not input_cells(cell):
        return cell
    work = fanout(cell.fanout).stand_in(cell.work, store)
    return None if work is None else replace(cell, work=work)


def observed_cell(cell: Cell) -> Cell | None:
    """Return the cell of the observed result of `cell`, or None if its replicates contain the comparison."""
    observed = fanout(cell.fanout).observed
    return None if observed is None else observed(cell)


def own_code(cell: Cell) -> Mapping[str, str] | None:
    """Return the identity of the code from other packages that `cell` runs, or None if it runs none."""
    return fanout(cell.fanout).own_code(cell.work)


def is_parallel(cell: Cell) -> bool:
    """Return True if threads of a process may compute blocks of `cell` and of other such cells at the same time."""
    return fanout(cell.fanout).is_parallel(cell.work)


def in_words(cell: Cell) -> str:
    """Return a phrase that describes the replicates of `cell`."""
    return fanout(cell.fanout).in_words


def prerequisites(cell: Cell) -> list[Cell]:
    """Return the cells that must be complete before `cell` is computed: its inputs, and the observed result."""
    observed = None if cell.stopping is None else observed_cell(cell)
    return [*input_cells(cell), *([] if observed is None else [observed])]
