"""The band of a distribution function: its exact probability, by enumeration and by simulation."""

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy.stats import binom

from sigstats.multiplicity import ecdf_band, shares, stays_within


def test_the_probability_is_that_of_all_outcomes():
    levels, n = (0.1, 0.35, 0.6), 7
    low, high = np.array([0, 1, 2]), np.array([2, 4, 6])
    cells = np.diff((0.0, *levels, 1.0))
    total = 0.0
    for a, b, c in product(range(n + 1), repeat=3):
        if a + b + c <= n and all(x <= y <= z for x, y, z in zip(low, np.cumsum([a, b, c]), high, strict=True)):
            ways = comb(n, a) * comb(n - a, b) * comb(n - a - b, c)
            total += ways * np.prod(cells ** [a, b, c, n - a - b - c])
    assert stays_within(n, levels, low, high) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("n", [150, 6000])
def test_uniform_numbers_stay_in_the_band(n):
    levels = tuple(np.geomspace(1e-3, 0.2, 12).tolist())
    low, high = ecdf_band(n, levels, 0.9)
    rng = np.random.default_rng(3)
    cells = np.diff((0.0, *levels, 1.0))
    counts = np.cumsum(rng.multinomial(n, cells, size=4000), axis=1)[:, :-1]
    within = int(np.sum(((low <= counts) & (counts <= high)).all(axis=1)))
    # The chance of a false alarm is 1e-6 on each side.
    assert within >= binom.ppf(1e-6, 4000, 0.9)
    assert within <= binom.isf(1e-6, 4000, stays_within(n, levels, low, high))


def test_one_level_is_a_binomial_interval():
    low, high = ecdf_band(400, (0.05,))
    assert binom.cdf(high[0], 400, 0.05) - binom.cdf(low[0] - 1, 400, 0.05) >= 0.95


def test_ties_with_a_level_count():
    assert shares(np.array([0.05, 0.1 + 0.2]), (0.05, 0.3)).tolist() == [0.5, 1.0]
