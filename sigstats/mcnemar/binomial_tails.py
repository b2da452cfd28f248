"""Tails of the binomial distribution with p = 1/2, and McNemar's unconditional test, which adds them up.

Every test on discordant pairs uses this law. It is evaluated in logarithms, so that a tail of 1e-300000 is as precise
as one of 0.01: a saddle-point form of the probability (no difference of large log-gammas) times a continued fraction.
`tail_error` bounds its rounding error.

The unconditional test takes the largest probability of a statistic over all shares of discordant pairs: given the
number of these pairs the statistic is binomial, and that number is binomial too, with an unknown share.

When not to use: other probabilities than 1/2 (`scipy.stats.binom`), or arrays of counts within the range of floats
(`scipy.special.betainc` is faster there).
"""

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from scipy.special import gammaln, logsumexp, ndtr, xlog1py, xlogy

from .._common.extreme import ROUNDING, of_logarithm
from .._common.validation import FloatArray

_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)
#: Up to here tails are sums of integers.
_EXACT = 1000
#: From here on the expansion of `_central_tail` is good to 1e-13, and the continued fraction becomes slow.
_LARGE = 10**7
#: Error of the logarithm of a tail beyond `_EXACT`, in roundings: a fixed part, and one that grows with the tail.
_FIXED, _GROWING = 30_000, 130


def log_pmf(k: int, n: int) -> float:
    """Return the natural logarithm of P(X = k), X binomial with n trials and p = 1/2; ``0 <= k <= n``.

    >>> round(math.exp(log_pmf(2, 4)), 12)
    0.375
    """
    j = n - k
    if k == 0 or j == 0:
        return -n * math.log(2)
    return (
        -_LOG_ROOT_2PI
        + 0.5 * (math.log(n) - math.log(k) - math.log(j))
        + (_stirling_error(n) - _stirling_error(k) - _stirling_error(j))
        - n * _divergence(abs(k - j) / n)
    )


def tail(k: int, n: int, weight: float = 1.0) -> float:
    """P(X > k) + weight P(X = k), as `log_tail`; correctly rounded for n up to 1000, by integers.

    A p-value of a few observations is a short binary fraction, and users compare it with levels like 0.0625.
    """
    if n > _EXACT:
        return math.exp(log_tail(k, n, weight))
    beyond = _sums_beyond(n)
    share, parts = float(weight).as_integer_ratio()
    return (beyond[k] * parts + share * (beyond[k - 1] - beyond[k])) / (parts << n)


@lru_cache(maxsize=256)
def _sums_beyond(n: int) -> list[int]:
    """Return the number of the 2**n outcomes above k, for each k from 0 to n; at index -1, of all outcomes.

    They are cached, since simulations need many k for a few n.
    """
    term, beyond = 1, [0]
    for k in range(n, 0, -1):
        beyond.append(beyond[-1] + term)
        term = term * k // (n - k + 1)
    return [*reversed(beyond), 1 << n]


def tail_error(n: int, log_p: float) -> float:
    """Return a bound on the relative error of `tail` with the natural logarithm `log_p`; n up to 2**54.

    Up to 1000 trials it is that of one division. Beyond, in roundings of 2**-53 each: n times the divergence has a
    relative error of at most 100 (it cancels to a twentieth where the series ends), and exceeds the logarithm of the
    tail by no more than 40; the logarithms of n, k and n - k are below 38 each, and Stirling's errors are known to 300.
    The continued fraction takes at most 1000 steps (at n = `_LARGE`) of 10 roundings, and as its terms are positive,
    successive values enclose it. The Edgeworth expansion leaves out less than 1e-12.
    """
    return ROUNDING if n <= _EXACT else of_logarithm((_FIXED + _GROWING * abs(log_p)) * ROUNDING)


def log_tail(k: int, n: int, weight: float = 1.0) -> float:
    """Return the natural logarithm of P(X > k) + weight P(X = k), X binomial with n trials and p = 1/2.

    With ``0 <= k <= n`` of any size. `weight`: 1 gives P(X >= k), 1/2 the mid-p tail, 0 gives P(X > k) (and minus
    infinity at k = n).
    """
    if 2 * k == n and weight == 0.5:
        return -math.log(2)  # by symmetry, and without rounding
    if 2 * k < n or (2 * k == n and weight > 0.5):
        # The complement, mirrored: P(X < k) + (1 - weight) P(X = k), at most one half.
        return math.log1p(-math.exp(log_tail(n - k, n, 1 - weight)))
    if n > _LARGE and (2 * k - n) ** 2 < n:
        return math.log(_central_tail(k, n) - (1 - weight) * math.exp(log_pmf(k, n)))
    terms = _tail_over_pmf(k, n) - (1 - weight)
    return log_pmf(k, n) + math.log(terms) if terms > 0 else -math.inf


def _stirling_error(x: int) -> float:
    """log(x!) minus Stirling's formula for it."""
    if x < 16:
        return float(gammaln(x + 1.0)) - ((x + 0.5) * math.log(x) - x + _LOG_ROOT_2PI)
    u = 1 / (float(x) * x)
    return (1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u / 1188)))) / x


