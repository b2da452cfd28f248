r"""Double precision: the number correct under fixed margins from a contour integral through its saddle point.

With x drawn from the Gamma distribution of shape N + 1 and R the rook polynomial,
:math:`E z^T = E_x \prod_i R_i((z - 1) / x)`, because :math:`E x^{-j} = (N - j)! / N!`. Then

.. math:: P(T = t) = \frac{1}{2 \pi} \int E z^T \, z^{-t} \, d\theta, \qquad
          P(T \ge t) = \frac{1}{2 \pi} \int E z^T \, \frac{z^{-t}}{1 - 1/z} \, d\theta, \quad z = \rho e^{i \theta},

for every :math:`\rho > 1`; for :math:`\rho < 1` the second gives ``P(T >= t) - 1``. Both integrals are computed as
trapezoidal sums through the saddle point; x lies on a ray of the complex plane that follows the saddle point as the
angle of z changes. Each term has full relative precision in far tails too, since only its ratio to the value at the
saddle point is computed in doubles. The effort does not depend on N.

When not to use: for distributions with a standard deviation below about seven, and for those that have nearly all
their probability on every second number (two classes and hardly any others). Both are recognised and refused.
"""

import math
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from .._common.extreme import ROUNDING
from .._common.validation import FloatArray
from .rook_factor import Factor, factor, leading_slope, log_factorial, log_series, log_value
from .rook_polynomial import Classes, LogTail

#: Terms of a series that converges within pi, and how far it then is good to 1e-17: (1.9 / pi) ** 80 = 4e-18.
_SERIES = ((80, 1.9), (200, 2.5))
#: Largest omitted part of an integral, relative to its peak.
_NEGLIGIBLE = 1e-16
#: Logarithm of the largest share of the alternating part of the distribution that counts as none.
_NO_PARITY = -50.0

#: The distinct factors of the rook polynomial, with their multiplicities.
Factors: TypeAlias = list[tuple[Factor, int]]


class Contour(NamedTuple):
    """The integrand without its kernel on a circle; ``value`` is relative to ``exp(log_unit) * rho ** -correct``."""

    log_unit: Decimal
    rho: float
    correct: int
    angle: NDArray[np.floating[Any]]
    value: NDArray[np.complex128]
    nodes: float
    deviation: float
    error: float


class _Saddle(NamedTuple):
    """A stationary point of the integrand: the radius `rho` of z, x, ``y = (rho - 1) / x``, and the number correct."""

    y: float
    x: float
    rho: float
    correct: float


class _Curvature(NamedTuple):
    """Second derivatives at the saddle point by (log z, log x), (log x, log x), and the variance of log z."""

    cross: float
    along: float
    variance: float


def tail(total: int, classes: Classes, correct: int) -> LogTail | None:
    """Return both probabilities, or None if the integral does not guarantee twelve digits.

    More than ten standard deviations below the mean the upper tail is 1 to all digits, and the point probability, which
    is below 1e-20, is not computed.
    """
    factors = factors_of(classes)
    mean, deviation = moments(total, factors)
    contour = circle(total, factors, max(correct, math.ceil(mean - 10 * deviation)), pole=True)
    if contour is None:
        return None
    z = contour.rho * np.exp(1j * contour.angle)
    log_point = log_points(contour, np.array([correct]))[0]
    turn = np.exp(-1j * (correct - contour.correct) * contour.angle)
    integral = _sum(contour, contour.value * turn / (1 - 1 / z))
    base = contour.log_unit - correct * Decimal(contour.rho).ln()
    if contour.rho > 1:
        return (
            LogTail(base + Decimal(integral).ln(), log_point, contour.error, estimated=True) if integral > 0 else None
        )
    lower = -Decimal(integral) * base.exp()
    if lower >= 1:
        return None
    return LogTail((1 - lower).ln(), log_point, contour.error * abs(float(lower / (1 - lower))), estimated=True)


def log_points(contour: Contour, numbers: NDArray[np.int64]) -> list[Decimal]:
    """``log P(T = t)`` for numbers within three standard deviations of the contour's own."""
    turns = np.exp(-1j * np.outer(numbers - contour.correct, contour.angle))
    log_rho = Decimal(contour.rho).ln()
    points = []
    for number, turn in zip(numbers, turns, strict=True):
        integral = _sum(contour, contour.value * turn)
        base = contour.log_unit - int(number) * log_rho
        points.append(base + Decimal(integral).ln() if integral > 0 else Decimal("-Infinity"))
    return points


def factors_of(classes: Classes) -> Factors:
    """Return each distinct factor with its multiplicity."""
    return [(factor(r, c), times) for (r, c), times in classes.items()]


def moments(total: int, factors: Factors) -> tuple[float, float]:
    """Return the mean and standard deviation of the number correct."""
    products = [(value.rows * value.columns, times) for value, times in factors]
    mean = sum(product * times for product, times in products) / total
    if total <= 1:
        return mean, 0.0
    # E C(T, 2) = R_2 / (N (N - 1)); the product of two classes' first terms less their own pairs.
    pairs = sum(times * value.rows * value.columns * (value.rows + value.columns - 1) for value, times in factors)
    return mean, math.sqrt(max(mean * (1 + (mean - pairs / total / mean) / (total - 1)), 0.0))


