"""Nyssen's efficiency test: the number correct, given both margins."""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import comb, factorial, prod

from ._cases import Case
from .clopper_pearson import limits

SOURCE = "Nyssen, equation (4); rook polynomials: Riordan (1958), chapters 7 and 8."
METHODS = ("all tables with the margins, one by one, in whole numbers", "the rook polynomial in whole numbers")


#: Figures of the paper; each agrees with what it prints.
PUBLISHED = {
    "[[9, 7, 3], [15, 17, 13], [3, 7, 28]]": "Nyssen, Figure 1, 102 ulcer patients: prints 5.85e-5",
    "[[3, 2, 1], [5, 6, 4], [1, 2, 9]]": "Nyssen, Figure 1 divided by three: 1.13 percent",
    "[[1, 1, 1], [1, 1, 1], [1, 1, 1]]": "Nyssen, Figure 2, k = 3, n = 1: prints 0.6131",
}


def by_tables(table: list[list[int]]) -> Fraction:
    """The share of arrangements with at least the observed trace, by listing the tables row by row."""
    counts = law_by_tables(*margins(table))
    t = sum(table[i][i] for i in range(len(table)))
    return Fraction(sum(ways for trace, ways in counts.items() if trace >= t), sum(counts.values()))


def margins(table: list[list[int]]) -> tuple[list[int], list[int]]:
    """The totals of the rows and of the columns."""
    return [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]


def law_by_tables(rows: list[int], columns: list[int]) -> dict[int, int]:
    """How many arrangements have each trace, by listing the tables row by row."""
    return _law(tuple(rows), tuple(columns))


@lru_cache(maxsize=1)
def _law(rows: tuple[int, ...], columns: tuple[int, ...]) -> dict[int, int]:
    states: dict[tuple[tuple[int, ...], int], int] = {(tuple(columns), 0): 1}
    for i, total in enumerate(rows):
        grown: dict[tuple[tuple[int, ...], int], int] = {}
        for (left, trace), ways in states.items():
            for cells in compositions(total, left):
                key = tuple(a - b for a, b in zip(left, cells, strict=True)), trace + cells[i]
                grown[key] = grown.get(key, 0) + ways * multinomial(total, cells)
        states = grown
    counts: dict[int, int] = {}
    for (_, trace), ways in states.items():
        counts[trace] = counts.get(trace, 0) + ways
    return counts


