import math
from fractions import Fraction
from math import comb

import flint
import pytest

from sigstats.mcnemar.binomial_tails import log_pmf, log_tail, tail


def exact_tail(k, n, weight=Fraction(1)):
    return Fraction(sum(comb(n, i) for i in range(k + 1, n + 1)) + weight * comb(n, k), 2**n)


def log_fraction(x):
    if 2 * x > 1:
        return math.log1p(-float(1 - x))
    return math.log(x) if x > 1e-290 else math.log(x.numerator) - math.log(x.denominator)


@pytest.mark.long
@pytest.mark.parametrize("n", [*range(1, 40), 97, 400, 1500])
@pytest.mark.parametrize("weight", [Fraction(1), Fraction(1, 2), Fraction(1, 4)])
def test_tails_equal_rational_arithmetic(n, weight):
    for k in range(0, n + 1, max(1, n // 30)):
        truth = exact_tail(k, n, weight)
        assert log_tail(k, n, float(weight)) == pytest.approx(log_fraction(truth), rel=2e-14, abs=2e-14)
        if n <= 1000:
            assert tail(k, n, float(weight)) == float(truth)
        else:
            assert tail(k, n, float(weight)) == pytest.approx(float(truth), rel=1e-11)


def test_a_strict_tail_of_everything_is_impossible():
    assert log_tail(5, 5, 0.0) == -math.inf
    assert tail(0, 0) == 1


def ball(x):
    return flint.arb(flint.fmpz(x))


@pytest.mark.parametrize("n", [10**4, 10**6 + 1, 10**9, 10**12 + 7, 10**15])
@pytest.mark.parametrize("deviations", [0.5, 2, 10, 40])
def test_probabilities_equal_balls_of_400_bits(n, deviations):
    k = n // 2 + int(deviations * math.sqrt(n) / 2)
    saved, flint.ctx.prec = flint.ctx.prec, 400
    try:
        logarithm = ball(n + 1).lgamma() - ball(k + 1).lgamma() - ball(n - k + 1).lgamma() - ball(n) * ball(2).log()
        truth = float(logarithm.mid())
    finally:
        flint.ctx.prec = saved
    assert log_pmf(k, n) == pytest.approx(truth, rel=4e-15)


@pytest.mark.parametrize("n", [10**7 + 1, 2 * 10**7, 10**10, 10**13, 10**15])
@pytest.mark.parametrize("deviations", [-0.7, 0, 0.2, 0.9999, 1.0001])
def test_both_ways_to_a_tail_agree_with_its_neighbour(n, deviations):
    # P(X >= k) - P(X >= k + 1) = P(X = k), whichever of expansion and continued fraction gives the two tails. In the
    # middle P(X = k) is far larger than the error of either.
    k = n // 2 + int(deviations * math.sqrt(n) / 2)
    step = math.exp(log_tail(k, n)) - math.exp(log_tail(k + 1000, n))
    truth = math.fsum(math.exp(log_pmf(i, n)) for i in range(k, k + 1000))
    assert step == pytest.approx(truth, abs=2e-12)


@pytest.mark.parametrize("n", [100, 1500, 10**4, 10**6, 10**7, 10**7 + 2, 10**12, 10**15])
def test_the_middle_is_known_without_summing(n):
    # By symmetry P(X >= n/2) is one half of 1 + P(X = n/2).
    middle = math.exp(log_pmf(n // 2, n))
    assert math.exp(log_tail(n // 2, n)) == pytest.approx((1 + middle) / 2, rel=4e-15)


def test_expansion_meets_the_continued_fraction_at_their_border():
    # One standard deviation out: the last count of the expansion, and the same by the fraction through its neighbour.
    n = 10**8
    k = n // 2 + 10**4 // 2
    inside = math.exp(log_tail(k - 1, n)) - math.exp(log_pmf(k - 1, n))
    assert inside == pytest.approx(math.exp(log_tail(k, n)), rel=1e-12)
