"""Tails of the normal law, Student's t, F and chi-square, each by two methods in balls.

An incomplete function is held against a finite sum; of the normal law, a series; of t with a broken number of degrees,
a certified integral of its density. Source of the sums: Abramowitz and Stegun (1964), equations 26.7.3 and 26.7.4 for
t, 26.6.4 for F, 26.4.4 and 26.4.5 for chi-square, 26.2.11 for the normal law.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Any

import flint

from ._cases import ball

METHODS = ("incomplete beta and gamma functions in balls", "finite sums of elementary functions in balls")


def two_sided_t(squared: Fraction, degrees: int) -> tuple[Any, Any]:
    """P(|T| >= t) for the square of t."""
    if squared == 0:
        return Fraction(1), Fraction(1)
    x = ball(Fraction(degrees) / (degrees + squared))
    first = x.beta_lower(flint.arb(degrees) / 2, flint.arb(1) / 2, regularized=1)
    cosine, sine = x.sqrt(), ball(squared / (degrees + squared)).sqrt()
    odd = degrees % 2
    term, total = (cosine, flint.arb(0)) if odd else (flint.arb(1), flint.arb(0))
    for power in range(odd, degrees - 1, 2):
        total += term
        term = term * x * (power + 1) / (power + 2)
    if odd:
        return first, 1 - 2 / flint.arb.pi() * (flint.arb.atan2(sine, cosine) + sine * total)
    return first, 1 - sine * total


def one_sided(squared: Fraction, sign: int, degrees: int, alternative: str) -> tuple[Any, Any]:
    """The p-value of a t whose square and sign are known."""
    return towards(two_sided_t(squared, degrees), sign, alternative)


def towards(both: tuple[Any, Any], sign: int, alternative: str) -> tuple[Any, Any]:
    """The p-value of an alternative, of a symmetric law of which both tails are known."""
    if alternative == "two-sided":
        return both
    if sign == 0:
        return Fraction(1, 2), Fraction(1, 2)
    ahead = (sign > 0) == (alternative == "greater")
    first, second = (each / 2 if ahead else 1 - each / 2 for each in both)
    return first, second


def upper_f(value: Fraction, d1: int, d2: int) -> tuple[Any, Any]:
    """P(F >= value) for an even number of degrees above or below."""
    if value == 0:
        return Fraction(1), Fraction(1)
    below = Fraction(d2) / (d2 + d1 * value)
    x, rest = ball(below), ball(1 - below)
    first = x.beta_lower(flint.arb(d2) / 2, flint.arb(d1) / 2, regularized=1)
    if d1 % 2 == 0:
        return first, _finite(x, rest, d2, d1)
    if d2 % 2 == 0:
        return first, 1 - _finite(rest, x, d1, d2)
    raise ValueError(f"F of {d1} and {d2}: one number of degrees must be even")


def _finite(x: Any, rest: Any, power: int, even: int) -> Any:
    term, total = flint.arb(1), flint.arb(0)
    for j in range(0, even, 2):
        total += term
        term = term * rest * (power + j) / (j + 2)
    return (x.sqrt() ** power) * total


def upper_chi2(value: Fraction, degrees: int) -> tuple[Any, Any]:
    """P(X >= value) for chi-square."""
    if value == 0:
        return Fraction(1), Fraction(1)
    half = ball(value / 2)
    first = half.gamma_upper(flint.arb(degrees) / 2, regularized=1)
    if degrees % 2 == 0:
        term, total = flint.arb(1), flint.arb(0)
        for j in range(degrees // 2):
            total += term
            term = term * half / (j + 1)
        return first, (-half).exp() * total
    root = ball(value).sqrt()
    term, total = root, flint.arb(0)
    for j in range(1, degrees, 2):
        total += term
        term = term * ball(value) / (j + 2)
    density = (-half).exp() / (2 * flint.arb.pi()).sqrt()
    return first, half.sqrt().erfc() + 2 * density * total


def normal(difference: Fraction, variance: Any, alternative: str) -> tuple[Any, Any]:
    """The p-value of a difference that is normal, by erfc and by the series x + x^3 / 3 + x^5 / 15 + ..."""
    squared = ball(difference) ** 2 / (variance if isinstance(variance, flint.arb) else ball(variance))
    reach = float(squared.mid())
    with flint.ctx.extraprec(int(2 * reach)):  # 1/2 less the series leaves exp(-squared / 2)
        z = ball(difference) / (variance if isinstance(variance, flint.arb) else ball(variance)).sqrt()
        at = {"two-sided": abs(z), "greater": z, "less": -z}[alternative]
        first = (at / flint.arb(2).sqrt()).erfc() / 2
        least, term, total, odd = flint.arb(2) ** -flint.ctx.prec, at, at, 1
        while not abs(term) < least or odd < 4 * reach:
            odd += 2
            term = term * at * at / odd
            total += term
        left_out = flint.arb(0, abs(term).abs_upper() * 2)  # from there on each term is under half of the last
        second = flint.arb(1) / 2 - (total + left_out) * (-at * at / 2).exp() / (2 * flint.arb.pi()).sqrt()
        return (2 * first, 2 * second) if alternative == "two-sided" else (first, second)


def broken_t(squared: Fraction, degrees: Fraction) -> tuple[Any, Any]:
    """P(|T| >= t) for the square of t and any number of degrees: the second is one less an integral of the density."""
    n = ball(degrees)
    x = ball(degrees / (degrees + squared))
    first = x.beta_lower(n / 2, flint.arb(1) / 2, regularized=1)
    angle = flint.arb.atan2(ball(squared).sqrt(), n.sqrt())

    def density(at: Any, analytic: bool) -> Any:
        return ((n - 1) * at.cos().log(analytic=analytic)).exp()

    area = flint.acb.integral(density, flint.acb(0), flint.acb(angle)).real
    scale = ((n + 1) / 2).gamma() / (n / 2).gamma() / flint.arb.pi().sqrt()
    return first, 1 - 2 * scale * area


def root(square: Fraction) -> tuple[Any, Any]:
    """The square root of a fraction: in balls, and between two neighbouring whole numbers over a power of two."""
    if not square:
        return Fraction(0), Fraction(0)
    shift = 300 + square.denominator.bit_length()
    low = isqrt((square.numerator << 2 * shift) // square.denominator)
    return ball(square).sqrt(), _within(Fraction(low, 1 << shift), Fraction(low + 1, 1 << shift))


def _within(low: Fraction, high: Fraction) -> Any:
    return ball((low + high) / 2) + flint.arb(0, ball((high - low) / 2).abs_upper())


@lru_cache
def quantile(degrees: int | None, confidence: Fraction, alternative: str) -> tuple[Any, Any]:
    """How many standard errors an interval reaches, of Student's t or (None) the normal law: both tails, bisected."""
    share = 1 - confidence if alternative == "two-sided" else 2 * (1 - confidence)

    def tails(at: Fraction) -> tuple[Any, Any]:
        return normal(at, Fraction(1), "two-sided") if degrees is None else two_sided_t(at * at, degrees)

    return _turn(lambda at: tails(at)[0] > ball(share)), _turn(lambda at: tails(at)[1] > ball(share))


