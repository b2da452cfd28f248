"""The distance of outcomes, observed or random, from the probabilities that are required, by each of the orderings."""

import math
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._common.class_names import require_classes_spelled_once
from .._common.data_frames import require_same_index
from .._common.extreme import at_least
from .._common.random_streams import as_generator
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
from ..conditional.log_weights import poisson_deviance, poisson_log_pmf

#: A square of a count, divided by the product of a smaller probability and a count, is no float any more.
LEAST_PROBABILITY = 1e-290
_CHUNK = 2**18

Ordering: TypeAlias = Literal["probability", "chi2", "likelihood-ratio"]

ORDERINGS: tuple[Ordering, ...] = ("probability", "chi2", "likelihood-ratio")


def log_probability(x: IntArray, p: FloatArray) -> float:
    """The logarithm of eq. (13): independent Poisson counts, given their sum."""
    n = int(x.sum())
    terms = [float(poisson_log_pmf(n * q, np.array([k]))[0]) for q, k in zip(p.tolist(), x.tolist(), strict=True)]
    return math.fsum(terms) - float(poisson_log_pmf(float(n), np.array([n]))[0])


def class_terms(x: IntArray, n: int, p: FloatArray | float, ordering: str) -> FloatArray:
    """The terms of the classes in the distance of an outcome: convex in x."""
    mean = n * np.asarray(p)
    if ordering == "chi2":
        return np.asarray((x - mean) ** 2 / mean)  # eq. (16)
    return poisson_deviance(x, mean)  # eq. (18), with terms that cancel because counts and means have equal sums


def distance(x: IntArray, n: int, p: FloatArray, ordering: str) -> FloatArray:
    """The distance of outcomes (last axis: classes) from what is required."""
    if ordering == "probability":
        log_p = [poisson_log_pmf(n * q, x[..., j]) for j, q in enumerate(p.tolist())]
        return np.asarray(-np.sum(log_p, axis=0))
    return np.asarray(class_terms(x, n, p, ordering).sum(axis=-1))


def as_counts_and_probabilities(counts: Any, probabilities: Any) -> tuple[IntArray, FloatArray, int]:
    """Counts and probabilities of the classes that may occur, and how many objects are in a class that may not."""
    require_same_index(counts=counts, probabilities=probabilities)
    require_classes_spelled_once(counts=counts, probabilities=probabilities)
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


def goodness_of_fit_exceedances(
    counts: Any, probabilities: Any, *, size: int, ordering: str = "probability", rng: Any = None
) -> NDArray[np.bool_]:
    """A mask of `size` random outcomes that are at least as extreme as the observed counts.

    The replicates of the Monte-Carlo method of `goodness_of_fit_test`, with its parameters and errors, for those who
    spread them over machines: from generators in equal states, which are advanced, fewer are the first of more.

    >>> few, more = (goodness_of_fit_exceedances([8, 2], [0.5, 0.5], size=n, rng=1) for n in (10, 1000))
    >>> bool((few == more[:10]).all()), round(more.mean().item(), 1)
    (True, 0.1)
    """
    ordering = as_choice(ordering, "ordering", ORDERINGS)
    x, p, excluded = as_counts_and_probabilities(counts, probabilities)
    size = as_count(size, "size", minimum=0, maximum=MAX_RESAMPLES)
    if excluded:  # no outcome is as extreme
        return np.zeros(size, dtype=np.bool_)
    return exceedances(x, p, ordering, size, as_generator(rng))


def exceedances(
    x: IntArray, p: FloatArray, ordering: str, size: int, generator: np.random.Generator
) -> NDArray[np.bool_]:
    """The same of counts and probabilities that were checked."""
    n = int(x.sum())
    observed = float(distance(x, n, p, ordering))
    out = np.empty(size, dtype=bool)
    rows = max(1, _CHUNK // len(x))
    for start in range(0, size, rows):
        drawn = generator.multinomial(n, p, size=min(rows, size - start))
        how_far = distance(drawn, n, p, ordering)
        if ordering == "probability":
            out[start : start + len(drawn)] = at_least(np.exp(np.maximum(how_far - observed, -1.0)), 1.0)
        else:
            out[start : start + len(drawn)] = at_least(how_far, observed)
    return out
