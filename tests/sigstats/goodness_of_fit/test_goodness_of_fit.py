"""Goodness of fit, against full enumeration in rationals, SciPy, R's ExactMultinom and the paper."""

import math
from fractions import Fraction
from itertools import product
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, power_divergence

from sigstats.conditional import tail as conditional_tail
from sigstats.goodness_of_fit import distance
from sigstats.goodness_of_fit.distance import goodness_of_fit_exceedances
from sigstats.goodness_of_fit.goodness_of_fit_test import goodness_of_fit_test, relax_probabilities

from ...examples import examples


def outcomes(n, classes):
    return (x for x in product(range(n + 1), repeat=classes) if sum(x) == n)


def probability(x, ratio):
    """The multinomial probability, a rational; `ratio` are whole numbers in proportion to the class probabilities."""
    value = Fraction(math.factorial(sum(x)))
    for count, weight in zip(x, ratio, strict=True):
        value *= Fraction(weight, sum(ratio)) ** count / math.factorial(count)
    return value


def pearson(x, ratio):
    n, total = sum(x), sum(ratio)
    return sum(
        (count - Fraction(n * weight, total)) ** 2 / Fraction(n * weight, total)
        for count, weight in zip(x, ratio, strict=True)
    )


def enumerated(observed, ratio, statistic=None):
    """The exact p-value by listing all outcomes: by probability, or by a statistic that is large where extreme."""
    found = Fraction(0)
    for x in outcomes(sum(observed), len(observed)):
        extreme = (
            probability(x, ratio) <= probability(observed, ratio)
            if statistic is None
            else statistic(x, ratio) >= statistic(observed, ratio)
        )
        found += probability(x, ratio) if extreme else 0
    return found


ratios = st.lists(st.integers(1, 9), min_size=2, max_size=4)


@pytest.mark.long
@settings(derandomize=True, deadline=None, max_examples=examples(120))
@given(st.data())
def test_equals_enumeration_in_rationals(data):
    ratio = data.draw(ratios)
    observed = data.draw(st.lists(st.integers(0, 4), min_size=len(ratio), max_size=len(ratio)).filter(any))
    p = [weight / sum(ratio) for weight in ratio]
    by_probability, by_chi2 = (float(enumerated(observed, ratio, statistic)) for statistic in (None, pearson))
    for few in (2**15, 0):  # all outcomes listed, or two halves joined
        with mock.patch.object(conditional_tail, "FEW_OUTCOMES", few):
            assert goodness_of_fit_test(observed, p).pvalue == pytest.approx(by_probability, rel=1e-11, abs=0)
            assert goodness_of_fit_test(observed, p, ordering="chi2").pvalue == pytest.approx(by_chi2, rel=1e-11, abs=0)


@pytest.mark.parametrize(
    ("counts", "ratio"),
    [
        ((9, 7, 9), (1, 10**9, 10**9)),
        ((3, 8, 2), (1, 10**9, 3 * 10**9)),
        ((2, 1, 5, 4), (1, 10**7, 10**9, 10**9)),
        ((5, 5, 5), (1, 10**12, 2 * 10**12)),
    ],
)
def test_chi_squares_that_nearly_tie_are_compared_exactly(counts, ratio):
    p = [each / sum(ratio) for each in ratio]
    found = goodness_of_fit_test(counts, p, ordering="chi2").pvalue
    assert found == pytest.approx(float(enumerated(counts, ratio, pearson)), rel=1e-9, abs=0)


def test_the_chi_square_of_9_7_9():
    p = np.array([1, 1e9, 1e9]) / (2e9 + 1)
    assert goodness_of_fit_test([9, 7, 9], p, ordering="chi2").pvalue == pytest.approx(3.2066e-78, rel=1e-4, abs=0)


@pytest.mark.parametrize(
    ("ordering", "expected"),
    # R 4.2.2, ExactMultinom 0.1.3: Prob, Chisq and LLR of Mendel's peas
    [("probability", 0.938222), ("chi2", 0.927191), ("likelihood-ratio", 0.926132)],
)
def test_mendels_peas(ordering, expected):
    peas, ratio = [315, 108, 101, 32], np.array([9, 3, 3, 1]) / 16
    assert goodness_of_fit_test(peas, ratio, ordering=ordering).pvalue == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("share", "exact", "chi2", "likelihood_ratio"),
    [
        (0.01, 0.0106728, 0.000622, 0.023500),  # Hryniewicz, Table 10, prints 0.0011 for the exact p: a misprint
        (0.02, 0.132, 0.120, 0.202),
    ],
)
def test_table_10_of_hryniewicz(share, exact, chi2, likelihood_ratio):
    b2 = [15, 30, 50, 5]
    required = relax_probabilities([0.2, 0.3, 0.5], share, classes=[2])
    digits = 5e-8 if share == 0.01 else 5e-4
    assert goodness_of_fit_test(b2, required).pvalue == pytest.approx(exact, abs=digits)
    assert goodness_of_fit_test(b2, required, method="chi2").pvalue == pytest.approx(chi2, abs=max(digits, 5e-7))
    found = goodness_of_fit_test(b2, required, method="likelihood-ratio").pvalue
    assert found == pytest.approx(likelihood_ratio, abs=max(digits, 5e-7))


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ([0.319, 0.310, 0.314, 0.057], 0.0021946),  # QDA; section 4 prints 0.002
        ([0.300, 0.324, 0.310, 0.066], 0.0158429),  # CRT; section 4 prints 0.018: a misprint
    ],
)
def test_wheat_kernels_of_hryniewicz(probabilities, expected):
    found = goodness_of_fit_test([29, 29, 32, 15], probabilities, method="chi2").pvalue
    assert found == pytest.approx(expected, abs=5e-8)


