"""Monte-Carlo replicates of a test of a table of counts, drawn under its null hypothesis."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..fan_out import replicates_table
from ..plan import Block
from ..schema import REPLICATE, column, to_numpy
from ..statistical_tests import table_test
from ..storage.store import Store
from .work import TableTested

WORK = TableTested
IN_WORDS = "random tables"
VERSION = 1
#: A multiple of the batches in which `sigstats` draws, so that a lane wastes no random numbers.
LANE_SIZE = 10_000

SCHEMA = pa.schema(
    [REPLICATE, column("exceeds", pa.bool_(), "yes or no", "whether it is at least as extreme as observed")]
)


def stream(work: TableTested) -> dict[str, Any]:
    """Keyed by the test and the table."""
    return {"test": work.test, "data": work.data}


def compute(block: Block, store: Store, work: TableTested) -> pa.Table:  # noqa: ARG001
    """For each replicate of the block, whether it is at least as extreme as observed."""
    drawn = table_test(work.test).exceedances
    if drawn is None:
        raise ValueError(f"test: {work.test!r} is not valid; expected one that has the method monte-carlo")
    return replicates_table(
        block, SCHEMA, exceeds=np.concatenate([drawn(work.data, size, rng) for rng, size in block.lanes()])
    )


def exceeds(table: pa.Table, observed: None) -> NDArray[np.bool_]:  # noqa: ARG001
    """For each replicate, whether it is at least as extreme as observed: the only column."""
    flags: NDArray[np.bool_] = to_numpy(table.column("exceeds"))
    return flags
