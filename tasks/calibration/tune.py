"""The quality of each combination of parameters, by cross-validation on training rows: a replicate is a combination.

What is chosen is the first of the best. A set of classifiers, one for each category, has one choice.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..fan_out import draws_nothing, replicates_table
from ..plan import Block
from ..record import Learner, Tuning
from ..schema import REPLICATE, column
from ..storage.store import Store
from ..threads import one_thread
from .populations.trained import failures_named, training_rows
from .work import Tuned

WORK = Tuned
IN_WORDS = "parameters"
VERSION = 1
LANE_SIZE = 1
stream = draws_nothing

SCHEMA = pa.schema(
    [
        REPLICATE,
        column("micro_f1", pa.float64(), "F1", "micro-averaged over the categories, all folds together"),
        column("macro_f1", pa.float64(), "F1", "macro-averaged over the categories, all folds together"),
    ]
)


def compute(block: Block, store: Store, work: Tuned) -> pa.Table:
    """The scores of the combinations of the block."""
    tried = combinations(work.classifier)[block.first : block.last]
    with one_thread():
        rows = training_rows(store, work)
        with failures_named(work.side, work.classifier.learner):
            items = [
                scores(rows.classifier, rows.X, rows.truth, _tuning(work.classifier).folds, params) for params in tried
            ]
    micro, macro = zip(*items, strict=True)
    return replicates_table(block, SCHEMA, micro_f1=micro, macro_f1=macro)


def chosen(work: Tuned, table: pa.Table) -> dict[str, Any]:
    """The combination of the greatest F1, the first of equals."""
    by_macro = _tuning(work.classifier).measure == "macro-f1"
    values: list[Any] = table.column("macro_f1" if by_macro else "micro_f1").to_pylist()
    return combinations(work.classifier)[values.index(max(values))]


def combinations(classifier: Learner) -> list[dict[str, Any]]:
    """All combinations of the values of its grid, the parameters in alphabetical order."""
    grid = _tuning(classifier).grid
    names = sorted(grid)
    return [dict(zip(names, values, strict=True)) for values in product(*(grid[name] for name in names))]


def _tuning(classifier: Learner) -> Tuning:
    assert classifier.tune is not None
    return classifier.tune


def scores(
    classifier: Any, X: Any, truth: NDArray[np.bool_], folds: int, params: Mapping[str, Any]
) -> tuple[float, float]:
    """The micro- and the macro-averaged F1 of machines with these parameters, on folds that were not trained on.

    `X`: of shape (n, d). `truth`: target of each of K machines, shape (n, K).
    """
    from sklearn.base import clone  # slow to import, and every report knows this module
    from sklearn.metrics import f1_score
    from sklearn.model_selection import KFold

    from sigstats.learners.one_against_others import OneAgainstOthers

    candidate = clone(classifier).set_params(**params)
    said = np.empty_like(truth)
    for train, test in KFold(folds, shuffle=True, random_state=0).split(np.arange(len(truth))):
        said[test] = OneAgainstOthers(candidate, X[train], truth[train]).predict(X[test])
    micro, macro = (f1_score(truth, said, average=average, zero_division=0) for average in ("micro", "macro"))
    return float(micro), float(macro)