@settings(derandomize=True, deadline=None, max_examples=examples(60))
@given(st.lists(st.integers(0, 60), min_size=2, max_size=6).filter(any), st.data())
def test_asymptotic_tests_are_those_of_scipy(counts, data):
    weights = np.array(data.draw(st.lists(st.integers(1, 9), min_size=len(counts), max_size=len(counts))), dtype=float)
    p = weights / weights.sum()
    for method, power in (("chi2", "pearson"), ("likelihood-ratio", "log-likelihood")):
        expected = power_divergence(counts, sum(counts) * p, lambda_=power)
        found = goodness_of_fit_test(counts, p, method=method)
        assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-300)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)


@settings(derandomize=True, deadline=None, max_examples=examples(80))
@given(st.integers(1, 400), st.data())
def test_two_classes_are_the_binomial_test(n, data):
    k, p = data.draw(st.integers(0, n)), data.draw(st.sampled_from([0.5, 0.25, 0.3, 0.9]))
    found = goodness_of_fit_test([k, n - k], [p, 1 - p]).pvalue
    assert found == pytest.approx(binomtest(k, n, p).pvalue, rel=1e-8, abs=1e-300)


@settings(derandomize=True, deadline=None, max_examples=examples(40))
@given(st.lists(st.tuples(st.integers(0, 15), st.integers(1, 6)), min_size=2, max_size=5), st.randoms())
def test_the_order_of_classes_does_not_matter(cells, random):
    if not any(count for count, _ in cells):
        return
    total = sum(weight for _, weight in cells)
    shuffled = random.sample(cells, len(cells))
    one, other = (
        goodness_of_fit_test([count for count, _ in rows], [weight / total for _, weight in rows]).pvalue
        for rows in (cells, shuffled)
    )
    assert one == pytest.approx(other, rel=1e-10)


def test_a_class_that_cannot_occur_changes_nothing():
    assert goodness_of_fit_test([3, 0, 7], [0.4, 0.0, 0.6]).pvalue == goodness_of_fit_test([3, 7], [0.4, 0.6]).pvalue


@pytest.mark.parametrize("ordering", ["probability", "chi2", "likelihood-ratio"])
def test_valid_under_the_null_by_enumeration(ordering):
    ratio = (1, 2, 3)
    p = [weight / 6 for weight in ratio]
    mass: dict[float, Fraction] = {}
    for x in outcomes(9, 3):
        value = goodness_of_fit_test(x, p, ordering=ordering).pvalue
        mass[value] = mass.get(value, Fraction(0)) + probability(x, ratio)
    below = Fraction(0)
    for value in sorted(mass):
        below += mass[value]
        assert float(below) <= value * (1 + 1e-9)
    assert below == 1


def test_a_few_hundred_objects_in_six_classes():
    p = [0.05, 0.10, 0.15, 0.20, 0.20, 0.30]
    counts = [22, 28, 48, 55, 60, 87]
    exact = goodness_of_fit_test(counts, p).pvalue
    drawn = goodness_of_fit_test(counts, p, method="monte-carlo", n_resamples=40_000, rng=3)
    assert drawn.pvalue_interval.low <= exact <= drawn.pvalue_interval.high


@pytest.mark.long
def test_monte_carlo_is_valid_and_near_the_exact_value():
    p, rng = [0.2, 0.3, 0.5], np.random.default_rng(7)
    pvalues = [
        goodness_of_fit_test(rng.multinomial(40, p), p, method="monte-carlo", n_resamples=99, rng=rng).pvalue
        for _ in range(2000)
    ]
    for level in (0.01, 0.05, 0.1, 0.5):
        # a valid test exceeds this bound with a chance below 1e-6
        assert np.sum(np.array(pvalues) <= level) <= binom.isf(1e-6, 2000, level)


@pytest.mark.parametrize("ordering", ["probability", "chi2", "likelihood-ratio"])
@pytest.mark.parametrize(("counts", "ratio"), [((4, 0), (1, 1)), ((5, 3, 2), (1, 1, 1)), ((1, 4, 3), (1, 2, 3))])
def test_monte_carlo_counts_ties_as_the_exact_test_does(counts, ratio, ordering):
    # The first two have outcomes tied with the observed one, of half the p-value and more.
    p = np.array(ratio) / sum(ratio)
    found = goodness_of_fit_test(counts, p, method="monte-carlo", ordering=ordering, n_resamples=20_000, rng=6)
    assert found.pvalue == (found.exceedances + 1) / 20_001
    low, high = binom.interval(1 - 1e-6, 20_000, goodness_of_fit_test(counts, p, ordering=ordering).pvalue)
    assert low <= found.exceedances <= high


