"""The number of observations that McNemar's test needs, and the difference that it detects with a given number.

A comparison also has a smallest effect and a margin: `drop_size` and `detectable_drop` are for a worse candidate, and
`passing_size` is for an equal one.

When not to use: with a discordance observed on the data that are to be tested, or if observations depend on each other.
"""

import math
from collections.abc import Callable
from typing import SupportsIndex

import numpy as np

from .._common.calls import renamed
from .._common.validation import Alternative, IntArray, as_count, as_real, refuse
from .mcnemar_test import McNemarMethod
from .power import (
    MAX_N,
    Rule,
    as_rule,
    conditional_power,
    critical_counts,
    discordant_law,
    drop_power,
    exact_power,
    pass_power,
)

#: The most discordant pairs that `sample_size` considers.
_MAX_DISCORDANT = 2_000_000
#: The relative accuracy of a difference that is searched for.
_DIGITS = 1e-12
#: More than the rounding of a convolution of probabilities.
_ROUNDING = 1e-12


def sample_size(p_a: float, p_b: float, goal: float, rule: Rule) -> int:
    """Return the smallest number of observations from which on the power is at least `goal`; arguments are checked.

    Raises ValueError as `sigstats.paired_sample_size`, also if more than two million discordant pairs would have to be
    considered.

    That no larger n falls below the goal is proved, not assumed. With b(m) the power given m discordant pairs, let B(i)
    be the mean of b(M + i) over M ~ binomial (n, p_a + p_b). The power at n + j is a mean of B(0) to B(j); if no B(i)
    is below the goal, no larger n is. Beyond the largest m considered, b is bounded from below by Hoeffding's
    inequality. The smallest n with that proof is found by bisection, above an n with too little power; the proof
    carries over from n to n + 1. This n is then lowered as long as its power reaches the goal.
    """
    alternative = rule.alternative
    if p_a == p_b or (p_a < p_b and alternative == "greater") or (p_a > p_b and alternative == "less"):
        wanted = {"greater": "only_a > only_b", "less": "only_a < only_b"}.get(alternative, "two that differ")
        raise refuse("only_a, only_b", (p_a, p_b), f"{wanted}, with alternative={alternative!r}")
    too_many = refuse("only_a, only_b", (p_a, p_b), f"larger probabilities: more than {MAX_N} observations are needed")
    discordance = p_a + p_b
    most, beyond = _bounded_beyond(p_a, p_b, goal, rule)
    reached = smallest_enough(lambda n: reaches(exact_power(n, p_a, p_b, rule), goal), MAX_N)
    if reached is None:
        raise too_many
    unproved = reached - 1
    first = int(discordant_law(unproved, discordance)[0][0])
    m: IntArray = np.arange(first, max(most, first) + 1)
    power_of_m = conditional_power(m, critical_counts(m, rule), p_a / discordance, rule)

    def proved(n: int) -> bool:
        numbers, weights = discordant_law(n, discordance)
        later = np.concatenate([power_of_m[numbers[0] - first :], np.full(weights.size, beyond)])
        from scipy.signal import fftconvolve  # half of what `import sigstats` would cost

        means = np.asarray(fftconvolve(later, weights[::-1], mode="valid"))  # B(0), B(1), ...
        return bool(np.all(means >= goal + _rounding(goal)))

    more = smallest_enough(lambda more: proved(unproved + more), MAX_N - unproved)
    if more is None:
        raise too_many
    least = unproved + more
    while least > 1 and reaches(exact_power(least - 1, p_a, p_b, rule), goal):
        least -= 1
    return least


@renamed("0.3", target="power")
def detectable_difference(
    n: SupportsIndex,
    discordance: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    method: McNemarMethod = "exact",
    correction: bool = False,
) -> float:
    """Compute the smallest difference of two accuracies that McNemar's test detects with a given power.

    Parameters
    ----------
    n : int
        The number of observations.
    discordance : float
        The probability that exactly one of the two classifiers is right, above 0 and at most 1.
    power : float
        The required power, strictly between 0 and 1.
    alpha, alternative, method, correction
        As in `sigstats.paired_power`.

    Returns
    -------
    float
        The size of the difference, ``abs(only_a - only_b)`` in the terms of `sigstats.paired_power`, at most
        `discordance`; 0 if equal classifiers are distinguished that often (a power below the type-I error).

    Raises
    ------
    ValueError
        If a number is out of range, or no difference is detected with this power by so few observations.

    References
    ----------
    Duffy, Biometrics 40 (1984), for the power.

    Examples
    --------
    >>> import sigstats
    >>> round(sigstats.detectable_difference(500, 0.15), 4)
    0.0499
    """
    n = as_count(n, "n", minimum=1, maximum=MAX_N)
    d = as_real(discordance, "discordance", low=0, high=1)
    if d == 0:
        raise refuse("discordance", discordance, "a number above 0 and at most 1")
    goal = as_real(power, "power", low=0, high=1, open_ends=True)
    rule = as_rule(alpha, alternative, method, correction)
    m, weights = discordant_law(n, d)
    critical = critical_counts(m, rule)

    def power_at(difference: float) -> float:
        share = min(1.0, (1 + difference / d) / 2)
        power_of_m = conditional_power(m, critical, 1 - share if rule.alternative == "less" else share, rule)
        return float(np.sum(weights * power_of_m))

    if not reaches(power_at(d), goal):
        raise refuse("n", n, f"more observations: with discordance {d:g} no difference is detected that often")
    if reaches(power_at(0.0), goal):
        return 0.0
    # Power rises with the difference: given m, because the region is an upper tail or a symmetric pair of tails.
    return _crossing(lambda difference: power_at(difference) - goal, 0.0, d)


