"""What counts as a regression, and what a comparison says of one measure on one slice."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from sigstats.multiplicity import adjust
from sigstats.tasks.plan import Adjustment

from ..config.study import Strict

Verdict = Literal["pass", "warn", "fail"]

#: The measures of predictions that can be asked for, each one the better the larger it is.
MEASURES = ("accuracy", "balanced-accuracy", "macro-f1", "macro-precision", "macro-recall", "mcc", "kappa")
#: Those of scores: the first three are of the probability of the positive class, the last one is of any number.
SCORE_MEASURES = ("auc", "neg-log-loss", "neg-brier", "mean-score")
#: Those that are no share of anything.
IN_UNITS = ("neg-log-loss", "neg-brier", "mean-score")
ALL = "all rows"
_MOST_RESAMPLES = 10**6


class Rule(Strict):
    """What counts as a regression.

    A test fails if the candidate is worse with an adjusted one-sided p of at most `alpha` and by at least
    `minimum_effect`; it warns if the interval of the difference reaches below minus `margin`, so that the data do not
    exclude a drop that matters; else it passes.
    """

    alpha: Annotated[float, Field(gt=0, lt=1, description="The level of the one-sided tests")] = 0.05
    adjust: Annotated[Adjustment, Field(description="The adjustment over all slices and measures")] = "holm"
    minimum_effect: Annotated[float, Field(ge=0, le=1, description="The smallest drop that counts")] = 0.005
    margin: Annotated[float, Field(ge=0, le=1, description="The drop that a pass must exclude")] = 0.005
    confidence: Annotated[float, Field(gt=0, lt=1, description="Of the intervals")] = 0.95
    resamples: Annotated[
        int, Field(ge=99, le=_MOST_RESAMPLES, description="Bootstrap replicates, or more where the level needs them")
    ] = 10_000
    seed: Annotated[int, Field(ge=0, lt=2**63, description="Of the bootstrap")] = 0
    smallest_slice: Annotated[int, Field(ge=1, description="Slices with fewer rows are not tested")] = 10

    def level_of_one(self, tests: int) -> float:
        """The largest p-value with which one of so many tests is rejected, whatever those of the others are.

        Examples
        --------
        >>> from sigstats.flows.comparison.rule import Rule
        >>> round(Rule().level_of_one(10), 6), Rule(adjust="none").level_of_one(10)
        (0.005, 0.05)
        """
        if self.adjust == "none":
            return self.alpha
        small = 1e-12
        return self.alpha / (float(adjust([small, *[1.0] * (tests - 1)], method=self.adjust)[0]) / small)

    def resolving(self, level: float) -> "Rule":
        """The rule with as many resamples as a bootstrap needs to find a p of at most `level`, twice over."""
        needed = min(math.ceil(2 / level), _MOST_RESAMPLES)
        return self if self.resamples >= needed else self.model_copy(update={"resamples": needed})

    def in_words(self, measures: Iterable[str]) -> str:
        """The rule in a sentence, for these measures."""
        adjusted = "" if self.adjust == "none" else f", adjusted by {self.adjust}"
        units = {measure in IN_UNITS for measure in measures}

        def amount(value: float) -> str:
            if units == {True}:
                return f"{value:g}"
            return f"{100 * value:g} points" + (f" ({value:g} of a mark or loss)" if True in units else "")

        return (
            f"fail where the candidate is worse with one-sided p <= {self.alpha:.3g}{adjusted} and by at least "
            f"{amount(self.minimum_effect)}; warn where the {100 * self.confidence:g}% interval reaches below "
            f"-{amount(self.margin)}"
        )


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measure on one slice.

    Attributes
    ----------
    slice, measure : str
    n : int
        Rows.
    baseline, candidate : float or None
        The measure of both.
    baseline_interval, candidate_interval : tuple of float or None
        Of the accuracy Clopper and Pearson's, of scores those of their test, of others percentiles of the bootstrap.
    difference, low, high : float or None
        Candidate less baseline, and its interval.
    test : str
        How `p_worse` was found.
    p_worse : float or None
        One-sided p-value of "the candidate is not worse".
    p_differs : float or None
        Two-sided p-value of "both are equally good".
    p_adjusted : float or None
        `p_worse`, adjusted.
    pd, psd, nsd : float or None
        Possibilistic indices of "not worse" against "worse".
    detectable : float or None
        The smallest drop that this many rows show with power 0.8, given how often the models disagree, at the level
        that one test has among all of them.
    verdict : "pass", "warn", "fail" or None
        None where nothing was tested.
    note : str
    """

    slice: str
    measure: str
    n: int
    baseline: float | None = None
    candidate: float | None = None
    baseline_interval: tuple[float, float] | None = None
    candidate_interval: tuple[float, float] | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    test: str = ""
    p_worse: float | None = None
    p_differs: float | None = None
    p_adjusted: float | None = None
    pd: float | None = None
    psd: float | None = None
    nsd: float | None = None
    detectable: float | None = None
    verdict: Verdict | None = None
    note: str = ""
