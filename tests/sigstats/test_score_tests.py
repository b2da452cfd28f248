import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm, ttest_rel
from sklearn.metrics import roc_auc_score

from sigstats.score_tests import auc_test, mean_score_test


def by_definition(positive, a, b):
    """Areas and their covariance by DeLong, DeLong and Clarke-Pearson's sums over all pairs."""
    truth = np.asarray(positive, bool)
    parts = []
    for scores in (np.asarray(a), np.asarray(b)):
        x, y = scores[truth][:, None], scores[~truth][None, :]
        parts.append((x > y) + 0.5 * (x == y))
    areas = [part.mean() for part in parts]
    v10 = [part.mean(axis=1) for part in parts]
    v01 = [part.mean(axis=0) for part in parts]
    covariance = np.cov(v10) / truth.sum() + np.cov(v01) / (~truth).sum()
    return areas, covariance


def made(n=60, seed=0, ties=True, shift=1.0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    a = rng.normal(size=n) + shift * positive
    b = 0.6 * a + 0.8 * rng.normal(size=n) + 0.3 * positive
    return positive, np.round(a, 1) if ties else a, np.round(b, 1) if ties else b


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("ties", [False, True])
def test_delong_is_its_definition(seed, ties):
    positive, a, b = made(seed=seed, ties=ties)
    areas, covariance = by_definition(positive, a, b)
    found = auc_test(positive, a, b)
    assert (found.value_a, found.value_b) == (pytest.approx(areas[0]), pytest.approx(areas[1]))
    assert found.value_a == pytest.approx(roc_auc_score(positive, a))
    z = (areas[1] - areas[0]) / math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert found.statistic == pytest.approx(z)
    assert found.pvalue == pytest.approx(2 * norm.sf(abs(z)))
    assert auc_test(positive, a, b, alternative="less").pvalue == pytest.approx(norm.sf(z))
    half = norm.ppf(0.975) * math.sqrt(covariance[0, 0])
    assert found.interval_a[:2] == pytest.approx((areas[0] - half, areas[0] + half))


@pytest.mark.parametrize("seed", range(8))
def test_the_mean_is_tested_as_scipy_tests_it(seed):
    rng = np.random.default_rng(seed)
    a = rng.exponential(size=30)
    b = a + rng.normal(0.1, 0.5, size=30)
    wanted = ttest_rel(b, a)
    found = mean_score_test(a, b, confidence=0.9)
    assert (found.statistic, found.pvalue) == (pytest.approx(wanted.statistic), pytest.approx(wanted.pvalue))
    assert found.interval[:2] == pytest.approx(tuple(wanted.confidence_interval(0.9)))
    for ours, theirs in (("less", "greater"), ("greater", "less")):
        assert mean_score_test(a, b, alternative=ours).pvalue == pytest.approx(
            ttest_rel(b, a, alternative=theirs).pvalue
        )


@pytest.mark.parametrize("seed", range(5))
def test_groups_are_those_of_a_regression_with_clustered_errors(seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 12, size=80)
    a = rng.normal(size=80) + rng.normal(size=12)[groups]
    b = rng.normal(size=80) + rng.normal(size=12)[groups]
    fitted = sm.OLS(b - a, np.ones(80)).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False, "df_correction": True}, use_t=True
    )
    count = len(np.unique(groups))
    wanted = fitted.bse[0] * math.sqrt(count / (count - 1))
    found = mean_score_test(a, b, groups=groups)
    assert found.estimate / found.statistic == pytest.approx(wanted)
    assert "groups" in found.reason


