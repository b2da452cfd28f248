"""Tuning of the classifiers that a calibration study trains.

A replicate of `TUNE` is a combination of parameters; the first of the best combinations is chosen.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..fan_out import FanOut, cell_of, replicates_table
from ..plan import Block, Cell
from ..process import threads
from ..record import SIDES, Learner, Side, Tuning
from ..schema import REPLICATE, column
from ..storage.store import Store
from .populations import trained
from .work import Categorised, Tuned

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
