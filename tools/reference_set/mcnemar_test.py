"""McNemar's test: binomial tails."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ._cases import ALTERNATIVES, Case, tail_in_balls, upper_tail
from .clopper_pearson import limits

SOURCE = "Binomial tails with probability 1/2; mid-p: Fagerland, Lydersen and Laake (2013)."
METHODS = (
    "sums of binomial coefficients in whole numbers",
    "gamma functions and ratios of terms in balls; ends of intervals by incomplete beta functions",
)
PAIRS = {
    "easy": [(7, 1), (1, 7), (0, 5), (9, 5), (5, 5), (1, 0), (3, 12), (20, 11)],
    "average": [(121, 59), (250, 200), (0, 40), (64, 63), (500, 501)],
    "hard": [(3000, 1000), (1100, 0), (20000, 19000), (6000, 2), (30000, 29998)],
}


def exact(a: int, b: int, alternative: str) -> tuple[object, object]:
    """The exact p-value by both methods."""
    n = a + b
    k = {"greater": a, "less": b}.get(alternative, max(a, b))
    tail, by_beta = Fraction(upper_tail(k, n), 2**n), tail_in_balls(k, n)
    if alternative != "two-sided":
        return tail, by_beta
    return (Fraction(1), Fraction(1)) if a == b else (2 * tail, 2 * by_beta)


def mid(a: int, b: int, alternative: str) -> tuple[object, object]:
    """The mid-p-value: outcomes as likely as the observed one count by half."""
    n = a + b
    k = {"greater": a, "less": b}.get(alternative, max(a, b))
    least, most = Fraction(upper_tail(k + 1, n), 2**n) if k < n else Fraction(0), Fraction(upper_tail(k, n), 2**n)
    beta = (tail_in_balls(k, n) + (tail_in_balls(k + 1, n) if k < n else 0)) / 2
    value = (least + most) / 2
    if alternative != "two-sided":
        return value, beta
    if a == b:
        return 1 - (most - least) / 2, 1 - (tail_in_balls(k, n) - (tail_in_balls(k + 1, n) if k < n else 0)) / 2
    return 2 * value, 2 * beta


def shares(a: int, b: int, alternative: str) -> dict[str, tuple[Any, Any]]:
    """A's share of few discordant observations less that of B, and the finite ends of its interval of 0.95."""
    n, level = a + b, Fraction(0.95)
    if not 0 < n <= 200:
        return {}
    found: dict[str, tuple[Any, Any]] = {"estimate": (Fraction(a - b, n), 2 * Fraction(a, n) - 1)}
    ends = limits(a, n, level if alternative == "two-sided" else 2 * level - 1)
    for place, name, without in ((0, "low", "less"), (1, "high", "greater")):
        if alternative != without:
            first, second = (2 * each - 1 for each in ends[name])
            found[f"confidence_interval[{place}]"] = first, second
    return found


def cases() -> Iterator[Case]:
    """Both methods, all alternatives."""
    for difficulty, pairs in PAIRS.items():
        for a, b in pairs:
            for alternative in ALTERNATIVES if difficulty != "average" else ("two-sided", "greater"):
                given = {"only_a": a, "only_b": b, "alternative": alternative}
                values = {"pvalue": exact(a, b, alternative), **shares(a, b, alternative)}
                yield Case(difficulty, {**given, "method": "exact"}, values)
                if a + b < 5000:
                    yield Case(difficulty, {**given, "method": "mid-p"}, {"pvalue": mid(a, b, alternative)})
    yield Case("easy", {"only_a": 0, "only_b": 0, "method": "exact"}, {"pvalue": (Fraction(1), Fraction(1))})
