"""One-sided p-values of all ordered pairs of models on the same rows."""

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ._cases import Case, law_of_sums, tail_in_balls, tail_of_law, upper_tail

SOURCE = (
    "Mogstad, Romano, Shaikh and Wilhelm (2024), section 3, with McNemar's exact test of each ordered pair of models."
)
METHODS = ("binomial coefficients, or all signs by polynomials", "gamma functions in balls, or another polynomial")


def right_and_wrong(table: list[list[int]], a: int, b: int) -> tuple[Any, Any]:
    """P(as many rows or more that only A got right)."""
    ahead, behind = (sum(row[i] > row[j] for row in table) for i, j in ((a, b), (b, a)))
    n = ahead + behind
    return Fraction(upper_tail(ahead, n), 2**n), tail_in_balls(ahead, n) if ahead else Fraction(1)


def scored(table: list[list[int]], a: int, b: int) -> tuple[Any, Any]:
    """The same where rows have whole scores: changes of sign of their differences."""
    differences = [row[a] - row[b] for row in table if row[a] != row[b]]
    sizes, ahead = [abs(each) for each in differences], sum(each for each in differences if each > 0)
    first = tail_of_law(law_of_sums(sizes), ahead, sum(sizes), "greater")
    law = [1]  # of the sum of all differences with their signs, from the least on
    for size in sizes:
        grown = [0] * (len(law) + 2 * size)
        for place, count in enumerate(law):
            grown[place] += count
            grown[place + 2 * size] += count
        law = grown
    least = sum(sizes) + sum(differences)
    return first, Fraction(sum(law[least:]), 2 ** len(sizes))


def drawn(seed: int, n: int, shares: list[float]) -> list[list[int]]:
    """Rows that each model gets right with its probability."""
    draw = random.Random(seed)
    return [[int(draw.random() < share) for share in shares] for _ in range(n)]


def marked(seed: int, n: int, k: int, most: int) -> list[list[int]]:
    """Rows with whole marks, the later models' a little higher."""
    draw = random.Random(seed)
    return [[draw.randint(0, most) + j * (draw.random() < 0.4) for j in range(k)] for _ in range(n)]


def cases() -> Iterator[Case]:
    """Two to five models, few rows and some hundred, right and wrong or with marks."""
    sets: dict[str, list[list[list[int]]]] = {
        "easy": [
            [[1, 0]], [[1, 1], [0, 0]], [[1, 0], [0, 1]], [[1, 0], [1, 0], [1, 1]], drawn(1, 8, [0.9, 0.3]),
            drawn(2, 10, [0.7, 0.6, 0.5]), drawn(3, 12, [0.5, 0.5, 0.5]), marked(1, 6, 2, 3), marked(2, 8, 3, 4),
            [[3, 1], [2, 2], [0, 4]],
        ],
        "average": [
            drawn(4, 40, [0.9, 0.8]), drawn(5, 40, [0.9, 0.7, 0.6]), drawn(6, 50, [0.6, 0.5, 0.4, 0.3]),
            drawn(7, 60, [0.95, 0.95, 0.2]), drawn(8, 30, [0.5, 0.6, 0.7, 0.8, 0.9]), marked(3, 20, 3, 9),
            marked(4, 25, 2, 100), marked(5, 30, 4, 5), drawn(9, 45, [0.99, 0.9]), drawn(10, 55, [0.4, 0.4]),
        ],
        "hard": [
            drawn(11, 200, [0.99, 0.01]), drawn(12, 300, [0.9, 0.5]), drawn(13, 150, [1.0, 0.0]), [[1, 1]] * 20,
            [[0, 1]] * 120, drawn(14, 200, [0.8, 0.8, 0.8]), marked(6, 60, 2, 40), marked(7, 40, 3, 1000),
            [[10**3 + i, 0] for i in range(12)], [[i, i + 1] for i in range(100)],
        ],
    }  # fmt: skip
    for difficulty, tables in sets.items():
        for table in tables:
            k = len(table[0])
            of = right_and_wrong if max(map(max, table)) <= 1 else scored
            values = {f"pvalues[{a}][{b}]": of(table, a, b) for a in range(k) for b in range(k) if a != b}
            yield Case(difficulty, {"correct": table}, values)
