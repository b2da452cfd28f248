"""Tests of whether an algorithm is better on other training sets of this size, by accuracy and other measures.

The differences on the folds of all repetitions of the cross-validation are tested. Accuracy in five repetitions of two
folds is tested by Alpaydin's F, everything else by Nadeau and Bengio's t, which also gives the intervals.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from sigstats._common.validation import IntArray
from sigstats.measures.table import MEASURES, refers_to_one_class
from sigstats.retraining.measured import Statistic
from sigstats.retraining.resampled import five_by_two_test

from ..own_code import allowed_measure
from ..plan import Cell
from ..results import Results
from ..schema import Hypothesis
from .measures import title
from .runs import OverFolds, corrected_t, read
from .work import CrossValidated, dataset_of


def accuracies(results: Results, _: str) -> Iterator[Hypothesis]:
    """Yield a hypothesis per data set and pair of classifiers."""
    for cells in results.by_dataset("crossval").values():
        for a, b in combinations([read(results, cell, _accuracy) for cell in cells], 2):
            yield _by_accuracy(results, a, b)


def _accuracy(label: IntArray, prediction: IntArray) -> float:
    return float(np.mean(label == prediction))


def _by_accuracy(results: Results, a: OverFolds, b: OverFolds) -> Hypothesis:
    folds = a.cells[0].work_of(CrossValidated).cross_validation.folds
    five_by_two = folds == 2 and sum(cell.replicates for cell in a.cells) == 5
    null = "the algorithms a and b are equally accurate when trained on other rows, as many as here"
    row = _row(results, "corrected-resampled", null, a, b).with_(
        method="5x2cv F" if five_by_two else "corrected t",
        a=a.name,
        b=b.name,
        measure="difference of accuracies (a - b)",
    )
    if a.values is None or b.values is None:
        return row
    if not five_by_two:
        return corrected_t(row, a.values - b.values, a.rows)
    test = five_by_two_test(a.values - b.values)
    return row.with_(n=a.rows, statistic=test.statistic, estimate=test.estimate, p_value=test.pvalue, note=test.reason)


#: The tests of the rows of `measures`: of one classifier, where nothing is tested, and of a pair.
ESTIMATES, PAIRS = "resampled-measures", "resampled-pairs"


def measures(results: Results, _: str) -> Iterator[Hypothesis]:
    """Yield, for each measure of predictions and data set, a row per classifier, then a row per pair of classifiers."""
    for measure in map(allowed_measure, results.plan.measures):
        for dataset, cells in results.by_dataset("crossval").items():
            lacking = _lacking(measure, results, cells[0])
            if lacking:
                row = _row(results, ESTIMATES, "nothing is tested")
                yield row.with_(dataset=dataset, measure=title(measure), decision="none", note=lacking)
                continue
            over_folds = [_read(results, measure, cell) for cell in cells]
            yield from (_estimate(results, measure, values) for values in over_folds)
            yield from (_hypothesis_of_pair(results, measure, a, b) for a, b in combinations(over_folds, 2))


def _lacking(measure: str, results: Results, cell: Cell) -> str:
    """Return the reason why a measure is unavailable, or "" if it is available or replicates are missing."""
    if MEASURES[measure].needs_scores:
        return f"{measure} needs scores, which repetitions of the cross-validation do not store"
    table = results.table(cell)
    if table is None or not refers_to_one_class(measure):
        return ""
    classes = int(table.column("label").to_numpy().max()) + 1
    return f"{measure} needs two classes, but there are {classes}" if classes > 2 else ""


def _read(results: Results, measure: str, observed: Cell) -> OverFolds:
    positive = results.plan.positive.get(observed.subject["dataset"], 1)
    names = dataset_of(results.store, observed.work_of(CrossValidated)).classes

    def of_fold(label: IntArray, prediction: IntArray) -> float:
        return float(Statistic(measure, names, positive).of_predictions(label, prediction[None])[0])

    return read(results, observed, of_fold)


def _row(results: Results, test: str, null: str, *over_folds: OverFolds) -> Hypothesis:
    """Return a row about these classifiers, without results."""
    cells = [cell for values in over_folds for cell in values.cells]
    return results.hypothesis(*cells, test=test, method="corrected t", alternative="two-sided", null_hypothesis=null)


def _estimate(results: Results, measure: str, of: OverFolds) -> Hypothesis:
    row = _row(results, ESTIMATES, "nothing is tested", of).with_(classifier=of.name, measure=title(measure))
    if of.values is None:
        return row
    return corrected_t(row, of.values, of.rows).with_(statistic=None, p_value=None, decision="none")


def _hypothesis_of_pair(results: Results, measure: str, a: OverFolds, b: OverFolds) -> Hypothesis:
    null = f"the algorithms a and b have the same {measure} when trained on other rows, as many as here"
    name = f"difference of {MEASURES[measure].plural or title(measure)} (a - b)"
    row = _row(results, PAIRS, null, a, b).with_(a=a.name, b=b.name, measure=name)
    if a.values is None or b.values is None:
        return row
    return corrected_t(row, a.values - b.values, a.rows)
