"""Populations that a calibration study computes: counts of files, and the predictions of classifiers that it trains.

A replicate of `COUNT` is a file of a population that is too large for the process that starts the study. `PREDICT`
trains two classifiers, and `CATEGORISE` two sets with a classifier for each category. Their replicates are chunks of
rows: first the test set, then all other rows. `CATEGORISE` has a row for each joint event: the true categories, A's,
and B's.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats.joint.events import JointEvents

from ..fan_out import FanOut, replicates_table
from ..plan import Block
from ..record import digest
from ..schema import REPLICATE, column
from ..storage.block_files import PARTS
from ..storage.data import read_data
from ..storage.store import Store
from .population import read_joint_events
from .populations import trained
from .populations.prediction_files import LabelFiles
from .populations.trained import Pair
from .tuning import chosen_parameters, tuning_cells, with_first_combinations
from .work import Categorised, Counted, Predicted

#: The joint outcomes, in the order of `sigstats.joint.outcomes.JointOutcomes`.
_NAMES = tuple(f"e{number}" for number in range(1, 9))


def outcome_fields(of: str) -> list["pa.Field[Any]"]:
    """Return the schema fields of the counts; `of` is the word for a part, such as "file"."""
    return [column(name, pa.int64(), "rows", f"rows of the {of} with the joint outcome {name}") for name in _NAMES]


def outcome_columns(counts: Iterable[Sequence[int]]) -> dict[str, Any]:
    """Return the columns with the eight counts of each part."""
    return dict(zip(_NAMES, np.array(list(counts), dtype=np.int64).T, strict=True))


def total_outcomes(table: pa.Table) -> tuple[int, ...]:
    """Return the eight counts of all parts together."""
    return tuple(int(table.column(name).to_numpy().sum()) for name in _NAMES)


_COUNTS = pa.schema([REPLICATE, *outcome_fields("file")])


def _count_files(block: Block, store: Store, work: Counted) -> pa.Table:
    files = read_data(store, LabelFiles, work.files.name, work.files.digest)
    counts = [_counts_of_file(store, files, index, work.positive) for index in range(block.first, block.last)]
    return replicates_table(block, _COUNTS, **outcome_columns(counts))


def _counts_of_file(store: Store, files: LabelFiles, index: int, positive: Any) -> tuple[int, ...]:
    """Return the counts of one file, which are also stored: more files may be added to the population later."""
    written, footer = files.mark(index)
    mark = digest("counts", of=written, columns=files.columns, classes=files.classes, positive=positive)
    name = f"{PARTS}/{mark}.parquet"
    table, _ = store.usable(name, kind="counts", fingerprint=mark)
    if table is None:
        counts = outcome_columns([files.count(index, footer).outcomes(positive)])
        table = pa.table(counts, pa.schema(outcome_fields("file")))
        store.write_table(name, table, kind="counts", fingerprint=mark)
    return total_outcomes(table)


COUNT = FanOut(
    about="The joint outcomes of a population too large for the process that starts a study. A replicate is a file.",
    in_words="counts",
    work=Counted,
    schema=_COUNTS,
    compute=_count_files,
)


_IN_TEST = column("test", pa.bool_(), "yes or no", "whether the rows of the chunk are of the test set")


def _in_test(pair: Pair, chunk: NDArray[np.int64]) -> bool:
    """Return True if a chunk is a part of the test set: no chunk contains rows of the test set and other rows."""
    return bool(np.isin(chunk[0], pair.parts.test))


def _predict(block: Block, store: Store, work: Predicted) -> pa.Table:
    pair: Pair = trained.train_pair(store, work, {})
    chunks = pair.parts.chunks()[block.first : block.last]
    in_test = np.array([_in_test(pair, rows) for rows in chunks])
    counts = outcome_columns(trained.count_outcomes(pair.answers(rows)).tolist() for rows in chunks)
    return replicates_table(block, PREDICT.schema, test=in_test, **counts)


def outcomes(table: pa.Table, *, test: bool) -> tuple[int, ...]:
    """Return the eight counts of `PREDICT` on the test set, or on all other rows."""
    return total_outcomes(table.filter(pc.equal(table.column("test"), pa.scalar(test))))


PREDICT = FanOut(
    about="The joint outcomes of two trained classifiers in chunks: first the rows of the test set, then all others.",
    in_words="predictions",
    work=Predicted,
    schema=pa.schema([REPLICATE, _IN_TEST, *outcome_fields("chunk")]),
    compute=_predict,
)

_POSITIONS = pa.list_(pa.field("element", pa.int32()))

_EVENTS = pa.schema(
    [
        REPLICATE,
        _IN_TEST,
        column("true_categories", _POSITIONS, "positions", "the true categories, by their place in the set"),
        column("a", _POSITIONS, "positions", "those that A assigned"),
        column("b", _POSITIONS, "positions", "those that B assigned"),
        column("count", pa.int64(), "rows", "how many rows of the chunk have this joint event"),
    ]
)


def _categorise(block: Block, store: Store, work: Categorised) -> pa.Table:
    entries = chosen_parameters(work, store)
    assert entries.keys() == tuning_cells(work).keys()  # the engine completes prerequisites first
    pair: Pair = trained.train_pair(store, work, entries)
    chunks = pair.parts.chunks()
    rows = []
    for replicate in range(block.first, block.last):
        in_test = _in_test(pair, chunks[replicate])
        for (true, a, b), count in trained.count_events(pair.answers(chunks[replicate])):
            rows.append((replicate, in_test, list(true), list(a), list(b), count))
    return pa.Table.from_pylist([dict(zip(_EVENTS.names, row, strict=True)) for row in rows], schema=_EVENTS)


def events(table: pa.Table, categories: Sequence[str], *, test: bool) -> JointEvents:
    """Return the joint events of `CATEGORISE` on the test set, or on all other rows."""
    return read_joint_events(table.filter(pc.equal(table.column("test"), pa.scalar(test))), categories, "categories")


CATEGORISE = FanOut(
    about=(
        "The categories that two sets of trained classifiers assign, in chunks: first the test set, then all other "
        "rows."
    ),
    in_words="categories",
    work=Categorised,
    schema=_EVENTS,
    compute=_categorise,
    needs=lambda work: list(tuning_cells(work).values()),
    stand_in=with_first_combinations,
)
