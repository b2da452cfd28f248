"""Two samples of two classes: Fisher's exact test by two hypergeometric tails, and the difference of two shares.

When not to use: for three classes or more (`sigstats.homogeneity.given_margins`).
"""

import math
from bisect import bisect_left
from decimal import Decimal, localcontext
from typing import NamedTuple

from scipy.special import ndtri

from .._common.extreme import ROUNDING, error_bound
from .._common.validation import IntArray
from ..fixed_margins.rook_factor import DIGITS, log_factorial
from ..fixed_margins.two_dominant_classes import hypergeometric_tail
from ..fixed_margins.upper_tail import SMALL
from ..intervals import Interval

#: Logarithms of likelihoods have an error below 1e-32; nearer ones belong to equal likelihoods.
_TIED = Decimal("1e-30")


class TwoTails(NamedTuple):
    """The p-value, its logarithm to base 10, a bound on its relative error, and the observed table's probability."""

    pvalue: float
    log10_pvalue: float
    error: float
    point: float


def two_tails(a: IntArray, b: IntArray) -> TwoTails:
    """The probability of all tables with the margins of this one that are no likelier, at any size."""
    x, drawn, total = int(a[0]), int(a.sum()), int(a.sum() + b.sum())
    marked = int(a[0] + b[0])
    if total <= SMALL:
        return _in_whole_numbers(x, drawn, marked, total)
    if x < (drawn + 1) * (marked + 1) // (total + 2):  # below the mode: the other class is not
        x, marked = drawn - x, total - marked
    lowest = max(0, marked + drawn - total)

    def parts(y: int) -> tuple[int, int, int, int]:
        return y, marked - y, drawn - y, total - marked - drawn + y

    def heavier(y: int) -> bool:
        """True if y is likelier than x, by floats if these are precise enough."""
        more = sum(math.lgamma(n + 1) - math.lgamma(m + 1) for n, m in zip(parts(x), parts(y), strict=True))
        if abs(more) > 1e-14 * math.lgamma(total + 2):
            return more > 0
        return sum(map(log_factorial, parts(x)), Decimal(0)) > sum(map(log_factorial, parts(y)), Decimal(0)) + _TIED

    with localcontext(DIGITS):
        own = hypergeometric_tail(total, marked, drawn, x)
        mode = (drawn + 1) * (marked + 1) // (total + 2)  # up to which likelihoods grow
        far = lowest + bisect_left(range(lowest, min(x, mode + 1)), True, key=heavier)
        if far >= x:
            return TwoTails(1.0, 0.0, 0.0, math.exp(own.point))
        other = hypergeometric_tail(total, total - marked, drawn, drawn - far + 1)
        upper, lower = own.upper.exp(), other.upper.exp()
        log10 = min(0.0, float((upper + lower).log10()))
        p = min(1.0, float(upper + lower))
    return TwoTails(p, log10, error_bound(p, max(own.error, other.error) + 2 * ROUNDING), math.exp(own.point))


def _in_whole_numbers(x: int, drawn: int, marked: int, total: int) -> TwoTails:
    lowest, highest = max(0, marked + drawn - total), min(marked, drawn)
    ways = [math.comb(marked, lowest) * math.comb(total - marked, drawn - lowest)]
    for y in range(lowest, highest):
        ways.append(ways[-1] * (marked - y) * (drawn - y) // ((y + 1) * (total - marked - drawn + y + 1)))
    observed, everything = ways[x - lowest], math.comb(total, drawn)
    extreme = sum(way for way in ways if way <= observed)
    p, log10 = extreme / everything, math.log10(extreme) - math.log10(everything)
    return TwoTails(p, min(0.0, log10), error_bound(p), observed / everything)


def difference_interval(a: IntArray, b: IntArray, confidence_level: float) -> Interval:
    """The interval of the share of the first class in A minus that in B (Newcombe 1998, method 10)."""
    z = float(ndtri((1 + confidence_level) / 2))
    shares, ends = [], []
    for counts in (a, b):
        k, n = int(counts[0]), int(counts.sum())
        half = z * math.sqrt(k * (n - k) / n + z * z / 4)
        shares.append(k / n)
        ends.append(((k + z * z / 2 - half) / (n + z * z), (k + z * z / 2 + half) / (n + z * z)))
    (p, q), ((low, high), (other_low, other_high)) = shares, ends
    below, above = math.hypot(p - low, other_high - q), math.hypot(high - p, q - other_low)
    return Interval(p - q - below, p - q + above, confidence_level)
