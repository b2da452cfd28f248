"""Certified bounds of Pearson's chi-square over all crisp readings, without listing them.

Both statistics are convex in the counts. Their minimum over shares of objects is bounded below by the tangent that a
Frank-Wolfe iteration ends with; their maximum is bounded above, class by class between the limits of its counts, with
multipliers for the sums: every choice of multipliers gives a bound, and a search takes a good one.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize

from .._common.validation import FloatArray
from .memberships import Choice, limits

_ITERATIONS = 300


def _fewest(objects: Sequence[Choice], gradient: FloatArray) -> FloatArray:
    """The counts of the reading that the gradient is smallest for."""
    counts = np.zeros_like(gradient)
    for own in objects:
        counts[own[int(np.argmin(gradient[list(own)]))]] += 1
    return counts


def _spread(objects: Sequence[Choice], n_classes: int) -> FloatArray:
    counts = np.zeros(n_classes)
    for own in objects:
        counts[list(own)] += 1 / len(own)
    return counts


def least(
    value: Callable[[FloatArray], float],
    slope: Callable[[FloatArray], FloatArray],
    samples: Sequence[Sequence[Choice]],
    k: int,
) -> float:
    """A lower bound of a convex function of the class counts of one or two samples, stacked."""
    at = np.concatenate([_spread(objects, k) for objects in samples])
    bound = 0.0
    for iteration in range(_ITERATIONS):
        gradient = slope(at)
        corner = np.concatenate(
            [_fewest(objects, part) for objects, part in zip(samples, np.split(gradient, len(samples)), strict=True)]
        )
        here = value(at)
        bound = max(bound, here + float(gradient @ (corner - at)))
        if here - bound <= 1e-9 * max(here, 1.0):
            break
        steps = np.append(np.linspace(0, 1, 21)[1:-1], 2 / (iteration + 2))
        tried = [value(at + step * (corner - at)) for step in steps]
        at = at + steps[int(np.argmin(tried))] * (corner - at)
    # Rounding may put a bound above the minimum by so little.
    return max(0.0, bound * (1 - 1e-9) - 1e-9)


def most_of_fit(objects: Sequence[Choice], expected: FloatArray) -> float:
    """An upper bound of the chi-square of class counts and what was expected."""
    low, high = limits(objects, len(expected))

    def bound(multiplier: FloatArray) -> float:
        ends = np.array([(end - expected) ** 2 / expected - multiplier[0] * end for end in (low, high)])
        return float(ends.max(axis=0).sum() + multiplier[0] * len(objects))

    return _best(bound, 1)


def most_of_two(first: Sequence[Choice], second: Sequence[Choice], k: int) -> float:
    """An upper bound of the chi-square of two samples' class counts."""
    (low_a, high_a), (low_b, high_b) = limits(first, k), limits(second, k)

    def bound(multiplier: FloatArray) -> float:
        ends = np.array(
            [
                two_samples(a, b, len(first), len(second)) - multiplier[0] * a - multiplier[1] * b
                for a in (low_a, high_a)
                for b in (low_b, high_b)
            ]
        )
        return float(ends.max(axis=0).sum() + multiplier @ [len(first), len(second)])

    return _best(bound, 2)


def two_samples(a: FloatArray, b: FloatArray, n: int, m: int) -> FloatArray:
    """The term of each class in the chi-square of two samples of sizes n and m."""
    both = a + b
    return np.asarray((m * a - n * b) ** 2 / (n * m * np.where(both > 0, both, 1)))


def slopes_of_two(a: FloatArray, b: FloatArray, n: int, m: int) -> FloatArray:
    """The derivatives of their sum."""
    both = np.where(a + b > 0, a + b, 1)
    difference = (m * a - n * b) / (n * m * both)
    square = n * m * difference**2
    return np.concatenate([2 * m * difference - square, -2 * n * difference - square])


def _best(bound: Callable[[FloatArray], float], size: int) -> float:
    start = np.zeros(size)
    found = minimize(bound, start, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-8, "maxiter": 2000})
    return min(bound(start), float(found.fun)) * (1 + 1e-9)
