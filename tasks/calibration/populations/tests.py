"""Tests of two classifiers on test sets from a population.

They are the tests of `sigstats.tasks.statistical_tests`, ``bootstrap``, and tests of scores: DeLong's of areas under
the ROC curve and Student's t of losses. `sigstats.tasks.calibration.own_tests` calls tests from other packages.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from sigstats._common.validation import Alternative, one_line
from sigstats.bootstrap.bootstrap_test import BootstrapResult, bootstrap_test
from sigstats.measures.table import MEASURES
from sigstats.scores.auc import auc_test
from sigstats.scores.mean_score import mean_score_test
from sigstats.scores.result import ScoreResult

from ... import statistical_tests
from ..population import EventPopulation, Population
from ..work import AppliedTest, measure_of
from .scored import Rows

AnyPopulation: TypeAlias = Population | EventPopulation
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Answers:
    """The answers of a test on several test sets."""

    #: NaN if the test refuses the test set.
    p_value: NDArray[np.float64]
    #: For each test set, whether the interval contains the true difference; None if the test has no intervals.
    covers: NDArray[np.object_] | None = None
    #: The reason for the first refusal of a test set, or empty if none is refused.
    problem: str = ""


def call_each(calls: Iterable[Callable[[], _Value]]) -> tuple[list[_Value | None], str]:
    """Return the result of each call, None if it raises an error of value or arithmetic, and the first error message.

    >>> call_each([lambda: 1 / 2, lambda: 1 / 0])
    ([0.5, None], 'division by zero')
    """
    items: list[_Value | None] = []
    problem = ""
    for call in calls:
        try:
            items.append(call())
        except (ValueError, ArithmeticError) as error:
            items.append(None)
            problem = problem or one_line(error)
    return items, problem


def require_some_defined(values: NDArray[np.float64], problem: str) -> None:
    """Raise ValueError(`problem`) if all p-values, or ends of intervals, of the first test sets are NaN.

    A test or method that is not defined on any of them would not be defined on the other test sets either.
    """
    if np.isnan(values).all():
        raise ValueError(problem)


def run_test(
    test: AppliedTest, drawn: NDArray[np.int64], population: AnyPopulation, rng: np.random.Generator
) -> Answers:
    """Run a test on each test set. The p-value is NaN if the test refuses an option or the test set.

    `drawn` (ndarray of int64, shape (m, J)): test sets from `population`.
    """
    if test.test == "bootstrap":
        return _bootstrap(test, drawn, population, rng)
    on_sets = statistical_tests.of_sets(test.test)
    assert on_sets is not None  # other tests have separate fan-outs
    return Answers(on_sets.pvalues(population.outcomes_of(drawn), rng, **test.options))


def draws(test: AppliedTest) -> bool:
    """Return True if a test draws random numbers in addition to the test sets."""
    on_sets = statistical_tests.of_sets(test.test)
    return on_sets is None or on_sets.draws


def _bootstrap_options(test: AppliedTest) -> dict[str, Any]:
    """Return the options of a bootstrap by the names in `bootstrap_test`; studies and identities use shorter names."""
    names = {"resamples": "n_resamples", "confidence": "confidence_level"}
    options = {"measure": measure_of(test), **{names.get(key, key): value for key, value in test.options.items()}}
    if "alternative" in options and not measure_of(test).greater_is_better:  # in a study, greater means A is better
        options["alternative"] = {"greater": "less", "less": "greater"}.get(options["alternative"], "two-sided")
    return options


def _bootstrap(
    test: AppliedTest, drawn: NDArray[np.int64], population: AnyPopulation, rng: np.random.Generator
) -> Answers:
    truth = 0.0 - population.difference(measure_of(test))  # A - B, as in the test
    options = _bootstrap_options(test)
    calls = (partial(bootstrap_test, population.record(counts), rng=rng, **options) for counts in drawn.tolist())
    results, problem = call_each(calls)
    p_values = [None if result is None else result.pvalue for result in results]
    covers = [None if result is None else truth in result.confidence_interval for result in results]
    return Answers(np.array(p_values, np.float64), np.array(covers, object), problem)


def needs_classes(test: AppliedTest) -> bool:
    """Return True if a test needs rows of both classes, not only the right and wrong answers."""
    spec, on_sets = MEASURES.get(test.compared), statistical_tests.of_sets(test.test)
    if test.test == "f1-interval" or (on_sets is not None and not on_sets.of_answers):
        return True
    return spec is None or spec.needs != "answers"


def advantage(test: AppliedTest, drawn: NDArray[np.int64], population: AnyPopulation) -> NDArray[np.float64]:
    """Return the advantage of B over A on each test set, by the measure of a test."""
    measure = measure_of(test)
    if test.test == "bootstrap" or test.code is not None:
        differences = population.differences(measure, drawn)
    else:  # the test only uses right and wrong answers
        differences = Population(outcomes=(1,) * 8).differences(measure, population.outcomes_of(drawn))
    return differences if measure.greater_is_better else -differences


def true_advantage(population: AnyPopulation, test: AppliedTest) -> float:
    """Return the advantage of B over A in the population, by the measure of a test."""
    if population.swapped:
        return 0.0
    measure = measure_of(test)
    if test.test != "bootstrap" and measure.name == "accuracy":  # the test only uses right and wrong answers
        only_a, only_b = population.discordant
        return (only_b - only_a) / (population.rows or 1)
    difference = population.difference(measure)
    return difference if measure.greater_is_better else -difference


def confidence(test: AppliedTest, test_set: AnyPopulation) -> float:
    """Return a test's confidence that the better classifier on one test set (B in a tie) is truly better.

    The confidence is one minus the one-sided p-value. A bootstrap's confidence is computed elsewhere, from replicates.
    """
    on_sets = statistical_tests.of_sets(test.test)
    assert on_sets is not None
    options = {key: value for key, value in test.options.items() if key != "alternative"}
    side: Alternative = "less" if _advantage_on(test, test_set) >= 0 else "greater"
    return 1 - float(on_sets.pvalues(test_set.outcomes_of(test_set.counts), None, alternative=side, **options)[0])


def bootstrap_of_better(test: AppliedTest, test_set: AnyPopulation, rng: np.random.Generator) -> BootstrapResult:
    """Return the bootstrap of a test with its replicates; B is the better classifier on the single test set."""
    options = {key: value for key, value in _bootstrap_options(test).items() if key != "alternative"}
    joint = test_set.joint if isinstance(test_set, EventPopulation) else test_set.record(test_set.counts[0].tolist())
    turned = joint if _advantage_on(test, test_set) >= 0 else joint.swapped()
    return bootstrap_test(turned, rng=rng, keep_replicates=True, **options)


def _advantage_on(test: AppliedTest, test_set: AnyPopulation) -> float:
    return float(advantage(test, test_set.counts, test_set)[0])


def null_holds(population: AnyPopulation, test: AppliedTest) -> bool:
    """Return True if a test's null hypothesis is true in a population."""
    if population.swapped:
        return True
    on_sets = statistical_tests.of_sets(test.test)
    if on_sets is not None and on_sets.of_answers:
        only_a, only_b = population.discordant
        return only_a == only_b
    return population.difference(measure_of(test)) == 0


