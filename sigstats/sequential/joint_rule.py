"""Stop Monte-Carlo or permutation tests together: a test ends once it is rejected, or its own rule ends it.

Besag and Clifford's rule ends a test at its h-th exceedance, after n replicates, with the valid p-value h / n. Before,
w replicates that did not exceed show that n is at least h + w. So h / (h + w) bounds this p-value from above at all
times, and only falls (Fischer, Barry and Ramdas, arXiv 2404.15586, 2024). `JointRule` adjusts the bounds of all tests
together after each replicate, and ends a test whose adjusted bound is at most alpha.

The rejections are exactly those of `BesagCliffordRule`: smaller p-values reject more, so that an early rejection would
remain in the end; and each other test has its final p-value, so that only the number of rejections matters. So the
guarantee is that of the adjustment applied to valid p-values. ``"holm"`` bounds the probability of a false rejection,
and ``"benjamini-yekutieli"`` the false discovery rate, under any dependence; ``"benjamini-hochberg"`` bounds the latter
if p-values are independent, or positively dependent on each one of a true hypothesis (PRDS). That is not proved for
tests that share rows, folds or permutations; in simulations they keep the level (`benchmarks/joint.md`).

A smaller h needs fewer replicates and has less power. A test needs some h / alpha replicates under Benjamini and
Hochberg, whatever the share of rejections; under Holm a rejection needs as many as tests times that.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._common.validation import FloatArray, IntArray, as_choice, as_indicators, as_real
from ..intervals import Interval, clopper_pearson
from ..multiplicity import ADJUST_METHODS, Adjustment, adjusted
from .rules import BesagCliffordRule, Verdict


class JointStop(NamedTuple):
    """The end of one test of a family."""

    #: The number of replicates that the test uses; if it has not ended, a number that it needs in any case.
    replicates: int
    ended: bool
    #: True if there are fewer.
    waits: bool = False


@dataclass(frozen=True, kw_only=True)
class JointRule(BesagCliffordRule):
    """Stop at a number of exceedances, or once the test is rejected at level `alpha` together with others.

    `adjust`: the adjustment for multiplicity. The other fields are those of `BesagCliffordRule`.

    >>> rule = JointRule(maximum=999, alpha=0.05)
    >>> [stop.replicates for stop in rule.stops([[0] * 300, [0] * 300, [0, 1] * 150])]
    [290, 290, 20]
    """

    method: ClassVar[str] = "joint"

    exceedances: int = 10
    alpha: float
    adjust: Adjustment = "benjamini-hochberg"

    def __post_init__(self) -> None:
        super().__post_init__()
        alpha = as_real(self.alpha, "alpha", low=0, high=1, open_ends=True)
        self._set(alpha=alpha, adjust=as_choice(self.adjust, "adjust", (*ADJUST_METHODS, "none")))

    def stops(self, exceeds: Sequence[Any]) -> list[JointStop]:
        """The end of each test, from equally many first replicates of each.

        `exceeds`: for each test of the family, a mask of the replicates that are at least as extreme as observed.
        Replicates after the end of a test change nothing.
        """
        flags = [as_indicators(replicates, "exceeds")[: self.maximum] for replicates in exceeds]
        # The ends of tests by their own rule; of rejected ones, the time of the rejection if it is earlier.
        ends = np.array([self._stop(replicates) or self.maximum for replicates in flags])
        known = np.minimum([replicates.size for replicates in flags], ends)
        exceedances = [np.concatenate([[0], np.cumsum(replicates)]) for replicates in flags]
        rejected, now = np.zeros(len(flags), dtype=np.bool_), 0

        def new_rejections(time: int) -> NDArray[np.bool_]:
            """The tests that are first rejected at `time`, if no replicate of any test after `now` exceeds."""
            n = np.minimum(now, ends)
            s = np.array([counts[used] for counts, used in zip(exceedances, n.tolist(), strict=True)])
            p = self._bounds(np.where(ends > now, time, n), s)
            return (np.array(adjusted(p.tolist(), self.adjust)) <= self.alpha) & ~rejected

        while True:
            # Without exceedances bounds only fall, so no test is rejected earlier than the time that is found here.
            later = range(now + 1, self.maximum + 1)
            time = now + 1 + bisect_left(later, True, key=lambda time: bool(new_rejections(time).any()))
            needed = np.minimum(time, ends)
            waits = known < needed
            if waits.any() or time > self.maximum:
                ended = (ends <= now) | ~waits.any()
                replicates = np.where(ended, ends, needed)
                return list(map(JointStop, replicates.tolist(), ended.tolist(), waits.tolist()))
            now = time
            new = new_rejections(now)
            rejected |= new
            ends[new] = np.minimum(ends[new], now)

    def _bounds(self, n: IntArray, s: IntArray) -> FloatArray:
        """The p-values of tests that end after n replicates with s exceedances; valid at any time."""
        last = (n == self.maximum) & (s < self.exceedances)
        return np.where(last, (s + 1) / (n + 1), self.exceedances / (self.exceedances + n - s))

    def _stop_evenly(self, p: float) -> int:
        return min(super()._stop_evenly(p), math.ceil(self.exceedances / self.alpha))  # as if most are rejected

    def _evidence(self, n: int, s: int, confidence_level: float) -> tuple[float, Interval, Verdict]:
        if s >= self.exceedances or n == self.maximum:
            pvalue, interval, _ = super()._evidence(n, s, confidence_level)
            return pvalue, interval, "keep" if s >= self.exceedances else "undecided"
        least = self.exceedances + n - s  # of the replicates at the last exceedance
        high = clopper_pearson(self.exceedances - 1, least - 1, confidence_level=confidence_level).high
        return self.exceedances / least, Interval(0.0, high, confidence_level), "reject"
