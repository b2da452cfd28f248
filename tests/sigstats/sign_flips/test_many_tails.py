"""Tails of many sums at once: all sums enumerated, the exact law of whole magnitudes, and binomial tails."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sigstats.sign_flips.in_doubles import tails_in_doubles
from sigstats.sign_flips.law import tail_of_sum
from sigstats.sign_flips.many_tails import tails_of_sums
from tests.examples import examples


@settings(deadline=None, max_examples=examples(30))
@given(st.integers(0, 2**32), st.integers(1, 12), st.sampled_from([0.2, 1.0, 3.0]))
def test_the_bounds_hold_every_sum_enumerated(seed, n, heavy):
    rng = np.random.default_rng(seed)
    magnitudes = np.exp(heavy * rng.normal(size=(3, n)))
    put_in = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)
    sums = put_in @ magnitudes.T
    at = sums[rng.integers(0, 2**n, size=3), np.arange(3)]
    at = np.maximum(at, magnitudes.sum(axis=1) - at)
    tie = 1e-12 * at
    low, high = tails_of_sums(magnitudes, at - tie, at + tie, width=0.01)
    assert ((sums >= at - tie).mean(axis=0) <= high).all()
    assert ((sums >= at + tie).mean(axis=0) >= low).all()


@pytest.mark.parametrize(("n", "largest"), [(300, 5), (300, 40), (60, 1000), (45, 3)])
def test_whole_magnitudes_have_the_tails_of_their_exact_law(n, largest):
    rng = np.random.default_rng(n)
    magnitudes = rng.integers(1, largest + 1, size=(6, n))
    total = magnitudes.sum(axis=1)
    place = (total / 2 + np.array([0, 0.5, 1, 2, 4, 6]) * np.sqrt((magnitudes**2).sum(axis=1)) / 2).astype(int) + 1
    low, high = tails_of_sums(magnitudes.astype(float), place - 0.5, place + 0.5, width=0.01)
    for i in range(6):
        sizes, at = magnitudes[i].tolist(), int(place[i])
        exact, next_one = tail_of_sum(sizes, at), tail_of_sum(sizes, at + 1)
        assert exact.low <= high[i] <= exact.high * (1.01 if exact.high > 1e-5 else 1.05)
        assert low[i] <= next_one.high <= low[i] * (1.02 if exact.high > 1e-5 else 1.08)
        (below, above), (other_below, other_above) = tails_in_doubles(sizes, at, int(total[i]) - at)
        assert below <= exact.high <= above <= exact.high * (1 + 1e-12)
        assert other_below <= tail_of_sum(sizes, int(total[i]) - at).high <= other_above


def test_far_tails_of_thousands_of_equal_magnitudes_are_binomial():
    places = np.array([1010, 1100, 1300, 1700])
    low, high = tails_of_sums(np.ones((4, 2000)), places - 0.5, places - 0.5, width=0.01)
    exact = stats.binom.sf(places - 1, 2000, 0.5)
    assert (low <= exact).all()
    assert (exact <= high).all()
    assert (high <= 1.06 * low).all()
    assert tails_in_doubles([1] * 2000, 1700)[0] == pytest.approx((exact[3],) * 2, rel=1e-10, abs=0)


def test_a_sum_of_all_magnitudes_is_reached_in_one_of_all_ways():
    magnitudes = np.array([[0.3, 0.7, 1.9, 0.0], [1e-9, 1.0, 1e9, 3.0]])
    total = magnitudes.sum(axis=1)
    low, high = tails_of_sums(magnitudes, total * (1 - 1e-12), total * (1 - 1e-12), width=0.01)
    assert (low <= [1 / 8, 1 / 16]).all()
    assert (high >= [1 / 8, 1 / 16]).all()
    assert high[0] < 0.13