def circle(total: int, factors: Factors, correct: int, *, pole: bool) -> Contour | None:
    """Return the contour for numbers near `correct`, off the pole at z = 1 if `pole`, or None if unreliable."""
    edge = 1 / max(value.largest_zero for value, _ in factors)
    saddle = _saddle(total, factors, correct, edge)
    if saddle is None or _parity(total, factors, saddle) > _NO_PARITY:
        return None
    for terms, reach in _SERIES:
        contour = _circle(total, factors, correct, saddle, edge, pole=pole, terms=terms, reach=reach)
        if contour is not None:
            return contour
    return None


def _circle(
    total: int, factors: Factors, correct: int, saddle: _Saddle, edge: float, *, pole: bool, terms: int, reach: float
) -> Contour | None:
    """Return the contour, from series of this many terms, which are valid up to this distance."""
    series = _series(factors, saddle, edge, terms)
    curvature = _curvature(series, saddle, edge)
    if pole and curvature.variance > 16 and abs(math.log(saddle.rho)) < 1 / math.sqrt(curvature.variance):
        saddle = _beside_pole(total, saddle, series, edge, math.sqrt(curvature.variance))
        series = _series(factors, saddle, edge, terms)
        curvature = _curvature(series, saddle, edge)
    if not curvature.variance > 16:
        return None
    deviation, width = math.sqrt(curvature.variance), 1 / math.sqrt(-curvature.along)
    # Sums over `nodes` equal angles alias P(T >= t) with P(T >= t - nodes) * rho ** -nodes and the like.
    nodes = max(20 * deviation, 40 / abs(math.log(saddle.rho)) if pole else 0.0)
    for span in (9, 12, 16, 20):
        angle = 2 * math.pi / nodes * np.arange(int(span / deviation * nodes / (2 * math.pi)) + 2)
        step = 0.5 * width * np.arange(-2 * span, 2 * span + 1)
        if angle[-1] > math.pi:
            return None
        radius = np.hypot(angle[:, None] * deviation, step[None, :] / width)
        ray = step - 1j * curvature.cross / curvature.along * angle[:, None]  # where the mixed derivative vanishes
        integrand = _integrand(total, series, saddle, edge, correct, angle, ray, radius <= span, reach)
        if integrand is None:
            return None
        if np.abs(integrand[radius > span - 0.6]).max() <= _NEGLIGIBLE * np.abs(integrand).max():
            break
    else:
        return None
    value = 0.5 * width * integrand.sum(axis=1)
    # Halving a step raises the error of a trapezoidal sum over a Gaussian to its fourth power.
    if abs(width * integrand[:, ::2].sum(axis=1)[0] / value[0] - 1) > 1e-4:
        return None
    log_x = Decimal(saddle.x).ln()
    log_unit = sum((times * log_value(item, saddle.y) for item, times in factors), Decimal(0))
    error = _rounding(total, correct, saddle, width, deviation)
    error += 1e-14 * sum(times for _, times in factors) + 1e-15 * abs(float(log_unit))
    log_unit += (total + 1) * log_x - Decimal(saddle.x) - log_factorial(total)
    return Contour(log_unit, saddle.rho, correct, angle, value, nodes, deviation, error)


def _rounding(total: int, correct: int, saddle: _Saddle, width: float, deviation: float) -> float:
    """Return an integral's relative error: of the terms of the exponent, and of the radius rounded after the saddle.

    Within a few widths of the saddle point the terms of the exponent are of the size of ``total * width`` and ``correct
    / deviation``, with some tens of roundings each, including those of the series' coefficients. A radius that is not
    quite ``1 + y x`` moves the logarithm of the integrand by that times the number correct. Truncation, aliasing and
    omitted terms are below 1e-14.
    """
    terms = 64 * ((total + 1) * width + correct / deviation) + 1000
    return ROUNDING * (terms + 6 * max(correct, saddle.correct)) + 1e-14


def _integrand(
    total: int,
    series: FloatArray,
    saddle: _Saddle,
    edge: float,
    correct: int,
    angle: NDArray[np.floating[Any]],
    step: NDArray[np.complex128],
    within: NDArray[np.bool_],
    reach: float,
) -> NDArray[np.complex128] | None:
    """Return the integrand over its saddle value at ``z = rho exp(i angle)``, ``x = x0 exp(step)``, or 0."""
    turn = 1j * angle[:, None]
    rise = saddle.rho * np.expm1(turn)
    change = (rise + (saddle.rho - 1 + rise) * np.expm1(-step)) / saddle.x  # of y = (z - 1) / x
    w = np.log1p(np.where(within, change, 0.0) / (saddle.y + edge))
    if not np.abs(w).max() < reach:
        return None
    log_rook = np.zeros_like(w)
    for coefficient in series[::-1]:
        log_rook = log_rook * w + coefficient
    exponent = log_rook - saddle.x * np.expm1(step) + (total + 1) * step - correct * turn
    exponent = np.where(within, exponent, -1e4)
    if not exponent.real.max() < 10:  # the circle does not pass through the saddle point: digits would cancel
        return None
    return np.asarray(np.exp(exponent))


