"""The efficiency test against the paper's figures, SciPy, simulation, and what a p-value must satisfy."""

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from sigstats.efficiency import efficiency_test, monte_carlo_size
from sigstats.fixed_margins.distribution import number_correct
from sigstats.fixed_margins.upper_tail import random_number_correct, upper_tail
from sigstats.tables import confusion_table

from ..examples import examples

ULCER = [[9, 7, 3], [15, 17, 13], [3, 7, 28]]  # Nyssen, figure 1
THIRD = [[3, 2, 1], [5, 6, 4], [1, 2, 9]]


def uniform(k, margin, correct):
    """A k x k table with all margins equal and `correct` on its diagonal, spread evenly."""
    table = np.zeros((k, k), dtype=int)
    np.fill_diagonal(table, correct // k)
    wrong = margin - correct // k
    for shift in range(1, k):
        for i in range(k):
            table[i, (i + shift) % k] = wrong // (k - 1) + (shift <= wrong % (k - 1))
    return table


@pytest.mark.parametrize(
    ("table", "exact", "chi2"),
    [
        # The paper prints 5.85e-5 and 4.08e-5; 1.13 % and 0.68 %; 1.95 % and 0.62 %; (Monte-Carlo) 5.0 % and 4.8 %;
        # and 7.7e-4, a 30,000-replicate estimate of 5.30e-4, with 4.3e-4.
        (ULCER, 5.85353e-5, 4.08181e-5),
        (THIRD, 0.0113005, 0.00676834),
        (uniform(5, 5, 10), 0.019530237198, 0.006209665326),
        (uniform(10, 1000, 1050), 0.05024637019785, 0.0477903523),
        (uniform(10, 1000, 1100), 5.302561019e-4, 4.290603e-4),
    ],
)
def test_figures_of_the_paper(table, exact, chi2):
    result = efficiency_test(table)
    assert result.method == "exact"
    assert result.pvalue == pytest.approx(exact, rel=6e-6)  # as many digits as given
    assert efficiency_test(table, method="chi2").pvalue == pytest.approx(chi2, rel=6e-6)
    replicated = efficiency_test(table, method="monte-carlo", n_resamples=20_000, rng=3)
    assert replicated.pvalue_interval.low <= exact <= replicated.pvalue_interval.high
    assert replicated.pvalue == (replicated.exceedances + 1) / 20_001


def test_monte_carlo_size_is_table_1():
    # The paper prints 262880 for 0.001: rounded, 262880.4.
    assert [monte_carlo_size(a) for a in (0.05, 0.01, 0.005, 0.001)] == [5024, 26074, 52386, 262881]
    for alpha in (0.05, 0.01):
        # What it is derived from, in exact binomial terms: reject if (C + 1) / (f + 1) < alpha.
        f = monte_carlo_size(alpha)
        largest = math.ceil(alpha * (f + 1)) - 2
        assert scipy.stats.binom.cdf(largest, f, 0.9 * alpha) == pytest.approx(0.95, abs=0.004)


def test_result_describes_the_table():
    result = efficiency_test(ULCER)
    rows, columns = np.sum(ULCER, axis=1), np.sum(ULCER, axis=0)
    assert result.statistic == 54
    assert result.efficiency == pytest.approx(54 / 102)
    assert result.expected == pytest.approx((rows * columns).sum() / 102**2)
    # Cohen (1960) by its own definition.
    observed, chance = 54 / 102, float((rows / 102) @ (columns / 102))
    assert result.kappa == pytest.approx((observed - chance) / (1 - chance))
    tail = upper_tail(rows, columns, 54)
    assert (result.pvalue, result.mid_pvalue, result.log10_pvalue) == (tail.pvalue, tail.mid_pvalue, tail.log10_pvalue)
    assert result.mid_pvalue == pytest.approx((tail.pvalue + upper_tail(rows, columns, 55).pvalue) / 2, rel=1e-12)
    assert 10**result.log10_pvalue == pytest.approx(result.pvalue)


def test_pvalue_is_that_of_kappa():
    # Kappa of every permutation of the names, by its definition, not by the number correct.
    truth, names = [0, 0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 2, 0]

    def kappa(deal):
        table = np.zeros((3, 3))
        np.add.at(table, (truth, list(deal)), 1)
        chance = table.sum(axis=1) @ table.sum(axis=0) / 49
        return (np.trace(table) / 7 - chance) / (1 - chance)

    values = np.array([kappa(deal) for deal in permutations(names)])
    result = efficiency_test(confusion_table(truth, names))
    assert result.kappa == pytest.approx(kappa(names))
    assert result.pvalue == pytest.approx((values >= kappa(names) - 1e-9).mean(), rel=1e-12)


def test_two_classes_are_fishers_exact_test():
    for table in ([[8, 2], [3, 9]], [[0, 5], [7, 1]], [[40, 10], [31, 19]]):
        fisher = scipy.stats.fisher_exact(table, alternative="greater").pvalue
        assert efficiency_test(table).pvalue == pytest.approx(fisher, rel=1e-10)


@pytest.mark.parametrize("method", ["exact", "monte-carlo", "chi2"])
@pytest.mark.parametrize(
    ("table", "efficiency"),
    [
        ([[4, 0], [0, 0]], 1.0),
        ([[0, 5], [0, 0]], 0.0),
        ([[3, 2], [0, 0]], 0.6),
        ([[0, 0, 3], [0, 0, 4], [0, 0, 0]], 0.0),
    ],
)
def test_margins_that_leave_one_outcome(table, efficiency, method):
    result = efficiency_test(table, method=method, n_resamples=99, rng=1)
    assert (result.pvalue, result.log10_pvalue, result.efficiency) == (1.0, 0.0, efficiency)


def test_empty_rows_and_columns():
    result = efficiency_test([[6, 0, 1], [2, 0, 3], [0, 0, 0]])
    counts = random_number_correct([7, 5, 0], [8, 0, 4], size=20_000, rng=2)
    p = scipy.stats.hypergeom(12, 7, 8).sf(5)
    assert result.pvalue == pytest.approx(p, rel=1e-12)
    assert scipy.stats.binomtest(int((counts >= 6).sum()), 20_000, p).pvalue > 1e-6


def test_chi_square_warns_by_the_textbook_rule():
    assert "not valid" in efficiency_test(THIRD, method="chi2").reason
    assert "not valid" in efficiency_test(uniform(5, 5, 10), method="chi2").reason  # all expected counts are 1
    assert "not valid" not in efficiency_test(uniform(10, 1000, 1050), method="chi2").reason
    assert "not valid" not in efficiency_test(ULCER, method="chi2").reason


def test_chi_square_is_half_of_scipys():
    expected = sum(r * c for r, c in zip(np.sum(ULCER, axis=1), np.sum(ULCER, axis=0), strict=True)) / 102
    half = scipy.stats.chisquare([54, 48], [expected, 102 - expected]).pvalue / 2
    assert efficiency_test(ULCER, method="chi2").pvalue == pytest.approx(half, rel=1e-12)
    worse = [[1, 7, 3], [15, 2, 13], [3, 7, 1]]
    assert efficiency_test(worse, method="chi2").pvalue > 0.99


def test_auto_says_why(monkeypatch):
    result = efficiency_test(uniform(10, 1000, 1050))
    assert result.method == "exact"
    assert result.reason.startswith("exact: ")

    def refused(*arguments):
        raise ValueError("too large")

    monkeypatch.setattr("sigstats.efficiency.upper_tail", refused)
    fallen_back = efficiency_test(ULCER, n_resamples=500, rng=1)
    assert fallen_back.method == "monte-carlo"
    assert fallen_back.reason.endswith("too large")
    with pytest.raises(ValueError, match="too large"):
        efficiency_test(ULCER, method="exact")


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([5, 3, 2], [4, 4, 2]),  # shuffled by SciPy
        ([5, 4, 5, 4, 3, 4, 2], [3, 4, 5, 6, 4, 3, 2]),  # shuffled
        ([30, 25, 20, 15], [40, 20, 20, 10]),  # made a table
        ([90, 60, 50], [100, 40, 60]),
        ([70, 50, 40, 30, 60, 80], [100, 0, 60, 90, 40, 40]),
        ([300, 0, 200, 100], [150, 250, 0, 200]),  # classes that cannot be right
        ([120, 80], [50, 150]),
        ([200, 0], [50, 150]),
    ],
)
def test_replicates_follow_the_exact_distribution(rows, columns):
    size = 40_000
    exact = number_correct(rows, columns)
    draws = random_number_correct(rows, columns, size=size, rng=11)
    observed = np.array([(draws == t).sum() for t in exact.numbers])
    assert observed.sum() == size
    assert observed[exact.pmf == 0].sum() == 0
    common = exact.pmf * size > 8
    expected = np.append(exact.pmf[common], 1 - exact.pmf[common].sum()) * size
    counted = np.append(observed[common], size - observed[common].sum())
    chi2 = ((counted - expected)[expected > 1] ** 2 / expected[expected > 1]).sum()
    assert scipy.stats.chi2.sf(chi2, max(common.sum() - 1, 1)) > 1e-6


