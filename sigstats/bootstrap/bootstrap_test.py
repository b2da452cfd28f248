"""The bootstrap test for the difference of any measure of two classifiers on one test set.

A measure of labels depends only on the counts of the distinct joint events. They are drawn instead of rows (Keller,
Mariethoz and Bengio, section 4), so a replicate costs the same for a thousand observations as for a billion.

When not to use: with few observations on which the two differ, as docs/findings.md shows; the interval of F1 is then
`sigstats.f1_difference_interval`. For accuracy use the exact `sigstats.mcnemar_test`. Observations must be independent,
and the test is about two trained classifiers, not about learning algorithms.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._common.calls import takes_counts
from .._common.drawing import histogram
from .._common.random_streams import MAX_RESAMPLES
from .._common.tabular import in_words
from .._common.validation import (
    ALTERNATIVES,
    Alternative,
    FloatArray,
    Labels,
    as_choice,
    as_count,
    as_flag,
    as_labels,
    as_real,
    refuse,
)
from ..intervals import Interval, clopper_pearson
from ..joint.events import JointCounts, JointEvents, as_joint_counts
from ..joint.outcomes import JointOutcomes
from ..measures.measure import Measure, as_measure
from ..measures.table import refers_to_one_class
from ..test_result import TestResult
from .replicates import (
    BOOTSTRAP_METHODS,
    BootstrapMethod,
    acceleration,
    bootstrap_replicates,
    check_resamples,
    evaluate,
    infer,
)


@dataclass(frozen=True, kw_only=True)
class BootstrapResult(TestResult):
    """The result of `bootstrap_test`.

    Attributes
    ----------
    statistic, estimate : float
        The measure of A minus that of B, on the test set.
    pvalue : float
        The smallest alpha at which the interval of confidence 1 - alpha excludes `null_value`.
    exceedances : int
        The number of replicates behind the p-value; two-sided, those in the smaller tail.
    pvalue_interval : Interval or None
        The 99% Monte-Carlo interval of the p-value of infinitely many replicates; None for ``"bca"``.
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
            f"A - B of the {self.measure}: 1 - {p} is the largest confidence at which the interval excludes "
            f"{in_words(self.null_value)}; the share of resamples where A is better is {in_words(self.probability)}."
        )

    def _draw(self, ax: Any) -> Any:
        low, high = self.confidence_interval
        marks = {"observed": self.estimate, "interval from": low, "to": high}
        return histogram(ax, self._kept(), marks, unit=f"{self.measure} of A minus that of B")

    def _kept(self) -> tuple[float, ...]:
        if self.bootstrap_distribution is None:
            expected = "replicates that were kept: bootstrap_test(keep_replicates=True)"
            raise refuse("bootstrap_distribution", None, expected)
        return self.bootstrap_distribution

    def probability_between(self, low: float, high: float) -> float:
        """Return the share of replicates with a difference A - B between `low` and `high`, p(a < dF1 < b).

        Keller, Mariethoz and Bengio, eq. (14), with dF1 as B - A; half-lines are ``-inf`` and ``inf``.

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
        ends = {"low": low, "high": high}.items()
        first, last = (end if end in (-math.inf, math.inf) else as_real(end, name) for name, end in ends)
        if first > last:
            raise refuse("low", low, f"at most high, {high!r}")
        drawn = np.array(self._kept())
        return float(((drawn > first) & (drawn < last)).mean())


#: With fewer disagreements the result carries a warning.
FEW_DISAGREEMENTS = 20


def _of_labels(
    y: Labels,
    a: Labels,
    b: Labels,
    *,
    positive: Any = None,
    measure: str | Measure | Callable[..., Any] = "f1",
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: Any = None,
    method: BootstrapMethod = "percentile",
    alternative: Alternative = "two-sided",
    null_value: float = 0.0,
    keep_replicates: bool = False,
) -> BootstrapResult:
    """`bootstrap_test` of the true labels `y` and those that A and B assigned, with its options."""
    chosen = as_measure(measure)
    of_one_class = chosen.function is not None or refers_to_one_class(chosen.name)
    outcomes: JointCounts
    if positive is None and (not of_one_class or len(set(as_labels(y, "y").tolist())) > 2):
        outcomes = JointEvents.from_predictions(y, a, b)
    else:
        outcomes = JointOutcomes.from_predictions(y, a, b, positive=positive)
    options: dict[str, Any] = {"n_resamples": n_resamples, "confidence_level": confidence_level, "rng": rng}
    options |= {"method": method, "alternative": alternative, "keep_replicates": keep_replicates}
    return bootstrap_test(outcomes, measure=chosen, null_value=null_value, **options)


@takes_counts(1, _of_labels)
def bootstrap_test(
    outcomes: JointCounts,
    *,
    measure: str | Measure | Callable[..., Any] = "f1",
    n_resamples: int = 10_000,
    confidence_level: float = 0.95,
    rng: Any = None,
    method: BootstrapMethod = "percentile",
    alternative: Alternative = "two-sided",
    null_value: float = 0.0,
    keep_replicates: bool = False,
) -> BootstrapResult:
    """Test whether two classifiers are equally good by any measure of labels, with the difference and its interval.

    Null hypothesis: in the population of the independent observations, the measures differ by `null_value`.

    Parameters
    ----------
    outcomes : JointOutcomes or JointEvents
        The joint outcomes of A and B on at least one observation.
    measure : str, Measure or callable
        As for ``sigstats.measures.measure.as_measure``: a name such as ``"f1"`` or ``"macro-f1"``, or a function of
        arrays ``tp, fn, fp, tn``.
    n_resamples, rng : int; None, int, SeedSequence, BitGenerator or Generator
        Number and source of the replicates.
    confidence_level : float
        Of the interval, strictly between 0 and 1.
    method : {"percentile", "centred", "bca"}
        ``"percentile"``: equal shares of the replicates lie beyond either end (Efron and Tibshirani). ``"centred"``:
        the ends are equally far from the replicates' mean, and the stated share of the replicates lies between them, as
        Keller et al. have it; two-sided only. ``"bca"``: bias-corrected and accelerated (Efron), second-order correct,
        with the jackknife over distinct events.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: the measure of A exceeds that of B by more than `null_value`; ``"less"``: by less. The interval
        is then unbounded on one side.
    null_value : float
        The difference A - B under the null hypothesis; not 0 for a margin of non-inferiority.
    keep_replicates : bool
        Keep the replicates as ``.bootstrap_distribution``, for ``.plot()`` and ``.probability_between(a, b)``.

    Returns
    -------
    BootstrapResult

    Raises
    ------
    ValueError
        If there is no observation, the measure is unknown or does not fit the outcomes, an option is out of range, or
        `n_resamples` is too small to have a tail of the probability that `confidence_level` asks for.

    Notes
    -----
    With few rows of a class p is too small. If B loses 5% of the positives and equals A in balanced accuracy, p is
    below 0.05 in 64% of samples of 10 positives among 200 rows.

    References
    ----------
    Keller, Mariethoz and Bengio, equations (13) and (14). Efron, JASA 82 (1987). Efron and Tibshirani, *An Introduction
    to the Bootstrap* (1993).

    Examples
    --------
    >>> import sigstats
    >>> outcomes = sigstats.JointOutcomes(e1=40, e2=12, e3=5, e4=3, e5=2, e6=6, e7=9, e8=123)
    >>> result = sigstats.bootstrap_test(outcomes, measure="f1", rng=1)
    >>> round(result.estimate, 4), [round(end, 2) for end in result.confidence_interval]
    (-0.0908, [-0.19, 0.0])
    >>> round(result.probability, 2), 0.02 < result.pvalue < 0.08
    (0.03, True)
    """
    joint, chosen = as_joint_counts(outcomes), as_measure(measure)
    size = as_count(n_resamples, "n_resamples", minimum=1, maximum=MAX_RESAMPLES)
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    as_choice(method, "method", BOOTSTRAP_METHODS)
    as_choice(alternative, "alternative", ALTERNATIVES)
    null = as_real(null_value, "null_value")
    if alternative != "two-sided" and method == "centred":
        raise refuse("alternative", alternative, '"two-sided" with method="centred"')
    check_resamples(size, level, method, alternative)
    as_flag(keep_replicates, "keep_replicates")
    replicates = bootstrap_replicates(joint, chosen, rng=rng, size=size)
    differences, undefined = replicates.differences, int(replicates.undefined.sum())
    observed = evaluate(joint, chosen, np.array([joint.counts], dtype=np.float64))
    estimate = float(observed.differences[0])
    options: dict[str, Any] = {"method": method, "confidence_level": level, "alternative": alternative}
    skewness = acceleration(joint, chosen) if method == "bca" else 0.0
    inference = infer(differences, **options, null_value=null, estimate=estimate, acceleration=skewness)
    sides = 2 if alternative == "two-sided" and method == "percentile" else 1
    ends = clopper_pearson(inference.exceedances, differences.size, confidence_level=0.99)
    bounds = Interval(min(1.0, sides * ends[0]), min(1.0, sides * ends[1]), 0.99)
    better = differences > 0 if chosen.greater_is_better else differences < 0
    return BootstrapResult(
        statistic=estimate,
        pvalue=inference.pvalue,
        method=method,
        alternative=alternative,
        confidence_interval=Interval(inference.low, inference.high, level),
        n_resamples=size,
        exceedances=inference.exceedances,
        pvalue_interval=None if method == "bca" else bounds,
        reason="; ".join(filter(None, [inference.reason, *_doubts(joint, chosen, differences, undefined)])),
        estimate=estimate,
        probability=float(better.mean()),  # eq. (13)
        probability_tied=float((differences == 0).mean()),
        value_a=float(observed.a[0]),
        value_b=float(observed.b[0]),
        mean=float(differences.mean()),
        standard_error=float(differences.std(ddof=1)) if differences.size > 1 else 0.0,
        null_value=null,
        undefined=undefined,
        measure=chosen.name,
        bootstrap_distribution=tuple(differences.tolist()) if keep_replicates else None,
    )


def _doubts(joint: JointCounts, measure: Measure, differences: FloatArray, undefined: int) -> Iterator[str]:
    """Yield the reasons to doubt the result."""
    if undefined:
        yield f"0/0, counted as 0, in {undefined} of {differences.size} replicates"
    if differences.min() == differences.max():
        yield "all replicates are equal: the counts say nothing about their spread"
    elif joint.disagreements < FEW_DISAGREEMENTS:
        yield f"only {joint.disagreements} disagreements: the bootstrap wants {FEW_DISAGREEMENTS} or more"
    if measure.name == "f1" and joint.kind == "binary" and joint.disagreements < FEW_DISAGREEMENTS:
        yield "its interval may cover far less often than stated: use f1_difference_interval"
