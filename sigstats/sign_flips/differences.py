"""Paired differences in units that make them whole numbers, and the score test of their mean.

The score test is meant for differences whose signs are not exchangeable.
"""

import math
from collections.abc import Mapping, Set
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .._common.validation import Alternative, FloatArray, as_reals, refuse, refuse_unsigned, refuse_where

#: Differences that are multiples of a fraction with no larger denominator are taken for these multiples.
MOST_DENOMINATOR = 10**6
_FEW = 8
#: The largest distance of a double from its fraction, as a share of the largest; also in single precision, where only
#: small denominators tell such fractions apart.
_NEAR, _NEAR_IN_FLOATS, _MOST_OF_FLOATS = 1e-12, 2.0**-21, 1000
#: The largest magnitude of a difference: its products with sizes can be squared and added.
LARGEST = 1e75
_MODERATE = f"numbers between {-LARGEST:g} and {LARGEST:g}"
#: The smallest unit of exact differences, and how many of it one may be, so that both are floats of full precision.
_SMALLEST_UNIT, _MOST_UNITS = 1e-300, 10**300
#: Whole numbers below the first are exact as doubles; those below the second fit into an int64.
_WHOLE, _MOST_UNIT = 2.0**53, 2**62


def as_units(differences: Any) -> tuple[NDArray[Any], float]:
    """Return differences in whole units (Python integers if huge) with the size of the unit, or as floats.

    An array of single precision holds tenths and the like to seven digits, and differences of them to fewer.
    """
    refuse_unsigned(differences, "differences")
    if isinstance(differences, (Set, Mapping)):  # they have no order
        raise refuse("differences", differences, "a sequence of numbers")
    try:
        numbers = isinstance(differences, np.ndarray) and differences.dtype.kind in "iuf"
        given = [] if numbers else list(differences)
    except Exception:  # an object that may raise anything
        raise refuse("differences", differences, "a sequence of numbers") from None
    if given and all(isinstance(value, (int, Fraction)) and not isinstance(value, bool) for value in given):
        denominator = math.lcm(*{value.denominator for value in given})
        multiples = np.array([value.numerator * (denominator // value.denominator) for value in given], dtype=object)
        too_large = abs(multiples) > int(LARGEST) * denominator
        refuse_where(too_large, np.array(given, dtype=object), "differences", _MODERATE)
    else:
        reals = as_reals(differences, "differences", ndim=1)
        refuse_where(np.abs(reals) > LARGEST, reals, "differences", _MODERATE)
        denominator = _common_denominator(reals, in_floats=getattr(differences, "dtype", None) == np.float32)
        if not denominator:
            return reals, 1.0
        multiples = np.rint(reals * denominator)
        if (np.abs(multiples) < _WHOLE).all():
            multiples = multiples.astype(np.int64)
        else:  # such large products are rounded
            multiples = np.array([round(Fraction(real) * denominator) for real in reals.tolist()], dtype=object)
    divisor = int(np.gcd.reduce(np.abs(multiples))) or 1
    units, size = multiples // divisor, Fraction(divisor, denominator)
    largest = int(np.abs(units).max())
    if size < _SMALLEST_UNIT or largest > _MOST_UNITS:  # only possible for exact numbers
        return np.array([float(value) for value in given]), 1.0
    return units.astype(np.int64 if largest < _MOST_UNIT else object), float(size)


def _common_denominator(reals: FloatArray, *, in_floats: bool) -> int:
    """Return the least common denominator of the fractions that the numbers represent, or 0 if some represent none.

    A number represents the nearest fraction with a denominator up to the largest allowed.
    """
    most, near = (_MOST_OF_FLOATS, _NEAR_IN_FLOATS) if in_floats else (MOST_DENOMINATOR, _NEAR)
    away = near * float(np.abs(reals).max())
    common, few = 1, _FEW
    while len(reals):
        for real in np.unique(reals[:few]).tolist():
            fraction = Fraction(real).limit_denominator(most)
            common = math.lcm(common, fraction.denominator)
            if abs(float(fraction) - real) > away or common > most:
                return 0
        reals = reals[few:]
        # A number closer than 1 / (2 common most) to a multiple of 1 / common is closer to no other fraction.
        reals = reals[_distance(reals, common) > min(away * common, 1 / (3 * most))]
        few *= 8
    return common


def _distance(reals: FloatArray, common: int) -> FloatArray:
    """Return the distances of ``reals * common`` from whole numbers, without rounding; 1 if doubles are too coarse."""
    moderate = np.abs(reals) * common < _WHOLE
    x = np.where(moderate, reals, 0.0)
    product, high = x * common, x.astype(np.float32).astype(np.float64)
    rest = (high * common - product) + (x - high) * common  # what the product has lost to rounding, exactly
    return np.where(moderate | (reals == np.rint(reals)), np.abs(product - np.rint(product) + rest), 1.0)


class SignedSums(NamedTuple):
    """Magnitudes and sums of differences, all whole numbers or all floats, for the law of sums with random signs."""

    #: The magnitudes of the differences that are not 0.
    magnitudes: NDArray[Any]
    #: The sums of the magnitudes of the positive and of the negative differences.
    positive: Any
    negative: Any


def signed_sums(units: NDArray[Any]) -> SignedSums:
    """Return the magnitudes and sums of differences as `as_units` gives them."""
    number: Any = float if units.dtype.kind == "f" else object
    # Not the total less the positive ones, which leaves few digits of a small sum of floats.
    sums = units[units > 0].sum(dtype=number), -units[units < 0].sum(dtype=number)
    return SignedSums(np.abs(units[units != 0]), *sums)


def score_pvalue(differences: FloatArray, sizes: FloatArray, limit: float, alternative: Alternative) -> float:
    """Return the p-value of the score test with the variance of the likeliest law of mean 0; 1 if no item differs.

    >>> score_pvalue(np.repeat([1.0, -1.0], [9, 1]), np.ones(10), 1.0, "greater")  # (9 - 1)**2 / (9 + 1) = 6.4 = z**2
    0.005706018193000826
    """
    total = float(differences.sum())
    variance = len(differences) * null_variance(differences, float(sizes.mean()), limit) if total else 0.0
    if variance == 0:
        return 1.0 if alternative == "two-sided" or total == 0 else 0.5
    z = total / math.sqrt(variance)
    tail = {"greater": -z, "less": z, "two-sided": -abs(z)}[alternative]
    return max(float(ndtr(tail)) * (2 if alternative == "two-sided" else 1), math.ulp(0.0))


def null_variance(residuals: FloatArray, size: float, limit: float) -> float:
    """Return the residual variance of an item under the likeliest law of mean 0, maybe with extreme residuals.

    The likelihood (Owen 1988, Biometrika 75, 237-249) gives residual r the probability ``1 / (n (1 + t r))``; if the
    mean cannot be 0 otherwise, an unseen residual at an end of the range gets the remaining probability.
    """
    from scipy.optimize import brentq

    top = max(size * limit, float(residuals.max()))
    bottom = min(-size * limit, float(residuals.min()))
    if top <= 0 or bottom >= 0:
        return float((residuals**2).mean())

    def balance(t: float) -> float:
        with np.errstate(divide="ignore"):
            terms = residuals / (1 + t * residuals)
        # A residual at an end of the range makes the balance infinite there.
        return float(terms.sum()) if np.isfinite(terms).all() else math.copysign(1e300, -t)

    low, high = -1 / top, -1 / bottom
    unseen = 0.0
    if balance(low) <= 0:
        t, unseen = low, top
    elif balance(high) >= 0:
        t, unseen = high, bottom
    else:
        t = float(brentq(balance, low, high, xtol=1e-15 * (high - low)))
    shares = 1 / (len(residuals) * (1 + t * residuals))
    missing = max(0.0, 1 - float(shares.sum())) if unseen else 0.0
    return float((shares * residuals**2).sum() + missing * unseen**2)
