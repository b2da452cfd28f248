"""The power of a rule that needs significance and a drop of some size, and the chances of each verdict.

A fail is McNemar's exact test with a smallest drop; without that it is the one-sided exact test of
`sigstats.paired_power`. A pass is Tango's interval above the margin. Both are summed, exactly, over all numbers of rows
that only one model gets right. Not part of the public names: `sigstats.sizing.comparison` plans comparisons with it.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc, ndtri

from .._common.validation import IntArray, as_count, as_real, refuse
from ..intervals import tango_statistic
from .power import MAX_N, as_rule, conditional_power, critical_counts, discordant_law
from .sample_size import sample_size, smallest_enough

#: An observed drop that is the smallest one but for rounding counts.
_ROUNDING = 1e-12


def drop_power(n: int, *, drop: float, discordance: float, alpha: float, minimum: float = 0.0) -> float:
    """The probability that McNemar's exact one-sided test shows a drop that is at least `minimum` as observed.

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
    """Fewest of the m rows that differ that only A gets right, if accuracy drops by at least `minimum`."""
    return np.asarray((m + max(0, math.ceil(n * (minimum - _ROUNDING))) + 1) // 2)


def drop_size(
    *, drop: float, discordance: float, alpha: float, minimum: float = 0.0, target: float = 0.8
) -> int | None:
    """The smallest number of observations from which on a drop is shown with this power; None if none is enough.

    It is that of `sigstats.paired_sample_size`, unless `minimum` decides: then it is found by bisection, and a few
    larger numbers may have a power that is lower, by no more than one observation changes it.
    """
    if drop <= minimum:
        return None

    def enough(n: int) -> bool:
        return drop_power(n, drop=drop, discordance=discordance, alpha=alpha, minimum=minimum) >= target

    only_a, only_b = (discordance + drop) / 2, max(0.0, (discordance - drop) / 2)
    try:
        low = sample_size(only_a, only_b, target, as_rule(alpha, "greater", "exact", False))
    except ValueError:
        return None
    return low if enough(low) else smallest_enough(enough, MAX_N, low=low)


def detectable_drop(
    n: int, *, discordance: float, alpha: float, minimum: float = 0.0, target: float = 0.8
) -> float | None:
    """The smallest drop that n observations show with the power wanted; None if they show none.

    For a drop above `discordance`, all observations that differ favour the baseline.

    >>> [round(detectable_drop(2000, discordance=0.1, alpha=0.05, minimum=m), 4) for m in (0, 0.015)]
    [0.018, 0.0207]
    """

    def power(drop: float) -> float:
        return drop_power(n, drop=drop, discordance=max(discordance, drop), alpha=alpha, minimum=minimum)

    low, high = (0.0, discordance) if power(discordance) >= target else (discordance, 1.0)
    if power(high) < target:
        return None
    digits = 1e-9 * high
    while high - low > digits:  # given the discordance the power rises with the drop, and beyond it with both
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= target else (middle, high)
    return high


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
    """The probabilities of pass, inconclusive and fail of one row of a comparison.

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
    """The probability that Tango's interval of the candidate minus the baseline lies above minus the margin.

    A failing outcome does not pass, whatever its interval.
    """
    m, weights = discordant_law(n, discordance)
    fewest = _fewest_to_pass(n, m, margin, float(ndtri((1 + confidence_level) / 2)))
    lost = np.maximum(critical_counts(m, as_rule(alpha, "greater", "exact", False)), fewest_lost(n, m, minimum))
    fewest = np.maximum(fewest, m - lost + 1)
    right = max(0.0, (1 - drop / discordance) / 2)
    chances = np.where(fewest <= 0, 1.0, np.where(fewest > m, 0.0, bdtrc(np.maximum(fewest - 1, 0), m, right)))
    return min(1.0, float(np.sum(weights * chances)))


def passing_size(
    *, discordance: float, alpha: float, minimum: float, margin: float, confidence_level: float, target: float
) -> int | None:
    """The smallest number of rows on which an equal candidate passes with the probability wanted; None if none does."""
    if margin <= 0 and target > 0.5:  # an equal candidate is behind in half of all samples
        return None

    def enough(n: int) -> bool:
        rule = {"alpha": alpha, "minimum": minimum, "margin": margin, "confidence_level": confidence_level}
        return pass_power(n, drop=0.0, discordance=discordance, **rule) >= target

    return smallest_enough(enough, MAX_N)


def _fewest_to_pass(n: int, m: IntArray, margin: float, quantile: float) -> IntArray:
    """The fewest of m discordant rows that the candidate must get right; m + 1 if none are enough."""
    low, high = np.full(m.shape, -1), m + 1
    while (high - low > 1).any():
        middle = (low + high) // 2
        passes = tango_statistic(n, middle, m - middle, -margin) >= quantile
        low, high = np.where(passes, low, middle), np.where(passes, middle, high)
    return high
