"""Tango's score interval of the difference of two accuracies."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ._cases import Case, ball
from ._tails import quantile
from .clopper_pearson import between

SOURCE = "Tango (1998): the differences that a score test does not reject, given the likeliest share of only B's."
METHODS = (
    "the larger root of the quadratic of Tango's appendix, in balls; bisection",
    "the likeliest share by bisection of the slope of the likelihood in fractions; bisection",
)
_STEPS = 190
COUNTS = {
    "easy": [(6, 16, 161), (16, 6, 161), (0, 0, 20), (5, 5, 30), (1, 0, 10), (0, 4, 12), (3, 7, 10)],
    "average": [(121, 59, 400), (40, 0, 250), (64, 63, 1000), (12, 19, 5000)],
    "hard": [(0, 0, 100_000), (3000, 2900, 6000), (2, 0, 1_000_000), (700, 900, 250_000)],
}


def by_root(a: int, b: int, n: int, difference: Fraction) -> Any:
    """The likeliest probability of only B, in balls."""
    linear = (2 * n - a + b) * difference - a - b
    constant = -b * difference * (1 - difference)
    return (ball(linear * linear - 8 * n * constant).sqrt() - ball(linear)) / (4 * n)


def by_slope(a: int, b: int, n: int, difference: Fraction) -> Any:
    """The same where the slope of a log q(A) + b log q(B) + (n - a - b) log(1 - q(A) - q(B)) turns its sign."""
    low, high = max(Fraction(0), -difference), (1 - difference) / 2
    for _ in range(_STEPS):
        q = (low + high) / 2
        first, both = q + difference, 1 - 2 * q - difference
        rises = a * q * both + b * first * both > 2 * (n - a - b) * first * q
        low, high = (q, high) if rises else (low, q)
    return between((low, high))


def reaches(
    a: int, b: int, n: int, difference: Fraction, z: Any, likeliest: Callable[[int, int, int, Fraction], Any]
) -> bool:
    """Whether the score test does not reject a difference above the observed one."""
    spread = n * (2 * likeliest(a, b, n, difference) + ball(difference * (1 - difference)))
    apart = ball(n * difference - (a - b))
    return bool(apart * apart < z * z * spread)


@lru_cache
def upper(a: int, b: int, n: int, confidence: Fraction) -> tuple[Any, Any]:
    """The upper end by both methods."""
    found = []
    for z, likeliest in zip(quantile(None, confidence, "two-sided"), (by_root, by_slope), strict=True):
        low, high = Fraction(a - b, n), Fraction(1)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if reaches(a, b, n, middle, z, likeliest) else (low, middle)
        found.append(between((low, high)))
    return found[0], found[1]


def cases() -> Iterator[Case]:
    """Two levels; the lower end is the upper one of B less A with its sign turned."""
    for difficulty, counts in COUNTS.items():
        for a, b, n in counts:
            for level in (0.95, 0.8):
                high, low = upper(a, b, n, Fraction(level)), upper(b, a, n, Fraction(level))
                values: dict[str, tuple[Any, Any]] = {
                    "estimate": (Fraction(a - b, n), Fraction(a, n) - Fraction(b, n)),
                    "confidence_interval[0]": (-low[0], -low[1]),
                    "confidence_interval[1]": high,
                }
                given = {"only_a": a, "only_b": b, "n": n, "confidence_level": level}
                yield Case(difficulty, given, values)
