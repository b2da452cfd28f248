"""Would an algorithm do better on other training sets of this size? (the corrected resampled t-test, or the 5x2cv F).

The differences of accuracy on the folds of all repetitions of the cross-validation are tested: of five repetitions of
two folds by Alpaydin's F, of any others by Nadeau and Bengio's t.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from sigstats._common.validation import IntArray
from sigstats.retraining.resampled import five_by_two_test

from ..results import Results
from ..schema import Hypothesis
from .runs import OverFolds, corrected_t, read
from .work import CrossValidated


def rows(results: Results) -> Iterator[Hypothesis]:
    """One hypothesis for each pair of classifiers on a data set."""
    for cells in results.by_dataset("crossval").values():
        for a, b in combinations([read(results, cell, _accuracy) for cell in cells], 2):
            yield _compared(results, a, b)


def _accuracy(label: IntArray, prediction: IntArray, classes: int) -> float:  # noqa: ARG001
    return float(np.mean(label == prediction))


def _compared(results: Results, a: OverFolds, b: OverFolds) -> Hypothesis:
    folds = a.cells[0].work_of(CrossValidated).cross_validation.folds
    five_by_two = folds == 2 and sum(cell.replicates for cell in a.cells) == 5
    row = results.hypothesis(
        *a.cells,
        *b.cells,
        test="corrected-resampled",
        method="5x2cv F" if five_by_two else "corrected t",
        alternative="two-sided",
        null_hypothesis="the algorithms a and b are equally accurate when trained on other rows, as many as here",
        a=a.name,
        b=b.name,
        measure="difference of accuracies (a - b)",
    )
    if a.values is None or b.values is None:
        return row
    if not five_by_two:
        return corrected_t(row, a.values - b.values, a.rows)
    result = five_by_two_test(a.values - b.values)
    return row.with_(
        n=a.rows, statistic=result.statistic, estimate=result.estimate, p_value=result.pvalue, note=result.reason
    )
