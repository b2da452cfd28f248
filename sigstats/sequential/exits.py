"""The ways in which a sequential rule ends, their probabilities, and the evidence of each end.

The number of exceedances after n replicates is a path that starts at 0 and goes up by 1 or stays. It ends when it meets
the lower boundary, the upper one, or the last replicate.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from .._common.validation import FloatArray, IntArray
from ..intervals import Interval


@dataclass(frozen=True, eq=False)
class Exits:
    """Ways in which a path ends."""

    #: End of the path.
    replicates: IntArray
    exceedances: IntArray
    #: The share of all paths to that place that have not ended before. Paths to one place are equally likely, so it
    #: does not depend on p.
    weight: FloatArray

    def probability(self, p: float) -> float:
        """Return the probability of ending in one of these ways when each replicate exceeds with probability `p`."""
        n, s = self.replicates, self.exceedances
        log_binomial = xlogy(s, p) + xlog1py(n - s, -p) - betaln(s + 1, n - s + 1) - np.log1p(n)
        return float(self.weight @ np.exp(log_binomial))

    @property
    def total(self) -> float:
        """The mean of `probability` over all p: the probability under a null hypothesis without ties (p is uniform).

        The number of exceedances is then uniform on 0, ..., n.
        """
        return float((self.weight / (self.replicates + 1)).sum())

    def position(self, replicates: int, exceedances: int) -> int:
        """Return the number of ends before this one."""
        return int(np.flatnonzero((self.replicates == replicates) & (self.exceedances == exceedances))[0])

    def __getitem__(self, ends: slice) -> "Exits":
        """Return some of the ends, in their order."""
        return Exits(self.replicates[ends], self.exceedances[ends], self.weight[ends])


@dataclass(frozen=True, eq=False)
class Boundaries:
    """Both boundaries up to some number of replicates."""

    #: After n replicates a path ends if its exceedances are at most ``lower[n - 1]`` or at least ``upper[n - 1]``;
    #: ndarray of int64, shape (size,).
    lower: IntArray
    upper: IntArray
    #: Ends at the lower and at the upper boundary, each in the order of time; of one time, those at the lower boundary
    #: with fewer exceedances first, those at the upper with more.
    low: Exits
    high: Exits
    #: The places of the paths that met neither in `size` replicates, in the order of their exceedances.
    inside: Exits


def one_more(weight: FloatArray, s: IntArray, n: int) -> FloatArray:
    """Return the shares of paths with `s` exceedances after n replicates, from those with ``s[:-1]`` after n - 1.

    Of the paths to s the share (n - s) / n comes from s, the rest from s - 1; 1 stays 1 exactly.
    """
    shares: FloatArray = np.append(weight, 0.0) * (n - s)
    shares[1:] += weight * s[1:]
    return shares / n


def exits(ends: Sequence[tuple[int, int, float]]) -> Exits:
    """Return exits from their replicates, exceedances and weights."""
    n, s, weight = zip(*ends, strict=True) if ends else ((), (), ())
    return Exits(np.array(n, dtype=np.int64), np.array(s, dtype=np.int64), np.array(weight, dtype=np.float64))


def evidence(
    boundaries: Boundaries, n: int, s: int, confidence_level: float
) -> tuple[float, Interval, Literal["low", "high", "inside"]]:
    """Compute the p-value, the interval of p and the boundary of an end after `n` replicates and `s` exceedances.

    The ends are ordered: those at the lower boundary, the earlier the more extreme; then those inside, the fewer
    exceedances the more extreme; then those at the upper boundary, the later the more extreme. The p-value is the
    probability, under the null hypothesis, of an end at least as extreme. Where the order is kept when replicates turn
    from 0 to 1, it is valid with ties too, and the interval is the set of p for which neither tail of the order is
    below half of 1 - confidence.
    """
    low, inside, high = boundaries.low, boundaries.inside, boundaries.high
    at_most: Callable[[float], float]
    at_least: Callable[[float], float]
    side: Literal["low", "high", "inside"]
    if s <= boundaries.lower[n - 1]:
        before = low.position(n, s)
        side, pvalue = "low", low[: before + 1].total
        at_most, at_least = low[: before + 1].probability, _other_than(low[:before])
    elif s >= boundaries.upper[n - 1]:
        before = high.position(n, s)
        side, pvalue = "high", 1 - high[:before].total
        at_most, at_least = _other_than(high[:before]), high[: before + 1].probability
    else:
        ends = inside.position(n, s) + 1
        # With no end below so far, exactly (s + 1) / (n + 1): on it an adjusted p-value may be equal to its level.
        side, pvalue = "inside", low.total + float(inside[:ends].weight.sum()) / (n + 1)
        at_most, at_least = _any_of(low, inside[:ends]), _any_of(high, inside[ends - 1 :])
    tail = (1 - confidence_level) / 2
    return pvalue, Interval(_crossing(at_least, tail, 0.0), _crossing(at_most, tail, 1.0), confidence_level), side


def _other_than(ends: Exits) -> Callable[[float], float]:
    """Return the probability of an end that is not one of these."""
    return lambda p: 1 - ends.probability(p)


def _any_of(*parts: Exits) -> Callable[[float], float]:
    """Return the probability of any of these ends."""
    return lambda p: sum(part.probability(p) for part in parts)


def _crossing(probability: Callable[[float], float], tail: float, end: float) -> float:
    """Return the p at which a monotone probability is `tail`, or `end` (0 or 1) if it is at least `tail` there."""
    from scipy.optimize import brentq

    if probability(end) >= tail:
        return end
    return float(brentq(lambda p: probability(p) - tail, 0.0, 1.0, xtol=1e-15, rtol=1e-13))