def test_replicates_are_a_prefix_of_more():
    few, more = (goodness_of_fit_exceedances([8, 2, 5], [0.3, 0.3, 0.4], size=size, rng=5) for size in (50, 3000))
    np.testing.assert_array_equal(few, more[:50])


@pytest.mark.long
def test_beyond_the_limit_the_error_names_monte_carlo():
    classes = 40
    required = np.arange(1, classes + 1) / (classes * (classes + 1) / 2)
    with pytest.raises(ValueError, match="monte-carlo"):
        goodness_of_fit_test(np.arange(classes) + 900, required, method="exact")


@pytest.mark.parametrize(
    ("share", "classes", "message"),
    [(0.6, [2], "share"), (0.1, [3], "classes"), (0.1, [1, 1], "classes"), (-0.1, None, "share")],
)
def test_relaxing_more_than_there_is_is_refused(share, classes, message):
    with pytest.raises(ValueError, match=message):
        relax_probabilities([0.2, 0.3, 0.5], share, classes=classes)


@settings(derandomize=True)
@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.floats(0.001, 0.1), st.data())
def test_relaxed_probabilities_sum_to_one_and_keep_their_proportions(weights, share, data):
    p = np.array(weights) / sum(weights)
    relaxed = np.array(relax_probabilities(p, share))
    assert relaxed.sum() == pytest.approx(1)
    assert relaxed[-1] == pytest.approx(share)
    np.testing.assert_allclose(relaxed[:-1] / p, 1 - share)


@pytest.mark.parametrize("ordering", ["probability", "chi2", "likelihood-ratio"])
@pytest.mark.parametrize("method", ["exact", "chi2", "likelihood-ratio", "monte-carlo"])
def test_one_object_where_none_may_be_rejects(method, ordering):
    # Hryniewicz, section 3: with p(K+1) = 0 "we will always reject the null hypothesis (12) when we will observe even
    # one misclassified object". Table 5, each algorithm but the expert, who has none.
    required = [0.2, 0.3, 0.5, 0.0]
    for counts in ([18, 27, 45, 10], [19, 29, 47, 5], [20, 30, 49, 1], [0, 0, 0, 3]):
        result = goodness_of_fit_test(counts, required, method=method, ordering=ordering, n_resamples=99, rng=1)
        assert result.pvalue == (0.01 if method == "monte-carlo" else 0.0)
        assert f"{counts[3]} object" in result.reason
        assert not goodness_of_fit_exceedances(counts, required, size=9, ordering=ordering, rng=1).any()
    expert = goodness_of_fit_test([20, 30, 50, 0], required, method=method, ordering=ordering, n_resamples=99, rng=1)
    assert expert.pvalue == 1.0


@settings(deadline=None, derandomize=True, max_examples=examples(40))
@given(st.lists(st.integers(0, 4), min_size=2, max_size=4).filter(sum), st.data())
def test_a_probability_of_0_is_the_limit_of_small_ones(counts, data):
    ratio = data.draw(st.lists(st.integers(0, 3), min_size=len(counts), max_size=len(counts)).filter(any))
    at_zero = goodness_of_fit_test(counts, [weight / sum(ratio) for weight in ratio]).pvalue
    near = [weight + 1e-9 * (weight == 0) for weight in ratio]
    assert goodness_of_fit_test(counts, [weight / sum(near) for weight in near]).pvalue == pytest.approx(
        at_zero, abs=1e-6
    )


@pytest.mark.parametrize("ordering", ["probability", "chi2", "likelihood-ratio"])
def test_two_classes_by_their_tails_are_two_classes_outcome_by_outcome(ordering):
    generator = np.random.default_rng(6)
    for _ in range(60):
        n, share = int(generator.integers(1, 2000)), float(generator.choice([0.5, 0.25, 0.1, 1 / 3, 0.9]))
        k = int(generator.binomial(n, share * generator.choice([0.7, 1, 1.1])))
        x, p = np.array([k, n - k]), np.array([share, 1 - share])
        listed, tails = distance.exact_pvalue(x, p, ordering), distance._two_tails(x, p, ordering)
        assert tails.pvalue == pytest.approx(listed.pvalue, rel=1e-9, abs=1e-290)


@pytest.mark.parametrize(("n", "k", "share"), [(10**6, 501_000, 0.5), (10**9, 500_050_000, 0.5), (10**9, 30, 1e-8)])
def test_two_classes_of_any_size_are_the_binomial_test(n, k, share):
    found = goodness_of_fit_test([k, n - k], [share, 1 - share])
    assert found.pvalue == pytest.approx(binomtest(k, n, share).pvalue, rel=1e-9)
    assert found.reason.startswith("error_bound is an estimate")
