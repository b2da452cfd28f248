"""The p-values of all ordered pairs of models by changes of sign."""

from typing import Any

import numpy as np

from .._common.extreme import TIE_TOLERANCE
from .._common.validation import FloatArray
from ..sign_flips.in_doubles import tails_in_doubles
from ..sign_flips.law import MOST_BITS, both_tails, work_of_tails
from ..sign_flips.long_sums import tails_of_long_sum
from ..sign_flips.many_tails import tails_of_sums
from ..sign_flips.units import whole_differences, whole_units

_CHUNK = 2**22
#: How wide the bounds of p-values of scores may be, as a share, where they cannot be summed exactly.
_WIDTH = 0.01
#: The longest sums in doubles: whole magnitudes' total times their number.
_SHORT = 4 * 10**6
#: From so many magnitudes on, bounds may come from the sums of their powers; from the second number on no exact law of
#: whole magnitudes is affordable, unless all are equal.
_LONG, _ANY_LAW = 2000, 2**16


def pairs_by_sign_flips(sums: FloatArray) -> FloatArray:
    """One-sided p-values of all ordered pairs by changes of sign, each exact where all can be in a few seconds."""
    k = sums.shape[1]
    p = np.ones((k, k))
    units = whole_differences(sums)
    scores, affordable = np.asfortranarray(sums if units is None else units), MOST_BITS / (k * (k - 1) // 2)
    wide: list[tuple[int, int]] = []
    for a in range(k):
        for b in range(a + 1, k):
            found = _of_pair(scores[:, a] - scores[:, b], affordable)
            if found is None:
                wide.append((a, b))
            else:
                p[a, b], p[b, a] = found
    step = max(1, _CHUNK // len(sums))
    for start in range(0, len(wide), step):
        first, second = np.array(wide[start : start + step]).T
        p[first, second], p[second, first] = _bounded(scores[:, first].T - scores[:, second].T)
    return p


def _of_pair(difference: Any, affordable: float) -> tuple[float, float] | None:
    """The p-values that the first is better and that the second is; None of sums that are bounded many at once."""
    whole = difference.dtype.kind == "i"
    nonzero = np.count_nonzero(difference)
    if nonzero == 0:
        return 1.0, 1.0
    if whole:
        difference //= np.gcd.reduce(difference)
    long = nonzero >= (_ANY_LAW if whole else _LONG)
    found = _of_long_sum(difference) if long else None
    if found is not None:
        return found
    magnitudes, positive, negative = _signed_sums(difference)
    if work_of_tails(magnitudes) <= affordable:
        one, other = both_tails(magnitudes, positive, negative, width=_WIDTH)
        return one.high, other.high
    if whole and len(magnitudes) * (positive + negative) <= _SHORT:
        (_, high), (_, other_high) = tails_in_doubles(magnitudes, positive, negative)
        return high, other_high
    return None if long or nonzero < _LONG else _of_long_sum(difference)


def _of_long_sum(difference: Any) -> tuple[float, float] | None:
    magnitudes = np.abs(difference)
    if difference.dtype.kind == "i" and magnitudes.max() == 1:
        return None  # a binomial law
    positive = difference[difference > 0].sum()
    larger = max(positive, magnitudes.sum() - positive)
    found = tails_of_long_sum(magnitudes, larger, width=_WIDTH)
    if found is None:
        return None
    low, high = found
    return (high, 1 - low) if positive >= larger else (1 - low, high)


def _signed_sums(difference: Any) -> tuple[Any, Any, Any]:
    if difference.dtype.kind != "i":
        return whole_units(difference)
    magnitudes = np.abs(difference[difference != 0]).tolist()
    positive = int(difference[difference > 0].sum())
    return magnitudes, positive, int(sum(magnitudes)) - positive


def _bounded(differences: Any) -> tuple[FloatArray, FloatArray]:
    """Upper bounds of the p-values that the first of each pair (a row) is better, and that the second is."""
    magnitudes = np.abs(differences)
    positive = np.maximum(differences, 0).sum(axis=1)
    larger = np.maximum(positive, magnitudes.sum(axis=1) - positive).astype(np.float64)
    # Whole sums lie a unit apart; others within the tolerance of ties count as equal.
    apart = 0.5 if differences.dtype.kind == "i" else TIE_TOLERANCE * larger
    low, high = tails_of_sums(magnitudes.astype(np.float64), larger - apart, larger + apart, width=_WIDTH)
    ahead = positive >= larger
    return np.where(ahead, high, 1 - low), np.where(ahead, 1 - low, high)
