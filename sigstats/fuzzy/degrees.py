"""Objects with degrees of membership in classes, their crisp readings, and the result: bounds of p at each degree.

A crisp reading gives every object one class. At a degree d it may take any class whose membership is d or more: the
readings at a degree are those whose possibility, the least membership that they use, is d or more (Zadeh's extension
principle with the minimum).

`as_memberships` and `as_graded` prepare the data, `choices` are the classes that objects may take at a degree (an
alpha-cut), and `by_degree` makes the result from the ends of the p-value at each degree.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._common.numerals import p_number
from .._common.tabular import Table, Tabular, in_words, shown_record
from .._common.validation import FloatArray, as_real, as_reals, refuse, refuse_where
from ..intervals import Interval

Counts: TypeAlias = tuple[int, ...]
#: The classes that an object may take, as positions.
Choice: TypeAlias = tuple[int, ...]
#: With more degrees than this, each is raised to the next hundredth.
_MOST_DEGREES = 200


class TooManyTables(Exception):
    """Crisp readings give more different tables than the limit."""


def as_memberships(value: Any, name: str, *, n_classes: int | None = None) -> FloatArray:
    """Return weights over classes, one row per object, scaled to degrees with a row maximum of 1."""
    weights = as_reals(value, name, ndim=2)
    if weights.shape[1] < 2:
        raise refuse(name, weights.shape[1], "two or more", quantity="number of classes")
    if n_classes is not None and weights.shape[1] != n_classes:
        raise refuse(name, weights.shape[1], str(n_classes), quantity="number of classes")
    refuse_where(weights < 0, weights, name, "weights of at least 0")
    largest = weights.max(axis=1, keepdims=True)
    if (largest <= 0).any():
        raise refuse(f"{name} (object {int((largest <= 0).argmax())})", 0, "a class with a weight above 0")
    return np.asarray(weights / largest)


class Graded(NamedTuple):
    """Memberships, their degrees from 1 down, and whether these are as given or raised to hundredths."""

    memberships: tuple[FloatArray, ...]
    degrees: tuple[float, ...]
    exact: bool


def as_graded(*memberships: FloatArray) -> Graded:
    """Return the degrees at which readings change; with more than 200, memberships raised to the next hundredth.

    A raised membership makes readings more possible: bounds stay bounds, no possibility is too small and no necessity
    too large.
    """
    degrees = np.unique(np.concatenate([membership[membership > 0] for membership in memberships]))
    exact = len(degrees) <= _MOST_DEGREES
    if not exact:
        memberships = tuple(np.ceil(100 * membership) / 100 for membership in memberships)
        degrees = np.unique(np.concatenate([membership[membership > 0] for membership in memberships]))
    return Graded(memberships, tuple(degrees[::-1].tolist()), exact)


def choices(membership: FloatArray, degree: float) -> list[Choice]:
    """Return the classes that each object may take at a degree."""
    return [tuple(np.flatnonzero(row >= degree).tolist()) for row in membership]


def reachable(*samples: Iterable[Sequence[Counts]], size: int, most: int) -> list[set[Counts]]:
    """Return, for each sample, all sums of one step per object; raise TooManyTables above `most` combinations."""
    sums: list[set[Counts]] = [{(0,) * size} for _ in samples]
    for options_of_samples in zip_longest(*samples):  # no object reduces the number of sums, so too many end this early
        for sample, options in enumerate(options_of_samples):
            if options is not None:
                sums[sample] = {tuple(map(int.__add__, before, step)) for before in sums[sample] for step in options}
        if math.prod(map(len, sums)) > most:
            raise TooManyTables
    return sums


def class_counts(*samples: Sequence[Choice], n_classes: int, most: int) -> list[set[Counts]]:
    """Return the class counts that readings of each sample give."""
    unit = [tuple(int(i == j) for j in range(n_classes)) for i in range(n_classes)]
    steps = ([[unit[j] for j in choice] for choice in sample] for sample in samples)
    return reachable(*steps, size=n_classes, most=most)


def limits(objects: Sequence[Choice], n_classes: int) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest count of each class."""
    low, high = np.zeros(n_classes), np.zeros(n_classes)
    for choice in objects:
        high[list(choice)] += 1
        if len(choice) == 1:
            low[choice[0]] += 1
    return low, high


