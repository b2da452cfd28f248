"""Tails of sums of thousands of magnitudes: binomial laws, laws of whole magnitudes, and bounds made in another way."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sigstats.ranking._sign_flips import pairs_by_sign_flips
from sigstats.sign_flips.in_doubles import tails_in_doubles
from sigstats.sign_flips.long_sums import _SERIES, tails_of_long_sum
from sigstats.sign_flips.many_tails import tails_of_sums
from tests.examples import examples


def place(magnitudes, deviations):
    """So many standard deviations above the mean of the sum."""
    return magnitudes.sum() / 2 + deviations * math.sqrt(float((magnitudes.astype(float) ** 2).sum())) / 2


def test_the_series_is_that_of_the_logarithm_of_the_hyperbolic_cosine():
    cosh = [Fraction(1 - n % 2, math.factorial(n) * 2**n) for n in range(25)]
    logs = [Fraction(0)]  # n l_n = n c_n - sum of k l_k c_(n-k), since the derivative of the logarithm is c' / c
    for n in range(1, 25):
        logs.append(cosh[n] - sum(k * logs[k] * cosh[n - k] for k in range(1, n)) / n)
    assert _SERIES.tolist() == pytest.approx([float(each) for each in logs[2::2]], rel=1e-13, abs=0)


@pytest.mark.parametrize("n", [10_001, 300_000, 2_000_000])
@pytest.mark.parametrize("deviations", [0, 0.3, 2, 4.5, 9, 25, 34])
def test_equal_magnitudes_have_binomial_tails(n, deviations):
    at = math.ceil(place(np.ones(n), deviations))
    low, high = tails_of_long_sum(np.full(n, 1), at, width=0.01)
    beyond, exact = stats.binom.sf([at, at - 1], n, 0.5)
    assert low <= beyond <= low * 1.06
    assert exact <= high <= exact * 1.06


@settings(derandomize=True, deadline=None, max_examples=examples(25))
@given(st.integers(0, 2**32), st.sampled_from([2, 3, 4, 7]), st.sampled_from([0, 0.2, 1, 3, 6]))
def test_whole_magnitudes_have_the_tails_of_their_law(seed, sizes, deviations):
    # Sums come around the circle with their unit, and half around with most magnitudes even.
    rng = np.random.default_rng(seed)
    magnitudes = rng.integers(0, sizes, 2500) * np.where(rng.random(2500) < 0.9, 2, 1)
    magnitudes[0] = 1
    at = max(math.ceil(place(magnitudes, deviations)), -(-int(magnitudes.sum()) // 2))
    low, high = tails_of_long_sum(magnitudes, at, width=0.01)
    (least, _), (_, most) = tails_in_doubles(magnitudes[magnitudes > 0].tolist(), at + 1, at)
    assert low <= least * (1 + 1e-11)
    assert high >= most * (1 - 1e-11)
    assert high - low <= (most - least) * 1.05 + 0.06 * most


@settings(derandomize=True, deadline=None, max_examples=examples(20))
@given(st.integers(0, 2**32), st.sampled_from(["uniform", "normal", "skew"]), st.floats(0, 10))
def test_real_magnitudes_have_the_tails_that_another_way_bounds(seed, kind, deviations):
    rng = np.random.default_rng(seed)
    magnitudes = {"uniform": rng.random, "normal": rng.standard_normal, "skew": rng.standard_exponential}[kind](4000)
    magnitudes = np.abs(magnitudes) * 10.0 ** rng.integers(-6, 7)
    at = place(magnitudes, deviations)
    low, high = tails_of_long_sum(magnitudes, at, width=0.01) or (None, None)
    assert low is not None or kind == "skew" or (kind == "normal" and deviations > 4)
    if low is not None:
        other_low, other_high = tails_of_sums(magnitudes[None], *np.array([[at], [at]]), width=0.01)[:, 0]
        assert max(low, other_low) <= min(high, other_high)
        assert low <= high <= low * 1.06


def test_beyond_all_doubles_the_bound_is_hoeffdings():
    magnitudes = np.random.default_rng(0).random(10_000)
    low, high = tails_of_long_sum(magnitudes, place(magnitudes, 37.0), width=0.01)
    assert low == 0
    assert high == pytest.approx(math.exp(-(37.0**2) / 2), rel=1e-6, abs=0)
    assert tails_of_long_sum(magnitudes, magnitudes.sum(), width=0.01) == (0.0, 0.0)


def test_few_magnitudes_that_outweigh_the_others_are_left():
    magnitudes = np.concatenate([np.full(5000, 1e-3), [1.0]])
    assert tails_of_long_sum(magnitudes, place(magnitudes, 1), width=0.01) is None
    assert tails_of_long_sum(np.zeros(5000), 0.0, width=0.01) is None


def test_pairs_of_long_columns():
    rng = np.random.default_rng(1)
    hard = rng.random((70_000, 1))
    marks = np.round(4 * np.clip(hard + 0.3 * rng.normal(size=(70_000, 3)) + [0, 0.002, 0.01], 0, 1)) / 4
    for scores in (marks, marks + 0.05 * rng.random((70_000, 3))):
        found = pairs_by_sign_flips(scores)
        for a, b in ((0, 1), (0, 2), (1, 2)):
            difference = scores[:, a] - scores[:, b]
            # Of so many magnitudes of like size the normal law is right to a thousandth.
            z = difference.sum() / math.sqrt((difference**2).sum())
            assert found[a, b] == pytest.approx(stats.norm.sf(z), rel=0.03, abs=0)
            assert found[b, a] == pytest.approx(stats.norm.sf(-z), rel=0.03, abs=0)
    marks[:, 2] = marks[:, 1]
    marks[:50, 2] += 0.25  # fifty rows of two models are not the same: an exact law
    assert pairs_by_sign_flips(marks)[2, 1] == 2.0**-50
