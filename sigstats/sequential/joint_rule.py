"""Stop Monte-Carlo or permutation tests together: a test ends once it is rejected, or cannot be rejected any more.

P-values. After all replicates a test has a rank R: one more than the number of replicates at least as extreme as
observed. Under the null hypothesis each of the ``maximum + 1`` ranks is equally likely, or larger ones more so. Given
the exceedances so far, the chance that R is at most K is a martingale, so that it ever reaches ``certainty`` with
probability at most ``K / (maximum + 1) / certainty``. So the least K for which it does, over ``certainty * (maximum +
1)``, is a p-value that is valid at all times, as is the least one so far, which only falls (testing by betting: Fischer
and Ramdas, arXiv 2401.07365; for many tests: Fischer, Barry and Ramdas, arXiv 2404.15586).

Rejected tests. `JointRule` looks at all tests after 10 replicates, 20 and so on. At each look it adjusts their p-values
together, and rejects those of at most alpha: as p-values only fall, a rejection remains.

Kept tests. A test is kept once its p-value is above the level at which it would be rejected with all tests that are not
kept yet, and a test that reaches this level has as many exceedances at this look with a probability of at most 0.2
times the square root of ``replicates / maximum``: fewer mistakes are allowed at first, where they cost few replicates
to avoid. With up to 9,999 replicates, about half of the tests just at the level are kept at some look (another 9,999
would also keep half of them), but at most 5% of those at three quarters of the level, and 1% of those at half of it.

Error rates. Which tests are kept depends on their own replicates and the number that are not kept, but not on when
others are rejected. So if a test is rejected, the number of rejections is a function of the other tests, and the false
discovery rate of Benjamini and Hochberg is at most alpha if tests are independent: the usual proof applies. ``"holm"``
bounds the probability of a false rejection, and ``"benjamini-yekutieli"`` the false discovery rate, under any
dependence, since tests that stop earlier have larger p-values (Blanchard and Roquain 2008). It is not proved that tests
that share rows, folds or permutations keep the bound of Benjamini and Hochberg; in simulations they do
(`benchmarks/joint.md`).
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from .._common.validation import FloatArray, as_choice, as_indicators, as_real
from ..intervals import Interval, clopper_pearson
from ..multiplicity import ADJUST_METHODS, Adjustment, adjust_family
from .rules import FixedRule, SequentialResult, Verdict

#: A test is kept once tests at the level have as many exceedances with at most this probability, times
#: ``sqrt(replicates / maximum)``.
UNLIKELY = 0.2


class JointStop(NamedTuple):
    """The end of one test of a family."""

    #: The number of replicates that the test uses; if it has not ended, the number to draw next.
    replicates: int
    ended: bool
    #: True if fewer replicates have been given.
    waits: bool = False
    rejected: bool = False


@dataclass(frozen=True, kw_only=True)
class JointRule(FixedRule):
    """Stop once a test is rejected at level `alpha` together with others, or has too many exceedances for that.

    `adjust`: the adjustment for multiplicity. `certainty`, above 0 and below 1: how certain a rejection after all
    replicates must be for an earlier one. A larger one takes more replicates and has more power, as a test is rejected
    at `certainty` times its level.

    >>> rule = JointRule(maximum=999, alpha=0.05)
    >>> [stop.replicates for stop in rule.stops([[0] * 300, [0] * 300, [0, 1] * 150])]
    [110, 110, 10]
    """

    method: ClassVar[str] = "joint"

    alpha: float
    adjust: Adjustment = "benjamini-hochberg"
    certainty: float = 0.97

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("alpha", "certainty"):
            self._set(**{name: as_real(getattr(self, name), name, low=0, high=1, open_ends=True)})
        self._set(adjust=as_choice(self.adjust, "adjust", (*ADJUST_METHODS, "none")))

    def stops(self, exceeds: Sequence[Any]) -> list[JointStop]:
        """Return the end of each test, from equally many first replicates of each.

        `exceeds`: for each test of the family, a mask of the replicates that are at least as extreme as observed.
        Replicates after the end of a test change nothing.
        """
        flags = [as_indicators(replicates, "exceeds")[: self.maximum] for replicates in exceeds]
        given = np.array([mask.size for mask in flags])
        s = [0] * len(flags)  # the exceedances of each test so far
        pvalues, ends = np.ones(len(flags)), np.full(len(flags), self.maximum)
        rejected, kept = np.zeros((2, len(flags)), dtype=np.bool_)
        before = 0
        for n in self._looks():
            going = ~(rejected | kept)
            tests = np.flatnonzero(going).tolist()
            if (given[going] < n).any():
                ends[going] = self._next_look(n, pvalues, tests, s)
                break
            for test in tests:
                s[test] += int(np.count_nonzero(flags[test][before:n]))
                pvalues[test] = min(pvalues[test], self._pvalue(n, s[test]))
            ends[going], before = n, n
            rejected |= going & self._rejects(pvalues)
            self._keep(n, s, pvalues, rejected, kept)
        ended = rejected | kept
        stops = (ends, ended, ~ended & (given < ends), rejected)
        return list(map(JointStop, *(values.tolist() for values in stops)))

    def _next_look(self, n: int, pvalues: FloatArray, tests: list[int], s: Sequence[int]) -> int:
        """Return the look, from n to 2n, at which a test is first rejected if it has no further exceedances."""
        for look in (look for look in self._looks() if n <= look <= 2 * n):
            least = pvalues.copy()
            least[tests] = [min(pvalues[test], self._pvalue(look, s[test])) for test in tests]
            if self._rejects(least)[tests].any():
                break
        return look

    def _keep(
        self, n: int, s: Sequence[int], pvalues: FloatArray, rejected: NDArray[np.bool_], kept: NDArray[np.bool_]
    ) -> None:
        """Mark in `kept` the tests that can hardly be rejected any more, given the tests that are not kept yet."""
        if n == self.maximum:
            kept |= ~rejected
        before = -1
        while (left := int(np.count_nonzero(~kept))) != before:  # each test that is kept lowers the level of the others
            before, level = left, _level(self.alpha, self.adjust, left, len(s))
            for test in np.flatnonzero(~rejected & ~kept & (pvalues > level)).tolist():
                kept[test] = self._hopeless(n, s[test], level)

    def _rejects(self, pvalues: FloatArray) -> NDArray[np.bool_]:
        return np.array(adjust_family(pvalues.tolist(), self.adjust)) <= self.alpha

    def _looks(self) -> list[int]:
        looks = [min(10, self.maximum)]
        while looks[-1] < self.maximum:  # a tenth later than the last, in tens
            looks.append(min(looks[-1] + max(10, looks[-1] // 100 * 10), self.maximum))
        return looks

    def stopped(self, exceeds: NDArray[np.bool_], n: int, *, confidence_level: float = 0.99) -> SequentialResult:
        """Return the result of a test that ends after `n` of these replicates, which is a look."""
        counts = np.cumsum(exceeds[:n])
        pvalue = min((self._pvalue(look, int(counts[look - 1])) for look in self._looks() if look <= n), default=1.0)
        return replace(super().stopped(exceeds, n, confidence_level=confidence_level), pvalue=pvalue)

    def _pvalue(self, n: int, s: int) -> float:
        """Return the p-value of s exceedances in n replicates; valid at any time."""
        return min(1.0, _least_rank(n, s, self.maximum, self.certainty) / (self.certainty * (self.maximum + 1)))

    def _hopeless(self, n: int, s: int, level: float) -> bool:
        """Return True if a test with final p-value `level` is unlikely to have s exceedances in n replicates."""
        rank = math.floor(level * self.certainty * (self.maximum + 1))
        return rank <= s or _chance_of_more(s - 1, rank - 1, n, self.maximum) <= UNLIKELY * math.sqrt(n / self.maximum)

    def _stop_evenly(self, p: float) -> int:
        for n in self._looks():  # as if all others are rejected
            s = math.floor(p * n)
            if self._hopeless(n, s, self.alpha) or self._pvalue(n, s) <= self.alpha:
                return n
        return self.maximum

    def _evidence(self, n: int, s: int, confidence_level: float) -> tuple[float, Interval, Verdict]:
        level = 1 - (1 - confidence_level) / len(self._looks())  # at each look
        interval = clopper_pearson(s, n, confidence_level=level)
        return self._pvalue(n, s), replace(interval, confidence_level=confidence_level), "undecided"


@lru_cache(maxsize=4096)
def _level(alpha: float, adjust: Adjustment, left: int, tests: int) -> float:
    """Return the level at which a test is rejected if only `left` tests, including it, have small p-values."""
    least = 2.0**-60
    return alpha * least / float(adjust_family([least, *[0.0] * (left - 1), *[1.0] * (tests - left)], adjust)[0])


@lru_cache(maxsize=1 << 16)
def _least_rank(n: int, s: int, maximum: int, chance: float) -> int:
    """Return the least rank that is not exceeded with this chance after all replicates, given s exceedances in n."""
    # Of the n + 1 ranks of a random sample more than s are at most this one; 1e-6 is more than rounding errors.
    enough = chance + 1e-6
    ranks = range(s + 1, maximum + 1 - (n - s))
    return s + 1 + bisect_left(ranks, True, key=lambda rank: _chance_of_more(s, rank, n + 1, maximum + 1) >= enough)


@lru_cache(maxsize=1 << 16)
def _chance_of_more(s: int, marked: int, drawn: int, total: int) -> float:
    """Return the hypergeometric chance of more than s marked among `drawn` of `total`, `marked` of them marked."""

    def log_choices(n: int, k: FloatArray) -> FloatArray:
        return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))

    j = np.arange(s + 1.0)
    all_choices = log_choices(total, np.array(float(drawn)))
    return 1 - float(np.exp(log_choices(marked, j) + log_choices(total - marked, drawn - j) - all_choices).sum())
