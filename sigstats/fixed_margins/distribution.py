"""The exact distribution of the number correct in a confusion table whose margins are fixed.

If a classifier names classes without regard to the objects, every way of dealing its names out to the objects is
equally likely, and the number correct is the number of matches between two shuffled decks of cards: the generalised
card-matching problem (Riordan 1958, chapters 7 and 8). The exact test of Nyssen (`sigstats.efficiency_test`) is a
tail of this distribution. No table is enumerated, and no limit is set on the number of objects or classes but in the
rare tables that `upper_tail` and `number_correct` name.

Not for a classifier whose answers depend on one another in another way than through their totals: a permutation test
that retrains (`sigstats.permutation_test`) has a different null hypothesis.
"""

import math
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any, NamedTuple

import numpy as np

from .._common.array_record import ArrayRecord
from .._common.validation import FloatArray, IntArray, as_count, as_counts, refuse
from ..conditional.log_weights import binomial_log_pmf
from . import rook_polynomial, saddle_point
from . import two_dominant_classes as two_main_classes
from .hypergeometric import hypergeometric_tail
from .rook_factor import DIGITS
from .rook_polynomial import Classes, LogTail, log_ratio, most_correct

#: Up to here whole numbers take hundredths of a second, and give all of the distribution to full precision.
_SMALL = 1_000
#: Up to here they take a second.
_MEDIUM = 5_000
#: Up to here they take up to a minute; the last resort where nothing quicker applies.
_FEASIBLE = 20_000
#: As many coefficients of the rook polynomial take milliseconds, tenths of a second, and seconds.
_FEW, _SOME, _MANY = 40, 500, 2_500
#: Larger distributions are listed down to this logarithm.
_LEAST_LISTED = -300 * DIGITS.ln(Decimal(10))
_LOG_10 = DIGITS.ln(Decimal(10))
#: As many numbers are listed of one table.
_MOST_LISTED = 2**25


class UpperTail(NamedTuple):
    """``P(T >= t)`` and its mid-p form ``P(T > t) + P(T = t) / 2``, each with its logarithm to base 10."""

    pvalue: float
    log10_pvalue: float
    mid_pvalue: float
    log10_mid_pvalue: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NumberCorrect(ArrayRecord):
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

    @property
    def pmf(self) -> FloatArray:
        """The probability of each number; 0 where below the smallest double."""
        return np.asarray(10.0**self.log10_pmf)

    @property
    def log10_sf(self) -> FloatArray:
        """Logarithm to base 10 of the probability of each number or more."""
        log = np.logaddexp.accumulate(self.log10_pmf[::-1] * math.log(10))[::-1]
        return np.asarray(np.minimum(log / math.log(10), 0.0))


def upper_tail(row_totals: Any, column_totals: Any, correct: int) -> UpperTail:
    """The probability of `correct` or more objects in their own class, given the margins.

    Parameters
    ----------
    row_totals, column_totals : array_like of int
        For each class the number of its objects and how often it was named; k of each, with equal sums.
    correct : int
        The observed number correct, the trace of the table.

    Returns
    -------
    UpperTail

    Raises
    ------
    ValueError
        If the margins are no whole numbers of at least 0, differ in length or total, or are all 0; if `correct` is
        out of their range; or for more than 20,000 objects in one of the rare tables that no method here serves (none
        was among thousands of random ones up to three million objects).

    Notes
    -----
    Relative error below 1e-10, and about 1e-13 up to N = 10,000. Where a table has two classes, a closed form; for
    up to 1000 objects and at either end of the range, Riordan's rook polynomial in whole numbers; otherwise a
    contour integral through its saddle point, in milliseconds for any N; where two classes hold nearly all objects, a
    sum over the others.

    Examples
    --------
    Nyssen's 10,000 patterns in ten classes of 1000, 10.5 percent of them right:

    >>> from sigstats.fixed_margins.distribution import upper_tail
    >>> round(upper_tail([1000] * 10, [1000] * 10, 1050).pvalue, 12)
    0.050246370198
    >>> round(upper_tail([1000] * 10, [1000] * 10, 9100).log10_pvalue, 6)
    -7825.882948
    """
    rows, columns, total = as_margins(row_totals, column_totals)
    correct = as_count(correct, "correct", maximum=total)
    least, most = correct_range(rows, columns)
    if not least <= correct <= most:
        raise refuse("correct", correct, f"a number that these margins allow, {least} to {most}")
    with localcontext(DIGITS):
        upper, point = _log_tail(total, _classes(rows, columns), least, correct)
        mid = Decimal("-Infinity") if upper.is_infinite() else (upper.exp() - point.exp() / 2)
        # Far out both may underflow a double, never a Decimal.
        log_mid = mid.ln()
        return UpperTail(
            min(float(upper.exp()), 1.0), min(float(upper / _LOG_10), 0.0), float(mid), float(log_mid / _LOG_10)
        )


