"""Tests that two independent samples fall into classes with equal probabilities.

Two rows of counts over the same K classes: two classifiers judged on samples of their own, or a classifier and an
expert. Given the totals of the columns the table is multivariate hypergeometric (Hryniewicz, eq. 5), whatever the
class probabilities.

When not to use: two classifiers judged on the *same* objects. Their counts depend on each other; use
`sigstats.mcnemar_test` on the objects that only one of them got right.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from .._common.expected_counts import expected_counts_warning
from .._common.extreme import at_most
from .._common.random_streams import as_generator
from .._common.validation import MAX_RESAMPLES, FloatArray, IntArray, as_choice, as_count, as_counts, refuse
from ..conditional.exact_keys import binomial_keys
from ..conditional.fourier_bounds import WorkLimitError, bounds, grouped
from ..conditional.log_weights import binomial_log_pmf, stirling_errors
from ..conditional.problem import Problem
from ..conditional.tail import STATE_LIMIT, StateLimitError, tail
from ..intervals import Interval
from ..test_result import TestResult, monte_carlo_outcome

METHODS = ("exact", "bounds", "chi2", "monte-carlo")
#: The largest table that the exact method and the bounds take on at all: observations, classes.
EXACT_MAX_TOTAL, EXACT_MAX_CLASSES = 10**6, 1000
#: NumPy's hypergeometric generator ends here.
MONTE_CARLO_MAX_TOTAL = 10**9 - 1
#: The width of the certified bounds, as a share of p.
BOUNDS_WIDTH = 1e-4
#: Smaller p-values are not told apart: near the smallest double, what is added up loses its digits and then vanishes.
SMALLEST_BOUND = 1e-280
_CHUNK, _LOOKUP = 2**18, 10**6


@dataclass(frozen=True, kw_only=True)
class HomogeneityTestResult(TestResult):
    """The result of `homogeneity_test`.

    Attributes
    ----------
    statistic : float
        The probability of the observed table given its margins (eq. 5); for ``chi2`` Pearson's statistic (eq. 8).
    degrees_of_freedom : int
        The number of classes that occur at all, less one.
    """

    degrees_of_freedom: int


def homogeneity_test(
    counts_a: Any, counts_b: Any, *, method: str = "exact", n_resamples: int = 9_999, rng: Any = None
) -> HomogeneityTestResult:
    """Whether two independent samples fall into K classes with equal probabilities.

    The exact p-value (Fisher, Freeman and Halton) is the probability, given both margins, of all tables that are no
    likelier than the observed one (Hryniewicz, eq. 6 and 7). Likelihoods are compared as integers, products of
    binomial coefficients, so that ties count as what they are.

    Parameters
    ----------
    counts_a, counts_b : array_like of int, shape (K,)
        How many objects of each sample fell into each class. A class that is empty in both is left out.
    method : {"exact", "bounds", "chi2", "monte-carlo"}
        ``exact``: without listing the tables; feasible while half of the columns has at most some 8 million relevant
        outcomes, such as K = 8 with a total of 1000, or 113 classes if almost all are tiny.
        ``bounds``: for what is too large for that: certified bounds of the exact p-value, no wider than 1e-4 of it, or
        0 and 1e-280 where it is smaller than that; ``.pvalue`` is the upper one, ``.pvalue_interval`` has both, with
        confidence 1.
        ``chi2``: Pearson's approximation (eq. 8 to 11).
        ``monte-carlo``: tables drawn from the margins; ``.pvalue_interval`` holds the exact p-value with confidence
        0.99.
    n_resamples : int
        The number of Monte-Carlo tables.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of the Monte-Carlo tables.

    Returns
    -------
    HomogeneityTestResult

    Raises
    ------
    ValueError
        If counts are negative, fractional, of one class only or of unequal number, a sample is empty, or the table is
        too large.

    Examples
    --------
    Two classifiers of vehicle silhouettes (Hryniewicz, Table 9):

    >>> from sigstats.homogeneity.test import homogeneity_test
    >>> bayes, crt = [55, 48, 112, 90, 141], [46, 55, 86, 84, 175]
    >>> round(homogeneity_test(bayes, crt).pvalue, 7)
    0.0731683
    >>> round(homogeneity_test(bayes, crt, method="chi2").pvalue, 7)
    0.0731789
    """
    method = as_choice(method, "method", METHODS)
    a, b = _as_counts(counts_a, counts_b)
    n_resamples = as_count(n_resamples, "n_resamples", minimum=1, maximum=MAX_RESAMPLES)
    generator = as_generator(rng)
    if method == "chi2":
        return _chi2(a, b)
    freedom = len(a) - 1
    if method == "monte-carlo":
        exceedances = int(_exceedances(a, b, n_resamples, generator).sum())
        return HomogeneityTestResult(
            statistic=math.exp(_log_probability(a, a + b)),
            method=method,
            alternative="two-sided",
            **monte_carlo_outcome(exceedances, n_resamples),
            degrees_of_freedom=freedom,
        )
    total = int((a + b).sum())
    if total > EXACT_MAX_TOTAL or len(a) > EXACT_MAX_CLASSES:
        raise refuse(
            "counts_a and counts_b (total, classes)",
            (total, len(a)),
            f"at most {EXACT_MAX_TOTAL} and {EXACT_MAX_CLASSES} for method={method!r}; use method='monte-carlo'",
        )
    problem = _problem(a, b)
    interval = _bounds(problem) if method == "bounds" else None
    return HomogeneityTestResult(
        statistic=math.exp(problem.threshold - problem.norm),  # eq. (5)
        pvalue=_exact(problem) if interval is None else interval.high,
        method=method,
        alternative="two-sided",
        pvalue_interval=interval,
        degrees_of_freedom=freedom,
    )


def homogeneity_exceedances(counts_a: Any, counts_b: Any, *, size: int, rng: Any = None) -> NDArray[np.bool_]:
    """Which of `size` random tables with the observed margins are no likelier than the observed table.

    The replicates of the Monte-Carlo method, for those who spread them over machines. They are drawn one after the
    other: from generators in equal states, fewer replicates are the first of more.

    Parameters
    ----------
    counts_a, counts_b : array_like of int, shape (K,)
        As for `homogeneity_test`.
    size : int
        The number of replicates.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of the tables; a Generator is advanced.

    Returns
    -------
    ndarray of bool, shape (size,)

    Raises
    ------
    ValueError
        As `homogeneity_test`.

    Examples
    --------
    >>> from sigstats.homogeneity.test import homogeneity_exceedances
    >>> few, more = (homogeneity_exceedances([9, 1, 0], [4, 4, 2], size=n, rng=1) for n in (10, 1000))
    >>> bool((few == more[:10]).all()), round(more.mean().item(), 1)
    (True, 0.1)
    """
    a, b = _as_counts(counts_a, counts_b)
    return _exceedances(a, b, as_count(size, "size", minimum=0, maximum=MAX_RESAMPLES), as_generator(rng))


def _as_counts(counts_a: Any, counts_b: Any) -> tuple[IntArray, IntArray]:
    a, b = as_counts(counts_a, "counts_a", ndim=1), as_counts(counts_b, "counts_b", ndim=1)
    if len(a) != len(b):
        raise refuse("counts_b (length)", len(b), f"{len(a)} classes, as counts_a has")
    if len(a) < 2:
        raise refuse("counts_a (length)", len(a), "two classes or more")
    for name, counts in (("counts_a", a), ("counts_b", b)):
        if not counts.any():
            raise refuse(f"{name} (total)", 0, "at least one object")
    occurs = (a > 0) | (b > 0)
    return a[occurs], b[occurs]


def _log_probability(a: IntArray, totals: IntArray) -> float:
    """The logarithm of eq. (5)."""
    n, total = int(a.sum()), int(totals.sum())
    share = n / total
    terms = [float(binomial_log_pmf(c, share, x)) for c, x in zip(totals.tolist(), a, strict=True)]
    return math.fsum(terms) - float(binomial_log_pmf(total, share, np.array(n)))


def _problem(a: IntArray, b: IntArray) -> Problem:
    totals = [int(c) for c in a + b]
    n, total = int(a.sum()), sum(totals)
    share = n / total

    errors = stirling_errors(total)

    def log_mass(trials: float, x: IntArray) -> FloatArray:
        return binomial_log_pmf(int(trials), share, x, errors)

    scores = tuple(log_mass(c, np.arange(min(c, n) + 1)) for c in totals)
    return Problem(
        parameters=tuple(totals),
        log_mass=log_mass,
        laws=scores,
        scores=scores,
        total=n,
        threshold=math.fsum(float(s[x]) for s, x in zip(scores, a.tolist(), strict=True)),
        margin=2.0**-46 * (total + 100 * len(totals)),  # a generous bound of the rounding of all scores together
        observed=tuple(a.tolist()),
        keys=binomial_keys(totals),
    )


def _exact(problem: Problem) -> float:
    try:
        return tail(problem)
    except StateLimitError:
        raise _too_large(
            problem,
            f"half of the classes to have at most {STATE_LIMIT} relevant outcomes; use method='bounds', or "
            "method='monte-carlo', which gives an interval",
        ) from None


def _too_large(problem: Problem, wanted: str) -> ValueError:
    size = int(sum(problem.parameters)), len(problem.parameters)
    return refuse("counts_a and counts_b (total, classes)", size, wanted)


def _bounds(problem: Problem) -> Interval:
    if len(problem.parameters) == 1:
        return Interval(1.0, 1.0, 1.0)
    try:
        # Few or small tables have an exact answer; its own rounding is far below 1e-10.
        p = tail(problem, limit=2**18)
        return _certified(p * (1 - 1e-10), min(1.0, p * (1 + 1e-10)))
    except StateLimitError:
        pass
    try:
        low, high = bounds(
            grouped(problem.scores, problem.parameters),
            problem.total,
            problem.threshold,
            problem.norm,
            slack=problem.margin,
            width=BOUNDS_WIDTH,
        )
    except WorkLimitError:
        raise _too_large(
            problem,
            f"a table whose p-value can be bounded to {BOUNDS_WIDTH:g} of itself; use method='monte-carlo', which "
            "gives an interval",
        ) from None
    return _certified(low, high)


def _certified(low: float, high: float) -> Interval:
    return Interval(low, high, 1.0) if low >= SMALLEST_BOUND else Interval(0.0, max(high, SMALLEST_BOUND), 1.0)


def _chi2(a: IntArray, b: IntArray) -> HomogeneityTestResult:
    n, m = int(a.sum()), int(b.sum())
    totals = (a + b).astype(np.float64)
    expected = np.array([n * totals / (n + m), m * totals / (n + m)])  # eq. (9), (10)
    statistic = float((((np.array([a, b]) - expected) ** 2) / expected).sum())  # eq. (8)
    freedom = len(a) - 1
    return HomogeneityTestResult(
        statistic=statistic,
        pvalue=float(chdtrc(freedom, statistic)) if freedom else 1.0,  # eq. (11)
        method="chi2",
        alternative="two-sided",
        degrees_of_freedom=freedom,
        reason=expected_counts_warning(expected),
    )


def _exceedances(a: IntArray, b: IntArray, size: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    totals = a + b
    n, total = int(a.sum()), int(totals.sum())
    if total > MONTE_CARLO_MAX_TOTAL:
        raise refuse("counts_a and counts_b (total)", total, f"at most {MONTE_CARLO_MAX_TOTAL} to draw tables")
    weight = _Weights(totals, n / total)
    observed = float(weight(a))
    out = np.empty(size, dtype=bool)
    rows = max(1, _CHUNK // len(a))
    for start in range(0, size, rows):
        x = generator.multivariate_hypergeometric(totals, n, size=min(rows, size - start), method="marginals")
        ratio = np.exp(np.minimum(weight(x) - observed, 1.0))
        out[start : start + len(x)] = at_most(ratio, 1.0)
    return out


class _Weights:
    """The log weights of tables (last axis: classes), less what is common to all with these margins."""

    def __init__(self, totals: IntArray, share: float):
        self._totals, self._share = totals.tolist(), share
        # Counts of small tables are looked up.
        small = int(totals.sum()) <= _LOOKUP
        self._start = np.concatenate([[0], np.cumsum(totals + 1)[:-1]])
        laws = [binomial_log_pmf(c, share, np.arange(c + 1)) for c in self._totals] if small else []
        self._law = np.concatenate(laws) if small else None

    def __call__(self, x: IntArray) -> FloatArray:
        if self._law is not None:
            return np.asarray(self._law[x + self._start].sum(axis=-1))
        laws = [binomial_log_pmf(c, self._share, x[..., j]) for j, c in enumerate(self._totals)]
        return np.asarray(np.sum(laws, axis=0))
