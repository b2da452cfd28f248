"""The fractions that floating numbers were meant to be."""

import math
from collections.abc import Sequence
from fractions import Fraction


def probabilities_as_fractions(probabilities: Sequence[float]) -> list[Fraction] | None:
    """The simplest fraction near each double, if these sum to 1 exactly; else None.

    A probability that was written as a decimal or divided from whole numbers is within rounding of that fraction, and
    of no simpler one.

    Examples
    --------
    >>> from sigstats._common.rationals import probabilities_as_fractions
    >>> probabilities_as_fractions([0.3, 0.2, 1 - 0.3 - 0.2])
    [Fraction(3, 10), Fraction(1, 5), Fraction(1, 2)]
    >>> probabilities_as_fractions([1 / 2000000001, 1e9 / 2000000001, 1e9 / 2000000001])[0]
    Fraction(1, 2000000001)
    >>> probabilities_as_fractions([2**-0.5, 0.2, 0.1]) is None
    True
    """
    roundings = [Fraction(math.ulp(each)) * 2 for each in probabilities]
    values = [Fraction(each) for each in probabilities]
    found = [_simplest(value - rounding, value + rounding) for value, rounding in zip(values, roundings, strict=True)]
    if sum(found) == 1:
        return found
    # A large share of large whole numbers has simpler neighbours; a small one tells what all were divided by.
    for whole in sorted({each.denominator for each in found}, reverse=True):
        shares = [Fraction(round(value * whole), whole) for value in values]
        near = zip(shares, values, roundings, strict=True)
        if sum(shares) == 1 and all(abs(share - value) <= rounding for share, value, rounding in near):
            return shares
    return None


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of the least denominator between two that are not negative."""
    whole = math.floor(low)
    if low <= 0 or whole == low:
        return Fraction(whole if low > 0 else 0)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))
