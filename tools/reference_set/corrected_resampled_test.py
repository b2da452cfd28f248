"""The corrected resampled t of learning algorithms."""

import random
from collections.abc import Iterator
from fractions import Fraction

from ._cases import ALTERNATIVES, Case
from ._tails import METHODS as METHODS
from ._tails import interval, one_sided, root

SOURCE = "Nadeau and Bengio (2003), section 3.2; the differences are the doubles that are nearest to the decimals."


def cases() -> Iterator[Case]:
    """From two differences to ten times ten folds, from no effect to far tails."""
    draw = random.Random(4)
    settings = {
        "easy": [(5, 4, 1, 0), (10, 9, 1, 1), (2, 1, 1, 0), (3, 2, 1, 5), (10, 90, 10, -2)],
        "average": [(100, 9, 1, 2), (30, 2, 1, -5), (25, 4, 1, 10), (50, 450, 50, 0)],
        "hard": [(100, 9, 1, 120), (2, 999, 1, 3), (101, 1, 7, -40), (40, 10**6, 1, 60)],
    }
    for difficulty, listed in settings.items():
        for count, n_train, n_test, shift in listed:
            differences = [(draw.randint(-20, 20) + shift) / 1000 for _ in range(count)]
            values = [Fraction(each) for each in differences]
            mean = sum(values, Fraction(0)) / count
            variance = sum(((each - mean) ** 2 for each in values), Fraction(0)) / (count - 1)
            # The same without the mean: half the mean square of the differences of all pairs.
            pairs = sum(((x - y) ** 2 for x in values for y in values), Fraction(0)) / (2 * count * (count - 1))
            if pairs != variance:
                raise ValueError(f"variances of {differences} differ")
            square = (Fraction(1, count) + Fraction(n_test, n_train)) * variance
            squared = mean**2 / square
            sign = (mean > 0) - (mean < 0)
            for alternative in ALTERNATIVES:
                given = {
                    "differences": differences, "n_train": n_train, "n_test": n_test, "alternative": alternative,
                }  # fmt: skip
                values_of = {
                    "pvalue": one_sided(squared, sign, count - 1, alternative),
                    "estimate": (mean, sum((each / count for each in values), Fraction(0))),
                    "standard_error": root(square),
                    **interval(mean, square, count - 1, alternative),
                }
                yield Case(difficulty, given, values_of)
