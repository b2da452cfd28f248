"""The law of a sum of whole magnitudes that fair coins put in or leave out, in fixed point with bounds that hold.

The product of `sigstats.sign_flips.law` is taken after an exponential tilt that moves its mean to the threshold
(Esscher 1932), so that the tail is made of large terms. Every rounding is downward, and their total is added to the
upper bound.
"""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._common.error_bounds import ROUNDING, error_bound, width_of
from .fourier import tilt_to

Polynomial: TypeAlias = Any  # flint.fmpz_poly, which is untyped

#: The binary digits after the point.
_BITS = 128
#: Bounds that are further apart, as a share of the upper one, are said to be bounds.
_TEN_DIGITS = 1e-10


class Tail(NamedTuple):
    """Bounds of a tail probability and its natural logarithm; both bounds are equal where it is exact.

    `rounding` is the relative error of a tail that is exact but for its arithmetic.
    """

    low: float
    high: float
    log: float
    rounding: float = ROUNDING

    @property
    def reason(self) -> str:
        """That the p-value is only bounded, where ten digits of it are not known; else empty."""
        if self.low == self.high or width_of(self.low, self.high) <= _TEN_DIGITS:
            return ""
        return "bounded, not summed: p is the upper of two bounds, of which pvalue_interval has both"

    @property
    def error_bound(self) -> float:
        """A bound on the distance of the upper bound from the tail, relative to the larger of the two."""
        if self.low == self.high:
            return error_bound(self.high, self.rounding) if self.log > -math.inf else 0.0
        return error_bound(self.high, width_of(self.low, self.high))


class _Fixed(NamedTuple):
    """A law in fixed point: its first position, coefficients rounded down, and how much mass roundings took."""

    first: int
    terms: Polynomial
    lost: int


def fixed_point(distinct: "Counter[int]", *thresholds: int) -> list[Tail]:
    """Tails of whole magnitudes from one law, tilted to the first threshold, with bounds that hold.

    Examples
    --------
    >>> from collections import Counter
    >>> from sigstats.sign_flips.fixed_point import fixed_point
    >>> (tail,) = fixed_point(Counter({1: 2, 3: 1}), 4)  # 1 + 3 twice and 1 + 1 + 3 of 8 sums
    >>> tail.low <= 0.375 <= tail.high, tail.high - tail.low < 1e-15
    (True, True)
    """
    from flint import arb, ctx, fmpz_poly

    tilt = tilt_to(np.array(list(distinct), dtype=float), np.array(list(distinct.values())), thresholds[0])
    before, ctx.prec = ctx.prec, 4 * _BITS
    try:
        theta, unit = arb(tilt), arb(2) ** _BITS
        factors, log_scale = [], arb(0)
        for size, times in distinct.items():
            odds = (theta * size).exp()
            left_out, included = (_rounded_down(unit * share) for share in (1 / (1 + odds), odds / (1 + odds)))
            factors.append(_spaced(_power(_Fixed(0, fmpz_poly([left_out, included]), 2), int(times)), size))
            log_scale += times * ((1 + odds) / 2).log()
        law = multiplied(factors, _multiply)
        return [_tail_of_tilted(law, theta, log_scale, threshold, unit) for threshold in thresholds]
    finally:
        ctx.prec = before


def _rounded_down(ball: Any) -> int:
    """The whole part of a ball that is far narrower than one."""
    return int(ball.lower().floor().unique_fmpz())


def _tail_of_tilted(law: _Fixed, theta: Any, log_scale: Any, threshold: int, unit: Any) -> Tail:
    """``P(S >= s) = exp(log scale) sum over j >= s of P(tilted S = j) exp(-theta j)``, theta >= 0."""
    from flint import arb_poly, fmpz, fmpz_poly

    start = max(threshold, law.first)
    terms = arb_poly(fmpz_poly(law.terms.coeffs()[start - law.first :]))
    total = terms((-theta).exp()) * (-theta * (start - threshold)).exp()
    weight = (log_scale - theta * threshold).exp() / unit
    low, high = total * weight, (total + fmpz(law.lost)) * weight
    return Tail(max(0.0, float(low.lower())), min(1.0, float(high.upper())), min(0.0, float(high.log().mid())))


def _multiply(one: _Fixed, other: _Fixed) -> _Fixed:
    from flint import fmpz

    product = (one.terms * other.terms) // fmpz(1 << _BITS)
    # A law has mass at most one, so the product lacks at most what both lack, and one unit a coefficient by rounding.
    lost = one.lost + other.lost + one.terms.degree() + other.terms.degree() + 1
    return _trimmed(_Fixed(one.first + other.first, product, lost))


def _trimmed(law: _Fixed) -> _Fixed:
    """The law without the zeros in front, which fixed point leaves far from its mean."""
    from flint import fmpz_poly

    coefficients = law.terms.coeffs()
    zeros = next((i for i, count in enumerate(coefficients) if count), 0)
    if zeros < 64:
        return law
    return _Fixed(law.first + zeros, fmpz_poly(coefficients[zeros:]), law.lost)


def _spaced(law: _Fixed, size: int) -> _Fixed:
    """The law of `size` times the sum."""
    from flint import fmpz_poly

    terms = [0] * (law.terms.degree() * size + 1)
    terms[::size] = law.terms.coeffs()
    return _Fixed(law.first * size, fmpz_poly(terms), law.lost)


def _power(law: _Fixed, times: int) -> _Fixed:
    found: _Fixed | None = None
    while times:
        if times & 1:
            found = law if found is None else _multiply(found, law)
        times >>= 1
        if times:
            law = _multiply(law, law)
    assert found is not None
    return found


def multiplied(factors: list[Any], multiply: Callable[[Any, Any], Any]) -> Any:
    """The product of factors, by a tree that multiplies those of like length.

    Examples
    --------
    >>> from sigstats.sign_flips.fixed_point import multiplied
    >>> multiplied([2, 3, 4], lambda one, other: one * other)
    24
    """
    while len(factors) > 1:
        pairs = [multiply(*factors[i : i + 2]) for i in range(0, len(factors) - 1, 2)]
        factors = pairs + factors[len(factors) - len(factors) % 2 :]
    return factors[0]
