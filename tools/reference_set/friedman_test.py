"""Friedman's test: the law of permuted ranks, F and chi-square."""

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product

from ._cases import Case
from ._tails import upper_chi2, upper_f

SOURCE = "Friedman (1937), corrected for ties; Iman and Davenport (1980), equation 3; permutations within data sets."
METHODS = ("every permutation of every data set; incomplete functions in balls", "laws of rank sums added; finite sums")
#: The most outcomes that are listed one by one.
_LISTED = 300_000


def doubled_ranks(row: tuple[int, ...]) -> tuple[int, ...]:
    """Twice the ranks, 2 for the best, ties sharing theirs."""
    return tuple(2 * sum(x > each for x in row) + row.count(each) + 1 for each in row)


def spread(sums: tuple[int, ...]) -> int:
    """What grows with Friedman's statistic while the ranks of each data set stay."""
    return sum(each * each for each in sums)


def exact(rows: list[tuple[int, ...]]) -> tuple[Fraction, Fraction]:
    """The share of permutations with rank sums as far apart as those observed."""
    observed = spread(tuple(map(sum, zip(*rows, strict=True))))
    orders = [list(permutations(row)) for row in rows]
    extreme = total = 0
    for outcome in product(*orders[1:]):  # the first data set stays: all models can be exchanged at once
        total += 1
        extreme += spread(tuple(map(sum, zip(rows[0], *outcome, strict=True)))) >= observed
    law = Counter({(0,) * len(rows[0]): 1})
    for arranged in orders:
        grown: Counter[tuple[int, ...]] = Counter()
        for arrangement, times in Counter(arranged).items():
            for sums, count in law.items():
                grown[tuple(a + b for a, b in zip(sums, arrangement, strict=True))] += count * times
        law = grown
    far = sum(count for sums, count in law.items() if spread(sums) >= observed)
    return Fraction(extreme, total), Fraction(far, sum(law.values()))


def statistics(rows: list[tuple[int, ...]]) -> tuple[Fraction, Fraction | None]:
    """Chi-square and F; no F where all data sets rank alike."""
    n, k = len(rows), len(rows[0])
    means = [Fraction(sum(column), 2 * n) for column in zip(*rows, strict=True)]
    between = sum((mean - Fraction(k + 1, 2)) ** 2 for mean in means)
    within = sum((Fraction(each, 2) - Fraction(k + 1, 2)) ** 2 for row in rows for each in row)
    if within == 0:
        return Fraction(0), Fraction(0)
    chi2 = n * n * (k - 1) * between / within
    rest = n * (k - 1) - chi2
    return chi2, None if rest == 0 else (n - 1) * chi2 / rest


def cases() -> Iterator[Case]:
    """Few and many data sets, with ties and without."""
    draw = random.Random(3)

    def scores(n: int, k: int, most: int, lead: int = 0) -> list[list[int]]:
        return [[draw.randint(0, most) + lead * (column == 0) for column in range(k)] for _ in range(n)]

    shapes = {
        "easy": [(2, 3, 9, 0), (3, 3, 9, 0), (4, 3, 2, 0), (5, 3, 9, 5), (2, 4, 9, 0), (3, 4, 3, 0), (2, 3, 0, 0)],
        "average": [(6, 3, 4, 1), (7, 3, 9, 4), (4, 4, 9, 3), (3, 5, 9, 0), (30, 5, 9, 2), (14, 4, 99, 10)],
        "hard": [(8, 3, 2, 0), (5, 4, 1, 1), (4, 4, 1, 0), (200, 5, 99, 60), (60, 7, 3, 2), (300, 3, 99, 80)],
    }
    for difficulty, listed in shapes.items():
        for n, k, most, lead in listed:
            table = scores(n, k, most, lead)
            rows = [doubled_ranks(tuple(row)) for row in table]
            chi2, f = statistics(rows)
            if len(list(permutations(range(k)))) ** (n - 1) <= _LISTED:
                yield Case(difficulty, {"scores": table, "method": "exact"}, {"pvalue": exact(rows)})
            values = {"pvalue": upper_chi2(chi2, k - 1)}
            yield Case(difficulty, {"scores": table, "method": "chi2"}, values)
            if f is not None and (k - 1) * (n - 1) % 2 == 0:
                values = {"pvalue": upper_f(f, k - 1, (k - 1) * (n - 1))}
                yield Case(difficulty, {"scores": table, "method": "f"}, values)
