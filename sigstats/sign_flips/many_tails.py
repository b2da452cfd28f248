"""Certified bounds of the tails of many sums at once: `sigstats.sign_flips.fourier` for thousands of pairs of models.

A bound needs the characteristic function of a sum at thousands of frequencies, at nearly all of which it is next to
nothing. Here a bound of its modulus by a few magnitudes, in single precision, shows that for most frequencies, and the
function itself is evaluated at the few that are left.

When not to use: one sum, for which the bounds of `sigstats.sign_flips.fourier` are five times as narrow.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, expit

from .._common.circle import as_turns, points_at
from .._common.selberg import coefficients, largest_terms, mean_of_mixture, mixture
from .._common.validation import FloatArray

#: How many magnitudes bound the modulus at every frequency, and how many more at those that are then left; both even.
_FIRST, _MORE = 32, 64
#: A modulus below it counts as doubt, not as a value.
_SMALL = 1e-5
#: The chance of sums beyond the circle, under the tilted law.
_MISSED = 1e-8
_FEWEST, _MOST = 2**8, 2**15
_CELLS = 2**17
#: By how much the frequencies of a sum may exceed those it needs, so that sums can share them.
_GRID = 1.25
_NEWTON, _DOUBLINGS = 20, 2
#: Tails below the first need no smaller width than so many times that of others.
_FAR, _WIDER = 1e-5, 4


def tails_of_sums(magnitudes: FloatArray, at: FloatArray, beyond: FloatArray, *, width: float) -> FloatArray:
    """Lower bounds of ``P(S >= beyond)`` and upper bounds of ``P(S >= at)``, S the sum of those that fair coins put in.

    Parameters
    ----------
    magnitudes : array of float, shape (P, n)
        Of P sums; not negative, and not all 0.
    at, beyond : array of float, shape (P,)
        `at` at least about half the total, `beyond` at least as much. Where no sum lies between them, both are the
        same tail.
    width : float
        The width wanted, as a share of the upper bound; twice that where it is below 1e-5. It is not reached where sums
        between `at` and `beyond` hold much of the tail.

    Returns
    -------
    ndarray, shape (2, P)

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats.sign_flips.many_tails import tails_of_sums
    >>> low, high = tails_of_sums(np.ones((1, 100)), np.array([59.5]), np.array([59.5]), width=0.01)[:, 0]
    >>> bool(low < 0.028443966820 < high < 1.01 * low)  # P(X >= 60), X binomial with 100 trials
    True
    """
    largest = magnitudes.max(axis=1)
    return _bounded(_tilted(magnitudes / largest[:, None], at / largest, beyond / largest), width)


@dataclass(frozen=True)
class _Sums:
    """Sums under their tilted laws, a row each: magnitudes, chances to be put in, and a circle that holds them."""

    sizes: FloatArray
    shares: FloatArray
    at: FloatArray
    gap: FloatArray
    tilt: FloatArray
    reach: FloatArray
    log_scale: FloatArray

    def take(self, rows: Any) -> "_Sums":
        return _Sums(**{name: value[rows] for name, value in vars(self).items()})

    @property
    def length(self) -> FloatArray:
        return 2 * self.reach

    def degrees(self, width: float) -> FloatArray:
        """How many frequencies a relative width takes, by the normal law."""
        spread = np.sqrt((self.sizes**2 * self.shares * (1 - self.shares)).sum(axis=1)) + self.reach / 200
        steepness = np.minimum(self.tilt * spread, 1e6)
        share = erfcx(steepness / math.sqrt(2)) / 2
        height = (1 + steepness / (1 + steepness)) / (math.sqrt(2 * math.pi) * spread * share)
        return np.asarray(height * self.length / _allowed(np.exp(np.minimum(self.log_scale, 0)) * share, width))


def _tilted(sizes: FloatArray, at: FloatArray, beyond: FloatArray) -> _Sums:
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
    reach = offset + gap + np.sqrt((sizes**2).sum(axis=1) * math.log(4 / _MISSED) / 2)
    log_scale = (np.logaddexp(0.0, tilt[:, None] * sizes) - math.log(2)).sum(axis=1) - tilt * at
    return _Sums(sizes, shares, at, gap, tilt, reach, log_scale)


def _bounded(sums: _Sums, width: float) -> FloatArray:
    found = np.empty((2, len(sums.at)))
    wanted = np.clip(sums.degrees(width), _FEWEST, _MOST)
    degrees = np.ceil(_GRID ** np.ceil(np.log(wanted) / math.log(_GRID))).astype(np.int64)
    pending = np.arange(len(degrees))
    for _ in range(1 + _DOUBLINGS):
        for degree in np.unique(degrees[pending]).tolist():
            rows = pending[degrees[pending] == degree]
            step = max(1, _CELLS // degree)
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                found[:, some] = _of_degree(sums.take(some), degree)
        low, high = found[:, pending]
        pending = pending[(high - low > 1.5 * _allowed(high, width) * high) & (degrees[pending] < _MOST)]
        degrees[pending] = np.minimum(2 * degrees[pending], _MOST)
    return found


def _allowed(tail: Any, width: float) -> Any:
    return np.where(tail > _FAR, width, _WIDER * width)


def _of_degree(sums: _Sums, degree: int) -> FloatArray:
    """Bounds by the frequencies up to `degree`."""
    rows, frequencies, values, doubt = _characteristic(sums, degree)
    length, tilt, reach = sums.length[rows], sums.tilt[rows], sums.reach[rows]
    omega = 2 * math.pi * frequencies / length
    mixed = mixture(omega, tilt, reach)
    mean = mean_of_mixture(sums.tilt, sums.reach)
    rounding = 2.0**-50 * sums.sizes.sum(axis=1)
    error = doubt @ largest_terms(np.arange(1, degree + 1), degree) + 4 * _MISSED + 1e-11
    bounds = []
    for sign, shift in ((-1, sums.gap), (1, np.zeros(len(sums.at)))):
        slack = sign * rounding
        turned = values * np.exp(1j * omega * shift[rows])
        right = np.exp(-1j * omega * slack[rows])
        terms = coefficients(frequencies, degree, sign) * (right * mixed * turned.conj() + right * turned)
        total = (mean + 2 * slack) / sums.length + sign / (degree + 1)
        total += 2 * np.bincount(rows, weights=terms.real, minlength=len(total)) + sign * error
        scale = np.exp(np.clip(sums.log_scale - sums.tilt * shift, -745.0, 0.0))
        bounds.append(np.clip(total, 0.0, None) * scale * (1 + sign * 1e-9))
    return np.asarray(np.clip(np.stack(bounds), 0.0, 1.0), dtype=np.float64)


def _characteristic(sums: _Sums, degree: int) -> tuple[Any, Any, Any, FloatArray]:
    """The frequencies at which the function is not next to nothing, with its values; and the doubt of all, a row each.

    Under the tilted law of `at` less the sum.
    """
    turns = as_turns(sums.sizes, sums.length[:, None])
    weights = 4 * sums.shares * (1 - sums.shares)
    n = turns.shape[1]
    order = _heaviest_and_others(sums.sizes**2 * weights)
    coarse = (np.take_along_axis(turns, order, 1) >> np.uint64(32)).astype(np.uint32)
    heavy = np.take_along_axis(weights, order, 1).astype(np.float32)
    frequencies = np.arange(1, degree + 1, dtype=np.uint32)
    squares = _modulus(coarse[:, :_FIRST, None], heavy[:, :_FIRST, None], frequencies[None, :], degree)
    doubt = np.sqrt(squares.astype(np.float64))
    rows, places = np.nonzero(doubt > _SMALL)
    for start in range(0, len(rows), _CELLS // _MORE) if n > _FIRST else ():
        row, place = (each[start : start + _CELLS // _MORE] for each in (rows, places))
        squares = _modulus(coarse[row, _FIRST:].T[None], heavy[row, _FIRST:].T[None], frequencies[place][None], degree)
        doubt[row, place] *= np.sqrt(squares[0].astype(np.float64))
    left = doubt[rows, places] > _SMALL
    rows, places = rows[left], places[left]
    values = np.ones(len(rows), dtype=np.complex128)
    start_at = as_turns(sums.at, sums.length)
    step = max(1, _CELLS // n)
    for start in range(0, len(rows), step):
        row = rows[start : start + step]
        frequency = (places[start : start + step] + 1).astype(np.uint64)
        share = sums.shares[row]
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


def _modulus(turns: Any, weights: Any, frequencies: NDArray[np.uint32], degree: int) -> Any:
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
