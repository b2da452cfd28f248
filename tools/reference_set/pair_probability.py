"""The posterior probability that A is better than B."""

from collections.abc import Iterator
from fractions import Fraction

from ._cases import Case, tail_in_balls, upper_tail

SOURCE = "A beta prior of the share of discordant rows that A gets right; the posterior beyond 1/2."
METHODS = ("a binomial tail in whole numbers (whole priors)", "gamma functions and ratios of terms in balls")


def cases() -> Iterator[Case]:
    """With whole parameters I_{1/2}(x, y) is P(X >= x) for X binomial (x + y - 1, 1/2)."""
    pairs = {
        "easy": [(0, 0), (1, 0), (0, 1), (7, 1), (1, 7), (5, 5), (20, 11), (3, 2)],
        "average": [(121, 59), (59, 121), (300, 280), (64, 63)],
        "hard": [(0, 1000), (1000, 0), (3000, 1000), (20000, 19000), (1, 5000)],
    }
    for difficulty, counts in pairs.items():
        for a, b in counts:
            for prior in (1, 2):
                x, y = b + prior, a + prior
                n = x + y - 1
                first = Fraction(upper_tail(x, n), 2**n)
                yield Case(
                    difficulty, {"only_a": a, "only_b": b, "prior": prior}, {"value": (first, tail_in_balls(x, n))}
                )
