import math
from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm, rankdata, t, ttest_rel
from sklearn.metrics import roc_auc_score
from statsmodels.regression.linear_model import OLS

from sigstats.scores.auc import auc_test
from sigstats.scores.mean_score import mean_score_test

from ...examples import examples


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


def by_clusters(positive, a, b, groups):
    """Obuchowski's (1997) variance of the difference: S10 / M + S01 / N + 2 S11 / (M N), in the paper's sums."""
    truth, groups = np.asarray(positive, bool), np.asarray(groups)
    x10, x01 = [], []
    for scores in (np.asarray(a), np.asarray(b)):
        pairs = np.sign(scores[truth][:, None] - scores[~truth][None, :]) / 2 + 0.5
        x10.append(pairs.mean(axis=1) - pairs.mean())
        x01.append(pairs.mean(axis=0) - pairs.mean())
    m, n = truth.sum(), (~truth).sum()
    clusters = np.unique(groups)
    v10 = [sum((x10[1] - x10[0])[groups[truth] == each]) for each in clusters]
    v01 = [sum((x01[1] - x01[0])[groups[~truth] == each]) for each in clusters]
    i, i10, i01 = len(clusters), len(np.unique(groups[truth])), len(np.unique(groups[~truth]))
    s10 = i10 / ((i10 - 1) * m) * sum(v * v for v in v10)
    s01 = i01 / ((i01 - 1) * n) * sum(v * v for v in v01)
    s11 = i / (i - 1) * sum(v * w for v, w in zip(v10, v01, strict=True))
    return s10 / m + s01 / n + 2 * s11 / (m * n)


def made(n=60, seed=0, ties=True, shift=1.0):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    a = rng.normal(size=n) + shift * positive
    b = 0.6 * a + 0.8 * rng.normal(size=n) + 0.3 * positive
    return positive, np.round(a, 1) if ties else a, np.round(b, 1) if ties else b


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ties", [False, True])
def test_delong_is_its_definition(seed, ties):
    positive, a, b = made(seed=seed, ties=ties)
    areas, covariance = by_definition(positive, a, b)
    found = auc_test(positive, a, b)
    assert (found.value_a, found.value_b) == (pytest.approx(areas[0]), pytest.approx(areas[1]))
    assert found.value_a == pytest.approx(roc_auc_score(positive, a))
    z = (areas[0] - areas[1]) / math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert found.statistic == pytest.approx(z)
    assert found.pvalue == pytest.approx(2 * norm.sf(abs(z)))
    assert auc_test(positive, a, b, alternative="greater").pvalue == pytest.approx(norm.sf(z))
    half = norm.ppf(0.975) * math.sqrt(covariance[0, 0])
    assert found.interval_a == pytest.approx((max(areas[0] - half, 0), min(areas[0] + half, 1)))


@pytest.mark.parametrize("seed", range(6))
def test_groups_have_the_variance_of_obuchowski(seed):
    positive, a, b = made(seed=seed)
    groups = np.random.default_rng(seed).integers(0, (4, 12, 40)[seed % 3], size=60)
    if seed % 2:  # no group has rows of both classes
        groups = 2 * groups + positive
    found = auc_test(positive, a, b, groups=groups)
    variance = by_clusters(positive, a, b, groups)
    assert found.estimate == pytest.approx(roc_auc_score(positive, a) - roc_auc_score(positive, b))
    assert found.statistic == pytest.approx(found.estimate / math.sqrt(variance))
    assert found.pvalue == pytest.approx(2 * norm.sf(abs(found.statistic)))
    reach = norm.ppf(0.975) * math.sqrt(variance)
    assert found.confidence_interval == pytest.approx((found.estimate - reach, found.estimate + reach))


