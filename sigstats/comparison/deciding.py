"""The number of rows that would decide an inconclusive test, if they had the values of the present rows.

For the accuracy of single rows this is exact for Tango's statistic (1998, Statistics in Medicine 17, 891-908), which
decides whether a row passes, and close for McNemar's. The bound of any other measure adds a normal error, which shrinks
with the root of the number of rows, and the exponential weight of one more row, which shrinks with that number.

When not to use: for the power of the next comparison, whose values will be others (`sigstats compare --power`).
"""

import contextlib
import math
from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Self

from scipy.special import erfcx, ndtr, ndtri

from ..intervals import tango_statistic
from ..mcnemar.sample_size import detectable_difference, smallest_enough
from .rows import ComparisonRow
from .rule import ComparisonRule

#: The largest number of rows that is reported.
_MOST_ROWS = 10**9


def rows_that_decide(row: ComparisonRow, rule: ComparisonRule, level: float) -> int | None:
    """Return about how many rows with these values would pass or fail at this level; None if no number would."""
    if row.difference is None or row.low is None or row.high is None or row.pvalue is None:
        return None
    room, drop = row.difference + rule.margin_of(row), -row.difference
    passes = room > 0 and not row.without_limits
    fails = drop >= max(rule.effect_of(row), 1e-300)
    if row.test.kind in ("runs", "judged", "gap") or not (passes or fails):
        return None
    if row.test.kind == "mcnemar":
        return fewest_rows(row.n, partial(_decided_by_counts, row, rule, level, passes=passes, fails=fails))
    share = (1 - rule.confidence_level) / 2
    below, above = (
        Bound.of(abs(end - row.difference), row.standard_error, row.n, share) for end in (row.low, row.high)
    )
    by_bound = row.test.kind in ("unseen", "unpaired")  # otherwise p is that of exchanges, without one more row
    fewest_to_reject = math.inf
    if not by_bound and 0 < row.pvalue < 0.5:
        fewest_to_reject = row.n * float(ndtri(level) / ndtri(row.pvalue)) ** 2

    def decides(n: int) -> bool:
        failed = fails and (above.share_beyond(drop, n) <= level if by_bound else n >= fewest_to_reject)
        return failed or (passes and below.share_beyond(room, n) <= share)

    return fewest_rows(row.n, decides)


class Bound(NamedTuple):
    """The standard deviation of a row, and n times the effect of one more row on the difference."""

    deviation: float
    unseen: float

    @classmethod
    def of(cls, reach: float, error: float | None, n: int, share: float) -> Self:
        """Return the parts of a bound at `reach` from the estimate of n rows, with a `share` of probability beyond."""
        widest = reach * math.sqrt(n) / -float(ndtri(share))
        deviation = widest if error is None else min(widest, error * math.sqrt(n))
        step = reach * n / -math.log(share) / 1000

        def enough(steps: int) -> bool:
            return cls(deviation, steps * step).share_beyond(reach, n) >= share

        return cls(deviation, bisect_left(range(1000), True, key=enough) * step)

    def share_beyond(self, reach: float, n: int) -> float:
        """Return the probability that a normal error and the weight of one more row move the estimate further."""
        error, unseen = self.deviation / math.sqrt(n), self.unseen / n
        if unseen == 0:
            return float(ndtr(-reach / error)) if error else 0.0
        if error == 0:
            return math.exp(-reach / unseen)
        # The tail of the sum of a normal and an exponential variable; erfcx avoids overflow if the tail is small.
        far, shift = reach / error, error / unseen
        if far > shift:
            return float(ndtr(-far)) + math.exp(-reach / unseen + shift**2 / 2) * float(ndtr(far - shift))
        return float(ndtr(-far)) + math.exp(-(far**2) / 2) * float(erfcx((shift - far) / math.sqrt(2))) / 2


def _decided_by_counts(
    row: ComparisonRow, rule: ComparisonRule, level: float, n: int, *, passes: bool, fails: bool
) -> bool:
    """Return True if Tango's interval or McNemar's test decides n rows with these rates."""
    times, differing = n / row.n, row.differing or 0
    ahead = round((row.difference or 0.0) * row.n)
    # With a continuity correction, like the exact test.
    if fails and -times * ahead - 1 >= -float(ndtri(level)) * math.sqrt(times * differing):
        return True
    better = (differing + ahead) // 2
    tango = float(tango_statistic(row.n, better, differing - better, -rule.margin_of(row)))
    return passes and math.sqrt(times) * tango >= float(ndtri((1 + rule.confidence_level) / 2))


def fewest_rows(n: int, decides: Callable[[int], bool], *, one_in: int | None = None) -> int | None:
    """Return the fewest rows above n that decide, by `smallest_enough`; None if not even a billion rows decide."""
    doublings = max(1, math.floor(math.log2(_MOST_ROWS / n)))
    return smallest_enough(decides, n << doublings, low=n, one_in=one_in)


def smallest_drop(row: ComparisonRow, level: float) -> float | None:
    """Return the smallest drop of accuracy that McNemar's test shows on this many rows with power 0.8."""
    if row.test.kind != "mcnemar" or not row.differing:
        return None
    with contextlib.suppress(ValueError):  # too few rows to show any drop with this power
        return detectable_difference(row.n, row.differing / row.n, alpha=level, alternative="greater")
    return None
