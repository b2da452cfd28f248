"""Rows of right and wrong that arrive: the e-value of each look, and the least of their reciprocals."""

import random
from collections.abc import Iterator
from fractions import Fraction
from math import factorial
from typing import Any

import flint

from ._cases import ALTERNATIVES, Case

SOURCE = (
    "The Bayes factor of a Beta(1/2, 1/2) prior of the share of discordant rows that A gets right, two-sided, and of "
    "the half of it that favours one side."
)
METHODS = (
    "double factorials in whole numbers, and incomplete beta functions in balls",
    "gamma functions in balls, and certified integrals over the angle",
)


def evalue(a: int, b: int, alternative: str) -> tuple[Any, Any]:
    """The e-value of a rows that favour A and b that favour B, by both methods."""
    whole = Fraction(_odd(a) * _odd(b), factorial(a + b))
    x, y = flint.arb(2 * a + 1) / 2, flint.arb(2 * b + 1) / 2
    second = flint.arb(2) ** (a + b) * x.gamma() * y.gamma() / (x + y).gamma() / flint.arb.pi()
    if alternative == "two-sided":
        return whole, second
    if alternative == "less":
        x, y, a, b = y, x, b, a
    half = flint.arb(1) / 2
    above = half.beta_lower(y, x, regularized=1)  # the share of the posterior above 1/2
    quarter = flint.acb(flint.arb.pi() / 4)

    def density(at: Any, analytic: bool) -> Any:  # noqa: ARG001 - it is analytic everywhere
        return at.sin() ** (2 * a) * at.cos() ** (2 * b)

    area = flint.acb.integral(density, quarter, 2 * quarter, abs_tol=flint.arb(2) ** -3000).real
    return 2 * flint.arb(whole.numerator) / whole.denominator * above, flint.arb(2) ** (
        a + b
    ) * 4 * area / flint.arb.pi()


def _odd(count: int) -> int:
    """The product of the first odd numbers, so many of them."""
    return factorial(2 * count) // (2**count * factorial(count))


def cases() -> Iterator[Case]:
    """One look and several, even and one-sided, few rows and some hundred."""
    draw = random.Random(41)
    listed = {
        "easy": [[(9, 2)], [(0, 1)], [(3, 3)], [(9, 4), (11, 3), (12, 2)], [(0, 0), (5, 0)]],
        "average": [[(40, 20), (31, 30), (44, 18)], [tuple(draw.randint(0, 9) for _ in "ab") for _ in range(12)]],
        "hard": [[(300, 100)], [(400, 398), (2, 90)], [(1, 0)] * 40],
    }
    for difficulty, streams in listed.items():
        for stream in streams:
            rows = [
                (sign, count, look)
                for look, pair in enumerate(stream)
                for sign, count in zip((1, -1), pair, strict=True)
            ]
            differences, counts, looks = ([*each] for each in zip(*[row for row in rows if row[1]], strict=True))
            for alternative in ALTERNATIVES:
                a = b = 0
                least: tuple[Any, Any] = (Fraction(1), flint.arb(1))
                for more in stream:
                    a, b = a + more[0], b + more[1]
                    found = evalue(a, b, alternative)
                    if found[1] * least[1] > 1:
                        least = (1 / found[0], 1 / found[1])
                yield Case(
                    difficulty,
                    {"differences": differences, "counts": counts, "looks": looks, "alternative": alternative},
                    {"statistic": found, "pvalue": least, "estimate": (Fraction(a - b, a + b),) * 2},
                )
