"""Intervals of a proportion from counts, and of a quantile from a sample; quantiles of Student's t."""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, SupportsIndex

import numpy as np
from scipy import special

from ._common.validation import ALTERNATIVES, MAX_TOTAL, FloatArray, IntArray, as_choice, as_count, as_real, refuse

#: With more trials the inverse of the incomplete beta function is not exact.
MOST_TRIALS_OF_BETA = 2**30
#: Relative size above which a Newton step is applied.
_NEWTON = 1e-14


@dataclass(frozen=True)
class Interval:
    """A closed interval with its confidence.

    It unpacks to its two ends. ``value in interval`` is true between them, ends included, and ``-interval`` is the
    interval of B - A if `interval` is that of A - B.

    Attributes
    ----------
    low, high : float
        The ends; infinite if the interval is unbounded.
    confidence_level : float
        The confidence; 1 for certified bounds.

    Examples
    --------
    >>> import sigstats
    >>> interval = sigstats.clopper_pearson(7, 10)
    >>> low, high = interval
    >>> round(low, 3), round(high, 3), 0.5 in interval, 0.3 in interval
    (0.348, 0.933, True, False)
    """

    low: float
    high: float
    confidence_level: float

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, end: int) -> float:
        return (self.low, self.high)[end]

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __neg__(self) -> "Interval":
        return Interval(0.0 - self.high, 0.0 - self.low, self.confidence_level)


def as_level(confidence_level: Any, alternative: str = "two-sided") -> float:
    """Return the valid confidence of an interval, above 1/2 if one-sided. Raise ValueError for invalid arguments."""
    as_choice(alternative, "alternative", ALTERNATIVES)
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    if alternative != "two-sided" and level <= 0.5:
        raise refuse("confidence_level", level, "above 0.5 for an interval of one end")
    return level


def with_alternative(
    two_sided: Callable[[float], Interval], alternative: str, level: float, ends: tuple[float, float]
) -> Interval:
    """Return the interval of `level`; for a one-sided alternative one end is replaced by the least or greatest value.

    `two_sided` returns the interval of a level with equal tails. Raises ValueError for a one-sided one of level 1/2 or
    less.

    >>> with_alternative(lambda level: clopper_pearson(0, 10, confidence_level=level), "less", 0.95, (0, 1)).high
    0.25886...
    """
    if alternative == "two-sided":
        return two_sided(level)
    as_level(level, alternative)
    low, high = two_sided(2 * level - 1)
    return Interval(low, ends[1], level) if alternative == "greater" else Interval(ends[0], high, level)


def clopper_pearson(successes: SupportsIndex, n: SupportsIndex, *, confidence_level: float = 0.95) -> Interval:
    """Compute the exact interval of a binomial proportion (Clopper and Pearson 1934).

    It covers the true proportion with at least the stated probability. Beyond a billion trials it is less than a
    thousandth wider.

    When not to use: for dependent trials; to see whether the intervals of two models overlap (`sigstats.compare`).

    Parameters
    ----------
    successes, n : int
        ``0 <= successes <= n``; with no trial the interval is [0, 1].
    confidence_level : float
        Of the interval, strictly between 0 and 1.

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        If a count is negative or fractional, `successes` exceeds `n`, or `confidence_level` is not in (0, 1).

    References
    ----------
    Clopper and Pearson, Biometrika 26 (1934).

    Examples
    --------
    >>> import sigstats
    >>> low, high = sigstats.clopper_pearson(7, 10)
    >>> round(low, 6), round(high, 6)
    (0.347547, 0.93326)
    """
    k, n, confidence_level = _as_proportion(successes, n, confidence_level)
    tail = (1 - confidence_level) / 2
    if n > MOST_TRIALS_OF_BETA:
        low, high = _bounds_of_many(k, n, tail)
        low, high = (0.0 if k == 0 else low), (1.0 if k == n else high)
    else:
        low = 0.0 if k == 0 else float(special.betaincinv(k, n - k + 1, tail))
        high = 1.0 if k == n else float(special.betainccinv(k + 1, n - k, tail))
    return Interval(low, high, confidence_level)


