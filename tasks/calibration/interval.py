"""Intervals on test sets from a population: the estimate, both ends and the stated standard error.

On counts they are intervals of the F1 of one classifier, or of the difference between two; described populations define
other intervals. Test sets come from the stream of `sigstats.tasks.calibration.subsample`, so that intervals and tests
are given the same ones.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats.bootstrap.bootstrap_test import bootstrap_test
from sigstats.bootstrap.replicates import BOOTSTRAP_METHODS
from sigstats.f1_intervals import F1_COUNTED, F1_METHODS, f1_difference_interval, f1_interval, f1_standard_errors
from sigstats.joint.outcomes import JointOutcomes

from ..fan_out import replicates_table
from ..own_code import admit_measure
from ..plan import Block
from ..schema import REPLICATE, column
from ..statistical_tests import distinct_sets
from ..storage.store import Store
from . import subsample
from .population import Population
from .populations.judged import JudgedRows
from .populations.tests import call_each, require_some_defined
from .subsample import LANE_SIZE, draw_lanes, groups_of_lanes, population
from .work import Described, OnTestSets

#: A population of the eight outcomes, for the measures of test sets of counts.
_POPULATION = Population(outcomes=(1,) * 8)
#: Rounding error up to which an interval that ends at the true value contains it.
_TIE = 1e-12

_SCHEMA = pa.schema(
    [
        REPLICATE,
        column("estimate", pa.float64(), "of the measure", "what is estimated, on the test set"),
        column("low", pa.float64(), "of the measure", "lower end of the interval"),
        column("high", pa.float64(), "of the measure", "upper end of the interval"),
        column("standard_error", pa.float64(), "of the measure", "the standard error that the method states"),
        column("covers", pa.bool_(), "yes or no", "whether the interval contains the true value of the population"),
        column("undefined", pa.bool_(), "yes or no", "whether the measure is 0/0 on the test set, taken as 0"),
    ]
)


def _revision(work: OnTestSets) -> int:
    """Return 1 if outputs are exchanged (the truth is then 0) or rows are judged (one more is unseen), else 0."""
    return int(work.population.swapped or isinstance(work.population, JudgedRows))


def true_value(work: OnTestSets, drawn_from: Population | Described) -> float:
    """Return the true value, which an interval should contain."""
    if isinstance(drawn_from, Population):
        return true_f1(drawn_from, work.test.options["of"])
    return drawn_from.truth(work.test.compared)


def _compute(block: Block, store: Store, work: OnTestSets) -> pa.Table:
    admit_measure(work.test.measure, work.test.measure_code)
    drawn_from = population(work, store)
    assert isinstance(drawn_from, Population | Described)  # studies refuse others; prerequisites are complete
    parts: list[NDArray[np.float64]] = []  # the fields of an `Estimate` per test set, for each group of lanes
    alone = isinstance(drawn_from, Described) or draws(work.test.options)
    for lanes in groups_of_lanes(block, drawn_from, alone=alone):
        rng, size = lanes[0]
        if isinstance(drawn_from, Population):
            estimates, problem = run_intervals(work.test.options, draw_lanes(drawn_from, work.n, lanes), rng)
        else:
            sets, problem = drawn_from.draw(work.n, rng, LANE_SIZE)[:size], ""
            results = [drawn_from.run_interval(work.test, test_set, rng) for test_set in sets]
            estimates = np.array([astuple(result) for result in results], np.float64)
        if block.first == 0 and not parts:
            require_some_defined(estimates[:LANE_SIZE, 1], problem)
        parts.append(estimates)
    true = true_value(work, drawn_from)
    estimate, low, high, error, undefined = np.concatenate(parts).T
    columns = {"estimate": estimate, "low": low, "high": high, "standard_error": error, "undefined": undefined > 0}
    covers = (low - _TIE <= true) & (true <= high + _TIE)
    return replicates_table(block, _SCHEMA, **columns, covers=covers)


def true_f1(population: Population, of: str) -> float:
    """Return the F1 of A in the population, or the difference in F1, B - A."""
    return float(population.differences("f1", np.array([compared_outcomes(population.expected, of)]))[0])


def compared_outcomes(outcomes: Iterable[Any], of: str) -> list[Any]:
    """Return the outcomes for a difference in F1. For the F1 of A only, A replaces B, and A is never positive."""
    if of == "difference":
        return list(outcomes)
    e1, e2, e3, e4, e5, e6, e7, e8 = outcomes
    return [0, e1 + e3, 0, e2 + e4, 0, e5 + e7, 0, e6 + e8]


def draws(options: Mapping[str, Any]) -> bool:
    """Return True if a method draws random numbers in addition to the test sets."""
    return options["method"] not in F1_METHODS


def run_intervals(
    options: Mapping[str, Any], drawn: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.float64], str]:
    """Apply a method to several test sets; return the fields of an `Estimate` per test set, and the first error.

    A method that draws no random numbers is applied only once to all test sets that have the same interval.
    """
    of_a = options["of"] == "a"
    sets = np.zeros_like(drawn)
    for position, counts in enumerate(compared_outcomes(drawn.T, options["of"])):
        sets[:, position] = counts
    distinct, positions = sets, np.arange(len(sets))
    if not draws(options):
        distinct, positions = distinct_sets(_without_false_positives(sets) if of_a else sets)
    method = _METHODS[options["method"]]
    intervals, problem = call_each(partial(method, options, counts, rng) for counts in distinct.tolist())
    ends = np.array([(math.nan,) * 3 if interval is None else interval for interval in intervals])[positions]
    if not draws(options):
        ends[:, 2] = np.where(np.isnan(ends[:, 0]), math.nan, f1_standard_errors(sets))
    # F1 is 0/0 on a test set without a row that it counts (TP + FP + FN).
    undefined = sets @ F1_COUNTED["b"][1] == 0
    if not of_a:
        undefined |= sets @ F1_COUNTED["a"][1] == 0
    return np.column_stack([_POPULATION.differences("f1", sets), ends, undefined]), problem


def _without_false_positives(sets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return test sets with FP counted as FN, which leaves F1 as it is: it depends only on TP and FP + FN."""
    same = np.zeros_like(sets)
    same[:, 1] = sets[:, 1]
    same[:, 3] = sets[:, 3] + sets[:, 5]
    return same


