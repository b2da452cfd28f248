"""An exact simultaneous band for the empirical distribution function of p-values under the null hypothesis.

When not to use: for discrete p-values, which lie below the uniform law, only points above the band are evidence.
"""

from functools import lru_cache

import numpy as np

from ._common.validation import FloatArray, IntArray

#: With more p-values the levels share the error by Bonferroni's inequality, which makes the band slightly wider.
MOST_EXACT = 5_000


@lru_cache(maxsize=32)
def ecdf_band(n: int, levels: tuple[float, ...], confidence_level: float = 0.95) -> tuple[IntArray, IntArray]:
    """Return simultaneous bounds of the numbers, of `n` uniform p-values, at or below each of the rising levels.

    The band has one probability outside it at every level (equal local levels: Berk and Jones 1979; Gontscharuk,
    Landwehr and Finner 2016), the largest for which the probability of leaving it anywhere, computed exactly since the
    counts at rising levels are a Markov chain with binomial steps (Noe 1972), is at most ``1 - confidence_level``.
    """
    allowed = 1 - confidence_level
    local = allowed / len(levels)
    if n > MOST_EXACT:
        return _bounds(n, levels, local)
    low, high = local, allowed
    for _ in range(10):
        middle = np.sqrt(low * high)
        if stays_within(n, levels, *_bounds(n, levels, middle)) >= confidence_level:
            low = middle
        else:
            high = middle
    return _bounds(n, levels, low)


def _bounds(n: int, levels: tuple[float, ...], local: float) -> tuple[IntArray, IntArray]:
    from scipy.stats import binom  # slow to import, for those who draw no band too

    low, high = np.asarray(binom.ppf(local / 2, n, levels)), np.asarray(binom.isf(local / 2, n, levels))
    return low.astype(np.int64), high.astype(np.int64)


def stays_within(n: int, levels: tuple[float, ...], low: IntArray, high: IntArray) -> float:
    """Return the exact probability that the numbers of n uniform p-values up to the levels are within these bounds."""
    from scipy.stats import binom

    counts, weights = np.array([0]), np.array([1.0])
    before = 0.0
    for level, least, most in zip(levels, low.tolist(), high.tolist(), strict=True):
        wanted = np.arange(least, most + 1)
        steps = binom.pmf(wanted[None] - counts[:, None], n - counts[:, None], (level - before) / (1 - before))
        weights = weights @ steps
        counts, before = wanted, level
    return float(np.sum(weights))


def shares(p_values: FloatArray, levels: tuple[float, ...]) -> FloatArray:
    """Return the share of p-values at or below each level, with the tolerance of all comparisons here.

    >>> shares(np.array([0.01, 0.1 + 0.2, 0.5]), (0.05, 0.3)).tolist()
    [0.3333333333333333, 0.6666666666666666]
    """
    from ._common.extreme import at_most

    return np.array([np.count_nonzero(at_most(p_values, level)) / p_values.size for level in levels])
