import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.effects import accuracy_difference, discordant_odds_ratio
from sigstats.intervals import clopper_pearson, mid_p_interval
from sigstats.mcnemar.mcnemar_test import mcnemar_test

from ..examples import examples

counts = st.integers(0, 40)


def limits(effect):
    return effect.confidence_interval.low, effect.confidence_interval.high


def test_reference_intervals_of_r():
    # Printed by R's contingencytables 3.0.0: Cavo et al. 2012 (59, 6, 16, 80) and Ezra et al. 2010 (25 against 2).
    effect = accuracy_difference(6, 16, 161)
    assert (effect.estimate, *limits(effect)) == pytest.approx((-0.0621, -0.1240, -0.0054), abs=5e-5)
    exact, mid_p = (discordant_odds_ratio(25, 2, method=method) for method in ("exact", "mid-p"))
    assert exact.estimate == mid_p.estimate == 12.5
    assert limits(exact) == pytest.approx((3.1169, 108.8892), abs=5e-5)
    assert limits(mid_p) == pytest.approx((3.4681, 78.2972), abs=5e-5)
    # Printed by R's exact2x2: its vignette on the exact McNemar test, 2 against 9.
    effect = discordant_odds_ratio(2, 9)
    assert (effect.estimate, *limits(effect)) == pytest.approx((0.2222222, 0.02336464, 1.07363844), abs=3e-8)


@settings(deadline=None, derandomize=True, max_examples=examples(150))
@given(counts, counts, st.sampled_from(["exact", "mid-p"]), st.floats(0.02, 0.995))
def test_odds_ratio_interval_inverts_the_test(a, b, method, confidence):
    interval = discordant_odds_ratio(a, b, method=method, confidence_level=confidence).confidence_interval
    if a == b:
        assert interval.low <= 1 <= interval.high
        return
    pvalue = mcnemar_test(a, b, method=method).pvalue
    if abs(pvalue - (1 - confidence)) > 1e-9:
        assert (interval.low <= 1 <= interval.high) == (pvalue > 1 - confidence)


def test_where_p_is_the_level_the_interval_ends_at_no_difference():
    # Six of six: p is 2/64 exactly; a test at that level rejects, and 1 is the lower end.
    assert mcnemar_test(6, 0).pvalue == 2 / 64
    assert discordant_odds_ratio(6, 0, confidence_level=1 - 2 / 64).confidence_interval.low == pytest.approx(
        1, abs=1e-12
    )
    # 16 of 16 with z = 4 by the chi-square test.
    level = 1 - mcnemar_test(16, 0, method="chi2").pvalue
    assert accuracy_difference(16, 0, 50, confidence_level=level).confidence_interval.low == pytest.approx(0, abs=1e-9)


@settings(deadline=None, derandomize=True, max_examples=examples(150))
@given(counts, counts, st.integers(1, 60), st.floats(0.02, 0.995))
def test_difference_interval_inverts_the_chi2_test(a, b, rest, confidence):
    n = a + b + rest
    interval = accuracy_difference(a, b, n, confidence_level=confidence).confidence_interval
    pvalue = mcnemar_test(a, b, method="chi2").pvalue
    if a + b and abs(pvalue - (1 - confidence)) > 1e-9:
        assert (interval.low <= 0 <= interval.high) == (pvalue > 1 - confidence)


