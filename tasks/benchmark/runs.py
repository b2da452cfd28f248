"""Observed runs: the tests of them, and the values of measures on their folds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sigstats._common.validation import FloatArray, IntArray
from sigstats.retraining.resampled import corrected_resampled_test

from ..plan import Cell
from ..results import Results
from ..schema import Hypothesis
from ..statistical_tests import ObservedRun, OfRuns, estimated, named
from .work import CrossValidated, dataset_of


def observed_run(results: Results, cell: Cell) -> ObservedRun | None:
    """The observed run of a cell; None if it is missing."""
    table = results.table(cell)
    if table is None:
        return None
    label, prediction = (table.column(name).to_numpy().astype(np.int64) for name in ("label", "prediction"))
    return ObservedRun(label, prediction, _groups(results, cell))


def _groups(results: Results, cell: Cell) -> NDArray[np.int64] | None:
    """The group of each row of a cell's data set; None if rows are independent."""
    work = cell.work_of(CrossValidated)
    return dataset_of(results.store, work).groups if work.dataset.grouped else None


def rows_of(results: Results, name: str) -> Iterator[Hypothesis]:
    """The hypotheses of a test of runs: of each classifier, every two, or all on a data set, in the plan's order."""
    test, of = named(name), named(name).runs
    assert of is not None
    for cells in results.by_dataset("crossval").values():
        for compared in _compared(of, cells):
            names = [cell.subject["classifier"] for cell in compared]
            base = results.hypothesis(
                *compared,
                test=name,
                method=of.method,
                alternative=of.alternative,
                null_hypothesis=test.null,
                measure=of.measure,
            ).with_(**dict(zip(_SUBJECTS[of.compared], names, strict=False)))
            runs = [run for run in (observed_run(results, cell) for cell in compared) if run is not None]
            yield base.with_(**of.compute(runs, base.cell)) if len(runs) == len(compared) else base


#: The fields that name the classifiers of a hypothesis.
_SUBJECTS = {"one": ("classifier",), "two": ("a", "b"), "all": ()}


def _compared(of: OfRuns, cells: Sequence[Cell]) -> Iterator[Sequence[Cell]]:
    if of.compared == "all":
        if len(cells) > 1:
            yield cells
    else:
        yield from combinations(cells, len(_SUBJECTS[of.compared]))


#: The value of a measure on the labels and predictions of a fold, of so many classes.
Measured: TypeAlias = Callable[[IntArray, IntArray, int], float]


@dataclass(frozen=True)
class OverFolds:
    """A classifier on a data set."""

    cells: tuple[Cell, ...]
    #: Of each fold, (repetitions, folds); None if replicates are missing.
    values: FloatArray | None
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
        values += [measured(label[place == value], prediction[place == value], classes) for value in np.unique(place)]
    return OverFolds(cells, np.array(values).reshape(-1, folds), rows)


def corrected_t(row: Hypothesis, values: FloatArray, rows: int) -> Hypothesis:
    """A row with Nadeau and Bengio's test of the mean of values on folds, and its interval."""
    result = corrected_resampled_test(values.ravel(), n_train=values.shape[1] - 1, n_test=1)
    ends = estimated(result.estimate, result.confidence_interval)
    return row.with_(n=rows, statistic=result.statistic, p_value=result.pvalue, note=result.reason, **ends)