def number_correct(row_totals: Any, column_totals: Any) -> NumberCorrect:
    """The null distribution of the number correct, given the margins.

    Parameters
    ----------
    row_totals, column_totals : array_like of int
        As in `upper_tail`.

    Returns
    -------
    NumberCorrect
        Of all possible numbers; for more than 1000 objects, of those whose probability is 1e-300 or more.

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

    Examples
    --------
    >>> from sigstats.fixed_margins.distribution import number_correct
    >>> distribution = number_correct([2, 1, 1], [2, 1, 1])
    >>> distribution.numbers.tolist()
    [0, 1, 2, 3, 4]
    >>> [round(12 * p) for p in distribution.pmf]
    [2, 4, 5, 0, 1]
    """
    rows, columns, total = as_margins(row_totals, column_totals)
    classes = _classes(rows, columns)
    least, most = correct_range(rows, columns)
    with localcontext(DIGITS):
        if total > _SMALL:
            if least == most:
                return NumberCorrect(numbers=np.array([least]), log10_pmf=np.zeros(1))
            if _in_closed_form(total, classes):
                return _by_cell(total, classes)
            wide = _by_windows(total, classes, least, most) or _by_moments(total, classes, least, most)
            if wide is not None:
                return wide
        if total > _FEASIBLE:
            raise refuse("row_totals (total)", total, f"at most {_FEASIBLE} for the distribution under such margins")
        whole = rook_polynomial.counts(total, classes)[least:]
        everything = sum(whole)
        logs = [float(log_ratio(count, everything) / _LOG_10) for count in whole]
    return NumberCorrect(numbers=np.arange(least, most + 1), log10_pmf=np.array(logs))


def as_margins(row_totals: Any, column_totals: Any) -> tuple[IntArray, IntArray, int]:
    """Both margins of a square table and their total, or ValueError."""
    rows = as_counts(row_totals, "row_totals", ndim=1)
    columns = as_counts(column_totals, "column_totals", ndim=1)
    if len(rows) != len(columns):
        raise refuse("column_totals (length)", len(columns), f"as many as row_totals, {len(rows)}")
    total = int(rows.sum())
    if int(columns.sum()) != total:
        raise refuse("column_totals (total)", int(columns.sum()), f"the total of row_totals, {total}")
    if total == 0:
        raise refuse("row_totals (total)", 0, "at least one object")
    return rows, columns, total


def correct_range(rows: IntArray, columns: IntArray) -> tuple[int, int]:
    """The smallest and the largest number correct that the margins allow."""
    return max(0, int((rows + columns).max() - rows.sum())), int(np.minimum(rows, columns).sum())


def _classes(rows: IntArray, columns: IntArray) -> Classes:
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return Counter(pair for pair in pairs if min(pair) > 0)


