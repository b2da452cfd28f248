"""Statistical tests of studies. Each test is a record in a module of this folder, which is imported on first use.

The name of a test is the name of its module, with dashes, and its record is `TEST`. If a module has several tests,
their records have separate names. A record describes the test in words, and computes p-values from all kinds of data
that the test supports: a table of counts, cross-validated runs, or test sets from a population.
"""

import importlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from sigstats._common.validation import Alternative, as_choice
from sigstats.intervals import Interval
from sigstats.ranking.means import share_interval
from sigstats.test_result import TestResult

from ..schema import Hypothesis


@dataclass(frozen=True)
class ObservedRun:
    """Cross-validated predictions: the true and the predicted class of each row, and its group if rows have groups."""

    label: NDArray[np.int64]
    prediction: NDArray[np.int64]
    groups: NDArray[np.int64] | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.label)

    @property
    def right(self) -> NDArray[np.bool_]:
        """A mask of the correctly classified rows."""
        return np.equal(self.label, self.prediction)

    @property
    def wrong(self) -> int:
        """The number of misclassified rows."""
        return int(self.n - self.right.sum())

    @property
    def error_interval(self) -> Interval:
        """The interval of the error rate: Clopper and Pearson's or, if rows have groups, Korn and Graubard's."""
        return share_interval(~self.right, self.groups, 0.95)

    def rows(self, where: NDArray[np.int64]) -> Self:
        """Return the run on the selected rows."""
        groups = None if self.groups is None else self.groups[where]
        return replace(self, label=self.label[where], prediction=self.prediction[where], groups=groups)

    def table(self) -> NDArray[np.int64]:
        """Return the confusion matrix, with true classes in rows."""
        k = int(max(self.label.max(), self.prediction.max())) + 1
        return np.bincount(self.label * k + self.prediction, minlength=k * k).reshape(k, k)


#: The method whose replicates are computed in blocks.
MONTE_CARLO = "monte-carlo"
#: The publication that several tests come from.
KELLER = "Keller, Mariethoz and Bengio, Significance tests for bizarre measures in 2-class classification tasks"

#: Fields of a `Hypothesis` by name.
Fields = dict[str, Any]
#: Values of JSON, which are part of a cell's identity.
Data = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class OfTable:
    """A test of one table of counts."""

    #: Methods that need no replicates.
    methods: tuple[str, ...]
    #: Return the fields that do not depend on the method: ``n`` to ``null_mean``, ``measure`` and ``alternative``.
    #: Raises ValueError with a message in one line if the data are invalid for every method.
    observed: Callable[[Data], Fields]
    #: Return the fields from ``p_value`` to ``p_high``, ``method``, ``statistic`` and ``note`` by a method.
    evaluate: Callable[[Data, Any], Fields]
    #: For ``monte-carlo``: draw this many replicates; return a mask of those at least as extreme as observed.
    exceedances: Callable[[Data, int, np.random.Generator], NDArray[np.bool_]] | None = None


@dataclass(frozen=True, kw_only=True)
class OfRuns:
    """A test of cross-validated classifiers on the rows of one data set."""

    #: The classifiers of a hypothesis: each classifier, each pair, or all classifiers of a data set.
    compared: Literal["one", "two", "all"]
    #: Return the fields from ``n`` on, from the runs and the names of their cells.
    compute: Callable[[Sequence[ObservedRun], str], Fields]
    #: The method of a hypothesis, even if runs are missing.
    method: str
    alternative: str = "two-sided"
    measure: str | None = None
    #: Caveat printed with a verdict: the assumptions of the test that runs violate.
    caveat: str = ""
    #: True if the test keeps its level if rows have groups. Other tests refuse data with groups.
    takes_groups: bool = False


@dataclass(frozen=True)
class Option:
    """An option of a test in a study file: its type, default, meaning, and bounds in the form of pydantic."""

    kind: Any
    default: Any
    meaning: str
    bounds: Mapping[str, Any] = field(default_factory=dict)


#: The option for the alternative, which most tests of two classifiers have.
SIDE = Option(Alternative, "two-sided", "greater: A is better; less: B is better")


@dataclass(frozen=True, kw_only=True)
class OfSets:
    """A test of two classifiers on test sets from a population, for a calibration study."""

    #: Name in the rows of the summary.
    name: str
    #: Description for the page of study files, as a sentence.
    title: str
    #: The keyword arguments of `pvalues` that a study file may set.
    options: Mapping[str, Option]
    #: Return the p-values of test sets, which are rows of eight joint outcomes: ``pvalues(sets, rng, **options)``.
    #: If `rng` is None, the rows of a test set have no order.
    pvalues: Callable[..., NDArray[np.float64]]
    #: True if the test draws the order of the rows.
    draws: bool = False
    #: True if the test depends only on right and wrong answers: the null hypothesis is true if equally many rows are
    #: right only by A and only by B. Otherwise it is true if the measure of the test is equal.
    of_answers: bool = True
    #: Return the rejection rate with n rows: ``exact_rate(n, only_a, only_b, rows, swapped, alpha, **options)``.
    #: ``only_a`` and ``only_b`` are counts among all `rows`, or probabilities if `rows` is None.
    exact_rate: Callable[..., float] | None = None
    #: Return the number of rows for a target rate: ``rows_needed(only_a, only_b, power, alpha, **options)``.
    rows_needed: Callable[..., int] | None = None


