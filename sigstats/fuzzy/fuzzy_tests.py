"""Efficiency, goodness of fit and homogeneity of objects whose true or assigned classes are fuzzy.

Hryniewicz leaves open what such a test is ("problems for future considerations"). This module computes the fuzzy
p-value of Filzmoser and Viertl (2004) and of Denoeux, Masson and Hebert (2005): the possibility of a p-value is that of
the most possible crisp reading of the data with this p-value. It needs nothing more than the crisp test, and keeps its
meaning: at degree 1 it is that of the classes of full membership, at the smallest degree that of all readings.

When not to use: the weights are probabilities of classes that errors were drawn from (average over draws instead); the
classes are crisp (`sigstats.efficiency_test`, `sigstats.goodness_of_fit_test`, `sigstats.homogeneity_test`).
"""

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import chdtrc

from .._common.data_frames import require_same_index, same_columns
from .._common.validation import FloatArray, as_choice, as_count, as_probabilities, refuse
from ..conditional.problem import poisson_log_pmf
from ..goodness_of_fit.distance import LEAST_PROBABILITY, class_terms
from ..goodness_of_fit.goodness_of_fit_test import goodness_of_fit_test as crisp_goodness_of_fit_test
from ..homogeneity.homogeneity_test import homogeneity_test as crisp_homogeneity_test
from . import extremes
from .degrees import (
    Choice,
    Counts,
    Ends,
    FuzzyTestResult,
    TooManyTables,
    as_graded,
    as_memberships,
    by_degree,
    choices,
    class_counts,
)

FuzzyMethod: TypeAlias = Literal["exact", "chi2"]

METHODS: tuple[FuzzyMethod, ...] = ("exact", "chi2")
_TABLES = 20_000


def efficiency_test(y: Any, assigned: Any, *, n_tables: int = _TABLES) -> FuzzyTestResult:
    """Test whether objects with fuzzy classes are classified better than at random.

    Null hypothesis of a reading: that of `sigstats.efficiency_test`, a random pairing of true and assigned classes.

    Parameters
    ----------
    y, assigned : array_like, shape (n, K)
        The weight of each class, true and assigned, for each object: at least 0, with one above 0. Weights are scaled
        so that the largest of an object is 1; an object with a crisp class has one positive weight. If only one of
        the tables is a data frame, its columns must be sorted by name.
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
    >>> y = [[1, 0]] * 5 + [[0, 1]] * 5
    >>> assigned = [[1, 0]] * 5 + [[0, 1]] * 3 + [[0.4, 1], [0.7, 1]]
    >>> result = sigstats.fuzzy.efficiency_test(y, assigned)
    >>> result.degrees, [round(p, 4) for p in result.high]
    ((1.0, 0.7, 0.4), [0.004, 0.0238, 0.0833])
    >>> result.rejection(0.05)
    FuzzyDecision(possibility=1.0, necessity=0.6)
    """
    require_same_index(y=y, assigned=assigned)
    same_columns(y=y, assigned=assigned)
    first = as_memberships(y, "y")
    second = as_memberships(assigned, "assigned", n_classes=first.shape[1])
    if len(first) != len(second):
        raise refuse("assigned", len(second), f"{len(first)}, as of y", quantity="number of objects")
    most, k = as_count(n_tables, "n_tables", minimum=1, maximum=10**7), first.shape[1]
    graded = as_graded(first, second)

    def ends_at(degree: float) -> Ends:
        rows, columns = (choices(membership, degree) for membership in graded.memberships)
        return extremes.efficiency_ends(rows, columns, k, most)

    return by_degree(ends_at, graded, "exact")


def goodness_of_fit_test(
    assigned: Any, probabilities: Any, *, method: FuzzyMethod = "exact", n_tables: int = _TABLES
) -> FuzzyTestResult:
    """Test whether the counts of fuzzy classes agree with required probabilities.

    Null hypothesis of a reading: that of `sigstats.goodness_of_fit_test`, the required probabilities.

    Parameters
    ----------
    assigned : array_like, shape (n, K)
        The weight of each class for each object, as of `efficiency_test`.
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
    >>> result = sigstats.fuzzy.goodness_of_fit_test(assigned, [0.5, 0.5])
    >>> result.degrees, [round(p, 4) for p in result.low], [round(p, 4) for p in result.high]
    ((1.0, 0.5), [0.0117, 0.0117], [0.0117, 0.0654])
    """
    require_same_index(axis="classes", assigned=assigned, probabilities=probabilities)
    membership = as_memberships(assigned, "assigned")
    required = as_probabilities(probabilities, "probabilities")
    if len(required) != membership.shape[1]:
        raise refuse("probabilities", len(required), f"{membership.shape[1]}, one for each class", quantity="length")
    if required.min() < LEAST_PROBABILITY:
        raise refuse("probabilities", required.min(), f"at least {LEAST_PROBABILITY:g} for each class")
    as_choice(method, "method", METHODS)
    most = as_count(n_tables, "n_tables", minimum=1, maximum=10**7)
    graded = as_graded(membership)
    # Readings at a degree are some of those at a lower one.
    pvalue = cache(lambda counts: crisp_goodness_of_fit_test(counts, required, method=method).pvalue)

    def ends_at(degree: float) -> Ends:
        objects = choices(graded.memberships[0], degree)
        if len(extremes.hesitating(objects)) <= extremes.MOST_CLASSES:
            terms = _terms(len(objects), required, method)
            farthest, nearest = extremes.greatest(objects, terms), extremes.smallest(objects, terms)
            return Ends(pvalue(tuple(farthest.tolist())), pvalue(tuple(nearest.tolist())), True)
        try:
            (tables,) = class_counts(objects, n_classes=len(required), most=most)
        except TooManyTables:
            if method == "exact":
                raise _too_many(most, degree) from None
            return _goodness_of_fit_bounds(objects, len(membership) * required)
        pvalues = [pvalue(counts) for counts in tables]
        return Ends(min(pvalues), max(pvalues), True)

    return by_degree(ends_at, graded, method)