def _log_tail(total: int, classes: Classes, least: int, correct: int) -> LogTail:
    """Both probabilities by the quickest way that applies."""
    most = most_correct(classes)
    if least == most:
        return LogTail(Decimal(0), Decimal(0))
    if _in_closed_form(total, classes):
        return _closed_form(total, classes, correct)
    if total <= _SMALL:
        return rook_polynomial.tail(total, classes, correct)
    if most - correct <= _FEW:
        return rook_polynomial.tail_from_above(total, classes, correct)
    by_integral = saddle_point.tail(total, classes, correct)
    if by_integral is not None:
        return by_integral
    last = correct + math.ceil(3 * saddle_point.moments(total, saddle_point.factors_of(classes))[0]) + 100
    for longest in (_SOME, _MANY):
        if last <= longest:
            from_below = rook_polynomial.tail_from_below(total, classes, correct, min(last, most))
            if from_below is not None:
                return from_below
        if most - correct <= longest:
            return rook_polynomial.tail_from_above(total, classes, correct)
        if longest == _SOME and total > _MEDIUM:
            by_rest = two_main_classes.tail(total, classes, correct)
            if by_rest is not None:
                return by_rest
    if total <= _FEASIBLE:
        return rook_polynomial.tail(total, classes, correct)
    raise refuse("total of the table", total, f"at most {_FEASIBLE} for the exact test of such margins, or Monte-Carlo")


def _in_closed_form(total: int, classes: Classes) -> bool:
    """Whether one cell decides the number correct: one class that can be right, or two that are all there is."""
    pairs = list(Counter(dict(classes)).elements()) if sum(classes.values()) <= 2 else []
    return len(pairs) == 1 or (len(pairs) == 2 and all(a + b == total for a, b in zip(*pairs, strict=True)))


def _closed_form(total: int, classes: Classes, correct: int) -> LogTail:
    (rows, columns), *others = Counter(dict(classes)).elements()
    if not others:
        return hypergeometric_tail(total, rows, columns, correct)
    # T = n11 + n22 and n22 = N - r1 - c1 + n11.
    twice = correct + rows + columns - total
    upper, point = hypergeometric_tail(total, rows, columns, -(-twice // 2))
    return LogTail(upper, Decimal("-Infinity") if twice % 2 else point)


def _by_cell(total: int, classes: Classes) -> NumberCorrect:
    """The distribution where the number in one cell decides the number correct."""
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
        raise refuse("row_totals (total)", total, f"a total at which at most {_MOST_LISTED} numbers are to be listed")
    cells = np.arange(first, last + 1)
    # T = n11, or n11 + n22 with n22 = N - r1 - c1 + n11.
    least = 2 * first + total - rows - columns if others else first
    numbers = np.arange(least, least + step * (last - first) + 1)
    log10_pmf = np.full(len(numbers), -np.inf)
    log10_pmf[::step] = log10(cells)
    return NumberCorrect(numbers=numbers, log10_pmf=log10_pmf)


def _by_moments(total: int, classes: Classes, least: int, most: int) -> NumberCorrect | None:
    """The distribution from the first factorial moments, or None if too many would be needed."""
    mean = sum(rows * columns * times for (rows, columns), times in classes.items()) / total
    for length in (_SOME, _MANY // 2, _MANY):
        if 3 * mean > length:
            continue
        whole, everything = rook_polynomial.counts_from_below(total, classes, min(length, most))
        logs = [log_ratio(count, everything) for count in whole[least:]]
        if length >= most or (logs and logs[-1] < _LEAST_LISTED and (everything - sum(whole)) << 40 < everything):
            log10_pmf = np.array([float(log / _LOG_10) for log in logs])
            listed = log10_pmf >= -300
            return NumberCorrect(numbers=np.arange(least, least + len(logs))[listed], log10_pmf=log10_pmf[listed])
    return None


def _by_windows(total: int, classes: Classes, least: int, most: int) -> NumberCorrect | None:
    """The distribution from one contour for every few standard deviations, or None if a contour is refused."""
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
    log10_pmf = np.array([float(log / _LOG_10) for log in logs])
    listed = log10_pmf >= -300
    return NumberCorrect(numbers=numbers[listed], log10_pmf=log10_pmf[listed])
