"""The categories that two sets of trained classifiers assign, by chunks: first the test set, then all other rows.

A replicate is a chunk; it has a row for each joint event of true categories, those of A, and those of B.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sigstats.joint.events import JointEvents

from ..fan_out import cell, draws_nothing
from ..plan import Block, Cell
from ..record import SIDES, Side
from ..schema import REPLICATE, column
from ..storage.store import Store
from . import tune
from .populations.trained import SetPair, joint_events, train_sets
from .tune import combinations
from .work import Categorised, Tuned

WORK = Categorised
IN_WORDS = "categories"
VERSION = 1
LANE_SIZE = 1
stream = draws_nothing

_POSITIONS = pa.list_(pa.field("element", pa.int32()))

SCHEMA = pa.schema(
    [
        REPLICATE,
        column("test", pa.bool_(), "yes or no", "whether the rows of the chunk are of the test set"),
        column("true_categories", _POSITIONS, "positions", "the true categories, by their place in the set"),
        column("a", _POSITIONS, "positions", "those that A assigned"),
        column("b", _POSITIONS, "positions", "those that B assigned"),
        column("count", pa.int64(), "rows", "how many rows of the chunk have this joint event"),
    ]
)


def tuning_cells(work: Categorised) -> dict[Side, Cell]:
    """The cells that choose the parameters of ``a`` and of ``b``, where any are chosen."""
    return {side: _tuning_cell(work, side) for side in SIDES if work.side(side).tune}


def _tuning_cell(work: Categorised, side: Side) -> Cell:
    classifier = work.side(side)
    assert work.set is not None
    return cell(
        "tune",
        subject={"dataset": work.data.name, "slice": work.set, "classifier": f"{side.upper()} ({classifier.learner})"},
        work=Tuned(
            dataset=work.dataset,
            documents=work.documents,
            split=work.split,
            categories=work.categories,
            side=side,
            classifier=classifier,
        ),
        seed=work.split.seed,
        replicates=len(combinations(classifier)),
    )


def needs(work: Categorised) -> list[Cell]:
    """The choice of parameters."""
    return list(tuning_cells(work).values())


def chosen(work: Categorised, store: Store) -> dict[str, dict[str, Any]]:
    """The parameters that were chosen for ``a`` and ``b``; of a choice that is not complete, none."""
    tables = {side: (cell, store.read_prefix(cell)) for side, cell in tuning_cells(work).items()}
    return {
        side: tune.chosen(cell.work_of(Tuned), table)
        for side, (cell, table) in tables.items()
        if table is not None and table.num_rows == cell.replicates
    }


def stand_in(work: Categorised, store: Store) -> Categorised:  # noqa: ARG001
    """The same with the first combination of parameters, as if it had been chosen."""
    settled: dict[str, Any] = {}
    for side in tuning_cells(work):
        classifier = work.side(side)
        settled[side] = replace(classifier, tune=None, params={**classifier.params, **combinations(classifier)[0]})
    return replace(work, **settled)


def compute(block: Block, store: Store, work: Categorised) -> pa.Table:
    """The counts of each chunk."""
    entries = chosen(work, store)
    assert entries.keys() == tuning_cells(work).keys()  # the engine completes prerequisites first
    pair: SetPair = train_sets(store, work, entries)
    chunks = pair.parts.chunks()
    rows = []
    for replicate in range(block.first, block.last):
        in_test = bool(np.isin(chunks[replicate][0], pair.parts.test))
        for (true, a, b), count in pair.events(chunks[replicate]):
            rows.append((replicate, in_test, list(true), list(a), list(b), count))
    return pa.table(dict(zip(SCHEMA.names, map(list, zip(*rows, strict=True)), strict=True)), schema=SCHEMA)


def events(table: pa.Table, categories: Sequence[str], *, test: bool) -> JointEvents:
    """The joint events of the test set, or of all the rest."""
    own = table.filter(pa.array(table.column("test").to_numpy(zero_copy_only=False) == test))
    sides: list[list[Any]] = [own.column(name).to_pylist() for name in ("true_categories", "a", "b", "count")]
    items = [((tuple(true), tuple(a), tuple(b)), count) for true, a, b, count in zip(*sides, strict=True)]
    return joint_events(categories, items)
