"""Where the exact p-value would take long, both tests of counts draw, and say so."""

import numpy as np
import pytest

import sigstats

EVEN = np.full(10, 0.1)
SETS = np.random.default_rng(0).multinomial(1000, EVEN, size=2)


def test_small_tables_are_exact_by_default():
    assert sigstats.homogeneity_test([5, 9, 3], [9, 4, 6]) == sigstats.homogeneity_test(
        [5, 9, 3], [9, 4, 6], method="exact"
    )
    exact = sigstats.goodness_of_fit_test([5, 9, 3], [0.3, 0.3, 0.4], method="exact")
    assert sigstats.goodness_of_fit_test([5, 9, 3], [0.3, 0.3, 0.4]) == exact


@pytest.mark.parametrize(
    "test",
    [
        lambda **how: sigstats.homogeneity_test(*SETS, **how),
        lambda **how: sigstats.goodness_of_fit_test(SETS[0], EVEN, **how),
    ],
)
def test_ten_classes_of_a_thousand_are_drawn(test):
    result = test(rng=1)
    assert result.method == "monte-carlo"
    assert "method='exact' insists" in result.reason
    assert result.pvalue == test(rng=1, method="monte-carlo").pvalue
    low, high = result.pvalue_interval
    assert low <= test(method="chi2").pvalue <= high  # expected counts of 100: the approximation is good


def test_bad_counts_are_refused_as_by_the_exact_method():
    for how in ({}, {"method": "exact"}):
        with pytest.raises(ValueError, match=r"^counts_b: the length is 2"):
            sigstats.homogeneity_test([1, 2, 3], [1, 2], **how)
        with pytest.raises(ValueError, match=r"^probabilities"):
            sigstats.goodness_of_fit_test([1, 2], [0.5, 0.6], **how)
