"""Certified bounds of an exact conditional p-value, if half of the outcomes are too many to list.

The p-value is the probability that T = sum_j s_j(x_j), less its observed value, is at most 0, for independent counts
given their sum. Selberg's trigonometric polynomials of degree J lie above and below the indicator of an interval on a
circle, and their means differ by about 2/J of the density at its ends (Montgomery 1994, Ten Lectures on the Interface,
ch. 1; Vaaler 1985). Their expectations are *finite* sums of J values of the characteristic function of T, a product
over columns: no asymptotic expansion and no assumption of smoothness enters. What is neglected is bounded and added:

- T outside the circle's length, and sums of counts that a shorter Fourier transform confuses (Chernoff's bound);
- frequencies at which a part of the product is already tiny (its modulus bounds the whole);
- the rounding of scores (phases are 64-bit fixed-point numbers, which wrap exactly, so that rounding the scores
  moves T by a known amount at most) and of the sums.

Small p-values are treated under the exponentially tilted law in which T is centred at 0, so that the bounds are
relative to p. The mass of outcomes tied with the observed one lies inside the bounds. If Chernoff's bound, which the
tilted law gives without polynomials, is already below `NEGLIGIBLE`, it is used instead: no decision depends on the
digits of such a p, and they would take a minute.

`bounds` chooses the tilts and the length of the circle, computes the characteristic function for more and more
frequencies (`_Circle.extend`), and ends once both bounds (`_Circle.bound`) are close enough. For sums with random signs
see `sigstats.sign_flips.bounds`.

When not to use: few or small columns. There the exact method is faster, and a single tie may outweigh the width.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.fft import fft, next_fast_len
from scipy.optimize import minimize_scalar

from .._common.fourier import as_turns, points_at, power, tilted_expectation
from .._common.validation import FloatArray

#: The most frequencies, and the most (frequency, angle, column) triples, that are evaluated: about two minutes.
MAX_FREQUENCIES = 2**22
MAX_WORK = 2 * 10**10
#: Below this p is bounded from above alone.
NEGLIGIBLE = 1e-100
_BLOCK = 512


class WorkLimitError(Exception):
    """The bounds would need more than `MAX_WORK`."""


@dataclass(frozen=True)
class Column:
    """Equal columns: their number, and the log probabilities of 0, 1, ..., which are also the scores."""

    log_mass: FloatArray
    copies: int


@dataclass(frozen=True)
class _Tilted:
    """A column under the tilted law: probabilities of the relevant counts, their phases, and the omitted part."""

    mass: FloatArray
    first: int
    phase: NDArray[np.uint64]
    copies: int
    lost: float


def bounds(
    columns: Sequence[Column], total: int, observed: float, log_norm: float, *, slack: float, width: float
) -> tuple[float, float]:
    """Return the lower and upper bound of P(sum of log masses <= observed | sum of counts = total).

    `columns`: the classes, equal ones together. `log_norm`: the logarithm of the probability of the `total`. `slack`:
    bound on the rounding error of the sum of the scores. `width`: the wanted width, as a share of the upper bound;
    WorkLimitError if that takes more than `MAX_WORK`. If Chernoff's bound is below `NEGLIGIBLE`, returns 0 and that
    bound.
    """
    # Untilted bounds cost less, so only a far tail is tilted, so that T is centred at 0.
    optimum = minimize_scalar(lambda s: _cumulant(columns, s, 0.0) + s * observed, bounds=(0.0, 0.98), method="bounded")
    tilt = float(optimum.x) if optimum.fun < -9 else 0.0
    count_tilt = _count_tilt(columns, tilt, total)
    log_z = _cumulant(columns, tilt, count_tilt)
    scale = log_z - count_tilt * total + tilt * observed - log_norm
    chernoff = scale + tilt * slack + 1e-9  # T <= 0: the masses are at most exp(tilt observed) tilted ones
    if chernoff < math.log(NEGLIGIBLE):
        return 0.0, math.exp(chernoff)
    top = sum(c.copies * float(c.log_mass.max()) for c in columns) - observed
    reach = 4.0
    while (outside := _chance_below(columns, tilt, count_tilt, observed, log_z, reach - 0.5)) > 1e-12:
        reach *= 1.15
    circle = _circle(columns, total, observed, tilt, count_tilt, length=reach + top + 1.0)
    missed = 1e-15 + outside
    missed += sum(c.copies * c.lost for c in circle.columns)
    missed += _aliasing(columns, tilt, count_tilt, log_z, total, circle.angles)

    degree, drop = 2**12, 1e-14
    for _ in range(12):
        if degree > MAX_FREQUENCIES or degree * circle.angles * len(circle.columns) > MAX_WORK:
            break
        circle.extend(degree, drop)
        low, high = (circle.bound(degree, tilt, reach, sign * slack, sign) for sign in (-1, 1))
        low, high = low - missed, high + missed
        # The width falls as 1 / degree: what cannot be reached is given up at once.
        needed = degree * (high - low) / (width * high) / 2 if high > 0 else math.inf
        if needed > MAX_FREQUENCIES or needed * circle.angles * len(circle.columns) > MAX_WORK:
            break
        if high - low <= width * high:
            factor = math.exp(min(scale, 700.0))
            return max(0.0, low * factor * (1 - 1e-11)), min(1.0, high * factor * (1 + 1e-11))
        drop = max(drop, min(1e-7 * width / 1e-4, 1e-3 * width) * max(low, high / 100) / 10)
        degree = math.ceil(min(degree * min(max(1.05 * (high - low) / (width * high), 1.3), 64.0), MAX_FREQUENCIES + 1))
    raise WorkLimitError


@dataclass
class _Circle:
    """The characteristic function of T, where the sum of the counts is `total`, on a circle of this length.

    `values` are those of the frequencies 0, 1, ... computed so far, and `doubt` bounds their errors.
    """

    columns: list[_Tilted]
    total: int
    angles: int
    length: float
    observed: np.uint64
    values: list[NDArray[np.complex128]] = field(default_factory=list)
    doubt: list[FloatArray] = field(default_factory=list)

    def extend(self, degree: int, drop: float) -> None:
        """Extend the values to frequencies up to `degree`; a product with a modulus of at most `drop` becomes doubt."""
        known = sum(len(v) for v in self.values)
        offset = self.total - sum(c.copies * c.first for c in self.columns)
        angle = (np.arange(self.angles) * offset) % self.angles
        back = np.exp(2j * math.pi / self.angles * angle) / self.angles
        tables = [points_at(np.arange(_BLOCK, dtype=np.uint64)[:, None] * c.phase) * c.mass for c in self.columns]
        for start in range(known, degree + 1, _BLOCK):
            rows = min(_BLOCK, degree + 1 - start)
            alive = np.arange(rows)
            product = np.ones((rows, self.angles), dtype=np.complex128)
            doubt = np.ones(rows)
            for c, table in zip(self.columns, tables, strict=True):
                terms = table[alive] * points_at(np.uint64(start) * c.phase)
                product *= power(fft(terms, n=self.angles, axis=1), c.copies)
                doubt[alive] = np.abs(product).max(axis=1)
                keep = doubt[alive] > drop
                if not keep.all():
                    alive, product = alive[keep], product[keep]
                if not alive.size:
                    break
            value = np.zeros(rows, dtype=np.complex128)
            value[alive] = (product @ back) * points_at((start + alive).astype(np.uint64) * self.observed).conj()
            doubt[alive] *= 4e-16 * (10 + 4 * sum(c.copies for c in self.columns))
            self.values.append(value)
            self.doubt.append(doubt)

    def bound(self, degree: int, tilt: float, reach: float, slack: float, sign: int) -> float:
        """Return Selberg's bound of the tilted expectation of exp(tilt T) 1(-reach <= T <= 0)."""
        values = np.concatenate(self.values)[: degree + 1]
        doubt = np.concatenate(self.doubt)[: degree + 1]
        return tilted_expectation(values, doubt, length=self.length, tilt=tilt, reach=reach, slack=slack, sign=sign)


