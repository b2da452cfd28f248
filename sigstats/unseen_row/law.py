r"""The law of a sum of gamma variables with factors, by an integral through its saddle point.

The mean of values with flat Dirichlet weights is at most t where :math:`\sum_j G_j (x_j - t) \le 0`, :math:`G_j` being
independent exponential variables, or gamma variables of value j that is there so many times. Its probability is

.. math:: P = \frac{1}{2 \pi i} \int_{-\theta - i\infty}^{-\theta + i\infty} \prod_j (1 - s a_j)^{-c_j} \frac{ds}{-s}

and the trapezoid rule on a hyperbola through the saddle point, by equal steps of its parameter, gives twelve digits.
"""

import math

import numpy as np

from .._common.validation import FloatArray

#: More values are split between so many equidistant ones, with their mean unchanged and their variance no smaller.
MOST_ATOMS = 2**13
#: The distance of the nodes, how many are added at a time, and the size of terms that are left out.
_STEP, _BLOCK, _SMALL = 0.16, 20, 1e-13
_MOST_STEPS = 100


def tail(factors: FloatArray, counts: FloatArray | None = None) -> float:
    """The probability that the sum of gamma variables of shapes `counts`, times `factors`, is at most 0.

    Parameters
    ----------
    factors : array of float
    counts : array of float, optional
        How often each occurs; 1 by default.

    Examples
    --------
    With three factors of 1 and two of -1 it is that of at most 2 heads of 4 coins less one: P(Bin(4, 1/2) >= 3).

    >>> import numpy as np
    >>> from sigstats.unseen_row.law import tail
    >>> round(tail(np.array([1.0, -1.0]), np.array([3.0, 2.0])), 12)
    0.3125
    """
    times = np.ones(len(factors)) if counts is None else counts
    if len(factors) > MOST_ATOMS:
        factors, times = atoms_of(factors, times)
    least = float(factors.min(initial=0.0))
    if least >= 0:
        return 1.0 if not factors.any() else 0.0
    if factors.max() <= 0:
        return 1.0
    if float(times @ factors) < 0:
        return 1 - tail(-factors, times)
    a = factors / -least
    theta, curvature = _saddle(a, times)
    room = 1 + theta * a
    ratios = a / room
    width = 1 / math.sqrt(curvature)
    # The path of steepest descent, up to its curvature: on a straight one a skewed law oscillates long.
    bend = min(max(2 / 3 * (float(times @ ratios**3) + theta**-3) * width**3, -1.0), 1.0)
    total, start = 0.0, 0
    while True:
        u = _STEP * np.arange(start, start + _BLOCK)
        along, up = width * bend * (np.cosh(u) - 1), width * np.sinh(u)
        real, imaginary = 1 - np.multiply.outer(along, ratios), np.multiply.outer(up, ratios)
        angle = np.arctan2(imaginary, real) @ times
        log_size = -0.5 * (np.log(real * real + imaginary * imaginary) @ times)
        terms = np.exp(log_size + 1j * angle) * (np.cosh(u) - 1j * bend * np.sinh(u)) / (1 - (along + 1j * up) / theta)
        total += float(terms.real.sum()) - (0.5 if start == 0 else 0.0)
        start += _BLOCK
        if abs(terms[-1]) < _SMALL * total or start > 60 * _BLOCK:
            break
    log_scale = -float(times @ np.log(room)) - math.log(theta)
    return min(1.0, math.exp(log_scale) * total * _STEP * width / math.pi)


def _saddle(a: FloatArray, times: FloatArray) -> tuple[float, float]:
    """Where the integrand is least on the real line between 0 and 1, up to a thousandth, and its curvature there."""
    low, high = 0.0, 1.0
    mean, square = float(times @ a), float(times @ (a * a))
    theta = min(max((mean + math.sqrt(mean * mean + 4 * square)) / (2 * square), 1e-9), 0.9)
    for _ in range(_MOST_STEPS):
        ratios = a / (1 + theta * a)
        slope, curvature = -float(times @ ratios) - 1 / theta, float(times @ (ratios * ratios)) + 1 / theta**2
        if slope > 0:
            high = theta
        else:
            low = theta
        step = slope / curvature
        if abs(step) * math.sqrt(curvature) < 1e-2:
            break
        theta = theta - step if low < theta - step < high else (low + high) / 2
    return theta, curvature


def atoms_of(values: FloatArray, counts: FloatArray, most: int = MOST_ATOMS) -> tuple[FloatArray, FloatArray]:
    """At most so many equidistant values and their counts: each given value is split between its two neighbours."""
    least, span = float(values.min()), float(np.ptp(values))
    if span == 0:
        return values[:1], counts.sum(keepdims=True)
    places: FloatArray = (values - least) * ((most - 1) / span)
    below = np.minimum(places.astype(np.int64), most - 2)
    held: FloatArray = np.bincount(below, counts, most).astype(np.float64)
    shifted = np.bincount(below, counts * (places - below), most)
    held -= shifted
    held[1:] += shifted[:-1]
    kept = held > 0
    grid: FloatArray = least + span / (most - 1) * np.arange(most, dtype=np.float64)
    return grid[kept], held[kept]
