"""The score test of a mean of paired differences, where the signs of differences are not exchangeable."""

import math

import numpy as np
from scipy.special import ndtr

from .._common.validation import Alternative, FloatArray


def score_pvalue(differences: FloatArray, sizes: FloatArray, limit: float, alternative: Alternative) -> float:
    """The p-value of the score test with the variance of the likeliest law of mean 0; 1 where no item differs.

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
