"""A measure on the folds of all repetitions of a cross-validation: of an algorithm, and of two by the corrected t."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sigstats._common.validation import FloatArray, IntArray
from sigstats.retraining.resampled import corrected_resampled_test

from ..plan import Cell
from ..results import Results
from ..schema import Hypothesis

#: The value of a measure on the labels and predictions of a fold, of so many classes.
Measured: TypeAlias = Callable[[IntArray, IntArray, int], float]


@dataclass(frozen=True)
class OverFolds:
    """A classifier on a data set."""

    cells: tuple[Cell, ...]
    #: Of each fold, (repetitions, folds); None if replicates are missing.
    values: FloatArray | None
    #: Of the data set.
    rows: int

    @property
    def name(self) -> str:
        """The name of the classifier."""
        return self.cells[0].subject["classifier"]


def read(results: Results, observed: Cell, measured: Measured) -> OverFolds:
    """The values on the folds of the cross-validation of a cell and of its repetitions."""
    cells = (observed, *results.cells("repetition", **observed.subject))
    values, folds, rows = [], 1, 0
    for cell in cells:
        table = results.table(cell) if cell is observed else results.read(cell)
        if table is None:
            return OverFolds(cells, None, 0)
        replicate, fold, label, prediction = (
            table.column(name).to_numpy().astype(np.int64) for name in ("replicate", "fold", "label", "prediction")
        )
        folds, rows, classes = int(fold.max()) + 1, rows or len(label), int(label.max()) + 1
        place = (replicate - replicate[0]) * folds + fold
        values += [measured(label[place == each], prediction[place == each], classes) for each in np.unique(place)]
    return OverFolds(cells, np.array(values).reshape(-1, folds), rows)


def corrected_t(row: Hypothesis, values: FloatArray, rows: int) -> Hypothesis:
    """A row with Nadeau and Bengio's test of the mean of values on folds, and its interval."""
    found = corrected_resampled_test(values.ravel(), n_train=values.shape[1] - 1, n_test=1)
    low, high = found.confidence_interval
    return row.with_(
        n=rows,
        statistic=found.statistic,
        estimate=found.estimate,
        estimate_low=low,
        estimate_high=high,
        p_value=found.pvalue,
        note=found.reason,
    )
