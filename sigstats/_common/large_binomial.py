"""Confidence bounds of a proportion over more trials than inverse beta functions are right for.

When not to use: up to a thousand million trials, where the inverse of the incomplete beta function is exact but for
rounding. Beyond, it strays from the tenth digit on, and for some counts (1000 of 10**10) by a factor.
"""

import math

from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv, ndtri

#: Up to so many successes Poisson's tail is close to the binomial one, and beyond the other so Zubkov and Serov's.
_MOST_POISSON, _FEWEST_NORMAL = 2**20, 2**10


def proportion_bounds(successes: int, trials: int, tail: float) -> tuple[float, float]:
    """An interval of a proportion, no narrower than Clopper and Pearson's and hardly wider.

    At its lower end so many successes or more have at most the probability `tail`; at its upper end so many or fewer.

    `successes` and `trials`: of more than a thousand million trials. `tail`: less than 1/2.

    Notes
    -----
    Each is the narrower of two bounds, neither of which is narrower than Clopper and Pearson's. For few successes a
    Poisson variable has the heavier tail (Anderson and Samuels, Proceedings of the 5th Berkeley Symposium 1 (1967)).
    For many, with H the Kullback-Leibler divergence, ``P(X >= k) <= Phi(-sqrt(2 n H((k - 1) / n, p)))`` (Zubkov and
    Serov, Theory of Probability and its Applications 57 (2013)).

    Examples
    --------
    >>> from sigstats._common.large_binomial import proportion_bounds
    >>> half = 2**52
    >>> low, high = proportion_bounds(half, 2 * half, 0.025)
    >>> round((high - low) * (2 * half) ** 0.5, 5)  # in standard deviations
    1.95996
    """
    if 2 * successes > trials:
        low, high = proportion_bounds(trials - successes, trials, tail)
        return math.nextafter(1 - high, 0.0), math.nextafter(1 - low, 1.0)
    bounds = []
    if successes <= _MOST_POISSON:
        low, high = _poisson(successes, tail)
        bounds.append((math.nextafter(low / trials, 0.0), math.nextafter(high / trials, 1.0)))
    if successes > _FEWEST_NORMAL:
        bounds.append((_normal(successes - 1, trials, tail, -1), _normal(successes + 1, trials, tail, 1)))
    return max(low for low, _ in bounds), min(high for _, high in bounds)


def _poisson(count: int, tail: float) -> tuple[float, float]:
    """The interval of the mean of a Poisson variable, no narrower than exact."""
    low, step = float(gammaincinv(count, tail)) if count else 0.0, 1e-15
    while low and gammainc(count, low) > tail:
        low, step = low * (1 - step), 2 * step
    high, step = float(gammainccinv(count + 1, tail)), 1e-15
    while gammaincc(count + 1, high) > tail:
        high, step = high * (1 + step), 2 * step
    return low, high


def _normal(count: int, trials: int, tail: float, side: int) -> float:
    """The proportion below (`side` -1) or above (1) which the divergence of ``count / trials`` is large enough."""
    from scipy.optimize import brentq  # which takes longer to import than a small comparison

    share, z = count / trials, -float(ndtri(tail))

    def surplus(distance: float) -> float:
        return math.sqrt(2 * trials * _divergence(share, side * distance)) - z

    farthest = (share if side < 0 else 1 - share) * (1 - 1e-12)
    distance = float(brentq(surplus, 0.0, farthest, xtol=1e-300, rtol=1e-14, maxiter=1000))
    return math.nextafter(share + side * distance * (1 + 1e-12), max(side, 0))


def _divergence(share: float, distance: float) -> float:
    """Kullback and Leibler's, of `share` from ``share + distance``; no two terms cancel."""
    return share * _excess(distance / share) + (1 - share) * _excess(-distance / (1 - share))


def _excess(x: float) -> float:
    """``x - log(1 + x)``, by its series where the difference would cancel."""
    if abs(x) > 0.02:
        return x - math.log1p(x)
    return math.fsum((-x) ** power / power for power in range(2, 14))
