"""Tests of class counts against required class probabilities.

The counts of one classifier (or expert) over K classes, the last of which may be "misclassified", against
probabilities that are given beforehand (Hryniewicz, section 3).

When not to use: probabilities that were estimated from another sample of similar size. Their own uncertainty is then
ignored and the test rejects too often; `sigstats.homogeneity_test` compares two samples.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from .._common.expected_counts import expected_counts_warning
from .._common.extreme import TIE_TOLERANCE, at_least
from .._common.random_streams import as_generator
from .._common.rationals import probabilities_as_fractions
from .._common.validation import (
    MAX_RESAMPLES,
    FloatArray,
    IntArray,
    as_choice,
    as_count,
    as_counts,
    as_probabilities,
    refuse,
)
from ..conditional.exact_keys import chi_square_keys, multinomial_keys
from ..conditional.log_weights import poisson_deviance, poisson_log_pmf
from ..conditional.problem import Problem
from ..conditional.tail import STATE_LIMIT, StateLimitError, tail
from ..test_result import TestResult, monte_carlo_outcome

METHODS = ("exact", "chi2", "likelihood-ratio", "monte-carlo")
ORDERINGS = ("probability", "chi2", "likelihood-ratio")
#: The largest problem that the exact method takes on at all: objects, classes.
EXACT_MAX_TOTAL, EXACT_MAX_CLASSES = 10**5, 200
#: A square of a count, divided by the product of a smaller probability and a count, is no float any more.
_LEAST_PROBABILITY = 1e-290
#: Keys of more different probabilities take too much memory.
_MOST_KEYED = 12
_CHUNK = 2**18


@dataclass(frozen=True, kw_only=True)
class GoodnessOfFitTestResult(TestResult):
    """The result of `goodness_of_fit_test`.

    Attributes
    ----------
    statistic : float
        The probability of the observed counts (eq. 13), Pearson's statistic (eq. 16) or the likelihood ratio (eq. 18),
        as `ordering` says.
    ordering : str
        ``"probability"``, ``"chi2"`` or ``"likelihood-ratio"``: by what outcomes are more or less extreme.
    degrees_of_freedom : int
        The number of classes of positive probability, less one.
    """

    ordering: str
    degrees_of_freedom: int


def goodness_of_fit_test(
    counts: Any,
    probabilities: Any,
    *,
    method: str = "exact",
    ordering: str = "probability",
    n_resamples: int = 9_999,
    rng: Any = None,
) -> GoodnessOfFitTestResult:
    """Whether class counts agree with required class probabilities.

    The exact p-value is the probability of all outcomes that are no likelier than the observed one (Hryniewicz, eq. 14
    and 15), or that lie at least as far out by another `ordering`. Probabilities are floats, so outcomes whose
    statistics differ by less than ``sigstats._common.extreme.TIE_TOLERANCE``, relative, count as tied.

    Parameters
    ----------
    counts : array_like of int, shape (K,)
        How many objects fell into each class.
    probabilities : array_like of float, shape (K,)
        What is required; they sum to 1. An object in a class of probability 0 cannot occur under the null hypothesis:
        p is 0, or the least that Monte-Carlo replicates can give (Hryniewicz, section 3; `relax_probabilities` allows a
        share of misclassified objects).
    method : {"exact", "chi2", "likelihood-ratio", "monte-carlo"}
        ``exact``: without listing the outcomes; feasible for some hundred objects in ten classes or thousands in five.
        ``chi2``, ``likelihood-ratio``: the asymptotic tests (eq. 16 to 19).
        ``monte-carlo``: random outcomes; ``.pvalue_interval`` holds the exact p-value with confidence 0.99.
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

    Examples
    --------
    Mendel's peas, 9 : 3 : 3 : 1:

    >>> from sigstats.goodness_of_fit.test import goodness_of_fit_test
    >>> peas, ratio = [315, 108, 101, 32], [9 / 16, 3 / 16, 3 / 16, 1 / 16]
    >>> round(goodness_of_fit_test(peas, ratio).pvalue, 6)
    0.938222
    >>> round(goodness_of_fit_test(peas, ratio, ordering="chi2").pvalue, 6)
    0.927191
    >>> round(goodness_of_fit_test(peas, ratio, method="chi2").pvalue, 6)
    0.925426

    An expert who misclassifies nothing, and an algorithm with one object misclassified:

    >>> result = goodness_of_fit_test([20, 30, 49, 1], [0.2, 0.3, 0.5, 0])
    >>> result.pvalue, result.reason
    (0.0, '1 object in a class of required probability 0, which the null hypothesis excludes')
    """
    method = as_choice(method, "method", METHODS)
    ordering = as_choice(ordering, "ordering", ORDERINGS)
    x, p, excluded = _as_counts_and_probabilities(counts, probabilities)
    n_resamples = as_count(n_resamples, "n_resamples", minimum=1, maximum=MAX_RESAMPLES)
    generator = as_generator(rng)
    if excluded:
        return _excluded(excluded, len(p), method, ordering, n_resamples)
    if method in ("chi2", "likelihood-ratio"):
        return _asymptotic(x, p, method)
    n = int(x.sum())
    distance = float(_distance(x, n, p, ordering))
    shown = distance if ordering != "probability" else math.exp(_log_probability(x, p))
    freedom = len(x) - 1
    if method == "monte-carlo":
        exceedances = int(_exceedances(x, p, ordering, n_resamples, generator).sum())
        return GoodnessOfFitTestResult(
            statistic=shown,
            method=method,
            alternative="two-sided",
            **monte_carlo_outcome(exceedances, n_resamples),
            ordering=ordering,
            degrees_of_freedom=freedom,
        )
    return GoodnessOfFitTestResult(
        statistic=shown,
        pvalue=_exact(x, p, ordering),
        method=method,
        alternative="two-sided",
        ordering=ordering,
        degrees_of_freedom=freedom,
    )


def goodness_of_fit_exceedances(
    counts: Any, probabilities: Any, *, size: int, ordering: str = "probability", rng: Any = None
) -> NDArray[np.bool_]:
    """Which of `size` random outcomes are at least as extreme as the observed counts.

    The replicates of the Monte-Carlo method, for those who spread them over machines. They are drawn one after the
    other: from generators in equal states, fewer replicates are the first of more.

    Parameters
    ----------
    counts, probabilities, ordering
        As for `goodness_of_fit_test`.
    size : int
        The number of replicates.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of the outcomes; a Generator is advanced.

    Returns
    -------
    ndarray of bool, shape (size,)

    Raises
    ------
    ValueError
        As `goodness_of_fit_test`.

    Examples
    --------
    >>> from sigstats.goodness_of_fit.test import goodness_of_fit_exceedances
    >>> few, more = (goodness_of_fit_exceedances([8, 2], [0.5, 0.5], size=n, rng=1) for n in (10, 1000))
    >>> bool((few == more[:10]).all()), round(more.mean().item(), 1)
    (True, 0.1)
    """
    ordering = as_choice(ordering, "ordering", ORDERINGS)
    x, p, excluded = _as_counts_and_probabilities(counts, probabilities)
    size = as_count(size, "size", minimum=0, maximum=MAX_RESAMPLES)
    if excluded:  # no outcome is as extreme
        return np.zeros(size, dtype=np.bool_)
    return _exceedances(x, p, ordering, size, as_generator(rng))


def _as_counts_and_probabilities(counts: Any, probabilities: Any) -> tuple[IntArray, FloatArray, int]:
    """Counts and probabilities of the classes that may occur, and how many objects are in a class that may not."""
    x = as_counts(counts, "counts", ndim=1)
    p = as_probabilities(probabilities, "probabilities")
    if len(x) != len(p):
        raise refuse("probabilities (length)", len(p), f"{len(x)} classes, as counts has")
    if not x.any():
        raise refuse("counts (total)", 0, "at least one object")
    possible = p > 0
    if p[possible].min() < _LEAST_PROBABILITY:
        raise refuse("probabilities", p[possible].min(), f"0, or at least {_LEAST_PROBABILITY:g}")
    return x[possible], p[possible] / math.fsum(p[possible]), int(x[~possible].sum())


def _excluded(objects: int, classes: int, method: str, ordering: str, n_resamples: int) -> GoodnessOfFitTestResult:
    """The result where objects are in classes of probability 0: no outcome that may occur is as extreme."""
    if method in ("chi2", "likelihood-ratio"):
        ordering = method
    noun = "object" if objects == 1 else "objects"
    return GoodnessOfFitTestResult(
        statistic=0.0 if ordering == "probability" else math.inf,
        method=method,
        alternative="two-sided",
        **(monte_carlo_outcome(0, n_resamples) if method == "monte-carlo" else {"pvalue": 0.0}),
        ordering=ordering,
        degrees_of_freedom=classes - 1,
        reason=f"{objects:,} {noun} in a class of required probability 0, which the null hypothesis excludes",
    )


def _log_probability(x: IntArray, p: FloatArray) -> float:
    """The logarithm of eq. (13): independent Poisson counts, given their sum."""
    n = int(x.sum())
    terms = [float(poisson_log_pmf(n * q, np.array([k]))[0]) for q, k in zip(p.tolist(), x.tolist(), strict=True)]
    return math.fsum(terms) - float(poisson_log_pmf(float(n), np.array([n]))[0])


def _terms(x: IntArray, n: int, p: FloatArray | float, ordering: str) -> FloatArray:
    """What each class adds to the distance of an outcome: convex in x."""
    mean = n * np.asarray(p)
    if ordering == "chi2":
        return np.asarray((x - mean) ** 2 / mean)  # eq. (16)
    return poisson_deviance(x, mean)  # eq. (18), with terms that cancel because counts and means have equal sums


def _distance(x: IntArray, n: int, p: FloatArray, ordering: str) -> FloatArray:
    """How far outcomes (last axis: classes) are from what is required."""
    if ordering == "probability":
        log_p = [poisson_log_pmf(n * q, x[..., j]) for j, q in enumerate(p.tolist())]
        return np.asarray(-np.sum(log_p, axis=0))
    return np.asarray(_terms(x, n, p, ordering).sum(axis=-1))


def _asymptotic(x: IntArray, p: FloatArray, method: str) -> GoodnessOfFitTestResult:
    n = int(x.sum())
    statistic = float(_distance(x, n, p, method))
    freedom = len(x) - 1
    return GoodnessOfFitTestResult(
        statistic=statistic,
        pvalue=float(chdtrc(freedom, statistic)) if freedom else 1.0,  # eq. (17), (19)
        method=method,
        alternative="two-sided",
        ordering=method,
        degrees_of_freedom=freedom,
        reason=expected_counts_warning(n * p),
    )


def _exact(x: IntArray, p: FloatArray, ordering: str) -> float:
    n, k = int(x.sum()), len(x)
    if n > EXACT_MAX_TOTAL or k > EXACT_MAX_CLASSES:
        raise refuse(
            "counts (total, classes)",
            (n, k),
            f"at most {EXACT_MAX_TOTAL} and {EXACT_MAX_CLASSES} for method='exact'; use method='monte-carlo'",
        )
    every = np.arange(n + 1)
    laws = tuple(poisson_log_pmf(n * q, every) for q in p.tolist())
    scores = laws
    if ordering != "probability":
        scores = tuple(-_terms(every, n, q, ordering) for q in p.tolist())
    observed = math.fsum(float(s[j]) for s, j in zip(scores, x.tolist(), strict=True))
    # Relative to the probability itself, or to the statistic (which is rounding alone where it should be 0).
    tolerance = TIE_TOLERANCE if ordering == "probability" else max(TIE_TOLERANCE * abs(observed), 1e-12)
    keys = multinomial_keys(p.tolist(), n, ordering)
    margin = 0.0
    if ordering == "chi2" and (fractions := _finer_than(tolerance, n, p.tolist())):
        keys, margin, tolerance = chi_square_keys(fractions, n), 2.0**-44 * (abs(observed) + n), 0.0
    problem = Problem(
        parameters=tuple((n * p).tolist()),
        log_mass=poisson_log_pmf,
        laws=laws,
        scores=scores,
        total=n,
        threshold=observed + tolerance,
        margin=margin,
        observed=tuple(x.tolist()),
        keys=keys,
    )
    try:
        return tail(problem)
    except StateLimitError:
        raise refuse(
            "counts (total, classes)",
            (n, k),
            f"half of the classes to have at most {STATE_LIMIT} relevant outcomes; use method='monte-carlo'",
        ) from None


def _finer_than(tolerance: float, n: int, p: list[float]) -> list[Fraction] | None:
    """The probabilities as fractions, if chi-squares that differ may differ by less than the tolerance for ties."""
    fractions = probabilities_as_fractions(p)
    if fractions is None or len(set(fractions)) > _MOST_KEYED:
        return None
    # n times chi-square, plus n squared, is a sum of squares over these fractions.
    common = math.lcm(*(each.numerator for each in fractions))
    units = [common // each.numerator * each.denominator for each in fractions]
    return None if Fraction(math.gcd(*units), common * n) > 2 * tolerance else fractions


def _exceedances(
    x: IntArray, p: FloatArray, ordering: str, size: int, generator: np.random.Generator
) -> NDArray[np.bool_]:
    n = int(x.sum())
    observed = float(_distance(x, n, p, ordering))
    out = np.empty(size, dtype=bool)
    rows = max(1, _CHUNK // len(x))
    for start in range(0, size, rows):
        drawn = generator.multinomial(n, p, size=min(rows, size - start))
        distance = _distance(drawn, n, p, ordering)
        if ordering == "probability":
            out[start : start + len(drawn)] = at_least(np.exp(np.maximum(distance - observed, -1.0)), 1.0)
        else:
            out[start : start + len(drawn)] = at_least(distance, observed)
    return out
