"""Efficiency, goodness of fit and homogeneity of objects whose true or assigned classes are fuzzy.

Hryniewicz leaves open what such a test is ("problems for future considerations"). Taken here is the fuzzy p-value of
Filzmoser and Viertl (2004) and of Denoeux, Masson and Hebert (2005): the possibility of a p-value is that of the most
possible crisp reading of the data that gives it. It needs no more than the crisp test, and keeps its meaning: at degree
1 there is what the objects say of themselves, at the least degree every reading.

When not to use: the weights are probabilities of classes that errors were drawn from (average over draws instead); the
classes are crisp (`sigstats.efficiency_test`, `sigstats.goodness_of_fit_test`, `sigstats.homogeneity_test`).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc

from .._common.validation import FloatArray, as_choice, as_count, as_probabilities, as_real, refuse
from ..conditional.log_weights import poisson_log_pmf
from ..goodness_of_fit.distance import LEAST_PROBABILITY, class_terms
from ..goodness_of_fit.test import goodness_of_fit_test
from ..homogeneity.test import homogeneity_test
from ..intervals import Interval
from .bounds import least, most_of_fit, most_of_two, slopes_of_two, two_samples
from .correct import efficiency_extremes
from .extremes import MOST_CLASSES, greatest, hesitating, smallest
from .memberships import Choice, Counts, TooManyTables, as_memberships, choices, class_counts, degrees_of

METHODS = ("exact", "chi2")
_TABLES = 20_000


class FuzzyDecision(NamedTuple):
    """How possible, and how necessary, it is that the null hypothesis is rejected: 0 to 1 each."""

    possibility: float
    necessity: float


@dataclass(frozen=True, kw_only=True)
class FuzzyTestResult:
    """The result of a test of fuzzy classes: the possibility distribution of the p-value, cut at degrees.

    Attributes
    ----------
    degrees : tuple of float
        The degrees, from 1 down to the smallest degree of a reading.
    low, high : tuple of float
        The smallest and the largest p-value of the readings with at least each degree of possibility; the intervals
        widen as the degree decreases.
    attained : tuple of bool
        Whether both are p-values of readings; if not, they are certified bounds.
    method : str
    """

    degrees: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    attained: tuple[bool, ...]
    method: str

    @property
    def pvalue_interval(self) -> Interval:
        """The bounds of the p-value over all crisp readings."""
        return Interval(self.low[-1], self.high[-1], 1.0)

    def possibility(self, pvalue: float) -> float:
        """The largest degree at which a p-value is within the bounds; 0 where it is at none."""
        p = as_real(pvalue, "pvalue", low=0, high=1)
        found = (d for d, low, high in zip(self.degrees, self.low, self.high, strict=True) if low <= p <= high)
        return next(found, 0.0)

    def rejection(self, alpha: float = 0.05) -> FuzzyDecision:
        """How possible it is that p is at most `alpha`, and how necessary: 1 less the possibility that it is not."""
        level = as_real(alpha, "alpha", low=0, high=1, open_ends=True)
        possible = next((d for d, low in zip(self.degrees, self.low, strict=True) if low <= level), 0.0)
        against = next((d for d, high in zip(self.degrees, self.high, strict=True) if high > level), 0.0)
        return FuzzyDecision(possible, 1 - against)


def fuzzy_efficiency_test(true: Any, assigned: Any, *, n_tables: int = _TABLES) -> FuzzyTestResult:
    """Test whether objects are classified better than at random, where classes are fuzzy.

    Parameters
    ----------
    true, assigned : array_like, shape (n, K)
        The weight of each class, true and assigned, for each object: at least 0, with one above 0. Weights are scaled
        so that the largest of an object is 1; an object with a crisp class has one positive weight.
    n_tables : int
        The largest number of tables, different by margins or number correct, that are listed. If there are more, the
        ends are certified bounds.

    Returns
    -------
    FuzzyTestResult
        Of `sigstats.efficiency_test`, exact.

    Raises
    ------
    ValueError
        If the weights are of another form.

    Examples
    --------
    >>> import sigstats
    >>> true = [[1, 0]] * 5 + [[0, 1]] * 5
    >>> assigned = [[1, 0]] * 5 + [[0, 1]] * 3 + [[0.4, 1], [0.7, 1]]
    >>> found = sigstats.fuzzy_efficiency_test(true, assigned)
    >>> found.degrees, [round(p, 4) for p in found.high]
    ((1.0, 0.7, 0.4), [0.004, 0.0238, 0.0833])
    >>> found.rejection(0.05)
    FuzzyDecision(possibility=1.0, necessity=0.6)
    """
    first = as_memberships(true, "true")
    second = as_memberships(assigned, "assigned", n_classes=first.shape[1])
    if len(first) != len(second):
        raise refuse("assigned (objects)", len(second), f"{len(first)}, as of true")
    most, k = as_count(n_tables, "n_tables", minimum=1, maximum=10**7), first.shape[1]

    def at(degree: float) -> tuple[float, float, bool]:
        return efficiency_extremes(choices(first, degree), choices(second, degree), k, most)

    return _by_degree(at, degrees_of(first, second), "exact")


def fuzzy_goodness_of_fit_test(
    assigned: Any, probabilities: Any, *, method: str = "exact", n_tables: int = _TABLES
) -> FuzzyTestResult:
    """Test whether the counts of fuzzy classes agree with required probabilities.

    Parameters
    ----------
    assigned : array_like, shape (n, K)
        The weight of each class for each object, as of `fuzzy_efficiency_test`.
    probabilities : array_like, shape (K,)
        The required probabilities, above 0.
    method : {"exact", "chi2"}
        Of `sigstats.goodness_of_fit_test`.
    n_tables : int
        The most different counts that are listed where objects hesitate between more than 16 classes. With more counts
        ``"chi2"`` gives certified bounds; of fewer classes both ends are p-values of readings, however many there are.

    Returns
    -------
    FuzzyTestResult

    Raises
    ------
    ValueError
        If the weights or probabilities are of another form, or there are too many counts of too many classes for
        ``"exact"``.

    Examples
    --------
    >>> import sigstats
    >>> assigned = [[1, 0]] * 9 + [[1, 0.5], [0, 1]]
    >>> found = sigstats.fuzzy_goodness_of_fit_test(assigned, [0.5, 0.5])
    >>> found.degrees, [round(p, 4) for p in found.low], [round(p, 4) for p in found.high]
    ((1.0, 0.5), [0.0117, 0.0117], [0.0117, 0.0654])
    """
    membership = as_memberships(assigned, "assigned")
    required = as_probabilities(probabilities, "probabilities")
    if len(required) != membership.shape[1]:
        raise refuse("probabilities (length)", len(required), f"{membership.shape[1]}, one for each class")
    if required.min() < LEAST_PROBABILITY:
        raise refuse("probabilities", required.min(), f"at least {LEAST_PROBABILITY:g} for each class")
    as_choice(method, "method", METHODS)
    most, expected = as_count(n_tables, "n_tables", minimum=1, maximum=10**7), len(membership) * required

    def at(degree: float) -> tuple[float, float, bool]:
        objects = choices(membership, degree)
        if len(hesitating(objects)) <= MOST_CLASSES:
            terms = _terms(len(objects), required, method)
            ends = greatest(objects, terms), smallest(objects, terms)
            low, high = (goodness_of_fit_test(counts, required, method=method).pvalue for counts in ends)
            return low, high, True
        try:
            tables = class_counts(objects, len(required), most)
        except TooManyTables:
            if method == "exact":
                raise _too_many(most, degree) from None
            nearest = least(
                lambda x: float(((x - expected) ** 2 / expected).sum()),
                lambda x: np.asarray(2 * (x - expected) / expected),
                [objects],
                len(required),
            )
            degrees = len(required) - 1
            return float(chdtrc(degrees, most_of_fit(objects, expected))), float(chdtrc(degrees, nearest)), False
        found = (goodness_of_fit_test(counts, required, method=method).pvalue for counts in tables)
        return *_extremes(found), True

    return _by_degree(at, degrees_of(membership), method)


def fuzzy_homogeneity_test(
    first: Any, second: Any, *, method: str = "exact", n_tables: int = _TABLES
) -> FuzzyTestResult:
    """Test whether two independent samples with fuzzy classes fall into the classes alike.

    Parameters
    ----------
    first, second : array_like, shapes (n, K) and (m, K)
        The weight of each class for each object, as of `fuzzy_efficiency_test`.
    method : {"exact", "chi2"}
        Of `sigstats.homogeneity_test`. With more than `n_tables` pairs of counts ``"chi2"`` gives certified bounds.
    n_tables : int
        The most different pairs of counts that are listed.

    Returns
    -------
    FuzzyTestResult
        A reading in which all objects have one class tells nothing apart: its p-value is 1.

    Raises
    ------
    ValueError
        If the weights are of another form, or there are too many counts for ``"exact"``.

    Examples
    --------
    >>> import sigstats
    >>> first, second = [[1, 0]] * 6 + [[1, 0.3]], [[0, 1]] * 4 + [[1, 1]]
    >>> found = sigstats.fuzzy_homogeneity_test(first, second)
    >>> [round(p, 4) for p in found.low], [round(p, 4) for p in found.high]
    ([0.0013, 0.0013], [0.0101, 0.072])
    """
    a = as_memberships(first, "first")
    b = as_memberships(second, "second", n_classes=a.shape[1])
    as_choice(method, "method", METHODS)
    most, k = as_count(n_tables, "n_tables", minimum=1, maximum=10**7), a.shape[1]

    def at(degree: float) -> tuple[float, float, bool]:
        objects = choices(a, degree), choices(b, degree)
        try:
            tables = [class_counts(own, k, most) for own in objects]
            if len(tables[0]) * len(tables[1]) > most:
                raise TooManyTables
        except TooManyTables:
            if method == "exact":
                raise _too_many(most, degree) from None
            return *_homogeneity_bounds(*objects, k), False
        return *_extremes(_homogeneity(x, y, method) for x, y in product(*tables)), True

    return _by_degree(at, degrees_of(a, b), method)


def _terms(n: int, required: FloatArray, method: str) -> FloatArray:
    """What each count of each class adds to how far counts are from what is required: p falls with the sum."""
    every = np.arange(n + 1)
    if method == "chi2":
        return np.array([class_terms(every, n, p, "chi2") for p in required.tolist()])
    return -np.array([poisson_log_pmf(n * p, every) for p in required.tolist()])


def _homogeneity(a: Counts, b: Counts, method: str) -> float:
    if sum(x + y > 0 for x, y in zip(a, b, strict=True)) < 2:
        return 1.0
    return homogeneity_test(a, b, method=method).pvalue


def _homogeneity_bounds(first: Sequence[Choice], second: Sequence[Choice], k: int) -> tuple[float, float]:
    n, m = len(first), len(second)
    smallest = least(
        lambda x: float(two_samples(x[:k], x[k:], n, m).sum()),
        lambda x: slopes_of_two(x[:k], x[k:], n, m),
        [first, second],
        k,
    )
    # Empty classes are left out: fewer degrees of freedom make p smaller.
    sure = {own[0] for own in (*first, *second) if len(own) == 1}
    some = {j for own in (*first, *second) for j in own}
    low = chdtrc(max(1, len(sure) - 1), most_of_two(first, second, k))
    return float(low), float(chdtrc(len(some) - 1, smallest))


def _extremes(pvalues: Iterable[float]) -> tuple[float, float]:
    low, high = math.inf, -math.inf
    for p in pvalues:
        low, high = min(low, p), max(high, p)
    return low, high


def _by_degree(
    at: Callable[[float], tuple[float, float, bool]], degrees: Sequence[float], method: str
) -> FuzzyTestResult:
    low, high, attained = zip(*map(at, degrees), strict=True)
    # Bounds at a lower degree hold at a higher one too, and may be the nearer ones.
    low = np.maximum.accumulate(low[::-1])[::-1].tolist()
    high = np.minimum.accumulate(high[::-1])[::-1].tolist()
    return FuzzyTestResult(degrees=tuple(degrees), low=tuple(low), high=tuple(high), attained=attained, method=method)


def _too_many(most: int, degree: float) -> ValueError:
    wanted = "fewer objects of several classes, a larger n_tables, or method='chi2' where the test has it"
    return ValueError(f"n_tables: {most} are too few at degree {degree:g}; expected {wanted}")
