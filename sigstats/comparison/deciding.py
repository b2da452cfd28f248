"""The number of rows that would decide a test that is inconclusive, if they had the values of those at hand.

Statistics grow, and intervals narrow, with the root of the number of rows. For the accuracy of single rows this is
exact of Tango's statistic (1998, Statistics in Medicine 17, 891-908), which decides of a pass, and close of McNemar's;
for other measures it is approximate, and rather too many: a row that is not seen weighs less among many.

When not to use: as the power of the next comparison, whose values will be others (`sigstats size`).
"""

import math
from collections.abc import Callable

from scipy.special import ndtri

from ..intervals import tango_statistic
from .rows import MCNEMAR, PERMUTATION, ComparisonRow
from .rule import ComparisonRule

#: More rows than so many are not asked for.
_MOST_ROWS = 10**9


def rows_that_decide(row: ComparisonRow, rule: ComparisonRule, level: float) -> int | None:
    """About how many rows with these values would pass or fail; None where no number would, or rows do not decide.

    `row`: with a difference that is positive where the candidate is better. `level`: that of one test.
    """
    if row.difference is None or row.low is None or row.pvalue is None or row.test.startswith(PERMUTATION):
        return None
    times = []
    room = row.difference + rule.margin_of(row)
    if room > 0 and not row.without_limits:
        times.append(_until_pass(row, rule, room))
    if -row.difference >= max(rule.minimum_effect, 1e-12):
        times.append(_until_fail(row, level))
    return rows_of(row.n, min(times, default=math.inf))


def _until_pass(row: ComparisonRow, rule: ComparisonRule, room: float) -> float:
    assert row.difference is not None
    assert row.low is not None
    if row.test != MCNEMAR or row.differing is None:
        return ((row.difference - row.low) / room) ** 2
    ahead = round(row.difference * row.n)
    better = (row.differing + ahead) // 2
    found = float(tango_statistic(row.n, better, row.differing - better, -rule.margin_of(row)))
    return (float(ndtri((1 + rule.confidence_level) / 2)) / found) ** 2 if found > 0 else math.inf


def _until_fail(row: ComparisonRow, level: float) -> float:
    assert row.difference is not None
    assert row.pvalue is not None
    if row.test != MCNEMAR or not row.differing:
        return times_until_rejected(row.pvalue, level)
    # With the correction for continuity, as the exact test: (t ahead - 1) / sqrt(t differing) is the quantile.
    ahead, spread = abs(row.difference * row.n), float(ndtri(level)) ** 2 * row.differing
    middle = 2 * ahead + spread
    return (middle + math.sqrt(middle**2 - 4 * ahead**2)) / (2 * ahead**2)


def times_until_rejected(pvalue: float, level: float) -> float:
    """How many times as many rows of these values are rejected at a level; infinity where the data say the opposite."""
    return float(ndtri(level) / ndtri(pvalue)) ** 2 if 0 < pvalue < 0.5 else math.inf


def fewest_rows(n: int, decide: Callable[[float], bool]) -> int | None:
    """The fewest rows above n that decide, by how many times as many they are; None where too many would not.

    >>> fewest_rows(100, lambda times: times >= 2.5)
    250
    """
    low, high = n, _MOST_ROWS
    if not decide(high / n):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decide(middle / n) else (middle, high)
    return high


def rows_of(n: int, times: float) -> int | None:
    """So many times n rows, at least one more; None where these are too many to be asked for.

    >>> rows_of(100, 2.501), rows_of(100, 0.9), rows_of(100, 1e9)
    (251, 101, None)
    """
    return max(n + 1, math.ceil(n * times)) if n * times <= _MOST_ROWS else None
