"""The corrected resampled t against SciPy's t-test, which it is without the correction, and known values."""

import numpy as np
import pytest
from scipy import stats

from sigstats import corrected_resampled_test

TEN = [i / 100 for i in range(1, 11)]


def test_known_value():
    found = corrected_resampled_test(TEN, n_train=9, n_test=1)
    assert (round(found.statistic, 5), round(found.pvalue, 6), found.degrees) == (3.95368, 0.003336, 9)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_a_vanishing_test_set_needs_no_correction(alternative):
    differences = np.random.default_rng(0).normal(0.3, 1, 25)
    expected = stats.ttest_1samp(differences, 0, alternative=alternative)
    found = corrected_resampled_test(differences, n_train=10**12, n_test=1, alternative=alternative)
    assert (found.statistic, found.pvalue) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
    interval = expected.confidence_interval(0.95)
    assert found.confidence_interval == pytest.approx((interval.low, interval.high), rel=1e-9)


def test_the_interval_agrees_with_the_test():
    rng = np.random.default_rng(1)
    for _ in range(100):
        found = corrected_resampled_test(rng.normal(rng.normal(0, 0.5), 1, 10), n_train=90, n_test=10)
        low, high = found.confidence_interval
        assert (low > 0 or high < 0) == (found.pvalue < 0.05)


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-540, 2.0**480])
def test_the_unit_of_the_differences_changes_nothing(unit):
    differences = np.random.default_rng(2).normal(0.3, 1, 12)
    found = corrected_resampled_test(differences * unit, n_train=9, n_test=1)
    expected = corrected_resampled_test(differences, n_train=9, n_test=1)
    assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)
    assert found.standard_error == expected.standard_error * unit


def test_differences_that_do_not_vary():
    assert corrected_resampled_test([0, 0, 0], n_train=9, n_test=1).pvalue == 1
    for folds, independent in ((3, 2), (10, 4), (100, 8)):  # 1 / (1 / folds + 1 / 9)
        same = corrected_resampled_test([0.1 * 3, 0.3] * (folds // 2) + [0.3] * (folds % 2), n_train=9, n_test=1)
        assert (same.statistic, same.reason) == (np.inf, "the differences do not vary")
        assert same.pvalue == 2 * 0.5**independent
        assert (same.confidence_interval.low > 0) == (same.pvalue < 0.05)
    one_sided = [
        corrected_resampled_test([0.1] * 9, n_train=8, n_test=1, alternative=way).pvalue for way in ("greater", "less")
    ]
    assert one_sided == [0.5**4, 1]


def test_equal_learners_on_few_rows_keep_the_level():
    rng, trials = np.random.default_rng(5), 4000  # two votes at random on each of ten rows, a row a fold
    apart = rng.integers(0, 2, (trials, 10)) - rng.integers(0, 2, (trials, 10))
    pvalues = np.array([corrected_resampled_test(each / 1, n_train=9, n_test=1).pvalue for each in apart])
    for level in (0.001, 0.01, 0.05):
        assert (pvalues <= level).sum() <= stats.binom.isf(1e-6, trials, level)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"differences": [1]}, "differences: "),
        ({"n_train": 0}, "n_train: 0"),
        ({"n_test": 0}, "n_test: 0"),
        ({"alternative": "better"}, "alternative: 'better'"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    with pytest.raises(ValueError, match=message):
        corrected_resampled_test(**{"differences": TEN, "n_train": 9, "n_test": 1, **arguments})
