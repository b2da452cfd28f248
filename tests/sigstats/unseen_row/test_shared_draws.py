"""Weights that slices share, beside the laws of gamma variables."""

import gc

import numpy as np
import pytest
from scipy.stats import gamma, kstest

from sigstats import compare
from sigstats.joint.events import JointEvents
from sigstats.unseen_row.law import ModelDraws, SharedDraws

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


@pytest.mark.parametrize("pair", [(0, 3), (3, 0)])
def test_counts_of_models_have_the_moments_of_gamma_weights_of_rows(pair):
    """Two sums of the weights of some rows have as covariance the number of rows that are in both."""
    rng, size = np.random.default_rng(2), 20_000
    y = rng.integers(0, 3, 90)
    answers = [np.where(rng.random(90) < share, y, rng.integers(0, 3, 90)) for share in (0.5, 0.6, 0.7, 0.75, 0.8)]
    draws = ModelDraws(np.array([y, *answers]), 1, size, size)
    draws.pair = pair
    joint, _ = JointEvents.from_codes(range(3), y, *(answers[model] for model in pair))
    own, blocks, _ = draws.of_pair(joint, size)
    sums = np.concatenate([np.concatenate([*a, *b], axis=1) for (a, b), _ in blocks(999)])
    events = own.confusions(np.eye(len(own.counts)))
    inside = np.concatenate([np.concatenate(of, axis=1) for of in events], axis=1)
    wanted = inside.T @ (np.array(own.counts)[:, np.newaxis] * inside)
    assert sums.mean(axis=0) == pytest.approx(np.diag(wanted), abs=5 * np.sqrt(90 / size))
    error = np.sqrt((np.outer(np.diag(wanted), np.diag(wanted)) + wanted**2 + 9 * 90) / size)
    assert (np.abs(np.cov(sums.T) - wanted) < 5 * error).all()  # 300 pairs, each beyond with a chance of 6e-7
