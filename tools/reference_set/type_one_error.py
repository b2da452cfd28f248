"""The type I error of McNemar's exact and mid-p tests."""

from collections.abc import Iterator
from fractions import Fraction
from math import comb

from ._cases import Case, upper_tail

SOURCE = "The probability that the p-value is at most alpha where both are equally accurate, over all outcomes."
METHODS = ("the discordant pairs first, then those in favour of A", "outcomes grown observation by observation")


def rejects(a: int, b: int, alpha: Fraction, alternative: str, method: str) -> bool:
    """Whether the test rejects."""
    n = a + b
    if n == 0:
        return False
    k = {"greater": a, "less": b}.get(alternative, max(a, b))
    sides = 2 if alternative == "two-sided" else 1
    p = Fraction(sides * upper_tail(k, n), 2**n)
    if method == "mid-p":
        if sides == 2 and a == b:
            p = Fraction(1) - Fraction(comb(n, k), 2 ** (n + 1))
        else:
            p -= Fraction(sides * comb(n, k), 2 ** (n + 1))
    return min(p, Fraction(1)) <= alpha


def cases() -> Iterator[Case]:
    """Up to 120 observations; discordances that floats hold exactly."""
    settings = {
        "easy": [(6, 1, 1), (10, 1, 2), (20, 3, 8)],
        "average": [(40, 1, 4), (60, 5, 16), (80, 1, 8)],
        "hard": [(120, 1, 64), (110, 1, 1), (100, 63, 64)],
    }
    alpha = Fraction(0.05)
    for difficulty, listed in settings.items():
        for n, share, unit in listed:
            for alternative in ("two-sided", "greater"):
                for method in ("exact", "mid-p"):
                    region = {
                        (a, b): rejects(a, b, alpha, alternative, method)
                        for a in range(n + 1)
                        for b in range(n + 1 - a)
                    }
                    pi = Fraction(share, unit)
                    first = sum(
                        comb(n, m) * pi**m * (1 - pi) ** (n - m)
                        * Fraction(sum(comb(m, a) for a in range(m + 1) if region[a, m - a]), 2**m)
                        for m in range(n + 1)
                    )  # fmt: skip
                    law = {(0, 0): 1}
                    for _ in range(n):
                        grown: dict[tuple[int, int], int] = {}
                        for (a, b), mass in law.items():
                            for x, y, part in ((1, 0, share), (0, 1, share), (0, 0, 2 * (unit - share))):
                                if part:
                                    grown[a + x, b + y] = grown.get((a + x, b + y), 0) + mass * part
                        law = grown
                    second = Fraction(sum(mass for place, mass in law.items() if region[place]), (2 * unit) ** n)
                    given = {"n": n, "discordance": float(pi), "alternative": alternative, "method": method}
                    yield Case(difficulty, given, {"value": (first, second)})
