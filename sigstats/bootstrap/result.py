"""The result of the bootstrap test.

When not to use: to make one by hand; `sigstats.bootstrap_test` makes it.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._common.numerals import p_number
from .._common.plots import Drawn, histogram
from .._common.tabular import in_words
from .._common.validation import as_real, refuse
from ..intervals import Interval
from ..test_result import TestResult


@dataclass(frozen=True, kw_only=True)
class BootstrapResult(Drawn, TestResult):
    """The result of `bootstrap_test`.

    Attributes
    ----------
    statistic, estimate : float
        The measure of A less that of B, on the test set.
    pvalue : float
        The smallest alpha at which the interval of confidence 1 - alpha leaves `null_value` out.
    exceedances : int
        How many of the replicates it was counted from; two-sided, those in the smaller tail.
    confidence_interval : Interval
        The interval of the difference.
    probability, probability_tied : float
        The share of replicates in which A is better, eq. (13), and in which both are equal.
    value_a, value_b : float
        The measure of each classifier on the test set.
    mean, standard_error : float
        The mean and the standard deviation of the replicates.
    null_value : float
        The hypothetical difference.
    undefined : int
        The number of replicates in which 0/0 occurred and counted as 0.
    measure : str
        The name of the measure.
    bootstrap_distribution : tuple of float or None
        The replicates of the difference, in the order in which they were drawn; None unless they were kept
        (``keep_replicates=True``). Not shown by ``repr`` and not compared by ``==``.
    """

    _question = "Bootstrap test: do A and B have the same value of the measure?"
    _null = "they have"

    confidence_interval: Interval
    estimate: float
    probability: float
    probability_tied: float
    value_a: float
    value_b: float
    mean: float
    standard_error: float
    null_value: float
    undefined: int
    measure: str
    bootstrap_distribution: tuple[float, ...] | None = field(default=None, repr=False, compare=False)

    def _sentence(self, p: str) -> str:
        return (
            f"A - B of the {self.measure}: an interval of confidence 1 - {p} is the widest that leaves "
            f"{in_words(self.null_value)} out; A is better in a share {in_words(self.probability)} of the resamples."
        )

    def _draw(self, ax: Any) -> Any:
        title = f"A − B of {self.measure}: p = {p_number(self.pvalue)}"
        low, high = self.confidence_interval
        marks = {"observed": self.estimate, "interval from": low, "to": high}
        return histogram(ax, self._kept(), marks, title=title, unit=f"{self.measure} of A less that of B")

    def _kept(self) -> tuple[float, ...]:
        if self.bootstrap_distribution is None:
            raise refuse(
                "bootstrap_distribution", None, "replicates that were kept: bootstrap_test(keep_replicates=True)"
            )
        return self.bootstrap_distribution

    def probability_between(self, low: float, high: float) -> float:
        """The share of replicates whose difference A - B is above `low` and below `high`, p(a < dF1 < b).

        Keller, Mariethoz and Bengio, eq. (14), whose dF1 is B - A; half-lines are ``-inf`` and ``inf``.

        Parameters
        ----------
        low, high : float

        Raises
        ------
        ValueError
            If the replicates were not kept, or `low` is above `high`.

        Examples
        --------
        >>> import sigstats
        >>> outcomes = sigstats.JointOutcomes(e1=40, e2=12, e3=5, e4=3, e5=2, e6=6, e7=9, e8=123)
        >>> result = sigstats.bootstrap_test(outcomes, rng=1, keep_replicates=True)
        >>> round(result.probability_between(-0.15, -0.05), 1)
        0.7
        """
        drawn = np.array(self._kept())
        ends = [
            end if end in (-math.inf, math.inf) else as_real(end, name) for end, name in ((low, "low"), (high, "high"))
        ]
        if ends[0] > ends[1]:
            raise refuse("low", low, f"at most high, {high!r}")
        return float(((drawn > ends[0]) & (drawn < ends[1])).mean())
