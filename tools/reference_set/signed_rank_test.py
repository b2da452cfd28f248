"""Wilcoxon's signed ranks, with ties and zeros."""

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ._cases import ALTERNATIVES, Case, law_of_sums, sums_one_by_one, tail_of_law

SOURCE = "Wilcoxon (1945); Pratt (1959) for zeros; equal magnitudes share the mean of their ranks."
METHODS = ("all choices of signs, one by one", "polynomials in whole numbers")


def ranks(differences: list[int], zero_method: str) -> list[Fraction]:
    """The ranks of the magnitudes, those of zeros 0."""
    ranked = [abs(each) for each in differences if each or zero_method == "pratt"]
    return [
        Fraction(sum(x < abs(each) for x in ranked)) + Fraction(sum(x == abs(each) for x in ranked) + 1, 2)
        if each
        else Fraction(0)
        for each in differences
    ]


def cases() -> Iterator[Case]:
    """Few and many ties, zeros by both rules."""
    draw = random.Random(2)
    examples: dict[str, list[list[int]]] = {
        "easy": [[2, 5, 1, -1, 3, 4, 0, 6], [1], [-1, 2], [0, 0], [3, 3, 3, 3], [1, -2, 3, -4, 5]],
        "average": [[draw.randint(-k, k + 2) for _ in range(14)] for k in (2, 5, 50)],
        "hard": [[0] * 5 + [1] * 5 + [-1] * 3 + [2] * 2, list(range(1, 17)), [-1, *[2] * 14]],
    }
    for difficulty, lists in examples.items():
        for differences in lists:
            for zero_method in ("wilcox", "pratt"):
                for alternative in ALTERNATIVES if difficulty == "easy" else ("two-sided", "less"):
                    signed = list(zip(differences, ranks(differences, zero_method), strict=True))
                    magnitudes: list[Any] = [rank for each, rank in signed if each]
                    positive = sum((rank for each, rank in signed if each > 0), Fraction(0))
                    first, second = (
                        tail_of_law(law, positive, sum(magnitudes), alternative)
                        for law in (sums_one_by_one(magnitudes), law_of_sums(magnitudes))
                    )
                    given = {"differences": differences, "zero_method": zero_method, "alternative": alternative}
                    yield Case(difficulty, given, {"pvalue": (first, second)})
