"""Anytime-valid tests: their law by enumeration, their e-values in rationals, and the chance of any false alarm."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln, gammaln

import sigstats
from sigstats.anytime.bets import log_wealth
from tests.examples import examples
from tests.sigstats.anytime.rationals import exact_evalue

COUNTS = st.tuples(*[st.integers(0, 60)] * 3).filter(any)
ALTERNATIVES = ("two-sided", "greater", "less")


@given(COUNTS)
@settings(max_examples=examples(100))
def test_evalues_of_right_and_wrong_are_those_of_a_beta_prior(counts):
    a, b, _ = counts
    closed = (a + b) * math.log(2) + betaln(a + 0.5, b + 0.5) - betaln(0.5, 0.5)
    result = sigstats.anytime_test([1, -1, 0], counts=counts)
    assert math.log(result.statistic) == pytest.approx(closed, abs=1e-10)
    odd = Fraction(math.prod(range(1, 2 * a, 2)) * math.prod(range(1, 2 * b, 2)), math.factorial(a + b))
    assert exact_evalue([1, -1, 0], counts, alternative="two-sided") == odd


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("margin", [Fraction(0), Fraction(1, 50), Fraction(-1, 4)])
@given(counts=COUNTS)
@settings(max_examples=examples(25))
def test_evalues_agree_with_rational_arithmetic(counts, margin, alternative):
    values = [Fraction(1), Fraction(-1), Fraction(1, 3)]
    exact = exact_evalue(values, counts, margin=margin, alternative=alternative)
    result = sigstats.anytime_test(
        [float(each) for each in values], counts=counts, margin=float(margin), alternative=alternative
    )
    assert result.statistic == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("margin", [Fraction(0), Fraction(1, 5)])
def test_the_expected_evalue_under_the_null_hypothesis_is_one(margin, alternative):
    """By enumeration of all outcomes of eight rows, with a share of ties; below 1 only where 2 / pi is rounded."""
    rows, ties = 8, Fraction(1, 3)
    ahead = (1 - ties + margin) / 2
    law = {1: ahead, -1: 1 - ties - ahead, 0: ties}
    expected = Fraction(0)
    for a in range(rows + 1):
        for b in range(rows + 1 - a):
            ways = Fraction(math.factorial(rows), math.factorial(a) * math.factorial(b) * math.factorial(rows - a - b))
            chance = ways * law[1] ** a * law[-1] ** b * law[0] ** (rows - a - b)
            counts = [a, b, rows - a - b]
            expected += chance * exact_evalue([1, -1, 0], counts, margin=margin, alternative=alternative)
    assert 1 - Fraction(1, 10**30) < expected <= 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("alternative", "share"), [("two-sided", 0.5), ("greater", 0.5), ("greater", 0.3), ("less", 0.5)]
)
@pytest.mark.parametrize("alpha", [0.1, 0.01])
def test_any_false_alarm_in_three_hundred_looks_is_at_most_the_level(alternative, share, alpha):
    """The exact chance that p is ever at most alpha, one more disagreement a look, by sums over all paths."""
    alive, crossed = np.ones(1), 0.0
    for n in range(1, 301):
        grown = np.zeros(n + 1)
        grown[1:] += alive * share
        grown[:-1] += alive * (1 - share)
        logs = np.array([_log_evalue(a, n - a, alternative) if grown[a] > 1e-12 else -math.inf for a in range(n + 1)])
        hit = logs >= -math.log(alpha)
        crossed += grown[hit].sum()
        alive = np.where(hit, 0.0, grown)
    assert alpha / 30 < crossed + 300 * 1e-12 <= alpha or share < 0.5


def _log_evalue(a, b, alternative):
    sides = {"greater": (1,), "less": (-1,), "two-sided": (1, -1)}[alternative]
    values, counts = np.array([1.0, -1.0]), np.array([float(a), float(b)])
    return float(
        np.logaddexp.reduce([log_wealth(side * values, counts, least=-1, mean=0) for side in sides])
    ) - math.log(len(sides))


@given(
    rows=st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), min_size=1, max_size=30),
    margin=st.sampled_from([0.0, 0.1]),
    alternative=st.sampled_from(ALTERNATIVES),
    start=st.sampled_from(["first", "any"]),
)
@settings(max_examples=examples(60))
def test_laws_of_a_series(rows, margin, alternative, start):
    values, looks = np.array(rows).T
    differences = values / 4
    options = {"margin": margin, "alternative": alternative, "start": start}
    result = sigstats.anytime_test(differences, looks=looks, **options)
    shuffled = np.random.default_rng(1).permutation(len(rows))
    assert sigstats.anytime_test(differences[shuffled], looks=looks[shuffled], **options) == result
    mirror = {"two-sided": "two-sided", "greater": "less", "less": "greater"}[alternative]
    other = sigstats.anytime_test(-differences, looks=looks, margin=-margin, alternative=mirror, start=start)
    assert other.pvalue == pytest.approx(result.pvalue, rel=1e-9)
    assert other.confidence_interval.low == pytest.approx(-result.confidence_interval.high, abs=1e-9)
    pvalues = [look.pvalue for look in result.looks]
    assert pvalues == sorted(pvalues, reverse=True)
    first = sigstats.anytime_test(differences[looks == looks.min()], **options)
    assert first.pvalue == result.looks[0].pvalue
    assert all(look.estimate in look.confidence_interval for look in result.looks)


def test_many_distinct_differences_are_rounded_to_less_evidence():
    rng = np.random.default_rng(8)
    differences = rng.normal(0.05, 0.3, size=9000).clip(-1, 1)
    result = sigstats.anytime_test(differences, alternative="greater")
    exact = log_wealth(differences, np.ones(len(differences)), least=-1, mean=0) / math.log(10)
    assert exact - 1e-3 < result.looks[0].log10_evalue <= exact


@pytest.mark.long
@pytest.mark.parametrize("law", ["drifts", "breaks", "alternates", "answers the past"])
def test_the_intervals_cover_the_average_of_means_that_change_at_all_looks(law):
    """Right and wrong, five looks of 80 rows; the mean of each look is chosen by an adversary who sees those before."""
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(80):
        means, rows = [], []
        for look in range(5):
            known = np.mean(rows) if rows else 0.0
            mean = {"drifts": look / 6, "breaks": 0.4 * (look > 2), "alternates": 0.3 * (-1) ** look}.get(law)
            mean = (-0.5 if known > 0 else 0.5) if mean is None else mean
            means += [mean] * 80
            rows += rng.choice([-1, 0, 1], 80, p=[(0.9 - mean) / 2, 0.1, (0.9 + mean) / 2]).tolist()
        found = sigstats.anytime_test(rows, looks=np.arange(400) // 80, confidence_level=0.8).looks
        covered += all(np.mean(means[: look.n]) in look.confidence_interval for look in found)
    assert covered >= 54  # P(fewer | 0.8) = 0.004


def _evalue_of_any_start(a, b):
    """By the closed form of each start; `a` and `b`: the rows of each look that favour A and B."""
    total = 1 / (len(a) + 1)
    for start in range(len(a)):
        ahead, behind = a[start:].sum(), b[start:].sum()
        total += beta_fraction(ahead, behind) / ((start + 1) * (start + 2))
    return total


def beta_fraction(ahead, behind):
    whole = gammaln(ahead + 0.5) + gammaln(behind + 0.5) - gammaln(ahead + behind + 1) - math.log(math.pi)
    return math.exp((ahead + behind) * math.log(2) + whole)


def test_bets_that_begin_at_any_look_are_those_of_each_start():
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 9, (2, 12))
    counts, looks = np.c_[a, b].ravel(), np.repeat(np.arange(12), 2)
    found = sigstats.anytime_test([1, -1] * 12, counts=counts, looks=looks, start="any")
    assert len(found.looks) == 12
    for number, look in enumerate(found.looks):
        expected = _evalue_of_any_start(a[: number + 1], b[: number + 1])
        assert 10**look.log10_evalue == pytest.approx(expected, rel=1e-9)


def _grown(sums, differences, stakes):
    """The sums of bets at each stake after a look, by the recursion R = (R + 1) * wealth of Shiryaev and Roberts."""
    return (sums + 1) * np.prod(1 + np.multiply.outer(differences, stakes), axis=-2)


STAKES = np.sin((np.arange(4000) + 0.5) * np.pi / 8000)


def test_bets_that_are_added_up_follow_the_recursion_of_shiryaev_and_roberts():
    rng = np.random.default_rng(6)
    rows, looks = rng.choice([-1, -0.25, 0, 0.5, 1], 60), np.repeat(np.arange(12), 5)
    options = {"looks": looks, "run_length": 3, "alternative": "greater"}
    result, sums = sigstats.anytime_test(rows, **options), np.zeros(len(STAKES))
    for number, look in enumerate(result.looks):
        sums = _grown(sums, rows[looks == number], STAKES)
        assert 10**look.log10_evalue == pytest.approx(sums.mean(), rel=1e-6)
        assert look.pvalue == pytest.approx(min(1, (number + 1) / sums.mean()), rel=1e-6)
    reached = [look.look for look in result.looks if look.log10_evalue >= math.log10(3)]
    assert result.decided.look == reached[0] < 11
    assert sigstats.anytime_test(rows, **options | {"run_length": 1e9}).decided is None


@pytest.mark.parametrize("unit", [1e-120, 0.7, 1e120])
def test_the_unit_of_the_scores_does_not_matter(unit):
    one = sigstats.anytime_test([0.5, -0.25, 1, 0.75], margin=0.1, counts=[9] * 4)
    other = sigstats.anytime_test(np.array([0.5, -0.25, 1, 0.75]) * unit, margin=0.1 * unit, limit=unit, counts=[9] * 4)
    assert other.pvalue == pytest.approx(one.pvalue, rel=1e-9)
    assert np.array(other.confidence_interval) / unit == pytest.approx(one.confidence_interval, rel=1e-9)


def test_the_look_of_a_decision():
    counts, looks = [9, 4, 187, 11, 3, 186, 12, 2, 186], [*"111", *"222", *"333"]
    result = sigstats.anytime_test([1, -1, 0] * 3, counts=counts, looks=looks)
    assert (result.decided.look, result.decided.n, result.n) == ("3", 600, 600)
    assert sigstats.anytime_test([1, -1, 0] * 3, counts=counts, looks=looks, confidence_level=0.999).decided is None


#: Texts before the number of a look that counts back from the last.
BACKWARDS = ("T-", "t -", "D-0", "day -", "release minus ", "lag_")


@pytest.mark.parametrize("name", ["t", "build-", "T-202", "test-", "flag", "sprint "])
def test_looks_that_count_forward_are_taken_in_order(name):
    result = sigstats.anytime_test([1, -1, 1], looks=[f"{name}6", f"{name}4", f"{name}5"])
    assert [look.look for look in result.looks] == [f"{name}{number}" for number in (4, 5, 6)]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"differences": []}, "differences"),
        ({"differences": [1.5]}, "differences: 1.5"),
        ({"differences": [0.5], "counts": [0]}, "counts"),
        ({"differences": [0.5, 1], "counts": [1]}, "counts: the length"),
        ({"differences": [0.5], "looks": [1, 2]}, "looks: the length"),
        ({"differences": [0.5, 1], "looks": [1, math.nan]}, "looks: "),
        ({"differences": [0.5, 1], "looks": ["monday", None]}, "looks: "),
        ({"differences": [0.5, 1, 1], "looks": [9, 10, "x"]}, "looks: "),
        ({"differences": [0.5, 1, 1], "looks": ["night 9", "night 10", "night 11"]}, "looks: "),
        *(({"differences": [0.5, 1], "looks": [f"{name}5", f"{name}4"]}, f"looks: '{name}5'") for name in BACKWARDS),
        ({"differences": [0.5, 1], "looks": np.array(["2026-01-05", "NaT"], "datetime64[D]")}, "looks"),
        ({"differences": [0.5], "margin": 1}, "margin"),
        ({"differences": [0.5], "limit": 0}, "limit"),
        ({"differences": [0.5], "run_length": 0.5}, "run_length"),
    ],
)
def test_bad_input_is_named(options, named):
    with pytest.raises(ValueError, match="^" + named.replace("(", r"\(").replace(")", r"\)")):
        sigstats.anytime_test(**options)
