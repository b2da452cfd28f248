"""Rules that stop at the wanted precision of a rate, for simulation studies, or of a p-value, which stays valid."""

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._common.validation import as_count, as_counts, as_real
from ..intervals import Interval
from .exits import Boundaries, evidence, exits, one_more
from .rules import FixedRule, SequentialResult, Verdict, first_true


@dataclass(frozen=True, kw_only=True)
class PrecisionRule(FixedRule):
    """Stop when the rate of exceedances is known to a Monte-Carlo standard error, absolute or relative.

    Use it if the rate itself is the result, such as the rate of rejections in a simulation. The p-value is computed as
    that of `FixedRule`, but the stop depends on the exceedances: the probability that p is at most a may exceed a, by
    some 3% of a in enumerated cases. `PrecisePRule` has a p-value that is valid after such a stop.

    Raises ValueError if a field is out of range, or neither `error` nor `exceedances` is given.

    Attributes
    ----------
    maximum : int
        The largest number of replicates, at least 1.
    error : float, optional
        The standard error wanted, sqrt(p (1 - p) / n), above 0 and below 1. The rate p in it is that of the replicates
        with two exceedances and two others added (Agresti and Coull 1998), so that no rule stops at once on a rate of
        0. The stop depends on the rate, which biases it by less than the error squared.
    alpha : float
        The level of the rejections that are counted.
    exceedances : int, optional
        Stop at this number k of exceedances too: the relative standard error of a small rate is then 1/sqrt(k). The
        interval of Clopper and Pearson stays valid after this stop, since the law of the stop has the same lower end
        and a smaller upper one.
    every : int
        The rule looks after each block of this many replicates, and receives the number of exceedances in each block.
        The lower end of the interval may then be wrong 1.6 times as often as stated after a stop at `exceedances`.

    Examples
    --------
    The rate of 5% to half a point takes 1,900 replicates, and 100 exceedances take 2,000:

    >>> PrecisionRule(maximum=10_000, error=0.005, alpha=0.05).stops_at(0.05)
    1934
    >>> PrecisionRule(maximum=10_000, exceedances=100).stops_at(0.05)
    2000
    """

    method: ClassVar[str] = "precision"

    error: float | None = None
    alpha: float = 0.05
    exceedances: int | None = None
    every: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.error is None and self.exceedances is None:
            raise ValueError("error: is missing; expected a standard error, or a number of exceedances")
        if self.error is not None:
            self._set(error=as_real(self.error, "error", low=0, high=1, open_ends=True))
        if self.exceedances is not None:
            self._set(exceedances=as_count(self.exceedances, "exceedances", minimum=1))
        self._set(alpha=as_real(self.alpha, "alpha", low=0, high=1, open_ends=True))
        self._set(every=as_count(self.every, "every", minimum=1))

    def test(self, exceeds: Any, *, confidence_level: float = 0.99) -> SequentialResult | None:
        """Test as `FixedRule.test` does; if the rule looks at blocks, `exceeds` has the exceedances of each block."""
        if self.every == 1:
            return super().test(exceeds, confidence_level=confidence_level)
        totals = np.cumsum(as_counts(exceeds, "exceeds", ndim=1, minimum_size=0))
        drawn = np.minimum(self.every * np.arange(1, totals.size + 1), self.maximum)
        ended = self._precise(totals, drawn) | (drawn == self.maximum)
        looks = first_true(ended)
        if looks is None:
            return None
        return self.of_counts(int(drawn[looks - 1]), int(totals[looks - 1]), confidence_level=confidence_level)

    def _stop(self, flags: NDArray[np.bool_]) -> int | None:
        return first_true(self._precise(np.cumsum(flags), np.arange(1, flags.size + 1)))

    def _precise(self, exceedances: Any, n: Any) -> Any:
        p = (exceedances + 2) / (n + 4)
        enough = exceedances >= (math.inf if self.exceedances is None else self.exceedances)
        return enough if self.error is None else enough | (p * (1 - p) <= n * self.error**2)

    def _stop_evenly(self, p: float) -> int:
        n = 1 + bisect_left(range(1, self.maximum), True, key=lambda n: bool(self._precise(p * n, n)))
        return -(-n // self.every) * self.every


@dataclass(frozen=True, kw_only=True)
class PrecisePRule(FixedRule):
    """Stop when p is known to a Monte-Carlo standard error.

    The p-value is the probability, under the null hypothesis, of an end at least as extreme
    (`sigstats.sequential.exits.evidence`). Computing it takes some nanoseconds times the square of the number of
    replicates, once for all tests of a rule: seconds for 60,000 replicates.

    Raises ValueError if a field is out of range.

    Attributes
    ----------
    maximum : int
        The largest number of replicates, at least 1.
    error : float
        The standard error wanted, as in `PrecisionRule`; an interval of 95% is about four times as wide.

    Examples
    --------
    >>> rule = PrecisePRule(maximum=9_999, error=0.01)
    >>> rule.stops_at(0.5), rule.stops_at(0.05)
    (2500, 495)
    >>> result = rule.test([0, 0, 0, 1] * 1000)
    >>> result.n_resamples, round(result.pvalue, 3), round(result.pvalue_interval.high, 3)
    (1877, 0.25, 0.277)
    """

    method: ClassVar[str] = "precise-p"

    error: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(error=as_real(self.error, "error", low=0, high=1, open_ends=True))

    def _stop(self, flags: NDArray[np.bool_]) -> int | None:
        return first_true(_precise(np.cumsum(flags), np.arange(1, flags.size + 1), self.error))

    def _stop_evenly(self, p: float) -> int:
        n = np.arange(1, self.maximum + 1)
        return first_true(_precise(np.floor(p * n), n, self.error)) or self.maximum

    def _evidence(self, n: int, s: int, confidence_level: float) -> tuple[float, Interval, Verdict]:
        size = min(max(1024, 1 << (n - 1).bit_length()), self.maximum)
        pvalue, interval, _ = evidence(_boundaries(self.error, size), n, s, confidence_level)
        return pvalue, interval, "undecided"


def _precise(exceedances: Any, n: Any, error: float) -> Any:
    """Return True if p is precise enough; the same for as many exceedances as other replicates."""
    return (exceedances + 2.0) * (n - exceedances + 2.0) <= error**2 * n * (n + 4.0) ** 2


@lru_cache(maxsize=16)
def _boundaries(error: float, size: int) -> Boundaries:
    """Return the ends of the rule in the first `size` replicates, or until every path has ended."""
    lower, upper = np.empty((2, size), dtype=np.int64)
    low: list[tuple[int, int, float]] = []
    high: list[tuple[int, int, float]] = []
    below, weight = -1, np.ones(1)  # the share of all paths to below + 1, below + 2, ... that have not ended
    for n in range(1, size + 1):
        s = np.arange(below + 1, below + 2 + weight.size)
        weight = one_more(weight, s, n)
        ends = _precise(s, n, error)
        under, over = int(np.count_nonzero(ends & (2 * s <= n))), int(np.count_nonzero(ends & (2 * s > n)))
        low.extend((n, below + 1 + i, float(weight[i])) for i in range(under))
        high.extend((n, below + weight.size - i, float(weight[-1 - i])) for i in range(over))
        upper[n - 1] = below + 1 + weight.size - over
        below += under
        lower[n - 1] = below
        weight = weight[under : weight.size - over]
        if not weight.size:
            break
    left = [(size, below + 1 + i, float(share)) for i, share in enumerate(weight)]
    return Boundaries(lower, upper, exits(low), exits(high), exits(left))