@pytest.mark.long
@pytest.mark.parametrize("margin", [[6, 5, 4], [5] * 8, [400, 300, 300], [400] * 8])  # shuffled, tables, halves
def test_fewer_replicates_are_the_first_of_more(margin):
    many = random_number_correct(margin, margin, size=17_500, rng=8)
    for size in (0, 1, 999, 1000, 1001, 2500, 16_000, 16_001):
        generator = np.random.default_rng(8)
        assert (random_number_correct(margin, margin, size=size, rng=generator) == many[:size]).all()
        left = np.random.default_rng(8)
        random_number_correct(margin, margin, size=-(-size // 1000) * 1000, rng=left)
        assert generator.random() == left.random()


@pytest.mark.parametrize("k", [2, 4])
def test_exact_test_is_valid_and_uses_its_level(k):
    # P(p <= a | margins) <= a for every a, with equality at each attainable p: by the exact distribution itself.
    margin = [6] * k
    distribution = number_correct(margin, margin)
    pvalues = np.array([upper_tail(margin, margin, t).pvalue for t in distribution.numbers])
    for level in {float(p) for p in pvalues}:
        assert distribution.pmf[pvalues <= level].sum() == pytest.approx(level, rel=1e-9)


@settings(deadline=None, derandomize=True, max_examples=examples(100))
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=1, max_size=30))
def test_confusion_table_counts_pairs(pairs):
    pairs = [*pairs, ("a", "a")]  # predictions without any class of y are refused
    truth, names = zip(*pairs, strict=True)
    labels = ["d", "b", "a", "c"]
    table = confusion_table(truth, names, labels=labels)
    count = Counter(pairs)
    assert table.tolist() == [[count[a, b] for b in labels] for a in labels]


