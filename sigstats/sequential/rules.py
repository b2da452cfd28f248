"""Rules that stop drawing replicates of a Monte-Carlo or permutation test, and the p-value to report then.

A rule looks at the replicates one by one in their order, so it stops at a point that depends only on them. An
*exceedance* is a replicate that is at least as extreme as the observed statistic.

- `FixedRule` does not stop: the p-value is as fine as the replicates allow. It is the base class of the other rules.
- `BesagCliffordRule` stops after enough exceedances: p is then large.
- `GandyRule` (`gandy_rule.py`) stops once it is certain, up to a risk that is bounded for every p, on which side of the
  level p lies. It stops soonest if p is far from the level, on either side: choose it if a replicate costs much and
  only the verdict matters.
- `PrecisionRule` and `PrecisePRule` (`precision_rules.py`) stop once a rate, or a p-value, is precise enough.

After each rule the p-value is valid: under the null hypothesis P(p <= a) <= a for every a, since it is the exact
probability of ending at least as extremely. The usual ``(exceedances + 1) / (replicates + 1)`` is not valid after a
stop that depended on the exceedances.

Do not use a rule if small p-values themselves matter: a stopped test has a p-value of at least 1 / (replicates + 1),
and ranks, adjusted p-values and possibilistic indices depend on it. Do not use one to continue after a look at the
result: a rule, like its maximum, is chosen before the first replicate. Many tests whose replicates cost much are best
stopped together (`sigstats.sequential.joint_rule`).

Besag and Clifford, Biometrika 78 (1991). Gandy, Journal of the American Statistical Association 104 (2009). Fay, Kim
and Hachey, Journal of Computational and Graphical Statistics 16 (2007).
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._common.extreme import ROUNDING, error_bound, monte_carlo_pvalue
from .._common.validation import as_count, as_indicators, as_real
from ..intervals import Interval, clopper_pearson
from ..test_result import TestResult

Verdict: TypeAlias = Literal["reject", "keep", "undecided"]


@dataclass(frozen=True, kw_only=True)
class SequentialResult(TestResult):
    """The end of a rule, and the results at that point.

    Attributes
    ----------
    statistic : float
        The share of exceedances among the replicates.
    pvalue : float
        A valid p-value of the null hypothesis.
    pvalue_interval : Interval
        An interval of the p-value of infinitely many replicates, valid whenever the rule stopped.
    n_resamples, exceedances : int
        The numbers of replicates and exceedances up to the stop.
    verdict : "reject", "keep" or "undecided"
        The decision that the rule makes up to its risk; "undecided" if it makes none.
    maximum : int
        The largest number of replicates.

    Examples
    --------
    >>> import sigstats
    >>> result = sigstats.BesagCliffordRule(maximum=999, exceedances=3).test([1, 0, 1, 0, 0, 1, 0, 1])
    >>> result.n_resamples, result.exceedances, result.pvalue
    (6, 3, 0.5)
    """

    _question = "Sequential Monte-Carlo test: does the null hypothesis hold?"
    _null = "it does"

    pvalue_interval: Interval
    n_resamples: int
    exceedances: int
    verdict: Verdict
    maximum: int


@dataclass(frozen=True, kw_only=True)
class FixedRule:
    """Draw all replicates: p = (exceedances + 1) / (maximum + 1).

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
    >>> import sigstats
    >>> sigstats.FixedRule(maximum=3).test([0, 0]) is None, sigstats.FixedRule(maximum=3).test([0, 0, 1]).pvalue
    (True, 0.5)
    """

    method: ClassVar[str] = "fixed"

    maximum: int

    def __post_init__(self) -> None:
        self._set(maximum=as_count(self.maximum, "maximum", minimum=1))

    def _set(self, **checked: Any) -> None:
        """Set fields of the frozen rule to checked values, as plain numbers."""
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def test(self, exceeds: Any, *, confidence_level: float = 0.99) -> SequentialResult | None:
        """Compute the result of the first replicates; None if the rule has not stopped yet.

        Parameters
        ----------
        exceeds : array_like of bool or of 0 and 1
            Whether each replicate, in order from the first, is an exceedance; replicates after the stop are ignored.
            Null hypothesis: all are equally likely to be the observed one.
        confidence_level : float
            The confidence of the interval, strictly between 0 and 1.

        Returns
        -------
        SequentialResult or None

        Raises
        ------
        ValueError
            If `exceeds` is not a sequence of 0 and 1, or `confidence_level` is not in (0, 1).
        """
        confidence_level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
        flags = as_indicators(exceeds, "exceeds")[: self.maximum]
        n = self._stop(flags)
        if n is None:
            if flags.size < self.maximum:
                return None
            n = self.maximum
        return self.stopped(flags, n, confidence_level=confidence_level)

    def stopped(self, exceeds: NDArray[np.bool_], n: int, *, confidence_level: float = 0.99) -> SequentialResult:
        """Return the result of a test that ends after `n` of these replicates."""
        return self.of_counts(n, int(np.count_nonzero(exceeds[:n])), confidence_level=confidence_level)

    def of_counts(self, n: int, s: int, *, confidence_level: float = 0.99) -> SequentialResult:
        """Return the result of a test that ends after `n` replicates, `s` of them exceedances."""
        pvalue, interval, verdict = self._evidence(n, s, confidence_level)
        return SequentialResult(
            statistic=s / n,
            pvalue=pvalue,
            method=self.method,
            pvalue_interval=interval,
            n_resamples=n,
            exceedances=s,
            verdict=verdict,
            maximum=self.maximum,
            error_bound=error_bound(pvalue, self._error(n, pvalue, verdict)),
        )

    def stops_at(self, pvalue: float) -> int:
        """Return the number of replicates at the stop if exceedances are evenly spaced, one in 1/pvalue.

        If they are random with this probability, the expected number is about the same, far from the rule's level.

        Parameters
        ----------
        pvalue : float
            Between 0 and 1.

        Returns
        -------
        int
            At most `maximum`.

        Raises
        ------
        ValueError
            If `pvalue` is not between 0 and 1.

        Examples
        --------
        >>> import sigstats
        >>> rule = sigstats.BesagCliffordRule(maximum=999, exceedances=10)
        >>> rule.stops_at(0.5), rule.stops_at(0.001)
        (20, 999)
        """
        return min(self._stop_evenly(as_real(pvalue, "pvalue", low=0, high=1)), self.maximum)

    # Other rules override the methods below.

    def _stop_evenly(self, p: float) -> int:  # noqa: ARG002
        """Return the result of `stops_at`; `maximum` or more means never."""
        return self.maximum

    def _stop(self, flags: NDArray[np.bool_]) -> int | None:  # noqa: ARG002
        """Return the number of these replicates at the stop; None if the rule goes on after them."""
        return None

    def _error(self, n: int, pvalue: float, verdict: Verdict) -> float:  # noqa: ARG002
        """Return the relative error of the p-value."""
        return ROUNDING

    def _evidence(self, n: int, s: int, confidence_level: float) -> tuple[float, Interval, Verdict]:
        """Return the p-value, its interval and the verdict after `n` replicates with `s` exceedances."""
        return monte_carlo_pvalue(s, n), clopper_pearson(s, n, confidence_level=confidence_level), "undecided"


@dataclass(frozen=True, kw_only=True)
class BesagCliffordRule(FixedRule):
    """Stop at a number of exceedances (Besag and Clifford 1991).

    After a stop at h exceedances in n replicates, p = h / n; without a stop, p = (exceedances + 1) / (maximum + 1).

    Attributes
    ----------
    maximum : int
        The largest number of replicates, at least 1.
    exceedances : int
        The number of exceedances at which to stop, at least 1. The relative error of p is then about
        1 / sqrt(exceedances); `deciding_exceedances` gives the number that changes no verdict.

    Raises
    ------
    ValueError
        If a field is not a whole number of at least 1.

    Examples
    --------
    >>> import sigstats
    >>> sigstats.BesagCliffordRule(maximum=999, exceedances=10).test([0, 1] * 30).n_resamples
    20
    """

    method: ClassVar[str] = "besag-clifford"

    exceedances: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(exceedances=as_count(self.exceedances, "exceedances", minimum=1))

    def _stop(self, flags: NDArray[np.bool_]) -> int | None:
        return first_true(np.cumsum(flags) >= self.exceedances)

    def _stop_evenly(self, p: float) -> int:
        return math.ceil(self.exceedances / p) if p * self.maximum > self.exceedances else self.maximum

    def _evidence(self, n: int, s: int, confidence_level: float) -> tuple[float, Interval, Verdict]:
        if s < self.exceedances:
            return super()._evidence(n, s, confidence_level)
        low = clopper_pearson(s, n, confidence_level=confidence_level).low
        # A rule that ends at replicate n or later had fewer than s exceedances in the n - 1 replicates before.
        high = clopper_pearson(s - 1, n - 1, confidence_level=confidence_level).high
        return s / n, Interval(low, high, confidence_level), "undecided"


def deciding_exceedances(alpha: float, maximum: int) -> int:
    """Return the exceedances after which `BesagCliffordRule` cannot reach ``p <= alpha`` within its maximum.

    A test that stops after this many has p > alpha, as it would have after all replicates; every other test uses all of
    them. So each p-value of at most alpha is the same as without stopping, and so is every decision at level alpha
    after an adjustment for multiplicity (Holm, Benjamini and Hochberg, Benjamini and Yekutieli).

    Raises ValueError if `alpha` is not in (0, 1), or `maximum` is not a whole number of at least 1.

    >>> deciding_exceedances(0.05, 999)
    50
    """
    alpha = as_real(alpha, "alpha", low=0, high=1, open_ends=True)
    maximum = as_count(maximum, "maximum", minimum=1)
    number = max(1, math.floor(alpha * maximum))
    while number / maximum <= alpha:  # in floating numbers, as a decision compares
        number += 1
    return number


def first_true(where: NDArray[np.bool_]) -> int | None:
    """Return the position of the first True, from 1; None if there is none."""
    return int(np.argmax(where)) + 1 if where.any() else None
