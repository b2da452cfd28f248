"""Populations that a calibration study computes: counts of files, and the predictions of classifiers that it trains.

A replicate of `COUNT` is a file of a population that is too large for the process that starts the study. `PREDICT`
trains two classifiers, and `CATEGORISE` two sets with a classifier for each category. Their replicates are chunks of
rows: first the test set, then all other rows. `CATEGORISE` has a row for each joint event: the true categories, A's,
and B's. `TUNE` tunes these classifiers first: a replicate is a combination of parameters, and the first of the best
combinations is chosen.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats.joint.events import JointEvents

from ..fan_out import FanOut, cell_of, replicates_table
from ..plan import Block, Cell
from ..process import threads
from ..record import SIDES, Learner, Side, Tuning, digest
from ..schema import REPLICATE, column
from ..storage.data import read_data
from ..storage.seal import PARTS
from ..storage.store import Store
from .population import read_joint_events
from .populations import trained
from .populations.prediction_files import LabelFiles
from .populations.trained import Pair
from .work import Categorised, Counted, Predicted, Tuned

_F1 = pa.schema(
    [
        REPLICATE,
        column("micro_f1", pa.float64(), "F1", "micro-averaged over the categories, all folds together"),
        column("macro_f1", pa.float64(), "F1", "macro-averaged over the categories, all folds together"),
    ]
)


def _tune(block: Block, store: Store, work: Tuned) -> pa.Table:
    tried, folds = parameter_combinations(work.classifier)[block.first : block.last], _tuning(work.classifier).folds
    with threads(1):
        rows = trained.training_rows(store, work)
        with trained.failures_named(work.side, work.classifier.learner):
            items = [cross_validated_f1(rows.classifier, rows.X, rows.truth, folds, params) for params in tried]
    micro, macro = zip(*items, strict=True)
    return replicates_table(block, _F1, micro_f1=micro, macro_f1=macro)


def cross_validated_f1(
    classifier: Any, X: Any, truth: NDArray[np.bool_], folds: int, params: Mapping[str, Any]
) -> tuple[float, float]:
    """Return the cross-validated micro- and macro-averaged F1 of classifiers with these parameters.

    `X`: shape (n, d). `truth`: the target of each of K classifiers, shape (n, K).
    """
    from sklearn.base import clone  # slow to import, and every report imports this module
    from sklearn.metrics import f1_score
    from sklearn.model_selection import KFold

    from sigstats.learners.one_against_others import OneAgainstOthers

    candidate = clone(classifier).set_params(**params)
    predictions = np.empty_like(truth)
    for train, test in KFold(folds, shuffle=True, random_state=0).split(np.arange(len(truth))):
        predictions[test] = OneAgainstOthers(candidate, X[train], truth[train]).predict(X[test])
    micro, macro = (f1_score(truth, predictions, average=average, zero_division=0) for average in ("micro", "macro"))
    return float(micro), float(macro)


def parameter_combinations(classifier: Learner) -> list[dict[str, Any]]:
    """Return all combinations of the values in the grid, with the parameters in alphabetical order."""
    grid = _tuning(classifier).grid
    names = sorted(grid)
    return [dict(zip(names, values, strict=True)) for values in product(*(grid[name] for name in names))]


def _tuning(classifier: Learner) -> Tuning:
    assert classifier.tune is not None
    return classifier.tune


TUNE = FanOut(
    about="The cross-validated F1 of each combination of parameters on training rows. A replicate is a combination.",
    in_words="parameters",
    work=Tuned,
    schema=_F1,
    compute=_tune,
)


def tuning_cells(work: Categorised) -> dict[Side, Cell]:
    """Return the cells that choose the parameters of ``a`` and ``b``, if any are chosen."""
    return {side: _tuning_cell(work, side) for side in SIDES if work.side(side).tune}


def _tuning_cell(work: Categorised, side: Side) -> Cell:
    classifier = work.side(side)
    assert work.set is not None
    return cell_of(
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
        replicates=len(parameter_combinations(classifier)),
    )


def chosen_parameters(work: Categorised, store: Store) -> dict[str, dict[str, Any]]:
    """Return the chosen parameters of ``a`` and ``b``, without a side if its choice is incomplete."""
    tables = {side: (cell, store.read_prefix(cell)) for side, cell in tuning_cells(work).items()}
    return {
        side: _best(cell.work_of(Tuned).classifier, table)
        for side, (cell, table) in tables.items()
        if table is not None and table.num_rows == cell.replicates
    }


def _best(classifier: Learner, table: pa.Table) -> dict[str, Any]:
    """Return the first combination with the largest F1."""
    values: list[Any] = table.column(_tuning(classifier).measure.replace("-", "_")).to_pylist()
    return parameter_combinations(classifier)[values.index(max(values))]


def with_first_combinations(work: Categorised, store: Store) -> Categorised:  # noqa: ARG001
    """Return the work with the first combination of parameters in place of the chosen one."""
    settled: dict[str, Any] = {}
    for side in tuning_cells(work):
        classifier = work.side(side)
        params = {**classifier.params, **parameter_combinations(classifier)[0]}
        settled[side] = replace(classifier, tune=None, params=params)
    return replace(work, **settled)


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
