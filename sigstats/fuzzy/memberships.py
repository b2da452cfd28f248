"""Objects with degrees of membership in classes, and the counts that crisp readings of them give.

A crisp reading gives every object one class. At a degree d it may take any class whose membership is d or more: the
readings at a degree are those whose possibility, the least membership that they use, is d or more (Zadeh's extension
principle with the minimum).
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._common.validation import FloatArray, as_reals, refuse

Counts: TypeAlias = tuple[int, ...]
#: Which classes an object may take, as positions.
Choice: TypeAlias = tuple[int, ...]

#: With more degrees than this, each is raised to the next hundredth.
_MOST_DEGREES = 200


class TooManyTables(Exception):
    """Crisp readings give more different tables than are to be listed."""


def as_memberships(value: Any, name: str, *, n_classes: int | None = None) -> FloatArray:
    """Weights over classes, a row for each object, as degrees of which the largest of a row is 1; or ValueError."""
    weights = as_reals(value, name, ndim=2)
    if weights.shape[1] < 2:
        raise refuse(f"{name} (classes)", weights.shape[1], "two or more")
    if n_classes is not None and weights.shape[1] != n_classes:
        raise refuse(f"{name} (classes)", weights.shape[1], str(n_classes))
    if (weights < 0).any():
        raise refuse(name, weights[weights < 0][0], "weights of at least 0")
    largest = weights.max(axis=1, keepdims=True)
    if (largest <= 0).any():
        raise refuse(f"{name} (object {int((largest <= 0).argmax())})", 0, "a class with a weight above 0")
    return np.asarray(weights / largest)


class Graded(NamedTuple):
    """Memberships, their degrees from 1 down, and whether these are as given or raised to hundredths."""

    memberships: tuple[FloatArray, ...]
    degrees: tuple[float, ...]
    exact: bool


def graded(*memberships: FloatArray) -> Graded:
    """The degrees at which readings change; with more than 200, memberships raised to the next hundredth.

    A raised membership makes readings more possible: bounds stay bounds, no possibility is too small and no necessity
    too large.
    """
    degrees = np.unique(np.concatenate([each[each > 0] for each in memberships]))
    exact = len(degrees) <= _MOST_DEGREES
    if not exact:
        memberships = tuple(np.ceil(100 * each) / 100 for each in memberships)
        degrees = np.unique(np.concatenate([each[each > 0] for each in memberships]))
    return Graded(memberships, tuple(degrees[::-1].tolist()), exact)


def choices(membership: FloatArray, degree: float) -> list[Choice]:
    """The classes that each object may take at a degree."""
    return [tuple(np.flatnonzero(row >= degree).tolist()) for row in membership]


def reachable(steps: Iterable[Sequence[Counts]], size: int, most: int) -> set[Counts]:
    """All sums of one step of each object; TooManyTables if they are more than `most`.

    >>> sorted(reachable([[(1, 0)], [(1, 0), (0, 1)]], 2, 10))
    [(1, 1), (2, 0)]
    """
    sums: set[Counts] = {(0,) * size}
    for own in steps:
        sums = {tuple(map(int.__add__, before, step)) for before in sums for step in own}
        if len(sums) > most:
            raise TooManyTables
    return sums


def class_counts(objects: Sequence[Choice], n_classes: int, most: int) -> set[Counts]:
    """The class counts that readings give."""
    unit = [tuple(int(i == j) for j in range(n_classes)) for i in range(n_classes)]
    return reachable(([unit[j] for j in own] for own in objects), n_classes, most)


def limits(objects: Sequence[Choice], n_classes: int) -> tuple[FloatArray, FloatArray]:
    """The least and the largest count of each class."""
    low, high = np.zeros(n_classes), np.zeros(n_classes)
    for own in objects:
        high[list(own)] += 1
        if len(own) == 1:
            low[own[0]] += 1
    return low, high