def test_confusion_table_sorts_classes():
    assert confusion_table([10, 2, 2], [2, 2, 10]).tolist() == [[1, 1], [1, 0]]
    assert confusion_table([True, False], [False, False]).tolist() == [[1, 0], [1, 0]]
    assert confusion_table(np.array(["x", "y"], dtype=object), ["y", "y"]).tolist() == [[0, 1], [0, 1]]


@pytest.mark.long
def test_so_many_classes_that_they_are_none_are_refused_before_memory_is_asked_for():
    # A table of 50,000 classes would take 20 GB.
    numbers = np.arange(50_000)
    for call in (lambda: confusion_table(numbers, numbers), lambda: confusion_table([0], [1], labels=numbers)):
        with pytest.raises(ValueError, match=r"number of classes is 50000; expected at most 4096") as caught:
            call()
        assert "\n" not in str(caught.value)
    names = np.arange(1_000) * 10**12
    assert (confusion_table(names, names[::-1]) == np.eye(1_000)[::-1]).all()


@pytest.mark.parametrize(
    ("table", "named"),
    [
        ([[1, 2, 3], [4, 5, 6]], r"\(2, 3\)"),
        ([[5]], r"\(1, 1\)"),
        ([[0, 0], [0, 0]], "at least one"),
        ([[1, 2], [3]], "table"),
        ([[2**53, 1], [1, 1]], "total"),
        ([[9, 7, 16], [15, 17, 32], [24, 24, 48]], "^table: the last row and the last column are the sums"),
    ],
)
def test_bad_tables_are_named(table, named):
    with pytest.raises(ValueError, match=named):
        efficiency_test(table)


def test_predictions_whose_table_has_margins_by_chance_are_tested():
    y, prediction = 5 * [0, 0, 1, 1, 2, 2, 2, 2], 5 * [0, 2, 1, 2, 0, 1, 2, 2]  # (5, 0, 5), (0, 5, 5), (5, 5, 10)
    with pytest.raises(ValueError, match="leave out the margins"):
        efficiency_test(confusion_table(y, prediction))
    assert efficiency_test.from_predictions(y, prediction).statistic == 20
    assert efficiency_test([[0, 1, 1], [0, 0, 0], [0, 1, 1]]).statistic == 1
