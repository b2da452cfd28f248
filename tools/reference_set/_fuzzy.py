"""What the tests of fuzzy classes share: the readings that are possible to a degree.

Weights are whole numbers, of which the largest of each object counts as 1; degrees are quarters, which doubles hold.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

METHODS = (
    "every reading of every object, one by one",
    "counts grown object by object, and the other way to each p-value",
)
SOURCE = "Filzmoser and Viertl (2004); Denoeux, Masson and Hebert (2005): the fuzzy p-value, cut at degrees."

Weights = list[list[int]]
Degree = Fraction


def degrees(*objects: Weights) -> list[Degree]:
    """From 1 down, those at which readings change."""
    return sorted({Fraction(each, max(row)) for own in objects for row in own for each in row if each}, reverse=True)


def choices(objects: Weights, degree: Degree) -> list[list[int]]:
    """The classes that each object may be read as."""
    return [[j for j, each in enumerate(row) if each and Fraction(each, max(row)) >= degree] for row in objects]


def listed(options: list[list[int]], classes: int) -> set[tuple[int, ...]]:
    """The counts of all readings, one by one."""
    return {tuple(reading.count(j) for j in range(classes)) for reading in product(*options)}


def grown(options: list[list[int]], classes: int) -> set[tuple[int, ...]]:
    """The same, object by object."""
    found = {(0,) * classes}
    for own in options:
        found = {tuple(each + (i == j) for i, each in enumerate(counts)) for counts in found for j in own}
    return found


def extremes(found: Iterable[Any]) -> tuple[Any, Any]:
    """The least and the largest."""
    values = list(found)
    return min(values), max(values)


def ends(
    cuts: list[Degree],
    first: Callable[[Degree], tuple[Any, Any]],
    second: Callable[[Degree], tuple[Any, Any]],
) -> dict[str, tuple[Any, Any]]:
    """Both ends of the p-value at each degree, by both methods."""
    values = {}
    for place, degree in enumerate(cuts):
        for name, one, other in zip(("low", "high"), first(degree), second(degree), strict=True):
            values[f"{name}[{place}]"] = (one, other)
    return values


def drawn(seed: int, n: int, classes: int, unsure: int, lean: int = 0) -> Weights:
    """Objects of one class, of which the first few may be read as another too."""
    draw = random.Random(seed)
    objects = []
    for place in range(n):
        row = [0] * classes
        own = draw.choice([*range(classes), *[lean] * classes])
        row[own] = 4
        if place < unsure:
            row[draw.choice([j for j in range(classes) if j != own])] = draw.randint(1, 4)
        objects.append(row)
    return objects


#: Objects, classes and how many of the objects are of two.
SHAPES = {
    "easy": [
        (3, 2, 1), (4, 2, 2), (6, 2, 1), (5, 3, 1), (6, 3, 2), (8, 2, 3), (4, 2, 0), (6, 2, 6), (5, 3, 3), (7, 2, 2),
    ],
    "average": [
        (12, 2, 4), (15, 2, 3), (10, 3, 3), (12, 3, 4), (9, 3, 5), (20, 2, 5), (8, 4, 2), (14, 2, 8), (11, 3, 2),
        (10, 2, 10),
    ],
    "hard": [
        (40, 2, 3), (30, 2, 9), (12, 3, 7), (14, 3, 1), (9, 4, 4), (60, 2, 2), (16, 2, 10), (10, 3, 8), (25, 2, 6),
        (8, 4, 5),
    ],
}  # fmt: skip


def shapes() -> Iterator[tuple[str, int, int, int]]:
    """Difficulty, objects, classes and how many of the objects are of two."""
    for difficulty, sizes in SHAPES.items():
        for each in sizes:
            yield difficulty, *each
