"""One-sided p-values of all ordered pairs of models on the same rows."""

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from ._cases import Case, tail_in_balls, upper_tail

SOURCE = (
    "Mogstad, Romano, Shaikh and Wilhelm (2024), section 3, with McNemar's exact test or Gaffke's bound (2005) of each "
    "ordered pair of models."
)
METHODS = (
    "binomial coefficients, or races of exponential variables",
    "gamma functions in balls, or the races in another order",
)


def right_and_wrong(table: list[list[int]], a: int, b: int) -> tuple[Any, Any]:
    """P(as many rows or more that only A got right)."""
    ahead, behind = (sum(row[i] > row[j] for row in table) for i, j in ((a, b), (b, a)))
    n = ahead + behind
    return Fraction(upper_tail(ahead, n), 2**n), tail_in_balls(ahead, n) if ahead else Fraction(1)


def scored(table: list[list[int]], a: int, b: int) -> tuple[Any, Any]:
    """The same where rows have whole scores: the weighted mean difference is at most 0, one unseen row included.

    The row is as bad as the worst, and the weights are exponential variables.
    """
    differences = [row[a] - row[b] for row in table]
    worst = max(map(abs, differences))
    if not worst:
        return Fraction(1), Fraction(1)
    factors = [*differences, -worst]
    return race(factors), race(sorted(factors, key=lambda each: (each % 3, -each)))


def race(factors: list[int]) -> Fraction:
    """P(sum of exponential variables times these factors <= 0).

    The difference of two exponential variables of means p and q is the one with probability p / (p + q), and minus the
    other with q / (p + q), so that of each two of unlike sign one goes.
    """
    gains, losses = [each for each in factors if each > 0], [-each for each in factors if each < 0]
    row = [Fraction(1)] * (len(losses) + 1)  # no gain is left
    for gain in gains:
        found = [Fraction(0)]  # no loss is left
        for loss, without in zip(losses, row[1:], strict=True):
            found.append((gain * found[-1] + loss * without) / (gain + loss))
        row = found
    return row[-1]


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
