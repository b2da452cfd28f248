r"""Certified bounds of the tail of a sum of thousands of magnitudes, from sums of their powers.

A sum S of magnitudes :math:`d_i` that fair coins put in or leave out has
:math:`\log E e^{zS} = \sum_i (z d_i / 2 + \log\cosh(z d_i / 2))`. Where each :math:`|z d_i|` is small this is a short
power series in the sums of :math:`d_i^2, d_i^4, \dots`, so that one pass over the magnitudes gives the characteristic
function at all frequencies at which it is not next to nothing. At higher ones its modulus is bounded: by the variance
while no magnitude comes more than half around the circle, and by a hundred of the magnitudes beyond.

When not to use: few magnitudes, or a few that outweigh all others (`sigstats.sign_flips.many_tails`).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, zeta

from .._common.extreme import TIE_TOLERANCE
from .._common.fourier import as_turns
from .._common.validation import FloatArray
from .many_tails import squared_modulus
from .tilted_sums import MISSED, SMALL, TiltedSums, Values, bounds_of

#: The least sum of squares, with the largest magnitude as unit: fewer magnitudes are left to other bounds.
_LEAST = 200.0
_TERMS = 12
_N = np.arange(1, _TERMS + 1)
#: The coefficients of z^2, z^4, ... in log cosh(z / 2), by the infinite product of the cosine.
_SERIES = -((-1.0) ** _N) * (1 - 4.0**-_N) * zeta(2.0 * _N) / (_N * math.pi ** (2.0 * _N))
#: How far a series may be from its function.
_REMAINDER = 1e-10
#: Beyond so many standard deviations a tail is below the least double but for Hoeffding's bound.
_FARTHEST = 36.0
#: How many magnitudes bound the modulus where they come around the circle.
_SAMPLE, _SEEN = 128, 2**12
_NEWTON = 30
#: How many factors are multiplied where neither the series nor a bound of the modulus will do.
_MOST_POINTS = 10**8
#: Frequencies of which the characteristic function may be needed end where its modulus is surely below `SMALL`.
_NEEDED = math.pi * math.sqrt(math.log(1 / SMALL) / 2) * 1.01
_CHUNK = 2**16


def tails_of_long_sum(magnitudes: Any, larger: float, *, width: float) -> tuple[float, float] | None:
    """A lower bound of ``P(S > larger)`` and an upper bound of ``P(S >= larger)``; None where the series is too short.

    `magnitudes` (ndarray of int or float, shape (n,)): not negative. Sums of whole ones lie a unit apart.
    `larger`: at least half the total. Sums of floats that are within 1e-10 of it, relative, count as equal.
    `width`: as for `sigstats.sign_flips.many_tails.tails_of_sums`.

    >>> low, high = tails_of_long_sum(np.ones(10_000, dtype=np.int64), 5100, width=0.01)
    >>> from scipy.stats import binom
    >>> bool(low < binom.sf(5100, 10_000, 0.5) < binom.sf(5099, 10_000, 0.5) < high)
    True
    """
    whole = magnitudes.dtype.kind == "i"
    largest = float(magnitudes.max())
    powers = _power_sums(magnitudes, largest) if largest > 0 else np.zeros(_TERMS)
    if powers[0] < _LEAST:
        return None
    total = magnitudes.sum()
    apart = 0.5 if whole else TIE_TOLERANCE * larger
    centred = (float(2 * larger - total) / 2 - apart) / largest
    if centred > _FARTHEST * math.sqrt(powers[0]) / 2:
        return 0.0, math.exp(-2 * centred**2 / powers[0])  # Hoeffding (1963), Journal of the ASA 58, theorem 2
    law = _tilted(powers, centred)
    if law is None:
        return None
    reach = abs(law.mean - centred) + 2 * apart / largest + math.sqrt(powers[0] * math.log(4 / MISSED) / 2)
    parts = (centred, 2 * apart / largest, law.tilt, law.log_mean - law.tilt * centred, reach)
    sums = TiltedSums(*(np.array([part]) for part in (*parts, float(total) / largest, law.spread)))
    unit = 1 / largest if whole else None
    sizes = magnitudes[magnitudes > 0] / largest
    low, high = bounds_of(sums, lambda _, degree: law.values(centred, reach, sizes, unit, degree), width)[:, 0]
    # No bounds are narrower than the chance of the sums between them, of whole ones that of two.
    between = math.exp(min(0.0, law.log_mean - law.tilt * centred)) * 2 * apart / largest / law.spread
    wide = high - low > 6 * width * high + between
    return None if wide else (float(low), float(high))


@dataclass(frozen=True)
class _Law:
    """The law of a sum of magnitudes, 1 the largest, less half their total, tilted by an exponent."""

    powers: FloatArray
    tilt: float
    log_mean: float
    mean: float
    spread: float

    def values(self, at: float, reach: float, sizes: FloatArray, unit: float | None, degree: int) -> Values:
        """The characteristic function of `at` less the sum; `unit` is that of whole sums, which come around with it."""
        frequencies = np.arange(1, degree + 1)
        turns = frequencies * (0.0 if unit is None else unit / (2 * reach))
        rounds = np.rint(turns)
        omega = frequencies * (math.pi / reach) if unit is None else (turns - rounds) * (2 * math.pi / unit)
        doubt = np.exp(-(2 / math.pi**2) * 0.999 * (omega * self.spread) ** 2)
        around = np.abs(omega) > math.pi
        doubt[around] = self._modulus(_sample(sizes), reach, frequencies[around], degree)
        near, far = np.flatnonzero(~around & (doubt > SMALL)), np.flatnonzero(around & (doubt > SMALL))
        angles = omega[near]
        logs = _even_series(self.powers, self.tilt - 1j * angles)[0] - self.log_mean
        signs = 1 - 2 * (rounds[near] % 2)  # a whole sum is half a unit from `at`
        values = np.exp(1j * angles * at + logs) * signs
        doubt[near] = 2 * _REMAINDER + 1e-11 + 4e-15 * frequencies[near] * (1 + abs(at) / reach)
        far = far[: _MOST_POINTS // len(sizes)]
        ahead = np.array([self._factors(at, reach, sizes, int(frequency)) for frequency in frequencies[far]])
        doubt[far] = 4e-16 * (10 + 4 * len(sizes))
        places = np.concatenate([near, far])
        return np.zeros(len(places), np.intp), places + 1.0, np.concatenate([values, ahead]), doubt[None]

    def _factors(self, at: float, reach: float, sizes: FloatArray, frequency: int) -> complex:
        """The function at one frequency, factor by factor."""
        value = complex(np.exp(1j * math.pi * frequency / reach * at))
        for start in range(0, len(sizes), _CHUNK):
            part = sizes[start : start + _CHUNK]
            shares = expit(self.tilt * part)
            half = part * (math.pi * frequency / (2 * reach))
            # Of a magnitude less its half: cos(half) - i (2 share - 1) sin(half).
            value *= complex((np.cos(half) - 1j * (2 * shares - 1) * np.sin(half)).prod())
        return value

    def _modulus(self, sample: FloatArray, reach: float, frequencies: Any, degree: int) -> FloatArray:
        shares = expit(self.tilt * sample)
        weights = (4 * shares * (1 - shares)).astype(np.float32)
        turns = (as_turns(sample, 2 * reach) >> np.uint64(32)).astype(np.uint32)
        squares = squared_modulus(
            turns[None, :, None], weights[None, :, None], frequencies.astype(np.uint32)[None], degree
        )
        return np.asarray(np.sqrt(squares[0].astype(np.float64)))


def _power_sums(magnitudes: Any, largest: float) -> FloatArray:
    """The sums of the squares, of the fourth powers and so on, with the largest magnitude as unit."""
    sums = np.zeros(_TERMS)
    for start in range(0, len(magnitudes), _CHUNK):
        squares = np.square(magnitudes[start : start + _CHUNK] / largest)
        power = squares.copy()
        for term in range(_TERMS):
            sums[term] += power.sum()
            power *= squares
    return sums


def _even_series(powers: FloatArray, z: Any) -> tuple[Any, Any, Any]:
    """The sum of ``log cosh(z d / 2)`` and its first two derivatives."""
    terms = _SERIES * powers
    value: Any = 0
    slope: Any = 0
    curvature: Any = 0
    for n in range(_TERMS, 0, -1):
        value = value * z**2 + terms[n - 1]
        slope = slope * z**2 + 2 * n * terms[n - 1]
        curvature = curvature * z**2 + 2 * n * (2 * n - 1) * terms[n - 1]
    return value * z**2, slope * z, curvature


def _tilted(powers: FloatArray, centred: float) -> _Law | None:
    """The law whose mean is about `centred`, or None where the series does not reach so far."""
    tilt = 0.0
    for _ in range(_NEWTON):
        _, slope, curvature = _even_series(powers, tilt)
        if curvature <= 0:
            return None
        if centred - slope <= 1e-6 * curvature:
            break
        tilt += max(0.0, centred - slope) / curvature
        if tilt > 1:
            return None
    value, slope, curvature = _even_series(powers, tilt)
    if curvature <= 0:
        return None
    spread = math.sqrt(curvature)
    ratio = (math.hypot(tilt, _NEEDED / spread) / math.pi) ** 2
    # The coefficients are below 1.24 / (n pi^2n), and the sums of higher powers no larger than the last.
    remainder = 1.24 / (_TERMS + 1) * ratio ** (_TERMS + 1) / (1 - ratio) * powers[-1] if ratio < 0.5 else math.inf
    return _Law(powers, tilt, value, slope, spread) if remainder < _REMAINDER else None


def _sample(sizes: FloatArray) -> FloatArray:
    """Some magnitudes, half of them the largest of a few thousand, and half others."""
    seen = np.sort(sizes[:: max(1, len(sizes) // _SEEN)])[::-1]
    half = _SAMPLE // 2
    rest = seen[half:]
    return np.concatenate([seen[:half], rest[:: max(1, len(rest) // half)][:half]])
