"""The power of McNemar's exact test."""

from collections.abc import Iterator
from fractions import Fraction
from math import factorial

from ._cases import ALTERNATIVES, Case, upper_tail

SOURCE = "The probability that the exact p-value is at most alpha, over all outcomes."
METHODS = ("all outcomes, one by one, by trinomial probabilities", "outcomes grown observation by observation")


def rejects(a: int, b: int, alpha: Fraction, alternative: str) -> bool:
    """Whether the exact test rejects."""
    n = a + b
    if n == 0:
        return False
    k = {"greater": a, "less": b}.get(alternative, max(a, b))
    p = Fraction(upper_tail(k, n), 2**n)
    return (min(Fraction(1), 2 * p) if alternative == "two-sided" else p) <= alpha


def cases() -> Iterator[Case]:
    """Up to 120 observations; probabilities that floats hold exactly."""
    settings = {
        "easy": [(6, 1, 0, 1), (10, 4, 1, 8), (20, 3, 1, 8), (5, 1, 1, 2), (12, 0, 1, 4), (30, 1, 1, 8)],
        "average": [(50, 10, 4, 64), (60, 1, 3, 16), (80, 6, 2, 64)],
        "hard": [(120, 5, 2, 64), (110, 1, 0, 64), (100, 30, 30, 64)],
    }
    for difficulty, listed in settings.items():
        for n, a, b, unit in listed:
            for alternative in ALTERNATIVES:
                alpha = Fraction(0.05)
                p, q = Fraction(a, unit), Fraction(b, unit)
                rest = 1 - p - q
                region = {(i, j): rejects(i, j, alpha, alternative) for i in range(n + 1) for j in range(n + 1 - i)}
                ways = factorial(n)
                first = sum(
                    (
                        Fraction(ways, factorial(i) * factorial(j) * factorial(n - i - j))
                        * p**i
                        * q**j
                        * rest ** (n - i - j)
                        for (i, j), extreme in region.items()
                        if extreme
                    ),
                    Fraction(0),
                )
                second = Fraction(0)
                law = {(0, 0): 1}
                steps = ((1, 0, a), (0, 1, b), (0, 0, unit - a - b))
                for _ in range(n):
                    grown: dict[tuple[int, int], int] = {}
                    for (i, j), mass in law.items():
                        for x, y, share in steps:
                            if share:
                                grown[i + x, j + y] = grown.get((i + x, j + y), 0) + mass * share
                    law = grown
                second = Fraction(sum(mass for place, mass in law.items() if region[place]), unit**n)
                given = {"n": n, "only_a": float(p), "only_b": float(q), "alternative": alternative}
                yield Case(difficulty, given, {"value": (first, second)})
