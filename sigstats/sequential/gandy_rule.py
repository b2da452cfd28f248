"""Gandy's rule: stop where it is certain, up to a bounded risk, on which side of the level p lies.

`sigstats.sequential.rules` has the source, and explains which rule to choose, if any.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .._common.extreme import ROUNDING
from .._common.validation import as_count, as_real, refuse
from ..intervals import Interval
from .exits import Boundaries, evidence, exits, one_more
from .rules import FixedRule, Verdict, first_true

_VERDICTS: Mapping[str, Verdict] = {"low": "reject", "high": "keep", "inside": "undecided"}


@dataclass(frozen=True, kw_only=True)
class GandyRule(FixedRule):
    """Stop when it is certain, up to a bounded risk, on which side of a level p lies (Gandy 2009).

    The verdict contradicts the p-value of infinitely many replicates with probability at most `risk`: "keep" although
    ``p <= alpha``, or "reject" although ``p > reject_at``. Near the level the rule may reach its maximum undecided.

    The p-value is the probability, under the null hypothesis, of an end at least as extreme
    (``sigstats.sequential.exits``), and valid with ties too.

    The boundaries are computed for each replicate. Beyond about a million cheap replicates another rule costs less.

    Attributes
    ----------
    maximum : int
        The largest number of replicates, at least 1.
    alpha : float
        The level of the decision, strictly between 0 and 1.
    reject_at : float or None
        The level at which a rejection is certain, greater than 0 and at most `alpha`; by default `alpha`. With an
        adjustment for multiplicity, the level at which a test is rejected regardless of the others: ``alpha / m`` for
        Holm's adjustment of m tests. Above `alpha` it is kept regardless of the others.
    risk : float
        The bound on the resampling risk, greater than 0 and at most 0.25.
    half_spent : int
        Gandy's k: the number of replicates after which half of the risk may be spent, at least 1.

    Raises
    ------
    ValueError
        If a field is out of its range.

    Examples
    --------
    >>> import sigstats
    >>> rule = sigstats.GandyRule(maximum=9999, alpha=0.05)
    >>> kept, rejected = rule.test([0, 1] * 100), rule.test([0] * 200)
    >>> kept.n_resamples, kept.verdict, round(kept.pvalue, 2)
    (14, 'keep', 0.48)
    >>> rejected.n_resamples, rejected.verdict, round(1 / rejected.pvalue)
    (173, 'reject', 174)
    """

    method: ClassVar[str] = "gandy"

    alpha: float
    reject_at: float | None = None
    risk: float = 1e-3
    half_spent: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        alpha = as_real(self.alpha, "alpha", low=0, high=1, open_ends=True)
        reject_at = None if self.reject_at is None else as_real(self.reject_at, "reject_at", low=0, high=alpha)
        risk = as_real(self.risk, "risk", low=0, high=0.25)
        for name, value in (("reject_at", reject_at), ("risk", risk)):
            if value == 0:
                raise refuse(name, value, "a number greater than 0")
        half_spent = as_count(self.half_spent, "half_spent", minimum=1)
        self._set(alpha=alpha, reject_at=reject_at, risk=risk, half_spent=half_spent)

    @property
    def rejection_level(self) -> float:
        """`reject_at`, or `alpha` where that is None."""
        return self.alpha if self.reject_at is None else self.reject_at

    @property
    def can_reject(self) -> bool:
        """True if `maximum` replicates without exceedances give the verdict "reject".

        Examples
        --------
        >>> import sigstats
        >>> [sigstats.GandyRule(maximum=999, alpha=0.05, reject_at=0.05 / tests).can_reject for tests in (1, 20)]
        [True, False]
        """
        allowed = self.risk * self.maximum / (self.maximum + self.half_spent)
        return self.maximum * math.log1p(-self.rejection_level) <= math.log(allowed)

    def boundaries(self, size: int) -> Boundaries:
        """Return the boundaries for the first `size` replicates or more."""
        size = min(max(1024, 1 << (size - 1).bit_length()), self.maximum)
        levels = {"reject_at": self.rejection_level, "keep_at": self.alpha}
        return boundaries(**levels, risk=self.risk, half_spent=self.half_spent, size=size)

    def _stop(self, flags: NDArray[np.bool_]) -> int | None:
        value, counts = self.boundaries(flags.size), np.cumsum(flags)
        return first_true((counts <= value.lower[: counts.size]) | (counts >= value.upper[: counts.size]))

    def _stop_evenly(self, p: float) -> int:
        size = n = 0
        while not n and size < self.maximum:
            size = min(max(1024, 2 * size), self.maximum)
            n = self._stop(np.diff(np.floor(p * np.arange(size + 1))) > 0) or 0
        return n or self.maximum

    def _evidence(self, n: int, s: int, confidence_level: float) -> tuple[float, Interval, Verdict]:
        pvalue, interval, side = evidence(self.boundaries(n), n, s, confidence_level)
        return pvalue, interval, _VERDICTS[side]

    def _error(self, n: int, pvalue: float, verdict: Verdict) -> float:
        # A share of paths takes three roundings a replicate, all terms of a sum of shares being positive.
        error = (4 * n + 100) * ROUNDING
        return error / pvalue if verdict == "keep" and pvalue > 0 else error  # there it is 1 less such a sum


@lru_cache(maxsize=16)
def boundaries(*, reject_at: float, keep_at: float, risk: float, half_spent: int, size: int) -> Boundaries:
    """The boundaries of Gandy (2009, section 2) for `size` replicates, by recursion over paths that have not ended.

    With each replicate the boundaries move as far in as the risk that may be spent by then allows, ``risk * n / (n +
    half_spent)``: the upper one where p is `keep_at`, the lower one where p is `reject_at`, which is at most that. For
    equal levels this is Gandy's construction.
    """
    lower, upper = np.empty((2, size), dtype=np.int64)
    low: list[tuple[int, int, float]] = []
    high: list[tuple[int, int, float]] = []
    below, above = -1, 1
    spent_low = spent_high = 0.0
    # Of the paths inside, with exceedances below + 1 to above - 1: their probability if p is reject_at or keep_at, and
    # their share of all paths to the same place.
    chance = np.array([[reject_at], [keep_at]])
    inside, weight = np.ones((2, 1)), np.ones(1)
    for n in range(1, size + 1):
        s = np.arange(below + 1, above + 1)
        up = inside * chance
        inside = np.concatenate([inside - up, np.zeros((2, 1))], axis=1)
        inside[:, 1:] += up
        weight = one_more(weight, s, n)
        allowed = risk * n / (n + half_spent)
        if inside.shape[1] > 1 and spent_high + inside[1, -1] <= allowed:
            spent_high += inside[1, -1]
            high.append((n, above, weight[-1]))
            inside, weight = inside[:, :-1], weight[:-1]
        else:
            above += 1
        if inside.shape[1] > 1 and spent_low + inside[0, 0] <= allowed:
            spent_low += inside[0, 0]
            below += 1
            low.append((n, below, weight[0]))
            inside, weight = inside[:, 1:], weight[1:]
        lower[n - 1], upper[n - 1] = below, above
    left = [(size, below + 1 + i, float(share)) for i, share in enumerate(weight)]
    return Boundaries(lower, upper, exits(low), exits(high), exits(left))
