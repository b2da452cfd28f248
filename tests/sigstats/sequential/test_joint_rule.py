"""Tests that stop together reject what Besag and Clifford's p-values do, from a few hundred replicates each."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.multiplicity import adjusted
from sigstats.sequential.joint_rule import JointRule
from sigstats.sequential.rules import BesagCliffordRule

from ...examples import examples

ADJUSTMENTS = ["none", "holm", "benjamini-hochberg", "benjamini-yekutieli"]


def rejected(rule, flags):
    """Which tests are rejected by the p-values at which they end together."""
    stops = rule.stops(flags)
    assert all(stop.ended for stop in stops)
    pvalues = [rule.stopped(one, stop.replicates).pvalue for one, stop in zip(flags, stops, strict=True)]
    return (np.array(adjusted(pvalues, rule.adjust)) <= rule.alpha).tolist()


def rejected_alone(rule, flags):
    """The same if no test ends before its own rule ends it."""
    alone = BesagCliffordRule(maximum=rule.maximum, exceedances=rule.exceedances)
    pvalues = [alone.test(one).pvalue for one in flags]
    return (np.array(adjusted(pvalues, rule.adjust)) <= rule.alpha).tolist()


def families(rng, tests, maximum):
    """Replicates of tests of which about a third has small, a third middling p-values."""
    p = np.where(rng.random(tests) < 1 / 3, 10 ** -rng.uniform(1, 4, tests), rng.random(tests) ** 2)
    return list(rng.random((tests, maximum)) < p[:, None])


@pytest.mark.parametrize("adjust", ADJUSTMENTS)
@settings(deadline=None, derandomize=True, max_examples=examples(60))
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 200), st.integers(1, 8), st.floats(0.01, 0.5))
def test_the_rejections_are_those_of_besag_and_clifford_to_the_end(adjust, seed, tests, maximum, h, alpha):
    flags = families(np.random.default_rng(seed), tests, maximum)
    rule = JointRule(maximum=maximum, exceedances=h, alpha=alpha, adjust=adjust)
    assert rejected(rule, flags) == rejected_alone(rule, flags)


@pytest.mark.parametrize(("maximum", "h"), [(9, 1), (9, 3), (10, 4)])
def test_the_least_of_all_bounds_is_valid_by_enumeration_of_all_paths(maximum, h):
    """Without ties a new replicate exceeds with probability (exceedances + 1) / (replicates + 1): ranks are uniform."""
    rule = JointRule(maximum=maximum, exceedances=h, alpha=0.05)
    law: dict[float, Fraction] = {}
    for path in product([0, 1], repeat=maximum):
        s = np.concatenate([[0], np.cumsum(path)])
        chance = Fraction(1)
        for n, exceeds in enumerate(path):
            chance *= Fraction(int(s[n]) + 1, n + 2) if exceeds else Fraction(n + 1 - int(s[n]), n + 2)
        end = next((n for n in range(maximum + 1) if s[n] == h), maximum)
        bounds = [rule.stopped(path, n).pvalue for n in range(1, end + 1)]
        assert bounds == sorted(bounds, reverse=True)
        law[bounds[-1]] = law.get(bounds[-1], Fraction(0)) + chance
    assert sum(law.values()) == 1
    for level in law:
        assert sum(chance for p, chance in law.items() if p <= level) <= Fraction(level).limit_denominator(10**6)


@settings(deadline=None, derandomize=True, max_examples=examples(60))
@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 30))
def test_tests_end_at_the_same_place_however_their_replicates_come_in(seed, tests, more):
    rng = np.random.default_rng(seed)
    flags = families(rng, tests, 300)
    rule = JointRule(maximum=300, exceedances=4, alpha=0.1)
    wanted = rule.stops(flags)
    own = [rule._stop(one) or 300 for one in flags]
    have = [0] * tests
    stops = rule.stops([[]] * tests)
    while not all(stop.ended for stop in stops):
        # No test is asked for a replicate after its end, unless it ends by itself before.
        ends = zip(stops, wanted, own, strict=True)
        assert all(stop.replicates <= end.replicates or end.replicates == alone for stop, end, alone in ends)
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
        full = adjusted([(1 + one.sum()) / 10_000 for one in flags], rule.adjust)
        assert rejected(rule, flags) == [value <= 0.05 for value in full]


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
    rng, shares, family = np.random.default_rng(learned), [], [0, 0]
    for _ in range(1500):
        x, labels = shared_labels(rng, 24, 20, 400)
        x[:, :learned] += 1.5 * labels[0][:, None]
        found = labels @ x
        flags = list((found[1:] >= found[0]).T)
        for place, (adjust, h) in enumerate([("benjamini-hochberg", 10), ("holm", 1)]):
            false = np.array(rejected(JointRule(maximum=400, exceedances=h, alpha=0.1, adjust=adjust), flags))
            if not place:
                shares.append(false[learned:].sum() / max(1, false.sum()))
            family[place] += bool(false[learned:].any())
    # The level is 0.1 times the share of true hypotheses at most; three standard errors above it.
    assert np.mean(shares) < 0.1 + 3 * np.std(shares) / np.sqrt(1500)
    assert family[1] / 1500 < 0.1 + 3 * np.sqrt(0.09 / 1500)


def test_bad_settings_are_refused_in_a_line():
    with pytest.raises(ValueError, match="adjust"):
        JointRule(maximum=99, alpha=0.05, adjust="sidak")
    with pytest.raises(ValueError, match="alpha"):
        JointRule(maximum=99, alpha=1.0)
