"""Bounds on the distance of a p-value from the number that its method defines, and a check of chi-square.

A bound is a share of the larger of the two, and so at most 1. It is put together from the relative errors that the
analyses of docs/methods.md state; here is what all of them share. The rule for approximations is Cochran's (1954): no
expected count below 1, and at most a fifth of them below 5. Not part of the public names.

When not to use: what random replicates leave open. That is in the interval of the p-value.
"""

import math
import sys

from numpy.typing import ArrayLike

from .validation import as_reals

#: The relative error of one rounding to double precision: half a unit in the last place.
ROUNDING = 2.0**-53


def error_bound(pvalue: float, relative: float = ROUNDING) -> float:
    """The bound of a p-value that was computed with this relative error.

    Below the smallest normal double (2.2e-308) the spacing of the doubles is added; a 0 in place of a positive number
    is wrong by all of it.
    """
    if pvalue >= sys.float_info.min:
        return min(1.0, relative)
    return min(1.0, relative + math.ulp(0.0) / pvalue) if pvalue > 0 else 1.0


def width_of(low: float, high: float) -> float:
    """The relative error of the upper of two bounds that were rounded."""
    return min(1.0, (high - low) / high + 2 * ROUNDING) if high > 0 else 1.0


def of_logarithm(error: float) -> float:
    """The relative error of a number whose natural logarithm has this absolute error."""
    return math.expm1(error) + 2 * ROUNDING


def expected_counts_warning(expected: ArrayLike) -> str:
    """A warning where a chi-square approximation is unsafe at these expected counts; else empty."""
    counts = as_reals(expected, "expected")
    low = int((counts < 5).sum())
    if counts.min() >= 1 and 5 * low <= counts.size:
        return ""
    return (
        f"warning: the chi-square approximation is unsafe: the smallest expected count is {counts.min():.3g}, "
        f"and {low} of {counts.size} are below 5"
    )
