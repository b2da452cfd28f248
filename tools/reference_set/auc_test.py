"""DeLong's test of two areas under the ROC curve."""

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import flint

from ._cases import ALTERNATIVES, Case, ball

SOURCE = "DeLong, DeLong and Clarke-Pearson (1988), equations (3) to (5)."
METHODS = (
    "placements of every row in fractions, and the complementary error function in balls",
    "all pairs of rows by their ranks in whole numbers, and the series of the normal law in balls",
)


def wins(higher: int, lower: int) -> Fraction:
    """What a positive's score is worth against a negative's."""
    return Fraction((higher > lower) - (higher < lower) + 1, 2)


def by_placements(y: list[int], a: list[int], b: list[int]) -> tuple[Fraction, Fraction]:
    """The difference A - B of the areas and its variance."""
    positives, negatives = ([i for i, each in enumerate(y) if each == kind] for kind in (1, 0))
    m, n = len(positives), len(negatives)
    gain = {(i, j): wins(a[i], a[j]) - wins(b[i], b[j]) for i in positives for j in negatives}
    area = sum(gain.values(), Fraction(0)) / (m * n)
    above = [sum((gain[i, j] for j in negatives), Fraction(0)) / n - area for i in positives]
    below = [sum((gain[i, j] for i in positives), Fraction(0)) / m - area for j in negatives]
    return area, sum(sum((x * x for x in own), Fraction(0)) / (len(own) - 1) / len(own) for own in (above, below))


def by_ranks(y: list[int], a: list[int], b: list[int]) -> tuple[Fraction, Fraction]:
    """The same from twice the mid-ranks among all rows and among the rows of a class."""

    def placed(scores: list[int], kind: int) -> list[int]:
        def doubled(x: int, among: list[int]) -> int:
            return 2 * sum(each < x for each in among) + sum(each == x for each in among) + 1

        own = [x for x, each in zip(scores, y, strict=True) if each == kind]
        return [doubled(x, scores) - doubled(x, own) for x in own]

    m, n = sum(y), len(y) - sum(y)
    ahead = [x - z for x, z in zip(placed(a, 1), placed(b, 1), strict=True)]
    behind = [x - z for x, z in zip(placed(a, 0), placed(b, 0), strict=True)]

    def variance(values: list[int], others: int) -> Fraction:
        size = len(values)
        spread = Fraction(size * sum(each**2 for each in values) - sum(values) ** 2, size * (size - 1))
        return spread / size / (2 * others) ** 2

    return Fraction(sum(ahead), 2 * m * n), variance(ahead, n) + variance(behind, m)


def normal(difference: Fraction, variance: Fraction, alternative: str) -> tuple[Any, Any]:
    """The p-value by erfc, and by the series x + x^3 / 3 + x^5 / 15 + ... of the normal law's ratio."""
    z = ball(difference) / ball(variance).sqrt()
    at = {"two-sided": abs(z), "greater": z, "less": -z}[alternative]
    first = (at / flint.arb(2).sqrt()).erfc() / 2
    term, total, odd = at, at, 1
    while not abs(term) < flint.arb(2) ** -700 or odd * odd < 4 * float((at * at).mid()):
        odd += 2
        term = term * at * at / odd
        total += term
    left_out = flint.arb(0, float(abs(term).upper()) * 2 + 1e-200)  # from there on each term is under half of the last
    second = flint.arb(1) / 2 - (total + left_out) * (-at * at / 2).exp() / (2 * flint.arb.pi()).sqrt()
    return (2 * first, 2 * second) if alternative == "two-sided" else (first, second)


def drawn(seed: int, m: int, n: int, levels: int, better: int) -> tuple[list[int], list[int], list[int]]:
    """Whole scores of m positives and n negatives; those of A are the better ones."""
    draw = random.Random(seed)
    y = [1] * m + [0] * n
    draw.shuffle(y)
    a = [draw.randint(0, levels) + better * each for each in y]
    return y, a, [draw.randint(0, levels) + each for each in y]


def cases() -> Iterator[Case]:
    """Ties, few rows of a class, far tails."""
    y = [0, 0, 0, 0, 1, 1, 1, 1]
    examples = {
        "easy": [(y, [1, 4, 6, 3, 5, 2, 8, 7], [1, 2, 3, 5, 4, 6, 8, 9]), drawn(1, 4, 5, 3, 2), drawn(2, 6, 6, 9, 3)],
        "average": [drawn(3, 15, 25, 20, 9), drawn(4, 30, 12, 4, 2), drawn(5, 25, 25, 100, 70), drawn(6, 8, 50, 30, 3)],
        "hard": [
            drawn(7, 2, 40, 50, 30),
            drawn(8, 60, 60, 12, 12),
            drawn(9, 45, 3, 2, 1),
            drawn(10, 80, 60, 1000, 900),
        ],
    }
    for difficulty, data in examples.items():
        for y, a, b in data:
            area, variance = by_placements(y, a, b)
            if (area, variance) != by_ranks(y, a, b):
                raise ValueError(f"areas of {y}, {a}, {b} differ")
            for alternative in ALTERNATIVES:
                given = {"positive": y, "score_a": a, "score_b": b, "alternative": alternative}
                yield Case(difficulty, given, {"pvalue": normal(area, variance, alternative)})
