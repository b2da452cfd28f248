"""The odds that a discordant pair favours A: binomial limits as odds."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import flint

from ._cases import Case, ball
from .clopper_pearson import between, bisect, limits, terms_from

SOURCE = (
    "The limits p of a binomial proportion as p / (1 - p): Clopper and Pearson (1934), Fay (2010); mid-p: Fagerland, "
    "Lydersen and Laake (2014)."
)
METHODS = ("bisection of sums of binomial terms in whole numbers", "bisection of incomplete beta functions in balls")
PAIRS = {
    "easy": [(25, 2), (7, 1), (1, 7), (5, 5), (1, 0), (0, 3), (12, 3)],
    "average": [(64, 63), (59, 121), (40, 0)],
    "hard": [(1, 250), (150, 149)],
}


def mid_limits(k: int, n: int, confidence: Fraction) -> dict[str, tuple[Any, Any]]:
    """Both mid-p limits by both methods: the outcome itself counts by half."""
    share = (1 - confidence) / 2

    def in_whole_numbers(p: Fraction, reach: Fraction) -> bool:
        return terms_from(k, n, p) + terms_from(k + 1, n, p) < 2 * reach

    def in_balls(p: Fraction, reach: Fraction) -> bool:
        tails = [flint.arb(1) if i == 0 else flint.arb(0) if i > n else _beta(p, i, n - i + 1) for i in (k, k + 1)]
        return bool(tails[0] + tails[1] < 2 * ball(reach))

    def turn(below: Callable[[Fraction, Fraction], bool], reach: Fraction) -> Any:
        return between(bisect(lambda p: below(p, reach)))

    found: dict[str, tuple[Any, Any]] = {}
    for name, reach, end in (("low", share, 0), ("high", 1 - share, n)):
        known = Fraction(k > 0), Fraction(k > 0)
        found[name] = known if k == end else (turn(in_whole_numbers, reach), turn(in_balls, reach))
    return found


def _beta(p: Fraction, a: int, b: int) -> Any:
    return ball(p).beta_lower(flint.arb(a), flint.arb(b), regularized=1)


def odds(found: tuple[Any, Any]) -> tuple[Any, Any]:
    """Both values of a proportion as odds."""
    first, second = (each / (1 - each) for each in found)
    return first, second


def cases() -> Iterator[Case]:
    """Both methods, at two levels; ends that are infinite are left out."""
    for difficulty, pairs in PAIRS.items():
        for a, b in pairs:
            for method, of in (("exact", limits), ("mid-p", mid_limits)):
                for level in (0.95, 0.8) if difficulty != "hard" else (0.95,):
                    ends = of(a, a + b, Fraction(level))
                    values = {"confidence_interval[0]": odds(ends["low"])}
                    if b:
                        values["estimate"] = Fraction(a, b), Fraction(a, a + b) / (1 - Fraction(a, a + b))
                        values["confidence_interval[1]"] = odds(ends["high"])
                    given = {"only_a": a, "only_b": b, "confidence_level": level, "method": method}
                    yield Case(difficulty, given, values)
