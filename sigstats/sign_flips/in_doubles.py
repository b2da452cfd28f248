"""Tails of whole magnitudes that fair coins put in or leave out, by sums of positive doubles with bounds that hold.

Nothing is ever subtracted, so that every probability keeps all but a few of its digits.

When not to use: magnitudes whose total times their number exceeds a billion (`sigstats.sign_flips.fourier`).
"""

from collections.abc import Sequence

import numpy as np

from .._common.validation import FloatArray

#: Up to this total of the magnitudes times their number all are summed into one law, above it into two of half as many.
_ONE_LAW = 4 * 10**6
_BLOCK, _CHUNK = 2**12, 2**16
#: So many additions double the largest term no further than a double reaches.
_STEPS = 512
#: What terms too small for a double may add up to.
_LOST = 1e-290


def tail_in_doubles(magnitudes: Sequence[int], threshold: int) -> tuple[float, float]:
    """Bounds of ``P(S >= threshold)``.

    >>> low, high = tail_in_doubles([1, 2, 5], 6)  # 1 + 5, 2 + 5 and 1 + 2 + 5 of 8 sums
    >>> low < 0.375 < high, high - low < 1e-13
    (True, True)
    """
    if len(magnitudes) * sum(magnitudes) <= _ONE_LAW:
        law, scale = _law(sorted(magnitudes))
        p = float(law[max(0, threshold) :].sum()) * scale
        steps = len(magnitudes) + 100
    else:
        one, scale = _law(sorted(magnitudes)[::2])
        other, other_scale = _law(sorted(magnitudes)[1::2])
        p = _of_halves(one, _from_here_on(other), threshold) * scale * other_scale
        steps = len(magnitudes) + 100 + 2 * _BLOCK + (len(one) + len(other)) // _BLOCK
    rounding = steps * 2.0**-52
    return max(0.0, p * (1 - rounding) - _LOST), min(1.0, p * (1 + rounding) + _LOST)


def probabilities_below(magnitudes: Sequence[int], bound: int) -> FloatArray:
    """``P(S <= s)`` for s from 0 to before `bound`, to as many roundings as there are magnitudes and sums.

    >>> probabilities_below([1, 2, 5], 4).tolist()
    [0.125, 0.25, 0.375, 0.5]
    """
    law, scale = _law(magnitudes, bound)
    return law[:bound].cumsum() * scale


def _law(magnitudes: Sequence[int], bound: int | None = None) -> tuple[FloatArray, float]:
    """The weights of the sums, or of those below a bound, and what makes probabilities of them."""
    bound = sum(magnitudes) + 1 if bound is None else bound
    law = np.zeros(-(-bound // _BLOCK) * _BLOCK)
    law[0], reach = 1.0, 0
    for step, size in enumerate(magnitudes, 1):
        # From above, so that what is added is still as it was.
        for end in range(min(reach + 1, bound - size), 0, -_CHUNK):
            start = max(0, end - _CHUNK)
            law[size + start : size + end] += law[start:end].copy()
        reach += size
        if step % _STEPS == 0:
            law *= 2.0**-_STEPS
    return law, 2.0 ** -(len(magnitudes) % _STEPS)


def _from_here_on(law: FloatArray) -> FloatArray:
    """The sums of all weights from each place on, by blocks, so that no sum has many terms."""
    within = law.reshape(-1, _BLOCK)[::-1, ::-1]
    within.cumsum(axis=1, out=within)
    within[1:] += within[:-1, -1].cumsum()[:, None]
    return law


def _of_halves(one: FloatArray, from_here_on: FloatArray, threshold: int) -> float:
    """The weight of sums of both halves of at least the threshold."""
    first, last = max(0, threshold - len(from_here_on) + 1), min(len(one), max(0, threshold))
    found = float(one[last:].sum()) * float(from_here_on[0])
    for start in range(first, last, _CHUNK):
        end = min(last, start + _CHUNK)
        found += float((one[start:end] * from_here_on[threshold - end + 1 : threshold - start + 1][::-1]).sum())
    return found
