"""What every result with an interval draws."""

import matplotlib as mpl
import pytest

import sigstats

mpl.use("agg")


def test_a_result_draws_its_estimate_on_its_interval():
    result = sigstats.signed_rank_test([0.1, 0.3, -0.1, 0.4, 0.2, 0.5])
    ax = result.plot()
    low, high = result.confidence_interval
    (segment,) = ax.collections[0].get_segments()
    assert segment[:, 0].tolist() == [low, high]
    assert ax.lines[0].get_xdata().tolist() == [result.estimate]


def test_a_result_without_an_interval_says_so():
    with pytest.raises(ValueError, match=r"^plot: the result has no intervals to draw"):
        sigstats.homogeneity_test([3, 2, 1], [1, 4, 2]).plot()