def compositions(total: int, most: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All ways to part `total` with at most `most` in each place."""
    if len(most) == 1:
        if total <= most[0]:
            yield (total,)
        return
    for first in range(min(total, most[0]) + 1):
        for rest in compositions(total - first, most[1:]):
            yield (first, *rest)


def multinomial(total: int, cells: tuple[int, ...]) -> int:
    """How many arrangements of `total` objects give these cells."""
    return factorial(total) // prod(factorial(cell) for cell in cells)


def by_rooks(table: list[list[int]]) -> Fraction:
    """The same by the ways to place j matches, with inclusion and exclusion."""
    rows, columns = margins(table)
    rooks = rook_polynomial(rows, columns)
    n, t = sum(rows), sum(table[i][i] for i in range(len(table)))
    if t == 0:
        return Fraction(1)
    total = sum((-1) ** (j - t) * comb(j - 1, t - 1) * rooks[j] * factorial(n - j) for j in range(t, len(rooks)))
    return Fraction(total, factorial(n))


def rook_polynomial(rows: list[int], columns: list[int]) -> list[int]:
    """In how many ways j matches can be placed, from j = 0 on."""
    rooks = [1]
    for r, c in zip(rows, columns, strict=True):
        factor = [comb(r, j) * comb(c, j) * factorial(j) for j in range(min(r, c) + 1)]
        grown = [0] * (len(rooks) + len(factor) - 1)
        for i, x in enumerate(rooks):
            for j, y in enumerate(factor):
                grown[i + j] += x * y
        rooks = grown
    return rooks


def mid_by_tables(table: list[list[int]]) -> Fraction:
    """The p-value with half the share of the observed trace, by listing the tables."""
    counts = law_by_tables(*margins(table))
    t = sum(table[i][i] for i in range(len(table)))
    twice = sum(ways * (1 + (trace > t)) for trace, ways in counts.items() if trace >= t)
    return Fraction(twice, 2 * sum(counts.values()))


def mid_by_rooks(table: list[list[int]]) -> Fraction:
    """The same by the rook polynomial: the chance of t or more, less half that of t."""
    rows, columns = margins(table)
    rooks = rook_polynomial(rows, columns)
    n, t = sum(rows), sum(table[i][i] for i in range(len(table)))
    just = sum((-1) ** (j - t) * comb(j, t) * rooks[j] * factorial(n - j) for j in range(t, len(rooks)))
    return by_rooks(table) - Fraction(just, 2 * factorial(n))


def expected(table: list[list[int]]) -> tuple[Fraction, Fraction]:
    """The share correct at random: from the margins, and as the chance that two objects' classes agree."""
    rows, columns = margins(table)
    n = sum(rows)
    classes = [(i, j) for i, row in enumerate(table) for j, cell in enumerate(row) for _ in range(cell)]
    agree = sum(columns[i] for i, _ in classes)
    return Fraction(sum(map(prod, zip(rows, columns, strict=True))), n * n), Fraction(agree, n * n)


def kappas(table: list[list[int]]) -> tuple[Fraction, Fraction]:
    """Cohen's kappa: from shares correct, and from shares wrong."""
    n, right = sum(map(sum, table)), sum(table[i][i] for i in range(len(table)))
    first, second = expected(table)
    return (Fraction(right, n) - first) / (1 - first), 1 - Fraction(n - right, n) / (1 - second)


def cases() -> Iterator[Case]:
    """Two to six classes, up to far tails and empty margins."""
    tables = {
        "easy": [
            [[8, 2], [1, 9]], [[1, 0], [0, 1]], [[5, 5], [5, 5]], [[0, 3], [4, 0]], [[12, 1], [2, 3]], [[3, 0], [0, 0]],
            [[2, 1, 0], [0, 3, 1], [1, 0, 2]], [[1, 1, 1], [1, 1, 1], [1, 1, 1]], [[4, 0, 0], [0, 4, 0], [0, 0, 4]],
            [[0, 2, 1], [1, 0, 2], [3, 1, 0]],
        ],
        "average": [
            [[30, 12], [9, 41]], [[9, 7, 3], [6, 8, 5], [3, 4, 11]], [[10, 2, 1], [0, 0, 0], [3, 4, 9]],
            [[6, 0, 2], [5, 0, 3], [1, 0, 8]], [[3, 1, 0, 1], [0, 4, 1, 0], [1, 0, 2, 1], [0, 1, 1, 3]],
            [[2, 0, 0, 1], [0, 2, 1, 0], [1, 0, 2, 0], [0, 1, 0, 2]], [[15, 3, 2], [4, 11, 5], [1, 6, 9]],
            [[9, 7, 3], [15, 17, 13], [3, 7, 28]], [[3, 2, 1], [5, 6, 4], [1, 2, 9]],
        ],
        "hard": [
            [[60, 0], [0, 60]], [[400, 3], [2, 395]], [[1000, 0], [0, 1000]], [[14, 0, 0], [0, 13, 0], [0, 0, 15]],
            [[5, 0, 0, 0], [0, 5, 0, 0], [0, 0, 5, 0], [0, 0, 0, 5]], [[100, 1], [199, 2]], [[1, 99], [98, 2]],
            [[2, 0, 0, 0, 0], [0, 2, 0, 0, 0], [0, 0, 2, 0, 0], [0, 0, 0, 2, 0], [0, 0, 0, 0, 2]],
            [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 0],
             [0, 0, 0, 0, 0, 1]],
            [[0, 0, 7], [0, 0, 5], [6, 4, 0]], [[17, 1, 1], [1, 1, 0], [0, 1, 2]], [[300, 299], [298, 300]],
        ],
    }  # fmt: skip
    for difficulty, examples in tables.items():
        for table in examples:
            note = PUBLISHED.get(str(table), "")
            value = by_tables(table), by_rooks(table)
            n, right = sum(map(sum, table)), sum(table[i][i] for i in range(len(table)))
            wrong = sum(cell for i, row in enumerate(table) for j, cell in enumerate(row) if i != j)
            values = {"pvalue": value, "expected": expected(table)}
            values["estimate"] = Fraction(right, n), 1 - Fraction(wrong, n)
            if n <= 60:
                ends = limits(right, n, Fraction(0.95))
                values |= {"confidence_interval[0]": ends["low"], "confidence_interval[1]": ends["high"]}
            if right:
                values["mid_pvalue"] = mid_by_tables(table), mid_by_rooks(table)
            if expected(table)[0] < 1:
                values["kappa"] = kappas(table)
            yield Case(difficulty, {"table": table, "method": "exact"}, values, note)
