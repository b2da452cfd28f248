"""The result of a stopping rule."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..intervals import Interval
from ..test_result import TestResult

Verdict: TypeAlias = Literal["reject", "keep", "undecided"]


@dataclass(frozen=True, kw_only=True)
class SequentialResult(TestResult):
    """The stop of a rule, and what is known then.

    Attributes
    ----------
    statistic : float
        The share of replicates at least as extreme as observed.
    pvalue : float
        A valid p-value of the null hypothesis.
    pvalue_interval : Interval
        An interval of the p-value of infinitely many replicates, valid whenever the rule stopped.
    replicates, exceedances : int
        Their numbers up to the stop.
    verdict : "reject", "keep" or "undecided"
        The decision that the rule makes up to its risk; "undecided" if it makes none.
    maximum : int
        The largest number of replicates.

    Examples
    --------
    >>> import sigstats
    >>> result = sigstats.BesagCliffordRule(maximum=999, exceedances=3).test([1, 0, 1, 0, 0, 1, 0, 1])
    >>> result.replicates, result.exceedances, result.pvalue
    (6, 3, 0.5)
    """

    _question = "Sequential Monte-Carlo test: does the null hypothesis hold?"
    _null = "it does"

    pvalue_interval: Interval
    replicates: int
    exceedances: int
    verdict: Verdict
    maximum: int
