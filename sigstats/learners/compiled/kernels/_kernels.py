"""Kernel matrices in single precision, each entry as libsvm rounds it.

libsvm keeps its kernel as floats of 32 bits. The same entries come from matrix products in 64 bits. About one in a
hundred thousand is so near to the middle of two floats that rounding could choose between them: such entries are found,
and made as libsvm makes them, from inner products by the same routine of the same library.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.blas import ddot

from sigstats._common.validation import FloatArray
from sigstats.learners.compiled.jit import compiled

_EPS = float(np.finfo(np.float64).eps)

#: Rows whose kernels with all others are made at a time, and rows of a tile that is copied: both stay in cache.
_ROWS, _TILE = 64, 16

#: More doubtful entries than this in a stripe of rows are not made one by one.
_MOST_DOUBTFUL = 500

#: How far an exponential may be off, relatively, for exponents of down to -104; below these a float of 32 bits is 0.
_EXPONENTIAL = 1e-13

_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_COEFFICIENTS = tuple(1 / math.factorial(power) for power in range(11, -1, -1))

#: What is rounded otherwise here is allowed for.
_approximate = functools.partial(compiled, fastmath={"contract", "nnan", "nsz"})


@_approximate
def _gaussian(products: Any, errors: Any, own: float, others: Any, gamma: float, relative: float, bits: Any) -> None:
    """Inner products of a row to exponentials of minus gamma times squared distances, and how far these may be off."""
    scale = bits.view(np.float64)
    for j in range(len(products)):
        size = own + others[j]
        exponent = max(-gamma * (size - 2.0 * products[j]), -300.0)
        whole = np.floor(exponent * 1.4426950408889634 + 0.5)
        rest = exponent - whole * _LN2_HIGH - whole * _LN2_LOW
        bits[j] = (np.int64(whole) + 1023) << 52
        power = 0.0
        for coefficient in _COEFFICIENTS:
            power = power * rest + coefficient
        products[j] = power
        errors[j] = _EXPONENTIAL + relative * size
    for j in range(len(products)):
        products[j] *= scale[j]
        errors[j] *= products[j]


@_approximate
def _polynomial(
    products: Any, errors: Any, own: float, others: Any, gamma: float, relative: float, degree: int, shift: float
) -> None:
    """The same of powers of inner products."""
    for j in range(len(products)):
        products[j], errors[j] = gamma * products[j] + shift, 1.0
    for _ in range(degree - 1):
        for j in range(len(products)):
            errors[j] *= products[j]
    for j in range(len(products)):
        base, power = products[j], errors[j]
        off = relative * (own + others[j]) + 4.0 * degree * _EPS * (abs(base) + abs(shift))
        products[j], errors[j] = power * base, degree * abs(power) * off


@_approximate
def _round(values: Any, errors: Any, rounded: Any) -> int:
    """Values in 32 bits; how many of them a change within the errors would round otherwise."""
    found = 0
    for j in range(len(rounded)):
        rounded[j] = values[j]
        found += np.float32(values[j] - errors[j]) != np.float32(values[j] + errors[j])
    return found


@compiled
def _evaluate(
    values: Any,
    own: Any,
    others: Any,
    constants: tuple[float, float, int, float],
    rounded: Any,
    doubtful: Any,
    largest: Any,
) -> int:
    """Inner products to kernels, rounded where there is room; how many of these are doubtful.

    `doubtful` takes the places of the first of them, `largest` the largest error in each row.
    """
    gamma, relative, degree, shift = constants
    n = values.shape[1]
    errors, bits = np.empty(n), np.empty(n, dtype=np.int64)
    total = 0
    for i in range(len(values)):
        if degree:
            _polynomial(values[i], errors, own[i], others, gamma, relative, degree, shift)
        else:
            _gaussian(values[i], errors, own[i], others, gamma, relative, bits)
        found = _round(values[i], errors, rounded[i])
        for j in range(n if found else 0):
            if np.float32(values[i, j] - errors[j]) != np.float32(values[i, j] + errors[j]):
                if total < len(doubtful):
                    doubtful[total, 0], doubtful[total, 1] = i, j
                total += 1
        largest[i] = errors.max()
    return total


@compiled
def _mirror(matrix: Any) -> None:
    """Copy what is below the diagonal to above it."""
    n = len(matrix)
    for first in range(0, n, _TILE):
        for second in range(0, first + 1, _TILE):
            for j in range(second, second + _TILE):
                for i in range(max(first, j + 1), min(first + _TILE, n)):
                    matrix[j, i] = matrix[i, j]


@dataclass(frozen=True)
class Kernel:
    """``exp(-gamma |a - b|^2)``, or with a degree ``(gamma a b + shift)^degree``."""

    gamma: float
    degree: int = 0
    shift: float = 0.0

    def values(self, rows: FloatArray, others: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The kernels of rows with others, and how far rounding may have moved one of each row at most."""
        products, off = rows @ others.T, np.empty(len(rows))
        nowhere = np.empty((len(rows), 0), dtype=np.float32), np.empty((0, 2), dtype=np.int64)
        _evaluate(products, _squares(rows), _squares(others), self._constants(rows.shape[1]), *nowhere, off)
        return products, off

    def _constants(self, d: int) -> tuple[float, float, int, float]:
        # An inner product of d terms is off by d / 2 roundings of its largest terms, here and in libsvm; twice that.
        roundings = (1 if self.degree else 3) * (d + 8)
        return self.gamma, roundings * _EPS * self.gamma, self.degree, self.shift

    def _power(self, base: Any) -> Any:
        """By repeated squares, as libsvm takes it."""
        result: Any = 1.0
        left = self.degree
        while left:
            if left % 2:
                result = result * base
            base = base * base
            left //= 2
        return result

    def _exact(self, one: FloatArray, other: FloatArray) -> float:
        """A kernel, to the last bit as libsvm has it."""
        if self.degree:
            return float(self._power(self.gamma * ddot(one, other) + self.shift))
        return math.exp(-self.gamma * (ddot(one, one) + ddot(other, other) - 2 * ddot(one, other)))

    def diagonal(self, rows: FloatArray) -> FloatArray:
        """The kernel of each row with itself, as libsvm has it."""
        if not self.degree:
            return np.ones(len(rows))
        return np.asarray(self._power(self.gamma * np.array([ddot(row, row) for row in rows]) + self.shift))

    def matrix(self, rows: FloatArray, room: Any = None) -> Any:
        """The kernels of all pairs of rows in 32 bits, as libsvm has them, in `room`; None where many are in doubt."""
        n, squares, constants = len(rows), _squares(rows), self._constants(rows.shape[1])
        made = np.empty((n, n), dtype=np.float32) if room is None else room[: n * n].reshape(n, n)
        doubtful = np.empty((_MOST_DOUBTFUL, 2), dtype=np.int64)
        for first in range(0, n, _ROWS):
            last = min(first + _ROWS, n)
            products = rows[first:last] @ rows[:last].T
            part = np.empty(products.shape, dtype=np.float32)  # in a layout for which there is compiled code
            off = np.empty(last - first)
            found = _evaluate(products, squares[first:last], squares[:last], constants, part, doubtful, off)
            if found > _MOST_DOUBTFUL or not np.isfinite(off).all():
                return None
            for i, j in doubtful[:found].tolist():
                part[i, j] = self._exact(rows[first + i], rows[j])
            made[first:last, :last] = part
        _mirror(made)
        return made


def _squares(rows: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
