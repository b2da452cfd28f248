"""Fourier inversion: angles in whole numbers, Selberg's majorants and minorants of an interval.

In whole numbers a product with a frequency wraps around the circle exactly. The majorants are those of Montgomery
(1994, ch. 1) and Vaaler (1985).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .validation import FloatArray

#: The number of parts of a turn.
_TURN = 2.0**64


def as_turns(values: FloatArray, length: float | FloatArray) -> NDArray[np.uint64]:
    """Convert values to turns of a circle of this length, or of one circle per value, in units of 2^-64."""
    turns = values / length
    turns = turns - np.floor(turns)
    return np.where(turns >= 1.0, 0.0, turns * _TURN).astype(np.uint64)


def points_at(turns: NDArray[np.uint64]) -> NDArray[np.complex128]:
    """Return the points of the unit circle at these turns."""
    return np.asarray(np.exp(turns.view(np.int64) * (2j * math.pi / _TURN)), dtype=np.complex128)


def tilted_expectation(
    values: NDArray[np.complex128],
    doubt: FloatArray,
    *,
    length: float,
    tilt: float,
    reach: float,
    slack: float,
    sign: int,
) -> float:
    """Return the expectation of Selberg's majorant (sign 1) or minorant (sign -1) of exp(tilt T) 1(-reach <= T <= 0).

    On that interval exp(tilt T) is a mixture of the indicators of -y <= T <= 0 over exponential y, cut at `reach`; the
    same mixture of their majorants is a majorant. `values` are ``E exp(2 pi i n T / length)`` for n = 0 to J, each with
    an error of at most `doubt`; T fits on the circle of `length`; `slack` widens the interval at both ends.
    """
    degree = len(values) - 1
    n = np.arange(1, degree + 1)
    omega = 2 * math.pi * n / length
    # In turns, with psi(x) = {x} - 1/2: 1(a <= T <= b) = b - a + psi(T - b) + psi(a - T), a = -y - slack, b = slack.
    right = np.exp(-1j * omega * slack)
    left = right * mixture(omega, tilt, reach)
    terms = coefficients(n, degree, sign) * (left * values[1:].conj() + right * values[1:])
    mass = values[0].real
    flat = (mean_of_mixture(tilt, reach) + 2 * slack) / length + sign / (degree + 1)
    error = float((largest_terms(n, degree) * doubt[1:]).sum() + doubt[0])
    return float(mass * flat + 2 * math.fsum(terms.real)) + sign * error


def coefficients(n: Any, degree: int, sign: int) -> Any:
    """Coefficients of frequency n: Vaaler's of the sawtooth {x} - 1/2, and the Fejer kernel's that bound its error."""
    t = n / (degree + 1)
    vaaler = (math.pi * t * (1 - t) / np.tan(math.pi * t) + t) / (-2j * math.pi * n)
    return vaaler + sign * (1 - t) / (2 * (degree + 1))


def largest_terms(n: Any, degree: int) -> Any:
    """Return the error of a bound for each unit of error of the value at frequency n."""
    # Each of the two ends adds twice the real part of a product with the value.
    both = coefficients(n, degree, 1)
    return 4 * (np.abs(both.imag) + np.abs(both.real))


def mixture(omega: Any, tilt: Any, reach: Any) -> Any:
    """Return the mean of ``exp(-i omega y)`` over y exponential with rate `tilt`, cut at `reach`; all are broadcast."""
    cut = np.exp(-tilt * reach) * np.exp(-1j * omega * reach)
    return np.where(np.asarray(tilt) > 0, cut + tilt * (1 - cut) / (tilt + 1j * omega), cut)


def mean_of_mixture(tilt: Any, reach: Any) -> Any:
    """Return the mean of y, distributed as in `mixture`."""
    rate = np.where(np.asarray(tilt) > 0, tilt, 1.0)
    return np.where(np.asarray(tilt) > 0, -np.expm1(-rate * reach) / rate, reach)


def power(base: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    """Return the powers of complex numbers, by repeated squaring."""
    out = None
    while exponent:
        if exponent & 1:
            out = base if out is None else out * base
        exponent >>= 1
        if exponent:
            base = base * base
    return np.ones_like(base) if out is None else out