def _divergence(delta: float) -> float:
    """Kullback-Leibler divergence of the proportion (1 + delta) / 2 from 1/2."""
    if delta < 0.1:  # the two logarithms would cancel
        square = delta * delta
        return sum(square**i / (2 * i * (2 * i - 1)) for i in range(1, 10))
    return 0.5 * ((1 + delta) * math.log1p(delta) + ((1 - delta) * math.log1p(-delta) if delta < 1 else 0.0))


def _tail_over_pmf(k: int, n: int) -> float:
    """P(X >= k) / P(X = k) for 1 <= n <= 2 k.

    The continued fraction of the incomplete beta function of DiDonato and Morris (1992), ACM TOMS 18, eq. (9), with
    a = k, b = n - k + 1, x = 1/2. All its terms are positive and the distance of k from the middle enters as it is,
    so no digits cancel, as they do in the classical fraction; evaluated from the front (modified Lentz).
    """
    a, b, centred = float(k), float(n - k + 1), float(2 * k - n + 1) / 2
    value = front = a * centred / (a + 1)
    back = 0.0
    for m in range(1, n - k + 1):
        step = (a + m - 1) / (a + 2 * m - 1) * ((n + m) / (a + 2 * m - 1)) * (m * (b - m) / 4)
        level = m + m * (b - m) / 2 / (a + 2 * m - 1) + (a + m) * (centred + 1.5 * m) / (a + 2 * m + 1)
        back = 1 / (level + step * back)
        front = level + step / front
        value *= front * back
        if abs(front * back - 1) < 1e-16:
            break
    return a / 2 / value


def _central_tail(k: int, n: int) -> float:
    """P(X >= k) within one and a half standard deviations of the middle, for large n.

    The smooth density with the integral P(X = k) over each unit interval around k has the cumulants of X minus those of
    the uniform distribution (Sheppard's corrections), so its Edgeworth expansion at k - 1/2 is the tail; the third
    cumulant is zero and the omitted terms are of order 1/n^2.
    """
    variance = n / 4 - 1 / 12
    z = (2 * k - 1 - n) / 2 / math.sqrt(variance)
    kurtosis = (-n / 8 + 1 / 120) / variance**2
    return float(ndtr(-z)) + math.exp(-z * z / 2 - _LOG_ROOT_2PI) * kurtosis / 24 * (z**3 - 3 * z)


#: Largest number of observations.
MOST_OBSERVATIONS = 2000
#: Largest relative excess of a p-value over the supremum.
PRECISION = 1e-3
#: Relative rounding error: logarithms of up to some 1e4 in sums of up to 2,000 terms.
ROUNDING_OF_SUMS = 1e-10
#: The first intervals of the share of discordant pairs, and how many numbers a block of them may hold.
_FIRST, _BLOCK = 64, 2**20


def log_supremum(more: int, fewer: int, n: int, sides: int) -> tuple[float, float]:
    """Return bounds of the log supremum of the probability of a statistic at least as large as that of these counts.

    The statistic is ``(more - fewer) / sqrt(more + fewer)``, or with two `sides` its absolute value. Given N discordant
    pairs, its tail does not depend on their share, so the probability is a mean of tails over the binomial law of N.
    In an interval of shares, each term is largest at the share nearest to N / n; the sum of these terms bounds the
    probability in the interval. Intervals are divided until the bound is within `PRECISION` of the largest probability.
    """
    if more <= fewer:  # the statistic is 0 without discordant pairs, which may be certain
        return 0.0, 0.0
    discordant, tails = zip(*_tails(more, fewer, n), strict=True)
    counts = np.array(discordant, dtype=np.float64)
    fixed = np.array(tails) + math.log(sides) + gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)

    def log_chance(shares: FloatArray) -> FloatArray:
        return np.asarray(logsumexp(fixed + xlogy(counts, shares) + xlog1py(n - counts, -shares), axis=1))

    low, high, step = -math.inf, -math.inf, max(1, _BLOCK // len(counts))
    edges = np.linspace(0, math.pi / 2, _FIRST + 1)
    parts = np.column_stack([edges[:-1], edges[1:]])  # of the arcsines, in which the law has one width
    while len(parts):
        bounds = []
        for start in range(0, len(parts), step):
            ends = np.sin(parts[start : start + step]) ** 2
            low = max(low, float(log_chance(ends.mean(axis=1)[:, np.newaxis]).max()))
            bounds.append(log_chance(np.clip(counts / n, ends[:, :1], ends[:, 1:])))
        bound = np.concatenate(bounds)
        open_ = bound > low + PRECISION / 2
        high = max(high, float(bound[~open_].max(initial=-math.inf)))
        middle = parts[open_].mean(axis=1)
        parts = np.concatenate([np.column_stack([parts[open_, 0], middle]), np.column_stack([middle, parts[open_, 1]])])
    return low, min(0.0, max(low, high))


def _tails(more: int, fewer: int, n: int) -> Iterator[tuple[int, float]]:
    """Yield numbers of discordant pairs, and log probabilities that one side has as large a statistic."""
    square, seen = (more - fewer) ** 2, more + fewer
    for discordant in range(1, n + 1):
        least = -(-square * discordant // seen)  # of squared differences, exactly
        difference = math.isqrt(least - 1) + 1
        difference += (discordant - difference) % 2
        if difference <= discordant:
            yield discordant, log_tail((discordant + difference) // 2, discordant)