@settings(deadline=None, derandomize=True, max_examples=examples(150))
@given(counts, counts, counts, st.floats(0.5, 0.99))
def test_laws(a, b, rest, confidence):
    n = max(1, a + b + rest)
    effect = accuracy_difference(a, b, n, confidence_level=confidence)
    mirrored = accuracy_difference(b, a, n, confidence_level=confidence)
    assert limits(effect) == pytest.approx(
        (-mirrored.confidence_interval.high, -mirrored.confidence_interval.low), abs=0
    )
    assert -1 <= effect.confidence_interval.low <= effect.estimate <= effect.confidence_interval.high <= 1
    assert effect.confidence_interval.high > effect.confidence_interval.low
    wider = accuracy_difference(a, b, n, confidence_level=(1 + confidence) / 2).confidence_interval
    assert wider.low <= effect.confidence_interval.low
    assert effect.confidence_interval.high <= wider.high
    for method in ("exact", "mid-p"):
        odds = discordant_odds_ratio(a, b, method=method, confidence_level=confidence)
        other = discordant_odds_ratio(b, a, method=method, confidence_level=confidence)
        if odds.confidence_interval.low:
            assert other.confidence_interval.high == pytest.approx(1 / odds.confidence_interval.low, rel=1e-12)
        if a + b:
            assert odds.confidence_interval.low <= odds.estimate <= odds.confidence_interval.high
    exact, mid_p = (
        discordant_odds_ratio(a, b, method=m, confidence_level=confidence).confidence_interval
        for m in ("exact", "mid-p")
    )
    assert exact.low <= mid_p.low * (1 + 1e-12)
    assert mid_p.high <= exact.high * (1 + 1e-12)


