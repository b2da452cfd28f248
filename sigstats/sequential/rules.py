"""When to stop drawing replicates of a Monte-Carlo or permutation test, and the p-value to report then.

A rule looks at the replicates one by one in their order, so where it stops depends on them alone.

- `FixedRule` does not stop: the p-value is as fine as the replicates allow.
- `BesagCliffordRule` stops once enough replicates were as extreme as observed: where p is large anyway. With the number
  that `deciding_exceedances` gives, ``p <= alpha`` says of every test what it would say after all replicates, whatever
  the adjustment for multiplicity.
- `GandyRule` stops where it is certain, up to a risk that is bounded for every p, on which side of the level p lies. It
  stops soonest where p is far from the level, on both sides: the one to choose where a replicate costs much and the
  verdict is what is wanted.

After each rule the p-value is valid: under the null hypothesis P(p <= a) <= a for every a, since it is the exact
probability of ending at least as extremely. The usual ``(exceedances + 1) / (replicates + 1)`` is not valid after a
stop that looked at the exceedances.

Do not use a rule where small p-values matter as such: a stopped test has a p-value of at least 1 / (replicates + 1),
and ranks, adjusted p-values and possibilistic indices rest on it. Do not use one to go on after a look at the result: a
rule, like its maximum, is chosen before the first replicate. Betting (Fischer and Ramdas 2024) allows looks at any
time, but its p-value stays above a limit near the level however many replicates there are, so that it is of no use to
an adjustment for multiplicity; `benchmarks/sequential.md` compares it with these rules.

References
----------
Besag and Clifford, Sequential Monte Carlo p-values, Biometrika 78 (1991).
Gandy, Sequential implementation of Monte Carlo tests with uniformly bounded resampling risk, Journal of the American
Statistical Association 104 (2009).
Fay, Kim and Hachey, On using truncated sequential probability ratio test boundaries for Monte Carlo implementation of
hypothesis tests, Journal of Computational and Graphical Statistics 16 (2007).
Fischer and Ramdas, Sequential Monte-Carlo testing by betting, arXiv 2401.07365 (2024).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._common.extreme import monte_carlo_pvalue
from .._common.validation import as_count, as_indicators, as_real, refuse
from ..intervals import Interval, clopper_pearson, monte_carlo_interval
from ..test_result import TestResult
from .gandy_boundary import Boundaries, Exits, boundaries

Verdict: TypeAlias = Literal["reject", "keep", "undecided"]


@dataclass(frozen=True, kw_only=True)
class SequentialResult(TestResult):
    """Where a rule stopped, and what is known then.

    Attributes
    ----------
    statistic : float
        The share of replicates at least as extreme as observed.
    pvalue : float
        A valid p-value of the null hypothesis.
    interval : Interval
        Where the p-value of infinitely many replicates lies, valid whenever the rule stopped.
    replicates, exceedances : int
        Up to the stop.
    verdict : "reject", "keep" or "undecided"
        What the rule is certain of, up to its risk; "undecided" where it makes no such claim.
    maximum : int
        The largest number of replicates.

    Examples
    --------
    >>> from sigstats.sequential.rules import BesagCliffordRule
    >>> result = BesagCliffordRule(maximum=999, exceedances=3).test([1, 0, 1, 0, 0, 1, 0, 1])
    >>> result.replicates, result.exceedances, result.pvalue
    (6, 3, 0.5)
    """

    interval: Interval
    replicates: int
    exceedances: int
    verdict: Verdict
    maximum: int


@dataclass(frozen=True, kw_only=True)
class FixedRule:
    """All replicates are drawn: p = (exceedances + 1) / (maximum + 1).

    Attributes
    ----------
    maximum : int
        The number of replicates, at least 1.

    Raises
    ------
    ValueError
        If `maximum` is not a whole number of at least 1.

    Examples
    --------
    >>> from sigstats.sequential.rules import FixedRule
    >>> FixedRule(maximum=3).test([0, 0]) is None, FixedRule(maximum=3).test([0, 0, 1]).pvalue
    (True, 0.5)
    """

    method: ClassVar[str] = "fixed"

    maximum: int

    def __post_init__(self) -> None:
        self._set(maximum=as_count(self.maximum, "maximum", minimum=1))

    def _set(self, **checked: Any) -> None:
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # the fields of a frozen rule, as plain numbers

    def test(self, exceeds: Any, *, confidence: float = 0.99) -> SequentialResult | None:
        """What these first replicates say; None if the rule has not stopped yet.

        Parameters
        ----------
        exceeds : array_like of bool or of 0 and 1
            Whether each replicate is at least as extreme as observed, in the order of the replicates, from the first
            on. What comes after the stop changes nothing.
        confidence : float
            Of the interval; strictly between 0 and 1.

        Returns
        -------
        SequentialResult or None

        Raises
        ------
        ValueError
            If `exceeds` is not a sequence of 0 and 1, or `confidence` is not in (0, 1).
        """
        confidence = as_real(confidence, "confidence", low=0, high=1, open_ends=True)
        flags = as_indicators(exceeds, "exceeds")[: self.maximum]
        n = self._stop(flags)
        if n is None:
            if flags.size < self.maximum:
                return None
            n = self.maximum
        s = int(np.count_nonzero(flags[:n]))
        pvalue, interval, verdict = self._evidence(n, s, confidence)
        return SequentialResult(
            statistic=s / n,
            pvalue=pvalue,
            method=self.method,
            interval=interval,
            replicates=n,
            exceedances=s,
            verdict=verdict,
            maximum=self.maximum,
        )

    def stops_at(self, p: float) -> int:
        """After how many replicates it stops if exceedances come evenly, one in 1/p.

        About as many can be expected of replicates that exceed with probability p, far from the rule's level.

        Parameters
        ----------
        p : float
            Between 0 and 1.

        Returns
        -------
        int
            At most `maximum`.

        Raises
        ------
        ValueError
            If `p` is not between 0 and 1.

        Examples
        --------
        >>> from sigstats.sequential.rules import BesagCliffordRule
        >>> rule = BesagCliffordRule(maximum=999, exceedances=10)
        >>> rule.stops_at(0.5), rule.stops_at(0.001)
        (20, 999)
        """
        return min(self._stop_evenly(as_real(p, "p", low=0, high=1)), self.maximum)

    def _stop_evenly(self, p: float) -> int:  # noqa: ARG002
        """As `stops_at`; more than `maximum` stands for never."""
        return self.maximum

    def _stop(self, flags: NDArray[np.bool_]) -> int | None:  # noqa: ARG002
        """After how many of these replicates to stop."""
        return None

    def _evidence(self, n: int, s: int, confidence: float) -> tuple[float, Interval, Verdict]:
        return monte_carlo_pvalue(s, n), monte_carlo_interval(s, n, confidence=confidence), "undecided"


@dataclass(frozen=True, kw_only=True)
class BesagCliffordRule(FixedRule):
    """Stop at a number of exceedances (Besag and Clifford 1991).

    Stopped at h exceedances after n replicates p = h / n; otherwise p = (exceedances + 1) / (maximum + 1).

    Attributes
    ----------
    maximum : int
        The largest number of replicates, at least 1.
    exceedances : int
        At how many exceedances to stop, at least 1. About 1 / sqrt(exceedances) is the relative error of p where the
        rule stops; see `deciding_exceedances` for the number that changes no verdict.

    Raises
    ------
    ValueError
        If a field is not a whole number of at least 1.

    Examples
    --------
    >>> from sigstats.sequential.rules import BesagCliffordRule
    >>> BesagCliffordRule(maximum=999, exceedances=10).test([0, 1] * 30).replicates
    20
    """

    method: ClassVar[str] = "besag-clifford"

    exceedances: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(exceedances=as_count(self.exceedances, "exceedances", minimum=1))

    def _stop(self, flags: NDArray[np.bool_]) -> int | None:
        return _first(np.cumsum(flags) >= self.exceedances)

    def _stop_evenly(self, p: float) -> int:
        return math.ceil(self.exceedances / p) if p * self.maximum > self.exceedances else self.maximum

    def _evidence(self, n: int, s: int, confidence: float) -> tuple[float, Interval, Verdict]:
        if s < self.exceedances:
            return super()._evidence(n, s, confidence)
        low = clopper_pearson(s, n, confidence=confidence).low
        # Ending no earlier than n means fewer exceedances than s in one replicate less.
        high = clopper_pearson(s - 1, n - 1, confidence=confidence).high
        return s / n, Interval(low, high, confidence), "undecided"


def deciding_exceedances(alpha: float, maximum: int) -> int:
    """The exceedances after which ``p <= alpha`` is out of reach, for `BesagCliffordRule`.

    A test that stops at so many has p > alpha, as it would have after all replicates; every other test goes through all
    of them. So each p-value of at most alpha is what it would be without stopping, and so is every decision at level
    alpha after an adjustment for multiplicity (Holm, Benjamini and Hochberg, Benjamini and Yekutieli).

    Parameters
    ----------
    alpha : float
        The level of the decision, strictly between 0 and 1.
    maximum : int
        The largest number of replicates, at least 1.

    Raises
    ------
    ValueError
        If `alpha` is not in (0, 1), or `maximum` is not a whole number of at least 1.

    Examples
    --------
    >>> from sigstats.sequential.rules import deciding_exceedances
    >>> deciding_exceedances(0.05, 999)
    50
    """
    alpha = as_real(alpha, "alpha", low=0, high=1, open_ends=True)
    maximum = as_count(maximum, "maximum", minimum=1)
    number = max(1, math.floor(alpha * maximum))
    while number / maximum <= alpha:  # in floating numbers, as a decision compares
        number += 1
    return number


@dataclass(frozen=True, kw_only=True)
class GandyRule(FixedRule):
    """Stop where it is certain, up to a bounded risk, on which side of a level p lies (Gandy 2009).

    Let p be that of infinitely many replicates. Whatever it is, the verdict contradicts it with probability at most
    `risk`: "keep" where ``p <= alpha``, or "reject" where ``p > reject_at``. Near the level the rule may reach its
    maximum undecided.

    The p-value is the probability, under the null hypothesis, of an end at least as extreme: at the lower boundary no
    later, or, after these, undecided with no more exceedances, or, after those, at the upper boundary no earlier. This
    order is kept when replicates turn from 0 to 1, so that the p-value is valid with ties too, and the interval is the
    set of p for which neither tail of the order is below half of 1 - confidence.

    The boundaries are computed replicate by replicate, as far as these go: where more than about a million are cheap
    enough to be drawn, another rule costs less.

    Attributes
    ----------
    maximum : int
        The largest number of replicates, at least 1.
    alpha : float
        The level of the decision, strictly between 0 and 1.
    reject_at : float or None
        The level below which a rejection is certain, greater than 0 and at most `alpha`, which is what None stands for.
        With an adjustment for multiplicity a test is rejected, whatever the others say, where p is at most this: under
        Holm, of m tests, alpha / m. It is kept, whatever the others say, where p is above `alpha`.
    risk : float
        The bound on the resampling risk, greater than 0 and at most 0.25.
    half_spent : int
        Gandy's k: after how many replicates half of the risk may be spent, at least 1.

    Raises
    ------
    ValueError
        If a field is out of its range.

    Examples
    --------
    >>> from sigstats.sequential.rules import GandyRule
    >>> rule = GandyRule(maximum=9999, alpha=0.05)
    >>> kept, rejected = rule.test([0, 1] * 100), rule.test([0] * 200)
    >>> kept.replicates, kept.verdict, round(kept.pvalue, 2)
    (14, 'keep', 0.48)
    >>> rejected.replicates, rejected.verdict, round(1 / rejected.pvalue)
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
        """Whether the verdict can be "reject": whether it is with no exceedance in `maximum` replicates.

        Examples
        --------
        >>> from sigstats.sequential.rules import GandyRule
        >>> [GandyRule(maximum=999, alpha=0.05, reject_at=0.05 / tests).can_reject for tests in (1, 20)]
        [True, False]
        """
        allowed = self.risk * self.maximum / (self.maximum + self.half_spent)
        return self.maximum * math.log1p(-self.rejection_level) <= math.log(allowed)

    def boundaries(self, size: int) -> Boundaries:
        """The boundaries for the first `size` replicates or more."""
        size = min(max(1024, 1 << (size - 1).bit_length()), self.maximum)
        return _boundaries(self.alpha, self.rejection_level, self.risk, self.half_spent, size)

    def _stop(self, flags: NDArray[np.bool_]) -> int | None:
        found, counts = self.boundaries(flags.size), np.cumsum(flags)
        return _first((counts <= found.lower[: counts.size]) | (counts >= found.upper[: counts.size]))

    def _stop_evenly(self, p: float) -> int:
        size = n = 0
        while not n and size < self.maximum:
            size = min(max(1024, 2 * size), self.maximum)
            n = self._stop(np.diff(np.floor(p * np.arange(size + 1))) > 0) or 0
        return n or self.maximum

    def _evidence(self, n: int, s: int, confidence: float) -> tuple[float, Interval, Verdict]:
        found = self.boundaries(n)
        low, inside, high = found.low, found.inside, found.high
        verdict: Verdict
        at_most: Callable[[float], float]
        at_least: Callable[[float], float]
        if s <= found.lower[n - 1]:
            ends = int(np.searchsorted(low.replicates, n)) + 1
            verdict, pvalue = "reject", low.first(ends).total
            at_most, at_least = low.first(ends).probability, _but(low.first(ends - 1))
        elif s >= found.upper[n - 1]:
            ends = int(np.searchsorted(high.replicates, n)) + 1
            verdict, pvalue = "keep", 1 - high.first(ends - 1).total
            at_most, at_least = _but(high.first(ends - 1)), high.first(ends).probability
        else:
            ends = int(np.searchsorted(inside.exceedances, s)) + 1
            # With no end below so far, exactly (s + 1) / (n + 1): on it an adjusted p-value may be equal to its level.
            verdict, pvalue = "undecided", low.total + float(inside.first(ends).weight.sum()) / (n + 1)
            at_most, at_least = _sum(low, inside.first(ends)), _sum(high, inside.after(ends - 1))
        tail = (1 - confidence) / 2
        return pvalue, Interval(_where(at_least, tail, 0.0), _where(at_most, tail, 1.0), confidence), verdict


@lru_cache(maxsize=16)
def _boundaries(alpha: float, reject_at: float, risk: float, half_spent: int, size: int) -> Boundaries:
    return boundaries(reject_at=reject_at, keep_at=alpha, risk=risk, half_spent=half_spent, size=size)


def _but(ends: Exits) -> Callable[[float], float]:
    """The probability of any other end."""
    return lambda p: 1 - ends.probability(p)


def _sum(*parts: Exits) -> Callable[[float], float]:
    """The probability of any of these ends."""
    return lambda p: sum(part.probability(p) for part in parts)


def _where(probability: Callable[[float], float], tail: float, end: float) -> float:
    """The p at which a monotone probability is `tail`; `end`, where it is largest or smallest, if it is more there."""
    from scipy.optimize import brentq

    if probability(end) >= tail:
        return end
    return float(brentq(lambda p: probability(p) - tail, 0.0, 1.0, xtol=1e-15, rtol=1e-13))


def _first(where: NDArray[np.bool_]) -> int | None:
    """The number of the first True, from 1."""
    return int(np.argmax(where)) + 1 if where.any() else None