@dataclass(frozen=True, kw_only=True)
class StatisticalTest:
    """A test: its computation for studies, and its description for reports."""

    #: Usual name of the test.
    label: str
    #: The question that the test answers, in plain words.
    question: str
    #: The null hypothesis.
    null: str
    #: The method, its assumptions and the meaning of its p-value, or a function of the test's rows that returns them.
    words: str | Callable[[Sequence[Hypothesis]], str]
    #: The publication of the test.
    source: str
    #: Meaning of a rejection for a table, as a clause.
    claim: str = ""
    #: The name in a verdict, if it differs from the label.
    by: str = ""
    #: Explanation of the terms in a verdict.
    terms: str = ""
    #: Position among the tests in a report.
    order: int = 1000
    #: The unit of observation. With more units, a difference may become significant.
    unit: Literal["row", "data set"] = "row"
    #: The computation for each kind of data that the test accepts.
    table: OfTable | None = None
    runs: OfRuns | None = None
    sets: OfSets | None = None


#: The names of all tests.
TESTS = (
    "bootstrap", "cochran-q", "dcf", "efficiency", "enumeration-size", "friedman", "goodness-of-fit", "homogeneity",
    "joint-outcomes", "looks", "mcnemar", "monte-carlo-size", "proportion", "signed-rank",
)  # fmt: skip
#: Modules with several tests.
_SHARED = {
    "bootstrap": "joint_outcomes", "dcf": "joint_outcomes", "enumeration-size": "efficiency", "friedman": "models",
    "goodness-of-fit": "class_counts", "homogeneity": "class_counts", "looks": "mcnemar",
    "monte-carlo-size": "efficiency", "proportion": "joint_outcomes", "signed-rank": "models",
}  # fmt: skip
#: With fewer data sets, no test generalises to data sets like them.
FEWEST_DATA_SETS = 3
#: The names of the tests of cross-validated runs.
OF_RUNS = ("bootstrap", "cochran-q", "efficiency", "homogeneity", "mcnemar")


def named(name: str) -> StatisticalTest:
    """Return the test with this name; raise ValueError if there is none."""
    attribute = as_choice(name, "test", TESTS).replace("-", "_")
    module = importlib.import_module(f"{__name__}.{_SHARED.get(name, attribute)}")
    test: StatisticalTest = getattr(module, attribute.upper() if name in _SHARED else "TEST")
    return test


def find(name: str) -> StatisticalTest | None:
    """Return the test with this name, or None if there is none."""
    return named(name) if name in TESTS else None


def of_runs(name: str) -> OfRuns | None:
    """Return the form of a test for cross-validated runs, or None if it has none or is not in this folder."""
    test = find(name)
    return None if test is None else test.runs


def of_sets(name: str) -> OfSets | None:
    """Return the form of a test for test sets, or None if it has none or is not in this folder."""
    test = find(name)
    return None if test is None else test.sets


def table_test(name: str) -> OfTable:
    """Return the form of a test for a table of counts; raise ValueError if it has none."""
    table = named(name).table
    if table is None:
        raise ValueError(f"test: {name!r} is not valid; expected a test of a table of counts")
    return table


def methods(name: str) -> tuple[str, ...]:
    """Return the methods of a test of a table."""
    test = table_test(name)
    return test.methods if test.exceedances is None else (*test.methods, MONTE_CARLO)


def run_table_test(name: str, data: Data, method: str) -> Fields:
    """Return all fields of a hypothesis that is tested by a method without replicates."""
    test = table_test(name)
    return {**test.observed(data), **test.evaluate(data, method)}


def fields(result: TestResult, **values: Any) -> dict[str, Any]:
    """Return the fields of a test result: p-value, interval, method and note. `values` are added or replace them."""
    interval = result.pvalue_interval
    return {
        "method": result.method,
        "p_value": result.pvalue,
        "p_low": result.pvalue if interval is None else interval.low,
        "p_high": result.pvalue if interval is None else interval.high,
        "replicates": result.n_resamples,
        "exceedances": result.exceedances,
        "note": result.reason,
        **values,
    }


def estimated(estimate: float, interval: Iterable[float]) -> Fields:
    """Return the fields of an estimate and its interval."""
    low, high = interval
    return {"estimate": estimate, "estimate_low": low, "estimate_high": high}


def distinct_sets(sets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct rows of an array of nonnegative integers, and the position of each row among them."""
    shape = [int(most) + 1 for most in sets.max(axis=0)]
    if math.prod(shape) > np.iinfo(np.int64).max:
        distinct, which = np.unique(sets, axis=0, return_inverse=True)
        return distinct, which.ravel()
    keys, which = np.unique(np.ravel_multi_index(tuple(sets.T), shape), return_inverse=True)
    return np.stack(np.unravel_index(keys, shape), axis=1), which
