r"""One class's factor of the rook polynomial, and its logarithm near a point.

A class with `r` objects that is named `c` times contributes the factor

.. math:: R(y) = \sum_j \binom{r}{j} \binom{c}{j} j! \, y^j = \prod_m (1 + y x_m),

where the :math:`x_m > 0` are the zeros of the generalised Laguerre polynomial of degree min(r, c) and order
\|r - c\|. `factor` makes the `Factor` of a class. `log_value` is its logarithm at a point, and `log_series` the Taylor
series of the logarithm about the point; their cost does not grow with the class. The point must not lie left of
``-1 / x_m``, where the factor oscillates. `log_factorial` and `DIGITS` also serve the other modules of this folder.
"""

import math
from decimal import Context, Decimal
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh_tridiagonal

from .._common.validation import FloatArray

#: From this degree on `_slope_series` reaches full double precision; below, the zeros themselves are quick.
_MANY = 400
#: Arithmetic for the logarithms of probabilities like 1e-10000000, which need 16 digits after the point. Public
#: functions enter it by ``decimal.localcontext(DIGITS)``; within, plain operators use it.
DIGITS = Context(prec=50, Emin=-(10**15), Emax=10**15)


class Factor(NamedTuple):
    """The factor of a class of `rows` objects that is named `columns` times."""

    rows: int
    columns: int
    #: The numbers x_m, if they are few enough to be used.
    zeros: FloatArray | None

    @property
    def largest_zero(self) -> float:
        """An upper bound of the largest :math:`x_m`, off by a vanishing fraction for large classes."""
        return (math.sqrt(self.rows) + math.sqrt(self.columns)) ** 2


def factor(rows: int, columns: int) -> Factor:
    """Return the factor of a class whose totals are both at least 1."""
    if min(rows, columns) >= _MANY:
        return Factor(rows, columns, None)
    # Golub and Welsch (1969): eigenvalues of the tridiagonal matrix of the three-term recurrence.
    order, n = abs(rows - columns), np.arange(min(rows, columns), dtype=float)
    diagonal, off_diagonal = 2 * n + order + 1, np.sqrt(n[1:] * (n[1:] + order))
    zeros = eigh_tridiagonal(diagonal, off_diagonal, eigvals_only=True, lapack_driver="sterf")
    return Factor(rows, columns, np.maximum(zeros, 0.0))


def leading_slope(factor: Factor, y: float) -> float:
    """Return ``R'(y) / R(y)``, to leading order for large classes."""
    r, c, zeros = factor
    if zeros is not None:
        return float((zeros / (1 + y * zeros)).sum())
    # The root of y^2 v^2 - (1 + (r + c) y) v + r c = 0 that is r c at y = 0.
    b = 1 + (r + c) * y
    return 2.0 * r * c / (b + math.sqrt(max(b * b - 4.0 * y * y * r * c, 0.0)))


def log_series(factor: Factor, y0: float, edge: float, terms: int) -> FloatArray:
    """Return coefficients ``a_0 .. a_{terms-1}`` of ``log R(y) - log R(y0) = sum_n a_n w^n``; ``a_0`` is 0.

    The variable is ``w = log((y + edge) / (y0 + edge))``: all zeros of R then lie at distance pi or more, so that
    the series converges like ``(abs(w) / pi) ** n`` for any `y0` above ``-edge``, with an `edge` of at most
    ``1 / factor.largest_zero``.
    """
    unit = y0 + edge
    exponential = np.array([1 / math.factorial(n) for n in range(terms - 1)])
    if factor.zeros is not None:
        share = unit * factor.zeros / (1 + y0 * factor.zeros)  # at most 1; log R = sum log(1 + share (e^w - 1))
        rate = np.empty((terms - 1, len(share)))
        for n in range(terms - 1):
            rate[n] = share * (exponential[n] - exponential[n:0:-1] @ rate[:n])
        slope = rate.sum(axis=1)
    else:
        slope = unit * _product(_slope_series(factor, y0, edge, terms - 1), exponential)
    return np.concatenate(([0.0], slope / np.arange(1, terms)))


