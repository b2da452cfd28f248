"""The meaning of "at least as extreme as observed", and bounds on the distance of a p-value from its definition.

Statistics that are counts are compared as integers and need nothing from here. Where a statistic is a floating
number (a probability, a chi-square), values that are equal in exact arithmetic differ in their last bits, and a
plain ``<=`` then leaves the observed outcome's own ties out of the p-value. All such comparisons use
`TIE_TOLERANCE`, relative: larger than the rounding of any statistic in this package, smaller than the relative
distance of any two values that differ in exact arithmetic in practice (every tolerance from 1e-14 to 1e-7 gives the
same p-values on thousands of enumerated multinomial cases).

A bound on the distance of a p-value from the number that its method defines ("How sure the number is" in
docs/methods.md) is composed of relative errors; this module has the common parts.
"""

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .validation import FloatArray, Limits, as_reals

#: Two floating statistics closer than this, relative to the observed one, are equal.
TIE_TOLERANCE = 1e-10


def at_most(values: ArrayLike, observed: float) -> NDArray[np.bool_]:
    """Return a mask of `values` smaller than `observed` or tied with it."""
    return np.asarray(values) <= observed + TIE_TOLERANCE * abs(observed)


def at_least(values: ArrayLike, observed: float) -> NDArray[np.bool_]:
    """Return a mask of `values` greater than `observed` or tied with it."""
    return np.asarray(values) >= observed - TIE_TOLERANCE * abs(observed)


def difference(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a minus B, and exactly 0 if the two are tied."""
    values: FloatArray = a - b
    values[np.abs(values) <= TIE_TOLERANCE * np.maximum(np.abs(a), np.abs(b))] = 0.0
    return values


def ties_as_equal(table: FloatArray) -> FloatArray:
    """Return the table with equal values where values of a row differ only by rounding."""
    order = np.argsort(table, axis=1, kind="stable")
    rising = np.take_along_axis(table, order, axis=1)
    before, after = rising[:, :-1], rising[:, 1:]
    tied = np.zeros(table.shape, dtype=np.bool_)
    tied[:, 1:] = after - before <= TIE_TOLERANCE * np.maximum(np.abs(before), np.abs(after))
    first = np.maximum.accumulate(np.where(tied, 0, np.arange(table.shape[1])), axis=1)
    values = np.empty_like(table)
    np.put_along_axis(values, order, np.take_along_axis(rising, first, axis=1), axis=1)
    return values


def monte_carlo_pvalue(exceedances: int, replicates: int) -> float:
    """``(exceedances + 1) / (replicates + 1)``: a valid p-value from random replicates.

    Under the null hypothesis the observed outcome is one more draw of the same kind, so it counts among the draws;
    without the +1 the p-value could be 0 and would reject too often (Nyssen, p'; Ojala and Garriga; Davison and
    Hinkley 1997, eq. 4.11).
    """
    return (exceedances + 1) / (replicates + 1)


def exchange_floor(units: int, alternative: str) -> float:
    """Return the smallest p-value of a test that exchanges A and B at random in `units` independent, unequal units.

    The ``2**units`` outcomes are equally likely if neither is better. The observed one is at least as extreme as
    itself, and in a two-sided test so is the one with all units exchanged.
    """
    exponent = 1 - units if alternative == "two-sided" else -units
    return min(1.0, math.ldexp(1.0, max(exponent, -1074)))  # the smallest double, not 0


#: The relative error of one rounding to double precision: half a unit in the last place.
ROUNDING = 2.0**-53


def error_bound(pvalue: float, relative: float = ROUNDING) -> float:
    """Return the bound of a p-value that was computed with this relative error.

    Below the smallest normal double (2.2e-308) the spacing of the doubles is added; a 0 in place of a positive number
    has a relative error of 1.
    """
    if pvalue >= sys.float_info.min:
        return min(1.0, relative)
    return min(1.0, relative + math.ulp(0.0) / pvalue) if pvalue > 0 else 1.0


def drawn_error(pvalue: float, draws: int) -> float:
    """Return the standard error of a p-value from this many draws; if p is 1, as if one draw were less extreme."""
    pvalue = min(pvalue, draws / (draws + 1))
    return math.sqrt(pvalue * (1 - pvalue) / draws)


def width_of(low: float, high: float) -> float:
    """Return the relative error of the upper of two bounds that were rounded."""
    return min(1.0, (high - low) / high + 2 * ROUNDING) if high > 0 else 1.0


def of_logarithm(error: float) -> float:
    """Return the relative error of a number, from the absolute error of its natural logarithm."""
    return math.expm1(error) + 2 * ROUNDING


def expected_counts_warning(expected: ArrayLike) -> str:
    """Return a warning if these expected counts are too small for chi-square (Cochran 1954), or an empty text."""
    counts = as_reals(expected, "expected")
    low = int((counts < 5).sum())
    if counts.min() >= 1 and 5 * low <= counts.size:
        return ""
    return (
        f"warning: the chi-square approximation is unsafe: the smallest expected count is {counts.min():.3g}, "
        f"and {low} of {counts.size} are below 5"
    )


def span_of(scores: NDArray[Any], limits: Limits) -> float | None:
    """Return the distance of the limits if all scores, or all negated scores, lie within them; otherwise None."""
    if limits is None:
        return None
    least, most, (low, high) = float(scores.min()), float(scores.max()), limits
    inside = (low <= least and most <= high) or (low <= -most and -least <= high)
    return high - low if inside else None
