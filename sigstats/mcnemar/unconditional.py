"""McNemar's unconditional test: the largest probability of a statistic over all shares of discordant pairs.

Given the number of discordant pairs the statistic is binomial; that number is binomial too, with an unknown share, and
the p-value is the supremum over this share.
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import gammaln, logsumexp, xlog1py, xlogy

from .._common.validation import FloatArray
from .binomial_tails import log_tail

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
