"""Adjusted p-values: Holm, Benjamini and Hochberg, Benjamini and Yekutieli."""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from ._cases import Case

SOURCE = (
    "Holm (1979); Benjamini and Hochberg (1995); Benjamini and Yekutieli (2001), theorem 1.3. P-values are doubles."
)
METHODS = (
    "Holm: all intersections of hypotheses, each by Bonferroni; the others: the step-up rule at every level",
    "running maxima and minima of the ordered p-values in fractions",
)
NAMES = ("holm", "benjamini-hochberg", "benjamini-yekutieli")


def by_closure(p: list[Fraction]) -> list[Fraction]:
    """Holm as a closed test: the largest p-value of all intersections that a hypothesis is part of."""
    found = [Fraction(0)] * len(p)
    for size in range(1, len(p) + 1):
        for subset in combinations(range(len(p)), size):
            value = min(Fraction(1), size * min(p[i] for i in subset))
            for i in subset:
                found[i] = max(found[i], value)
    return found


def by_levels(p: list[Fraction], factor: Fraction) -> list[Fraction]:
    """The least level at which the step-up rule rejects each."""
    n = len(p)
    levels = sorted({min(Fraction(1), factor * n * each / k) for each in p for k in range(1, n + 1)} | {Fraction(1)})
    found = [Fraction(1)] * n
    for level in reversed(levels):
        counts = [k for k in range(1, n + 1) if sum(each <= level * k / (factor * n) for each in p) >= k]
        limit = level * max(counts, default=0) / (factor * n)
        for i, each in enumerate(p):
            if counts and each <= limit:
                found[i] = level
    return found


def ordered(p: list[Fraction], method: str, factor: Fraction) -> list[Fraction]:
    """By the p-values in order: the largest so far, or the least from there on."""
    n = len(p)
    order = sorted(range(n), key=lambda i: p[i])
    found = [Fraction(0)] * n
    reach = Fraction(0) if method == "holm" else Fraction(1)
    for rank in range(n) if method == "holm" else reversed(range(n)):
        i = order[rank]
        if method == "holm":
            reach = max(reach, min(Fraction(1), (n - rank) * p[i]))
        else:
            reach = min(reach, factor * n * p[i] / (rank + 1))
        found[i] = reach
    return found


def cases() -> Iterator[Case]:
    """Single ones, ties, zeros and ones, far tails, near ties."""
    draw = random.Random(9)
    families = {
        "easy": [[0.01, 0.04, 0.03], [0.5], [0.2, 0.2, 0.2], [0.0, 1.0, 0.05]],
        "average": [[round(draw.random() ** 3, 6) for _ in range(n)] for n in (5, 8, 10)],
        "hard": [[1e-300, 1e-299, 0.3, 5e-301], [0.05, 0.05 + 2**-54, 0.025, 1e-17], [1.0] * 6 + [1e-5] * 3],
    }
    for difficulty, listed in families.items():
        for values in listed:
            p = [Fraction(each) for each in values]
            for method in NAMES:
                factor = (
                    sum((Fraction(1, k) for k in range(1, len(p) + 1)), Fraction(0))
                    if method == NAMES[2]
                    else Fraction(1)
                )
                first = by_closure(p) if method == "holm" else by_levels(p, factor)
                second = ordered(p, method, factor)
                given = {"pvalues": values, "method": method}
                pairs = zip(first, second, strict=True)
                yield Case(difficulty, given, {f"value[{place}]": pair for place, pair in enumerate(pairs)})
