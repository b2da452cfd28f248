"""The rejection region of McNemar's test, for every number of discordant pairs at once, and its probability.

Not part of the public names; `sigstats.paired_power` sums over it.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc, ndtri

from .._common.extreme import at_most
from .._common.validation import Alternative, FloatArray, IntArray, as_real
from .test import McNemarMethod, check_options


@dataclass(frozen=True)
class Rule:
    """A test of `sigstats.mcnemar.test.mcnemar_test` at a level; reject if its p-value is at most `alpha`."""

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
        """The normal quantile of that tail."""
        return -float(ndtri(self.tail))

    def reach(self) -> tuple[float, float]:
        """Numbers t, c such that m/2 + t sqrt(m) + c or more of m discordant pairs always reject."""
        if self.method == "chi2":
            return self.z / 2, self.correction / 2
        # Hoeffding (1963): P(X >= m/2 + s) <= exp(-2 s^2 / m); the mid-p tail is smaller still.
        return math.sqrt(-math.log(self.tail) / 2), 0.0


def as_rule(alpha: Any, alternative: Any, method: Any, correction: Any) -> Rule:
    """A checked `Rule`, or ValueError.

    Levels of 1/2 and more are refused: no test at such a level is meant, and below it none of the three tests rejects
    where the two discordant counts are equal.
    """
    level = as_real(alpha, "alpha", low=0, high=0.5, open_ends=True)
    check_options(alternative, method, correction)
    return Rule(level, alternative, method, bool(correction))


def critical_counts(m: IntArray, rule: Rule) -> IntArray:
    """For each number m of discordant pairs the smallest upper count that rejects, m + 1 where none does.

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
    """The power if there are m discordant pairs and each favours A with probability `share`."""
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
