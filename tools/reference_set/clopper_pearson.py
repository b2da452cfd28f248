"""Clopper and Pearson's interval of a proportion."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import comb
from typing import Any

import flint

from ._cases import Case, ball

SOURCE = "Clopper and Pearson (1934): the limits are where a binomial tail is half of one less the confidence."
METHODS = ("bisection of sums of binomial terms in whole numbers", "bisection of incomplete beta functions in balls")
_BITS = 170


def bisect(below: Callable[[Fraction], bool]) -> tuple[Fraction, Fraction]:
    """The two ends of an interval of 2**-170 in which `below` turns from true to false."""
    low, high = Fraction(0), Fraction(1)
    for _ in range(_BITS):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return low, high


def between(ends: tuple[Fraction, Fraction]) -> Any:
    """A ball that holds both ends."""
    middle, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    return ball(middle) + flint.arb(0, ball(half).abs_upper())


def tail_is_below(k: int, n: int, p: Fraction, share: Fraction) -> bool:
    """Whether P(X >= k) is below a share, for X binomial (n, p), in whole numbers."""
    return terms_from(k, n, p) < share


def terms_from(k: int, n: int, p: Fraction) -> Fraction:
    """P(X >= k) for X binomial (n, p), summed in whole numbers."""
    p_part, q_part, unit = p.numerator, p.denominator - p.numerator, p.denominator
    total, term = 0, q_part ** (n - k) * p_part**k if k <= n else 0
    for i in range(k, n + 1):
        total += comb(n, i) * term
        term = term // q_part * p_part if i < n and q_part else 0
    return Fraction(total, unit**n)


def limits(k: int, n: int, confidence: Fraction) -> dict[str, tuple[Any, Any]]:
    """Both limits by both methods."""
    share = (1 - confidence) / 2

    def beta(p: Fraction, a: int, b: int) -> Any:
        return ball(p).beta_lower(flint.arb(a), flint.arb(b), regularized=1)

    found: dict[str, tuple[Any, Any]] = {}
    zero, one = (Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))
    found["low"] = (
        zero
        if k == 0
        else (
            between(bisect(lambda p: tail_is_below(k, n, p, share))),
            between(bisect(lambda p: beta(p, k, n - k + 1) < ball(share))),
        )
    )
    found["high"] = (
        one
        if k == n
        else (
            between(bisect(lambda p: tail_is_below(k + 1, n, p, 1 - share))),
            between(bisect(lambda p: beta(p, k + 1, n - k) < ball(1 - share))),
        )
    )
    return found


def cases() -> Iterator[Case]:
    """Small and large counts, at the ends and in the middle."""
    pairs = {
        "easy": [(0, 1), (1, 1), (1, 2), (7, 10), (0, 10), (10, 10), (3, 7), (15, 20)],
        "average": [(30, 80), (79, 80), (1, 100), (50, 100), (113, 150)],
        "hard": [(0, 400), (1, 300), (299, 300), (150, 300)],
    }
    for difficulty, counts in pairs.items():
        for k, n in counts:
            for level in ("0.95", "0.5") if difficulty != "hard" else ("0.95", "0.999"):
                given = {"successes": k, "n": n, "confidence_level": float(level)}
                yield Case(difficulty, given, limits(k, n, Fraction(float(level))))
