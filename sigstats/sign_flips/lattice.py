r"""Bounds of tails of a sum of real magnitudes that a fair coin each puts in or leaves out.

The magnitudes are rounded to multiples of a step, and the law of the rounded sum is found in double precision: after an
exponential tilt that moves its mean to the threshold (Esscher 1932) its characteristic function
:math:`\prod_m (q_m + p_m e^{-i \omega m})` is evaluated at the roots of unity and transformed back. The tail is then a
sum of large terms, so that absolute errors of the transform are small relative ones. Hoeffding's (1963) inequality
bounds what the rounding of magnitudes changes, and how much of the law lies outside of the lattice; the rounding of
floats is bounded as Higham (2002, Accuracy and Stability of Numerical Algorithms, section 24.1) bounds that of the
transform.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, ndtr

from .._common.extreme import TIE_TOLERANCE
from .._common.validation import FloatArray, IntArray

#: The number of lattice points, over so many standard deviations to either side.
_POINTS, _REACH = 2**17, 14
_EPS = float(np.finfo(np.float64).eps)


class Bounds(NamedTuple):
    """Bounds of a tail probability."""

    low: float
    high: float


def tail_on_lattice(magnitudes: FloatArray, threshold: float) -> Bounds:
    """Bounds of ``P(sum of B_i m_i >= threshold)`` for fair coins B.

    Rounding m_i to m_i + e_i moves the sum by the sum of B_i e_i, whose mean is known and which deviates from it by u
    with a probability of at most ``2 exp(-2 u^2 / sum of e_i^2)`` (Hoeffding 1963, theorem 2).

    Parameters
    ----------
    magnitudes : array of float
        All positive.
    threshold : float

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats.sign_flips.lattice import tail_on_lattice
    >>> low, high = tail_on_lattice(np.full(60, 0.1), 3.45)  # 35 or more heads of 60: 0.12253
    >>> low <= 0.12253 <= high < 0.1227
    True
    """
    spread = math.sqrt(float((magnitudes**2).sum())) / 2
    step = 2 * _REACH * spread / _POINTS
    whole = np.rint(magnitudes / step).astype(np.int64)
    errors = whole * step - magnitudes
    least = threshold - TIE_TOLERANCE * abs(threshold) + float(errors.sum()) / 2
    # How far the rounding may reach depends on the tail itself: a thousandth of a normal one is left to chance.
    chance = max(float(ndtr(-(threshold - float(magnitudes.sum()) / 2) / spread)), 1e-290) / 1000
    reach = math.sqrt(float((errors**2).sum()) * math.log(2 / chance) / 2)
    total = int(whole.sum())
    first, last = (min(max(math.ceil((least + side) / step), 0), total) for side in (-reach, reach))
    outer, inner = _tails(whole[whole > 0], first, last)
    return Bounds(max(0.0, inner.low - chance), min(1.0, outer.high + chance))


def _tails(whole: IntArray, first: int, last: int) -> tuple[Bounds, Bounds]:
    """Bounds of the tails of a sum of whole magnitudes from two near positions on, by one law tilted to the first."""
    sizes, times = np.unique(whole, return_counts=True)
    tilt = tilt_to(sizes, times, first)
    shares = expit(tilt * sizes)
    start = round(float((times * sizes * shares).sum())) - _POINTS // 2
    law = _law(sizes, times, shares, start=start)
    # Each factor and each level of the transform rounds; the mass of the law is 1.
    error = 8 * _EPS * (2 * len(sizes) + 4 * float(np.log2(times).sum()) + math.log2(_POINTS))
    wrapped = 2 * math.exp(-((_REACH - 1) ** 2) / 2)
    log_scale = float((times * (np.logaddexp(0.0, tilt * sizes) - math.log(2))).sum())

    def bounds(position: int) -> Bounds:
        inside = law[max(0, position - start) :]
        weights = np.exp(-tilt * (np.arange(_POINTS - len(inside), _POINTS) + start - position))
        mass, slack = float(inside @ weights), error * float(weights.sum()) + wrapped
        scale = math.exp(min(0.0, log_scale - tilt * position))
        return Bounds(max(0.0, (mass - slack) * scale), min(1.0, (mass + slack) * scale))

    return bounds(first), bounds(last)


def tilt_to(sizes: Any, times: Any, threshold: float) -> float:
    """The exponent that moves the mean of a sum of so many magnitudes of each size to the threshold; never below 0.

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats.sign_flips.lattice import tilt_to
    >>> round(tilt_to(np.array([1]), np.array([4]), 3), 6)  # three of four have the odds 3
    1.098612
    """
    low, high = 0.0, 1.0 / float(sizes.max())

    def mean(tilt: float) -> float:
        return float((times * sizes * expit(tilt * sizes)).sum())

    while mean(high) < threshold and high * float(sizes.min()) < 600:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < threshold else (low, middle)
    return low


def _law(sizes: IntArray, times: IntArray, shares: FloatArray, *, start: int) -> FloatArray:
    """The probabilities of the sums from `start` on, modulo the number of lattice points."""
    frequencies = np.arange(_POINTS // 2 + 1)
    roots = np.exp(-2j * np.pi * np.arange(_POINTS) / _POINTS)
    found = roots[-start * frequencies % _POINTS]
    for size, count, share in zip(sizes.tolist(), times.tolist(), shares.tolist(), strict=True):
        factor = roots[size * frequencies % _POINTS]
        factor *= share
        factor += 1 - share
        found *= factor if count == 1 else factor**count
    return np.asarray(np.fft.irfft(found, _POINTS), dtype=np.float64)
