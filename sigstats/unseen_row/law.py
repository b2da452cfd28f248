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
_MOST_BLOCKS, _MOST_STEPS = 60, 100


def tail(factors: FloatArray, counts: FloatArray | None = None) -> float:
    """The probability that the sum of gamma variables of shapes `counts`, times `factors`, is at most 0.

    `counts`: how often each occurs; 1 by default.

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
    return float(tails(factors[np.newaxis], times)[0])


def tails(factors: FloatArray, counts: FloatArray) -> FloatArray:
    """The same of each row of factors."""
    if factors.shape[1] > MOST_ATOMS:
        return np.array([tail(row, counts) for row in factors])
    least, most = factors.min(axis=1), factors.max(axis=1)
    found: FloatArray = np.where(most <= 0, 1.0, 0.0)
    both = (least < 0) & (most > 0)
    if both.any():
        turned = factors[both] @ counts < 0
        a = np.where(turned, -1.0, 1.0)[:, np.newaxis] * factors[both]
        small = _small_tails(a / -a.min(axis=1, keepdims=True), counts)
        found[both] = np.where(turned, 1 - small, small)
    return found


def _small_tails(a: FloatArray, times: FloatArray) -> FloatArray:
    """Where the mean of the sum is not below 0, and the least factor is -1."""
    theta, curvature = _saddles(a, times)
    room = 1 + theta * a
    ratios = a / room
    width = 1 / np.sqrt(curvature)
    # The path of steepest descent, up to its curvature: on a straight one a skewed law oscillates long.
    third = (ratios**3 @ times)[:, np.newaxis] + theta**-3
    bend = np.clip(2 / 3 * third * width**3, -1.0, 1.0)
    total = np.zeros(len(a))
    for block in range(_MOST_BLOCKS):
        u = _STEP * np.arange(block * _BLOCK, (block + 1) * _BLOCK)
        cosh, sinh = np.cosh(u), np.sinh(u)
        along, up = width * bend * (cosh - 1), width * sinh
        real = 1 - along[:, :, np.newaxis] * ratios[:, np.newaxis]
        imaginary = up[:, :, np.newaxis] * ratios[:, np.newaxis]
        angle = np.arctan2(imaginary, real) @ times
        log_size = -0.5 * (np.log(real * real + imaginary * imaginary) @ times)
        terms = np.exp(log_size + 1j * angle) * (cosh - 1j * bend * sinh) / (1 - (along + 1j * up) / theta)
        total += terms.real.sum(axis=1) - (0.5 if block == 0 else 0.0)
        if (np.abs(terms[:, -1]) < _SMALL * total).all():
            break
    log_scale = -(np.log(room) @ times) - np.log(theta[:, 0])
    return np.minimum(1.0, np.exp(log_scale) * total * _STEP * width[:, 0] / math.pi)


def _saddles(a: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where each integrand is least on the real line between 0 and 1, up to a hundredth, and its curvature there."""
    low, high = np.zeros((len(a), 1)), np.ones((len(a), 1))
    mean, square = (a @ times)[:, np.newaxis], (a * a @ times)[:, np.newaxis]
    theta = np.clip((mean + np.sqrt(mean * mean + 4 * square)) / (2 * square), 1e-9, 0.9)
    for _ in range(_MOST_STEPS):
        ratios = a / (1 + theta * a)
        slope = -(ratios @ times)[:, np.newaxis] - 1 / theta
        curvature = (ratios * ratios @ times)[:, np.newaxis] + 1 / theta**2
        step = slope / curvature
        if (np.abs(step) * np.sqrt(curvature) < 1e-2).all():
            break
        low, high = np.where(slope > 0, low, theta), np.where(slope > 0, theta, high)
        after = theta - step
        theta = np.where((low < after) & (after < high), after, (low + high) / 2)
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
