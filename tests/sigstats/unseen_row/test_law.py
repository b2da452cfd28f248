"""The law of sums of gamma variables beside partial fractions in rationals, binomial tails and beta laws."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.special import betaincinv
from scipy.stats import binom

from sigstats.unseen_row.law import atoms_of, tails


def tail(factors, counts=None):
    return tails(factors[np.newaxis], np.ones((1, len(factors))) if counts is None else counts[np.newaxis])[0]


def by_partial_fractions(factors):
    """P(sum of a_i E_i <= 0) for distinct a_i, exactly: 1 less the terms of the positive ones."""
    exact = [Fraction(each) for each in factors]
    total = Fraction(1)
    for i, one in enumerate(exact):
        if one > 0:
            term = Fraction(1)
            for j, other in enumerate(exact):
                if j != i:
                    term *= one / (one - other)
            total -= term
    return float(total)


def test_it_is_the_sum_of_partial_fractions():
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(2, 12))
        factors = rng.normal(size=n) * 10.0 ** rng.uniform(-3, 3, n)
        assert tail(factors) == pytest.approx(by_partial_fractions(factors.tolist()), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("k", "b"), [(3, 1), (20, 0), (7, 3), (50, 20), (500, 400), (1, 1), (900, 0)])
def test_of_two_equal_factors_it_is_a_tail_of_coins(k, b):
    found = tail(np.array([1.0, -1.0]), np.array([k, b + 1.0]))
    assert found == pytest.approx(binom.sf(k - 1, k + b, 0.5), rel=1e-10)


@pytest.mark.parametrize("n", [3, 50, 527, 3000, 10**6])
@pytest.mark.parametrize("k", [1, 3])
def test_of_a_skewed_law_it_is_the_beta_law(n, k):
    for share in (1e-6, 0.025, 0.3, 0.9):
        point = betaincinv(k, n - k + 1, share)
        found = tail(np.array([1 - point, -point]), np.array([k, n - k + 1.0]))
        assert found == pytest.approx(share, rel=1e-7)


def test_many_values_are_split_with_their_mean_and_no_less_spread():
    rng = np.random.default_rng(2)
    values = np.append(rng.exponential(size=30_000), 40.0)
    atoms, counts = atoms_of(values, np.ones(len(values)), 1000)
    assert counts.sum() == pytest.approx(len(values))
    assert counts @ atoms == pytest.approx(values.sum())
    spread = float(((values - values.mean()) ** 2).sum())
    assert 1 <= float(counts @ (atoms - values.mean()) ** 2) / spread < 1.001


def test_ends():
    assert tail(np.zeros(3)) == 1
    assert tail(np.array([1.0, 0.0])) == 0
    assert tail(np.array([-1.0, 0.0])) == 1
