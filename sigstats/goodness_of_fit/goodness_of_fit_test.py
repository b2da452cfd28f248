"""Counts against required class probabilities, and probabilities that allow a share of misclassified objects.

The counts of one classifier (or expert) over K classes, the last of which may be "misclassified", against
probabilities that are given beforehand (Hryniewicz, section 3).

When not to use: probabilities that were estimated from another sample of similar size. Their own uncertainty is then
ignored and the test rejects too often; `sigstats.homogeneity_test` compares two samples.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import chdtrc

from .._common.extreme import expected_counts_warning
from .._common.random_streams import MAX_RESAMPLES, RNG, as_generator
from .._common.validation import as_choice, as_count, as_counts, as_probabilities, as_real, refuse
from ..conditional.tail import QUICK_LIMIT, STATE_LIMIT, TOO_LARGE
from ..test_result import TestResult, monte_carlo_outcome
from .distance import (
    EXACT_MAX_TOTAL,
    ORDERINGS,
    Ordering,
    as_counts_and_probabilities,
    distance,
    exact_pvalue,
    exceedances,
    log_probability,
)

GoodnessOfFitMethod: TypeAlias = Literal["auto", "exact", "chi2", "likelihood-ratio", "monte-carlo"]

METHODS: tuple[GoodnessOfFitMethod, ...] = ("auto", "exact", "chi2", "likelihood-ratio", "monte-carlo")


@dataclass(frozen=True, kw_only=True)
class GoodnessOfFitTestResult(TestResult):
    """The result of `goodness_of_fit_test`.

    Attributes
    ----------
    statistic : float
        The probability of the observed counts (eq. 13), Pearson's statistic (eq. 16) or the likelihood ratio (eq. 18),
        according to `ordering`.
    ordering : str
        ``"probability"``, ``"chi2"`` or ``"likelihood-ratio"``: the order of outcomes by extremeness.
    degrees_of_freedom : int
        The number of classes with positive probability, minus one.
    """

    _question = "Goodness-of-fit test: do the counts agree with the required probabilities?"
    _null = "they do"

    ordering: str
    degrees_of_freedom: int


def goodness_of_fit_test(
    counts: Any,
    probabilities: Any,
    *,
    method: GoodnessOfFitMethod = "auto",
    ordering: Ordering = "probability",
    n_resamples: int = 9_999,
    rng: RNG = None,
) -> GoodnessOfFitTestResult:
    """Test whether class counts agree with required class probabilities.

    Null hypothesis: each object falls independently into each class with the required probability.

    The exact p-value is the probability of all outcomes that are no likelier than the observed one (Hryniewicz, eq. 14
    and 15), or that lie at least as far out by another `ordering`. Probabilities are floats, so outcomes whose
    statistics differ by less than ``sigstats._common.extreme.TIE_TOLERANCE``, relative, count as tied.

    Parameters
    ----------
    counts : array_like of int, shape (K,)
        The number of objects in each class.
    probabilities : array_like of float, shape (K,)
        The required probabilities, with sum 1. An object in a class of probability 0 cannot occur under the null
        hypothesis: p is then 0, or the smallest that Monte-Carlo replicates can give (Hryniewicz, section 3;
        `relax_probabilities` allows a share of misclassified objects).
    method : {"auto", "exact", "chi2", "likelihood-ratio", "monte-carlo"}
        ``auto``: ``exact`` if that takes seconds, otherwise ``monte-carlo``; `reason` of the result tells.
        ``exact``: without enumeration; feasible for two classes of any size, and for some hundred objects in ten
        classes or thousands in five.
        ``chi2``, ``likelihood-ratio``: the asymptotic tests (eq. 16 to 19).
        ``monte-carlo``: random outcomes; ``.pvalue_interval`` contains the exact p-value with confidence 0.99.
    ordering : {"probability", "chi2", "likelihood-ratio"}
        The statistic by which ``exact`` and ``monte-carlo`` order the outcomes; the asymptotic methods have their own.
    n_resamples : int
        The number of Monte-Carlo outcomes.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of the Monte-Carlo outcomes.

    Returns
    -------
    GoodnessOfFitTestResult

    Raises
    ------
    ValueError
        If counts are negative, fractional or all zero, probabilities do not fit them or do not sum to 1, or the problem
        is beyond the limit of the exact method.

    References
    ----------
    Hryniewicz, *Possibilistic Methodology for the Evaluation of Classification Algorithms*, equations (14) to (19).

    Examples
    --------
    Mendel's peas, 9 : 3 : 3 : 1:

    >>> import sigstats
    >>> peas, ratio = [315, 108, 101, 32], [9 / 16, 3 / 16, 3 / 16, 1 / 16]
    >>> round(sigstats.goodness_of_fit_test(peas, ratio).pvalue, 6)
    0.938222
    >>> round(sigstats.goodness_of_fit_test(peas, ratio, ordering="chi2").pvalue, 6)
    0.927191
    >>> round(sigstats.goodness_of_fit_test(peas, ratio, method="chi2").pvalue, 6)
    0.925426

    An expert who misclassifies nothing, and an algorithm with one object misclassified:

    >>> result = sigstats.goodness_of_fit_test([20, 30, 49, 1], [0.2, 0.3, 0.5, 0])
    >>> result.pvalue, result.reason
    (0.0, '1 object in a class of required probability 0, which the null hypothesis excludes')
    """
    if as_choice(method, "method", METHODS) != "auto":
        return _tested(counts, probabilities, method, STATE_LIMIT, ordering, n_resamples, rng)
    try:
        return _tested(counts, probabilities, "exact", QUICK_LIMIT, ordering, n_resamples, rng)
    except ValueError:  # too large, unless Monte-Carlo complains too
        result = _tested(counts, probabilities, "monte-carlo", 0, ordering, n_resamples, rng)
        return replace(result, reason="; ".join(filter(None, (result.reason, TOO_LARGE))))


def _tested(
    counts: Any, probabilities: Any, method: str, limit: int, ordering: Any, n_resamples: int, rng: RNG
) -> GoodnessOfFitTestResult:
    """Return the test by one method; the exact one keeps at most `limit` outcomes."""
    ordering = as_choice(ordering, "ordering", ORDERINGS)
    x, p, excluded = as_counts_and_probabilities(counts, probabilities)
    n_resamples = as_count(n_resamples, "n_resamples", minimum=1, maximum=MAX_RESAMPLES)
    generator = as_generator(rng)
    asymptotic = method in ("chi2", "likelihood-ratio")
    by: Any = method if asymptotic else ordering
    n, freedom, reason = int(x.sum()), len(p) - 1, ""
    outcome: dict[str, Any]
    if excluded:  # no outcome that may occur is as extreme
        statistic = 0.0 if by == "probability" else math.inf
        exact = {"pvalue": 0.0, "error_bound": 0.0}
        outcome = monte_carlo_outcome(0, n_resamples) if method == "monte-carlo" else exact
        noun = "object" if excluded == 1 else "objects"
        reason = f"{excluded:,} {noun} in a class of required probability 0, which the null hypothesis excludes"
    else:
        statistic = math.exp(log_probability(x, p)) if by == "probability" else float(distance(x, n, p, by))
        if method == "monte-carlo":
            outcome = monte_carlo_outcome(int(exceedances(x, p, by, n_resamples, generator).sum()), n_resamples)
        elif asymptotic:
            outcome = {"pvalue": float(chdtrc(freedom, statistic)) if freedom else 1.0}  # eq. (17), (19)
            reason = expected_counts_warning(n * p)
        else:
            tail = exact_pvalue(x, p, by, limit)
            outcome = {"pvalue": tail.pvalue, "error_bound": tail.error}
            if len(x) == 2 and n > EXACT_MAX_TOTAL:
                reason = "error_bound is an estimate with a margin, that of SciPy's binomial tails"
    return GoodnessOfFitTestResult(
        statistic=statistic,
        method=method,
        alternative="two-sided",
        ordering=by,
        degrees_of_freedom=freedom,
        reason=reason,
        **outcome,
    )


def relax_probabilities(probabilities: Any, share: float, *, classes: Sequence[int] | None = None) -> tuple[float, ...]:
    """Add a class of misclassified objects to an expert's class probabilities.

    Without it a single misclassified object contradicts the hypothesis with certainty. The share is taken from
    `classes` in proportion to their probabilities, and becomes the last class (Hryniewicz, section 3).

    Parameters
    ----------
    probabilities : array_like of float, shape (K,)
        The expert's probabilities, without a class of misclassified objects; they sum to 1.
    share : float
        The share of all objects that may be misclassified, less than the total of `classes`.
    classes : sequence of int, optional
        The positions of the classes from which the share is taken; all by default.

    Returns
    -------
    tuple of float, K + 1 of them

    Raises
    ------
    ValueError
        If a class does not exist or appears twice, or the total of `classes` does not exceed `share`.

    Examples
    --------
    Two per cent, all of the third class (Hryniewicz, Table 10):

    >>> import sigstats
    >>> required = sigstats.possibilistic.relax_probabilities([0.2, 0.3, 0.5], 0.02, classes=[2])
    >>> required
    (0.2, 0.3, 0.48, 0.02)
    >>> round(sigstats.goodness_of_fit_test([15, 30, 50, 5], required).pvalue, 3)
    0.132
    """
    p = as_probabilities(probabilities, "probabilities")
    share = as_real(share, "share", low=0, high=1)
    if classes is None:
        places = np.arange(len(p))
    else:
        places = as_counts(classes, "classes", ndim=1)
        if places.max() >= len(p):
            raise refuse("classes", int(places.max()), f"positions from 0 to {len(p) - 1}")
        if len(set(places.tolist())) < len(places):
            raise refuse("classes", classes, "each class once")
    total = math.fsum(p[places])
    if not share < total:
        raise refuse(
            "share", share, f"less than {total:g}, the total probability of the classes from which it is taken"
        )
    relaxed = p.copy()
    relaxed[places] *= 1 - share / total
    return (*relaxed.tolist(), share)
