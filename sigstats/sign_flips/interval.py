r"""Intervals of a mean of paired differences that agree with the sign-flip test.

Two intervals are found, and their hull is the answer, so that it leaves 0 out exactly if the test rejects:

- The *conditional* interval inverts the exact test. Given the magnitudes, let the sign of :math:`d_i` be positive with
  the odds :math:`e^{2 \lambda |d_i|}`; :math:`\lambda = 0` is the null hypothesis. The law of the sum under
  :math:`\lambda` is the null law times :math:`e^{2 \lambda s}`, so that limits of :math:`\lambda` are found as Clopper
  and Pearson (1934) find those of a proportion, and :math:`\sum |d_i| \tanh(\lambda |d_i|)` is the mean that belongs
  to it. With one answer an item it is their interval of the share of discordant items that A wins.
- The *score* interval knows that other items might have differed. It holds the means that a score test does not reject,
  with the variance of the nonparametric likelihood under that mean; unseen differences may be as large as `limit`. With
  one answer an item it is Tango's (1998) interval, and it has a positive length where no item differs.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_ndtr, ndtr, ndtri

from .._common.validation import Alternative, FloatArray


def conditional_limits(
    magnitudes: FloatArray, observed: float, law: tuple[FloatArray, FloatArray] | None, tail: float
) -> tuple[float, float]:
    """The least and the greatest total difference that the test does not reject, given the magnitudes.

    Parameters
    ----------
    magnitudes : array of float
        The absolute differences, all positive.
    observed : float
        The sum of the positive ones.
    law : (sums, logs), or None
        The possible sums of positive differences and the logarithms of their null probabilities. Without them the
        tails are Lugannani and Rice's (1980), which want dozens of magnitudes.
    tail : float
        The level of each side.
    """
    total, unit = float(magnitudes.sum()), float(magnitudes.max())
    scaled = magnitudes / unit

    def mean(tilt: float) -> float:
        return float((magnitudes * np.tanh(tilt * scaled)).sum())

    if law is None:
        upper, lower = _saddle_point_tails(scaled, observed / unit)
    else:
        upper, lower = _exact_tails(law[0] / unit, law[1], observed / unit, total / unit)
    log_tail = math.log(tail)
    low = -total if observed <= 0 else mean(_root(lambda tilt: upper(tilt) - log_tail))
    high = total if observed >= total else mean(_root(lambda tilt: log_tail - lower(tilt)))
    return low, high


def _exact_tails(
    sums: FloatArray, logs: FloatArray, observed: float, total: float
) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """The logarithms of P(S >= observed) and P(S <= observed) as functions of the tilt."""
    slack = 1e-9 * total

    def tail(inside: NDArray[np.bool_]) -> Callable[[float], float]:
        def log_share(tilt: float) -> float:
            weights = logs + 2 * tilt * (sums - observed)
            return float(np.logaddexp.reduce(weights[inside]) - np.logaddexp.reduce(weights))

        return log_share

    return tail(sums >= observed - slack), tail(sums <= observed + slack)


def _saddle_point_tails(
    magnitudes: FloatArray, observed: float
) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """The same by Lugannani and Rice's formula, Advances in Applied Probability 12 (1980), 475-490.

    A tilted law has the cumulants of the null law at another place, so that one saddle point serves all tilts.
    """

    def cumulant(theta: float) -> float:
        return float(np.logaddexp(0.0, theta * magnitudes).sum())

    saddle = _root(lambda theta: float((magnitudes * expit(theta * magnitudes)).sum()) - observed)
    shares = expit(saddle * magnitudes)
    curvature = max(math.sqrt(float((magnitudes**2 * shares * (1 - shares)).sum())), 1e-150)
    at_saddle = saddle * observed - cumulant(saddle)

    def log_upper(tilt: float, side: int) -> float:
        step = side * (saddle - 2 * tilt)
        root = math.copysign(math.sqrt(max(0.0, 2 * (at_saddle - 2 * tilt * observed + cumulant(2 * tilt)))), step)
        if abs(root) < 1e-4:
            return math.log(0.5)
        correction = math.exp(-root * root / 2) / math.sqrt(2 * math.pi) * (1 / (step * curvature) - 1 / root)
        return math.log(min(max(math.exp(float(log_ndtr(-root))) + correction, 1e-300), 1.0))

    return lambda tilt: log_upper(tilt, 1), lambda tilt: log_upper(tilt, -1)


def _root(rising: Callable[[float], float]) -> float:
    """The zero of an increasing function."""
    from scipy.optimize import brentq

    low, high = -1.0, 1.0
    while rising(low) > 0 and low > -1e6:
        low *= 2
    while rising(high) < 0 and high < 1e6:
        high *= 2
    return low if rising(low) > 0 else high if rising(high) < 0 else float(brentq(rising, low, high, xtol=1e-13))


def score_limits(differences: FloatArray, sizes: FloatArray, limit: float, tail: float) -> tuple[float, float]:
    """The least and the greatest mean difference that the score test does not reject.

    Parameters
    ----------
    differences, sizes : array of float, shape (n,)
        The total difference of each item and its number of rows.
    limit : float
        The largest difference that one row can have, above 0.
    tail : float
        The level of each side.
    """
    from scipy.optimize import brentq

    z, n, size = -float(ndtri(tail)), len(differences), float(sizes.mean())
    estimate = float(differences.sum() / sizes.sum())

    def excess(mean: float) -> float:
        residuals = differences - mean * sizes
        return abs(float(residuals.sum())) - z * math.sqrt(n * null_variance(residuals, size, mean, limit))

    def reach(end: float) -> float:
        if abs(end - estimate) < 1e-12 * limit or excess(end) <= 0:
            return end
        start = estimate + 1e-12 * (end - estimate)  # where no item differs nothing is in excess at the estimate
        return float(brentq(excess, start, end, xtol=1e-14 * limit)) if excess(start) < 0 else start

    return reach(-limit), reach(limit)


def score_pvalue(differences: FloatArray, sizes: FloatArray, limit: float, alternative: Alternative) -> float:
    """The p-value of the score test of which `score_limits` are the inversion; 1 where no item differs.

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats.sign_flips.interval import score_pvalue
    >>> score_pvalue(np.repeat([1.0, -1.0], [9, 1]), np.ones(10), 1.0, "greater")  # (9 - 1)**2 / (9 + 1) = 6.4 = z**2
    0.005706018193000826
    """
    total = float(differences.sum())
    variance = len(differences) * null_variance(differences, float(sizes.mean()), 0.0, limit) if total else 0.0
    if variance == 0:
        return 1.0 if alternative == "two-sided" or total == 0 else 0.5
    z = total / math.sqrt(variance)
    tail = {"greater": -z, "less": z, "two-sided": -abs(z)}[alternative]
    return max(float(ndtr(tail)) * (2 if alternative == "two-sided" else 1), math.ulp(0.0))


def null_variance(residuals: FloatArray, size: float, mean: float, limit: float) -> float:
    """The variance of an item's residual under the likeliest law of mean 0 that may also hold the most extreme ones.

    The likelihood (Owen 1988, Biometrika 75, 237-249) gives residual r the probability ``1 / (n (1 + t r))``; where the
    mean cannot be 0 otherwise, an unseen residual at an end of the range gets what is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from sigstats.sign_flips.interval import null_variance
    >>> round(null_variance(np.full(10, -0.1), 1.0, 0.1, 1.0), 12)  # no item of ten differs; the mean is to be 0.1
    0.09
    """
    from scipy.optimize import brentq

    top = max(size * (limit - mean), float(residuals.max()))
    bottom = min(-size * (limit + mean), float(residuals.min()))
    if top <= 0 or bottom >= 0:
        return float((residuals**2).mean())

    def balance(t: float) -> float:
        with np.errstate(divide="ignore"):
            terms = residuals / (1 + t * residuals)
        # A residual at an end of the range makes the balance infinite there.
        return float(terms.sum()) if np.isfinite(terms).all() else math.copysign(1e300, -t)

    low, high = -1 / top, -1 / bottom
    unseen = 0.0
    if balance(low) <= 0:
        t, unseen = low, top
    elif balance(high) >= 0:
        t, unseen = high, bottom
    else:
        t = float(brentq(balance, low, high, xtol=1e-15 * (high - low)))
    shares = 1 / (len(residuals) * (1 + t * residuals))
    missing = max(0.0, 1 - float(shares.sum())) if unseen else 0.0
    return float((shares * residuals**2).sum() + missing * unseen**2)
