"""Tests that stop together: valid p-values at each look, and the decisions of all replicates from few hundred each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.multiplicity import adjust_family
from sigstats.sequential.joint_rule import JointRule

from ...examples import examples, simulated

ADJUSTMENTS = ["none", "holm", "benjamini-hochberg", "benjamini-yekutieli"]


def rejected(rule, flags):
    """Which tests are rejected by the p-values at which they end together."""
    stops = rule.stops(flags)
    assert all(stop.ended for stop in stops)
    pvalues = [rule.stopped(one, stop.replicates).pvalue for one, stop in zip(flags, stops, strict=True)]
    found = (np.array(adjust_family(pvalues, rule.adjust)) <= rule.alpha).tolist()
    assert [stop.rejected for stop in stops] == found
    return found


def families(rng, tests, maximum):
    """Replicates of tests of which about a third has small, a third middling p-values."""
    p = np.where(rng.random(tests) < 1 / 3, 10 ** -rng.uniform(1, 4, tests), rng.random(tests) ** 2)
    return list(rng.random((tests, maximum)) < p[:, None])


@pytest.mark.long
@pytest.mark.parametrize("adjust", ADJUSTMENTS)
@settings(deadline=None, derandomize=True, max_examples=examples(60))
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 200), st.floats(0.5, 0.999), st.floats(0.01, 0.5))
def test_only_tests_that_are_rejected_after_all_replicates_are_rejected_early(adjust, seed, tests, maximum, c, alpha):
    """Of the least p-values to the end, as a subset: a test that is kept early may have been rejected later."""
    flags = families(np.random.default_rng(seed), tests, maximum)
    rule = JointRule(maximum=maximum, alpha=alpha, adjust=adjust, certainty=c)
    full = np.array(adjust_family([rule.stopped(one, maximum).pvalue for one in flags], adjust)) <= alpha
    assert not (np.array(rejected(rule, flags)) & ~full).any()


@pytest.mark.long
@pytest.mark.parametrize(("maximum", "certainty"), [(9, 0.9), (24, 0.7), (99, 0.99), (399, 0.95)])
def test_the_least_p_value_of_all_looks_is_valid_by_the_law_of_exceedances(maximum, certainty):
    """Without ties a new replicate exceeds with probability (exceedances + 1) / (replicates + 1): ranks are uniform."""
    rule = JointRule(maximum=maximum, alpha=0.05, certainty=certainty)
    for level in (0.005, 0.02, 0.05, 0.1, 0.34, 0.9):
        inside, ever, s, before = np.ones(1), 0.0, np.zeros(1), 0
        for look in rule._looks():
            for n in range(before, look):
                s = np.arange(n + 1)
                inside = np.append(inside * (n + 1 - s), 0) / (n + 2) + np.append(0, inside * (s + 1)) / (n + 2)
            least = np.array([rule._pvalue(look, extreme) for extreme in range(look + 1)]) <= level
            ever, inside, before = ever + inside[least].sum(), np.where(least, 0, inside), look
        assert ever <= level + 1e-12
        assert ever > 0.6 * level - 1 / (maximum + 1)  # hardly less powerful than with all replicates


def test_after_all_replicates_p_is_that_of_the_fixed_rule_over_the_certainty_and_never_rises():
    rng = np.random.default_rng(8)
    rule = JointRule(maximum=400, alpha=0.05)
    for flags in families(rng, 40, 400):
        values = [rule.stopped(flags, n).pvalue for n in rule._looks()]
        assert values == sorted(values, reverse=True)
        assert values[-1] <= min(1, (1 + flags.sum()) / (0.97 * 401)) * (1 + 1e-12)


@pytest.mark.long
def test_the_interval_contains_p_whenever_a_test_ends():
    rng, missed = np.random.default_rng(3), 0
    for p in np.repeat([0.0, 0.01, 0.05, 0.5], 50):
        flags = rng.random(500) < p
        rule = JointRule(maximum=500, alpha=0.05)
        ends = [rule.stopped(flags, n, confidence_level=0.9).pvalue_interval for n in rule._looks()]
        missed += any(not end.low <= p <= end.high for end in ends)
    assert missed <= 34  # one in ten, and a chance of 1e-3 of more


@settings(deadline=None, derandomize=True, max_examples=examples(60))
@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 30))
def test_tests_end_at_the_same_place_however_their_replicates_come_in(seed, tests, more):
    rng = np.random.default_rng(seed)
    flags = families(rng, tests, 300)
    rule = JointRule(maximum=300, alpha=0.1)
    wanted = rule.stops(flags)
    have = [0] * tests
    stops = rule.stops([[]] * tests)
    while not all(stop.ended for stop in stops):
        # A test is asked for at most twice the replicates that it needs, and ten for the first look.
        assert all(stop.replicates <= 2 * end.replicates for stop, end in zip(stops, wanted, strict=True))
        asked = zip(have, stops, strict=True)
        have = [max(n, min(300, stop.replicates + int(rng.integers(0, more)))) for n, stop in asked]
        stops = rule.stops([one[:n] for one, n in zip(flags, have, strict=True)])
    assert stops == wanted


def test_240_tests_need_fewer_than_300_replicates_each_and_reject_what_9999_do():
    for share in (0.95, 0.5, 0.1, 0.0):
        rng = np.random.default_rng(round(100 * share))
        p = rng.uniform(0.06, 1, 240)
        p[: int(240 * share)] = 0.0001 * rng.random(int(240 * share))
        flags = list(rng.random((240, 9999)) < p[:, None])
        rule = JointRule(maximum=9999, alpha=0.05)
        assert np.mean([stop.replicates for stop in rule.stops(flags)]) < 300
        full = adjust_family([(1 + one.sum()) / 10_000 for one in flags], rule.adjust)
        assert rejected(rule, flags) == [value <= 0.05 for value in full]


@pytest.mark.long
@pytest.mark.parametrize(("share", "low", "high"), [(1.0, 0.3, 0.5), (0.5, 0.0, 0.03)])
def test_a_test_just_at_the_level_may_be_kept_early_but_hardly_one_at_half_of_it(share, low, high):
    """By an exact recursion over all orders of these exceedances: 41% and 0.4%."""
    rng, rule = np.random.default_rng(6), JointRule(maximum=999, alpha=0.05, adjust="none")
    extreme = np.arange(999) < int(share * 0.05 * 0.97 * 1000) - 1
    kept = np.mean([not rule.stops([rng.permutation(extreme)])[0].rejected for _ in range(300)])
    assert low <= kept <= high


def shared_labels(rng, features, rows, permutations):
    """Statistics of features of the same rows, of which most are alike, as observed and under the same permutations."""
    common = rng.standard_normal(rows)
    x = 0.8 * common[:, None] * rng.choice([-1, 1], features) + 0.6 * rng.standard_normal((rows, features))
    labels = np.arange(rows) % 2 * 2.0 - 1
    orders = np.argsort(rng.random((permutations + 1, rows)), axis=1)
    return x, labels[orders]


@pytest.mark.long
@pytest.mark.parametrize("learned", [0, 12])
def test_the_false_discovery_rate_is_kept_where_tests_share_rows_labels_and_permutations(learned):
    rng, shares, family, trials = np.random.default_rng(learned), [], [0, 0], simulated(1500)
    for _ in range(trials):
        x, labels = shared_labels(rng, 24, 20, 400)
        x[:, :learned] += 1.5 * labels[0][:, None]
        found = labels @ x
        flags = list((found[1:] >= found[0]).T)
        for place, adjust in enumerate(["benjamini-hochberg", "holm"]):
            false = np.array(rejected(JointRule(maximum=400, alpha=0.1, adjust=adjust), flags))
            if not place:
                shares.append(false[learned:].sum() / max(1, false.sum()))
            family[place] += bool(false[learned:].any())
    # The level is 0.1 times the share of true hypotheses at most; three standard errors above it.
    assert np.mean(shares) < 0.1 + 3 * np.std(shares) / np.sqrt(trials)
    assert family[1] / trials < 0.1 + 3 * np.sqrt(0.09 / trials)


def test_bad_settings_are_refused_in_a_line():
    with pytest.raises(ValueError, match="adjust"):
        JointRule(maximum=99, alpha=0.05, adjust="sidak")
    for name in ("alpha", "certainty"):
        with pytest.raises(ValueError, match=name):
            JointRule(**{"maximum": 99, "alpha": 0.5, name: 1.0})