def _cumulant(columns: Sequence[Column], tilt: float, count_tilt: float) -> float:
    """Return the logarithm of the sum of mass^(1 - tilt) exp(count_tilt x), over all columns."""
    return math.fsum(
        c.copies * _log_sum((1 - tilt) * c.log_mass + count_tilt * np.arange(len(c.log_mass))) for c in columns
    )


def _log_sum(values: FloatArray) -> float:
    top = float(values.max())
    return top + math.log(float(np.exp(values - top).sum()))


def _count_tilt(columns: Sequence[Column], tilt: float, total: int) -> float:
    """Return the tilt of the counts under which their expected sum is `total`, near enough."""
    if tilt == 0:
        return 0.0
    optimum = minimize_scalar(lambda t: _cumulant(columns, tilt, t) - t * total, bounds=(-20.0, 20.0), method="bounded")
    return float(optimum.x)


def _chance_below(
    columns: Sequence[Column], tilt: float, count_tilt: float, observed: float, log_z: float, reach: float
) -> float:
    """Return an upper bound of the tilted probability of T < -reach (Chernoff)."""
    steps = np.linspace(0.02, 1.3 - tilt, 33)
    return math.exp(
        min(
            _cumulant(columns, tilt + step, count_tilt) + step * observed - log_z - step * reach
            for step in steps.tolist()
        )
    )


