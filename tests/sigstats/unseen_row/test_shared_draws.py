"""Weights that slices share, beside the laws of gamma variables."""

import gc

import numpy as np
import pytest
from scipy.stats import gamma, kstest

from sigstats import compare
from sigstats.unseen_row.law import SharedDraws

COUNTS = np.array([5.0, 1.0, 0.0, 16.0, 5.0, 2.0, 37.0])


def test_each_weight_has_the_law_of_its_count_and_none_tells_another():
    drawn = SharedDraws(3, 20_000).weights(COUNTS)
    for count, weight in zip(COUNTS, drawn.T, strict=True):
        if count:
            assert kstest(weight, gamma(count).cdf).pvalue > 1e-5
        else:
            assert not weight.any()
    there = np.flatnonzero(COUNTS)
    correlations = np.corrcoef(drawn[:, there].T)[np.triu_indices(len(there), 1)]
    assert np.abs(correlations).max() < 4.9 / np.sqrt(20_000)  # 15 pairs, each beyond with a chance of 1e-6


def test_weights_depend_on_the_seed_and_the_counts_alone():
    shared = SharedDraws(3, 500)
    shared.weights(np.array([100.0, 7.0]))
    shared.weights(np.array([1.0] * 9))
    np.testing.assert_array_equal(shared.weights(COUNTS), SharedDraws(3, 500).weights(COUNTS))
    assert not np.array_equal(shared.weights(COUNTS), SharedDraws(4, 500).weights(COUNTS))


def test_fewer_weightings_are_the_first_ones():
    shared = SharedDraws(3, 500)
    np.testing.assert_array_equal(shared.weights(COUNTS, slice(100, 300)), shared.weights(COUNTS)[100:300])


def test_more_numbers_than_fit_into_memory_are_not_covered():
    assert SharedDraws(0, 2**15).covers(np.full(512, 3.0))
    assert not SharedDraws(0, 2**15).covers(np.full(513, 3.0))
    assert not SharedDraws(0, 99).covers(np.array([2.0**20]))


@pytest.mark.long
def test_weights_of_slices_are_freed_after_the_comparison():
    """Laws are cached, with the weights that they were computed from."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    a, b = (np.where(rng.random(3000) < 0.8, y, rng.integers(0, 3, 3000)) for _ in range(2))
    compare(y, a, b, measures="macro-f1", slices={"part": np.arange(3000) % 150})
    shared = [item for item in gc.get_objects() if type(item) is SharedDraws]  # isinstance asks dead proxies
    assert not any(columns for draws in shared for columns in draws._columns)
