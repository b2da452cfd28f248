"""Tests on very many test sets, for rates only. A row counts the outcomes of 10,000 test sets.

The test sets are the same as in `sigstats.tasks.calibration.subsample`, so the counts agree with its rows.
"""

from dataclasses import fields, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.extreme import at_most

from ..fan_out import cell_of
from ..plan import Block, Cell
from ..schema import REPLICATE, SPAN, column, from_numpy, to_numpy
from ..storage.store import Store
from . import subsample
from .work import OnTestSets, Tallied

LANE_SIZE = 10_000
#: The number of lanes with test sets in memory at the same time.
_TOGETHER = 100

#: The counted outcomes.
_OUTCOMES = {
    "rejected": "on which the test rejects at the study's level",
    "unanswered": "on which the test gives no p-value",
    "without_class": "without a row of a class that counts",
    "with_interval": "on which the test has an interval",
    "covers": "whose interval holds the population's difference",
    "a_better": "on which A is better, in the measure that is tested",
    "b_better": "on which B is better",
}

_SCHEMA = pa.schema(
    [REPLICATE, SPAN]
    + [column(name, pa.int64(), "test sets", f"test sets {meaning}") for name, meaning in _OUTCOMES.items()]
)


def _compute(block: Block, store: Store, work: Tallied) -> pa.Table:
    """Return the counts of each lane of the block."""
    cell, counts, firsts = with_rows(block.cell), [], np.arange(block.first, block.last, LANE_SIZE)
    a_lane = LANE_SIZE // cell.lane_size
    for first in range(block.first_lane, block.last_lane, _TOGETHER):
        last = min(first + _TOGETHER, block.last_lane)
        part = cell.block(first * a_lane, min(last * a_lane, cell.lanes))
        flags = _outcomes(subsample.FAN_OUT.compute(part, store, cell.work_of(OnTestSets)), work.alpha)
        starts = np.arange(0, part.last - part.first, LANE_SIZE)
        counts.append([np.add.reduceat(flag.astype(np.int64), starts) for flag in flags.values()])
    columns = [firsts, np.diff(firsts, append=block.last), *np.concatenate(counts, axis=1)]
    return pa.table([from_numpy(values, pa.int64()) for values in columns], schema=_SCHEMA)


def with_rows(cell: Cell) -> Cell:
    """Return the equivalent of `cell` with one row per test set, which is `cell` itself unless it is tallied."""
    if not isinstance(cell.work, Tallied):
        return cell
    work = OnTestSets(**{attribute.name: getattr(cell.work, attribute.name) for attribute in fields(OnTestSets)})
    return cell_of("subsample", subject=cell.subject, work=work, seed=cell.seed, replicates=cell.replicates)


def totals(table: pa.Table, alpha: float) -> dict[str, int]:
    """Count the ``test_sets`` in a table, and those with each outcome; a row stands for one test set or for several."""
    if SPAN.name in table.column_names:
        counts = {name: int(to_numpy(table.column(name)).sum()) for name in (SPAN.name, *_OUTCOMES)}
        return {"test_sets": counts.pop(SPAN.name), **counts}
    counts = {name: int(np.count_nonzero(flags)) for name, flags in _outcomes(table, alpha).items()}
    return {"test_sets": table.num_rows, **counts}


def _outcomes(table: pa.Table, alpha: float) -> dict[str, NDArray[np.bool_]]:
    """Return for each outcome a mask of the test sets that have it."""
    p_values, better = (table.column(name).to_numpy() for name in ("p_value", "advantage"))
    covers = table.column("covers")
    masks = (
        at_most(p_values, alpha),
        np.isnan(p_values),
        to_numpy(table.column("no_positive")),
        to_numpy(covers.is_valid()),
        to_numpy(covers.fill_null(pa.scalar(False))),
        better < 0,
        better > 0,
    )
    return dict(zip(_OUTCOMES, masks, strict=True))


FAN_OUT = replace(
    subsample.FAN_OUT,
    about="Tests on very many test sets, for rates only. A row counts the outcomes of 10,000 test sets.",
    work=Tallied,
    like="subsample",
    lane_size=LANE_SIZE,
    schema=_SCHEMA,
    compute=_compute,
    rejections=lambda table, _: to_numpy(table.column("rejected")),  # at the level of the study
    drawn_rows=None,
)
