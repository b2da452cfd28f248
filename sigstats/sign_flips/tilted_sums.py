"""Certified bounds of the tails of sums under tilted laws, from their characteristic functions.

The functions come from `sigstats.sign_flips.many_tails` for sums of hundreds of magnitudes, and from
`sigstats.sign_flips.long_sums` for sums of so many that each is next to nothing; here they become bounds, by Selberg's
polynomials.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.special import erfcx

from .._common.fourier import coefficients, largest_terms, mean_of_mixture, mixture
from .._common.validation import FloatArray

#: Rows and frequencies at which characteristic functions are not next to nothing, their values there, and by how much
#: the functions may differ from these values, or from 0, at each frequency: a row each.
Values: TypeAlias = tuple[Any, Any, Any, FloatArray]
#: The values for some rows of sums, of ``at`` less the sum, at the frequencies 1 to a degree of their circles.
Characteristic: TypeAlias = Callable[[Any, int], Values]

#: A modulus below it counts as doubt, not as a value.
SMALL = 1e-5
#: The chance of sums beyond the circle, under the tilted law.
MISSED = 1e-8
#: How many numbers an array has that stays in cache.
CELLS = 2**17
_FEWEST, _MOST = 2**8, 2**15
#: By how much the frequencies of a sum may exceed those it needs, so that sums can share them.
_GRID = 1.25
_DOUBLINGS = 2
#: Tails below the first need no smaller width than so many times that of others.
_FAR, _WIDER = 1e-5, 4


@dataclass(frozen=True)
class TiltedSums:
    """Sums of magnitudes that coins put in, a row each, under laws whose means are about `at`."""

    #: Upper bounds are wanted of ``P(S >= at)`` and lower bounds of ``P(S >= at + gap)``, with fair coins; ndarray,
    #: shape (P,).
    at: FloatArray
    gap: FloatArray
    #: The exponent, and the logarithm of what probabilities at `at` are multiplied by; ndarray, shape (P,).
    tilt: FloatArray
    log_scale: FloatArray
    #: Half the length of a circle that holds all sums but for a chance of `MISSED`; ndarray, shape (P,).
    reach: FloatArray
    #: Of all magnitudes, and the standard deviation of the sum; ndarray, shape (P,).
    total: FloatArray
    spread: FloatArray

    def take(self, rows: Any) -> "TiltedSums":
        """The sums of these rows."""
        return TiltedSums(**{name: value[rows] for name, value in vars(self).items()})


def bounds_of(sums: TiltedSums, characteristic: Characteristic, width: float) -> FloatArray:
    """Lower bounds of ``P(S >= at + gap)`` and upper bounds of ``P(S >= at)``, shape (2, P), about `width` apart."""
    found = np.empty((2, len(sums.at)))
    wanted = np.clip(_degrees(sums, width), _FEWEST, _MOST)
    degrees = np.ceil(_GRID ** np.ceil(np.log(wanted) / math.log(_GRID))).astype(np.int64)
    pending = np.arange(len(degrees))
    for _ in range(1 + _DOUBLINGS):
        for degree in np.unique(degrees[pending]).tolist():
            rows = pending[degrees[pending] == degree]
            step = max(1, CELLS // degree)
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                found[:, some] = _of_degree(sums.take(some), characteristic(some, degree), degree)
        low, high = found[:, pending]
        pending = pending[(high - low > 1.5 * _allowed(high, width) * high) & (degrees[pending] < _MOST)]
        degrees[pending] = np.minimum(2 * degrees[pending], _MOST)
    return found


def _degrees(sums: TiltedSums, width: float) -> FloatArray:
    """How many frequencies a relative width takes, by the normal law."""
    spread = sums.spread + sums.reach / 200
    steepness = np.minimum(sums.tilt * spread, 1e6)
    share = erfcx(steepness / math.sqrt(2)) / 2
    height = (1 + steepness / (1 + steepness)) / (math.sqrt(2 * math.pi) * spread * share)
    allowed = _allowed(np.exp(np.minimum(sums.log_scale, 0)) * share, width)
    return np.asarray(height * 2 * sums.reach / allowed)


def _allowed(tail: Any, width: float) -> Any:
    return np.where(tail > _FAR, width, _WIDER * width)


def _of_degree(sums: TiltedSums, values_at: Values, degree: int) -> FloatArray:
    """Bounds by the frequencies up to `degree`."""
    rows, frequencies, values, doubt = values_at
    length, tilt, reach = 2 * sums.reach[rows], sums.tilt[rows], sums.reach[rows]
    omega = 2 * math.pi * frequencies / length
    mixed = mixture(omega, tilt, reach)
    mean = mean_of_mixture(sums.tilt, sums.reach)
    rounding = 2.0**-50 * sums.total
    error = doubt @ largest_terms(np.arange(1, degree + 1), degree) + 4 * MISSED + 1e-11
    bounds = []
    for sign, shift in ((-1, sums.gap), (1, np.zeros(len(sums.at)))):
        slack = sign * rounding
        turned = values * np.exp(1j * omega * shift[rows])
        right = np.exp(-1j * omega * slack[rows])
        terms = coefficients(frequencies, degree, sign) * (right * mixed * turned.conj() + right * turned)
        total = (mean + 2 * slack) / (2 * sums.reach) + sign / (degree + 1)
        total += 2 * np.bincount(rows, weights=terms.real, minlength=len(total)) + sign * error
        scale = np.exp(np.clip(sums.log_scale - sums.tilt * shift, -745.0, 0.0))
        bounds.append(np.clip(total, 0.0, None) * scale * (1 + sign * 1e-9))
    return np.asarray(np.clip(np.stack(bounds), 0.0, 1.0), dtype=np.float64)
