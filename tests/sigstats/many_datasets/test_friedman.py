"""Friedman's test against SciPy, Demsar's printed example, enumeration, and simulation."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sigstats import friedman_test
from sigstats.many_datasets import friedman, friedman_exact

from ...examples import examples

# Demsar (2006), table 6: areas under the curve of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf, in three decimals.
DEMSAR = [
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.975, 0.975], [0.957, 0.978, 0.946, 0.970],
]  # fmt: skip


def enumerated(scores):
    ranks = [stats.rankdata([-each for each in row]) for row in scores]
    observed = (np.sum(ranks, axis=0) ** 2).sum()
    orders = list(itertools.permutations(range(len(ranks[0]))))
    found = total = 0
    for choice in itertools.product(orders, repeat=len(ranks)):
        sums = np.sum([row[list(order)] for row, order in zip(ranks, choice, strict=True)], axis=0)
        found += (sums**2).sum() >= observed - 1e-9
        total += 1
    return found / total


def test_demsar_s_table():
    # In three decimals one row more is tied than in his own data, where the third model is before the fourth.
    found = friedman_test(DEMSAR, method="f")
    assert [round(rank, 3) for rank in found.ranks] == [3.143, 2.0, 2.929, 1.929]
    untied = [[*row[:2], row[2] + 0.0001 * (row[2] == 0.975), row[3]] for row in DEMSAR]
    assert [round(rank, 3) for rank in friedman_test(untied).ranks] == [3.143, 2.0, 2.893, 1.964]
    scipy = stats.friedmanchisquare(*np.transpose(DEMSAR))
    assert found.chi2_statistic == pytest.approx(scipy.statistic, rel=1e-12)
    assert [friedman_test(DEMSAR, method=each).statistic for each in ("f", "chi2")] == [
        found.f_statistic,
        found.chi2_statistic,
    ]
    assert friedman_test(DEMSAR, method="chi2").pvalue == pytest.approx(scipy.pvalue, rel=1e-9)
    n, k, chi2 = 14, 4, found.chi2_statistic
    assert found.f_statistic == pytest.approx((n - 1) * chi2 / (n * (k - 1) - chi2), rel=1e-12)
    assert found.pvalue == pytest.approx(stats.f.sf(found.f_statistic, 3, 39), rel=1e-12)
    assert round(found.critical_difference(), 3) == 1.254
    assert round(found.critical_difference(0.1), 3) == 1.118


@pytest.mark.parametrize("seed", range(5))
def test_scipy_with_ties(seed):
    scores = np.random.default_rng(seed).integers(0, 5, (9, 5)).astype(float)
    expected = stats.friedmanchisquare(*scores.T)
    found = friedman_test(scores, method="chi2")
    assert (found.statistic, found.pvalue) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


@settings(deadline=None, max_examples=examples(25))
@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=5))
def test_exact_as_enumerated(scores):
    assert friedman_test(scores, method="exact").pvalue == pytest.approx(enumerated(scores), rel=1e-12)


def counted(doubled):
    """The p-value in rationals, by counting the rank sums of data set after data set."""
    sums = Counter({(0,) * doubled.shape[1]: 1})
    for row in doubled.tolist():
        orders = Counter(itertools.permutations(row))
        following = Counter()
        for at, ways in sums.items():
            for order, times in orders.items():
                following[tuple(sorted(a + b for a, b in zip(at, order, strict=True)))] += ways * times
        sums = following
    observed = (doubled.sum(axis=0) ** 2).sum()
    return Fraction(sum(ways for at, ways in sums.items() if sum(x * x for x in at) >= observed), sums.total())


@pytest.mark.parametrize(
    ("datasets", "k", "ties"), [(30, 3, False), (12, 3, True), (9, 4, False), (6, 4, True), (4, 5, 1)]
)
def test_both_exact_walks_are_those_of_rationals(monkeypatch, datasets, k, ties):
    scores = np.random.default_rng([datasets, k]).normal(size=(datasets, k))
    doubled = (2 * stats.rankdata(scores.round() if ties else scores, axis=1)).astype(np.int64)
    truth = counted(doubled)
    for works in ((0.0, 1.0), (2.0, 1.0), (2.0, 2.0)):  # the lattice, the list, the list of unknown length
        for name, work in zip(("_lattice_work", "_listing_work"), works, strict=True):
            monkeypatch.setattr(friedman_exact, name, lambda *_, work=work: work)
        p, error = friedman_exact.exact_pvalue(doubled, rare=works == (2.0, 2.0))
        assert abs(Fraction(p) - truth) <= Fraction(error) * truth
        assert error < 1e-12


def test_far_tails_of_every_table_with_and_without_ties(monkeypatch):
    for name in ("_lattice_work", "_listing_work"):
        monkeypatch.setattr(friedman_exact, name, lambda *_: 2.0)
    patterns = [(1, 2, 3, 4), (1, 2, 2, 3), (1, 1, 1, 2), (1, 1, 2, 2)]
    for few in itertools.combinations_with_replacement(patterns, 3):
        for last in set(itertools.permutations(few[2])):
            doubled = np.array([(2 * stats.rankdata(row)).astype(np.int64) for row in (*few[:2], last)])
            p, _ = friedman_exact.exact_pvalue(doubled, rare=True)
            truth = counted(doubled)
            assert p == pytest.approx(float(truth), rel=1e-12)
            assert friedman_exact.least_pvalue(doubled) <= p * (1 + 1e-12)


@pytest.mark.long
@pytest.mark.parametrize(("datasets", "k"), [(14, 6), (20, 5), (31, 8)])
def test_where_nearly_all_data_sets_agree_the_tail_is_a_closed_form(datasets, k):
    alike = np.tile(np.arange(float(k)), (datasets, 1))
    swapped = alike.copy()
    swapped[0, :2] = 1, 0
    perfect = Fraction(math.factorial(k)) ** (1 - datasets)
    for scores, ways in ((alike, 1), (swapped, 1 + datasets * (k - 1))):
        found = friedman_test(scores)
        assert (found.method, found.reason) == ("exact", "")
        assert found.pvalue == pytest.approx(float(ways * perfect), rel=1e-9)


def test_what_is_printed_of_an_approximation_is_true():
    alike = np.tile(np.arange(12.0), (20, 1))  # too many orders to list
    perfect = math.factorial(12) ** -19.0
    for method, name in (("auto", "F"), ("f", "F"), ("chi2", "chi-square")):
        found = friedman_test(alike, method=method)
        assert found.pvalue >= perfect * (1 - 1e-9)
        assert found.reason.startswith("a rough approximation")
        assert f" in the approximation by {name}." in str(found)
    assert friedman_test(alike).pvalue == pytest.approx(perfect, rel=1e-9)
    assert "approximation" not in str(friedman_test(alike[:, :4]))


def test_monte_carlo_estimates_the_exact_p_value():
    scores = np.random.default_rng(3).normal([0, 0.4, 0.8, 0.9], 1, (7, 4))
    exact = friedman_test(scores, method="exact").pvalue
    drawn = friedman_test(scores, method="monte-carlo", n_resamples=20_000, rng=1)
    assert abs(drawn.pvalue - exact) < 5 * np.sqrt(exact * (1 - exact) / 20_000)


def test_laws():
    scores = np.random.default_rng(4).normal(size=(8, 4))
    found = friedman_test(scores)
    assert friedman_test(-scores, greater_is_better=False) == found
    assert friedman_test(np.exp(scores)) == found  # ranks alone matter
    assert friedman_test(scores[::-1]).pvalue == pytest.approx(found.pvalue, rel=1e-12)
    assert friedman_test(scores[:, ::-1]).ranks == found.ranks[::-1]
    nothing = friedman_test(np.ones((4, 3)))
    assert (nothing.statistic, nothing.pvalue) == (0.0, 1.0)
    alike = friedman_test([[3, 2, 1]] * 6, method="f")
    assert (alike.f_statistic, alike.pvalue) == (np.inf, pytest.approx(6 / 6**6))
    assert "6 data sets are few for F" in alike.reason
    assert friedman_test([[3, 2, 1]] * 6).pvalue == pytest.approx(6 / 6**6)


@pytest.mark.parametrize(("datasets", "k"), [(2, 3), (3, 3), (4, 3), (2, 4), (3, 4), (2, 5)])
def test_few_data_sets_keep_every_level(datasets, k):
    orders = list(itertools.permutations(range(k)))
    outcomes = [[orders[0], *rest] for rest in itertools.product(orders, repeat=datasets - 1)]
    found = {}
    for each in outcomes:  # the models can be exchanged, so that the rank sums decide
        found.setdefault(tuple(sorted(np.sum(each, axis=0).tolist())), [each, 0])[1] += 1
    pvalues = [(friedman_test(scores).pvalue, times / len(outcomes)) for scores, times in found.values()]
    for level, _ in pvalues:
        assert sum(share for p, share in pvalues if p <= level) == pytest.approx(level, rel=1e-12)


def levels_of_f(k, most):
    """P(p <= .05) and P(p <= .001) of F without ties, by the number of data sets, from the exact law of rank sums."""
    orders, law, levels = list(itertools.permutations(range(k))), {(0,) * k: 1}, {}
    for datasets in range(1, most + 1):
        added = {}
        for sums, ways in law.items():  # models can be exchanged: their order is not needed
            for order in orders:
                key = tuple(sorted(map(sum, zip(sums, order, strict=True))))
                added[key] = added.get(key, 0) + ways
        law, total, chances = added, sum(added.values()), [0, 0]
        for sums, ways in law.items():
            chi2 = 12 * sum((x - datasets * (k - 1) / 2) ** 2 for x in sums) / (datasets * k * (k + 1))
            rest = datasets * (k - 1) - chi2
            p = stats.f.sf((datasets - 1) * chi2 / rest, k - 1, (k - 1) * (datasets - 1)) if rest > 1e-9 else 0
            for place, alpha in enumerate((0.05, 0.001)):
                chances[place] += ways * bool(max(p, len(orders) ** (1 - datasets)) <= alpha)
        levels[datasets] = [chance / total for chance in chances]
    return levels


@pytest.mark.long
@pytest.mark.parametrize(("k", "most"), [(3, 30), (4, 13)])
def test_f_exceeds_its_level_by_no_more_than_stated(k, most):
    levels = levels_of_f(k, most)
    for few, bounds in ((True, (0.195 if k == 3 else 0.075, 0.0085)), (False, (0.059, 0.0022))):
        found = [max(level) for level in zip(*(v for n, v in levels.items() if n > 2 and (n < 12) == few), strict=True)]
        assert all(level <= bound for level, bound in zip(found, bounds, strict=True))
    for scores in np.random.default_rng(5).normal(size=(5, 12, k)):  # p is that of the law above
        found = friedman_test(scores, method="f")
        assert found.pvalue == pytest.approx(stats.f.sf(found.f_statistic, k - 1, (k - 1) * 11))


def test_too_many_permutations_are_those_of_f():
    rng = np.random.default_rng(8)
    for datasets, models, few in ((3, 12, True), (12, 10, False)):
        scores = rng.normal(size=(datasets, models))
        found, wanted = friedman_test(scores), friedman_test(scores, method="f")
        assert found == wanted
        assert (found.method, bool(found.reason)) == ("f", few)


@pytest.mark.parametrize("shape", [(60, 12), (10, 6), (5, 171), (4, 400)])  # 171! exceeds a float
def test_too_many_permutations_to_count_are_drawn(shape):
    scores = np.random.default_rng(0).normal(size=shape)
    found = friedman_test(scores, method="exact", n_resamples=999, rng=1)
    drawn = friedman_test(scores, method="monte-carlo", n_resamples=999, rng=1)
    assert (found.method, found.exceedances, found.pvalue_interval) == (
        "monte-carlo",
        drawn.exceedances,
        drawn.pvalue_interval,
    )
    assert found.reason.startswith("too many permutations to count: some are drawn")
    assert "drawn" not in drawn.reason


def test_one_winner_of_many_models_in_each_data_set_has_the_law_of_their_wins():
    """5 data sets, 20 models of which one wins and all others tie: 20**5 equal outcomes, known by the wins."""
    scores, n, k = np.zeros((5, 20)), 5, 20
    scores[[0, 1, 2, 3, 4], [0, 0, 0, 1, 2]] = 1
    more = k * (k - 1) * (math.comb(5, 1) + math.comb(5, 2)) + k  # 4 and 1, 3 and 2, or 5 wins
    exact = (more + k * math.comb(5, 3) * (k - 1) * (k - 2)) / k**n  # and 3, 1 and 1
    assert friedman_test(scores) == friedman_test(scores)  # as studies need it, whose results depend on their seed only
    found = friedman_test(scores, rng=1)
    assert (found.method, found.reason.split(";")[0]) == (
        "monte-carlo",
        "many scores are tied: some permutations are drawn",
    )
    low, high = found.pvalue_interval
    assert low <= exact <= high
    of_f = friedman_test(scores, method="f")
    assert of_f.pvalue < exact / 5
    assert "many scores are tied: small p-values of F may be many times too small" in of_f.reason


def test_orders_that_are_counted_have_the_law_of_permutations(monkeypatch):
    scores = np.random.default_rng(4).normal(size=(12, 3)).round(0)
    exact = friedman_test(scores, method="exact").pvalue
    monkeypatch.setattr(friedman, "_MOST_DRAWN", 1)
    counted = friedman_test(scores, method="monte-carlo", n_resamples=20_000, rng=1)
    assert counted.exceedances != friedman_test(scores, method="monte-carlo", n_resamples=20_000, rng=2).exceedances
    assert abs(counted.pvalue - exact) < 5 * np.sqrt(exact * (1 - exact) / 20_000)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": [[1, 2, 3]]}, r"scores: the shape is \(1, 3\)"),
        ({"scores": [[1, 2], [3, 4]]}, r"scores: the shape is \(2, 2\)"),
        (
            {"scores": np.random.default_rng(0).normal(size=(5000, 8)), "method": "exact"},
            '"f" for 5000 data sets and 8 models: too many permutations',
        ),
        ({"scores": [[1, 2, np.nan]] * 3}, "scores: nan"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    with pytest.raises(ValueError, match=message):
        friedman_test(**arguments)