def log_value(factor: Factor, y0: float) -> Decimal:
    """Return ``log R(y0)``: to 1e-14 for positive `y0`, however large; to 1e-15 of its size for negative `y0`."""
    if y0 > 0:
        return _log_positive_sum(factor, y0)
    if factor.zeros is not None:
        return Decimal(float(np.log1p(y0 * factor.zeros).sum()))
    # The integral of the slope from 0 to y0, by Gauss and Legendre's rule.
    nodes, weights = np.polynomial.legendre.leggauss(40)
    edge = 1 / factor.largest_zero
    slopes = [_slope_series(factor, y0 * (node + 1) / 2, edge, 1)[0] for node in nodes]
    return Decimal(float(y0 / 2 * (weights * slopes).sum()))


def _log_positive_sum(factor: Factor, y0: float) -> Decimal:
    """Return the logarithm of a sum of positive terms: the largest term times the sum of the ratios to it."""
    r, c, _ = factor
    top = min(int(y0 * leading_slope(factor, y0)), r, c)
    width = 60 + 12 * math.isqrt(top + 1)
    up = np.arange(top, min(top + width, r, c), dtype=float)
    down = np.arange(top, max(top - width, 0), -1, dtype=float)
    rising = np.cumprod((r - up) * (c - up) / (up + 1) * y0)
    falling = np.cumprod(down / ((r - down + 1) * (c - down + 1) * y0))
    total = Decimal(math.fsum([1.0, *rising, *falling]))
    log_top = log_factorial(r) + log_factorial(c)
    log_top -= log_factorial(top) + log_factorial(r - top) + log_factorial(c - top)
    return log_top + top * Decimal(y0).ln() + total.ln()


def _slope_series(factor: Factor, y0: float, edge: float, terms: int) -> FloatArray:
    """Return the Taylor coefficients of v = R'/R in the variable w of `log_series`.

    R is a terminating 2F0 and satisfies y^2 R'' = (1 + (r + c - 1) y) R' - r c R, so that
    (1 + (r + c - 1) y) v - y^2 v^2 = r c + y^2 v'. The last term is smaller than the others by a factor of the size
    of the class: solved as a quadratic in v with the previous v', each step gains at least two digits.
    """
    r, c, _ = factor
    length = terms + 12
    exponential = np.array([1 / math.factorial(n) for n in range(length)])
    y = (y0 + edge) * exponential
    y[0] = y0
    linear = (r + c - 1) * y
    linear[0] += 1
    square = _product(y, y)
    back = exponential * np.where(np.arange(length) % 2, -1, 1) / (y0 + edge)  # dw/dy = 1 / (y + edge)
    derivative = np.zeros(length)
    for _ in range(10):
        constant = _product(square, derivative)
        constant[0] += float(r) * c
        root = _square_root(_product(linear, linear) - 4 * _product(square, constant))
        v = _quotient(2 * constant, linear + root)
        derivative = _product(back, np.append(v[1:] * np.arange(1, length), 0.0))
    return v[:terms]


def _product(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the product of two power series, by their coefficients."""
    return np.convolve(a, b)[: len(a)]


def _square_root(a: FloatArray) -> FloatArray:
    root = np.zeros_like(a)
    root[0] = math.sqrt(a[0]) if a[0] > 0 else math.nan
    for n in range(1, len(a)):
        root[n] = (a[n] - root[1:n] @ root[n - 1 : 0 : -1]) / (2 * root[0])
    return root


def _quotient(a: FloatArray, b: FloatArray) -> FloatArray:
    ratio = np.zeros_like(a)
    for n in range(len(a)):
        ratio[n] = (a[n] - ratio[:n] @ b[n:0:-1]) / b[0]
    return ratio


# B_2n / (2n (2n - 1)), the coefficients of Stirling's series (Abramowitz and Stegun 6.1.41).
_STIRLING = (
    (1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156), (-3617, 122400),
    (43867, 244188), (-174611, 125400), (77683, 5796),
)  # fmt: skip
_HALF_LOG_TWO_PI = Decimal("0.91893853320467274178032973640561763986139747363778341")


def log_factorial(n: int) -> Decimal:
    """Return ``log(n!)`` with an error below 1e-33, in the context `DIGITS`.

    >>> round(log_factorial(10), 12)
    Decimal('15.104412573076')
    """
    if n < 500:
        return Decimal(math.factorial(n)).ln()
    x = Decimal(n + 1)
    total = (x - Decimal("0.5")) * x.ln() - x + _HALF_LOG_TWO_PI
    power = x
    for a, b in _STIRLING:
        total += a / (b * power)
        power *= x * x
    return total
