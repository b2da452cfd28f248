"""Logarithms of binomial and Poisson probabilities, accurate where differences of log-gammas are not.

Both families close under addition (counts of pooled classes follow the same law with the sum of the parameters), so
that independent counts of either, given their sum, are the laws of Fisher's exact test (multivariate hypergeometric)
and of the exact goodness-of-fit test (multinomial). Loader's saddle-point form: the absolute error of a logarithm
is about ``1e-16 (10 + |x - mean|)``. Not part of the public names.

When not to use: one probability in the range of floats, for which `scipy.stats.binom.pmf` is enough.
"""

import math

import numpy as np
from scipy.special import xlog1py

from .._common.validation import FloatArray, IntArray

_LOG_2PI = math.log(2 * math.pi)
#: `_stirling_error` of 0 (unused) to 15, where its series is not accurate.
_STIRLING_ERROR = np.array(
    [0.0, *(math.lgamma(k + 1) - (k + 0.5) * math.log(k) + k - 0.5 * _LOG_2PI for k in range(1, 16))]
)


def binomial_log_pmf(n: int, p: float, x: IntArray, errors: FloatArray | None = None) -> FloatArray:
    """The logarithm of the binomial probability of `x` successes in `n` trials; minus infinity outside 0 to n.

    `errors`, of `stirling_errors` of n or more, saves time where many are wanted.

    >>> np.exp(binomial_log_pmf(4, 0.5, np.arange(-1, 6))).round(12)
    array([0.    , 0.0625, 0.25  , 0.375 , 0.25  , 0.0625, 0.    ])
    """
    x = np.asarray(x)
    if n == 0:
        return np.where(x == 0, 0.0, -np.inf)
    out = np.full(x.shape, -np.inf)
    inside = (x > 0) & (x < n)
    k = x[inside]
    rest = n - k
    if errors is None:
        error_of_n, error_of_k, error_of_rest = (_stirling_error(np.asarray(each, float)) for each in ([n], k, rest))
    else:
        error_of_n, error_of_k, error_of_rest = (errors[each] for each in ([n], k, rest))
    out[inside] = (
        error_of_n
        - error_of_k
        - error_of_rest
        - 0.5 * poisson_deviance(k, n * p)
        - 0.5 * poisson_deviance(rest, n * (1 - p))
        + 0.5 * (np.log(n / k / rest) - _LOG_2PI)
    )
    out[x == 0] = n * math.log1p(-p)
    out[x == n] = n * math.log(p)
    return out


def poisson_log_pmf(mean: float, x: IntArray) -> FloatArray:
    """The logarithm of the Poisson probability of `x`, for a positive mean; minus infinity below 0.

    >>> np.exp(poisson_log_pmf(1.0, np.arange(3))).round(6)
    array([0.367879, 0.367879, 0.18394 ])
    """
    x = np.asarray(x)
    out = np.full(x.shape, -np.inf)
    inside = x > 0
    k = x[inside].astype(np.float64)
    out[inside] = -_stirling_error(k) - 0.5 * poisson_deviance(k, mean) - 0.5 * (np.log(k) + _LOG_2PI)
    out[x == 0] = -mean
    return out


def stirling_errors(n: int) -> FloatArray:
    """The errors that `binomial_log_pmf` takes, for up to `n` trials.

    >>> binomial_log_pmf(9, 0.5, np.array([3]), stirling_errors(20)) == binomial_log_pmf(9, 0.5, np.array([3]))
    array([ True])
    """
    return np.concatenate([[0.0], _stirling_error(np.arange(1.0, n + 1))])


def _stirling_error(x: FloatArray) -> FloatArray:
    """log(x!) less Stirling's formula for it, for whole x >= 1."""
    u = 1 / (x * x)
    out = (1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u / 1188)))) / x
    small = np.flatnonzero(x < len(_STIRLING_ERROR))
    out[small] = _STIRLING_ERROR[x[small].astype(np.int64)]
    return np.asarray(out, dtype=np.float64)


def poisson_deviance(x: IntArray | FloatArray, mean: float | FloatArray) -> FloatArray:
    """The term of a count in the likelihood ratio: twice x log(x / mean) + mean - x.

    >>> poisson_deviance(np.array([0, 1, 2]), 1.0).round(6)
    array([2.      , 0.      , 0.772589])
    """
    d = np.maximum((x - np.asarray(mean)) / mean, -1.0)
    return np.asarray(2 * mean * (xlog1py(1 + d, d) - d), dtype=np.float64)
