"""The F of five replications of two-fold cross-validation."""

import random
from collections.abc import Iterator
from fractions import Fraction

from ._cases import Case
from ._tails import METHODS as METHODS
from ._tails import upper_f

SOURCE = "Alpaydin (1999): F of 10 and 5 degrees; the differences are the doubles that are nearest to the decimals."


def cases() -> Iterator[Case]:
    """No effect, small and large effects, folds that nearly agree."""
    draw = random.Random(5)
    settings = {
        "easy": [(20, 0)] * 6 + [(20, 20)] * 6,
        "average": [(10, 40)] * 8 + [(50, -30)] * 6,
        "hard": [(1, 400)] * 6,
    }
    for difficulty, listed in settings.items():
        for width, shift in listed:
            pairs = [[(draw.randint(-width, width) + shift) / 1000 for _ in range(2)] for _ in range(5)]
            values = [[Fraction(each) for each in pair] for pair in pairs]
            within = sum(((a - b) ** 2 for a, b in values), Fraction(0))
            if within == 0:
                continue
            f = sum((a**2 + b**2 for a, b in values), Fraction(0)) / within
            means = [(a + b) / 2 for a, b in values]
            variances = [sum((each - mean) ** 2 for each in pair) for pair, mean in zip(values, means, strict=True)]
            squares = sum(
                (mean**2 + variance / 2 for mean, variance in zip(means, variances, strict=True)), Fraction(0)
            )
            values_of = {
                "pvalue": upper_f(f, 10, 5),
                "statistic": (f, squares / sum(variances)),
                "estimate": (sum(means, Fraction(0)) / 5, sum((a + b for a, b in values), Fraction(0)) / 10),
            }
            yield Case(difficulty, {"differences": pairs}, values_of)
