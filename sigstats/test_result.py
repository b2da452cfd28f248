"""What every test returns: a frozen record whose ``repr`` is the call that makes it again."""

from dataclasses import dataclass, field
from typing import Any

from ._common.error_bounds import ROUNDING
from ._common.extreme import monte_carlo_pvalue
from .intervals import Interval, monte_carlo_interval


@dataclass(frozen=True, kw_only=True)
class TestResult:
    """The result of a test; each test adds fields of its own.

    Attributes
    ----------
    statistic : float
        The test statistic, in the unit the test's docstring states.
    pvalue : float
        The probability, under the null hypothesis, of an outcome at least as extreme as the observed one.
    method : str
        The name of the method of the p-value.
    alternative : str
        ``"two-sided"``, ``"greater"`` or ``"less"``.
    pvalue_interval : Interval or None
        The Monte-Carlo interval of the p-value, or certified bounds of it; None if the p-value is exact or asymptotic.
    replicates : int or None
        The number of random replicates; None if none were drawn.
    exceedances : int or None
        The number of replicates at least as extreme as observed.
    reason : str
        The reason for the choice of the method, and any warning about its assumptions; empty if there is none.
    error_bound : float or None
        A bound on the relative error of `pvalue` that is due to arithmetic, relative to the larger of `pvalue` and the
        exact value of the method: 2**-53 after one division of integers, 1 if a positive p-value is below the smallest
        double (docs/methods.md, "How sure the number is"). None for approximations by a normal, Student's t, F or
        chi-square distribution.
    """

    __test__ = False  # not a test case, whatever its name tells a test runner

    statistic: float
    pvalue: float
    method: str
    alternative: str = "greater"
    pvalue_interval: Interval | None = field(default=None)
    replicates: int | None = None
    exceedances: int | None = None
    reason: str = ""
    error_bound: float | None = None


def monte_carlo_outcome(exceedances: int, replicates: int) -> dict[str, Any]:
    """The fields of a `TestResult` that random replicates decide.

    Examples
    --------
    >>> from sigstats.test_result import TestResult, monte_carlo_outcome
    >>> result = TestResult(statistic=3.2, method="monte-carlo", **monte_carlo_outcome(4, 999))
    >>> result.pvalue, round(result.pvalue_interval.high, 6)
    (0.005, 0.012553)
    """
    return {
        "pvalue": monte_carlo_pvalue(exceedances, replicates),
        "pvalue_interval": monte_carlo_interval(exceedances, replicates),
        "replicates": replicates,
        "exceedances": exceedances,
        "error_bound": ROUNDING,
    }
