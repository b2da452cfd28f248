"""The exact distribution of the number correct in a confusion table whose margins are fixed.

If a classifier names classes without regard to the objects, every assignment of its names to the objects is equally
likely, and the number correct is the number of matches between two shuffled decks of cards: the generalised
card-matching problem (Riordan 1958, chapters 7 and 8). The exact test of Nyssen (`sigstats.efficiency_test`) is a
tail of this distribution (`sigstats.fixed_margins.upper_tail`). No table is enumerated, and the number of objects or
classes has no limit, except in the rare tables that `number_correct` states.

When not to use: for a classifier whose answers depend on each other beyond their totals. A permutation test that
retrains (`sigstats.permutation_test`) has a different null hypothesis.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache, lru_cache
from typing import Any

import numpy as np

from .._common.tabular import ArrayRecord, Table, Tabular, in_words
from .._common.validation import FloatArray, IntArray, as_count, as_counts, refuse
from ..conditional.problem import binomial_log_pmf
from . import rook_polynomial, saddle_point
from .rook_factor import DIGITS
from .rook_polynomial import Classes, log_ratio
from .upper_tail import FEASIBLE, LOG_10, MANY, SMALL, SOME, as_margins, classes_of, correct_range, decided_by_one_cell

#: Larger distributions are listed down to this logarithm.
_LEAST_LISTED = -300 * DIGITS.ln(Decimal(10))
#: Largest number of numbers listed for one table.
_MOST_LISTED = 2**25
#: Most rows of tables, over all states of the columns, that are processed before a problem is refused; takes seconds.
_MOST_STEPS = 2_000_000


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NumberCorrect(ArrayRecord, Tabular):
    """The null distribution of the number correct.

    Attributes
    ----------
    numbers : ndarray of int
        Consecutive possible numbers correct.
    log10_pmf : ndarray of float
        Logarithm to base 10 of the probability of each; minus infinity for a number that cannot occur.
    """

    numbers: IntArray
    log10_pmf: FloatArray

    def _columns(self) -> dict[str, list[Any]]:
        return {"number": self.numbers.tolist(), "log10_pmf": self.log10_pmf.tolist()}

    def _table(self) -> Table:
        most = int(np.argmax(self.log10_pmf))
        shown = {"number": self.numbers, "probability": self.pmf}
        columns = {
            name: [in_words(value) for value in values[max(0, most - 3) : most + 4]] for name, values in shown.items()
        }
        return Table(
            f"The number correct by chance: {len(self.numbers):,} numbers, the likeliest of which are", columns, words=0
        )

    @property
    def pmf(self) -> FloatArray:
        """The probability of each number; 0 if below the smallest double."""
        return np.asarray(10.0**self.log10_pmf)

    @property
    def log10_sf(self) -> FloatArray:
        """Logarithm to base 10 of the probability of each number or more."""
        log = np.logaddexp.accumulate(self.log10_pmf[::-1] * math.log(10))[::-1]
        return np.asarray(np.minimum(log / math.log(10), 0.0))


def number_correct(row_totals: Any, column_totals: Any) -> NumberCorrect:
    """Compute the null distribution of the number of correct assignments, given the totals of all classes.

    Parameters
    ----------
    row_totals, column_totals : array_like of int
        The numbers of objects with each true class and with each assigned class; exchanging them changes nothing.

    Returns
    -------
    NumberCorrect
        All possible numbers; for more than 1000 objects, those with a probability of at least 1e-300.

    Raises
    ------
    ValueError
        As in `upper_tail` for the margins; for more than 20,000 objects in one of the rare tables that no method here
        serves, such as those of which one or two classes hold nearly all objects, but not all; and for two classes of
        so many objects that 33 million numbers have a probability of 1e-300 or more.

    Notes
    -----
    Up to 1000 objects in whole numbers. Two classes, or one that can be right at all: the hypergeometric law, by the
    saddle-point form of binomial probabilities (Loader). Otherwise contour integrals, as in `upper_tail`, and where so
    few can be expected to be correct that a contour is too coarse, the first factorial moments.

    References
    ----------
    Riordan, *An Introduction to Combinatorial Analysis* (1958).

    Examples
    --------
    >>> import sigstats
    >>> distribution = sigstats.number_correct([2, 1, 1], [2, 1, 1])
    >>> distribution.numbers.tolist()
    [0, 1, 2, 3, 4]
    >>> [round(12 * p) for p in distribution.pmf]
    [2, 4, 5, 0, 1]
    """
    rows, columns, total = as_margins(row_totals, column_totals)
    classes = classes_of(rows, columns)
    least, most = correct_range(rows, columns)
    with localcontext(DIGITS):
        if total > SMALL:
            if least == most:
                return NumberCorrect(numbers=np.array([least]), log10_pmf=np.zeros(1))
            if decided_by_one_cell(total, classes):
                return _by_cell(total, classes)
            wide = _by_windows(total, classes, least, most) or _by_moments(total, classes, least, most)
            if wide is not None:
                return wide
        if total > FEASIBLE:
            raise refuse(
                "row_totals", total, f"at most {FEASIBLE} for the distribution under such margins", quantity="total"
            )
        whole = rook_polynomial.counts(total, classes)[least:]
        everything = sum(whole)
        logs = [float(log_ratio(count, everything) / LOG_10) for count in whole]
    return NumberCorrect(numbers=np.arange(least, most + 1), log10_pmf=np.array(logs))


def _by_cell(total: int, classes: Classes) -> NumberCorrect:
    """Return the distribution if the number in one cell determines the number correct."""
    (rows, columns), *others = Counter(dict(classes)).elements()
    lowest, highest = max(0, rows + columns - total), min(rows, columns)
    share = columns / total
    whole = float(binomial_log_pmf(total, share, np.array([columns]))[0])

    def log10(cell: IntArray) -> FloatArray:
        log = binomial_log_pmf(rows, share, cell) + binomial_log_pmf(total - rows, share, columns - cell)
        return np.asarray((log - whole) / math.log(10))

    def last_listed(inside: int, end: int) -> int:
        # The law has one mode, so that what is listed is one run of numbers.
        way = 1 if end > inside else -1
        while inside != end:
            middle = inside + way * ((abs(end - inside) + 1) // 2)
            if log10(np.array([middle]))[0] >= -300:
                inside = middle
            else:
                end = middle - way
        return inside

    mode = min(max((rows + 1) * (columns + 1) // (total + 2), lowest), highest)
    first, last = last_listed(mode, lowest), last_listed(mode, highest)
    step = 2 if others else 1
    if step * (last - first) >= _MOST_LISTED:
        raise refuse("row_totals", total, f"a total with at most {_MOST_LISTED} numbers to list", quantity="total")
    cells = np.arange(first, last + 1)
    # T = n11, or n11 + n22 with n22 = N - r1 - c1 + n11.
    least = 2 * first + total - rows - columns if others else first
    numbers = np.arange(least, least + step * (last - first) + 1)
    log10_pmf = np.full(len(numbers), -np.inf)
    log10_pmf[::step] = log10(cells)
    return NumberCorrect(numbers=numbers, log10_pmf=log10_pmf)


def _by_moments(total: int, classes: Classes, least: int, most: int) -> NumberCorrect | None:
    """Return the distribution from the first factorial moments, or None if too many would be needed."""
    mean = sum(rows * columns * times for (rows, columns), times in classes.items()) / total
    for length in (SOME, MANY // 2, MANY):
        if 3 * mean > length:
            continue
        whole, everything = rook_polynomial.counts_from_below(total, classes, min(length, most))
        logs = [log_ratio(count, everything) for count in whole[least:]]
        if length >= most or (logs and logs[-1] < _LEAST_LISTED and (everything - sum(whole)) << 40 < everything):
            log10_pmf = np.array([float(log / LOG_10) for log in logs])
            listed = log10_pmf >= -300
            return NumberCorrect(numbers=np.arange(least, least + len(logs))[listed], log10_pmf=log10_pmf[listed])
    return None


def _by_windows(total: int, classes: Classes, least: int, most: int) -> NumberCorrect | None:
    """Return the distribution from one contour for every few standard deviations, or None if a contour is refused."""
    factors = saddle_point.factors_of(classes)
    centre = round(saddle_point.moments(total, factors)[0])
    logs: list[Decimal] = []
    first = centre
    for direction in (1, -1):
        start, floor, half = (centre, Decimal(0), 0) if direction > 0 else (centre - 1, Decimal(0), 0)
        while floor > _LEAST_LISTED and least <= start <= most:
            contour = saddle_point.circle(total, factors, min(max(start + direction * half, least), most), pole=False)
            if contour is None:
                return None
            half = int(2 * contour.deviation)
            end = min(max(contour.correct + direction * half, least), most)
            numbers = np.arange(min(start, end), max(start, end) + 1)
            points = saddle_point.log_points(contour, numbers)
            floor, start = points[-1 if direction > 0 else 0], end + direction
            logs, first = (logs + points, first) if direction > 0 else (points + logs, int(numbers[0]))
    numbers = np.arange(first, first + len(logs))
    log10_pmf = np.array([float(log / LOG_10) for log in logs])
    listed = log10_pmf >= -300
    return NumberCorrect(numbers=numbers[listed], log10_pmf=log10_pmf[listed])


def number_of_tables(row_totals: Any, column_totals: Any, least_correct: int = 0) -> int:
    """Return the number of square tables of counts with given margins and a diagonal sum of at least `least_correct`.

    Tables are counted row by row. Columns whose diagonal cell is passed are alike, so that only their remainders
    matter, in any order. Raises ValueError if the margins do not fit together, or there are too many tables to count.
    """
    rows = as_counts(row_totals, "row_totals", ndim=1).tolist()
    columns = as_counts(column_totals, "column_totals", ndim=1).tolist()
    least_correct = as_count(least_correct, "least_correct")
    if len(rows) != len(columns) or sum(rows) != sum(columns):
        raise refuse("column_totals", columns, f"as many as row_totals has, {len(rows)}, and the same sum, {sum(rows)}")
    return sum(_ways(tuple(rows), tuple(columns))[least_correct:])


@lru_cache(maxsize=16)
def _ways(rows: tuple[int, ...], columns: tuple[int, ...]) -> tuple[int, ...]:
    """Return the number of tables with these margins and 0, 1, 2, ... on the diagonal."""
    steps = 0

    @cache
    def by_correct(past: tuple[int, ...], future: tuple[int, ...]) -> tuple[int, ...]:
        # How many ways to fill the rows that are left, by how many of them are on the diagonal.
        nonlocal steps
        if not future:
            return (1,)
        ways = [0] * (sum(future) + 1)
        for row in _rows(rows[len(rows) - len(future)], past + future):
            steps += 1
            if steps > _MOST_STEPS:
                raise refuse("row_totals", [*rows], f"a problem of at most {_MOST_STEPS:,} steps")
            left = [total - count for total, count in zip(past + future, row, strict=True)]
            here = row[len(past)]
            rest = by_correct(tuple(sorted(left[: len(past) + 1])), tuple(left[len(past) + 1 :]))
            for correct, number in enumerate(rest):
                if number:  # what is left on later diagonals fits
                    ways[correct + here] += number
        return tuple(ways)

    return by_correct((), columns)


def _rows(total: int, most: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield every row of counts with a given sum, none above the remainder of its column."""
    if len(most) == 1:
        if total <= most[0]:
            yield (total,)
        return
    rest = sum(most[1:])
    for first in range(max(0, total - rest), min(total, most[0]) + 1):
        for others in _rows(total - first, most[1:]):
            yield (first, *others)


def number_of_terms(table: Any) -> int:
    """Return the number of terms of Nyssen's equation (4): tables with the same margins and at least as many right.

    >>> number_of_terms([[1, 1, 1], [1, 1, 1], [1, 1, 1]])
    30
    """
    counts = np.asarray(table)
    return number_of_tables(counts.sum(axis=1), counts.sum(axis=0), int(np.trace(counts)))