def _crossing(excess: Callable[[float], float], low: float, high: float) -> float:
    """Return where a rising function, negative at `low`, becomes positive or 0, to twelve digits from above.

    The rule of false position in the Illinois form (Dowell and Jarratt 1971, BIT 11, 168-174) takes a fifth of the
    steps of halving.
    """
    below, above, last = excess(low), excess(high), 0  # `last`: the end that moved last, -1 or 1
    while high - low > _DIGITS * high:
        middle = high - above * (high - low) / (above - below)
        middle = min(max(middle, low + _DIGITS * high / 2), high - _DIGITS * high / 2)
        value = excess(middle)
        if value >= 0:
            high, above = middle, value
            below /= 2 if last > 0 else 1
            last = 1
        else:
            low, below = middle, value
            above /= 2 if last < 0 else 1
            last = -1
    return high


def reaches(power: float, goal: float) -> bool:
    """Return True if a power is at least the goal, up to the rounding of its sum."""
    return power >= goal - _rounding(goal) * goal


def _rounding(goal: float) -> float:
    """Return the tolerance of a power: the rounding of its sum, or a part of the distance of the goal from 1."""
    return min(_ROUNDING, (1 - goal) / 8)


def _bounded_beyond(p_a: float, p_b: float, goal: float, rule: Rule) -> tuple[int, float]:
    """Return a number of discordant pairs, and a lower bound above `goal` of the power with more pairs.

    With reach (t, c) and delta = |p_a / (p_a + p_b) - 1/2|, Hoeffding's inequality gives a power of at least
    1 - exp(-2 (delta sqrt(m) - t - c / sqrt(m))^2), which rises with m. The number m is the smallest for which this
    bound is half of the way from `goal` to 1.
    """
    t, c = rule.reach()
    delta = abs(p_a / (p_a + p_b) - 0.5)
    miss = (1 - goal) / 2
    s = t + math.sqrt(-math.log(miss) / 2)
    root = (s + math.sqrt(s * s + 4 * delta * c)) / (2 * delta)  # delta x^2 - s x - c = 0
    if root * root > _MAX_DISCORDANT:
        wanted = f"probabilities that differ more: this takes over {_MAX_DISCORDANT} discordant pairs"
        raise refuse("only_a, only_b", (p_a, p_b), wanted)
    return math.ceil(root * root), 1 - miss


def smallest_enough(
    enough: Callable[[int], bool], maximum: int, *, low: int = 0, one_in: int | None = None
) -> int | None:
    """Return the smallest whole number that is enough; None if `maximum` is not. `low` is known not to be enough.

    If `enough` is not monotone, the returned number is enough and the one below it is not, but a smaller one may be.
    `one_in`: the result may be too large by one part in this many.
    """
    high = min(max(2 * low, 1), maximum)
    while not enough(high):
        if high == maximum:
            return None
        low, high = high, min(2 * high, maximum)
    while high - low > (1 if one_in is None else max(1, low // one_in)):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def drop_size(
    *, drop: float, discordance: float, alpha: float, minimum: float = 0.0, target: float = 0.8
) -> int | None:
    """Return the smallest number of observations from which on a drop is shown with this power; None if none is enough.

    It is that of `sigstats.paired_sample_size`, unless the smallest effect, `minimum`, decides: then it is found by
    bisection, and a few larger numbers may have less power, by no more than one observation changes it.
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
    """Return the smallest drop that n observations show with the power `target`; None if they show none.

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


def passing_size(
    *, discordance: float, alpha: float, minimum: float, margin: float, confidence_level: float, target: float
) -> int | None:
    """Return the fewest rows on which an equal candidate passes with probability `target`; None if none are enough."""
    if margin <= 0 and target > 0.5:  # an equal candidate is behind in half of all samples
        return None

    def enough(n: int) -> bool:
        rule = {"alpha": alpha, "minimum": minimum, "margin": margin, "confidence_level": confidence_level}
        return pass_power(n, drop=0.0, discordance=discordance, **rule) >= target

    return smallest_enough(enough, MAX_N)
