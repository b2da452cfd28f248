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


def means(differences: list[int], alternative: str) -> dict[str, tuple[Any, Any]]:
    """The median of the means of two differences, and how far into them the law of untied ranks allows to go.

    By sorting the means, and by the least values that enough of them do not exceed.
    """
    n = len(differences)
    ascending = sorted(Fraction(x + y, 2) for place, x in enumerate(differences) for y in differences[place:])
    every = len(ascending)

    def counted(position: int) -> Fraction:
        at_most = {each: sum(other <= each for other in ascending) for each in set(ascending)}
        return min(each for each, count in at_most.items() if count > position)

    middle = (every - 1) // 2, every // 2
    values: dict[str, tuple[Any, Any]] = {
        "estimate": (sum(ascending[each] for each in middle) / 2, sum(map(counted, middle), Fraction(0)) / 2)
    }
    share = (1 - Fraction(0.95)) / (2 if alternative == "two-sided" else 1)
    outs = []
    for law in (sums_one_by_one(list(range(1, n + 1))), law_of_sums(range(1, n + 1))):
        below = Fraction(0)
        outs.append(0)
        while (below := below + Fraction(law.get(outs[-1], 0), 2**n)) <= share:
            outs[-1] += 1
    for place, position, without in ((0, outs[0] - 1, "less"), (1, every - outs[1], "greater")):
        if outs[0] and alternative != without:
            values[f"confidence_interval[{place}]"] = ascending[position], counted(position)
    return values


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
                    yield Case(difficulty, given, {"pvalue": (first, second), **means(differences, alternative)})
