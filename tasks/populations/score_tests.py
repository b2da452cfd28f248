"""Tests of scores on test sets: areas under the ROC curve by DeLong, losses by Student's t."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from sigstats.measures.table import MEASURES
from sigstats.scores.auc import auc_test
from sigstats.scores.mean_score import mean_score_test
from sigstats.scores.result import ScoreResult

from ..work import AppliedTest
from .score_files import Rows
from .tests import Answers, attempts, numbers


def difference(measure: str, rows: Rows) -> float:
    """The difference B - A of a measure over all rows."""
    spec = MEASURES[measure]
    return spec.of(rows.positive, rows.b) - spec.of(rows.positive, rows.a)


def run_score_test(test: AppliedTest, sets: Rows, truth: float) -> tuple[Answers, NDArray[np.float64]]:
    """Run a test of scores on each test set; return its answers and the difference B - A on each.

    A test set without two rows (of both classes for an area; of two groups, if rows have groups) is no evidence: its
    p-value is 1, and its interval holds every value.
    """
    found, problem = attempts(partial(_answer, test, sets.part(index), truth) for index in range(len(sets)))
    answers = Answers(
        numbers(None if each is None else each[0] for each in found),
        np.array([None if each is None else each[1] for each in found], object),
        problem,
    )
    return answers, np.array([0.0 if each is None else each[2] for each in found])


def _answer(test: AppliedTest, rows: Rows, truth: float) -> tuple[float, bool, float]:
    """The p-value, whether the interval holds the truth B - A, and this difference."""
    result = _result(test, rows)
    if result is None:
        return 1.0, True, 0.0
    interval = result.confidence_interval
    return result.pvalue, bool(interval.low <= -truth <= interval.high), 0.0 - result.estimate


def _result(test: AppliedTest, rows: Rows) -> ScoreResult | None:
    options = {
        "alternative": test.options["alternative"],
        "confidence_level": test.options["confidence"],
        "groups": rows.group,
    }
    if len(rows) < 2 or (rows.group is not None and len(np.unique(rows.group)) < 2):
        return None
    spec = MEASURES[test.compared]
    if spec.of_rows is None:
        # The units are rows or groups: two with a positive and two with a negative are needed.
        units = np.arange(len(rows)) if rows.group is None else rows.group
        if min(len(np.unique(units[rows.positive])), len(np.unique(units[~rows.positive]))) < 2:
            return None
        return auc_test(rows.positive, rows.a, rows.b, method=test.options.get("method", "asymptotic"), **options)
    return mean_score_test(*(spec.of_rows(rows.positive, score) for score in (rows.a, rows.b)), **options)
