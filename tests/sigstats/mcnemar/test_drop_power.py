"""The power of a rule with a smallest drop, against enumeration, and against the power without one."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom

from sigstats.mcnemar.power import drop_power
from sigstats.mcnemar.sample_size import detectable_difference, detectable_drop, drop_size
from sigstats.sign_flips.power import paired_power as power
from sigstats.sign_flips.power import paired_sample_size as sample_size

from ...examples import examples


def enumerated(n, only_a, only_b, alpha, minimum):
    """The probability over all outcomes, in rationals."""
    both, total = 1 - only_a - only_b, Fraction(0)
    for a in range(n + 1):
        for b in range(n + 1 - a):
            tail = Fraction(sum(comb(a + b, k) for k in range(a, a + b + 1)), 2 ** (a + b))
            if tail <= alpha and Fraction(a - b, n) >= minimum:
                total += comb(n, a) * comb(n - a, b) * only_a**a * only_b**b * both ** (n - a - b)
    return total


@settings(max_examples=examples(60), deadline=None)
@given(
    n=st.integers(1, 18),
    shares=st.tuples(st.integers(0, 20), st.integers(0, 20)).filter(lambda pair: 0 < sum(pair) <= 40),
    alpha=st.fractions(Fraction(1, 1000), Fraction(49, 100), max_denominator=1000),
    minimum=st.fractions(0, 1, max_denominator=20),
)
def test_it_is_the_sum_over_all_outcomes(n, shares, alpha, minimum):
    a, b = (Fraction(each, 40) for each in sorted(shares, reverse=True))
    found = drop_power(n, drop=float(a - b), discordance=float(a + b), alpha=float(alpha), minimum=float(minimum))
    assert found == pytest.approx(float(enumerated(n, a, b, Fraction(float(alpha)), minimum)), abs=1e-12)


@pytest.mark.parametrize(("drop", "discordance", "alpha"), [(0.01, 0.1, 0.05), (0.02, 0.02, 0.007), (0.3, 0.5, 0.001)])
def test_without_a_smallest_drop_it_is_the_test(drop, discordance, alpha):
    rates = {"only_a": (discordance + drop) / 2, "only_b": (discordance - drop) / 2}
    options = {"alpha": alpha, "alternative": "greater"}
    assert drop_power(500, drop=drop, discordance=discordance, alpha=alpha) == pytest.approx(
        power(500, **rates, **options)
    )
    assert drop_size(drop=drop, discordance=discordance, alpha=alpha) == sample_size(**rates, **options)
    expected = detectable_difference(900, discordance, **options)
    assert detectable_drop(900, discordance=discordance, alpha=alpha) == pytest.approx(expected, rel=1e-6)


def test_a_smallest_drop_near_the_drop_takes_many_more_rows_and_beyond_it_none_are_enough():
    rule = {"drop": 0.01, "discordance": 0.1, "alpha": 0.05}
    sizes = [drop_size(**rule, minimum=minimum) for minimum in (0, 0.005, 0.008, 0.009)]
    assert sizes[0] == sizes[1] < sizes[2] < sizes[3]
    for size, minimum in zip(sizes, (0, 0.005, 0.008, 0.009), strict=True):
        assert drop_power(size, **rule, minimum=minimum) >= 0.8
    assert drop_size(**rule, minimum=0.01) is None
    assert drop_power(10**7, **rule, minimum=0.01) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(("n", "discordance"), [(164, 0.0122), (500, 0.0), (30, 0.05), (5, 0.5)])
def test_a_drop_above_the_discordance_has_rows_that_all_speak_against_b(n, discordance):
    lost = 5  # 2**-5 is the first below 0.05
    share = brentq(lambda drop: binom.sf(lost - 1, n, drop) - 0.8, 1e-9, 1)
    assert share > discordance
    assert detectable_drop(n, discordance=discordance, alpha=0.05) == pytest.approx(share, rel=1e-6)


def test_few_rows_show_nothing():
    assert detectable_drop(5, discordance=0.1, alpha=0.01) is None
    assert drop_size(drop=1e-5, discordance=0.5, alpha=0.05) is None


@pytest.mark.parametrize("wrong", [{"drop": 0.2}, {"drop": -0.1}, {"alpha": 0.5}, {"minimum": 2}, {"discordance": 1.5}])
def test_wrong_input_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        drop_power(100, **{"drop": 0.01, "discordance": 0.1, "alpha": 0.05, **wrong})
