"""The linear machine with squared hinge loss, trained by the steps of liblinear, one by one.

Near the optimum liblinear's objective falls by less than its rounding, and whether a step is taken then depends on the
last bits: in another order of the rows its weights differ by up to 5e-5 on digits. So its trust region Newton method
(Lin, Weng and Keerthi 2008, JMLR 9, 627-650, Algorithms 1 and 2) is followed with every sum in the same order, products
of weights by the same routines of the same library, and the weights are its own to the last bit. It sums over features
for one row after the other, and waits for each addition; here the sums of several rows are made at a time.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.blas import daxpy, ddot, dnrm2

from sigstats._common.validation import FloatArray
from sigstats.learners.compiled.jit import compiled

#: More steps than these, of one search for a direction or in vain, are not followed.
_LONGEST = 10_000

#: A step is taken that lowers the objective by such a part of what was predicted; others change the trusted radius.
_TAKEN, _POOR, _GOOD = 1e-4, 0.25, 0.75
_SHRINK, _HALVE, _GROW = 0.25, 0.5, 4.0


@compiled
def _products(columns: Any, weights: Any, out: Any) -> None:
    """The inner product of each row with weights, summed over features in their order."""
    out[:] = 0.0
    for j in range(len(columns)):
        weight = weights[j]
        for i in range(len(out)):
            out[i] += weight * columns[j, i]


@compiled
def _objective(columns: Any, sign: Any, weights: Any, cost: float, margin: Any) -> float:
    """Half the squared weights and the cost of rows inside the margin; how far in all rows are."""
    _products(columns, weights, margin)
    total = 0.0
    for weight in weights:
        total += weight * weight
    total /= 2.0
    for i in range(len(margin)):
        margin[i] *= sign[i]
        left = 1 - margin[i]
        if left > 0:
            total += cost * left * left
    return total


@compiled
def _add_rows(rows: Any, inside: Any, values: Any, weights: Any, out: Any) -> None:
    """Weights, and twice the sum of the rows inside the margin times values."""
    out[:] = 0.0
    for i in inside:
        value = values[i]
        for j in range(len(out)):
            out[j] += value * rows[i, j]
    for j in range(len(out)):
        out[j] = weights[j] + 2 * out[j]


@compiled
def _curvature(rows: Any, columns: Any, inside: Any, cost: float, direction: Any, values: Any, out: Any) -> None:
    """The Hessian times a direction."""
    _products(columns, direction, values)
    for i in range(len(values)):
        values[i] *= cost
    _add_rows(rows, inside, values, direction, out)


@dataclass
class _Machine:
    """The objective of one machine, and the rows inside its margin."""

    rows: FloatArray
    columns: FloatArray
    sign: FloatArray
    cost: float

    def __post_init__(self) -> None:
        self.inside = np.arange(len(self.rows))
        self._margin, self._values = np.empty(len(self.rows)), np.empty(len(self.rows))

    def value(self, weights: FloatArray) -> float:
        return float(_objective(self.columns, self.sign, weights, self.cost, self._margin))

    def gradient(self, weights: FloatArray) -> FloatArray:
        """At the weights whose value was asked for last."""
        self.inside = np.flatnonzero(self._margin < 1)
        out = np.empty(len(weights))
        _add_rows(self.rows, self.inside, self.cost * self.sign * (self._margin - 1), weights, out)
        return out

    def curvature(self, direction: FloatArray) -> FloatArray:
        out = np.empty(len(direction))
        _curvature(self.rows, self.columns, self.inside, self.cost, direction, self._values, out)
        return out


def solve(
    rows: FloatArray, columns: FloatArray, sign: FloatArray, cost: float, tol: float, longest: int
) -> FloatArray | None:
    """Train a machine of two classes: the weights of `sklearn.svm.LinearSVC`, (m,); None where the way is too long.

    `rows`, (n, m), are in the order of all classes, with a last feature of 1 for the intercept; `columns` are the same,
    in memory feature by feature. `sign`: the class of each row, 1 or -1. `longest`: the most steps, ``max_iter``.
    """
    machine = _Machine(rows, columns, sign, cost)
    positive = int((sign > 0).sum())
    share = tol * max(min(positive, len(sign) - positive), 1) / len(sign)
    weights = np.zeros(rows.shape[1])
    value, gradient = machine.value(weights), machine.gradient(weights)
    radius = first = dnrm2(gradient)
    taken = 0
    for _ in range(longest + _LONGEST):
        if taken == longest or dnrm2(gradient) <= share * first:
            return weights
        found = _direction(machine, gradient, radius)
        if found is None:
            return None
        step, rest = found
        trial = daxpy(step, weights.copy(), a=1.0)
        slope = ddot(gradient, step)
        predicted = -0.5 * (slope - ddot(step, rest))
        now = machine.value(trial)
        fall, length = value - now, dnrm2(step)
        radius = _radius(min(radius, length) if taken == 0 else radius, length, slope, fall, predicted)
        if fall > _TAKEN * predicted:
            taken += 1
            weights, value = trial, now
            gradient = machine.gradient(weights)
            if dnrm2(gradient) <= share * first:
                return weights
        least = 1e-12 * abs(value)
        if (abs(fall) <= 0 and predicted <= 0) or (abs(fall) <= least and abs(predicted) <= least):
            return weights
    return None


def _radius(radius: float, length: float, slope: float, fall: float, predicted: float) -> float:
    """The radius within which steps are trusted, after one of some length."""
    rise = -fall - slope
    stretch = _GROW if rise <= 0 else max(_SHRINK, -0.5 * (slope / rise))
    if fall < _TAKEN * predicted:
        return min(max(stretch, _SHRINK) * length, _HALVE * radius)
    if fall < _POOR * predicted:
        return max(_SHRINK * radius, min(stretch * length, _HALVE * radius))
    if fall < _GOOD * predicted:
        return max(_SHRINK * radius, min(stretch * length, _GROW * radius))
    return max(radius, min(stretch * length, _GROW * radius))


def _direction(machine: _Machine, gradient: FloatArray, radius: float) -> tuple[FloatArray, FloatArray] | None:
    """The Newton step by conjugate gradients to a tenth of the slope, cut at the radius, and what is left of it."""
    step, rest = np.zeros(len(gradient)), -gradient
    along = rest.copy()
    enough, squares = 0.1 * dnrm2(gradient), ddot(rest, rest)
    for _ in range(_LONGEST):
        if dnrm2(rest) <= enough:
            return step, rest
        bent = machine.curvature(along)
        length = squares / ddot(along, bent)
        step = daxpy(along, step, a=length)
        if dnrm2(step) > radius:
            step = daxpy(along, step, a=-length)
            length = _to_boundary(step, along, radius)
            return daxpy(along, step, a=length), daxpy(bent, rest, a=-length)
        rest = daxpy(bent, rest, a=-length)
        before, squares = squares, ddot(rest, rest)
        along = daxpy(rest, (squares / before) * along, a=1.0)
    return None


def _to_boundary(step: FloatArray, along: FloatArray, radius: float) -> float:
    """The distance along a direction from a step to the radius."""
    across, size, unit = ddot(step, along), ddot(step, step), ddot(along, along)
    square = radius * radius
    root = math.sqrt(across * across + unit * (square - size))
    return float((square - size) / (across + root) if across >= 0 else (root - across) / unit)
