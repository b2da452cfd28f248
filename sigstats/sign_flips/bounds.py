"""Certified bounds of the tail of a sum of magnitudes that fair coins include or exclude.

With T = threshold - S, the tail P(S >= threshold) is exp(log_scale) E[exp(tilt T); T <= 0] under the tilted law, which
includes a magnitude a with probability expit(tilt a), so that E T is about 0; log_scale is the sum of
log((1 + exp(tilt a)) / 2), less tilt times the threshold. Selberg's polynomials of degree J on a circle bound the
expectation from both sides (`sigstats._common.fourier`); they need J values of the characteristic function of T. What
is neglected is bounded and added: T beyond `reach` (Hoeffding 1963, theorem 2), frequencies at which a part of the
product is already tiny, and rounding. `sigstats.conditional.fourier_bounds` does the same for tables.

When not to use: few magnitudes, whose sums can be enumerated, or sums on few whole numbers: a single tie may outweigh
the width.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .._common.extreme import ROUNDING, error_bound, width_of
from .._common.fourier import as_turns, points_at, tilted_expectation
from .._common.validation import FloatArray
from ..intervals import Interval

#: The most frequencies, and the most (frequency, magnitude) pairs besides some for each magnitude: half a second.
_MOST_FREQUENCIES, _MOST_WORK = 2**18, 10**7
_BLOCK, _CHUNK = 2**13, 2**20
#: Bounds that are wider than ties make them by less than this are left, once so many frequencies tell them apart.
_MOSTLY_TIES, _FEW_FREQUENCIES = 1.25, 2**14
#: Below it the modulus of a characteristic function counts as doubt, not as a value.
_TINY = 1e-15
_MISSED = 1e-15
#: Bounds that are further apart, as a share of the upper one, are reported as bounds.
_TEN_DIGITS = 1e-10
#: Tails whose logarithm is below the first need no smaller width than the second.
_FAR, _WIDTH_FAR = math.log(1e-5), 0.02


class Tail(NamedTuple):
    """Bounds of a tail probability, which are equal if it is exact, and the natural logarithm of the upper one.

    `rounding` is the relative error of a tail that is exact except for its arithmetic.
    """

    low: float
    high: float
    log: float
    rounding: float = ROUNDING

    @property
    def interval(self) -> Interval | None:
        """Both bounds; None if they are equal."""
        return None if self.low == self.high else Interval(self.low, self.high, 1.0)

    @property
    def reason(self) -> str:
        """The reason why fewer than ten digits of the p-value are known; otherwise empty."""
        if self.low == self.high or width_of(self.low, self.high) <= _TEN_DIGITS:
            return ""
        return "bounded, not summed: p is the upper of the two bounds in pvalue_interval"

    @property
    def error_bound(self) -> float:
        """A bound on the distance of the upper bound from the tail, relative to the larger of the two."""
        if self.low == self.high:
            return error_bound(self.high, self.rounding) if self.log > -math.inf else 0.0
        return error_bound(self.high, width_of(self.low, self.high))


def tail_bounds(sizes: FloatArray, times: FloatArray, threshold: float, *, slack: float, width: float) -> Tail:
    """Return bounds of ``P(S >= threshold)``.

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
    degree = 2**10
    gap_before, degree_before = 0.0, 0
    while True:
        circle.extend(degree)
        low, high = (circle.bound(tilt, reach, sign * rounding, sign) for sign in (-1, 1))
        low, high = max(0.0, low - 4 * _MISSED), high + 4 * _MISSED
        enough = width if log_scale + math.log(high) > _FAR else max(width, _WIDTH_FAR)
        gap = high - low
        if gap <= enough * high or circle.work > _MOST_WORK + 20 * len(sizes) or degree >= _MOST_FREQUENCIES:
            break
        # A width is that of ties, which stays, and a part that falls as 1 / degree.
        gap_of_ties = (gap * degree - gap_before * degree_before) / (degree - degree_before)
        if degree_before >= _FEW_FREQUENCIES and gap_of_ties > enough * high and gap < _MOSTLY_TIES * gap_of_ties:
            break
        gap_before, degree_before = gap, degree
        factor = min(max(1.1 * gap / (enough * high), 1.5), 16.0)
        degree = min(math.ceil(degree * factor), _MOST_FREQUENCIES)
    log_high = log_scale + math.log(high)
    factor = math.exp(log_scale) if log_scale > -700 else 0.0
    high = min(1.0, math.exp(min(log_high, 0.0)) * (1 + 1e-9))
    return Tail(max(0.0, low * factor * (1 - 1e-9)), high, min(0.0, log_high))


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
        """Extend the values to frequencies up to `degree`."""
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