def _aliasing(
    columns: Sequence[Column], tilt: float, count_tilt: float, log_z: float, total: int, angles: int
) -> float:
    """Return a bound of the tilted probability that the sum of counts is `angles` or more from `total` (Chernoff)."""
    out = 0.0
    for sign in (-1, 1):
        exponents = [
            _cumulant(columns, tilt, count_tilt + sign * step) - sign * step * total - log_z - step * angles
            for step in np.geomspace(1e-3, 4.0, 40).tolist()
        ]
        out += math.exp(min(0.0, *exponents))
    return out


def _circle(
    columns: Sequence[Column], total: int, observed: float, tilt: float, count_tilt: float, *, length: float
) -> _Circle:
    """Return the circle without values, with enough angles that sums of counts are hardly confused."""
    tilted = []
    for c in columns:
        x = np.arange(len(c.log_mass))
        log_mass = (1 - tilt) * c.log_mass + count_tilt * x
        mass = np.exp(log_mass - _log_sum(log_mass))
        kept = np.flatnonzero(mass > 1e-19)
        first, last = int(kept[0]), int(kept[-1])
        inside = slice(first, last + 1)
        lost = float(mass[:first].sum() + mass[last + 1 :].sum())
        tilted.append(_Tilted(mass[inside], first, as_turns(c.log_mass[inside], length), c.copies, lost))
    # The column that typically shortens the characteristic function most comes first.
    tilted.sort(key=lambda c: c.copies * math.log(float(c.mass @ c.mass)))
    log_z = _cumulant(columns, tilt, count_tilt)
    angles = max(len(c.mass) for c in tilted)
    while _aliasing(columns, tilt, count_tilt, log_z, total, angles) > 1e-13:
        angles = math.ceil(angles * 1.1)
    return _Circle(tilted, total, next_fast_len(angles), length, as_turns(np.array([observed]), length)[0])


def grouped(log_masses: Sequence[FloatArray], labels: Sequence[float]) -> list[Column]:
    """Merge columns with equal labels, which have equal laws, and count them."""
    law_of = dict(zip(labels, log_masses, strict=True))
    return [Column(law_of[label], copies) for label, copies in Counter(labels).items()]
