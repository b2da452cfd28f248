"""The proportion test of two error rates."""

from collections.abc import Iterator
from fractions import Fraction

from ._cases import ALTERNATIVES, Case
from ._joint import METHODS as METHODS
from ._joint import both, tables
from ._tails import of_normal

SOURCE = "Keller, Mariethoz and Bengio (2005), equations (3) to (6), with the mean error of equation (4) put right."


def cases() -> Iterator[Case]:
    """Both variances, every alternative."""
    for difficulty, e in tables():
        # One group of rows, whose weight is 1: what is positive does not count.
        merged = [e[0] + e[7], e[1] + e[6], e[2] + e[5], e[3] + e[4], 0, 0, 0, 1]
        for paired in (True, False):
            difference, variance = both(merged, (Fraction(1), Fraction(0)), paired)
            for alternative in ALTERNATIVES if difficulty != "hard" else ("two-sided", "greater"):
                outcomes = {f"e{place}": each for place, each in enumerate(e, 1)}
                given = {"outcomes": outcomes, "paired": paired, "alternative": alternative}
                yield Case(difficulty, given, of_normal(-difference, variance, alternative))
