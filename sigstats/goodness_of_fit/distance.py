"""How far outcomes are from the probabilities that are required, by each of the orderings."""

import math
from typing import Any, Literal, TypeAlias

import numpy as np

from .._common.data_frames import require_same_index
from .._common.validation import FloatArray, IntArray, as_counts, as_probabilities, refuse
from ..conditional.log_weights import poisson_deviance, poisson_log_pmf

#: A square of a count, divided by the product of a smaller probability and a count, is no float any more.
LEAST_PROBABILITY = 1e-290

Ordering: TypeAlias = Literal["probability", "chi2", "likelihood-ratio"]

ORDERINGS: tuple[Ordering, ...] = ("probability", "chi2", "likelihood-ratio")


def log_probability(x: IntArray, p: FloatArray) -> float:
    """The logarithm of eq. (13): independent Poisson counts, given their sum."""
    n = int(x.sum())
    terms = [float(poisson_log_pmf(n * q, np.array([k]))[0]) for q, k in zip(p.tolist(), x.tolist(), strict=True)]
    return math.fsum(terms) - float(poisson_log_pmf(float(n), np.array([n]))[0])


def class_terms(x: IntArray, n: int, p: FloatArray | float, ordering: str) -> FloatArray:
    """What each class adds to the distance of an outcome: convex in x."""
    mean = n * np.asarray(p)
    if ordering == "chi2":
        return np.asarray((x - mean) ** 2 / mean)  # eq. (16)
    return poisson_deviance(x, mean)  # eq. (18), with terms that cancel because counts and means have equal sums


def distance(x: IntArray, n: int, p: FloatArray, ordering: str) -> FloatArray:
    """How far outcomes (last axis: classes) are from what is required."""
    if ordering == "probability":
        log_p = [poisson_log_pmf(n * q, x[..., j]) for j, q in enumerate(p.tolist())]
        return np.asarray(-np.sum(log_p, axis=0))
    return np.asarray(class_terms(x, n, p, ordering).sum(axis=-1))


def as_counts_and_probabilities(counts: Any, probabilities: Any) -> tuple[IntArray, FloatArray, int]:
    """Counts and probabilities of the classes that may occur, and how many objects are in a class that may not."""
    require_same_index(counts=counts, probabilities=probabilities)
    x = as_counts(counts, "counts", ndim=1)
    p = as_probabilities(probabilities, "probabilities")
    if len(x) != len(p):
        raise refuse("probabilities (length)", len(p), f"{len(x)} classes, as counts has (labels are counted first)")
    if not x.any():
        raise refuse("counts (total)", 0, "at least one object")
    possible = p > 0
    if p[possible].min() < LEAST_PROBABILITY:
        raise refuse("probabilities", p[possible].min(), f"0, or at least {LEAST_PROBABILITY:g}")
    return x[possible], p[possible] / math.fsum(p[possible]), int(x[~possible].sum())
