"""Certified bounds of the tail of a sum of magnitudes that fair coins include or exclude.

Selberg's polynomials of degree J lie above and below the indicator of an interval on a circle; their expectations are
finite sums of J values of the characteristic function, a product over the magnitudes (see
`sigstats.conditional.fourier_bounds`, which does the same for tables). Under the exponentially tilted law, whose mean
is the threshold, the bounds are relative to the tail. What is neglected is bounded and added: sums beyond the circle
(Hoeffding 1963, theorem 2), frequencies at which a part of the product is already tiny, and rounding.

When not to use: few magnitudes, whose sums can be enumerated, or sums on few whole numbers: a single tie may outweigh
the width.

Laws that are not too wide are summed in doubles, without subtractions.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .._common.fourier import as_turns, points_at, tilted_expectation
from .._common.validation import FloatArray

#: The most frequencies, and the most (frequency, magnitude) pairs besides some for each magnitude: half a second.
_MOST_FREQUENCIES, _MOST_WORK = 2**18, 10**7
_BLOCK, _CHUNK = 2**13, 2**20
#: Bounds that are wider than ties make them by less than this are left, once so many frequencies tell them apart.
_MOSTLY_TIES, _FEW_FREQUENCIES = 1.25, 2**14
#: Below it the modulus of a characteristic function counts as doubt, not as a value.
_TINY = 1e-15
_MISSED = 1e-15
#: Tails whose logarithm is below the first need no smaller width than the second.
_FAR, _WIDTH_FAR = math.log(1e-5), 0.02


def tail_bounds(
    sizes: FloatArray, times: FloatArray, threshold: float, *, slack: float, width: float
) -> tuple[float, float, float]:
    """Return the lower and upper bound of ``P(S >= threshold)`` and the logarithm of the upper one.

    `sizes` and `times`, (D,): the distinct magnitudes, all positive, and their counts. `threshold`: at least half the
    total, where the tail is at most about one half; otherwise the bounds are wider. `slack`: the possible error of the
    threshold, or of the sum by rounding. `width`: the requested width as a share of the upper bound if that is above
    1e-5; a fiftieth below it. It is not reached if ties make up much of the tail.
    """
    tilt = tilt_to(sizes, times, threshold)
    shares = expit(tilt * sizes)
    squares = float((times * sizes**2).sum())
    offset = abs(float((times * sizes * shares).sum()) - threshold)
    reach = offset + math.sqrt(squares * math.log(4 / _MISSED) / 2)
    log_scale = math.fsum((times * (np.logaddexp(0.0, tilt * sizes) - math.log(2))).tolist()) - tilt * threshold
    rounding = slack + 2.0**-50 * float((times * sizes).sum())
    order = np.argsort(-times * sizes**2 * shares * (1 - shares), kind="stable")
    circle = _Circle(sizes[order], times[order], shares[order], threshold, 2 * reach)
    low, high, degree, before = 0.0, 1.0, 2**10, (0.0, 0)
    while True:
        circle.extend(degree)
        low, high = (circle.bound(tilt, reach, sign * rounding, sign) for sign in (-1, 1))
        low, high = max(0.0, low - 4 * _MISSED), high + 4 * _MISSED
        enough = width if log_scale + math.log(high) > _FAR else max(width, _WIDTH_FAR)
        gap = high - low
        if gap <= enough * high or circle.work > _MOST_WORK + 20 * len(sizes) or degree >= _MOST_FREQUENCIES:
            break
        # A width is that of ties, which stays, and a part that falls as 1 / degree.
        stays = (gap * degree - before[0] * before[1]) / (degree - before[1])
        if before[1] >= _FEW_FREQUENCIES and stays > enough * high and gap < _MOSTLY_TIES * stays:
            break
        before = gap, degree
        wanted = degree * min(max(1.1 * gap / (enough * high), 1.5), 16.0)
        degree = min(math.ceil(wanted), _MOST_FREQUENCIES)
    log_high = log_scale + math.log(high)
    factor = math.exp(log_scale) if log_scale > -700 else 0.0
    return max(0.0, low * factor * (1 - 1e-9)), min(1.0, math.exp(min(log_high, 0.0)) * (1 + 1e-9)), min(0.0, log_high)


class _Circle:
    """The characteristic function of threshold - S under the tilted law, on a circle, to the known precision."""

    def __init__(self, sizes: FloatArray, times: FloatArray, shares: FloatArray, threshold: float, length: float):
        self.times, self.shares, self.length = times, shares, length
        self.phases = as_turns(-sizes, length)
        self.start = as_turns(np.array([threshold]), length)[0]
        self.rounding = 4e-16 * (10 + 4 * float(times.sum()))
        self.values = np.ones(1, dtype=np.complex128)
        self.doubt = np.zeros(1)
        self.work = 0

    def extend(self, degree: int) -> None:
        """Frequencies up to `degree`."""
        blocks = range(len(self.values), degree + 1, _BLOCK)
        items = [self._block(np.arange(first, min(first + _BLOCK, degree + 1), dtype=np.uint64)) for first in blocks]
        self.values = np.concatenate([self.values, *(values for values, _ in items)])
        self.doubt = np.concatenate([self.doubt, *(doubt for _, doubt in items)])

    def bound(self, tilt: float, reach: float, slack: float, sign: int) -> float:
        """Selberg's bound of the tilted expectation."""
        return tilted_expectation(
            self.values, self.doubt, length=self.length, tilt=tilt, reach=reach, slack=slack, sign=sign
        )

    def _block(self, frequencies: NDArray[np.uint64]) -> tuple[NDArray[np.complex128], FloatArray]:
        alive = np.arange(len(frequencies))
        product = points_at(frequencies * self.start)
        top = np.ones(len(frequencies))
        done = 0
        while done < len(self.times) and alive.size:
            some = slice(done, done + max(1, min(_CHUNK // alive.size, max(8, done))))
            turns = frequencies[alive][:, None] * self.phases[some]
            factors = (1 - self.shares[some]) + self.shares[some] * points_at(turns)
            product = product * _powers(factors, self.times[some]).prod(axis=1)
            self.work += factors.size
            done = min(some.stop, len(self.times))
            top[alive] = np.abs(product)
            keep = top[alive] > _TINY
            alive, product = alive[keep], product[keep]
        values = np.zeros(len(frequencies), dtype=np.complex128)
        values[alive] = product
        doubt = top * (1 + self.rounding)
        doubt[alive] *= self.rounding
        return values, doubt


def _powers(factors: NDArray[np.complex128], times: FloatArray) -> Any:
    """Return the powers of columns, by repeated squaring."""
    left = times.astype(np.int64)
    out = np.where(left % 2, factors, 1.0)
    while (left := left // 2).any():
        factors = factors * factors
        out *= np.where(left % 2, factors, 1.0)
    return out


def tilt_to(sizes: Any, times: Any, threshold: float) -> float:
    """Return the exponent that moves the mean of a sum of these magnitudes to the threshold; never below 0."""
    low, high = 0.0, 1.0 / float(sizes.max())

    def mean(tilt: float) -> float:
        return float((times * sizes * expit(tilt * sizes)).sum())

    while mean(high) < threshold and high * float(sizes.min()) < 600:
        high *= 2
    enough = 1e-8 / math.sqrt(float(times @ sizes.astype(np.float64) ** 2))  # in standard deviations of the sum
    for _ in range(60):
        if high - low < enough:
            break
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < threshold else (low, middle)
    return low


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
    """Return the sums of all weights from each place on, by blocks, so that no sum has many terms."""
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
