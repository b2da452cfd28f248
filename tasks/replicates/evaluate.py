"""A test of a table of counts by a method that needs no replicates: its answer is the only replicate."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ..plan import Block
from ..schema import REPLICATE, SUMMARY
from ..storage.store import Store
from ..table_tests import answer

VERSION = 2
LANE_SIZE = 1

#: The columns of the summary that a test fills in.
ANSWER = (
    "method",
    "alternative",
    "measure",
    "n",
    "statistic",
    "estimate",
    "estimate_low",
    "estimate_high",
    "null_mean",
    "replicates",
    "exceedances",
    "p_value",
    "log10_p",
    "p_low",
    "p_high",
    "note",
)


SCHEMA = pa.schema([REPLICATE, *(SUMMARY.field(name) for name in ANSWER)])


def stream(work: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """A test by formula draws nothing."""
    return {"draws": "none"}


def compute(block: Block, store: Store) -> pa.Table:  # noqa: ARG001
    """The answer, one row."""
    work = block.cell.work
    found = answer(work["test"], work["data"], work["method"])
    columns: dict[str, list[Any]] = {name: [found.get(name, "" if name == "note" else None)] for name in ANSWER}
    return pa.table({"replicate": [block.first], **columns}, schema=SCHEMA)
