"""The power of McNemar's test, and its rejection region for every number of discordant pairs at once.

Everything is exact: probabilities are summed over the number of discordant pairs and their split, which are binomial.
Plans of comparisons have a rule that also needs a drop of some size: a fail is the one-sided test with a smallest drop,
a pass is Tango's interval above the margin.

When not to use: with accuracies observed on the data that are to be tested ("observed" power adds nothing to the
p-value); for tests other than McNemar's; for observations that are not independent.
"""

import math
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np
from scipy.special import bdtrc, betainc, ndtri

from .._common.extreme import at_most
from .._common.validation import Alternative, FloatArray, IntArray, as_count, as_real, refuse
from ..intervals import tango_statistic
from .mcnemar_test import McNemarMethod, check_options


@dataclass(frozen=True)
class Rule:
    """A test of `sigstats.mcnemar.mcnemar_test.mcnemar_test` at a level; reject if its p-value is at most `alpha`."""

    alpha: float
    alternative: Alternative
    method: McNemarMethod
    correction: bool

    @property
    def tail(self) -> float:
        """The largest probability of the upper tail."""
        # Half of the smallest float would be 0.
        return max(self.alpha / 2, math.ulp(0.0)) if self.alternative == "two-sided" else self.alpha

    @property
    def z(self) -> float:
        """The normal quantile of the tail probability."""
        return -float(ndtri(self.tail))

    def reach(self) -> tuple[float, float]:
        """Return numbers t, c such that m/2 + t sqrt(m) + c or more of m discordant pairs always reject."""
        if self.method == "chi2":
            return self.z / 2, self.correction / 2
        # Hoeffding (1963): P(X >= m/2 + s) <= exp(-2 s^2 / m); the mid-p tail is smaller still.
        return math.sqrt(-math.log(self.tail) / 2), 0.0


def as_rule(alpha: Any, alternative: Any, method: Any, correction: Any) -> Rule:
    """Return a checked `Rule`, or raise ValueError.

    Levels of 1/2 and more are refused: no test at such a level is meant, and below it none of the three tests rejects
    where the two discordant counts are equal.
    """
    level = as_real(alpha, "alpha", low=0, high=0.5, open_ends=True)
    check_options(alternative, method, correction)
    return Rule(level, alternative, method, bool(correction))