def _turn(before: Callable[[Fraction], bool]) -> Any:
    """A ball around where a condition turns from true to false."""
    low, high = Fraction(0), Fraction(1)
    while before(high):
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if before(middle) else (low, middle)
    return _within(low, high)


def interval(
    estimate: Fraction, variance: Fraction, degrees: int | None, alternative: str
) -> dict[str, tuple[Any, Any]]:
    """The finite ends of the interval of 0.95 that belongs to an alternative, as doubles have 0.95."""
    reach = quantile(degrees, Fraction(0.95), alternative)
    error = root(variance)
    ends = {}
    for place, sign, without in ((0, -1, "less"), (1, 1, "greater")):
        if alternative != without:
            ends[f"confidence_interval[{place}]"] = tuple(
                ball(estimate) + sign * one * (each if isinstance(each, flint.arb) else ball(each))
                for one, each in zip(reach, error, strict=True)
            )
    return ends  # type: ignore[return-value]  # two of them


def of_normal(difference: Fraction, variance: Fraction, alternative: str) -> dict[str, tuple[Any, Any]]:
    """All that is known of a difference that is normal; without a variance, p is 1 and nothing has an interval."""
    values = {"estimate": (difference, difference), "standard_error": root(variance)}
    if not variance:
        return {"pvalue": (Fraction(1), Fraction(1)), **values}
    pvalue = normal(difference, variance, alternative)
    return {"pvalue": pvalue, **values, **interval(difference, variance, None, alternative)}
