"""The sign-flip test of repeated answers and groups."""

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ._cases import ALTERNATIVES, Case, law_of_sums, sums_one_by_one, tail_in_balls, tail_of_law

SOURCE = "Fisher (1935), section 21: all changes of sign of the differences."
METHODS = ("all choices of signs, one by one, or binomial tails in balls", "polynomials in whole numbers")


def both(differences: list[int], alternative: str) -> tuple[Any, Any]:
    """The p-value by both methods."""
    magnitudes = [abs(each) for each in differences if each]
    positive = sum(each for each in differences if each > 0)
    second = tail_of_law(law_of_sums(magnitudes), positive, sum(magnitudes), alternative)
    if len(magnitudes) <= 16:
        return tail_of_law(sums_one_by_one(magnitudes), positive, sum(magnitudes), alternative), second
    assert len(set(magnitudes)) == 1
    n, k = len(magnitudes), positive // magnitudes[0]
    if alternative != "two-sided":
        return tail_in_balls(k if alternative == "greater" else n - k, n), second
    return (Fraction(1) if 2 * k == n else 2 * tail_in_balls(max(k, n - k), n)), second


def cases() -> Iterator[Case]:
    """One to sixteen items of unequal differences, hundreds of equal ones."""
    draw = random.Random(1)
    examples: dict[str, list[list[int]]] = {
        "easy": [[1], [1, -1], [3, 2, 0, 1, -1, 2, 3, 1], [0, 0, 0], [5, 5, 5], [1, 2, 4, 8], [-1, -2, -3]],
        "average": [[draw.randint(-k, k + 1) for _ in range(14)] for k in (1, 2, 4, 9)],
        "hard": [
            [10**9, 1, -1, 10**9 - 1, 7], [3] * 150 + [-3] * 50, [1] * 1100, [2] * 40 + [-2] * 40,
            [10**6 + i for i in range(12)],
        ],
    }  # fmt: skip
    for difficulty, lists in examples.items():
        for differences in lists:
            for alternative in ALTERNATIVES:
                given = {"differences": differences, "alternative": alternative}
                yield Case(difficulty, given, {"pvalue": both(differences, alternative)})
