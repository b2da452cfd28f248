"""The law of a sum of whole magnitudes that fair coins include or exclude, summed in doubles.

Each magnitude adds the weights of the sums that include it to those of the sums without it. All terms are positive, so
that each addition costs at most one rounding. Wide laws are kept as two halves, with every second magnitude in each;
their convolution is summed only over the tail.
"""

from collections.abc import Sequence

import numpy as np

from .._common.validation import FloatArray

#: Up to this total of the magnitudes times their number all are summed into one law, above it into two of half as many.
_ONE_LAW = 4 * 10**6
_PIECE, _STRIDE = 2**12, 2**16
#: The number of additions after which terms are scaled down, since each may double the largest one.
_STEPS = 512
#: Bound of the sum of terms that are too small for a double.
_LOST = 1e-290


def tail_in_doubles(magnitudes: Sequence[int], threshold: int) -> tuple[float, float]:
    """Return bounds of ``P(S >= threshold)``."""
    if len(magnitudes) * sum(magnitudes) <= _ONE_LAW:
        law, scale = _law(sorted(magnitudes))
        p = float(law[max(0, threshold) :].sum()) * scale
        steps = len(magnitudes) + 100
    else:
        one, scale = _law(sorted(magnitudes)[::2])
        other, other_scale = _law(sorted(magnitudes)[1::2])
        p = _of_halves(one, _from_here_on(other), threshold) * scale * other_scale
        steps = len(magnitudes) + 100 + 2 * _PIECE + (len(one) + len(other)) // _PIECE
    rounding = steps * 2.0**-52
    return max(0.0, p * (1 - rounding) - _LOST), min(1.0, p * (1 + rounding) + _LOST)


def probabilities_below(magnitudes: Sequence[int], bound: int) -> FloatArray:
    """``P(S <= s)`` for s from 0 up to, but not including, `bound`; one rounding per magnitude and per sum."""
    law, scale = _law(magnitudes, bound)
    return law[:bound].cumsum() * scale


def _law(magnitudes: Sequence[int], bound: int | None = None) -> tuple[FloatArray, float]:
    """Return the weights of the sums, or of those below a bound, and the factor that makes them probabilities."""
    bound = sum(magnitudes) + 1 if bound is None else bound
    law = np.zeros(-(-bound // _PIECE) * _PIECE)
    law[0], reach = 1.0, 0
    for step, size in enumerate(magnitudes, 1):
        # From above, so that what is added is still as it was.
        for end in range(min(reach + 1, bound - size), 0, -_STRIDE):
            start = max(0, end - _STRIDE)
            law[size + start : size + end] += law[start:end].copy()
        reach += size
        if step % _STEPS == 0:
            law *= 2.0**-_STEPS
    return law, 2.0 ** -(len(magnitudes) % _STEPS)


def _from_here_on(law: FloatArray) -> FloatArray:
    """Return the sum of the weights from each position on, added in blocks so that no sum has many terms."""
    within = law.reshape(-1, _PIECE)[::-1, ::-1]
    within.cumsum(axis=1, out=within)
    within[1:] += within[:-1, -1].cumsum()[:, None]
    return law


def _of_halves(one: FloatArray, from_here_on: FloatArray, threshold: int) -> float:
    """Return the weight of sums over both halves that reach the threshold."""
    first, last = max(0, threshold - len(from_here_on) + 1), min(len(one), max(0, threshold))
    value = float(one[last:].sum()) * float(from_here_on[0])
    for start in range(first, last, _STRIDE):
        end = min(last, start + _STRIDE)
        value += float((one[start:end] * from_here_on[threshold - end + 1 : threshold - start + 1][::-1]).sum())
    return value
