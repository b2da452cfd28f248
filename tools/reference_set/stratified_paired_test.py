"""Two models over a fixed collection of data sets."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import Any

from ._cases import ALTERNATIVES, Case, ball, law_of_sums, tail_of_law
from .accuracy_difference import upper

SOURCE = "The sum of (a - b) / n, each a binomial with probability 1/2 given a + b."
METHODS = (
    "all splits of the discordant rows, by products of binomial coefficients",
    "polynomials of signs, row by row",
)


def by_splits(a: list[int], b: list[int], weight: list[Fraction], alternative: str) -> Fraction:
    """The p-value by listing how each data set's discordant rows may fall."""
    totals = [x + y for x, y in zip(a, b, strict=True)]
    observed = sum((w * (x - y) for x, y, w in zip(a, b, weight, strict=True)), Fraction(0))
    found = 0
    for split in product(*(range(t + 1) for t in totals)):
        value = sum((w * (2 * x - t) for x, t, w in zip(split, totals, weight, strict=True)), Fraction(0))
        extreme = {
            "two-sided": abs(value) >= abs(observed),
            "greater": value >= observed,
            "less": value <= observed,
        }[alternative]
        found += prod(map(comb, totals, split)) if extreme else 0
    return Fraction(found, 2 ** sum(totals))


def reached(a: list[int], b: list[int], n: list[int], weights: str) -> dict[str, tuple[Any, Any]]:
    """The weighted difference, and an interval that reaches as far as the squares of Tango's together."""
    sets = list(zip(a, b, n, strict=True))
    shares = [Fraction(size, sum(n)) if weights == "rows" else Fraction(1, len(n)) for size in n]
    estimate = sum(
        (share * Fraction(x - y, size) for share, (x, y, size) in zip(shares, sets, strict=True)), Fraction()
    )
    ahead, behind = (
        sum((share * Fraction(each[side], each[2]) for share, each in zip(shares, sets, strict=True)), Fraction())
        for side in (0, 1)
    )
    found: dict[str, tuple[Any, Any]] = {"estimate": (estimate, ahead - behind)}
    for place, sign in ((0, -1), (1, 1)):
        squares = [ball(0), ball(0)]
        for share, (x, y, size) in zip(shares, sets, strict=True):
            own = upper(x, y, size, Fraction(0.95)) if sign > 0 else upper(y, x, size, Fraction(0.95))
            for which, end in enumerate(own):
                squares[which] += (ball(share) * (end - ball(Fraction(sign * (x - y), size)))) ** 2
        first, second = (ball(estimate) + sign * each.sqrt() for each in squares)
        if abs(first) < 1:
            found[f"confidence_interval[{place}]"] = first, second
    return found


def cases() -> Iterator[Case]:
    """One to six data sets, of equal and of unlike sizes."""
    examples: dict[str, list[tuple[list[int], list[int], list[int]]]] = {
        "easy": [
            ([7], [1], [20]), ([3, 2], [1, 0], [10, 10]), ([0], [0], [5]), ([1, 4], [2, 2], [10, 30]),
            ([2, 2, 2], [1, 1, 1], [10, 20, 40]),
        ],
        "average": [
            ([9, 4, 12], [3, 2, 4], [150, 60, 200]), ([5, 3, 8, 2], [4, 6, 2, 0], [97, 89, 83, 79]),
            ([10, 0, 5], [2, 7, 5], [100, 31, 64]),
        ],
        "hard": [
            ([30, 3], [5, 20], [1000, 77]), ([6, 5, 4, 3, 2], [1, 2, 0, 3, 2], [101, 103, 107, 109, 113]),
            ([40], [0], [41]), ([3, 3, 3, 3, 3], [0, 0, 0, 0, 0], [7, 11, 13, 17, 19]),
        ],
    }  # fmt: skip
    for difficulty, sets in examples.items():
        for a, b, n in sets:
            for weights, alternative in product(("strata", "rows"), ALTERNATIVES):
                weight = [Fraction(1, each) if weights == "strata" else Fraction(1) for each in n]
                magnitudes: list[Any] = [w for x, y, w in zip(a, b, weight, strict=True) for _ in range(x + y)]
                positive = sum((w * x for x, w in zip(a, weight, strict=True)), Fraction(0))
                second = tail_of_law(law_of_sums(magnitudes), positive, sum(magnitudes, Fraction(0)), alternative)
                given = {"only_a": a, "only_b": b, "n": n, "weights": weights, "alternative": alternative}
                values = {"pvalue": (by_splits(a, b, weight, alternative), second)}
                if alternative == "two-sided":
                    values |= reached(a, b, n, weights)
                yield Case(difficulty, given, values)
