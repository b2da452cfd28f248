"""The law of the number correct, given both margins."""

import random
from collections.abc import Iterator
from fractions import Fraction
from math import comb, factorial

from ._cases import Case
from .efficiency_test import METHODS as METHODS
from .efficiency_test import law_by_tables, rook_polynomial

SOURCE = "Riordan (1958), chapters 7 and 8: matches of two decks of cards, of which each value has its number of cards."


def point(rows: list[int], columns: list[int], t: int) -> Fraction:
    """P(T = t) by the ways to place j matches, with inclusion and exclusion."""
    rooks, n = rook_polynomial(rows, columns), sum(rows)
    total = sum((-1) ** (j - t) * comb(j, t) * rooks[j] * factorial(n - j) for j in range(t, len(rooks)))
    return Fraction(total, factorial(n))


def cases() -> Iterator[Case]:
    """Two to four classes; empty ones, one that holds nearly all, two that never meet."""
    draw = random.Random(17)
    listed: dict[str, list[tuple[list[int], list[int]]]] = {
        "easy": [
            ([1, 1], [1, 1]), ([2, 1], [1, 2]), ([3, 3], [3, 3]), ([1, 1, 1], [1, 1, 1]), ([2, 2, 2], [2, 2, 2]),
            ([4], [4]), ([5, 2], [1, 6]), ([3, 2, 1], [1, 2, 3]), ([1, 1, 1, 1], [1, 1, 1, 1]), ([6, 4], [5, 5]),
        ],
        "average": [],
        "hard": [
            ([5, 0], [0, 5]), ([0, 3, 4], [7, 0, 0]), ([40, 1], [1, 40]), ([30, 30], [30, 30]), ([8, 1, 1], [8, 1, 1]),
            ([9, 9, 9], [9, 9, 9]), ([200, 3], [199, 4]), ([6, 6, 6, 2], [5, 5, 5, 5]), ([10, 0, 10], [0, 10, 10]),
            ([12, 1, 1, 1], [1, 12, 1, 1]),
        ],
    }  # fmt: skip
    for k, n in [(2, 25), (2, 40), (3, 12), (3, 18), (3, 22), (3, 25), (4, 9), (4, 12), (4, 14), (4, 16)]:
        rows, columns = ([draw.randrange(k) for _ in range(n)] for _ in range(2))
        listed["average"].append(([rows.count(j) for j in range(k)], [columns.count(j) for j in range(k)]))
    for difficulty, margins in listed.items():
        for row_totals, column_totals in margins:
            law = law_by_tables(row_totals, column_totals)
            total = sum(law.values())
            values = {
                f"pmf[{t - min(law)}]": (Fraction(law[t], total), point(row_totals, column_totals, t))
                for t in sorted(law)
            }
            given = {"row_totals": row_totals, "column_totals": column_totals}
            yield Case(difficulty, given, values)