def test_groups_of_one_row_are_delong():
    positive = [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
    a = [0.9, 0.2, 0.6, 0.5, 0.1, 0.3, 0.4, 0.15, 0.7, 0.05]
    b = [0.8, 0.9, 0.95, 0.2, 0.1, 0.3, 0.4, 0.35, 0.6, 0.05]
    for method in ("asymptotic", "t"):
        alone, grouped = (auc_test(positive, a, b, groups=each, method=method) for each in (None, range(10)))
        assert grouped.pvalue == pytest.approx(alone.pvalue, rel=1e-13)
        assert grouped.confidence_interval == pytest.approx(alone.confidence_interval, rel=1e-13)
    assert auc_test(positive, a, b, groups=range(10)).pvalue == pytest.approx(0.22525, abs=5e-6)
    rng = np.random.default_rng(4)
    positive, a, b = np.arange(64) < 4, rng.normal(size=64), rng.normal(size=64)
    assert auc_test(positive, a, b, groups=np.arange(64)).pvalue == pytest.approx(auc_test(positive, a, b).pvalue)


def test_students_t_has_the_degrees_of_freedom_of_welch():
    positive, a, b = made(seed=3)
    _, covariance = by_definition(positive, a, b)
    truth = np.asarray(positive, bool)
    gains = []
    for one, other in ((truth, ~truth), (~truth, truth)):
        gains.append([(np.sign(s[one][:, None] - s[other][None, :]) / 2).mean(axis=1) for s in (a, b)])
    parts = [np.var(g[1] - g[0], ddof=1) / len(g[0]) for g in gains]
    total = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert sum(parts) == pytest.approx(total)
    freedom = total**2 / sum(part**2 / (len(g[0]) - 1) for part, g in zip(parts, gains, strict=True))
    found = auc_test(positive, a, b, method="t")
    assert found.statistic == pytest.approx(auc_test(positive, a, b).statistic)
    assert found.pvalue == pytest.approx(2 * t.sf(abs(found.statistic), freedom))
    # Where all groups have rows of both classes, they are one sample.
    truth, groups = np.arange(60) % 2 == 0, np.arange(60) // 6
    found = auc_test(truth, a, b, groups=groups, method="t", alternative="greater")
    assert found.pvalue == pytest.approx(t.sf(found.statistic, 9))


def test_the_warning_counts_the_groups_of_the_rarer_class():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    found = auc_test(groups < 5, rng.normal(size=200), rng.normal(size=200), groups=groups)
    assert "only 5 groups of the rarer class" in found.reason
    enough = auc_test(groups < 20, rng.normal(size=200), rng.normal(size=200), groups=groups)
    assert enough.reason == ""


@pytest.mark.long
@pytest.mark.parametrize(("of_positives", "asymptotic"), [(3, (0.11, 0.15)), (5, (0.07, 0.105))])
def test_students_t_keeps_its_level_with_few_groups_of_a_class(of_positives, asymptotic):
    # The bounds on the asymptotic test are what docs/methods.md says of it, with four standard errors to spare.
    rng = np.random.default_rng(of_positives)
    groups = np.repeat(np.arange(40), 4)
    positive = groups < of_positives
    rejections = {"asymptotic": 0, "t": 0}
    for _ in range(2000):
        common = rng.normal(size=40)[groups] / 2 + positive
        a, b = (common + 0.7 * rng.normal(size=40)[groups] + 0.7 * rng.normal(size=160) for _ in range(2))
        for method in rejections:
            rejections[method] += auc_test(positive, a, b, groups=groups, method=method).pvalue <= 0.05
    assert rejections["t"] <= too_many(2000, 0.065)
    assert asymptotic[0] < rejections["asymptotic"] / 2000 < asymptotic[1]


@pytest.mark.parametrize("seed", range(4))
def test_the_mean_is_tested_as_scipy_tests_it(seed):
    rng = np.random.default_rng(seed)
    a = rng.exponential(size=30)
    b = a + rng.normal(0.1, 0.5, size=30)
    wanted = ttest_rel(a, b)
    found = mean_score_test(a, b, confidence_level=0.9)
    assert (found.statistic, found.pvalue) == (pytest.approx(wanted.statistic), pytest.approx(wanted.pvalue))
    assert found.confidence_interval == pytest.approx(tuple(wanted.confidence_interval(0.9)))
    for way in ("less", "greater"):
        assert mean_score_test(a, b, alternative=way).pvalue == pytest.approx(ttest_rel(a, b, alternative=way).pvalue)


@pytest.mark.parametrize("seed", range(5))
def test_groups_are_those_of_a_regression_with_clustered_errors(seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 12, size=80)
    a = rng.normal(size=80) + rng.normal(size=12)[groups]
    b = rng.normal(size=80) + rng.normal(size=12)[groups]
    fitted = OLS(a - b, np.ones(80)).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False, "df_correction": True}, use_t=True
    )
    count = len(np.unique(groups))
    wanted = fitted.bse[0] * math.sqrt(count / (count - 1))
    found = mean_score_test(a, b, groups=groups)
    assert found.estimate / found.statistic == pytest.approx(wanted)
    assert "groups" in found.reason


