"""The signed-rank test against enumeration, SciPy where it is exact, and its laws."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sigstats import signed_rank_test

from ...examples import thorough

values = st.lists(st.integers(-4, 4), min_size=1, max_size=9)


def enumerated(differences, alternative, zero_method):
    """P from the definition: ranks of the magnitudes, all signs of those that are not 0."""
    if zero_method == "wilcox":
        differences = [each for each in differences if each]
    ranks = [rank for rank, each in zip(stats.rankdata(np.abs(differences)), differences, strict=True) if each]
    signs = [each > 0 for each in differences if each]
    centre = sum(ranks) / 2
    observed = sum(rank for rank, positive in zip(ranks, signs, strict=True) if positive)
    totals = [
        sum(rank for rank, chosen in zip(ranks, choice, strict=True) if chosen)
        for choice in itertools.product((False, True), repeat=len(ranks))
    ]
    extreme = {
        "greater": [total >= observed for total in totals],
        "less": [total <= observed for total in totals],
        "two-sided": [abs(total - centre) >= abs(observed - centre) for total in totals],
    }[alternative]
    return sum(extreme) / len(totals)


@settings(deadline=None)
@given(values, st.sampled_from(["two-sided", "greater", "less"]), st.sampled_from(["wilcox", "pratt"]))
def test_as_enumerated_with_ties_and_zeros(differences, alternative, zero_method):
    found = signed_rank_test(differences, alternative=alternative, zero_method=zero_method)
    if any(differences):
        assert found.pvalue == pytest.approx(enumerated(differences, alternative, zero_method), rel=1e-12)
    else:
        assert (found.pvalue, found.reason != "") == (1.0, True)


@pytest.mark.parametrize("n", [6, 14, 40, 200])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_scipy_is_exact_without_ties(n, alternative):
    differences = np.random.default_rng(n).normal(0.3, 1, n)
    expected = stats.wilcoxon(differences, alternative=alternative, method="exact")
    found = signed_rank_test(differences, alternative=alternative)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    ranks = stats.rankdata(np.abs(differences))
    assert found.statistic == ranks[differences > 0].sum()


def test_the_normal_approximation_is_scipy_s():
    differences = np.array([1, 2, 2, -1, 3, 3, -2, 0, 5, 4, 4, -4, 6, 7, 0, 2])
    for zero_method in ("wilcox", "pratt"):
        expected = stats.wilcoxon(differences, zero_method=zero_method, method="asymptotic", correction=False).pvalue
        found = signed_rank_test(differences, method="normal", zero_method=zero_method).pvalue
        # SciPy centres Pratt's sum as if zeros had signs of their own, which moves it for none of these.
        assert found == pytest.approx(expected, rel=1e-9)


def test_demsar_s_example():
    # Demsar (2006), table 2: C4.5+m less C4.5 on 14 data sets. He shares the ranks of two zeros between both sums,
    # which are 93 and 12.
    differences = [
        0.005, -0.008, 0.017, 0.033, 0.006, -0.005, 0.007, 0.0, 0.063, 0.0, 0.022, 0.047, 0.009, 0.021,
    ]  # fmt: skip
    greater = signed_rank_test(differences, zero_method="pratt")
    less = signed_rank_test([-each for each in differences], zero_method="pratt")
    assert (greater.statistic + 1.5, less.statistic + 1.5) == (93, 12)
    assert (greater.zeros, greater.n) == (2, 14)


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_laws(differences):
    both = signed_rank_test(differences)
    greater, less = (signed_rank_test(differences, alternative=way) for way in ("greater", "less"))
    assert both.pvalue == min(1.0, 2 * min(greater.pvalue, less.pvalue))
    mirrored = signed_rank_test([-each for each in differences])
    assert mirrored.pvalue == both.pvalue
    assert mirrored.estimate == pytest.approx(-both.estimate, abs=1e-15)
    assert mirrored.confidence_interval.low == pytest.approx(-both.confidence_interval.high, abs=1e-15)
    low, high = both.confidence_interval
    assert low <= both.estimate <= high


@pytest.mark.parametrize("n", [5, 12, 60])
def test_the_interval_without_ties_agrees_with_the_test(n):
    rng = np.random.default_rng(n)
    for _ in range(60):
        differences = rng.normal(rng.normal(0, 1), 1, n)
        found = signed_rank_test(differences)
        low, high = found.confidence_interval
        assert (low > 0 or high < 0) == (found.pvalue <= 0.05)


def test_hodges_and_lehmann_by_all_pairs_and_by_bisection():
    rng = np.random.default_rng(5)
    differences = rng.normal(0.2, 1, 2001)
    first, second = np.triu_indices(len(differences))
    expected = np.median((differences[first] + differences[second]) / 2)
    assert signed_rank_test(differences).estimate == pytest.approx(expected, rel=1e-12)
    assert signed_rank_test(differences[:77]).estimate == pytest.approx(
        np.median([(a + b) / 2 for a, b in itertools.combinations_with_replacement(differences[:77], 2)]), rel=1e-12
    )


@pytest.mark.parametrize("n", [1500 if thorough() else 500, 10_000])
def test_thousands_of_tied_differences(n):
    differences = np.random.default_rng(2).integers(-50, 52, n)
    exact, normal = (signed_rank_test(differences, method=method) for method in ("exact", "normal"))
    if n < 2000:
        assert exact.pvalue_interval is None or exact.pvalue_interval.high - exact.pvalue_interval.low < 1e-12
        assert exact.pvalue == pytest.approx(normal.pvalue, rel=0.02)
    else:
        assert exact.pvalue_interval.low <= normal.pvalue <= exact.pvalue_interval.high == exact.pvalue


def test_differences_that_are_equal_but_for_rounding_are_tied():
    assert signed_rank_test([0.3 - 0.2, 0.1, -0.1, 0.5]).pvalue == signed_rank_test([1, 1, -1, 5]).pvalue
