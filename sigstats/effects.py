"""Effect sizes of a difference between two classifiers, with intervals.

A p-value shows that two accuracies differ, but not by how much; report an effect size as well.

When not to use: the classifiers saw different observations (everything here is paired), the observations are not
independent (the intervals are then too short), the measure is not accuracy (`sigstats.bootstrap_test`), or you want a
verdict with a margin, on slices or in groups (`sigstats.compare`).
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, SupportsIndex, TypeAlias

from scipy.special import ndtr, ndtri

from ._common.calls import takes_counts
from ._common.drawing import Drawn, forest
from ._common.tabular import Table
from ._common.validation import Labels, as_choice, as_count, as_labels, as_real, refuse
from .intervals import Interval, clopper_pearson, mid_p_interval
from .mcnemar.counts import discordant_counts

OddsRatioMethod: TypeAlias = Literal["exact", "mid-p"]

ODDS_RATIO_METHODS: tuple[OddsRatioMethod, ...] = ("exact", "mid-p")


@dataclass(frozen=True, kw_only=True)
class EffectSize(Drawn):
    """An effect size and its interval.

    Attributes
    ----------
    estimate : float
        The effect size, in the unit that the function states.
    confidence_interval : Interval
        The two-sided interval, with its confidence.
    method : str
        The name of the method of the interval.
    """

    estimate: float
    confidence_interval: Interval
    method: str

    def _table(self) -> Table:
        return Table("Effect size: A and B", super()._table().columns, words=0)

    def _draw(self, ax: Any) -> Any:
        return forest(ax, [("", self.estimate, *self.confidence_interval)], unit="estimate", marks=())


def _difference_of_labels(y: Labels, a: Labels, b: Labels, *, confidence_level: float = 0.95) -> EffectSize:
    """`accuracy_difference` of the true labels `y` and those that A and B assigned, with its options."""
    counts = discordant_counts(y, a, b)
    return accuracy_difference(*counts, as_labels(y, "y").size, confidence_level=confidence_level)


@takes_counts(3, _difference_of_labels)
def accuracy_difference(
    only_a: SupportsIndex, only_b: SupportsIndex, n: SupportsIndex, *, confidence_level: float = 0.95
) -> EffectSize:
    """Compute the difference of accuracy of A and B on the same observations, with Tango's score interval.

    Parameters
    ----------
    only_a, only_b : int
        The numbers of observations that only A, and only B, got right (`sigstats.discordant_counts`).
    n : int
        The number of all observations, up to 2**53.
    confidence_level : float
        Of the interval, strictly between 0 and 1.

    Returns
    -------
    EffectSize
        The accuracy of A minus that of B, between -1 and 1. The interval excludes 0 exactly if the p-value of McNemar's
        chi-square test without correction is below ``1 - confidence_level``; if they are equal, 0 is an end of it. Its
        length is positive even if no pair is discordant.

    Raises
    ------
    ValueError
        If a count is negative or fractional, `n` is zero or less than the two counts together, or `confidence_level` is
        not in (0, 1).

    Notes
    -----
    The interval has the differences d that a score test does not reject, ``abs(only_a - only_b - n d) <= z sqrt(n (2
    q + d (1 - d)))``, where q is the most likely probability of "only B" if the true difference is d, the larger root
    of ``2 n q^2 + B q + C = 0`` with ``B = (2 n - only_a + only_b) d - only_a - only_b`` and ``C = -only_b d (1 - d)``.
    The coverage is approximate.

    References
    ----------
    Tango, Statistics in Medicine 17 (1998).

    Examples
    --------
    >>> import sigstats
    >>> effect = sigstats.accuracy_difference(6, 16, 161)
    >>> [round(x, 4) for x in (effect.estimate, effect.confidence_interval.low, effect.confidence_interval.high)]
    [-0.0621, -0.124, -0.0054]
    """
    a, b = as_count(only_a, "only_a"), as_count(only_b, "only_b")
    size = as_count(n, "n", minimum=1)
    if a + b > size:
        raise refuse("n", n, f"at least only_a + only_b, {a + b}")
    confidence_level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    z = -float(ndtri((1 - confidence_level) / 2))
    interval = Interval(-_score_reach(b, a, size, z), _score_reach(a, b, size, z), confidence_level)
    return EffectSize(estimate=(a - b) / size, confidence_interval=interval, method="score")


def _odds_of_labels(
    y: Labels, a: Labels, b: Labels, *, confidence_level: float = 0.95, method: OddsRatioMethod = "exact"
) -> EffectSize:
    """`discordant_odds_ratio` of the true labels `y` and those that A and B assigned, with its options."""
    return discordant_odds_ratio(*discordant_counts(y, a, b), confidence_level=confidence_level, method=method)


@takes_counts(2, _odds_of_labels)
def discordant_odds_ratio(
    only_a: SupportsIndex, only_b: SupportsIndex, *, confidence_level: float = 0.95, method: OddsRatioMethod = "exact"
) -> EffectSize:
    """Compute the odds that a discordant pair favours A, with an interval that agrees with McNemar's test.

    Parameters
    ----------
    only_a, only_b : int
        How many observations only A, and only B, got right (`sigstats.discordant_counts`).
    confidence_level : float
        Of the interval, strictly between 0 and 1.
    method : {"exact", "mid-p"}
        ``"exact"`` covers the true odds with at least the stated probability, and excludes 1 exactly if the two-sided
        exact p-value is below ``1 - confidence_level`` (if they are equal, 1 is an end of it). ``"mid-p"`` agrees in
        the same way with the mid-p test, is shorter, and at 0.95 covers the odds with probability 0.91 or more.

    Returns
    -------
    EffectSize
        ``only_a / only_b``, the conditional maximum-likelihood estimate of the odds ratio of matched pairs: infinite if
        `only_b` is 0; NaN, with an interval from 0 to infinity, if there is no discordant pair.

    Raises
    ------
    ValueError
        If a count is negative or fractional, `confidence_level` is not in (0, 1), or `method` is unknown.

    Notes
    -----
    The limits p of an interval of the binomial proportion ``only_a / (only_a + only_b)`` become ``p / (1 - p)``
    (Clopper and Pearson 1934).

    References
    ----------
    Fay, Biostatistics 11 (2010). Fagerland, Lydersen and Laake, Statistics in Medicine 33 (2014).

    Examples
    --------
    >>> import sigstats
    >>> effect = sigstats.discordant_odds_ratio(25, 2)
    >>> [round(x, 4) for x in (effect.estimate, effect.confidence_interval.low, effect.confidence_interval.high)]
    [12.5, 3.1169, 108.8892]
    """
    a, b = as_count(only_a, "only_a"), as_count(only_b, "only_b")
    as_choice(method, "method", ODDS_RATIO_METHODS)
    confidence_level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)

    interval = mid_p_interval if method == "mid-p" else clopper_pearson
    for_a = interval(a, a + b, confidence_level=confidence_level)
    for_b = interval(b, a + b, confidence_level=confidence_level)
    # One minus a limit for A is the other limit for B, which keeps the digits that 1 - p would lose.
    low = for_a.low / for_b.high if for_b.high > 0 else 0.0
    high = for_a.high / for_b.low if for_b.low > 0 else math.inf
    estimate = a / b if b else (math.inf if a else math.nan)
    return EffectSize(estimate=estimate, confidence_interval=Interval(low, high, confidence_level), method=method)


def score_equivalence(only_a: int, only_b: int, n: int, margin: float) -> float:
    """Return the p-value of accuracies that differ by at least the margin: the larger of Tango's two one-sided ones."""
    items = []
    for a, b in ((only_a, only_b), (only_b, only_a)):
        spread = n * (2 * _likely_only_b(a, b, n, margin) + margin * (1 - margin))
        apart = a - b - n * margin
        items.append(float(ndtr(apart / math.sqrt(spread))) if spread > 0 else float(apart >= 0))
    return max(math.ulp(0.0), *items)


def _score_reach(a: int, b: int, n: int, z: float) -> float:
    """Return the upper limit of Tango's interval, by bisection to the last bit."""
    inside, outside = (a - b) / n, 1.0
    while (middle := (inside + outside) / 2) not in (inside, outside):
        spread = n * (2 * _likely_only_b(a, b, n, middle) + middle * (1 - middle))
        inside, outside = (
            (middle, outside) if n * middle - (a - b) <= z * math.sqrt(max(spread, 0.0)) else (inside, middle)
        )
    return inside


def _likely_only_b(a: int, b: int, n: int, difference: float) -> float:
    """Tango (1998): the probability of "only B" that is most likely if the accuracies differ by `difference`."""
    linear = (2 * n - a + b) * difference - a - b
    constant = -b * difference * (1 - difference)
    root = math.sqrt(max(linear * linear - 8 * n * constant, 0.0))
    if linear > 0:  # the form without the difference of near numbers
        return -2 * constant / (root + linear)
    return (root - linear) / (4 * n)