@settings(deadline=None, derandomize=True, max_examples=examples(60))
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
    assert alone.pvalue == pytest.approx(found.pvalue, rel=1e-9)
    assert alone.confidence_interval == pytest.approx(found.confidence_interval)
    assert auc_test(positive, b, a, groups=np.arange(40) // 2).pvalue == pytest.approx(
        auc_test(positive, a, b, groups=np.arange(40) // 2).pvalue
    )
    mean = mean_score_test(a, b)
    alone = mean_score_test(a, b, groups=np.arange(40))
    assert (alone.pvalue, alone.confidence_interval) == (
        pytest.approx(mean.pvalue),
        pytest.approx(mean.confidence_interval),
    )
    assert mean_score_test(a + 3, b + 3).pvalue == pytest.approx(mean.pvalue)
    assert mean_score_test(2 * a, 2 * b).pvalue == pytest.approx(mean.pvalue)


@pytest.mark.parametrize("seed", range(4))
def test_the_interval_of_a_one_sided_test_is_one_sided(seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=12)
    b = a + rng.normal(0.3, 1, size=12)
    for way in ("less", "greater"):
        found = mean_score_test(a, b, alternative=way, confidence_level=0.9)
        wanted = ttest_rel(a, b, alternative=way).confidence_interval(0.9)
        assert found.confidence_interval == pytest.approx((wanted.low, wanted.high))
        assert (found.pvalue < 0.1) == (not found.confidence_interval.low <= 0 <= found.confidence_interval.high)
        assert found.interval_a == mean_score_test(a, b, confidence_level=0.9).interval_a
    positive, a, b = made(seed=seed)
    two_sided = auc_test(positive, a, b, confidence_level=0.9).confidence_interval
    for way, ends in (("greater", (two_sided.low, 1.0)), ("less", (-1.0, two_sided.high))):
        assert auc_test(positive, a, b, alternative=way, confidence_level=0.95).confidence_interval[
            :2
        ] == pytest.approx(ends)


def test_intervals_of_areas_end_where_areas_do():
    # Of the data in the docstring of `auc_test`; the area 0.9375 has a standard error of 0.088.
    positive = [0, 0, 0, 0, 1, 1, 1, 1]
    a = [0.1, 0.4, 0.6, 0.3, 0.5, 0.2, 0.8, 0.7]
    b = [0.1, 0.2, 0.3, 0.5, 0.4, 0.6, 0.8, 0.9]
    found = auc_test(positive, a, b)
    assert (found.interval_a.high, found.interval_b.high) == (1.0, 1.0)
    assert found.interval_b.low == pytest.approx(0.764262, abs=1e-6)
    worse = auc_test(positive, [-x for x in b], [x + y for x, y in zip(b, a, strict=True)], confidence_level=0.999)
    assert worse.confidence_interval.low == -1.0
    assert worse.interval_a.low == 0.0


def too_many(trials, level):
    """As many rejections that more of them come once in a million."""
    return binom.isf(1e-6, trials, level)


def test_rows_that_do_not_differ_show_nothing():
    positive, a, _ = made()
    for found in (auc_test(positive, a, a), mean_score_test(a, a)):
        assert (found.pvalue, found.estimate, tuple(found.confidence_interval)) == (1.0, 0.0, (0.0, 0.0))
    constant = mean_score_test([1.0, 2.0, 3.0], [1.5, 2.5, 3.5])
    assert (constant.pvalue, tuple(constant.confidence_interval)) == (2 / 2**3, (-math.inf, math.inf))
    assert "differences are equal: p is the smallest that 3 rows can show" in constant.reason


def t_in_rationals(a, b, groups=None):
    """Student's t of the differences of these very doubles, by rows or groups, and its degrees of freedom."""
    differences = [Fraction(x) - Fraction(y) for x, y in zip(a, b, strict=True)]
    mean = sum(differences) / len(differences)
    sums = defaultdict(Fraction)
    for group, each in zip(range(len(a)) if groups is None else groups, differences, strict=True):
        sums[group] += (each - mean) / len(differences)
    count = len(sums)
    variance = sum(each**2 for each in sums.values()) * Fraction(count, count - 1)
    return float(mean) / math.sqrt(variance), count - 1


def test_small_differences_of_large_scores_do_not_cancel():
    a, b = [-1.0, 1.0], [-1 + 3e-9, 1 + 1e-9]
    found = mean_score_test(a, b)
    z, freedom = t_in_rationals(a, b)
    assert (found.statistic, found.pvalue) == (pytest.approx(z), pytest.approx(2 * t.sf(abs(z), freedom)))
    assert found.pvalue == pytest.approx(0.295, abs=5e-4)
    rng = np.random.default_rng(2)
    groups = rng.integers(0, 7, size=30)
    for size in (1e-3, 1e-7, 1e-10):
        a = rng.normal(size=30)
        b = a + size * rng.normal(0.3, 1, size=30)
        for which in (None, groups):
            z, freedom = t_in_rationals(a.tolist(), b.tolist(), which)
            found = mean_score_test(a, b, groups=which)
            assert found.statistic == pytest.approx(z, rel=1e-4 * 1e-10 / size)
            assert found.pvalue == pytest.approx(2 * t.sf(abs(z), freedom), rel=1e-4)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-13, 1.0, 1e13, 1e149])
