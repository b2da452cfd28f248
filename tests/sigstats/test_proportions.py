import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportions_ztest

from sigstats.joint.outcomes import JointOutcomes
from sigstats.proportions import dcf_test, proportion_test

outcomes = st.lists(st.integers(0, 40), min_size=8, max_size=8).map(lambda each: JointOutcomes(*each))
complete = outcomes.filter(lambda each: each.positives > 0 and each.negatives > 0)
EXAMPLE = JointOutcomes(e1=40, e2=12, e3=5, e4=3, e5=2, e6=6, e7=9, e8=123)
COSTS = {"cost_fn": 10, "cost_fp": 1, "prior": 0.01}


def error_counts(o):
    return o.confusion_a.fn + o.confusion_a.fp, o.confusion_b.fn + o.confusion_b.fp


@settings(deadline=None, derandomize=True)
@given(complete)
def test_paired_squared_is_mcnemars_chi_square(o):
    only_a, only_b = o.discordant
    if only_a + only_b:
        peer = mcnemar([[0, only_a], [only_b, 0]], exact=False, correction=False)
        result = proportion_test(o)
        assert result.statistic**2 == pytest.approx(peer.statistic, rel=1e-12)
        assert result.pvalue == pytest.approx(peer.pvalue, rel=1e-9)
        assert math.copysign(1, result.statistic) == (1 if only_b >= only_a else -1)


@settings(deadline=None, derandomize=True)
@given(complete)
def test_unpaired_is_the_pooled_test_of_two_proportions(o):
    # the paper prints (C_A - C_B) / 2 for the mean error of eq. (4); it is (C_A + C_B) / 2
    a, b = error_counts(o)
    if 0 < a + b < 2 * o.n:
        statistic, pvalue = proportions_ztest([a, b], [o.n, o.n])
        result = proportion_test(o, paired=False)
        assert result.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-12)
        assert result.pvalue == pytest.approx(pvalue, rel=1e-9)
        for alternative, peer in (("greater", "larger"), ("less", "smaller")):
            expected = proportions_ztest([a, b], [o.n, o.n], alternative=peer)[1]
            got = proportion_test(o, paired=False, alternative=alternative).pvalue
            assert got == pytest.approx(expected, rel=1e-9)


def variance(law):
    mean = sum(value * p for value, p in law)
    return sum((value - mean) ** 2 * p for value, p in law)


@pytest.mark.parametrize("signs", [(3, 1, 2, 2), (4, 0, 0, 1), (0, 2, 3, 3), (1, 1, 0, 0)])
def test_paired_standard_deviation_is_that_of_all_exchanges_of_the_two(signs):
    # If A and B are equally good, each disagreement is a gain or a loss with probability 1/2: enumerate them all.
    e3, e2, e6, e7 = signs
    o = JointOutcomes(e1=2, e2=e2, e3=e3, e4=1, e5=1, e6=e6, e7=e7, e8=3)
    n_p, n_n = o.positives, o.negatives
    w_p, w_n = Fraction(10, 4) / n_p, Fraction(3, 4) / n_n  # costs 10 and 1, prior 1/4
    for weights, sigma in (
        ((Fraction(1, o.n), Fraction(1, o.n)), proportion_test(o).standard_error),
        ((w_p, w_n), dcf_test(o, cost_fn=10, cost_fp=1, prior=0.25).standard_error),
    ):
        each = [weights[0]] * (e2 + e3) + [weights[1]] * (e6 + e7)
        law = [
            (sum(w * s for w, s in zip(each, turn, strict=True)), Fraction(1, 2 ** len(each)))
            for turn in itertools.product((1, -1), repeat=len(each))
        ]
        assert sigma**2 == pytest.approx(float(variance(law)), rel=1e-12)


@pytest.mark.parametrize(("n_p", "n_n", "misses", "alarms"), [(4, 6, 1, 2), (3, 3, 1, 0), (5, 4, 2, 3)])
def test_unpaired_standard_deviation_is_that_of_independent_binomials(n_p, n_n, misses, alarms):
    o = JointOutcomes(e1=n_p - misses, e4=misses, e5=alarms, e8=n_n - alarms)
    p, q = Fraction(misses, n_p), Fraction(alarms, n_n)

    def binomial(n, share):
        return [math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n + 1)]

    law = [
        (
            Fraction(10, 4) * Fraction(i - j, n_p) + Fraction(3, 4) * Fraction(k - m, n_n),
            binomial(n_p, p)[i] * binomial(n_p, p)[j] * binomial(n_n, q)[k] * binomial(n_n, q)[m],
        )
        for i, j, k, m in itertools.product(range(n_p + 1), range(n_p + 1), range(n_n + 1), range(n_n + 1))
    ]
    result = dcf_test(o, cost_fn=10, cost_fp=1, prior=0.25, paired=False)
    assert result.standard_error**2 == pytest.approx(float(variance(law)), rel=1e-12)


