"""The posterior probability against integration, printed values, and its laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sigstats import pair_probability


@pytest.mark.parametrize(("counts", "uniform", "jeffreys"), [((7, 1), 0.98047, 0.98663), ((9, 5), 0.84912, 0.85755)])
def test_known_values(counts, uniform, jeffreys):
    assert round(pair_probability(*counts), 5) == uniform
    assert round(pair_probability(*counts, prior=0.5), 5) == jeffreys


@given(st.integers(0, 300), st.integers(0, 300), st.floats(0.1, 5))
def test_the_beta_posterior(a, b, prior):
    assert pair_probability(a, b, prior=prior) == pytest.approx(stats.beta.sf(0.5, a + prior, b + prior), rel=1e-9)
    assert pair_probability(a, b, prior=prior) + pair_probability(b, a, prior=prior) == pytest.approx(1)
    assert pair_probability(a + 1, b, prior=prior) >= pair_probability(a, b, prior=prior)


def test_equal_counts_say_nothing():
    assert pair_probability(0, 0) == pair_probability(40, 40) == 0.5