@pytest.mark.parametrize("groups", [None, [0, 0, 1, 2, 2, 3]])
def test_the_unit_of_the_scores_changes_nothing(scale, groups):
    a, b = np.array([0.3, -0.1, 0.7, 0.2, 0.5, 0.9]), np.array([0.4, 0.1, 0.6, 0.5, 0.9, 1.1])
    found, scaled = mean_score_test(a, b, groups=groups), mean_score_test(scale * a, scale * b, groups=groups)
    assert (scaled.statistic, scaled.pvalue) == (pytest.approx(found.statistic), pytest.approx(found.pvalue))
    assert scaled.confidence_interval.high / scale == pytest.approx(found.confidence_interval.high)
    # A constant, rounded, of six rows or of four groups; and none at all, rounded.
    same = mean_score_test(scale * a, scale * (a + 0.1), groups=groups)
    assert same.pvalue == (2 / 2**6 if groups is None else 2 / 2**4)
    assert mean_score_test(scale * a, scale * ((a + 0.1) - 0.1), groups=groups).pvalue == 1


@settings(deadline=None, derandomize=True, max_examples=examples(60))
@given(
    st.lists(st.integers(1, 4), min_size=2, max_size=7),
    st.sampled_from([-0.5, 0.5, 1.0]),
    st.sampled_from(["two-sided", "less", "greater"]),
)
def test_equal_differences_give_what_an_exchange_of_whole_groups_gives(rows, shift, alternative):
    groups = np.repeat(np.arange(len(rows)), rows)
    a = np.arange(len(groups), dtype=float)
    # All 2^g ways of exchanging A and B in each group, as sums of differences in halves.
    ways = [sum(s * n * shift for s, n in zip(w, rows, strict=True)) for w in product((1, -1), repeat=len(rows))]
    size = {"two-sided": abs, "less": float, "greater": lambda x: -x}[alternative]
    exact = Fraction(sum(size(way) >= size(ways[0]) for way in ways), len(ways))
    favoured = alternative in ("two-sided", "less" if shift > 0 else "greater")
    found = mean_score_test(a, a + shift, groups=groups, alternative=alternative)
    assert found.pvalue == (exact if favoured else 1)
    assert f"{len(rows)} groups can show" in found.reason


