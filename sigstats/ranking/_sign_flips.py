"""The p-values of all ordered pairs of models by changes of sign."""

from typing import Any

import numpy as np

from .._common.extreme import TIE_TOLERANCE
from .._common.validation import FloatArray
from ..sign_flips.in_doubles import tails_in_doubles
from ..sign_flips.law import MOST_BITS, both_tails, work_of_tails
from ..sign_flips.many_tails import tails_of_sums
from ..sign_flips.units import whole_differences, whole_units

_CHUNK = 2**22
#: How wide the bounds of p-values of scores may be, as a share, where they cannot be summed exactly.
_WIDTH = 0.01
#: The longest sums in doubles: whole magnitudes' total times their number.
_SHORT = 4 * 10**6


def pairs_by_sign_flips(sums: FloatArray) -> FloatArray:
    """One-sided p-values of all ordered pairs by changes of sign, each exact where all can be in a few seconds."""
    k = sums.shape[1]
    p = np.ones((k, k))
    units = whole_differences(sums)
    scores, affordable = (sums if units is None else units), MOST_BITS / (k * (k - 1) // 2)
    wide: list[tuple[int, int]] = []
    for a in range(k):
        for b in range(a + 1, k):
            magnitudes, positive, negative = _signed_sums(scores[:, a] - scores[:, b], whole=units is not None)
            if work_of_tails(magnitudes) <= affordable:
                tails = both_tails(magnitudes, positive, negative, width=_WIDTH) if len(magnitudes) else ()
                p[a, b], p[b, a] = (tail.high for tail in tails) if tails else (1.0, 1.0)
            elif units is not None and len(magnitudes) * (positive + negative) <= _SHORT:
                p[a, b], p[b, a] = (high for _, high in tails_in_doubles(magnitudes, positive, negative))
            else:
                wide.append((a, b))
    step = max(1, _CHUNK // len(sums))
    for start in range(0, len(wide), step):
        first, second = np.array(wide[start : start + step]).T
        p[first, second], p[second, first] = _bounded(scores[:, first].T - scores[:, second].T)
    return p


def _signed_sums(difference: Any, *, whole: bool) -> tuple[Any, Any, Any]:
    if not whole:
        return whole_units(difference)
    difference //= np.gcd.reduce(difference) or 1
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
