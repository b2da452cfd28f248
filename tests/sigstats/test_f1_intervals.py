"""Intervals of F1 and of the difference of two: against other programs, by enumeration, and their coverage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom
from statsmodels.stats.proportion import proportion_confint

import sigstats
from sigstats.f1_intervals import F1_METHODS, f1_standard_errors
from sigstats.joint.outcomes import JointOutcomes

from ..examples import examples

OTHERS = {"exact": "beta", "wilson": "wilson", "jeffreys": "jeffreys"}


@pytest.mark.parametrize("method", OTHERS)
@pytest.mark.parametrize(("tp", "fp", "fn"), [(8, 1, 3), (0, 4, 0), (5, 0, 0), (400, 37, 52), (1, 0, 999)])
def test_a_proportion_by_statsmodels(method, tp, fp, fn):
    low, high = sigstats.f1_interval(tp, fp, fn, method=method, confidence_level=0.9)
    ends = proportion_confint(tp, tp + fp + fn, alpha=0.1, method=OTHERS[method])
    wanted = [2 * end / (1 + end) for end in ends]
    if method == "jeffreys":  # which leaves no end beside an observed 0 or 1 here
        wanted = [0.0 if tp == 0 else wanted[0], 1.0 if fp + fn == 0 else wanted[1]]
    assert (low, high) == pytest.approx(tuple(wanted), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("level", [1e-16, 1.5e-16, 1e-15, 1e-9])
@pytest.mark.parametrize("method", F1_METHODS)
def test_the_ends_are_in_order_where_both_are_about_the_median(method, level):
    for tp in range(0, 200, 7):
        low, high = sigstats.f1_interval(tp, 189, 199 - tp, method=method, confidence_level=level)
        assert low <= high


def test_the_upper_end_of_jeffreys_with_all_its_digits():
    """P(J > high) is the tail, which 1 - tail would round away."""
    level = 1 - 2.0**-50
    high = sigstats.f1_interval(3, 2, 4, method="jeffreys", confidence_level=level)[1]
    assert beta(3.5, 6.5).sf(high / (2 - high)) == pytest.approx(2.0**-51, rel=1e-9)


@pytest.mark.parametrize(("method", "least"), [("exact", 0.95), ("mid-p", 0.92), ("wilson", 0.83), ("jeffreys", 0.83)])
def test_the_coverage_of_every_f1_by_enumeration(method, least):
    """Given the observations that are positive or predicted so, TP is binomial: the coverage is a finite sum."""
    n = 17
    intervals = [sigstats.f1_interval(tp, n - tp, 0, method=method) for tp in range(n + 1)]
    for j in np.linspace(0.02, 0.98, 97):
        f1 = 2 * j / (1 + j)
        held = sum(binom.pmf(tp, n, j) for tp, (low, high) in enumerate(intervals) if low <= f1 <= high)
        assert held >= least - 1e-9


def test_nothing_seen_is_every_f1():
    for method in F1_METHODS:
        assert tuple(sigstats.f1_interval(0, 0, 0, method=method)) == (0.0, 1.0)
    low, high = sigstats.f1_difference_interval(JointOutcomes(e8=50))
    assert (low, high) == (-1.0, 1.0)


counts = st.lists(st.integers(0, 60), min_size=8, max_size=8).filter(any)


@settings(max_examples=examples(60), deadline=None)
@given(counts, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_an_exchange_turns_the_interval_round(values, level):
    joint = JointOutcomes(*values)
    low, high = sigstats.f1_difference_interval(joint, confidence_level=level)
    turned = sigstats.f1_difference_interval(joint.swapped(), confidence_level=level)
    assert (low, high) == pytest.approx((-turned.high, -turned.low), abs=0.05)  # of random weightings
    a, b = ((2 * c.tp / (2 * c.tp + c.fp + c.fn) if c.tp else 0.0) for c in (joint.confusion_a, joint.confusion_b))
    assert -1 <= low <= a - b + 0.05
    assert a - b - 0.05 <= high <= 1


def test_the_standard_error_is_that_of_many_samples():
    shares = np.array([0.3, 0.06, 0.03, 0.02, 0.01, 0.04, 0.06, 0.48])
    drawn = np.random.default_rng(1).multinomial(4000, shares, size=4000)
    right_a, right_b = drawn[:, [0, 2]].sum(axis=1), drawn[:, [0, 1]].sum(axis=1)
    f1_a = 2 * right_a / (2 * right_a + drawn[:, [1, 3, 4, 6]].sum(axis=1))
    f1_b = 2 * right_b / (2 * right_b + drawn[:, [2, 3, 4, 5]].sum(axis=1))
    joint = JointOutcomes(*(4000 * shares).round().astype(int).tolist())
    # A standard deviation of 4,000 has a relative error of 0.011: six of them.
    assert f1_standard_errors(np.array([joint.counts]))[0] == pytest.approx((f1_b - f1_a).std(), rel=0.07)


def test_many_observations_give_the_interval_of_the_normal_law():
    joint = JointOutcomes(e1=300_000, e2=60_000, e3=30_000, e4=20_000, e5=10_000, e6=40_000, e7=60_000, e8=480_000)
    low, high = sigstats.f1_difference_interval(joint)
    assert high - low == pytest.approx(2 * 1.959964 * f1_standard_errors(np.array([joint.counts]))[0], rel=0.05)


@pytest.mark.long
@pytest.mark.parametrize("n", [50, 1000])
def test_it_holds_the_truth_where_the_bootstrap_does_not(n):
    """One positive in a hundred: the percentile interval held it in 2% and 70% of a thousand test sets."""
    shares = np.array([79.5, 5.5, 0.5, 14.5, 13.0, 6.0, 0.5, 9880.5]) / 1e4
    a, b = 2 * 80 / (2 * 80 + 20 + 13.5), 2 * 85 / (2 * 85 + 15 + 19)
    drawn = np.random.default_rng(2).multinomial(n, shares, size=200)
    intervals = [sigstats.f1_difference_interval(JointOutcomes(*row)) for row in drawn.tolist()]
    held = sum(low <= a - b <= high for low, high in intervals)
    assert held >= binom.ppf(1e-6, 200, 0.95)


def test_labels_are_told_what_to_call():
    with pytest.raises(ValueError, match="from_predictions"):
        sigstats.f1_difference_interval([0, 1], [0, 1], [1, 1])
    with pytest.raises(ValueError, match="outcomes"):
        sigstats.f1_difference_interval(sigstats.JointEvents((0, 1), "classes", (((0,), (0,), (1,)),), (3,)))