def areas_of(ranks, m):
    """Twice the number of pairs in the right order, the first m objects positive; the last axis has the objects."""
    positive, negative = ranks[..., :m, None], ranks[..., None, m:]
    return (2 * (positive > negative) + (positive == negative)).sum(axis=(-2, -1))


def exchange_of_rows(a, b, m):
    """The two-sided p-value of exchanging the ranks that A and B give each object, by listing all ways."""
    a, b = rankdata(a), rankdata(b)
    swap = np.array(list(product((False, True), repeat=len(a))))
    differences = areas_of(np.where(swap, a, b), m) - areas_of(np.where(swap, b, a), m)
    return np.mean(np.abs(differences) >= abs(differences[0]))


@pytest.mark.long
def test_areas_that_differ_by_the_same_everywhere_have_no_smaller_p_than_an_exchange_of_rows():
    constant = 0
    for m, n in ((2, 2), (2, 3), (3, 2)):
        truth = np.arange(m + n) < m
        orders = np.array(list(product(range(3), repeat=m + n)))  # with ties
        rng = np.random.default_rng(m * n)
        for a, b in zip(rng.permutation(orders)[:200], rng.permutation(orders)[:200], strict=True):
            for second in (b, (a + 2 * truth - 1), np.where(truth, 3, 0), np.where(truth, 0, 3)):
                found = auc_test(truth, a, second)
                if math.isinf(found.statistic):
                    constant += 1
                    assert found.pvalue == 2 / 2 ** min(m, n)
                    assert found.pvalue >= exchange_of_rows(a, second, m) - 1e-12
                    sides = {auc_test(truth, a, second, alternative=way).pvalue for way in ("less", "greater")}
                    assert sides == {1 / 2 ** min(m, n), 1.0}
    assert constant > 20
    # Each positive is first for one classifier and last for the other, all negatives between: the bound is reached.
    truth, a, b = np.arange(7) < 3, [0, 0, 0, 5, 5, 5, 5], [9, 9, 9, 5, 5, 5, 5]
    found = auc_test(truth, a, b)
    assert "3 rows of the rarer class can show" in found.reason
    assert found.pvalue == pytest.approx(exchange_of_rows(a, b, 3)) == 2 / 2**3


def test_one_pair_in_another_order_among_millions():
    # DeLong's variance where one positive passes one negative: 1 / (m n) is the mean of both kinds of placements.
    m, n = 3000, 2000
    scores = np.arange(m + n, dtype=float)
    truth = np.arange(m + n) % 5 < 3
    other = scores.copy()
    place = int(np.flatnonzero(~truth[:-1] & truth[1:])[7])
    other[[place, place + 1]] = scores[[place + 1, place]]
    found = auc_test(truth, scores, other)
    mean = Fraction(1, m * n)
    variance = (Fraction(1, n**2) - m * mean**2) / ((m - 1) * m) + (Fraction(1, m**2) - n * mean**2) / ((n - 1) * n)
    assert found.estimate == float(mean)
    assert found.statistic == pytest.approx(float(mean) / math.sqrt(variance), rel=1e-12)


def test_areas_of_groups_that_differ_by_the_same():
    # Two rows of each class in each of four groups, and in all of them A is wrong and B is right.
    truth, groups = np.arange(16) % 4 < 2, np.arange(16) // 4
    found = auc_test(truth, np.where(truth, 0, 1), np.where(truth, 1, 0), groups=groups)
    assert (found.estimate, found.pvalue) == (-1.0, 2 / 2**4)
    assert "4 groups of the rarer class" in found.reason


def test_scores_of_the_other_class_are_warned_of():
    rng = np.random.default_rng(2)
    y = np.arange(200) % 2
    a, b, random = y + rng.normal(size=200), y + rng.normal(size=200), rng.random(200)
    assert auc_test(y, a, b).reason == auc_test(y, a, random).reason == ""
    assert auc_test(y, a, -b).reason == "score_b may be of the other class: positive rows have lower scores"
    assert auc_test(y, -a, -b).reason.startswith("score_a and score_b may be of the other class")


