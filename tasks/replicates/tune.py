"""How good each combination of parameters is, by cross-validation on training rows alone: a replicate is a combination.

What is chosen is the first of the best. A set of classifiers, one for each category, has one choice.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ..one_thread import one_thread
from ..plan import Block
from ..populations.trained_sets import failures_named, training_rows
from ..populations.tuning import combinations, scores
from ..schema import REPLICATE, column
from ..storage.store import Store

VERSION = 1
LANE_SIZE = 1

SCHEMA = pa.schema(
    [
        REPLICATE,
        column("micro_f1", pa.float64(), "F1", "micro-averaged over the categories, all folds together"),
        column("macro_f1", pa.float64(), "F1", "macro-averaged over the categories, all folds together"),
    ]
)


def stream(work: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """The split has a seed of its own, and the folds are fixed."""
    return {"draws": "none"}


def compute(block: Block, store: Store) -> pa.Table:
    """The scores of the combinations of the block."""
    work = block.cell.work
    tune = work["classifier"]["tune"]
    tried = combinations(tune)[block.first : block.last]
    with one_thread():
        rows = training_rows(store, work)
        with failures_named(work["side"], work["classifier"]["learner"]):
            found = [scores(rows.classifier, rows.X, rows.truth, tune["folds"], params) for params in tried]
    micro, macro = zip(*found, strict=True)
    replicate = list(range(block.first, block.last))
    return pa.table({"replicate": replicate, "micro_f1": micro, "macro_f1": macro}, schema=SCHEMA)


def chosen(work: Mapping[str, Any], table: pa.Table) -> dict[str, Any]:
    """The combination of the greatest F1, the first of equals."""
    tune = work["classifier"]["tune"]
    values: list[Any] = table.column("macro_f1" if tune["measure"] == "macro-f1" else "micro_f1").to_pylist()
    return combinations(tune)[values.index(max(values))]
