"""The sign-flip test of repeated answers and groups."""

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import flint

from ._cases import ALTERNATIVES, Case, ball, law_of_sums, sums_one_by_one, tail_in_balls, tail_of_law
from ._tails import normal, root

SOURCE = (
    "Fisher (1935), section 21: all changes of sign of the differences. Not symmetric: the larger of this p and that "
    "of the score test, whose variance is that of the likeliest law of mean 0 (Owen 1988). Intervals: Gaffke (2005)."
)
METHODS = (
    "signs one by one, or binomial tails in balls; likeliest laws by bisection in fractions; intervals by races",
    "polynomials in whole numbers; likeliest laws by certified roots of polynomials; intervals by partial fractions",
)
_STEPS = 220


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


def variance_by_bisection(differences: list[int], reach: Fraction) -> Any:
    """The variance of the likeliest law of mean 0 in which unseen differences may be this large."""
    n, top, bottom = len(differences), max(reach, *differences), min(-reach, *differences)

    def balance(t: Fraction) -> Fraction:
        return sum((r / (1 + t * r) for r in differences), Fraction(0))

    def around(t: Fraction, unseen: Fraction) -> Fraction:
        shares = [1 / (n * (1 + t * r)) for r in differences]
        known = sum((share * r * r for share, r in zip(shares, differences, strict=True)), Fraction(0))
        return known + (1 - sum(shares)) * unseen**2

    low, high = -1 / Fraction(top), -1 / Fraction(bottom)
    if top not in differences and balance(low) <= 0:
        return around(low, Fraction(top))
    if bottom not in differences and balance(high) >= 0:
        return around(high, Fraction(bottom))
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if balance(middle) > 0 else (low, middle)
    half = (high - low) / 2
    t = ball(low + half) + flint.arb(0, ball(half).abs_upper())
    return sum((r * r / (n * (1 + t * r)) for r in differences), flint.arb(0))


def variance_by_roots(differences: list[int], reach: Fraction) -> Any:
    """The same: the mean over the multiplier t, and t is the root of the balance, a polynomial in whole numbers."""
    mean = Fraction(sum(differences), len(differences))
    top, bottom = Fraction(max(reach, *differences)), Fraction(min(-reach, *differences))
    values = sorted(set(differences) - {0})
    balance = flint.fmpz_poly([])
    for value in values:
        term = flint.fmpz_poly([value * differences.count(value)])
        for other in values:
            if other != value:
                term *= flint.fmpz_poly([1, other])
        balance += term
    roots = [root.real for root, _ in balance.complex_roots() if root.imag.contains(0)]
    inside = [root for root in roots if ball(-1 / top) < root and root < ball(-1 / bottom)]
    if not inside:  # an unseen difference takes what is missing
        return -mean * (top if mean < 0 else bottom)
    (root,) = inside
    return ball(mean) / root


def score(differences: list[int], reach: Fraction, alternative: str) -> tuple[Any, Any]:
    """The p-value of the score test by both methods."""
    total, n = sum(differences), len(differences)
    if total == 0:
        return Fraction(1), Fraction(1)
    variances = variance_by_bisection(differences, reach), variance_by_roots(differences, reach)
    first, second = (normal(Fraction(total), each * n, alternative)[place] for place, each in enumerate(variances))
    return first, second


def larger(first: Any, second: Any) -> Any:
    """The larger of two values that are not too near."""
    one, other = (each if isinstance(each, flint.arb) else ball(each) for each in (first, second))
    if not (one > other or other > one) and first != second:
        raise ValueError(f"{first} and {second} cannot be distinguished")
    return first if one > other else second


