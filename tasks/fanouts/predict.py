"""The joint outcomes of two trained classifiers, chunk by chunk: first the rows of the test set, then all the rest."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ..plan import Block
from ..schema import REPLICATE, column
from ..store import Store
from ..trained import trained

VERSION = 1
LANE_SIZE = 1

#: The joint outcomes, in the order of `sigstats.outcomes.JointOutcomes`.
OUTCOMES = tuple(f"e{number}" for number in range(1, 9))

SCHEMA = pa.schema(
    [
        REPLICATE,
        column("test", pa.bool_(), "yes or no", "whether the rows of the chunk are of the test set"),
        *(column(name, pa.int64(), "rows", f"rows of the chunk with the joint outcome {name}") for name in OUTCOMES),
    ]
)


def stream(work: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """The split has a seed of its own; nothing else is drawn."""
    return {"draws": "none"}


def compute(block: Block, store: Store) -> pa.Table:
    """The counts of each chunk."""
    pair = trained(store, block.cell.work)
    chunks = pair.parts.chunks()[block.first : block.last]
    counts = np.array([pair.outcomes(rows) for rows in chunks])
    in_test = np.array([np.isin(rows[0], pair.parts.test).item() for rows in chunks])
    columns: dict[str, Any] = {"replicate": np.arange(block.first, block.last), "test": in_test}
    return pa.table({**columns, **dict(zip(OUTCOMES, counts.T, strict=True))}, schema=SCHEMA)


def outcomes(table: pa.Table, *, test: bool) -> tuple[int, ...]:
    """The eight counts of the test set, or of all the rest."""
    chosen = table.column("test").to_numpy() == test
    return tuple(int(table.column(name).to_numpy()[chosen].sum()) for name in OUTCOMES)
