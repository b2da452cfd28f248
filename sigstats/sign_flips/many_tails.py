"""Certified bounds of the tails of many sums at once: `sigstats.sign_flips.fourier` for thousands of pairs of models.

A bound needs the characteristic function of a sum at thousands of frequencies, at nearly all of which it is next to
nothing. Here a bound of its modulus by a few magnitudes, in single precision, shows that for most frequencies, and the
function itself is evaluated at the few that are left.

When not to use: one sum, for which the bounds of `sigstats.sign_flips.fourier` are five times as narrow.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .._common.fourier import as_turns, points_at
from .._common.validation import FloatArray
from .tilted_sums import CELLS, MISSED, SMALL, TiltedSums, Values, bounds_of

#: How many magnitudes bound the modulus at every frequency, and how many more at those that are then left; both even.
_FIRST, _MORE = 32, 64
_NEWTON = 20


def tails_of_sums(magnitudes: FloatArray, at: FloatArray, beyond: FloatArray, *, width: float) -> FloatArray:
    """Lower bounds of ``P(S >= beyond)`` and upper bounds of ``P(S >= at)``, S the sum of those that fair coins put in.

    `magnitudes` (array of float, shape (P, n)): of P sums; not negative, and not all 0.
    `at` and `beyond` (array of float, shape (P,)): `at` at least about half the total, `beyond` at least as much.
    Where no sum lies between them, both are the same tail.
    `width`: the width wanted, as a share of the upper bound; twice that where it is below 1e-5. It is not reached
    where sums between `at` and `beyond` hold much of the tail.

    Returns an ndarray, shape (2, P).

    >>> low, high = tails_of_sums(np.ones((1, 100)), np.array([59.5]), np.array([59.5]), width=0.01)[:, 0]
    >>> bool(low < 0.028443966820 < high < 1.01 * low)  # P(X >= 60), X binomial with 100 trials
    True
    """
    largest = magnitudes.max(axis=1)
    sizes = magnitudes / largest[:, None]
    sums, shares = _tilted(sizes, at / largest, beyond / largest)
    return bounds_of(sums, lambda rows, degree: _values(sizes[rows], shares[rows], sums.take(rows), degree), width)


def _tilted(sizes: FloatArray, at: FloatArray, beyond: FloatArray) -> tuple[TiltedSums, FloatArray]:
    """The sums under their tilted laws, and the chances of their magnitudes to be put in."""
    tilt = np.zeros(len(at))
    for _ in range(_NEWTON):  # the mean is concave in the exponent, so that the steps never go too far
        shares = expit(tilt[:, None] * sizes)
        ahead = at - (sizes * shares).sum(axis=1)
        slope = (sizes**2 * shares * (1 - shares)).sum(axis=1)
        if (ahead <= 1e-6 * slope).all():
            break
        tilt += np.where(slope > 1e-9, np.maximum(ahead, 0) / np.maximum(slope, 1e-9), 0)
    shares = expit(tilt[:, None] * sizes)
    offset = np.abs((sizes * shares).sum(axis=1) - at)
    gap = beyond - at
    reach = offset + gap + np.sqrt((sizes**2).sum(axis=1) * math.log(4 / MISSED) / 2)
    log_scale = (np.logaddexp(0.0, tilt[:, None] * sizes) - math.log(2)).sum(axis=1) - tilt * at
    spread = np.sqrt((sizes**2 * shares * (1 - shares)).sum(axis=1))
    return TiltedSums(at, gap, tilt, log_scale, reach, sizes.sum(axis=1), spread), shares


def _values(sizes: FloatArray, shares: FloatArray, sums: TiltedSums, degree: int) -> Values:
    """The characteristic functions at the frequencies up to `degree`."""
    length = 2 * sums.reach
    turns = as_turns(sizes, length[:, None])
    weights = 4 * shares * (1 - shares)
    n = turns.shape[1]
    order = _heaviest_and_others(sizes**2 * weights)
    coarse = (np.take_along_axis(turns, order, 1) >> np.uint64(32)).astype(np.uint32)
    heavy = np.take_along_axis(weights, order, 1).astype(np.float32)
    frequencies = np.arange(1, degree + 1, dtype=np.uint32)
    squares = squared_modulus(coarse[:, :_FIRST, None], heavy[:, :_FIRST, None], frequencies[None, :], degree)
    doubt = np.sqrt(squares.astype(np.float64))
    rows, places = np.nonzero(doubt > SMALL)
    for start in range(0, len(rows), CELLS // _MORE) if n > _FIRST else ():
        row, place = (each[start : start + CELLS // _MORE] for each in (rows, places))
        squares = squared_modulus(
            coarse[row, _FIRST:].T[None], heavy[row, _FIRST:].T[None], frequencies[place][None], degree
        )
        doubt[row, place] *= np.sqrt(squares[0].astype(np.float64))
    left = doubt[rows, places] > SMALL
    rows, places = rows[left], places[left]
    values = np.ones(len(rows), dtype=np.complex128)
    start_at = as_turns(sums.at, length)
    step = max(1, CELLS // n)
    for start in range(0, len(rows), step):
        row = rows[start : start + step]
        frequency = (places[start : start + step] + 1).astype(np.uint64)
        share = shares[row]
        factors = 1 - share + share * points_at(-(turns[row] * frequency[:, None]))
        values[start : start + step] = factors.prod(axis=1) * points_at(start_at[row] * frequency)
    doubt[rows, places] = 4e-16 * (10 + 4 * n)
    return rows, places + 1.0, values, doubt


def _heaviest_and_others(weights: FloatArray) -> NDArray[np.intp]:
    """The magnitudes by which moduli are bounded: half of them the heaviest, and half others.

    The heaviest alone may all be equal, and then come full circle at the same frequencies.
    """
    n, half = weights.shape[1], (_FIRST + _MORE) // 2
    if n <= half:
        return np.argsort(-weights, axis=1)
    order = np.argpartition(-weights, half, axis=1)
    top, rest = order[:, :half], order[:, half:]
    rest = rest[:, :: max(1, rest.shape[1] // half)][:, :half]
    return np.concatenate([top[:, : _FIRST // 2], rest, top[:, _FIRST // 2 :]], axis=1)


def squared_modulus(turns: Any, weights: Any, frequencies: NDArray[np.uint32], degree: int) -> Any:
    """Upper bounds of the squares of products of ``(1 - share) + share exp(i angle)`` over the second axis.

    The square of such a modulus is ``1 - 4 share (1 - share) sin(angle / 2)^2``.
    """
    rounding = np.float32(2e-6 + math.pi * degree * 2.0**-32)
    product: Any = np.float32(1)
    for i in range(turns.shape[1]):
        half = (turns[:, i] * frequencies).view(np.int32).astype(np.float32)
        half *= np.float32(math.pi / 2**32)
        np.sin(half, out=half)
        half *= half
        half *= weights[:, i]
        np.subtract(np.float32(1) + rounding, half, out=half)
        product = half * product
    return product