def exact_rate(population: AnyPopulation, n: int, test: AppliedTest, alpha: float) -> float | None:
    """Return the exact rejection rate of a test on test sets of n rows, or None if it is not known."""
    on_sets = statistical_tests.of_sets(test.test)
    if on_sets is None or on_sets.exact_rate is None:
        return None
    only_a, only_b = population.discordant
    options = {"swapped": population.swapped, "alpha": alpha, **test.options}
    return on_sets.exact_rate(n, only_a, only_b, population.rows, **options)


def run_score_test(test: AppliedTest, sets: Rows, truth: float) -> tuple[Answers, NDArray[np.float64]]:
    """Run a test of scores on each test set; return the answers, and the difference B - A on each test set.

    A test set with fewer than two rows (groups, if rows have groups; for an area, two of each class) is not evidence:
    its p-value is 1, and its interval contains every value.
    """
    items, problem = call_each(partial(_answer, test, sets.part(index), truth) for index in range(len(sets)))
    p_values, covers, better = zip(*((None, None, 0.0) if item is None else item for item in items), strict=True)
    return Answers(np.array(p_values, np.float64), np.array(covers, object), problem), np.array(better)


def _answer(test: AppliedTest, rows: Rows, truth: float) -> tuple[float, bool, float]:
    """Return the p-value, whether the interval contains the true difference B - A, and the observed difference."""
    result = _result(test, rows)
    if result is None:
        return 1.0, True, 0.0
    interval = result.confidence_interval
    return result.pvalue, bool(interval.low <= -truth <= interval.high), 0.0 - result.estimate


def _result(test: AppliedTest, rows: Rows) -> ScoreResult | None:
    options = {
        "alternative": test.options["alternative"],
        "confidence_level": test.options["confidence"],
        "groups": rows.group,
    }
    if len(rows) < 2 or (rows.group is not None and len(np.unique(rows.group)) < 2):
        return None
    spec = MEASURES[test.compared]
    if spec.of_rows is None:
        # Two units (rows or groups) with a positive row and two with a negative row are needed.
        units = np.arange(len(rows)) if rows.group is None else rows.group
        if min(len(np.unique(units[rows.positive])), len(np.unique(units[~rows.positive]))) < 2:
            return None
        return auc_test(rows.positive, rows.a, rows.b, method=test.options.get("method", "asymptotic"), **options)
    return mean_score_test(*(spec.of_rows(rows.positive, score) for score in (rows.a, rows.b)), **options)