def mid_p_interval(successes: int, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Return the mid-p interval of a binomial proportion; without trials [0, 1].

    Clopper and Pearson's with half the probability of the observed count: shorter, it covers the true proportion about
    as often as stated, sometimes less often (Lancaster 1961; Berry and Armitage 1995).
    """
    from scipy.optimize import brentq

    k, n, confidence_level = _as_proportion(successes, n, confidence_level)
    tail = (1 - confidence_level) / 2

    def above(p: float) -> float:
        """P(X > k) + P(X = k) / 2, minus the tail; increases with p."""
        more = float(special.betainc(k + 1, n - k, p)) if k < n else 0.0
        return (float(special.betainc(k, n - k + 1, p)) + more) / 2 - tail

    def below(p: float) -> float:
        """P(X < k) + P(X = k) / 2, minus the tail; decreases with p."""
        fewer = float(special.betaincc(k, n - k + 1, p)) if k else 0.0
        return (fewer + float(special.betaincc(k + 1, n - k, p))) / 2 - tail

    low = 0.0 if k == 0 else float(brentq(above, 0.0, 1.0, xtol=1e-300, rtol=1e-14, maxiter=2000))
    high = 1.0 if k == n else float(brentq(below, 0.0, 1.0, xtol=1e-300, rtol=1e-14, maxiter=2000))
    low, high = sorted((low, high))  # one number but for rounding where the level is about 0
    return Interval(low, high, confidence_level)


def quantile_interval(values: FloatArray, share: float, *, confidence_level: float = 0.95) -> Interval:
    """Return the interval of the quantile below which this share of a population lies, for any distribution.

    Its ends are order statistics of independent `values`, and infinite if there are too few of them: the number of
    values below the point is binomial (Thompson 1936, Annals of Mathematical Statistics 7, 122-128).
    """
    n, tail = len(values), (1 - confidence_level) / 2
    below = bisect_right(range(n), tail, key=lambda k: float(special.bdtr(k, n, share)))
    above = bisect_right(range(n), tail, key=lambda k: float(special.bdtr(k, n, 1 - share)))
    low = -math.inf if below == 0 else order_statistic(values, below)
    high = math.inf if above == 0 else order_statistic(values, n - above + 1)
    return Interval(low, high, confidence_level)


def order_statistic(values: FloatArray, rank: int) -> float:
    """Return the value of this rank, 1 for the least."""
    return float(np.partition(values, rank - 1)[rank - 1])


def _as_proportion(successes: Any, trials: Any, confidence_level: Any) -> tuple[int, int, float]:
    n = as_count(trials, "n", maximum=4 * MAX_TOTAL)  # a sum of a few counts
    k = as_count(successes, "successes")
    if k > n:
        raise refuse("successes", successes, f"at most n, {n}")
    return k, n, as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)


#: The most successes for which the Poisson bound is used, and the number above which that of Zubkov and Serov is.
_MOST_POISSON, _FEWEST_NORMAL = 2**20, 2**10


def _bounds_of_many(successes: int, trials: int, tail: float) -> tuple[float, float]:
    """Return an interval of a proportion, of over 10^9 trials, no narrower than Clopper and Pearson's and hardly wider.

    At the lower end the probability of this many successes or more is at most `tail`, below 1/2; at the upper end that
    of this many or fewer. Each end is the narrower of two bounds, neither of which is narrower than Clopper and
    Pearson's. For few successes a Poisson variable has the heavier tail (Anderson and Samuels, Proceedings of the 5th
    Berkeley Symposium 1 (1967)). For many, with H the Kullback-Leibler divergence, ``P(X >= k) <= Phi(-sqrt(2 n H((k -
    1) / n, p)))`` (Zubkov and Serov, Theory of Probability and its Applications 57 (2013)).
    """
    if 2 * successes > trials:
        low, high = _bounds_of_many(trials - successes, trials, tail)
        return math.nextafter(1 - high, 0.0), math.nextafter(1 - low, 1.0)
    bounds = []
    if successes <= _MOST_POISSON:
        low, high = _poisson(successes, tail)
        bounds.append((math.nextafter(low / trials, 0.0), math.nextafter(high / trials, 1.0)))
    if successes > _FEWEST_NORMAL:
        bounds.append((_normal(successes - 1, trials, tail, -1), _normal(successes + 1, trials, tail, 1)))
    return max(low for low, _ in bounds), min(high for _, high in bounds)


def _poisson(count: int, tail: float) -> tuple[float, float]:
    """Return the interval of the mean of a Poisson variable, no narrower than exact."""
    low, step = float(special.gammaincinv(count, tail)) if count else 0.0, 1e-15
    while low and special.gammainc(count, low) > tail:
        low, step = low * (1 - step), 2 * step
    high, step = float(special.gammainccinv(count + 1, tail)), 1e-15
    while special.gammaincc(count + 1, high) > tail:
        high, step = high * (1 + step), 2 * step
    return low, high


def _normal(count: int, trials: int, tail: float, side: int) -> float:
    """Return the proportion below (`side` -1) or above (1) ``count / trials`` with a large enough divergence."""
    from scipy.optimize import brentq  # which takes longer to import than a small comparison

    share, z = count / trials, -float(special.ndtri(tail))

    def surplus(distance: float) -> float:
        ratios = side * distance / share, -side * distance / (1 - share)  # of Kullback and Leibler; no terms cancel
        return math.sqrt(2 * trials * (share * _excess(ratios[0]) + (1 - share) * _excess(ratios[1]))) - z

    farthest = (share if side < 0 else 1 - share) * (1 - 1e-12)
    distance = float(brentq(surplus, 0.0, farthest, xtol=1e-300, rtol=1e-14, maxiter=1000))
    return math.nextafter(share + side * distance * (1 + 1e-12), max(side, 0))


def _excess(x: float) -> float:
    """``x - log(1 + x)``, by its series if the difference would cancel."""
    if abs(x) > 0.02:
        return x - math.log1p(x)
    return math.fsum((-x) ** power / power for power in range(2, 14))


def tango_statistic(n: int, b: IntArray | int, c: IntArray | int, delta: float) -> FloatArray:
    """Tango's (1998, eq. 7) statistic of a difference `delta`; `b` and `c`: rows that only one of them gets right."""
    slope = -b - c + (2 * n - b + c) * delta
    rest = -c * delta * (1 - delta)
    only_c = (np.sqrt(np.maximum(slope**2 - 8.0 * n * rest, 0)) - slope) / (4 * n)
    with np.errstate(divide="ignore", invalid="ignore"):
        values: FloatArray = (b - c - n * delta) / np.sqrt(n * np.maximum(2 * only_c + delta * (1 - delta), 0))
    return np.where(np.isnan(values), -np.inf, values)


@lru_cache(maxsize=1024)
def student_quantile(freedom: float, probability: float) -> float:
    """Return the value below which Student's t with `freedom` degrees of freedom lies with `probability`, to 14 digits.

    SciPy before 1.17 gives eleven digits: a step of Newton's method gives the others.
    """
    value = float(special.stdtrit(freedom, probability))
    half = (freedom + 1) / 2
    scale = math.exp(special.gammaln(half) - special.gammaln(freedom / 2)) / math.sqrt(freedom * math.pi)
    density = scale * (1 + value * value / freedom) ** -half
    step = (float(special.stdtr(freedom, value)) - probability) / density if density > 0 else 0.0
    return value - step if abs(step) > _NEWTON * abs(value) else value
