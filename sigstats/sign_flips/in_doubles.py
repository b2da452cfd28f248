"""Tails of whole magnitudes that fair coins put in or leave out, by sums of positive doubles with bounds that hold.

Nothing is ever subtracted, so that every probability keeps all but a few of its digits.

When not to use: magnitudes whose total times their number exceeds some millions (`sigstats.sign_flips.many_tails`).
"""

from collections.abc import Sequence

import numpy as np

#: So many additions double the largest term no further than a double reaches.
_STEPS = 512
#: What terms too small for a double may add up to.
_LOST = 1e-290


def tails_in_doubles(magnitudes: Sequence[int], *thresholds: int) -> list[tuple[float, float]]:
    """Bounds of ``P(S >= threshold)`` for each threshold.

    Examples
    --------
    >>> from sigstats.sign_flips.in_doubles import tails_in_doubles
    >>> ((low, high),) = tails_in_doubles([1, 2, 5], 6)  # 1 + 5, 2 + 5 and 1 + 2 + 5 of 8 sums
    >>> low < 0.375 < high, high - low < 1e-13
    (True, True)
    """
    law = np.zeros(sum(magnitudes) + 1)
    law[0], reach = 1.0, 0
    for step, size in enumerate(sorted(magnitudes), 1):
        law[size : size + reach + 1] += law[: reach + 1].copy()
        reach += size
        if step % _STEPS == 0:
            law *= 2.0**-_STEPS
    scale = 2.0 ** -(len(magnitudes) % _STEPS)
    rounding = (len(magnitudes) + 100) * 2.0**-52
    found = [float(law[max(0, threshold) :].sum()) * scale for threshold in thresholds]
    return [(max(0.0, p * (1 - rounding) - _LOST), min(1.0, p * (1 + rounding) + _LOST)) for p in found]
