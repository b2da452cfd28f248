"""Sign flips against enumeration in rationals, McNemar's exact test, SciPy, and simulation."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from sigstats import mcnemar_test, sign_flip_test
from sigstats.sign_flips import law
from sigstats.sign_flips.differences import as_units, null_variance, score_pvalue
from sigstats.sign_flips.whole_sums import tail_by_frequencies, tail_in_doubles

from ...examples import examples, simulated


def enumerated(differences, alternative):
    """The p-value from the definition: every change of signs, in rationals."""
    values = [Fraction(each) for each in differences]
    observed, found = sum(values), 0
    for signs in itertools.product((-1, 1), repeat=len(values)):
        total = sum(sign * value for sign, value in zip(signs, values, strict=True))
        found += {"two-sided": abs(total) >= abs(observed), "greater": total >= observed, "less": total <= observed}[
            alternative
        ]
    return Fraction(found, 2 ** len(values))


small = st.lists(st.integers(-6, 6), min_size=1, max_size=9)
ways = st.sampled_from(["two-sided", "greater", "less"])


@settings(deadline=None)
@given(small, ways)
def test_whole_numbers_as_enumerated(differences, alternative):
    result = sign_flip_test(differences, alternative=alternative)
    assert Fraction(result.pvalue) == enumerated(differences, alternative)
    assert result.pvalue_interval is None
    assert result.log10_pvalue == pytest.approx(math.log10(result.pvalue), abs=1e-12)


far_apart = st.builds(lambda n, power: n * Fraction(10) ** power, st.integers(-4, 4), st.integers(-100, 70))


@settings(deadline=None)
@given(st.lists(st.fractions(max_denominator=3**40), min_size=1, max_size=4), st.lists(far_apart, max_size=4), ways)
def test_fractions_of_any_size_as_enumerated(some, others, alternative):
    differences = [each % 10**60 for each in some] + others
    differences.append(-differences[0] - differences[-1])  # so that sums are tied
    found = sign_flip_test(differences, alternative=alternative)
    assert Fraction(found.pvalue) == enumerated(differences, alternative)


def test_a_small_sum_beside_a_large_one_keeps_its_digits():
    differences = [math.pi * 1e9, math.e * 1e9, -0.1234567890123]
    assert Fraction(sign_flip_test(differences, alternative="less").pvalue) == enumerated(differences, "less")


@pytest.mark.long
@settings(deadline=None)
@given(st.lists(st.fractions(-3, 3, max_denominator=7), min_size=1, max_size=8), ways)
def test_fractions_and_the_floats_nearest_to_them_as_enumerated(differences, alternative):
    exact = enumerated(differences, alternative)
    assert Fraction(sign_flip_test(differences, alternative=alternative).pvalue) == exact
    rounded = [float(each + 1000) - 1000 for each in differences]  # with the errors of a subtraction
    if any(differences):
        assert Fraction(sign_flip_test([float(x) for x in differences], alternative=alternative).pvalue) == exact
        found = sign_flip_test(np.array(rounded), alternative=alternative).pvalue
        assert found == pytest.approx(float(exact), abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1).filter(lambda x: x == 0 or abs(x) > 1e-3), min_size=1, max_size=9), ways)
def test_floats_as_enumerated_but_for_ties_by_rounding(differences, alternative):
    found = sign_flip_test(differences, alternative=alternative).pvalue
    spread = sum(abs(Fraction(each)) for each in differences) * Fraction(1, 10**9)
    observed = sum(map(Fraction, differences))
    totals = [
        sum(sign * Fraction(each) for sign, each in zip(signs, differences, strict=True))
        for signs in itertools.product((-1, 1), repeat=len(differences))
    ]
    test = {
        "two-sided": lambda total, slack: abs(total) >= abs(observed) - slack,
        "greater": lambda total, slack: total >= observed - slack,
        "less": lambda total, slack: total <= observed + slack,
    }[alternative]
    strict, loose = (sum(test(total, slack) for total in totals) / len(totals) for slack in (0, spread))
    assert strict <= found <= loose


@pytest.mark.parametrize("pair", [(7, 1), (0, 0), (5, 5), (0, 3), (499, 400), (600, 700), (20_000, 20_500)])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_one_answer_an_item_is_mcnemar_to_the_last_bit(pair, alternative):
    a, b = pair
    result = sign_flip_test([1] * a + [-1] * b + [0] * 4, alternative=alternative)
    expected = mcnemar_test(a, b, alternative=alternative)
    assert result.pvalue == expected.pvalue
    assert result.log10_pvalue == pytest.approx(expected.log10_pvalue, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_scores_in_single_precision_have_the_ties_of_their_decimals(seed):
    tenths = np.random.default_rng(seed).integers(0, 11, (2, 40))
    scores = (tenths / 10).astype(np.float32)
    difference = scores[0] - scores[1]
    assert (difference.astype(float) * 10 != tenths[0] - tenths[1]).any()
    for alternative in ("greater", "two-sided"):
        found = sign_flip_test(difference, alternative=alternative)
        assert found.pvalue == sign_flip_test(tenths[0] - tenths[1], alternative=alternative).pvalue
    noise = np.random.default_rng(seed).normal(size=12).astype(np.float32)  # which is no multiple of anything
    assert sign_flip_test(noise).pvalue == sign_flip_test(noise.astype(float)).pvalue


def test_scipy_enumerates_the_same():
    differences = np.array([0.13, -0.4, 0.77, 0.5, -0.21, 0.9, 0.33, -0.05, 0.61, 0.2])
    for alternative in ("two-sided", "greater", "less"):
        scipy = stats.permutation_test(
            (differences,), np.sum, permutation_type="samples", alternative=alternative, n_resamples=np.inf
        )
        assert sign_flip_test(differences, alternative=alternative).pvalue == pytest.approx(scipy.pvalue, rel=1e-12)


def exact_tail(magnitudes, threshold):
    counts = law._counts(Counter(magnitudes), sum(magnitudes) + 1).coeffs()
    return law.exact_ratio(sum(counts[threshold:]), 2 ** len(magnitudes))


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(st.integers(1, 40), min_size=2, max_size=60), st.data())
def test_the_characteristic_function_has_the_exact_tail(magnitudes, data):
    threshold = data.draw(st.integers(1, sum(magnitudes)))
    sizes, times = np.array([*Counter(magnitudes).items()]).T
    found = tail_by_frequencies(sizes, times, threshold)
    exact = exact_tail(magnitudes, threshold)
    assert found.low <= exact.high <= found.high
    assert found.high - found.low <= 1e-15 * found.high
    assert found.log == pytest.approx(exact.log, rel=1e-12, abs=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("largest", [3, 25, 400])
@pytest.mark.parametrize("deviations", [0.5, 4, -3])
def test_long_laws_are_those_of_the_product_to_the_last_bit(monkeypatch, largest, deviations):
    rng = np.random.default_rng([largest, abs(int(deviations))])
    magnitudes = [*rng.integers(1, largest + 1, 400).tolist(), 2 * largest]
    spread = math.sqrt(sum(each * each for each in magnitudes)) / 2
    threshold = min(sum(magnitudes), int(sum(magnitudes) / 2 + deviations * spread))
    monkeypatch.setattr(law, "MOST_MULTIPLIED", 0)
    assert law.tail_of_sum(magnitudes, threshold)[:3] == exact_tail(magnitudes, threshold)[:3]


@pytest.mark.long
def test_ranks_of_many_sizes_keep_their_last_bit():
    ranks = list(range(1, 601))
    threshold = sum(ranks) * 26 // 50
    assert law.tail_of_sum(ranks, threshold)[:3] == exact_tail(ranks, threshold)[:3]


@pytest.mark.long
@pytest.mark.parametrize("threshold", [1, 60_000, 300_000, 420_000, 480_000])
def test_two_laws_in_doubles_hold_the_exact_tail(threshold):
    magnitudes = np.random.default_rng(threshold).integers(1, 20_000, 50).tolist()
    threshold = min(threshold, sum(magnitudes))
    low, high = tail_in_doubles(magnitudes, threshold)
    assert low <= exact_tail(magnitudes, threshold).high <= high
    assert high - low <= 1e-11 * high


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 2**32), st.floats(-1, 4), st.integers(1, 3))
def test_bounds_hold_what_enumeration_gives(seed, deviations, copies):
    sizes = np.random.default_rng(seed).random(24 // copies) + 0.01
    magnitudes = np.repeat(sizes, copies)
    threshold = magnitudes.sum() / 2 + deviations * math.sqrt((magnitudes**2).sum()) / 2
    if not 0 < threshold < 0.9 * magnitudes.sum():
        return
    exact = law._enumerated(magnitudes, threshold)
    bounds = law._bounded(*np.unique(magnitudes, return_counts=True), threshold, 1e-2)
    assert bounds.low <= exact.high <= bounds.high
    assert bounds.high - bounds.low <= 0.03 * bounds.high + 2e-7  # a sum is at least 2**-24
    assert bounds.log == pytest.approx(math.log(bounds.high), abs=1e-6)


def test_bounds_hold_the_exact_tail_of_ranks():
    # far out, too, where only a tilted law has any mass there
    ranks = list(range(1, 301))
    for deviations in (0.1, 4):
        threshold = int(sum(ranks) / 2 + deviations * math.sqrt(sum(each * each for each in ranks)) / 2)
        exact = law.tail_of_sum(ranks, threshold)
        bounds = law._bounded(*np.unique(ranks, return_counts=True), threshold, 1e-2)
        assert exact.low == exact.high
        assert bounds.low <= exact.high <= bounds.high
        assert bounds.high <= 1.04 * bounds.low


def test_ties_with_the_threshold_count_as_equal():
    magnitudes = np.array([1.0, 1.0, 1.0, 0.5, 0.5, *[0.25] * 10])
    exact = law._enumerated(magnitudes, 4.0)
    bounds = law._bounded(*np.unique(magnitudes, return_counts=True), 4.0 * (1 + 1e-12), 1e-3)
    assert bounds.low <= exact.high <= bounds.high


def test_many_answers_have_a_certified_far_tail():
    rng = np.random.default_rng(1)
    differences = np.minimum(rng.integers(-10, 12, 100_000), 10).tolist()
    result = sign_flip_test(differences, sizes=[10] * len(differences), limit=1)
    assert result.pvalue_interval is None or result.pvalue_interval.low == pytest.approx(
        result.pvalue_interval.high, rel=1e-12
    )
    z = sum(differences) / math.sqrt(sum(each * each for each in differences))
    assert result.log10_pvalue == pytest.approx(stats.norm.logsf(z) / math.log(10) + math.log10(2), rel=0.02)


@pytest.mark.long
@settings(deadline=None)
@given(small, st.integers(1, 5))
def test_laws(differences, factor):
    both = sign_flip_test(differences)
    greater, less = (sign_flip_test(differences, alternative=way).pvalue for way in ("greater", "less"))
    assert both.pvalue == min(1.0, 2 * min(greater, less))
    mirrored = sign_flip_test([-each for each in differences])
    assert (mirrored.pvalue, mirrored.estimate) == (both.pvalue, -both.estimate)
    assert mirrored.confidence_interval.low == pytest.approx(-both.confidence_interval.high, abs=1e-9)
    assert sign_flip_test([factor * each for each in differences]).pvalue == both.pvalue
    assert sign_flip_test([*differences, 0]).pvalue == both.pvalue
    assert sign_flip_test(differences[::-1]).pvalue == both.pvalue


@settings(deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=25), st.floats(0.5, 0.999))
def test_the_interval_excludes_nothing_that_the_test_does_not(differences, level):
    result = sign_flip_test(differences, sizes=[5] * len(differences), limit=1, confidence_level=level)
    low, high = result.confidence_interval
    assert result.confidence_interval.confidence_level == level
    assert low <= result.estimate <= high
    assert low >= -1 - 1e-9
    assert high <= 1 + 1e-9
    if low > 0 or high < 0:
        assert result.pvalue <= 1 - level + 1e-9


def test_nothing_differs_is_not_certainty():
    result = sign_flip_test([0] * 10, limit=1)
    assert result.pvalue == 1
    assert result.reason == "no item differs: the data say nothing about a difference"
    assert result.confidence_interval.high == -result.confidence_interval.low > 0.25


@pytest.mark.long
def test_null_variance_of_the_empirical_likelihood():
    # Three residuals with mean 0 need no tilt; the variance is then their own.
    assert null_variance(np.array([-1.0, 0.0, 1.0]), 1.0, 5.0) == pytest.approx(2 / 3)
    # Owen's p_i by brute force over a grid of the multiplier.
    residuals = np.array([-0.5, -0.2, 0.1, 0.9])
    grid = np.linspace(-1 / 0.9 + 1e-6, 1 / 0.5 - 1e-6, 2_000_001)
    balance = (residuals[:, None] / (1 + grid * residuals[:, None])).sum(axis=0)
    t = grid[np.argmin(np.abs(balance))]
    shares = 1 / (4 * (1 + t * residuals))
    assert null_variance(residuals, 1.0, 0.9) == pytest.approx((shares * residuals**2).sum(), rel=1e-4)


def test_the_standard_error_is_miller_s():
    # Clustered standard error of a mean of paired differences, n / (n - 1) for n clusters; statsmodels' formula.
    values, sizes = np.array([2.0, -1.0, 3.0, 0.0]), np.array([3.0, 2.0, 4.0, 1.0])
    residuals = values - values.sum() / sizes.sum() * sizes
    expected = math.sqrt((residuals**2).sum() * 4 / 3) / sizes.sum()
    assert sign_flip_test(values, sizes=sizes).standard_error == pytest.approx(expected, rel=1e-15)
    assert sign_flip_test([1, 0, 1, 1]).standard_error == pytest.approx(np.std([1, 0, 1, 1], ddof=1) / 2)
    assert math.isnan(sign_flip_test([1]).standard_error)


def test_monte_carlo_estimates_the_exact_p_value():
    differences = [3, 2, 0, 1, -1, 2, 3, -2, 1, 1, -3, 2]
    for alternative in ("two-sided", "greater", "less"):
        exact = sign_flip_test(differences, alternative=alternative).pvalue
        drawn = sign_flip_test(differences, alternative=alternative, method="monte-carlo", n_resamples=20_000, rng=1)
        assert drawn.n_resamples == 20_000
        # A false alarm has odds of less than one in 10^6: five standard deviations.
        assert abs(drawn.pvalue - exact) < 5 * math.sqrt(exact * (1 - exact) / 20_000) + 1 / 20_001
        assert drawn.pvalue_interval.low <= drawn.exceedances / 20_000 <= drawn.pvalue_interval.high


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"differences": []}, "differences: "),
        ({"differences": [1, 2], "sizes": [1]}, r"sizes: the length is 1; expected 2"),
        ({"differences": [1, 2], "sizes": [1, 0]}, "sizes: 0.0 is not valid; expected numbers above 0 and up to"),
        ({"differences": [1, 2], "limit": 1}, "limit: 1 is not valid; expected at least 2"),
        ({"differences": [1], "confidence_level": 1}, "confidence_level: 1"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    with pytest.raises(ValueError, match=message):
        sign_flip_test(**arguments)


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(0, 30), ways)
def test_the_score_test_of_one_answer_an_item_is_mcnemars_chi_square(a, b, alternative):
    values = np.array([1.0] * a + [-1.0] * b + [0.0] * 7)
    found = score_pvalue(values, np.ones(len(values)), 1.0, alternative)
    z = (a - b) / math.sqrt(a + b)
    wanted = {"greater": stats.norm.sf(z), "less": stats.norm.cdf(z), "two-sided": 2 * stats.norm.sf(abs(z))}
    assert found == pytest.approx(wanted[alternative] if a != b or alternative == "two-sided" else 1.0, rel=1e-9)


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(st.fractions(-1, 1, max_denominator=8), min_size=2, max_size=20), ways)
def test_without_symmetry_p_is_the_larger_one(differences, alternative):
    options = {"limit": 1, "alternative": alternative}
    assume(sum(differences))  # a sum of 0 in floats may be on either side
    found = sign_flip_test(differences, symmetric=False, **options)
    flips = sign_flip_test(differences, **options).pvalue
    score = score_pvalue(np.array([float(x) for x in differences]), np.ones(len(differences)), 1.0, alternative)
    assert found.pvalue == pytest.approx(max(flips, score), rel=1e-9)
    assert found.log10_pvalue == pytest.approx(math.log10(found.pvalue), abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(("a", "b"), [(1, 8), (8, 1), (2, 3), (1, 2)])
def test_means_of_unlike_numbers_of_answers_keep_the_level(a, b):
    """One-sided: a true level of 0.05 exceeds the limit once in 100,000 runs of it."""
    items, trials, failed = 10, simulated(400), 0
    rng = np.random.default_rng([a, b, items])
    for _ in range(trials):
        shared, own = rng.normal(size=items), rng.normal(size=(2, items))
        p, q = 1 / (1 + np.exp(-2 - 2 * (math.sqrt(0.8) * shared + math.sqrt(0.2) * own)))
        d = [
            Fraction(int(x), a) - Fraction(int(y), b)
            for x, y in zip(rng.binomial(a, p), rng.binomial(b, q), strict=True)
        ]
        failed += sign_flip_test(d, limit=1, symmetric=False, alternative="greater").pvalue <= 0.05
    assert failed <= stats.binom.isf(1e-5, trials, 0.05)


def test_the_level_that_is_stated_for_differences_of_two_values_is_that_of_all_outcomes():
    level = sum(
        stats.binom.pmf(gains, 12, 0.6)
        for gains in range(13)
        if sign_flip_test([0.4] * gains + [-0.6] * (12 - gains), limit=1, symmetric=False, alternative="greater").pvalue
        <= 0.05
    )
    assert level == pytest.approx(0.083, abs=5e-4)


def units_by_fractions(reals):
    """Whole units by the definition: the nearest fraction of each number, a common denominator up to a million."""
    near = [Fraction(each).limit_denominator(10**6) for each in reals]
    common = math.lcm(*(each.denominator for each in near))
    largest = max(map(abs, reals))
    if common > 10**6 or any(abs(float(f) - each) > 1e-12 * largest for f, each in zip(near, reals, strict=True)):
        return None
    whole = [int(each * common) for each in near]
    divisor = math.gcd(*whole) or 1
    return [each // divisor for each in whole], float(Fraction(divisor, common))


@settings(deadline=None, max_examples=examples(150))
@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=100),
    st.sampled_from([1, 3, 7, 10, 24, 1000, 99991, 10**6]),
    st.sampled_from([1, 2, 5, 12]),
    st.sampled_from([1.0, 1e-9, 1e-3, 1e6, 1e12, 1e40]),
    st.integers(0, 2),
)
def test_units_are_the_nearest_fractions_of_all_numbers(numerators, one, other, size, rounding):
    rng = np.random.default_rng(len(numerators))
    reals = np.array(numerators) / one + rng.integers(-9, 10, len(numerators)) / other
    reals = reals * size * (1 + rounding * 2e-16 * rng.integers(-1, 2, len(numerators)))
    expected = units_by_fractions(reals.tolist())
    units, scale = as_units(reals)
    assert expected == (None if units.dtype.kind == "f" else (units.tolist(), scale))


def test_sums_beyond_an_int64_are_those_of_smaller_units():
    small = np.random.default_rng(1).integers(-(10**6), 10**6, size=200)
    large = [each * 10**17 + 1 for each in small.tolist()]  # no common divisor
    one, other = sign_flip_test(small), sign_flip_test(np.array(large))
    assert one.pvalue_interval.low <= other.pvalue
    assert other.pvalue_interval.low <= one.pvalue
