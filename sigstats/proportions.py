"""Tests of the difference of two classifiers' error rates, or of their detection costs, on one test set.

The proportion test and its adaptation to detection costs by Keller, Mariethoz and Bengio (sections 2 and 3), with the
misprints of eq. (4) and (5) corrected (docs/methods.md); N_AB in eq. (6) is the number of disagreements.

When not to use: with fewer than about 25 disagreements, as these tests are normal approximations. Use the exact
`sigstats.mcnemar_test` for error rates (eq. 6 squared is its chi-square), and `sigstats.bootstrap_test` for costs and
for measures that are not sums over observations, such as F1. ``paired=False`` is right only if A and B saw *different*
observations; for positively related errors it hides differences.
"""

import math
from dataclasses import dataclass
from typing import Any, Required, TypedDict, Unpack

import numpy as np
from scipy.special import ndtr, ndtri

from ._common.calls import takes_counts
from ._common.validation import Alternative, FloatArray, IntArray, Labels, as_flag, as_labels, refuse
from .intervals import Interval, as_level, with_alternative
from .joint.outcomes import JointOutcomes
from .mcnemar.mcnemar_test import CHI2_MINIMUM
from .measures.formulas import dcf_weights
from .test_result import TestResult


@dataclass(frozen=True, kw_only=True)
class ProportionResult(TestResult):
    """The result of `proportion_test` and of `dcf_test`.

    Attributes
    ----------
    statistic : float
        `estimate` in units of `standard_error`.
    estimate : float
        The error rate or cost of A minus that of B: positive if B is the better one.
    standard_error : float
        The standard deviation of the difference if the hypothesis holds, the sigma of the paper.
    confidence_interval : Interval
        The normal interval of `estimate`, one-sided if the test is.
    confidence_level : float
        That of the interval.
    value_a, value_b : float
        The error rate or cost of each.
    """

    _question = "Test of two proportions: do A and B have the same error rate or cost?"
    _null = "they have"

    estimate: float
    standard_error: float
    value_a: float
    value_b: float
    confidence_level: float = 0.95

    @property
    def confidence_interval(self) -> Interval:
        """The interval of `estimate`."""

        def two_sided(level: float) -> Interval:
            reach = float(ndtri((1 + level) / 2)) * self.standard_error
            return Interval(self.estimate - reach, self.estimate + reach, level)

        return with_alternative(two_sided, self.alternative, self.confidence_level, (-math.inf, math.inf))


class _Options(TypedDict, total=False):
    paired: bool
    alternative: Alternative
    confidence_level: float


def _errors_of_labels(y: Labels, a: Labels, b: Labels, **options: Unpack[_Options]) -> ProportionResult:
    """`proportion_test` of the true labels `y` and those that A and B assigned, with its options."""
    outcomes = JointOutcomes.from_predictions(y, a, b, positive=as_labels(y, "y")[0])  # error rates are of no class
    return proportion_test(outcomes, **options)