def score(a, b, n, difference):
    """Tango's score statistic with the restricted likelihood maximised on a grid, not by his formula."""
    low, high = max(0.0, -difference), (1 - difference) / 2
    for _ in range(4):
        q = np.linspace(low, high, 20_001)[1:-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = [
                c * np.log(x) if c else 0 * q
                for c, x in ((a, q + difference), (b, q), (n - a - b, 1 - 2 * q - difference))
            ]
        best = int(np.nanargmax(sum(terms)))
        low, high = q[max(best - 2, 0)], q[min(best + 2, q.size - 1)]
    return (a - b - n * difference) / math.sqrt(n * (2 * q[best] + difference * (1 - difference)))


@pytest.mark.parametrize(("a", "b", "n"), [(6, 16, 161), (1, 7, 21), (12, 3, 20), (0, 4, 30), (5, 5, 12)])
def test_the_limits_solve_the_score_equation(a, b, n):
    low, high = limits(accuracy_difference(a, b, n, confidence_level=0.9))
    z = scipy.stats.norm.isf(0.05)
    assert score(a, b, n, low) == pytest.approx(z, abs=5e-4)
    assert score(a, b, n, high) == pytest.approx(-z, abs=5e-4)


@pytest.mark.parametrize("n", [1, 3, 8, 20])
def test_mid_p_limits_solve_their_equations_in_rationals(n):
    tail = Fraction(1, 40)
    for k in range(n + 1):
        low, high = mid_p_interval(k, n)
        assert (low == 0) == (k == 0)
        assert (high == 1) == (k == n)

        def above(p, k=k):
            p = Fraction(p)
            law = [comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]
            return sum(law[k + 1 :]) + law[k] / 2

        if k > 0:
            assert float(above(low) - tail) == pytest.approx(0, abs=1e-14)
        if k < n:
            assert float(1 - above(high) - tail) == pytest.approx(0, abs=1e-14)
        exact = clopper_pearson(k, n)
        assert exact.low <= low <= high <= exact.high


def test_coverage_of_the_odds_ratio_intervals():
    # Every outcome of n discordant pairs: the exact interval covers at least as often as stated, mid-p nearly so.
    for n in (5, 12, 30):
        intervals = {
            m: [limits(discordant_odds_ratio(k, n - k, method=m)) for k in range(n + 1)] for m in ("exact", "mid-p")
        }
        for p in np.linspace(0.005, 0.995, 199):
            law = scipy.stats.binom.pmf(np.arange(n + 1), n, p)
            odds = p / (1 - p)
            covered = {
                m: sum(w for w, (lo, hi) in zip(law, ends, strict=True) if lo <= odds <= hi)
                for m, ends in intervals.items()
            }
            assert covered["exact"] >= 0.95
            assert 0.91 <= covered["mid-p"] <= covered["exact"] + 1e-12


def test_coverage_of_the_difference_interval():
    # Every table of 25 observations, over a grid of true probabilities: on average 0.95, never below 0.92.
    n = 25
    ends = {(a, b): limits(accuracy_difference(a, b, n)) for a in range(n + 1) for b in range(n + 1 - a)}
    tables = np.array(list(ends))
    low, high = np.array(list(ends.values())).T
    coverage = []
    for p_a in np.linspace(0.02, 0.5, 13):
        for p_b in np.linspace(0.02, 0.5, 13):
            law = scipy.stats.multinomial.pmf(
                np.c_[tables, n - tables.sum(axis=1)], n, [p_a, p_b, max(0.0, 1 - p_a - p_b)]
            )
            coverage.append(law[(low <= p_a - p_b) & (p_a - p_b <= high)].sum())
    assert min(coverage) >= 0.92
    assert np.mean(coverage) == pytest.approx(0.95, abs=0.01)


def test_degenerate_cases():
    z2 = scipy.stats.norm.isf(0.025) ** 2
    assert limits(accuracy_difference(0, 0, 50)) == pytest.approx((-z2 / (50 + z2), z2 / (50 + z2)))
    assert limits(accuracy_difference(10, 0, 10))[1] == 1
    assert limits(accuracy_difference(0, 10, 10))[0] == -1
    nothing = discordant_odds_ratio(0, 0)
    assert math.isnan(nothing.estimate)
    assert limits(nothing) == (0, math.inf)
    for method in ("exact", "mid-p"):
        only_a = discordant_odds_ratio(5, 0, method=method)
        assert only_a.estimate == only_a.confidence_interval.high == math.inf
        assert discordant_odds_ratio(0, 5, method=method).confidence_interval.low == 0
    # p / (1 - p) of a proportion within 4e-15 of one: (1/40)^(1/n) is 1 - log(40) / n.
    assert discordant_odds_ratio(10**15, 0).confidence_interval.low == pytest.approx(10**15 / math.log(40), rel=1e-9)


@pytest.mark.parametrize(
    "call", [lambda: accuracy_difference(3, 4, 6), lambda: accuracy_difference(0, 0, 0), lambda: mid_p_interval(3, 2)]
)
def test_bad_arguments_are_refused(call):
    with pytest.raises(ValueError, match="not valid"):
        call()


@pytest.mark.parametrize(("k", "n"), [(3, 10), (0, 99), (50, 60), (5, 100), (7, 7)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 2.0**-30, 1 - 2.0**-45])
def test_clopper_pearson_leaves_half_of_the_rest_beyond_either_end(k, n, confidence):
    low, high = clopper_pearson(k, n, confidence_level=confidence)
    half = (1 - Fraction(confidence)) / 2

    def tail(p, counts):
        p = Fraction(p)
        return sum(comb(n, j) * p**j * (1 - p) ** (n - j) for j in counts)

    if k:
        assert float(tail(low, range(k, n + 1)) / half) == pytest.approx(1, rel=1e-12)
    if k < n:
        assert float(tail(high, range(k + 1)) / half) == pytest.approx(1, rel=1e-12)
    assert (low == 0) == (k == 0)
    assert (high == 1) == (k == n)


@pytest.mark.parametrize(("method", "least"), [("exact", 0.95), ("mid-p", 0.91)])
def test_odds_of_few_pairs_are_covered_as_often_as_stated_at_their_worst(method, least):
    """Coverage, enumerated, falls only where an interval ends: just beyond each end it is the smallest."""
    for n in (1, 2, 3, 4, 5, 6, 7, 9, 13, 21, 34, 60):
        ends = np.array([limits(discordant_odds_ratio(k, n - k, method=method)) for k in range(n + 1)])
        odds = np.concatenate([ends[1:, 0] * (1 - 1e-9), ends[:-1, 1] * (1 + 1e-9)])
        covered = (ends[:, :1] <= odds) & (odds <= ends[:, 1:])
        chances = scipy.stats.binom.pmf(np.arange(n + 1)[:, np.newaxis], n, odds / (1 + odds))
        assert (covered * chances).sum(axis=0).min() >= least
