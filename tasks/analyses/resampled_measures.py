"""Measures other than accuracy over repeated cross-validation: of each classifier, and of two of them.

The values on the folds of all repetitions are averaged; the interval of the mean and the test of the mean difference
are Nadeau and Bengio's, as for accuracy (`sigstats.tasks.analyses.corrected_resampled`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sigstats._common.validation import FloatArray, IntArray
from sigstats.measures.table import MEASURES, refers_to_one_class
from sigstats.retraining.corrected_resampled import corrected_resampled_test
from sigstats.retraining.measured import Statistic

from ..plan import Cell
from ..results import Results
from ..schema import Hypothesis

#: The fan-outs whose replicates it reads.
USES = ("crossval", "repetition")

#: The tests of its rows: of one classifier, which tests nothing, and of two.
ESTIMATES, PAIRS = "resampled-measures", "resampled-pairs"


@dataclass(frozen=True)
class _Classifier:
    """A classifier on a data set: its cells, a measure on each fold of each repetition, None if missing, and rows."""

    cells: tuple[Cell, ...]
    values: FloatArray | None
    folds: int
    rows: int


def rows(results: Results) -> Iterator[Hypothesis]:
    """Of each measure of predictions one row for each classifier on a data set, then one for each pair of them."""
    for measure in results.plan.measures:
        for dataset, cells in results.by_dataset("crossval").items():
            lacks = _lacking(measure, results, cells[0])
            if lacks:
                yield _row(results, ESTIMATES, dataset, ()).with_(measure=measure, decision="none", note=lacks)
                continue
            found = [_read(results, measure, cell) for cell in cells]
            yield from (_estimate(results, measure, dataset, one) for one in found)
            yield from (_compared(results, measure, dataset, a, b) for a, b in combinations(found, 2))


def _lacking(measure: str, results: Results, cell: Cell) -> str:
    """Why a measure cannot be had of a data set; empty where it can, or where its replicates are missing."""
    if MEASURES[measure].needs in ("scores", "probabilities"):
        return f"{measure} needs scores, which repetitions of the cross-validation do not store"
    table = results.table(cell)
    if table is None or not refers_to_one_class(measure):
        return ""
    classes = int(table.column("label").to_numpy().max()) + 1
    return f"{measure} needs two classes, and there are {classes}" if classes > 2 else ""


def _read(results: Results, measure: str, observed: Cell) -> _Classifier:
    cells = (observed, *results.cells("repetition", **observed.subject))
    positive = results.plan.positive.get(observed.subject["dataset"], 1)
    values, folds, rows = [], 0, 0
    for cell in cells:
        table = results.table(cell) if cell is observed else results.read(cell)
        if table is None:
            return _Classifier(cells, None, 0, 0)
        replicate, fold, label, prediction = (
            table.column(name).to_numpy().astype(np.int64) for name in ("replicate", "fold", "label", "prediction")
        )
        folds, rows = int(fold.max()) + 1, rows or len(label)
        statistic = Statistic(measure, int(label.max()) + 1, positive)
        place = (replicate - replicate[0]) * folds + fold
        values += [_of_fold(statistic, label[place == each], prediction[place == each]) for each in np.unique(place)]
    return _Classifier(cells, np.array(values), folds, rows)


def _of_fold(statistic: Statistic, label: IntArray, prediction: IntArray) -> float:
    return float(statistic.of_predictions(label, prediction[None])[0])


def _row(results: Results, test: str, dataset: str, cells: tuple[Cell, ...]) -> Hypothesis:
    return results.hypothesis(
        *cells,
        test=test,
        method="corrected t",
        alternative="two-sided",
        null="nothing is tested",
        dataset=dataset,
    )


def _estimate(results: Results, measure: str, dataset: str, of: _Classifier) -> Hypothesis:
    row = _row(results, ESTIMATES, dataset, of.cells).with_(
        classifier=of.cells[0].subject["classifier"], measure=measure
    )
    if of.values is None:
        return row
    found = corrected_resampled_test(of.values, n_train=of.folds - 1, n_test=1)
    low, high = found.confidence_interval
    return row.with_(
        n=of.rows, decision="none", estimate=found.estimate, estimate_low=low, estimate_high=high, note=found.reason
    )


def _compared(results: Results, measure: str, dataset: str, a: _Classifier, b: _Classifier) -> Hypothesis:
    row = _row(results, PAIRS, dataset, (*a.cells, *b.cells)).with_(
        null=f"the algorithms a and b have the same {measure} when trained on other rows, as many as here",
        a=a.cells[0].subject["classifier"],
        b=b.cells[0].subject["classifier"],
        measure=f"difference of {MEASURES[measure].plural or measure} (b - a)",
    )
    if a.values is None or b.values is None:
        return row
    found = corrected_resampled_test(b.values - a.values, n_train=a.folds - 1, n_test=1)
    low, high = found.confidence_interval
    return row.with_(
        n=a.rows,
        statistic=found.statistic,
        estimate=found.estimate,
        estimate_low=low,
        estimate_high=high,
        p_value=found.pvalue,
        note=found.reason,
    )
