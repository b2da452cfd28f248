"""What the tests of eight joint counts share (Keller, Mariethoz and Bengio, Table 1), and their two methods.

A misprint of the paper is put right: the mean error of equation (4) is half of the sum of both.
"""

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

METHODS = (
    "equations (4) to (9) in fractions of the eight counts, and the complementary error function in balls",
    "means and squares over the rows' own costs, event by event, and the series of the normal law in balls",
)
#: Whether it is positive, and whether A and B are right, of the events e1 to e8.
EVENTS = (
    (True, True, True), (True, False, True), (True, True, False), (True, False, False),
    (False, False, False), (False, True, False), (False, False, True), (False, True, True),
)  # fmt: skip


class Behind(NamedTuple):
    """How much more B costs than A, and the variance of it."""

    difference: Fraction
    variance: Fraction


def by_counts(e: list[int], weights: tuple[Fraction, Fraction], paired: bool) -> Behind:
    """By the equations. The weights are those of the error rates among positives and among negatives."""
    groups = (
        (weights[0], sum(e[:4]), e[1], e[2], e[3]),  # weight, rows, only B right, only A right, both wrong
        (weights[1], sum(e[4:]), e[6], e[5], e[4]),
    )
    difference = variance = Fraction(0)
    for weight, n, only_b, only_a, both_wrong in groups:
        difference += weight * Fraction(only_a - only_b, n)
        mean = Fraction(only_a + only_b + 2 * both_wrong, 2 * n)
        variance += weight**2 * (Fraction(only_a + only_b, n**2) if paired else 2 * mean * (1 - mean) / n)
    return Behind(difference, variance)


def by_rows(e: list[int], weights: tuple[Fraction, Fraction], paired: bool) -> Behind:
    """By what each kind of row costs A and B: sums of differences and squares, or the variances of all 2 n costs."""
    difference = variance = Fraction(0)
    for positive, weight in zip((True, False), weights, strict=True):
        own = [(count, not a, not b) for count, (kind, a, b) in zip(e, EVENTS, strict=True) if kind == positive]
        n = sum(count for count, _, _ in own)
        cost = weight / n
        difference += sum((count * cost * (b - a) for count, a, b in own), Fraction(0))
        if paired:
            variance += sum((count * (cost * (b - a)) ** 2 for count, a, b in own), Fraction(0))
        else:
            first = sum((count * cost * (a + b) for count, a, b in own), Fraction(0)) / (2 * n)
            second = sum((count * cost**2 * (a + b) for count, a, b in own), Fraction(0)) / (2 * n)
            variance += 2 * n * (second - first**2)
    return Behind(difference, variance)


def both(e: list[int], weights: tuple[Fraction, Fraction], paired: bool) -> Behind:
    """By both methods; ValueError where they differ."""
    found = by_counts(e, weights, paired)
    if found != by_rows(e, weights, paired):
        raise ValueError(f"difference or variance of {e} differ")
    return found


def tables() -> Iterator[tuple[str, list[int]]]:
    """Difficulty and counts: equal ones, no disagreement, one class almost absent, ten million rows, far tails."""
    draw = random.Random(23)
    yield from (
        ("easy", e) for e in ([40, 12, 5, 3, 2, 6, 9, 123], [10, 0, 0, 1, 1, 0, 0, 10], [5, 3, 3, 2, 2, 3, 3, 5])
    )
    for _ in range(4):
        yield "average", [draw.randint(1, 300) for _ in range(8)]
    yield from (
        ("hard", e)
        for e in (
            [1, 0, 0, 0, 1, 3, 90, 4000],
            [0, 1, 0, 0, 0, 0, 400, 0],
            [2_000_000, 30_000, 27_000, 100_000, 800_000, 20_000, 20_300, 7_002_700],
            [3000, 900, 20, 10, 10, 15, 800, 3000],
            [9000, 1, 0, 0, 0, 0, 1, 9_990_998],
        )
    )