@settings(deadline=None, derandomize=True)
@given(complete, st.booleans())
def test_dcf_with_the_classes_own_shares_is_the_error_rate(o, paired):
    costs = dcf_test(o, cost_fn=1, cost_fp=1, prior=o.positives / o.n, paired=paired)
    errors = proportion_test(o, paired=paired)
    assert costs.estimate == pytest.approx(errors.estimate, abs=1e-14)
    assert costs.value_a == pytest.approx(errors.value_a, abs=1e-14)
    if paired:
        assert costs.standard_error == pytest.approx(errors.standard_error, rel=1e-12)


@settings(deadline=None, derandomize=True)
@given(complete, st.booleans(), st.floats(0, 100), st.floats(0, 100), st.floats(0, 1))
def test_laws(o, paired, cost_fn, cost_fp, prior):
    costs = {"cost_fn": cost_fn, "cost_fp": cost_fp, "prior": prior}
    for test in (lambda x, **k: proportion_test(x, paired=paired, **k), lambda x, **k: dcf_test(x, **costs, **k)):
        result, turned = test(o), test(o.swapped())
        assert result.statistic == -turned.statistic
        assert result.estimate == -turned.estimate
        assert result.pvalue == turned.pvalue
        assert 0 <= result.pvalue <= 1
        assert result.estimate == pytest.approx(result.value_a - result.value_b, abs=1e-12)
        greater, less = test(o, alternative="greater").pvalue, test(o, alternative="less").pvalue
        if result.standard_error:
            assert greater + less == pytest.approx(1)
            assert result.pvalue == pytest.approx(2 * min(greater, less))
            if abs(result.statistic) > 1e-15:
                assert (greater < less) == (result.statistic > 0)
    in_cents = dcf_test(o, cost_fn=cost_fn * 100, cost_fp=cost_fp * 100, prior=prior)
    assert in_cents.statistic == pytest.approx(dcf_test(o, **costs).statistic, rel=1e-9, abs=1e-12)


def test_extreme_costs_neither_overflow_nor_vanish():
    plain = dcf_test(EXAMPLE, cost_fn=1, cost_fp=1, prior=0.5)
    for cost in (1e100, 1e-300):
        result = dcf_test(EXAMPLE, cost_fn=cost, cost_fp=cost, prior=0.5)
        assert result.statistic == pytest.approx(plain.statistic)
        assert result.estimate == pytest.approx(plain.estimate * cost)
    free = dcf_test(EXAMPLE, cost_fn=0, cost_fp=0, prior=0.5)
    assert (free.statistic, free.pvalue) == (0, 1)


@pytest.mark.parametrize("o", [JointOutcomes(e1=5, e8=5), JointOutcomes(e1=3, e4=2, e5=1, e8=5)])
def test_without_disagreement_there_is_nothing_to_test(o):
    for result in (proportion_test(o), dcf_test(o, **COSTS)):
        assert (result.statistic, result.pvalue) == (0, 1)
        assert "nothing to compare" in result.reason


def test_the_result_says_where_the_approximation_is_thin():
    assert "2 disagreements" in proportion_test(JointOutcomes(e1=50, e2=1, e3=1)).reason
    assert proportion_test(EXAMPLE).reason == ""
    assert "independent" in proportion_test(EXAMPLE, paired=False).reason


@pytest.mark.parametrize("paired", [True, False])
def test_error_rate_of_the_dcf_test_under_the_null(paired):
    # 4000 simulated test sets with equal costs; the bound is passed with a probability below 1e-6.
    rng = np.random.default_rng(11)
    shares = np.array([0.25, 0.04, 0.04, 0.02, 0.03, 0.06, 0.06, 0.5])
    drawn = rng.multinomial(600, shares, size=4000)
    rejected = sum(dcf_test(JointOutcomes(*row), **COSTS, paired=paired).pvalue <= 0.05 for row in drawn.tolist())
    assert rejected <= scipy.stats.binom.isf(1e-6, 4000, 0.055)
    if paired:
        assert rejected >= scipy.stats.binom.ppf(1e-6, 4000, 0.04)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: proportion_test(JointOutcomes()), "outcomes: the number of observations is 0"),
        (lambda: proportion_test(EXAMPLE, alternative="lesss"), "did you mean 'less'?"),
        (lambda: dcf_test(JointOutcomes(e8=3), **COSTS), "outcomes (positives): 0"),
        (lambda: dcf_test(JointOutcomes(e1=3), **COSTS), "outcomes (negatives): 0"),
        (lambda: dcf_test(EXAMPLE, cost_fn=1, cost_fp=1, prior=2), "prior: 2"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError) as caught:
        call()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
