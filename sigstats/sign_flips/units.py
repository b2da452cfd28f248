"""Paired differences in units of which they are whole numbers, where there are such units."""

import math
from collections.abc import Iterable, Mapping, Set
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .._common.validation import FloatArray, as_reals, refuse

#: Differences that are multiples of a fraction with no larger denominator are taken for these multiples.
MOST_DENOMINATOR = 10**6
_FEW = 8
#: How far a double may be from its fraction, as a share of the largest; the same in single precision, where only small
#: denominators tell such fractions apart.
_NEAR, _NEAR_IN_FLOATS, _MOST_OF_FLOATS = 1e-12, 2.0**-21, 1000
#: The largest magnitude of a difference: its products with sizes can be squared and added.
LARGEST = 1e75
#: The smallest unit of exact differences, and how many of it one may be, so that both are floats of full precision.
_SMALLEST_UNIT, _MOST_UNITS = 1e-300, 10**300
#: The largest sum of whole differences in int64.


def as_units(differences: Any) -> tuple[list[Any], float, bool]:
    """The differences in whole units with the size of the unit, or as floats; and whether they are whole.

    An array of single precision holds tenths and the like to seven digits, and differences of them to fewer.

    >>> as_units([0.5, -0.25, 0.0])
    ([2, -1, 0], 0.25, True)
    >>> as_units(np.array([0.3, 0.7], dtype=np.float32) - np.float32(0.1))
    ([1, 3], 0.2, True)
    """
    if isinstance(differences, (Set, Mapping)):  # they have no order
        raise refuse("differences", differences, "a sequence of numbers")
    try:
        given = list(differences)
    except Exception:  # an object that may raise anything
        raise refuse("differences", differences, "a sequence of numbers") from None
    if given and all(isinstance(each, (int, Fraction)) and not isinstance(each, bool) for each in given):
        fractions = {each: Fraction(each) for each in set(given)}
    else:
        reals = as_reals(differences, "differences", ndim=1)
        largest = float(np.abs(reals).max())
        if largest > LARGEST:
            require_moderate(reals, "differences")
        floats = getattr(differences, "dtype", None) == np.float32
        near = _near_fractions((reals[:_FEW], reals), largest, floats=floats)
        if near is None:
            return reals.tolist(), 1.0, False
        given, fractions = reals.tolist(), near
    require_moderate((each for each in given if abs(each) > LARGEST), "differences")
    common = math.lcm(*(each.denominator for each in fractions.values()))
    whole = {each: int(fraction * common) for each, fraction in fractions.items()}
    divisor = math.gcd(*whole.values()) or 1
    scale = Fraction(divisor, common)
    if scale < _SMALLEST_UNIT or max(map(abs, whole.values())) > _MOST_UNITS * divisor:
        return [float(fractions[each]) for each in given], 1.0, False
    units = {each: size // divisor for each, size in whole.items()}
    return [units[each] for each in given], float(scale), True


def _near_fractions(
    parts: Iterable[FloatArray], largest: float, *, floats: bool = False
) -> dict[float, Fraction] | None:
    """The fraction that each number stands for, or None where some stand for none with a common denominator.

    A first part of a few numbers shows of most, before all are sorted, that they have none.
    """
    most, away = (_MOST_OF_FLOATS, _NEAR_IN_FLOATS) if floats else (MOST_DENOMINATOR, _NEAR)
    near: dict[float, Fraction] = {}
    common = 1
    for part in parts:
        for each in np.unique(part).tolist():
            near[each] = Fraction(each).limit_denominator(most)
            common = math.lcm(common, near[each].denominator)
            if abs(float(near[each]) - each) > away * largest or common > most:
                return None
    return near


class SignedSums(NamedTuple):
    """What the law of sums with random signs needs of differences: all whole numbers, or all floats."""

    #: Of the differences that are not 0.
    magnitudes: Any
    #: The sums of the magnitudes of the positive and of the negative differences.
    positive: Any
    negative: Any


def signed_sums(units: list[Any], *, exact: bool) -> SignedSums:
    """The magnitudes and sums of differences as `as_units` gives them.

    >>> signed_sums([2, -1, 0], exact=True)
    SignedSums(magnitudes=[2, 1], positive=2, negative=1)
    """
    if exact:
        magnitudes = [abs(each) for each in units if each]
        positive = sum(each for each in units if each > 0)
        return SignedSums(magnitudes, positive, sum(magnitudes) - positive)
    values = np.array(units)
    # Not the total less the positive ones, which leaves few digits of a small sum.
    return SignedSums(np.abs(values[values != 0]), float(values[values > 0].sum()), float(-values[values < 0].sum()))


def require_moderate(numbers: Iterable[Any], name: str) -> None:
    """Refuse numbers whose squares overflow."""
    huge = [each for each in numbers if abs(each) > LARGEST]
    if huge:
        raise refuse(name, huge[0], f"numbers between {-LARGEST:g} and {LARGEST:g}")