class FuzzyDecision(NamedTuple):
    """The possibility and the necessity that the null hypothesis is rejected: 0 to 1 each."""

    possibility: float
    necessity: float


@dataclass(frozen=True, kw_only=True, repr=False)
class FuzzyTestResult(Tabular):
    """The result of a test of fuzzy classes: the possibility distribution of the p-value, cut at degrees.

    Attributes
    ----------
    degrees : tuple of float
        The degrees, from 1 down to the smallest degree of a reading. Of more than 200 each is raised to the next
        hundredth: bounds are then those of more readings, possibilities may be too large by .01 and necessities too
        small.
    low, high : tuple of float
        The smallest and the largest p-value of the readings with at least each degree of possibility; the intervals
        widen as the degree decreases.
    attained : tuple of bool
        Whether both ends are p-values of readings; otherwise they are certified bounds.
    method : str
    """

    degrees: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    attained: tuple[bool, ...]
    method: str

    __repr__ = shown_record

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "degree": list(self.degrees),
            "pvalue_low": list(self.low),
            "pvalue_high": list(self.high),
            "attained": list(self.attained),
        }

    def _table(self) -> Table:
        columns = {
            "degree": list(map(in_words, self.degrees)),
            "p from": list(map(p_number, self.low)),
            "to": list(map(p_number, self.high)),
        }
        title = f"Fuzzy test ({self.method}): the p-values of the crisp readings that are possible to each degree"
        return Table(title, columns, words=0)

    @property
    def pvalue_interval(self) -> Interval:
        """The bounds of the p-value over all crisp readings."""
        return Interval(self.low[-1], self.high[-1], 1.0)

    def possibility(self, pvalue: float) -> float:
        """Return the largest degree at which a p-value is within the bounds; 0 if there is none."""
        p = as_real(pvalue, "pvalue", low=0, high=1)
        holding = (d for d, low, high in zip(self.degrees, self.low, self.high, strict=True) if low <= p <= high)
        return next(holding, 0.0)

    def rejection(self, alpha: float = 0.05) -> FuzzyDecision:
        """Return the possibility that p is at most `alpha`, and the necessity: 1 minus that of the opposite."""
        level = as_real(alpha, "alpha", low=0, high=1, open_ends=True)
        possible = next((d for d, low in zip(self.degrees, self.low, strict=True) if low <= level), 0.0)
        against = next((d for d, high in zip(self.degrees, self.high, strict=True) if high > level), 0.0)
        return FuzzyDecision(possible, 1 - against)


class Ends(NamedTuple):
    """The smallest and the largest p-value of some readings, or certified bounds of these if they are not attained."""

    low: float
    high: float
    attained: bool


def by_degree(ends_at: Callable[[float], Ends], graded: Graded, method: str) -> FuzzyTestResult:
    """Return the ends at all degrees. Degrees between two with equal ends need no computation."""
    degrees = graded.degrees
    ends = {place: ends_at(degrees[place]) for place in {0, len(degrees) - 1}}

    def fill(first: int, last: int) -> None:
        if ends[first] == ends[last] and ends[first].attained:  # both ends are monotone in the degree
            ends.update(dict.fromkeys(range(first, last), ends[first]))
        elif last - first > 1:
            middle = (first + last) // 2
            ends[middle] = ends_at(degrees[middle])
            fill(first, middle)
            fill(middle, last)

    fill(0, len(degrees) - 1)
    low, high, attained = zip(*(ends[place] for place in range(len(degrees))), strict=True)
    # Bounds at a lower degree hold at a higher one too, and may be the nearer ones.
    low = np.maximum.accumulate(low[::-1])[::-1].tolist()
    high = np.minimum.accumulate(high[::-1])[::-1].tolist()
    attained = attained if graded.exact else (False,) * len(degrees)
    return FuzzyTestResult(degrees=degrees, low=tuple(low), high=tuple(high), attained=attained, method=method)