def not_symmetric() -> Iterator[Case]:
    """Items that differ in size: unseen differences possible or not, all on one side, one item alone."""
    draw = random.Random(12)
    examples: dict[str, list[tuple[list[int], list[int] | None, int | None]]] = {
        "easy": [([3, -1, 2, 0, -2, 4], None, None), ([1, 1, -1], None, None), ([2, 1, 3, 1], None, 4)],
        "average": [
            ([draw.randint(-4, 6) for _ in range(12)], [8] * 12, 1),
            ([draw.randint(-9, 10) for _ in range(15)], None, 12),
            ([draw.randint(-2, 3) for _ in range(14)], [draw.choice((3, 5)) for _ in range(14)], 1),
        ],
        "hard": [
            ([5] * 12, None, 5), ([7, -7] * 3 + [1], None, None), ([100, -1, 1, -1, 1, 1, 2], None, 100),
            ([1] * 15 + [-8], [8] * 16, 1), ([0] * 10 + [-1, -2], [8] * 12, 1),
        ],
    }  # fmt: skip
    for difficulty, lists in examples.items():
        for differences, sizes, limit in lists:
            n = len(differences)
            rows = sizes or [1] * n
            seen = max(Fraction(abs(each), size) for each, size in zip(differences, rows, strict=True))
            reach = Fraction(sum(rows), n) * (seen if limit is None else limit)
            for alternative in ALTERNATIVES:
                values = zip(both(differences, alternative), score(differences, reach, alternative), strict=True)
                first, second = (larger(*each) for each in values)
                given: dict[str, Any] = {"differences": differences, "symmetric": False, "alternative": alternative}
                if sizes:
                    given["sizes"] = sizes
                if limit is not None:
                    given["limit"] = limit
                yield Case(difficulty, given, {"pvalue": (first, second)})


def by_races(factors: list[Fraction]) -> Fraction:
    """P(sum of factors times exponential variables <= 0): which of two opposite ones ends first, again and again."""
    above, below = ([each for each in factors if (each > 0) == up and each] for up in (True, False))
    row = [Fraction(0)] + [Fraction(1)] * len(below)  # with nothing above and some below it is certain
    for up in above:
        grown = [Fraction(0)]
        for j, down in enumerate(below, 1):
            grown.append((-down * row[j] + up * grown[j - 1]) / (up - down))
        row = grown
    return row[-1]


def by_parts(factors: list[Fraction]) -> Fraction:
    """The same of factors that all differ, by partial fractions of the transform."""
    total = Fraction(1)
    for each in factors:
        if each > 0:
            product = Fraction(1)
            for other in factors:
                if other != each:
                    product *= each / (each - other)
            total -= product
    return total


def lower_end(values: list[Fraction], least: Fraction, share: Fraction) -> tuple[Any, Any]:
    """Where weights of a flat Dirichlet law, with one more value at the least, give the mean this share below it."""
    found = []
    for below in (by_races, by_parts):
        low, high = least, max(values)
        for _ in range(_STEPS):
            at = (low + high) / 2
            low, high = (at, high) if below([each - at for each in [*values, least]]) < share else (low, at)
        found.append(ball((low + high) / 2) + flint.arb(0, ball((high - low) / 2).abs_upper()))
    return found[0], found[1]


def intervals() -> Iterator[Case]:
    """Estimates, standard errors and intervals of differences that all differ."""
    examples: dict[str, list[tuple[list[int], int]]] = {
        "easy": [([3, -1, 2], 4), ([1], 2), ([5, -3, 2, 4], 5), ([-1, -2, -4, 3, 6], 7)],
        "average": [([8, -5, 1, 6, 3, -2, 7, 4, 2], 10), ([*range(-3, 9)], 8)],
        "hard": [([100, -1, 2, -3, 4, 5, 1], 101), ([1, 10, 100, 1000, -7], 1000)],
    }
    for difficulty, lists in examples.items():
        for differences, limit in lists:
            n = len(differences)
            values, mean = [Fraction(each) for each in differences], Fraction(sum(differences), n)
            for alternative in ALTERNATIVES:
                share = (1 - Fraction(0.95)) / (2 if alternative == "two-sided" else 1)
                found: dict[str, tuple[Any, Any]] = {"pvalue": both(differences, alternative)}
                found["estimate"] = mean, sum((each / n for each in values), Fraction(0))
                if n > 1:
                    square = sum((each * each for each in values), Fraction(0)) - n * mean * mean
                    found["standard_error"] = root(square / (n * (n - 1)))
                if alternative != "less":
                    found["confidence_interval[0]"] = lower_end(values, Fraction(-limit), share)
                if alternative != "greater":
                    first, second = lower_end([-each for each in values], Fraction(-limit), share)
                    found["confidence_interval[1]"] = -first, -second
                given = {"differences": differences, "limit": limit, "alternative": alternative}
                yield Case(difficulty, given, found)


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
    yield from not_symmetric()
    yield from intervals()
