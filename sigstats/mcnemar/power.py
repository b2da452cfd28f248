"""How often McNemar's test finds a difference.

Everything is exact: the number of discordant pairs is binomial, and given it the split is; both are summed over, with
no normal approximation and no simulation. The same sums with equal probabilities are the test's true rate of false
rejections.

When not to use: with the accuracies observed on the very data that are to be tested (the power "observed" says no
more than the p-value); for tests other than McNemar's; for observations that are not independent.
"""

import math

import numpy as np

from .._common.validation import Alternative, FloatArray, IntArray, as_count, as_real
from .discordance import discordant_probabilities
from .rejection_region import Rule, as_rule, conditional_power, critical_counts
from .test import McNemarMethod

#: What a sum over the number of discordant pairs leaves out on either side, at most.
_REMAINDER = 1e-16
#: The largest number of observations.
MAX_N = 10**8
#: Below it a probability is none: the binomial law of so small a one overflows.
_NONE = 1e-250


def power(
    n: int,
    *,
    only_a: float | None = None,
    only_b: float | None = None,
    accuracy_a: float | None = None,
    accuracy_b: float | None = None,
    discordance: float | None = None,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    method: McNemarMethod = "exact",
    correction: bool = False,
) -> float:
    """The probability that McNemar's test rejects.

    Parameters
    ----------
    n : int
        The number of observations on which both classifiers are tried, up to 10**8.
    only_a, only_b : float
        The probabilities that only A, and only B, is right about an observation. Their difference is the difference
        of the accuracies, their sum at most 1.
    accuracy_a, accuracy_b, discordance : float
        In their place: the probabilities that A is right, that B is right, and that exactly one of them is. For
        classifiers whose errors are independent and whose accuracies are s and t the discordance is
        ``s * (1 - t) + t * (1 - s)``; dependent ones, the rule, have a smaller one.
    alpha : float
        The level, between 0 and 1/2: reject if the p-value is at most this.
    alternative, method, correction
        As in `sigstats.mcnemar_test`. A two-sided test that rejects in favour of the worse classifier counts too.

    Returns
    -------
    float
        Exact but for rounding; what the sum leaves out is below 1e-15. The probability is unconditional: the number
        of discordant pairs is not fixed beforehand.

    Raises
    ------
    ValueError
        If a number is out of its range or an option unknown.

    Notes
    -----
    ``sum_m P(M = m) P(reject | m)`` with M binomial (n, only_a + only_b) and, given m, the number of pairs that
    favour A binomial (m, only_a / (only_a + only_b)); in time of the order of the square root of n.

    Examples
    --------
    >>> import sigstats
    >>> round(sigstats.paired_power(200, only_a=0.155, only_b=0.205), 4)
    0.185
    >>> round(sigstats.paired_power(200, accuracy_a=0.65, accuracy_b=0.70, discordance=0.36, method="mid-p"), 4)
    0.2145
    """
    n = as_count(n, "n", minimum=1, maximum=MAX_N)
    p_a, p_b = discordant_probabilities(only_a, only_b, accuracy_a, accuracy_b, discordance)
    return exact_power(n, p_a, p_b, as_rule(alpha, alternative, method, correction))


def type_one_error(
    n: int,
    discordance: float,
    *,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    method: McNemarMethod = "exact",
    correction: bool = False,
) -> float:
    """The probability that McNemar's test rejects although both classifiers are equally accurate.

    Parameters
    ----------
    n : int
        The number of observations.
    discordance : float
        The probability that exactly one of the two is right, between 0 and 1.
    alpha, alternative, method, correction
        As in `power`.

    Returns
    -------
    float
        Never above alpha for ``method="exact"``; for the others it can be.

    Raises
    ------
    ValueError
        If a number is out of its range or an option unknown.

    Examples
    --------
    >>> import sigstats
    >>> round(sigstats.type_one_error(200, 0.375), 4), round(sigstats.type_one_error(200, 0.375, method="mid-p"), 4)
    (0.0379, 0.0485)
    """
    half = as_real(discordance, "discordance", low=0, high=1) / 2
    n = as_count(n, "n", minimum=1, maximum=MAX_N)
    return exact_power(n, half, half, as_rule(alpha, alternative, method, correction))


def exact_power(n: int, p_a: float, p_b: float, rule: Rule) -> float:
    """The power, of arguments that were checked."""
    if p_a + p_b < _NONE:
        return 0.0  # no discordant pair, and then no rejection
    weights, low = discordant_weights(n, p_a + p_b)
    m = np.arange(low, low + weights.size)
    given = conditional_power(m, critical_counts(m, rule), p_a / (p_a + p_b), rule)
    return min(1.0, float(np.sum(weights * given)))


def discordant_weights(n: int, discordance: float) -> tuple[FloatArray, int]:
    """The probabilities of the numbers of discordant pairs, and the first number; each side leaves out `_REMAINDER`.

    By Bernstein's inequality P(|M - mean| >= t) <= exp(-t^2 / (2 variance + 2 t / 3)) on either side.
    """
    d = min(discordance, 1.0)
    bound = -math.log(_REMAINDER)
    t = bound / 3 + math.sqrt(bound * bound / 9 + 2 * bound * n * d * (1 - d))
    low, high = max(0, math.floor(n * d - t)), min(n, math.ceil(n * d + t))
    return binomial_pmf(np.arange(low, high + 1), n, d), low


def binomial_pmf(k: IntArray, n: int, p: float) -> FloatArray:
    """`scipy.stats.binom.pmf`, without the half second that importing `scipy.stats` takes where SciPy allows it."""
    try:
        from scipy.special._ufuncs import _binom_pmf
    except ImportError:  # it is private to SciPy
        from scipy.stats import binom

        return np.asarray(binom.pmf(k, n, p), dtype=np.float64)
    return np.asarray(_binom_pmf(k, n, p), dtype=np.float64)