@settings(deadline=None, derandomize=True, max_examples=60)
@given(seed=st.integers(0, 2**32), shift=st.floats(-2, 2))
def test_laws(seed, shift):
    positive, a, b = made(n=40, seed=seed, shift=shift)
    if min(positive.sum(), (~positive).sum()) < 2:
        return
    found, swapped = auc_test(positive, a, b), auc_test(positive, b, a)
    assert found.pvalue == pytest.approx(swapped.pvalue)
    assert found.estimate == pytest.approx(-swapped.estimate)
    # an area depends on the order of the scores alone, and turns over with the classes
    assert auc_test(positive, np.exp(a), b**3).pvalue == pytest.approx(found.pvalue)
    assert auc_test(~positive, -a, -b).pvalue == pytest.approx(found.pvalue)
    alone = auc_test(positive, a, b, groups=np.arange(40))
    assert alone.estimate == pytest.approx(found.estimate)
    mean = mean_score_test(a, b)
    assert mean_score_test(a + 3, b + 3).pvalue == pytest.approx(mean.pvalue)
    assert mean_score_test(2 * a, 2 * b).pvalue == pytest.approx(mean.pvalue)


def too_many(trials, level):
    """As many rejections that more of them come once in a million."""
    return binom.isf(1e-6, trials, level)


def test_no_more_false_alarms_than_stated():
    # B is A with other noise of the same size: the areas are equal, the scores correlated.
    rng = np.random.default_rng(5)
    areas = means = grouped = 0
    trials, groups = 1500, np.repeat(np.arange(40), 5)
    for _ in range(trials):
        positive = np.arange(200) % 3 == 0
        common = rng.normal(size=200) + positive
        a, b = common + rng.normal(size=200), common + rng.normal(size=200)
        areas += auc_test(positive, a, b, alternative="less").pvalue <= 0.05
        means += mean_score_test(a, b, alternative="less").pvalue <= 0.05
        shared = rng.normal(size=40)[groups]
        grouped += mean_score_test(a, b + shared, groups=groups).pvalue <= 0.05
    # the normal approximation at 67 positives and 40 groups costs at most half a percentage point
    assert max(areas, means, grouped) <= too_many(trials, 0.055)
    assert min(areas, means, grouped) >= trials - too_many(trials, 1 - 0.04)


def test_rows_that_do_not_differ_show_nothing():
    positive, a, _ = made()
    for found in (auc_test(positive, a, a), mean_score_test(a, a)):
        assert (found.pvalue, found.estimate, found.interval[:2]) == (1.0, 0.0, (0.0, 0.0))
    constant = mean_score_test([1.0, 2.0, 3.0], [1.5, 2.5, 3.5])
    assert (constant.pvalue, constant.interval[:2]) == (0.0, (0.5, 0.5))
    assert "differ by the same" in constant.reason


@pytest.mark.parametrize(
    ("test", "arguments", "message"),
    [
        (auc_test, ([1, 0, 1, 1], [1, 2, 3, 4], [1, 2, 3, 4]), "expected two of each"),
        (auc_test, ([1, 0, 1, 0], [1, 2, 3], [1, 2, 3, 4]), r"score_a \(length\): 3 is not valid; expected 4"),
        (auc_test, ([1, 0, 1, 0], [1, 2, 3, math.nan], [1, 2, 3, 4]), "score_a"),
        (auc_test, ([1, 0, 2, 0], [1, 2, 3, 4], [1, 2, 3, 4]), "positive: 2 is not valid"),
        (mean_score_test, ([1.0], [2.0]), "expected two rows or more"),
        (mean_score_test, ([1.0, 2.0], ["x", "y"]), "score_b"),
        (mean_score_test, ([1.0, 1e200], [2.0, 1.0]), "score_a: 1e.200 is not valid"),
    ],
)
def test_bad_input_is_one_line(test, arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        test(*arguments)
    assert "\n" not in str(caught.value)


def test_bad_groups_are_one_line():
    for groups in ([1, 1, 1], [1, 2], ["a", "b", "c"], [[1], [2], [3]]):
        with pytest.raises(ValueError, match="groups"):
            mean_score_test([1.0, 2.0, 3.0], [1.0, 2.0, 4.0], groups=groups)
