"""Means over many classes of few rows: standard errors by the formula of strata, and levels by simulation."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import f1_score, jaccard_score, recall_score

from sigstats import check, compare
from sigstats.comparison.rule import ComparisonRule

from ...examples import simulated

RULE = ComparisonRule(n_resamples=500)


def drawn(rng, classes, rows, right=0.8):
    """Labels, and the predictions of two models that are right equally often."""
    y = np.repeat(np.arange(classes), rows)
    sides = [
        np.where(rng.random(len(y)) < right, y, (y + rng.integers(1, classes, len(y))) % classes) for _ in range(2)
    ]
    return y, *sides


@pytest.mark.parametrize(("classes", "rows"), [(40, 2), (30, 4), (15, 8)])
@pytest.mark.parametrize("measure", ["macro-recall", "balanced-accuracy"])
def test_the_standard_error_is_that_of_a_stratified_mean(classes, rows, measure):
    y, a, b = drawn(np.random.default_rng(classes), classes, rows)
    found = compare(y, a, b, measures=measure, rule=ComparisonRule(n_resamples=4000)).rows[0].standard_error
    ahead = ((b == y) * 1.0 - (a == y)).reshape(classes, rows)
    assert found == pytest.approx(np.sqrt(ahead.var(axis=1, ddof=1).sum() / rows) / classes, rel=0.15)


def by_scikit_learn(measure, y, called):
    """The mean over the classes that occur, each against all others."""
    if measure == "macro-specificity":
        return np.mean([recall_score(y != k, called != k) for k in np.unique(y)])
    score = {"macro-f1": f1_score, "macro-jaccard": jaccard_score}[measure]
    return np.mean([score(y == k, called == k) for k in np.unique(y)])


@pytest.mark.long
@pytest.mark.parametrize(
    ("measure", "size"),
    [("macro-f1", 1), ("macro-f1", 3), ("macro-jaccard", 1), ("macro-jaccard", 3), ("macro-specificity", 3)],
)
def test_the_standard_error_is_that_of_leaving_out_each_row_or_group(measure, size):
    y, a, b = drawn(np.random.default_rng(size), 12, 5, right=0.6)
    groups = np.arange(60) * 7 % 60 // size  # of several classes
    values = np.array(
        [
            np.subtract(*(by_scikit_learn(measure, y[groups != group], said[groups != group]) for said in (b, a)))
            for group in range(60 // size)
        ]
    )
    strata = values[groups].reshape(12, 5) if size == 1 else values[np.newaxis]  # rows are drawn class by class
    error = np.sqrt(((strata.shape[1] - 1) * strata.var(axis=1)).sum())
    more = {} if size == 1 else {"groups": groups}
    found = compare(y, a, b, measures=measure, rule=ComparisonRule(n_resamples=2000, unseen_group="any"), **more)
    assert found.rows[0].standard_error == pytest.approx(error, rel=1e-3)


@pytest.mark.long
def test_groups_of_many_sizes_need_no_memory_for_all_classes_without_each():
    """An array of 400 classes without each of 8,000 groups, all of other weights, takes 26 MB, and ten took 277."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(16_000) < 0.5, 0, rng.integers(0, 400, 16_000))
    a, b = (np.where(rng.random(16_000) < 0.8, y, 1) for _ in range(2))
    more = {"groups": np.arange(16_000) // 2, "weights": rng.random(16_000) + 0.5}
    tracemalloc.start()
    compare(y, a, b, measures="macro-specificity", rule=ComparisonRule(n_resamples=100), **more)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6


def test_rows_in_pairs_count_as_pairs():
    y, a, b = drawn(np.random.default_rng(1), 30, 3)
    twice = [np.repeat(values, 2) for values in (y, a, b)]
    found = compare(*twice, groups=np.arange(180) // 2, measures="macro-recall", rule=RULE).rows[0]
    assert found.standard_error == pytest.approx(
        compare(y, a, b, measures="macro-recall", rule=RULE).rows[0].standard_error, rel=0.35
    )


def test_classes_of_one_row_show_nothing():
    y, a, b = drawn(np.random.default_rng(2), 40, 1)
    row = compare(pd.Series(y), a, b, measures="macro-recall", rule=RULE).rows[0]
    assert (row.low, row.high, row.verdict) == (-1, 1, "inconclusive")


@pytest.mark.long
@pytest.mark.parametrize(
    ("classes", "rows", "measure"), [(100, 2, "macro-recall"), (60, 3, "macro-f1"), (40, 5, "macro-recall")]
)
def test_equal_models_are_told_apart_as_rarely_as_stated(classes, rows, measure):
    rng, false, missed, samples = np.random.default_rng(classes), 0, 0, simulated(150)
    for _ in range(samples):
        row = compare(*drawn(rng, classes, rows), measures=measure, rule=RULE).rows[0]
        false += row.pvalue <= 0.05
        missed += not row.low <= 0 <= row.high
    assert max(false, missed) <= stats.binom(samples, 0.05).ppf(0.999)


@pytest.mark.long
def test_a_bar_that_is_met_is_as_rarely_missed():
    rng, false, missed, samples = np.random.default_rng(0), 0, 0, simulated(150)
    for _ in range(samples):
        y, a, _ = drawn(rng, 100, 2)
        row = check(y, a, at_least=0.8, measures="macro-recall", rule=RULE).rows[0]
        false += row.verdict == "fail"
        missed += not row.low <= 0.8 <= row.high
    assert max(false, missed) <= stats.binom(samples, 0.05).ppf(0.999)
