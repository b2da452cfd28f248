"""Tests that two independent samples fall into classes with equal probabilities.

Two rows of counts over the same K classes: two classifiers judged on separate samples, or a classifier and an expert.
Given the totals of the columns the table is multivariate hypergeometric (Hryniewicz, eq. 5), whatever the class
probabilities.

When not to use: two classifiers judged on the *same* objects. Their counts depend on each other; use
`sigstats.mcnemar_test` on the objects that only one of them got right.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import chdtrc

from .._common.extreme import ROUNDING, expected_counts_warning, width_of
from .._common.random_streams import MAX_RESAMPLES, RNG, as_generator
from .._common.validation import IntArray, as_choice, as_count, refuse
from ..conditional.tail import QUICK_LIMIT, STATE_LIMIT, TOO_LARGE
from ..intervals import Interval, as_level
from ..test_result import TestResult, monte_carlo_outcome
from .given_margins import (
    as_two_samples,
    certified,
    certified_bounds,
    difference_interval,
    exact_pvalue,
    exceedances,
    given_margins,
    log_probability,
    two_tails,
)

HomogeneityMethod: TypeAlias = Literal["auto", "exact", "bounds", "chi2", "monte-carlo"]

METHODS: tuple[HomogeneityMethod, ...] = ("auto", "exact", "bounds", "chi2", "monte-carlo")
#: The largest table that the exact method and the bounds take on at all: observations, classes.
EXACT_MAX_TOTAL, EXACT_MAX_CLASSES = 10**6, 1000


@dataclass(frozen=True, kw_only=True)
class HomogeneityTestResult(TestResult):
    """The result of `homogeneity_test`.

    Attributes
    ----------
    statistic : float
        The probability of the observed table given its margins (eq. 5); for ``chi2`` Pearson's statistic (eq. 8).
    degrees_of_freedom : int
        The number of classes that occur, minus one.
    log10_pvalue : float
        The logarithm of the p-value to base 10; of two classes also if `pvalue` is below the smallest double and
        therefore 0.
    estimate : float or None
        For two classes, the share of the first in sample A minus that in B.
    confidence_interval : Interval or None
        Newcombe's (1998) interval of `estimate`, by Wilson's of both shares: an approximation.
    """

    _question = "Homogeneity test: do two samples fall into the classes with equal probabilities?"
    _null = "they do"

    degrees_of_freedom: int
    log10_pvalue: float
    estimate: float | None = None
    confidence_interval: Interval | None = None


def homogeneity_test(
    counts_a: Any,
    counts_b: Any,
    *,
    method: HomogeneityMethod = "auto",
    n_resamples: int = 9_999,
    rng: RNG = None,
    confidence_level: float = 0.95,
) -> HomogeneityTestResult:
    """Test whether two independent samples fall into K classes with equal probabilities.

    Null hypothesis: objects of either sample fall independently into each class with the same probability.

    The exact p-value (Fisher, Freeman and Halton) is the probability, given the totals of samples and classes, of all
    tables that are no likelier than the observed one (Hryniewicz, eq. 6 and 7). Likelihoods are compared as integers,
    products of binomial coefficients, so that ties are recognised.

    Parameters
    ----------
    counts_a, counts_b : array_like of int, shape (K,)
        The number of objects of each sample in each class. A class that is empty in both is left out.
    method : {"auto", "exact", "bounds", "chi2", "monte-carlo"}
        ``auto``: ``exact`` if that takes seconds, otherwise ``monte-carlo``; `reason` of the result tells.
        ``exact``: for two classes two hypergeometric tails (Fisher's exact test), at any size. For more, without
        enumeration; feasible if half of the columns have at most some 8 million relevant outcomes, such as K = 8 with a
        total of 1000, or 113 classes if almost all are tiny.
        ``bounds``: for larger tables, certified bounds of the exact p-value, no further apart than 1e-4 of it, or 0 and
        Chernoff's bound if that is below 1e-100; ``.pvalue`` is the upper bound, ``.pvalue_interval`` contains both,
        with confidence 1.
        ``chi2``: Pearson's approximation (eq. 8 to 11).
        ``monte-carlo``: random tables with these totals; ``.pvalue_interval`` contains the exact p-value with
        confidence 0.99.
    n_resamples : int
        The number of Monte-Carlo tables.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of the Monte-Carlo tables.
    confidence_level : float
        That of the interval, strictly between 0 and 1.

    Returns
    -------
    HomogeneityTestResult

    Raises
    ------
    ValueError
        If counts are negative or fractional, of one class only or of different lengths, a sample is empty, or the table
        is too large.

    References
    ----------
    Hryniewicz, *Possibilistic Methodology for the Evaluation of Classification Algorithms*, equations (5) to (11).

    Examples
    --------
    Two classifiers of vehicle silhouettes (Hryniewicz, Table 9):

    >>> import sigstats
    >>> bayes, crt = [55, 48, 112, 90, 141], [46, 55, 86, 84, 175]
    >>> round(sigstats.homogeneity_test(bayes, crt).pvalue, 7)
    0.0731683
    >>> round(sigstats.homogeneity_test(bayes, crt, method="chi2").pvalue, 7)
    0.0731789
    """
    options: dict[str, Any] = {"n_resamples": n_resamples, "rng": rng, "confidence_level": confidence_level}
    if as_choice(method, "method", METHODS) != "auto":
        return _tested(counts_a, counts_b, method, STATE_LIMIT, **options)
    try:
        return _tested(counts_a, counts_b, "exact", QUICK_LIMIT, **options)
    except ValueError:  # too large, unless Monte-Carlo complains too
        result = _tested(counts_a, counts_b, "monte-carlo", 0, **options)
        return replace(result, reason="; ".join(filter(None, (result.reason, TOO_LARGE))))


def _tested(
    counts_a: Any, counts_b: Any, method: str, limit: int, *, n_resamples: int, rng: RNG, confidence_level: float
) -> HomogeneityTestResult:
    """Return the test by one method; the exact one keeps at most `limit` outcomes."""
    a, b = as_two_samples(counts_a, counts_b)
    warnings = [_like_labels(a, b)]
    n_resamples = as_count(n_resamples, "n_resamples", minimum=1, maximum=MAX_RESAMPLES)
    generator = as_generator(rng)
    level = as_level(confidence_level)
    shared: dict[str, Any] = {"method": method, "alternative": "two-sided", "degrees_of_freedom": len(a) - 1}
    if len(a) == 2:
        shared["estimate"] = int(a[0]) / int(a.sum()) - int(b[0]) / int(b.sum())
        shared["confidence_interval"] = difference_interval(a, b, level)
    if method == "chi2":
        outcome, warning = _chi2(a, b)
        warnings.append(warning)
    elif method == "monte-carlo":
        outcome = monte_carlo_outcome(int(exceedances(a, b, n_resamples, generator).sum()), n_resamples)
        outcome["statistic"] = math.exp(log_probability(a, a + b))
    elif len(a) == 2:
        outcome = _of_two_classes(a, b, method)
    else:
        outcome = _of_many_classes(a, b, method, limit)
    if "log10_pvalue" not in outcome:
        outcome["log10_pvalue"] = math.log10(outcome["pvalue"]) if outcome["pvalue"] > 0 else -math.inf
    return HomogeneityTestResult(reason="; ".join(filter(None, warnings)), **shared, **outcome)


def _of_two_classes(a: IntArray, b: IntArray, method: str) -> dict[str, Any]:
    p, log10, error, point = two_tails(a, b)
    interval = None
    if method == "bounds":
        width = error + 4 * ROUNDING
        interval = certified(p * (1 - width), min(1.0, p * (1 + width)))
        p, error = interval.high, width_of(*interval)
    return {"statistic": point, "pvalue": p, "log10_pvalue": log10, "pvalue_interval": interval, "error_bound": error}


def _of_many_classes(a: IntArray, b: IntArray, method: str, limit: int) -> dict[str, Any]:
    total = int((a + b).sum())
    if total > EXACT_MAX_TOTAL or len(a) > EXACT_MAX_CLASSES:
        wanted = f"at most {EXACT_MAX_TOTAL} and {EXACT_MAX_CLASSES} for method={method!r}; use method='monte-carlo'"
        raise refuse("counts_a and counts_b", (total, len(a)), wanted, quantity="size (total, classes)")
    problem = given_margins(a, b)
    statistic = math.exp(problem.threshold - problem.norm)  # eq. (5)
    if method == "bounds":
        interval = certified_bounds(problem)
        tail = {"pvalue": interval.high, "pvalue_interval": interval, "error_bound": width_of(*interval)}
    else:
        p, error = exact_pvalue(problem, limit)
        tail = {"pvalue": p, "error_bound": error}
    return {"statistic": statistic, **tail}


def _like_labels(a: IntArray, b: IntArray) -> str:
    """Return a warning if there are many counts, all small enough to be labels; otherwise empty."""
    most = int(max(a.max(), b.max()))
    if len(a) < 10 or 4 * most > len(a):
        return ""
    return f"{len(a)} classes of at most {most} objects: labels are counted first (numpy.bincount)"


def _chi2(a: IntArray, b: IntArray) -> tuple[dict[str, Any], str]:
    """Return Pearson's statistic and its p-value, and a warning if expected counts are small."""
    n, m = int(a.sum()), int(b.sum())
    totals = (a + b).astype(np.float64)
    expected = np.array([n * totals / (n + m), m * totals / (n + m)])  # eq. (9), (10)
    statistic = float((((np.array([a, b]) - expected) ** 2) / expected).sum())  # eq. (8)
    p = float(chdtrc(len(a) - 1, statistic)) if len(a) > 1 else 1.0  # eq. (11)
    return {"statistic": statistic, "pvalue": p}, expected_counts_warning(expected)
