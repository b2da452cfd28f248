"""The ends of the p-value of the efficiency test over all readings.

Take the assigned classes as dealt at random to the objects. Where a reading gives one object another class, true or
assigned, the number correct of no deal changes by more than 1. So a reading in which that makes one more object correct
has a p-value that is no greater: P'(T >= t + 1) <= P(T >= t). The least p-value is therefore that of a reading in which
every object is correct that one step can make so, and the greatest that of one in which every object is wrong that may
be. Where these are still too many to list, the p-values of readings that are m steps from one lie between its
probabilities of t + m and of t - m correct or more.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from ..fixed_margins.margins import correct_range
from ..fixed_margins.upper_tail import upper_tail
from .memberships import Choice, Counts, TooManyTables, reachable

#: A true and an assigned class that an object may take together.
Pair: TypeAlias = tuple[int, int]


def efficiency_extremes(
    true: Sequence[Choice], assigned: Sequence[Choice], k: int, most: int
) -> tuple[float, float, bool]:
    """The least and the greatest p-value of all readings, and whether these are p-values of readings or bounds."""
    pairs = list(zip(true, assigned, strict=True))
    correct, wrong = [_most_correct(*pair) for pair in pairs], [_most_wrong(*pair) for pair in pairs]
    try:
        low = min(_pvalues(reachable(_cells(correct, k), 2 * k + 1, most), k, max))
        high = max(_pvalues(reachable(_cells(wrong, k), 2 * k + 1, most), k, min))
    except TooManyTables:
        return _bound(correct, k, 1), _bound(wrong, k, -1), False
    return low, high, True


def _most_correct(true: Choice, assigned: Choice) -> list[Pair]:
    """The readings of an object but the wrong ones that one step makes correct."""
    return [(t, a) for t, a in product(true, assigned) if t == a or (t not in assigned and a not in true)]


def _most_wrong(true: Choice, assigned: Choice) -> list[Pair]:
    """The wrong readings of an object, or its only one."""
    return [(t, a) for t, a in product(true, assigned) if t != a] or [(true[0], assigned[0])]


def _cells(options: Sequence[Sequence[Pair]], k: int) -> Iterable[list[Counts]]:
    """The contribution of an object to the true classes, the assigned ones and the number correct, by each reading."""
    for own in options:
        yield [(*(int(j == t) for j in range(k)), *(int(j == a) for j in range(k)), int(t == a)) for t, a in own]


def _pvalues(tables: Iterable[Counts], k: int, end: Callable[[int, int], int]) -> Iterable[float]:
    """The p-value of each pair of margins, with the number correct at one end."""
    correct: dict[Counts, int] = {}
    for *margins, number in tables:
        key = tuple(margins)
        correct[key] = end(correct.get(key, number), number)
    for margins_, number in correct.items():
        yield _tail(margins_[:k], margins_[k:], number)


def _bound(options: Sequence[Sequence[Pair]], k: int, sign: int) -> float:
    """A lower (sign 1) or upper (-1) bound of the p-values of all these readings, from one of them."""
    base, steps, end = [], 0, 0
    for own in options:
        apart = [max(_steps(one, other) for other in own) for one in own]
        base.append(own[int(np.argmin(apart))])
        steps += min(apart)
        end += (max if sign > 0 else min)(int(t == a) for t, a in own)
    rows, columns = (np.bincount([pair[side] for pair in base], minlength=k) for side in (0, 1))
    return _tail(tuple(rows.tolist()), tuple(columns.tolist()), end + sign * steps)


def _steps(one: Pair, other: Pair) -> int:
    return (one[0] != other[0]) + (one[1] != other[1])


def _tail(rows: Counts, columns: Counts, correct: int) -> float:
    """The probability of so many correct or more, of any number."""
    least, most = correct_range(np.array(rows), np.array(columns))
    if correct <= least:
        return 1.0
    return 0.0 if correct > most else float(upper_tail(rows, columns, correct).pvalue)