@takes_counts(1, _errors_of_labels)
def proportion_test(
    outcomes: JointOutcomes,
    *,
    paired: bool = True,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> ProportionResult:
    """Test whether two classifiers have the same error rate.

    Null hypothesis: both error rates are equal in the population of the independent observations.

    Parameters
    ----------
    outcomes : JointOutcomes
        The joint outcomes on at least one observation.
    paired : bool
        True: eq. (6), from the disagreements only. False: eq. (4), as if the two error rates were independent.
    alternative : {"two-sided", "greater", "less"}
        ``"greater"``: A has the greater error rate, so that B is the better one; ``"less"``: B has.
    confidence_level : float
        That of the interval, strictly between 0 and 1, above 1/2 if it is one-sided.

    Returns
    -------
    ProportionResult
        ``1 - pvalue`` is the paper's confidence, delta of eq. (3). If the standard deviation is 0 (no disagreement;
        unpaired: all right or all wrong), so is the difference: then the statistic is 0 and the p-value is 1.

    Raises
    ------
    ValueError
        If `outcomes` is not a JointOutcomes or has no observation, or an option is unknown.

    Examples
    --------
    >>> import sigstats
    >>> from sigstats.proportions import proportion_test
    >>> outcomes = sigstats.JointOutcomes(e1=40, e2=12, e3=5, e4=3, e5=2, e6=6, e7=9, e8=123)
    >>> result = proportion_test(outcomes)
    >>> round(result.estimate, 6), round(result.statistic, 6), round(result.pvalue, 6)
    (0.05, 1.767767, 0.0771)
    >>> round(proportion_test(outcomes, paired=False).pvalue, 6)
    0.102882
    """
    level = _checked(outcomes, paired, alternative, confidence_level)
    difference, sigma = _of_errors(outcomes.counts, paired)
    rates = (outcomes.n - (outcomes.e1 + outcomes.e8) - np.array(outcomes.discordant)) / outcomes.n
    method = "paired, eq. (6)" if paired else "unpaired, eq. (4)"
    reason = _reason(sigma, outcomes.disagreements, paired)
    return _result(difference, sigma, rates, method=method, reason=reason, alternative=alternative, level=level)


def proportion_pvalues(sets: IntArray, *, paired: bool, alternative: Alternative) -> FloatArray:
    """Return the p-values of `proportion_test` on many test sets; ndarray of int64, shape (m, 8)."""
    return _pvalues(*_of_errors(sets.T, paired), alternative)


def _of_errors(counts: Any, paired: bool) -> tuple[Any, Any]:
    """Return the difference of two error rates and its standard deviation if the hypothesis holds."""
    e1, e2, e3, e4, e5, e6, e7, e8 = counts
    n, only_a, only_b = e1 + e2 + e3 + e4 + e5 + e6 + e7 + e8, e3 + e6, e2 + e7
    if paired:
        sigma = np.sqrt(only_a + only_b) / n  # eq. (6)
    else:
        mean = (2 * (e4 + e5) + only_a + only_b) / (2 * n)
        sigma = np.sqrt(2 * mean * (1 - mean) / n)  # eq. (4)
    return (only_b - only_a) / n, sigma  # eq. (5)


class _CostOptions(_Options):
    cost_fn: Required[float]
    cost_fp: Required[float]
    prior: Required[float]


def _costs_of_labels(
    y: Labels, a: Labels, b: Labels, *, positive: Any = None, **options: Unpack[_CostOptions]
) -> ProportionResult:
    """`dcf_test` of the true labels `y` and those that A and B assigned, with its options."""
    return dcf_test(JointOutcomes.from_predictions(y, a, b, positive=positive), **options)


@takes_counts(1, _costs_of_labels)
def dcf_test(
    outcomes: JointOutcomes,
    *,
    cost_fn: float,
    cost_fp: float,
    prior: float,
    paired: bool = True,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
) -> ProportionResult:
    """Test whether two classifiers have the same detection cost.

    Null hypothesis: both costs are equal in the population of the independent observations.

    Parameters
    ----------
    outcomes : JointOutcomes
        The joint outcomes on at least one positive and one negative observation.
    cost_fn, cost_fp : float
        The costs of rejecting a client and of accepting an impostor, from 0 to 1e100; `estimate` is in their unit.
    prior : float
        The probability of a client in use, which need not be the share of clients in the test set.
    paired, alternative, confidence_level
        As of `proportion_test`, of costs, with eq. (9) if `paired` and eq. (8) if not.

    Returns
    -------
    ProportionResult
        If the standard deviation is 0, so is the difference; the statistic is then 0 and the p-value 1.

    Raises
    ------
    ValueError
        If `outcomes` is not a JointOutcomes or lacks a class, a cost or `prior` is out of range, or an option is
        unknown.

    Notes
    -----
    When not to use: with few disagreements of the costlier kind. If B loses 2% of the clients at equal cost, p is below
    0.05 in 37% of samples of 20 clients among 200. `proportion_test` rejects in at most 7.8%, with 5 disagreements.

    Examples
    --------
    >>> import sigstats
    >>> from sigstats.proportions import dcf_test
    >>> outcomes = sigstats.JointOutcomes(e1=40, e2=12, e3=5, e4=3, e5=2, e6=6, e7=9, e8=123)
    >>> result = dcf_test(outcomes, cost_fn=1, cost_fp=1, prior=0.5)
    >>> round(result.estimate, 6), round(result.statistic, 6), round(result.pvalue, 6)
    (0.069048, 1.864191, 0.062295)
    """
    level = _checked(outcomes, paired, alternative, confidence_level)
    n_p, n_n = outcomes.positives, outcomes.negatives
    for n, name in ((n_p, "positives"), (n_n, "negatives")):
        if n == 0:
            raise refuse(f"outcomes ({name})", n, "at least one positive and one negative observation")
    w_p, w_n, unit = _costs(cost_fn, cost_fp, prior)
    difference, sigma = _of_costs(outcomes.counts, w_p, w_n, paired)
    costs = [w_p * side.fn / n_p + w_n * side.fp / n_n for side in (outcomes.confusion_a, outcomes.confusion_b)]  # (7)
    method = "paired, eq. (9)" if paired else "unpaired, eq. (8)"
    shared: dict[str, Any] = {"alternative": alternative, "level": level, "unit": unit}
    return _result(
        difference, sigma, costs, method=method, reason=_reason(sigma, outcomes.disagreements, paired), **shared
    )


def dcf_pvalues(
    sets: IntArray, *, cost_fn: float, cost_fp: float, prior: float, paired: bool, alternative: Alternative
) -> FloatArray:
    """Return the p-values of `dcf_test` on many test sets, which have both classes; ndarray of int64, shape (m, 8)."""
    w_p, w_n, _ = _costs(cost_fn, cost_fp, prior)
    return _pvalues(*_of_costs(sets.T, w_p, w_n, paired), alternative)


def _costs(cost_fn: float, cost_fp: float, prior: float) -> tuple[float, float, float]:
    """Return the factors of the two error rates, in the unit that is the third value."""
    weights = dcf_weights(cost_fn, cost_fp, prior)
    unit = max(weights) or 1.0  # so that squares of the largest and the smallest costs stay within range
    return weights[0] / unit, weights[1] / unit, unit


def _of_costs(counts: Any, w_p: float, w_n: float, paired: bool) -> tuple[Any, Any]:
    """Return the difference of two costs and its standard deviation if the hypothesis holds."""
    e1, e2, e3, e4, e5, e6, e7, e8 = counts
    n_p, n_n = e1 + e2 + e3 + e4, e5 + e6 + e7 + e8
    if paired:
        parts = w_p * np.sqrt(e3 + e2) / n_p, w_n * np.sqrt(e6 + e7) / n_n  # eq. (9)
    else:
        fn, fp = (e2 + e3 + 2 * e4) / (2 * n_p), (2 * e5 + e6 + e7) / (2 * n_n)
        parts = w_p * np.sqrt(2 * fn * (1 - fn) / n_p), w_n * np.sqrt(2 * fp * (1 - fp) / n_n)  # eq. (8)
    difference = w_p * (e2 - e3) / n_p + w_n * (e7 - e6) / n_n
    return difference, np.asarray(np.frompyfunc(math.hypot, 2, 1)(*parts), dtype=np.float64)  # rounded as by hypot


def _pvalues(difference: Any, sigma: Any, alternative: Alternative) -> FloatArray:
    """Return the normal p-values of differences; 1 if the standard deviation is 0."""
    z = np.divide(difference, sigma, out=np.zeros(np.shape(sigma)), where=np.asarray(sigma > 0))
    p = 2 * ndtr(-np.abs(z)) if alternative == "two-sided" else ndtr(-z if alternative == "greater" else z)
    return np.where(sigma > 0, p, 1.0)


def _checked(outcomes: Any, paired: Any, alternative: Any, confidence_level: Any) -> float:
    """Return the level of the interval; raise ValueError if one of the four arguments is invalid."""
    if not isinstance(outcomes, JointOutcomes):
        raise refuse("outcomes", outcomes, "JointOutcomes")
    if outcomes.n == 0:
        raise refuse("outcomes", 0, "at least one", quantity="number of observations")
    as_flag(paired, "paired")
    return as_level(confidence_level, alternative)


def _reason(sigma: Any, disagreements: int, paired: bool) -> str:
    """Return a warning about the assumptions; empty if there is none."""
    if sigma == 0:
        return "nothing to compare: the difference cannot be other than 0"
    if not paired:
        return "assumed independent, which two classifiers on one test set are not"
    if disagreements < CHI2_MINIMUM:
        return f"only {disagreements} disagreements: the normal approximation wants {CHI2_MINIMUM} or more"
    return ""


def _result(
    difference: Any,
    sigma: Any,
    values: Any,
    *,
    reason: str,
    method: str,
    alternative: Alternative,
    level: float,
    unit: float = 1.0,
) -> ProportionResult:
    """Return the result from the difference, its standard deviation and the values of A and B, in the given unit."""
    return ProportionResult(
        statistic=float(difference / sigma) if sigma > 0 else 0.0,
        pvalue=float(_pvalues(difference, sigma, alternative)),
        method=method,
        alternative=alternative,
        reason=reason,
        estimate=float(difference) * unit,
        standard_error=float(sigma) * unit,
        value_a=float(values[0]) * unit,
        value_b=float(values[1]) * unit,
        confidence_level=level,
    )
