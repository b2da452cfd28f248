"""The chances of each verdict of a comparison of accuracies: pass, inconclusive and fail.

Exact: a fail is McNemar's exact test with a smallest drop, a pass is Tango's interval above the margin, and both are
summed over all numbers of rows that one model alone gets right.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc, ndtri

from .._common.validation import IntArray
from ..intervals import tango_statistic
from .drop_power import drop_power, fewest_lost
from .power import MAX_N, discordant_weights
from .rejection_region import as_rule, critical_counts
from .sample_size import smallest_enough


@dataclass(frozen=True)
class VerdictChances:
    """The chances of the verdicts on so many rows, where the candidate's accuracy is lower by `drop`."""

    n: int
    drop: float
    passes: float
    inconclusive: float
    fails: float


def verdict_chances(
    n: int, *, drop: float, discordance: float, alpha: float, minimum: float, margin: float, confidence_level: float
) -> VerdictChances:
    """The chances of pass, inconclusive and fail of one row of a comparison.

    `alpha`: the level of the one-sided test. `minimum`: the smallest observed drop that fails. `margin`: the drop that
    the interval of a pass excludes.

    >>> rule = {"alpha": 0.05, "minimum": 0.005, "margin": 0.005, "confidence_level": 0.95}
    >>> found = [verdict_chances(n, drop=0.0, discordance=0.1, **rule) for n in (2000, 15_000, 31_000)]
    >>> [round(each.passes, 2) for each in found]
    [0.1, 0.49, 0.79]
    """
    share = max(discordance, drop)
    fails = drop_power(n, drop=drop, discordance=share, alpha=alpha, minimum=minimum)
    rule = {"alpha": alpha, "minimum": minimum, "margin": margin, "confidence_level": confidence_level}
    passes = pass_power(n, drop=drop, discordance=share, **rule)
    return VerdictChances(n, drop, passes, max(0.0, 1 - passes - fails), fails)


def pass_power(
    n: int, *, drop: float, discordance: float, alpha: float, minimum: float, margin: float, confidence_level: float
) -> float:
    """The probability that Tango's interval of the candidate less the baseline lies above minus the margin.

    What fails does not pass, whatever its interval.
    """
    weights, low = discordant_weights(n, discordance)
    m = np.arange(low, low + weights.size)
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
    """Of m rows that differ, the fewest that the candidate must get right; m + 1 where none are enough."""
    low, high = np.full(m.shape, -1), m + 1
    while (high - low > 1).any():
        middle = (low + high) // 2
        passes = tango_statistic(n, middle, m - middle, -margin) >= quantile
        low, high = np.where(passes, low, middle), np.where(passes, middle, high)
    return high