def test_codes_of_missing_marks_and_other_units_are_warned_of():
    rng = np.random.default_rng(4)
    a, b = rng.random((2, 200))
    assert mean_score_test(a, b).reason == ""
    assert "20 of 200 for score_a are -1" in mean_score_test(np.where(np.arange(200) < 20, -1, a), b).reason
    assert mean_score_test(100 * a, b).reason.startswith("scores may be in two units: ")


def test_the_order_may_be_dates():
    rng = np.random.default_rng(3)
    a, b, days = rng.random(60), rng.random(60), rng.permutation(60)
    expected = mean_score_test(a, b, order=days)
    dates = np.datetime64("2026-01-01") + days
    days, times = dates.astype("M8[D]").tolist(), dates.astype("M8[us]").tolist()
    series = pd.Series(dates)
    orders = [
        dates,
        pd.DatetimeIndex(dates),
        series,
        series.dt.tz_localize("UTC"),
        series.dt.date,
        [*dates],
        days,
        times,
    ]
    orders += [pl.Series(days), pl.Series(times), pa.array(days), pa.array(times), pd.PeriodIndex(dates, freq="D")]
    for order in orders:
        assert mean_score_test(a, b, order=order) == expected
    for odd in (None, pd.NaT, times[0], "2026-01-01"):
        with pytest.raises(ValueError, match=r"^order: .* is not valid; expected times of one kind") as caught:
            mean_score_test(a, b, order=[*days[:-1], odd])
        assert len(str(caught.value)) < 150


@pytest.mark.parametrize(
    ("test", "arguments", "message"),
    [
        (auc_test, ([1, 0, 1, 1], [1, 2, 3, 4], [1, 2, 3, 4]), "expected two of each"),
        (auc_test, ([1, 0, 1, 0], [1, 2, 3], [1, 2, 3, 4]), r"score_a: the length is 3; expected 4"),
        (auc_test, ([1, 0, 1, 0], [1, 2, 3, math.nan], [1, 2, 3, 4]), "score_a"),
        (auc_test, ([1, 0, 2, 0], [1, 2, 3, 4], [1, 2, 3, 4]), "positive: is missing; expected one of"),
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
    for groups in ([1, 1, 1], [1, 2], [None, "b", "c"], [[1], [2], [3]]):
        with pytest.raises(ValueError, match="groups"):
            mean_score_test([1.0, 2.0, 3.0], [1.0, 2.0, 4.0], groups=groups)
    with pytest.raises(ValueError, match="groups: '1 with a positive row and 2 with a negative one'"):
        auc_test([1, 1, 0, 0], [1, 2, 3, 4], [1, 2, 4, 3], groups=[0, 0, 1, 2])


def agrees(result, level):
    """Whether the interval excludes 0 if and only if the p-value is at most one less its confidence."""
    low, high = result.confidence_interval
    excludes = not low <= 0 <= high
    return excludes == (result.pvalue <= 1 - level) or result.estimate == 0


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("rows", range(2, 9))
def test_few_equal_differences_exclude_what_their_p_value_rejects(rows, alternative):
    options = {"alternative": alternative, "confidence_level": 0.95}
    positive = [1] * rows + [0] * rows
    apart = [3] * rows + [2] * (rows - 1) + [1]
    reversed_ = [1] * rows + [2] * rows
    for a, b in ((reversed_, apart), (apart, reversed_)):
        assert agrees(auc_test(positive, a, b, **options), 0.95)
    for sign in (1, -1):
        assert agrees(mean_score_test([0.0] * rows, [sign] * rows, **options), 0.95)


def test_truth_values_are_marks_as_in_unpaired_test():
    a, b = np.random.default_rng(5).random((2, 60)) < 0.7
    expected = mean_score_test(a.astype(float), b.astype(float))
    assert mean_score_test(a, b) == mean_score_test(a.tolist(), b * 1) == expected
