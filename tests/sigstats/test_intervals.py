"""Intervals of proportions over more trials than inverse beta functions stand, and quantiles of Student's t."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import norm, poisson

import sigstats
from sigstats import intervals
from sigstats.intervals import clopper_pearson, student_quantile
from sigstats.proportions import proportion_test


def tail_from(successes, trials, proportion):
    """P(X >= successes) by the beta density, integrated on both sides of the proportion in extended precision."""
    mode = np.longdouble(successes - 1) / (trials - 1)
    width = np.sqrt(mode * (1 - mode) / trials)

    def density(distances):
        with np.errstate(divide="ignore"):
            return np.exp(
                (successes - 1) * np.log1p(distances / mode) + (trials - successes) * np.log1p(-distances / (1 - mode))
            )

    place = np.longdouble(proportion) - mode
    sides = [
        np.trapezoid(density(np.linspace(a, b, 200_001, dtype=np.longdouble)), dx=float((b - a) / 200_000))
        for a, b in ((max(place, -60 * width) - 40 * width, place), (place, place + 80 * width))
    ]
    return float(sides[0] / sum(sides))


LARGE = [
    (2**52, 2**53, 0.95),
    (1714060750126682, 2974066334698344, 0.5),
    (10**11, 10**12, 0.99),
    (3 * 10**9, 10**10, 0.95),
    (2**30 - 10**6, 2**30 + 1, 0.9),
    (10**6, 2**53, 0.95),
    (999 * 10**12, 10**15, 0.999),
]


@pytest.mark.long
@pytest.mark.parametrize(("successes", "trials", "confidence"), LARGE)
def test_an_interval_of_many_trials_is_no_shorter_than_exact(successes, trials, confidence):
    low, high = clopper_pearson(successes, trials, confidence_level=confidence)
    for bound, count in ((low, successes), (1 - high, trials - successes)):
        tail = tail_from(count, trials, bound)
        assert tail <= (1 - confidence) / 2 * (1 + 1e-6)
        assert tail >= (1 - confidence) / 2 * (1 - 0.01)


@pytest.mark.parametrize("successes", [1, 2, 3, 30, 1000, 1023, 1024, 1025, 50_000])
@pytest.mark.parametrize("trials", [10**10, 10**13, 2**53])
def test_a_rare_success_among_many_trials_is_poissons(successes, trials):
    low, high = clopper_pearson(successes, trials)
    for tail in (poisson.sf(successes - 1, low * trials), poisson.cdf(successes, high * trials)):
        assert 0.025 * (1 - 1e-3) <= tail <= 0.025 * (1 + 1e-5)
    mirrored = clopper_pearson(trials - successes, trials)
    assert mirrored.low == pytest.approx(1 - high, abs=2e-16)
    assert mirrored.high == pytest.approx(1 - low, abs=2e-16)


def test_both_ways_meet():
    for successes in (1, 5000, 10**6, 2**29, 2**30 - 3):
        fewer, more = (clopper_pearson(successes, trials) for trials in (2**30, 2**30 + 1))
        assert more == pytest.approx(fewer, rel=1e-6)
    low, high = clopper_pearson(2**52, 2**53)
    reach = norm.isf(0.025) * 0.5 / math.sqrt(2**53)
    assert 0.5 - 1.00001 * reach < low < 0.5 - reach
    assert 0.5 + reach < high < 0.5 + 1.00001 * reach


def test_no_success_and_no_failure():
    assert clopper_pearson(0, 2**40).low == 0
    truth = -math.expm1(math.log(0.025) / 2**40)
    assert truth <= clopper_pearson(0, 2**40).high <= truth * (1 + 1e-11)
    assert clopper_pearson(2**40, 2**40).high == 1


def test_an_interval_unpacks_to_its_ends_and_contains_values():
    interval = clopper_pearson(7, 10, confidence_level=0.9)
    low, high = interval
    assert (low, high) == (interval.low, interval.high) == (interval[0], interval[1])
    assert [value in interval for value in (low, 0.7, high, 0, 1)] == [True, True, True, False, False]
    assert interval.confidence_level == 0.9
    assert np.asarray(interval).tolist() == [low, high]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("level", [0.8, 0.99])
def test_an_interval_of_any_level_leaves_0_out_where_the_test_rejects(alternative, level):
    for only_a, only_b in itertools.product(range(13), range(13)):
        options = {"alternative": alternative, "confidence_level": level}
        outcomes = sigstats.JointOutcomes(e1=9, e2=only_a, e3=only_b, e4=1, e5=1, e6=0, e7=0, e8=9)
        for found in (sigstats.mcnemar_test(only_a, only_b, **options), proportion_test(outcomes, **options)):
            assert found.confidence_interval.confidence_level == level
            assert (0 in found.confidence_interval) == (found.pvalue > 1 - level)


def test_intervals_of_any_level_are_scipys_and_those_of_one_stratum():
    table = [[9, 7, 3], [15, 17, 13], [3, 7, 28]]
    expected = stats.binomtest(54, 102).proportion_ci(0.8)
    found = sigstats.efficiency_test(table, confidence_level=0.8).confidence_interval
    assert [*found] == pytest.approx([*expected])
    one = sigstats.accuracy_difference(9, 4, 50, confidence_level=0.8).confidence_interval
    assert [
        *sigstats.stratified_paired_test([9], [4], [50], confidence_level=0.8).confidence_interval
    ] == pytest.approx([*one])
    joint = sigstats.joint_tasks_test([9, 3], [4, 2], [50, 20], confidence_level=0.8, n_resamples=9, rng=1)
    strata = sigstats.stratified_paired_test([9, 3], [4, 2], [50, 20], alternative="greater", confidence_level=0.8)
    assert joint.confidence_interval == strata.confidence_interval


@given(share=st.floats(1e-9, 0.4))
def test_it_has_all_digits_where_there_is_a_formula(share):
    assert student_quantile(1, share) == pytest.approx(-1 / math.tan(math.pi * share), rel=1e-12)
    two = (2 * share - 1) / math.sqrt(2 * share * (1 - share))
    assert student_quantile(2, share) == pytest.approx(two, rel=1e-12)


@pytest.mark.parametrize("error", [0, 2e-11, -1e-9])
@pytest.mark.parametrize(
    ("freedom", "probability", "expected"),  # by the roots of mpmath's betainc, 30 digits
    [(3, 0.975, 3.182446305283709593), (9, 0.995, 3.249835541592125627), (9.5, 0.025, -2.244137461492296491)],
)
def test_it_has_all_digits_whatever_scipy_has(monkeypatch, error, freedom, probability, expected):
    of_scipy = intervals.special.stdtrit
    monkeypatch.setattr(intervals.special, "stdtrit", lambda *of: of_scipy(*of) * (1 + error))
    assert student_quantile(freedom, probability) == pytest.approx(expected, rel=1e-14)