def _sum(contour: Contour, values: NDArray[np.complex128]) -> float:
    """Return the trapezoidal sum over the whole circle; the lower half is the complex conjugate of the upper."""
    return float(2 * values.real.sum() - values[0].real) / contour.nodes


def _series(factors: Factors, saddle: _Saddle, edge: float, terms: int) -> FloatArray:
    """Return the series of the logarithm of the rook polynomial about the saddle point (`rook_factor.log_series`)."""
    series = np.zeros(terms)
    for value, times in factors:
        series += times * log_series(value, saddle.y, edge, terms)
    return series


def _curvature(series: FloatArray, saddle: _Saddle, edge: float) -> _Curvature:
    y, x, rho, _ = saddle
    unit = y + edge
    first, second = series[1] / unit, (2 * series[2] - series[1]) / unit**2  # of log R by y
    across = first * rho / x + second * (rho / x) ** 2
    cross = -(first + second * y) * rho / x
    along = first * y + second * y * y - x
    return _Curvature(cross, along, across - cross * cross / along if along < 0 else math.nan)


def _saddle(total: int, factors: Factors, correct: int, edge: float) -> _Saddle | None:
    """Return the integrand's stationary point for `correct`, to leading order, or the nearest one in reach."""

    def at(y: float) -> _Saddle:
        slope = sum(times * leading_slope(value, y) for value, times in factors)
        x = total + 1 - y * slope
        rho = 1 + y * x
        return _Saddle(y, x, rho, slope * rho / x)

    low, high = -0.5 * edge, edge
    if at(low).rho <= 0:
        low = (1 - 1e-6) * brentq(lambda y: at(y).rho, low, 0.0)
    if at(low).correct >= correct:
        return at(low)
    while at(high).correct < correct:
        high *= 4
        if high * edge > 1e12:
            return None
    return at(brentq(lambda y: at(y).correct - correct, low, high, xtol=1e-14 * edge, rtol=1e-13))


def _beside_pole(total: int, saddle: _Saddle, series: FloatArray, edge: float, deviation: float) -> _Saddle:
    """Return the saddle moved to a circle one over the standard deviation off the pole, on the same side."""
    rho = math.exp(math.copysign(1 / deviation, saddle.y))
    x = total + 1 - (rho - 1) / saddle.x * series[1] / (saddle.y + edge)
    return _Saddle((rho - 1) / x, x, rho, saddle.correct)


def _parity(total: int, factors: Factors, saddle: _Saddle) -> float:
    """Return the logarithm of ``abs(E (-1)^T)`` under the tilted distribution, to leading order.

    With only two classes T moves in steps of two: signs given to their rows and columns then cancel the sign of every
    right object. Each object outside the two only keeps the mean of its sign: -1 if right, the sign of the wrong class
    if wrong. This is done with the two largest classes, and without signs; the larger value counts.
    """
    slope = np.array([leading_slope(value, saddle.y) for value, times in factors for _ in range(times)])
    rows, columns = np.array([value[:2] for value, times in factors for _ in range(times)], dtype=float).T
    most = np.minimum(rows, columns)
    tilted, signed = slope / most * (saddle.rho - 1) / saddle.x, slope / most * (saddle.rho + 1) / saddle.x
    plain = total - float((most * tilted).sum())  # objects and names but for those drawn together by the tilt
    if plain <= 0:
        return 0.0
    least = 3 / math.sqrt(total)  # a mean that vanishes to leading order does not quite

    def log_mean(inside: NDArray[np.bool_], row_sign: float, column_sign: float) -> float:
        """Log mean of the objects outside the classes `inside`, given the mean signs of a row and a column object."""
        signs = np.clip(np.abs([row_sign, column_sign]), least, 1.0)
        either = np.clip(np.abs((1 - tilted) * row_sign * column_sign - signed), least, 1.0)[~inside]
        paired = float(most[~inside].sum())
        single = np.array([total - float(totals[inside].sum()) - paired for totals in (rows, columns)])
        return float(single @ np.log(signs) + (most[~inside] * np.log(either)).sum())

    means = [log_mean(np.zeros(len(most), dtype=bool), 1.0, 1.0)]
    free = [totals - most * tilted for totals in (columns, rows)]  # what a row object, a column object may fall on
    i, j = (*np.argsort(-(rows + columns)), -1)[:2]
    if j >= 0:
        inside = np.isin(np.arange(len(most)), (i, j))
        others = [1 - float(totals[inside].sum()) / plain for totals in free]
        apart = [float(totals[i] - totals[j]) / plain for totals in free]
        means += [log_mean(inside, others[0] - sign * apart[0], others[1] + sign * apart[1]) for sign in (1, -1)]
    return max(means)
