"""Intervals of F1 on test sets: of one classifier, or of the difference of two."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sigstats.bootstrap.replicates import BOOTSTRAP_METHODS
from sigstats.bootstrap.test import bootstrap_test
from sigstats.f1_intervals import F1_METHODS, f1_difference_interval, f1_interval, f1_standard_error
from sigstats.joint.outcomes import JointOutcomes

from .population import Population
from .tests import attempts

#: Test sets of counts have the measures of a population of such counts.
_POPULATION = Population(outcomes=(1,) * 8)


@dataclass(frozen=True)
class Estimate:
    """What a method says of one test set."""

    #: The ends are NaN where the method refuses the test set.
    estimate: float
    low: float
    high: float
    #: As the method states it; NaN where the ends are.
    standard_error: float
    #: Whether F1 is 0/0 on the test set, which is taken as 0.
    undefined: bool


def truth(population: Population, of: str) -> float:
    """F1 of A in the population, or that of B less that of A."""
    return float(population.differences("f1", np.array([compared(population.expected, of)]))[0])


def compared(outcomes: Iterable[Any], of: str) -> list[Any]:
    """The outcomes whose difference of F1 is asked for: for A alone, those of A against one that says no positive."""
    if of == "difference":
        return list(outcomes)
    e1, e2, e3, e4, e5, e6, e7, e8 = outcomes
    return [0, e1 + e3, 0, e2 + e4, 0, e5 + e7, 0, e6 + e8]


def run_interval(options: Mapping[str, Any], counts: Sequence[int], rng: np.random.Generator) -> Estimate:
    """Apply a method to one test set."""
    joint = JointOutcomes(*compared(counts, options["of"]))
    return _estimate(options, joint, *_METHODS[options["method"]](options, joint, rng))


def run_intervals(
    options: Mapping[str, Any], sets: Iterable[Sequence[int]], rng: np.random.Generator
) -> tuple[list[Estimate], str]:
    """Apply a method to several test sets: what it says of each, and why it refuses the first that it refuses."""
    sets = list(sets)
    found, problem = attempts(partial(run_interval, options, counts, rng) for counts in sets)
    refused = (math.nan,) * 3
    return [
        _estimate(options, JointOutcomes(*compared(counts, options["of"])), *refused) if said is None else said
        for said, counts in zip(found, sets, strict=True)
    ], problem


def _estimate(options: Mapping[str, Any], joint: JointOutcomes, low: float, high: float, error: float) -> Estimate:
    difference = float(_POPULATION.differences("f1", np.array([joint.counts]))[0])
    sides = (joint.confusion_b,) if options["of"] == "a" else (joint.confusion_a, joint.confusion_b)
    undefined = any(side.tp + side.fp + side.fn == 0 for side in sides)
    return Estimate(difference, low, high, error, undefined)


def _bootstrap(
    options: Mapping[str, Any], joint: JointOutcomes, rng: np.random.Generator
) -> tuple[float, float, float]:
    found = bootstrap_test(
        joint,
        measure="f1",
        method=options["method"],
        n_resamples=options["resamples"],
        confidence_level=options["confidence"],
        rng=rng,
    )
    return *-found.confidence_interval, found.standard_error


def _closed(options: Mapping[str, Any], joint: JointOutcomes, rng: np.random.Generator) -> tuple[float, float, float]:  # noqa: ARG001
    """Wilson's interval and its like."""
    error = f1_standard_error(joint)
    if options["of"] == "difference":
        return *-f1_difference_interval(joint, confidence_level=options["confidence"]), error
    only = joint.confusion_b
    counts = (int(only.tp), int(only.fp), int(only.fn))
    return *f1_interval(*counts, method=options["method"], confidence_level=options["confidence"]), error


def _posterior(
    options: Mapping[str, Any], joint: JointOutcomes, rng: np.random.Generator
) -> tuple[float, float, float]:
    """The equal-tailed interval of the posterior, with the prior Dirichlet(1/2, ..., 1/2) of the events."""
    if options["of"] == "a":
        weights = np.zeros((options["resamples"], 8))
        weights[:, [1, 3, 5, 7]] = rng.standard_gamma(np.array(joint.counts)[[1, 3, 5, 7]] + 0.5, (len(weights), 4))
    else:
        weights = rng.standard_gamma(np.array(joint.counts) + 0.5, (options["resamples"], 8))
    drawn = np.sort(_POPULATION.differences("f1", weights))
    rank = int((len(drawn) + 1) * (1 - options["confidence"]) / 2 + 1e-9)
    return float(drawn[rank - 1]), float(drawn[-rank]), float(drawn.std(ddof=1))


_METHODS: dict[str, Callable[..., tuple[float, float, float]]] = {
    **dict.fromkeys(BOOTSTRAP_METHODS, _bootstrap),
    **dict.fromkeys(F1_METHODS, _closed),
    "bayesian": _posterior,
}