def critical_counts(m: IntArray, rule: Rule) -> IntArray:
    """For each number m of discordant pairs, the smallest upper count that rejects; m + 1 if none does.

    The upper count is the larger of the two (two-sided), or that of the classifier which the alternative favours.
    """
    guess = np.ceil((m + rule.correction + rule.z * np.sqrt(m)) / 2)
    critical = np.clip(guess, m // 2 + 1, m + 1).astype(np.int64)
    if rule.method == "chi2":
        return np.where(m > 0, critical, 1)
    # A p-value falls as the count rises: step to where it first is small enough. The start is the normal
    # approximation, so the steps are few.
    low = m // 2 + 1
    while (step := (critical > low) & _rejects(critical - 1, m, rule)).any():
        critical = critical - step
    while (step := (critical <= m) & ~_rejects(critical, m, rule)).any():
        critical = critical + step
    return np.asarray(np.where(m > 0, critical, 1), dtype=np.int64)


def conditional_power(m: IntArray, critical: IntArray, share: float, rule: Rule) -> FloatArray:
    """Return the power if there are m discordant pairs and each favours A with probability `share`."""
    if rule.alternative == "two-sided":
        return upper_tail(critical, m, share) + upper_tail(critical, m, 1 - share)
    return upper_tail(critical, m, share if rule.alternative == "greater" else 1 - share)


def upper_tail(k: IntArray, m: IntArray, share: float) -> FloatArray:
    """P(X >= k) for X binomial with m trials and probability `share`; 1 <= k."""
    within = k <= m
    rest = np.where(within, m - k + 1, 1)
    return np.where(within, betainc(k, rest, share), 0.0)


def _rejects(k: IntArray, m: IntArray, rule: Rule) -> Any:
    tail = upper_tail(k, m, 0.5)
    if rule.method == "mid-p":
        tail = (tail + upper_tail(k + 1, m, 0.5)) / 2
    return at_most(tail, rule.tail)


#: Largest probability that a sum over the number of discordant pairs omits on either side.
_REMAINDER = 1e-16
#: The largest number of observations.
MAX_N = 10**8
#: Below it a probability is none: the binomial law of so small a one overflows.
_NONE = 1e-250
#: More than the rounding of a sum of probabilities, or of an observed drop.
_ROUNDING = 1e-12


def discordant_probabilities(
    only_a: Any, only_b: Any, accuracy_a: Any, accuracy_b: Any, discordance: Any
) -> tuple[float, float]:
    """Return the probabilities that only A, and only B, is right, as given or by accuracies and discordance.

    Raises ValueError unless exactly one of the two forms is given, with compatible probabilities.
    """
    direct, by_accuracy = (only_a, only_b), (accuracy_a, accuracy_b, discordance)
    if all(value is not None for value in direct) and all(value is None for value in by_accuracy):
        a, b = as_real(only_a, "only_a", low=0, high=1), as_real(only_b, "only_b", low=0, high=1)
        if a + b > 1 + _ROUNDING:
            raise refuse("only_a + only_b", a + b, "at most 1")
        return a, b
    if any(value is None for value in by_accuracy) or any(value is not None for value in direct):
        names = ["only_a", "only_b", "accuracy_a", "accuracy_b", "discordance"]
        given = [name for name, value in zip(names, direct + by_accuracy, strict=True) if value is not None]
        raise ValueError(
            f"given are {', '.join(given) or 'no probabilities'}; expected only_a= and only_b=, the probabilities that "
            "only A, and only B, is right, or accuracy_a=, accuracy_b= and discordance=, that exactly one is right"
        )
    s, t = as_real(accuracy_a, "accuracy_a", low=0, high=1), as_real(accuracy_b, "accuracy_b", low=0, high=1)
    d = as_real(discordance, "discordance", low=0, high=1)
    least, most = abs(s - t), min(s + t, 2 - s - t)
    if not least - _ROUNDING <= d <= most + _ROUNDING:
        raise refuse("discordance", discordance, f"from {least:g} to {most:g}, with accuracies {s:g} and {t:g}")
    return max(0.0, (d + s - t) / 2), max(0.0, (d - s + t) / 2)


def type_one_error(
    n: SupportsIndex,
    discordance: float,
    *,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    method: McNemarMethod = "exact",
    correction: bool = False,
) -> float:
    """Compute the probability that McNemar's test rejects although both classifiers are equally accurate.

    Parameters
    ----------
    n : int
        The number of observations.
    discordance : float
        The probability that exactly one of the two is right, between 0 and 1.
    alpha, alternative, method, correction
        As in `sigstats.paired_power`, which computes the same for classifiers that differ.

    Returns
    -------
    float
        Never above alpha for ``method="exact"``; for the others it can be.

    Raises
    ------
    ValueError
        If a number is out of its range or an option unknown.

    References
    ----------
    Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13 (2013).

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
    """Return the power of checked arguments: only A is right with probability `p_a`, only B with `p_b`.

    ``sum_m P(M = m) P(reject | m)`` with M binomial (n, p_a + p_b) and, given m, the number of pairs that favour A
    binomial (m, p_a / (p_a + p_b)); in time of the order of the square root of n.
    """
    if p_a + p_b < _NONE:
        return 0.0  # no discordant pair, and then no rejection
    m, weights = discordant_law(n, p_a + p_b)
    given = conditional_power(m, critical_counts(m, rule), p_a / (p_a + p_b), rule)
    return min(1.0, float(np.sum(weights * given)))


def discordant_law(n: int, discordance: float) -> tuple[IntArray, FloatArray]:
    """Return the numbers of discordant pairs and their probabilities; each side leaves out `_REMAINDER`.

    By Bernstein's inequality P(|M - mean| >= t) <= exp(-t^2 / (2 variance + 2 t / 3)) on either side.
    """
    d = min(discordance, 1.0)
    bound = -math.log(_REMAINDER)
    t = bound / 3 + math.sqrt(bound * bound / 9 + 2 * bound * n * d * (1 - d))
    low, high = max(0, math.floor(n * d - t)), min(n, math.ceil(n * d + t))
    m = np.arange(low, high + 1)
    return m, binomial_pmf(m, n, d)


def binomial_pmf(k: IntArray, n: int, p: float) -> FloatArray:
    """`scipy.stats.binom.pmf`, without the half second that importing `scipy.stats` takes where SciPy allows it."""
    try:
        from scipy.special._ufuncs import _binom_pmf
    except ImportError:  # it is private to SciPy
        from scipy.stats import binom

        return np.asarray(binom.pmf(k, n, p), dtype=np.float64)
    return np.asarray(_binom_pmf(k, n, p), dtype=np.float64)


def drop_power(n: int, *, drop: float, discordance: float, alpha: float, minimum: float = 0.0) -> float:
    """Return the probability that McNemar's exact one-sided test shows a drop that is at least `minimum` as observed.

    `drop`: the accuracy of A minus that of B, from 0 to `discordance`, the probability that exactly one of the two is
    right. Exact except for rounding, for up to 10**8 observations.
    """
    count = as_count(n, "n", minimum=1, maximum=MAX_N)
    share = as_real(discordance, "discordance", low=0, high=1)
    ahead = as_real(drop, "drop", low=0, high=1)
    if ahead > share:
        raise refuse("drop", drop, f"at most the discordance, {share:g}")
    rule = as_rule(alpha, "greater", "exact", False)
    least = as_real(minimum, "minimum", low=0, high=1)
    if share == 0:
        return 0.0
    m, weights = discordant_law(count, share)
    critical = np.maximum(critical_counts(m, rule), fewest_lost(count, m, least))
    given = conditional_power(m, critical, min(1.0, (1 + ahead / share) / 2), rule)
    return min(1.0, float(np.sum(weights * given)))


def fewest_lost(n: int, m: IntArray, minimum: float) -> IntArray:
    """Return the fewest of m discordant rows that only A gets right if accuracy drops by at least `minimum`."""
    return np.asarray((m + max(0, math.ceil(n * (minimum - _ROUNDING))) + 1) // 2)


@dataclass(frozen=True)
class VerdictChances:
    """The probabilities of the verdicts for this many rows, if the candidate's accuracy is lower by `drop`."""

    n: int
    drop: float
    passes: float
    inconclusive: float
    fails: float


def verdict_chances(
    n: int, *, drop: float, discordance: float, alpha: float, minimum: float, margin: float, confidence_level: float
) -> VerdictChances:
    """Return the probabilities of pass, inconclusive and fail of one row of a comparison.

    `minimum`: the smallest observed drop that fails. `margin`: the drop that the interval of a pass excludes.
    """
    share = max(discordance, drop)
    fails = drop_power(n, drop=drop, discordance=share, alpha=alpha, minimum=minimum)
    rule = {"alpha": alpha, "minimum": minimum, "margin": margin, "confidence_level": confidence_level}
    passes = pass_power(n, drop=drop, discordance=share, **rule)
    return VerdictChances(n, drop, passes, max(0.0, 1 - passes - fails), fails)


def pass_power(
    n: int, *, drop: float, discordance: float, alpha: float, minimum: float, margin: float, confidence_level: float
) -> float:
    """Return the probability that Tango's interval of the candidate minus the baseline lies above minus the margin.

    A failing outcome does not pass, whatever its interval.
    """
    m, weights = discordant_law(n, discordance)
    fewest = _fewest_to_pass(n, m, margin, float(ndtri((1 + confidence_level) / 2)))
    lost = np.maximum(critical_counts(m, as_rule(alpha, "greater", "exact", False)), fewest_lost(n, m, minimum))
    fewest = np.maximum(fewest, m - lost + 1)
    right = max(0.0, (1 - drop / discordance) / 2) if discordance else 0.0  # of no rows
    chances = np.where(fewest <= 0, 1.0, np.where(fewest > m, 0.0, bdtrc(np.maximum(fewest - 1, 0), m, right)))
    return min(1.0, float(np.sum(weights * chances)))


def _fewest_to_pass(n: int, m: IntArray, margin: float, quantile: float) -> IntArray:
    """Return the fewest of m discordant rows that the candidate must get right; m + 1 if none are enough."""
    low, high = np.full(m.shape, -1), m + 1
    while (high - low > 1).any():
        middle = (low + high) // 2
        passes = tango_statistic(n, middle, m - middle, -margin) >= quantile
        low, high = np.where(passes, low, middle), np.where(passes, middle, high)
    return high
