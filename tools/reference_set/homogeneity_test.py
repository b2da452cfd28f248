"""The test of Fisher, Freeman and Halton for two samples."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import comb, factorial, prod

from ._cases import Case
from ._tails import upper_chi2

SOURCE = "Freeman and Halton (1951): all tables with the margins that are no likelier than the observed one."
METHODS = (
    "all tables, one by one, by products of binomial coefficients",
    "tables merged class by class, by factorials",
)


def one_by_one(a: list[int], b: list[int]) -> Fraction:
    """The share of the weight of tables that is at most the observed one."""
    totals = [x + y for x, y in zip(a, b, strict=True)]
    observed, below, every = prod(map(comb, totals, a)), 0, 0
    for cells in product(*(range(t + 1) for t in totals)):
        if sum(cells) == sum(a):
            weight = prod(map(comb, totals, cells))
            every += weight
            below += weight if weight <= observed else 0
    return Fraction(below, every)


def merged(a: list[int], b: list[int]) -> Fraction:
    """The same, by probabilities of the multivariate hypergeometric law that are merged where they are equal."""
    totals = [x + y for x, y in zip(a, b, strict=True)]
    size, left = sum(a), sum(b)
    states: dict[int, dict[Fraction, int]] = {0: {Fraction(1): 1}}
    for t in totals:
        grown: dict[int, dict[Fraction, int]] = {}
        for drawn, laws in states.items():
            for x in range(max(0, drawn + t - size - left), min(t, size - drawn) + 1):
                factor = Fraction(1, factorial(x) * factorial(t - x))
                place = grown.setdefault(drawn + x, {})
                for value, count in laws.items():
                    place[value * factor] = place.get(value * factor, 0) + count
        states = grown
    law = states[size]
    observed = Fraction(1, prod(factorial(x) * factorial(y) for x, y in zip(a, b, strict=True)))
    every = sum(value * count for value, count in law.items())
    return sum((value * count for value, count in law.items() if value <= observed), Fraction(0)) / every


def published() -> Iterator[Case]:
    """Tables 9 and 11 of Hryniewicz, by Pearson's chi-square."""
    for a, b, note in (
        ([55, 48, 112, 90, 141], [46, 55, 86, 84, 175], "Table 9, which prints 0.079, a misprint of 0.0732"),
        ([15, 30, 50, 5], [20, 30, 45, 5], "Table 11, which prints 0.807"),
    ):
        n, m = sum(a), sum(b)
        statistic = Fraction(0)
        for x, y in zip(a, b, strict=True):
            for cell, size in ((x, n), (y, m)):
                expected = Fraction(size * (x + y), n + m)
                statistic += (cell - expected) ** 2 / expected
        given = {"counts_a": a, "counts_b": b, "method": "chi2"}
        yield Case("average", given, {"pvalue": upper_chi2(statistic, len(a) - 1)}, f"Hryniewicz, {note}")


def cases() -> Iterator[Case]:
    """Two to six classes; ties, empty classes, far tails."""
    samples = {
        "easy": [
            ([3, 1], [1, 3]), ([8, 2], [1, 5]), ([5, 0], [0, 5]), ([1, 1], [1, 1]), ([0, 7], [6, 1]), ([10, 3], [4, 9]),
            ([2, 3, 1], [4, 0, 2]), ([1, 2, 3], [3, 2, 1]), ([4, 0, 0], [0, 4, 4]), ([0, 0, 5], [3, 3, 0]),
            ([6, 2, 2], [1, 5, 4]), ([2, 2, 2, 2], [1, 3, 0, 4]),
        ],
        "average": [
            ([20, 15], [11, 24]), ([9, 7, 3], [3, 9, 8]), ([12, 0, 5], [3, 8, 5]), ([5, 4, 3, 2], [2, 3, 4, 5]),
            ([10, 1, 1, 0], [2, 3, 4, 6]), ([3, 3, 3, 3], [3, 3, 3, 3]), ([0, 5, 5, 1], [6, 0, 1, 4]),
            ([7, 2, 1, 1, 0], [1, 2, 3, 2, 4]), ([40, 2], [25, 17]), ([13, 8, 2], [6, 9, 11]),
        ],
        "hard": [
            ([150, 0], [0, 150]), ([130, 30], [30, 130]), ([60, 0, 1], [0, 55, 3]), ([30, 0, 0], [0, 25, 25]),
            ([12, 0, 0, 0], [0, 5, 6, 7]), ([1, 1, 1, 1, 1, 1], [2, 1, 0, 1, 3, 1]), ([120, 110], [115, 130]),
            ([25, 24, 1], [24, 25, 2]), ([9, 0, 9, 0], [0, 9, 0, 9]), ([2, 3, 1, 0, 5], [4, 1, 1, 6, 0]),
        ],
    }  # fmt: skip
    for difficulty, pairs in samples.items():
        for a, b in pairs:
            given = {"counts_a": a, "counts_b": b, "method": "exact"}
            yield Case(difficulty, given, {"pvalue": (one_by_one(a, b), merged(a, b))})
    yield from published()
