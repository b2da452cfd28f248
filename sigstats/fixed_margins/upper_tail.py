"""Margins of a square table, and the probability of at least this number correct: the exact test.

One tail of the distribution in `sigstats.fixed_margins.distribution` is faster to compute than the whole.
"""

import math
from collections import Counter
from decimal import Decimal, localcontext
from typing import Any, NamedTuple

import numpy as np

from .._common.data_frames import require_same_index
from .._common.extreme import ROUNDING, error_bound
from .._common.validation import IntArray, as_count, as_counts, refuse
from . import rook_polynomial, saddle_point, two_dominant_classes
from .rook_factor import DIGITS
from .rook_polynomial import Classes, LogTail, most_correct
from .two_dominant_classes import hypergeometric_tail

#: Up to here whole numbers take hundredths of a second, and give all of the distribution to full precision.
SMALL = 1_000
#: Up to here whole numbers take a second.
_MEDIUM = 5_000
#: Up to here they take up to a minute; the last resort where nothing quicker applies.
FEASIBLE = 20_000
#: Numbers of coefficients of the rook polynomial that take milliseconds, tenths of a second, and seconds.
FEW, SOME, MANY = 40, 500, 2_500
LOG_10 = DIGITS.ln(Decimal(10))


def as_margins(row_totals: Any, column_totals: Any) -> tuple[IntArray, IntArray, int]:
    """Return both margins of a square table and their total, or raise ValueError."""
    require_same_index(row_totals=row_totals, column_totals=column_totals)
    rows = as_counts(row_totals, "row_totals", ndim=1)
    columns = as_counts(column_totals, "column_totals", ndim=1)
    if len(rows) != len(columns):
        raise refuse("column_totals", len(columns), f"as many as row_totals, {len(rows)}", quantity="length")
    total = int(rows.sum())
    if int(columns.sum()) != total:
        raise refuse("column_totals", int(columns.sum()), f"the total of row_totals, {total}", quantity="total")
    if total == 0:
        raise refuse("row_totals", 0, "at least one object", quantity="total")
    return rows, columns, total


def correct_range(rows: IntArray, columns: IntArray) -> tuple[int, int]:
    """Return the smallest and the largest number correct that the margins allow."""
    return max(0, int((rows + columns).max() - rows.sum())), int(np.minimum(rows, columns).sum())


def classes_of(rows: IntArray, columns: IntArray) -> Classes:
    """Count the classes with each pair of totals, leaving out classes that cannot be right."""
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return Counter(pair for pair in pairs if min(pair) > 0)


def decided_by_one_cell(total: int, classes: Classes) -> bool:
    """Return True if one cell determines the number correct: one class can be right, or there are two."""
    pairs = list(Counter(dict(classes)).elements()) if sum(classes.values()) <= 2 else []
    return len(pairs) == 1 or (len(pairs) == 2 and all(a + b == total for a, b in zip(*pairs, strict=True)))


class UpperTail(NamedTuple):
    """The tail ``P(T >= t)`` of the number correct T, its decimal logarithm, and ``P(T > t) + P(T = t) / 2`` (mid-p).

    `error_bound` is that of the first, as in `sigstats.results.TestResult`; it is not proved if `estimated`.
    """

    pvalue: float
    log10_pvalue: float
    mid_pvalue: float
    error_bound: float
    estimated: bool


def upper_tail(row_totals: Any, column_totals: Any, correct: int) -> UpperTail:
    """Return the probability of `correct` or more objects in their own class, given the margins, or raise ValueError.

    Relative error about 1e-13 up to N = 10,000; the result bounds it. The method is a closed form for two classes;
    Riordan's rook polynomial in whole numbers for up to 1000 objects and at either end of the range; a sum over the
    other objects if two classes contain nearly all; and otherwise a contour integral through its saddle point, in
    milliseconds for any N. With more than 20,000 objects, rare tables that no method handles are refused (none was
    among thousands of random ones up to three million objects).

    >>> round(upper_tail([1000] * 10, [1000] * 10, 1050).pvalue, 12)  # Nyssen's 10,000 patterns, 10.5% of them right
    0.050246370198
    """
    rows, columns, total = as_margins(row_totals, column_totals)
    correct = as_count(correct, "correct", maximum=total)
    least, most = correct_range(rows, columns)
    if not least <= correct <= most:
        raise refuse("correct", correct, f"a number that these margins allow, {least} to {most}")
    with localcontext(DIGITS):
        upper, point, error, estimated = _log_tail(total, classes_of(rows, columns), least, correct)
        mid = Decimal("-Infinity") if upper.is_infinite() else (upper.exp() - point.exp() / 2)
        p = min(float(upper.exp()), 1.0)
        return UpperTail(p, min(float(upper / LOG_10), 0.0), float(mid), error_bound(p, error + ROUNDING), estimated)


def _log_tail(total: int, classes: Classes, least: int, correct: int) -> LogTail:
    """Return both probabilities, by the fastest applicable method."""
    most = most_correct(classes)
    if least == most:
        return LogTail(Decimal(0), Decimal(0))
    if decided_by_one_cell(total, classes):
        return _closed_form(total, classes, correct)
    if total <= SMALL:
        return rook_polynomial.tail(total, classes, correct)
    if most - correct <= FEW:
        return rook_polynomial.tail_from_above(total, classes, correct)
    by_integral = saddle_point.tail(total, classes, correct)
    if by_integral is not None:
        return by_integral
    # Bonferroni's sums settle well beyond the mean; if not, `tail_from_below` returns None.
    mean, _ = saddle_point.moments(total, saddle_point.factors_of(classes))
    last = correct + math.ceil(3 * mean) + 100
    for longest in (SOME, MANY):
        if last <= longest:
            from_below = rook_polynomial.tail_from_below(total, classes, correct, min(last, most))
            if from_below is not None:
                return from_below
        if most - correct <= longest:
            return rook_polynomial.tail_from_above(total, classes, correct)
        if longest == SOME and total > _MEDIUM:
            by_rest = two_dominant_classes.tail(total, classes, correct)
            if by_rest is not None:
                return by_rest
    if total <= FEASIBLE:
        return rook_polynomial.tail(total, classes, correct)
    raise refuse("total of the table", total, f"at most {FEASIBLE} for the exact test of such margins, or Monte-Carlo")


def _closed_form(total: int, classes: Classes, correct: int) -> LogTail:
    (rows, columns), *others = Counter(dict(classes)).elements()
    if not others:
        return hypergeometric_tail(total, rows, columns, correct)
    # T = n11 + n22 and n22 = N - r1 - c1 + n11.
    twice = correct + rows + columns - total
    tail = hypergeometric_tail(total, rows, columns, -(-twice // 2))
    return tail._replace(point=Decimal("-Infinity")) if twice % 2 else tail
