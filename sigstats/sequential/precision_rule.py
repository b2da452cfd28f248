"""A rule that stops where a rate is known as well as wanted, for simulation studies.

`sigstats.sequential.rules` says when not to use a rule at all.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._common.validation import as_real
from .rules import FixedRule, first_true


@dataclass(frozen=True, kw_only=True)
class PrecisionRule(FixedRule):
    """Stop where the rate of exceedances is known to a Monte-Carlo standard error.

    For a rate that is itself the result, such as that of rejections in a simulation study. Its p-value is computed as
    that of `FixedRule`, but the stop depends on the exceedances: the probability that p is at most a may exceed a, by
    some 3% of a where it was enumerated. `PrecisePRule` has a p-value that is valid after such a stop.

    Raises ValueError if a field is out of range.

    Attributes
    ----------
    maximum : int
        The largest number of replicates, at least 1.
    error : float
        The standard error wanted, sqrt(p (1 - p) / n), above 0 and below 1. The rate p in it is that of the replicates
        with two exceedances and two others added (Agresti and Coull 1998), so that no rule stops at once on a rate of
        0. The stop depends on the rate, which biases it by less than the error squared.
    alpha : float
        The level of the rejections that are counted.

    Examples
    --------
    The rate of 5% to half a point takes 1,900 replicates:

    >>> PrecisionRule(maximum=10_000, error=0.005, alpha=0.05).stops_at(0.05)
    1934
    """

    method: ClassVar[str] = "precision"

    error: float
    alpha: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(error=as_real(self.error, "error", low=0, high=1, open_ends=True))
        self._set(alpha=as_real(self.alpha, "alpha", low=0, high=1, open_ends=True))

    def _stop(self, flags: NDArray[np.bool_]) -> int | None:
        n = np.arange(1, flags.size + 1)
        return first_true(self._precise(np.cumsum(flags), n))

    def _precise(self, exceedances: Any, n: Any) -> Any:
        p = (exceedances + 2) / (n + 4)
        return p * (1 - p) <= n * self.error**2

    def _stop_evenly(self, p: float) -> int:
        n = np.arange(1, self.maximum + 1)
        return first_true(self._precise(p * n, n)) or self.maximum
