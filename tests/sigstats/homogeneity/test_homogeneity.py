"""Homogeneity of two independent samples, against enumeration, R and the paper."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2_contingency, fisher_exact

from sigstats.conditional import tail as conditional_tail
from sigstats.conditional.exact_keys import Packing, binomial_exponents, binomial_keys, multinomial_keys, primes_to
from sigstats.conditional.fourier_bounds import bounds, grouped
from sigstats.conditional.problem import best_scores, binomial_log_pmf, open_volume, poisson_deviance, poisson_log_pmf
from sigstats.efficiency import efficiency_test
from sigstats.homogeneity import given_margins as given_margins_module
from sigstats.homogeneity.given_margins import given_margins, homogeneity_exceedances
from sigstats.homogeneity.homogeneity_test import homogeneity_test
from sigstats.intervals import Interval

from ...examples import examples, thorough

EXPERT = [20, 30, 50, 0]
ALGORITHMS = {  # Hryniewicz, Table 5
    "A1": [18, 27, 45, 10],
    "A2": [19, 29, 47, 5],
    "B1": [10, 30, 50, 10],
    "B2": [15, 30, 50, 5],
    "C1": [20, 30, 40, 10],
    "C2": [20, 30, 45, 5],
}

# A user's table of 2 x 113 (maclandrol/FisherExact on GitHub, issue 4): wrappers of FEXACT crash on it.
WIDE_A = [89, 66, 33, 32, 28, 15, 16, 21, 12, 20, 17, 0, 3, 6, 3, 1, 7, 7, 10, 7, 6, 6, 5, 3, 2, 1, 0, 13, 7, 5, 0]
WIDE_A += [11, 3, 3, 1, 1, 0, 0, 0, 6, 5, 3, 3, 2, 2, 2, 2] + [1] * 15 + [0] * 17
WIDE_A += [10, 4, 3, 3, 3, 2, 2, 2, 2, 2] + [1] * 24
WIDE_B = [90, 58, 44, 22, 18, 17, 15, 14, 13, 12, 12, 10, 9, 8, 6, 6, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3]
WIDE_B += [2] * 8 + [1] * 40 + [0] * 34

# fisher.test(rbind(a, b), workspace = 2e8)$p.value of R 4.2.2, printed with 15 digits. Its network merges paths whose
# logarithms differ by less than 3e-7, so that large tables agree to 1e-6 only; see also test_full_float_enumeration.
R_VALUES = [
    ([55, 48, 112, 90, 141], [46, 55, 86, 84, 175], 0.0731682964347137),
    ([3, 0, 5, 1], [1, 4, 2, 6], 0.0262032085561494),
    ([12, 7, 9, 0, 2], [4, 9, 8, 6, 1], 0.0207720196935458),
    ([1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1], 0.0988532249070363),
    ([40, 31, 22, 13], [35, 25, 30, 30], 0.0440767855018388),
    ([2, 0, 1, 3, 0, 1, 2, 4], [0, 3, 1, 0, 2, 2, 0, 1], 0.0366772546339104),
    ([0, 0, 20, 1], [9, 3, 8, 4], 3.34314954391335e-05),
    ([100, 200, 300], [120, 180, 330], 0.168553075559748),
    ([50, 5], [30, 20], 0.000223093943509786),
    ([33, 35, 43, 26, 36, 36, 20, 21], [31, 40, 32, 33, 23, 30, 31, 30], 0.179312174502664),
    ([588, 553, 834, 525], [598, 539, 835, 528], 0.965037822390062),
]


def enumerated(a, b):
    """The p-value by its definition: every table, in integers."""
    totals, n = [x + y for x, y in zip(a, b, strict=True)], sum(a)
    weights = [
        math.prod(math.comb(c, x) for c, x in zip(totals, table, strict=True))
        for table in product(*(range(c + 1) for c in totals))
        if sum(table) == n
    ]
    observed = math.prod(math.comb(c, x) for c, x in zip(totals, a, strict=True))
    return Fraction(sum(w for w in weights if w <= observed), sum(weights))


def exact(a, b):
    return homogeneity_test(a, b).pvalue


def small_table(generator):
    k = generator.integers(2, 6)
    while True:
        a, b = generator.integers(0, [7, 7, 5, 4, 3][k - 2] + 2, size=(2, k)).tolist()
        if sum(a) and sum(b):
            return a, b


@pytest.fixture(params=["listed", "halves", "last column joined"])
def way(request, monkeypatch):
    """The exact tests by each of their ways: all outcomes listed, two halves joined, with or without a second list."""
    monkeypatch.setattr(conditional_tail, "FEW_OUTCOMES", {"listed": 2**15}.get(request.param, 0))
    if request.param == "last column joined":
        monkeypatch.setattr(conditional_tail, "_KEPT", 0)


@pytest.mark.long
def test_equals_enumeration_in_integers(way):
    generator = np.random.default_rng(20)
    for _ in range(400):
        a, b = small_table(generator)
        assert exact(a, b) == pytest.approx(float(enumerated(a, b)), rel=1e-12), (a, b)


@pytest.mark.parametrize(("a", "b", "expected"), R_VALUES)
def test_agrees_with_r(a, b, expected):
    assert exact(a, b) == pytest.approx(expected, rel=1e-6)


def test_a_table_on_which_r_is_off_in_the_seventh_digit():
    # All 2 x 8 tables: 22.5 and 10.7 million unmerged halves, listed and joined in plain floats (NumPy 2.4.6).
    assert exact(*R_VALUES[9][:2]) == pytest.approx(0.17931204942076936, rel=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "fisher"),
    [
        ([5829225, 5692693], [5760959, 5760959], 6.1262e-178),
        ([1, 78], [1406551982, 2642326796], 1.8752e-13),
        ([500, 400], [700500, 600400], 0.315732),
    ],
)
def test_two_classes_of_any_size_are_fisher_s_test(a, b, fisher):
    found = homogeneity_test(a, b)
    assert (found.method, found.error_bound < 1e-9) == ("exact", True)
    assert found.pvalue == pytest.approx(fisher, rel=1e-5, abs=0)
    assert found.pvalue == pytest.approx(fisher_exact([a, b]).pvalue, rel=1e-6, abs=0)
    assert found.log10_pvalue == pytest.approx(math.log10(found.pvalue), rel=1e-12)
    low, high = homogeneity_test(a, b, method="bounds").pvalue_interval
    assert low <= found.pvalue <= high


def test_few_among_billions_are_the_count_of_whole_numbers():
    a, b = [1, 78], [1406551982, 2642326796]
    marked, other = a[0] + b[0], a[1] + b[1]
    ways = [math.comb(marked, x) * math.comb(other, 79 - x) for x in range(80)]
    truth = Fraction(sum(way for way in ways if way <= ways[1]), math.comb(marked + other, 79))
    assert homogeneity_test(a, b).pvalue == pytest.approx(float(truth), rel=1e-12, abs=0)


@pytest.mark.parametrize("least", [0, 10**6])  # whole numbers, and tails
def test_two_classes_are_counted_with_their_ties(monkeypatch, least):
    monkeypatch.setattr(given_margins_module, "SMALL", 1000 - least)
    generator = np.random.default_rng(7)
    for size in [3, 12, 60] * 40:
        table = generator.integers(0, size, size=(2, 2))
        if table.sum(axis=1).all() and table.sum(axis=0).all():
            a, b = table.tolist()
            found, truth = homogeneity_test(a, b), enumerated(a, b)
            assert found.pvalue == pytest.approx(float(truth), rel=1e-13), (a, b)
            assert found.log10_pvalue == pytest.approx(math.log10(truth), abs=1e-12)
            assert abs(found.pvalue - truth) <= found.error_bound * max(truth, Fraction(found.pvalue))


def test_a_p_value_below_all_doubles_keeps_its_logarithm():
    a, b = [39780, 38220], [49920, 28080]  # 51% against 64% of 78,000: Cross Validated 26271
    found = homogeneity_test(a, b)
    assert found.pvalue == 0
    assert found.log10_pvalue == pytest.approx(efficiency_test([b, a]).log10_pvalue + math.log10(2), abs=1e-9)
    assert "× 10⁻⁵⁹⁰" in str(found)


def test_the_interval_of_the_difference_covers_it():
    found = homogeneity_test([56, 14], [48, 32], method="chi2")  # Newcombe (1998), Table II, (a), method 10
    assert found.estimate == pytest.approx(0.2)
    assert found.confidence_interval == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert homogeneity_test([1, 2, 3], [3, 2, 1]).confidence_interval is None
    generator, trials = np.random.default_rng(5), 2000
    missed = 0
    for _ in range(trials):
        x, y = generator.binomial(80, 0.7), generator.binomial(50, 0.9)
        low, high = homogeneity_test([x, 80 - x], [y, 50 - y]).confidence_interval
        missed += not low <= -0.2 <= high
    assert missed <= binom.isf(1e-6, trials, 0.055)


@pytest.mark.parametrize(
    ("pair", "fisher", "chi2"),
    [  # Hryniewicz, Tables 6, 7 and 8, as printed
        ("A1 E", 0.008, 0.015), ("B1 E", 0.002, 0.004), ("C1 E", 0.006, 0.011),
        ("A2 E", 0.177, 0.162), ("B2 E", 0.132, 0.126), ("C2 E", 0.165, 0.154),
        ("A1 A2", 0.640, 0.613), ("B1 B2", 0.470, 0.446), ("C1 C2", 0.599, 0.581),
        ("A1 B1", 0.454, 0.439), ("A1 C1", 0.918, 0.906), ("B1 C1", 0.214, 0.217),
        ("A2 B2", 0.908, 0.901), ("A2 C2", 0.991, 0.993), ("B2 C2", 0.801, 0.807),
    ],
)  # fmt: skip
def test_tables_of_the_paper(way, pair, fisher, chi2):
    a, b = ((ALGORITHMS | {"E": EXPERT})[name] for name in pair.split())
    assert round(exact(a, b), 3) == fisher
    assert round(homogeneity_test(a, b, method="chi2").pvalue, 3) == chi2


def test_vehicle_silhouettes():
    a, b = R_VALUES[0][:2]
    assert exact(a, b) == pytest.approx(0.0731682964377, rel=1e-11)
    # Table 9 prints 0.079 for chi-square, which no statistic of the table gives: recomputed.
    result = homogeneity_test(a, b, method="chi2")
    assert result.pvalue == pytest.approx(0.0731789, abs=5e-8)
    reference = chi2_contingency([a, b])
    assert (result.statistic, result.pvalue) == pytest.approx((reference.statistic, reference.pvalue), rel=1e-12)
    assert result.reason == ""


def test_ties_are_counted_exactly(way):
    # All 3 x 2 arrangements are equally likely under these margins, so that p is 1 however the products round.
    assert exact([1] * 30 + [0] * 30, [0] * 30 + [1] * 30) == pytest.approx(1, rel=1e-12)
    # C(4, 2) = C(6, 1): a tie between different columns, 6 x 6 against 6 x 6 in another guise.
    a, b = [2, 1, 3], [2, 5, 1]
    assert exact(a, b) == pytest.approx(float(enumerated(a, b)), rel=1e-13)


def test_far_tail_keeps_its_accuracy():
    # The samples share no class. Two tables of one weight are as extreme: 150 are 100 and 50 of the first two classes,
    # or of the second and third. pytest's own absolute tolerance, 1e-12, would take any number of this size.
    a, b = [100, 50, 0, 0], [0, 0, 100, 80]
    assert exact(a, b) == pytest.approx(2 / math.comb(330, 150), rel=1e-11, abs=0)
    a, b = [150, 50, 0], [10, 0, 190]
    totals = [160, 50, 190]
    observed = math.comb(160, 150)
    weights = [
        math.comb(160, x) * math.comb(50, y) * math.comb(190, 200 - x - y)
        for x in range(161)
        for y in range(51)
        if 0 <= 200 - x - y <= 190
    ]
    expected = Fraction(sum(w for w in weights if w <= observed), math.comb(sum(totals), 200))
    assert exact(a, b) == pytest.approx(float(expected), rel=1e-11, abs=0)


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=examples(60))
@given(
    st.lists(st.tuples(st.integers(0, 25), st.integers(0, 25)), min_size=2, max_size=6).filter(
        lambda t: any(x for x, _ in t) and any(y for _, y in t)
    ),
    st.randoms(use_true_random=False),
)
def test_laws(table, shuffler):
    a, b = map(list, zip(*table, strict=True))
    p = exact(a, b)
    assert 0 < p <= 1
    assert exact(b, a) == pytest.approx(p, rel=1e-9)  # the samples change places
    shuffler.shuffle(table)
    assert exact(*map(list, zip(*table, strict=True))) == pytest.approx(p, rel=1e-9)  # so do the classes
    assert exact([*a, 0], [*b, 0]) == p  # a class that never occurs
    result = homogeneity_test(a, b)
    assert result.statistic <= p * (1 + 1e-9)  # the observed table is one of those summed


@settings(deadline=None, derandomize=True, max_examples=examples(30))
@given(st.lists(st.integers(1, 8), min_size=2, max_size=4), st.integers(0, 3))
def test_valid_under_the_null_by_enumeration(totals, cut):
    # P(p <= alpha) <= alpha for every alpha there is, over all tables with the margins; integers alone decide.
    n = max(1, min(sum(totals) - 1, sum(totals) // 2 - cut))
    chance: dict[float, int] = {}
    for table in product(*(range(c + 1) for c in totals)):
        if sum(table) == n:
            p = float(f"{exact(table, [c - x for c, x in zip(totals, table, strict=True)]):.12g}")
            chance[p] = chance.get(p, 0) + math.prod(math.comb(c, x) for c, x in zip(totals, table, strict=True))
    total = math.comb(sum(totals), n)
    below = 0
    for p, weight in sorted(chance.items()):
        below += weight
        assert below / total == pytest.approx(p, rel=1e-9)  # p is attained: the test is exact, not merely valid


@pytest.mark.long
def test_monte_carlo_is_valid_and_near_the_exact_value():
    a, b = [12, 7, 9, 0, 2], [4, 9, 8, 6, 1]
    result = homogeneity_test(a, b, method="monte-carlo", n_resamples=20_000, rng=5)
    assert result.pvalue == (result.exceedances + 1) / 20_001
    low, high = binom.interval(1 - 1e-6, 20_000, exact(a, b))
    assert low <= result.exceedances <= high
    # Under the null: 2000 data sets (400), 99 replicates each, alpha = 0.05; a false alarm is rarer than 1e-6.
    generator = np.random.default_rng(8)
    rejections, data_sets = 0, examples(2000)
    for _ in range(data_sets):
        x, y = generator.multinomial(20, [0.4, 0.3, 0.2, 0.1]), generator.multinomial(30, [0.4, 0.3, 0.2, 0.1])
        rejections += homogeneity_test(x, y, method="monte-carlo", n_resamples=99, rng=generator).pvalue <= 0.05
    assert rejections <= binom.isf(1e-6, data_sets, 0.05)


def test_replicates_are_a_prefix_of_more():
    a, b = WIDE_A, WIDE_B
    few, more = (homogeneity_exceedances(a, b, size=size, rng=4) for size in (700, 5000))
    assert few.dtype == bool
    assert (few == more[:700]).all()
    assert homogeneity_test(a, b, method="monte-carlo", n_resamples=5000, rng=4).exceedances == int(more.sum())
    generator = np.random.default_rng(4)
    parts = [homogeneity_exceedances(a, b, size=size, rng=generator) for size in (0, 700, 4300)]
    assert (np.concatenate(parts) == more).all()


def fourier(a, b, width):
    problem = given_margins(np.array(a), np.array(b))
    total = sum(problem.parameters)
    log_norm = float(problem.log_mass(total, np.array([problem.total]))[0])
    columns = grouped(problem.scores, problem.parameters)
    return bounds(columns, problem.total, problem.threshold, log_norm, slack=problem.margin, width=width)


@pytest.mark.long
@pytest.mark.parametrize("skew", [0, 1, 3, 6])
def test_fourier_bounds_hold_the_exact_value(skew):
    # From p about 1 down to 1e-25, which the tilted law serves.
    generator = np.random.default_rng(skew)
    for _ in range(3 if thorough() else 1):
        share = generator.dirichlet(np.full(8, 20.0))
        tilted = share * (1 + skew * np.linspace(0, 0.5, 8))
        a, b = generator.multinomial(180, share), generator.multinomial(150, tilted / tilted.sum())
        low, high = fourier(a, b, 1e-3)
        p = exact(a, b)
        assert low <= p <= high, (p, low, high)
        assert high - low <= 1e-3 * high


def test_chernoffs_bound_holds_a_negligible_p():
    # Eight classes, most of A in the lower four and most of B in the upper four.
    generator = np.random.default_rng(8)
    share = generator.dirichlet(np.full(8, 20.0))
    few, many = np.repeat([1.0, 60.0], 4), np.repeat([60.0, 1.0], 4)
    a, b = (generator.multinomial(n, share * odds / (share @ odds)) for n, odds in ((230, few), (210, many)))
    low, high = fourier(a, b, 1e-4)
    p = exact(a, b)
    assert low == 0
    assert 1e-280 < p <= high < 1e-100


@pytest.mark.long
def test_bounds_are_around_the_exact_value_where_they_would_take_too_long_themselves():
    a, b = [3, 1095, 1414, 1431, 171, 1854], [49, 117, 132, 144, 12, 142]
    low, high = homogeneity_test(a, b, method="bounds").pvalue_interval
    assert low <= homogeneity_test(a, b, method="exact").pvalue <= high <= low * (1 + 1e-4)


def test_bounds_of_small_tables_are_the_exact_value():
    a, b = R_VALUES[2][:2]
    result = homogeneity_test(a, b, method="bounds")
    assert result.pvalue_interval.low <= exact(a, b) <= result.pvalue_interval.high == result.pvalue
    assert result.pvalue_interval == Interval(result.pvalue_interval.low, result.pvalue_interval.high, 1.0)


@pytest.mark.parametrize("n", [300, 470, 520, 600, 3000])
def test_no_bounds_leave_out_a_tiny_p(n):
    # Both samples in one class each: the two most extreme tables, 2 / C(2n, n), from 1e-179 to far below any double.
    p = Fraction(2, math.comb(2 * n, n))
    low, high = homogeneity_test([n, 0], [0, n], method="bounds").pvalue_interval
    assert Fraction(low) <= p <= Fraction(high)
    assert high <= 1e-280 or high - low <= 1e-4 * high


@pytest.mark.long
def test_wide_table_is_bounded(monkeypatch):
    width = 1e-4 if thorough() else 1e-2
    monkeypatch.setattr(given_margins_module, "BOUNDS_WIDTH", width)
    result = homogeneity_test(WIDE_A, WIDE_B, method="bounds")
    low, high = result.pvalue_interval
    assert (len(WIDE_A), len(WIDE_B), sum(WIDE_A), sum(WIDE_B)) == (113, 113, 557, 468)
    assert result.pvalue_interval.confidence_level == 1
    assert high - low <= width * low
    # 100,000 random tables; a false alarm is rarer than 1e-6.
    draws = 100_000
    exceedances = int(homogeneity_exceedances(WIDE_A, WIDE_B, size=draws, rng=11).sum())
    assert binom.ppf(5e-7, draws, low) <= exceedances <= binom.isf(5e-7, draws, high)


def test_one_class_or_one_table_only(way):
    assert exact([5, 0], [9, 0]) == 1
    assert homogeneity_test([5, 0], [9, 0], method="chi2").pvalue == 1
    assert homogeneity_test([5, 0], [9, 0], method="bounds").pvalue == 1
    assert homogeneity_test([5, 0], [9, 0], method="monte-carlo", n_resamples=9).pvalue == 1


def test_large_counts():
    # A million objects in two classes: the binomial coefficients have 300,000 bits.
    assert exact([250_100, 249_900], [249_500, 250_500]) == pytest.approx(
        fisher_exact([[250_100, 249_900], [249_500, 250_500]]).pvalue, rel=1e-7
    )
    result = homogeneity_test(
        [10**8, 2 * 10**8], [10**8 + 9000, 2 * 10**8], method="monte-carlo", n_resamples=99, rng=1
    )
    assert 0 < result.pvalue <= 1


def test_chi2_warns_by_expected_counts():
    assert homogeneity_test([5, 1], [3, 2], method="chi2").reason.startswith("warning:")


@pytest.mark.long
@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ([1, 2], [1, 2, 3], {}, "counts_b: the length is 3"),
        ([5], [9], {}, "counts_a: the length is 1"),
        ([0, 0], [1, 2], {}, "counts_a: the total is 0"),
        ([1, 2], [0, 0], {}, "counts_b: the total is 0"),
        ([1, 2], [1, 2], {"method": "exat"}, "did you mean 'exact'"),
        ([10**6, 2, 1], [1, 2, 1], {"method": "exact"}, "use method='monte-carlo'"),
        ([10**9, 2], [1, 2], {"method": "monte-carlo"}, "at most 999999999 to draw tables; use method='exact'"),
        ([10**9, 2, 1], [1, 2, 1], {"method": "monte-carlo"}, "at most 999999999 to draw tables; use method='chi2'"),
        (
            [60, 90, 75] * 6,
            [90, 70, 65] * 6,
            {"method": "exact"},
            "use method='monte-carlo', which gives an interval, or method='bounds'",
        ),
    ],
)
def test_bad_input_is_named(a, b, options, message):
    with pytest.raises(ValueError) as error:
        homogeneity_test(a, b, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.long
def test_keys_add_up_and_tell_weights_apart():
    totals = [4, 6, 6, 9]
    keys = binomial_keys(totals)
    assert keys.merging
    seen: dict[tuple[int, ...], int] = {}
    for table in product(*(range(c + 1) for c in totals)):
        key = sum(keys.table(j, np.array([x]))[0] for j, x in enumerate(table))
        weight = math.prod(math.comb(c, x) for c, x in zip(totals, table, strict=True))
        assert seen.setdefault(tuple(key.tolist()), weight) == weight
        assert keys.weight(keys.packing.unpack(key)) == weight
    assert len(seen) == len(set(seen.values()))
    packing = Packing.of([2**40, 5, 2**60, 1])
    assert packing.unpack(packing.pack(np.array([[2**40, 3, 2**60, 1]]))[0]) == [2**40, 3, 2**60, 1]
    assert multinomial_keys([0.2, 0.8], 10, "probability") is None
    primes = primes_to(40)
    for c, x in ((40, 13), (25, 5), (7, 0)):
        exponents = binomial_exponents(c, np.array([x]), primes)[0].tolist()
        assert math.prod(p**e for p, e in zip(primes, exponents, strict=True)) == math.comb(c, x)


@pytest.mark.parametrize("columns", [(0, 1), (0, 1, 2)])
def test_the_open_outcomes_are_as_many_as_their_ellipsoid_holds(columns):
    a, b = [156, 145, 183, 147, 210], [150, 162, 168, 144, 228]
    problem = given_margins(np.array(a), np.array(b))
    others = [j for j in range(5) if j not in columns]
    rest = best_scores(problem, others)
    grid = np.meshgrid(*(np.arange(len(problem.scores[j])) for j in columns[1:]), indexing="ij")
    found = 0
    for x in range(len(problem.scores[0])):  # all outcomes, one count of the first column after the other
        score = problem.scores[0][x] + sum(problem.scores[j][each] for j, each in zip(columns[1:], grid, strict=True))
        left = problem.total - x - sum(grid)
        found += int((score[left >= 0] + rest[left[left >= 0]] > problem.threshold).sum())
    assert open_volume(problem, columns, others) == pytest.approx(found, rel=0.03)


def test_log_weights_are_accurate():
    # Against integers: relative error of the probability.
    for n, x in ((10, 3), (1000, 437), (20_000, 9_321)):
        p = Fraction(7, 16)
        expected = Fraction(math.comb(n, x)) * p**x * (1 - p) ** (n - x)
        log_expected = math.log(expected.numerator) - math.log(expected.denominator)
        assert binomial_log_pmf(n, 7 / 16, np.array([x]))[0] == pytest.approx(log_expected, abs=1e-11)
        log_poisson = x * math.log(5000) - 5000 - math.log(math.factorial(x))
        assert poisson_log_pmf(5000.0, np.array([x]))[0] == pytest.approx(log_poisson, rel=1e-12, abs=1e-9)
    assert poisson_deviance(np.array([0]), 3.0)[0] == 6


def test_a_total_among_the_counts_is_refused():
    counts = pd.Series({"a": 2, "b": 3, "All": 5})
    with pytest.raises(ValueError, match=r"counts_a \(index\): 'All' is the total of the others; leave it out"):
        homogeneity_test(counts, counts)
    for others in (counts.rename({"All": "c"}), counts.add([0, 0, 1])):
        assert homogeneity_test(others, others, method="chi2").statistic == 0