def homogeneity_test(
    first: Any, second: Any, *, method: FuzzyMethod = "exact", n_tables: int = _TABLES
) -> FuzzyTestResult:
    """Test whether two independent samples with fuzzy classes fall into the classes with equal probabilities.

    Null hypothesis of a reading: that of `sigstats.homogeneity_test`, equal probabilities of the classes.

    Parameters
    ----------
    first, second : array_like, shapes (n, K) and (m, K)
        The weight of each class for each object, as of `efficiency_test`.
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
    >>> result = sigstats.fuzzy.homogeneity_test(first, second)
    >>> [round(p, 4) for p in result.low], [round(p, 4) for p in result.high]
    ([0.0013, 0.0013], [0.0101, 0.072])
    """
    same_columns(first=first, second=second)
    a = as_memberships(first, "first")
    b = as_memberships(second, "second", n_classes=a.shape[1])
    as_choice(method, "method", METHODS)
    most, k = as_count(n_tables, "n_tables", minimum=1, maximum=10**7), a.shape[1]

    graded, pvalue = as_graded(a, b), cache(_homogeneity)

    def ends_at(degree: float) -> Ends:
        objects = choices(graded.memberships[0], degree), choices(graded.memberships[1], degree)
        try:
            tables = class_counts(*objects, n_classes=k, most=most)
        except TooManyTables:
            if method == "exact":
                raise _too_many(most, degree) from None
            return _homogeneity_bounds(*objects, k)
        if method == "chi2":
            return _chi2_ends(*(np.array(sorted(table), dtype=float) for table in tables))
        pvalues = [pvalue(x, y) for x, y in product(*tables)]
        return Ends(min(pvalues), max(pvalues), True)

    return by_degree(ends_at, graded, method)


def _terms(n: int, required: FloatArray, method: str) -> FloatArray:
    """Return the terms of the distance of counts from the expected ones, by count and class: p falls with the sum."""
    every = np.arange(n + 1)
    if method == "chi2":
        return np.array([class_terms(every, n, p, "chi2") for p in required.tolist()])
    return -np.array([poisson_log_pmf(n * p, every) for p in required.tolist()])


def _goodness_of_fit_bounds(objects: Sequence[Choice], expected: FloatArray) -> Ends:
    """Return certified bounds of the p-values of the chi-square test."""
    freedom = len(expected) - 1
    smallest = extremes.lower_bound(
        lambda x: float(((x - expected) ** 2 / expected).sum()),
        lambda x: np.asarray(2 * (x - expected) / expected),
        [objects],
        len(expected),
    )
    largest = extremes.upper_bound_of_fit(objects, expected)
    return Ends(float(chdtrc(freedom, largest)), float(chdtrc(freedom, smallest)), False)


def _homogeneity(a: Counts, b: Counts) -> float:
    return crisp_homogeneity_test(a, b).pvalue if sum(x + y > 0 for x, y in zip(a, b, strict=True)) > 1 else 1.0


def _chi2_ends(first: FloatArray, second: FloatArray) -> Ends:
    """Return the smallest and largest p-value of the chi-square test of each row of one with each row of the other."""
    a, b = np.repeat(first, len(second), axis=0), np.tile(second, (len(first), 1))
    classes = ((a + b) > 0).sum(axis=1)
    statistics = extremes.two_samples(a, b, a[0].sum(), b[0].sum()).sum(axis=1)
    p = np.where(classes > 1, chdtrc(np.maximum(classes - 1, 1), statistics), 1.0)
    return Ends(float(p.min()), float(p.max()), True)


def _homogeneity_bounds(first: Sequence[Choice], second: Sequence[Choice], k: int) -> Ends:
    """Return certified bounds of the p-values of the chi-square test."""
    n, m = len(first), len(second)
    smallest = extremes.lower_bound(
        lambda x: float(extremes.two_samples(x[:k], x[k:], n, m).sum()),
        lambda x: extremes.slopes_of_two(x[:k], x[k:], n, m),
        [first, second],
        k,
    )
    # Empty classes are left out: fewer degrees of freedom make p smaller.
    sure = {choice[0] for choice in (*first, *second) if len(choice) == 1}
    some = {j for choice in (*first, *second) for j in choice}
    low = chdtrc(max(1, len(sure) - 1), extremes.upper_bound_of_two(first, second, k))
    return Ends(float(low), float(chdtrc(len(some) - 1, smallest)), False)


def _too_many(most: int, degree: float) -> ValueError:
    wanted = "fewer objects of several classes, a larger n_tables, or method='chi2' if the test has it"
    return ValueError(f"n_tables: {most} are too few at degree {degree:g}; expected {wanted}")