#: Both ends of an interval, and the standard error that the method states.
_Interval: TypeAlias = tuple[float, float, float]


def _bootstrap(options: Mapping[str, Any], counts: Sequence[int], rng: np.random.Generator) -> _Interval:
    result = bootstrap_test(
        JointOutcomes(*counts),
        measure="f1",
        method=options["method"],
        n_resamples=options["resamples"],
        confidence_level=options["confidence"],
        rng=rng,
    )
    return *-result.confidence_interval, result.standard_error


def _closed(options: Mapping[str, Any], counts: Sequence[int], rng: object) -> _Interval:  # noqa: ARG001
    """Return an interval by a formula, and NaN: the standard errors of all test sets are computed together."""
    level = options["confidence"]
    if options["of"] == "difference":
        return *-f1_difference_interval(JointOutcomes(*counts), confidence_level=level), math.nan
    _, hits, _, missed, *_ = counts
    return *f1_interval(hits, 0, missed, method=options["method"], confidence_level=level), math.nan


def _posterior(options: Mapping[str, Any], counts: Sequence[int], rng: np.random.Generator) -> _Interval:
    """Return the equal-tailed posterior interval under the prior Dirichlet(1/2, ..., 1/2) on the outcomes."""
    if options["of"] == "a":
        weights = np.zeros((options["resamples"], 8))
        weights[:, [1, 3, 5, 7]] = rng.standard_gamma(np.array(counts)[[1, 3, 5, 7]] + 0.5, (len(weights), 4))
    else:
        weights = rng.standard_gamma(np.array(counts) + 0.5, (options["resamples"], 8))
    drawn = np.sort(_POPULATION.differences("f1", weights))
    rank = int((len(drawn) + 1) * (1 - options["confidence"]) / 2 + 1e-9)
    return float(drawn[rank - 1]), float(drawn[-rank]), float(drawn.std(ddof=1))


_METHODS: dict[str, Callable[..., _Interval]] = {
    **dict.fromkeys(BOOTSTRAP_METHODS, _bootstrap),
    **dict.fromkeys(F1_METHODS, _closed),
    "bayesian": _posterior,
}


FAN_OUT = replace(
    subsample.FAN_OUT,
    about="Intervals on test sets from a population: the estimate, both ends and the stated standard error.",
    version=1,
    revision=_revision,
    schema=_SCHEMA,
    compute=_compute,
    rejections=lambda table, _: ~table.column("covers").to_numpy(),  # an undefined interval is a miss, too
)
