"""Statistical tests of studies. Each is a record in a module of this folder, imported on first use.

A test has the name of its module, with dashes, and its record is `TEST`; in a module of several tests, records have
their own names. A record describes the test in words, and computes the p-value from all kinds of data that it
supports: a table of counts, cross-validated runs, or test sets of a population.
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
    """Cross-validated predictions: true and predicted class of every row, and its group if rows are in groups."""

    label: NDArray[np.int64]
    prediction: NDArray[np.int64]
    groups: NDArray[np.int64] | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.label)

    @property
    def right(self) -> NDArray[np.bool_]:
        """A mask of right rows."""
        return np.equal(self.label, self.prediction)

    @property
    def wrong(self) -> int:
        """The number of rows that are wrong."""
        return int(self.n - self.right.sum())

    @property
    def error_interval(self) -> Interval:
        """The interval of the share of wrong rows: Clopper and Pearson's; with groups Korn and Graubard's."""
        return share_interval(~self.right, self.groups, 0.95)

    def rows(self, where: NDArray[np.int64]) -> Self:
        """The run on some of the rows."""
        groups = None if self.groups is None else self.groups[where]
        return replace(self, label=self.label[where], prediction=self.prediction[where], groups=groups)

    def table(self) -> NDArray[np.int64]:
        """The confusion matrix, true classes in rows."""
        k = int(max(self.label.max(), self.prediction.max())) + 1
        return np.bincount(self.label * k + self.prediction, minlength=k * k).reshape(k, k)


#: The method whose replicates are computed in blocks.
MONTE_CARLO = "monte-carlo"
#: The publication of several tests.
KELLER = "Keller, Mariethoz and Bengio, Significance tests for bizarre measures in 2-class classification tasks"

#: The fields of a hypothesis by their names.
Fields = dict[str, Any]
#: Values of JSON, which are part of a cell's identity.
Data = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class OfTable:
    """A test of one table of counts."""

    #: Methods that need no replicates.
    methods: tuple[str, ...]
    #: The fields that no method changes: ``n`` to ``null_mean``, ``measure`` and ``alternative``. ValueError, one
    #: line, for data that no method could take.
    observed: Callable[[Data], Fields]
    #: Data and method to the fields from ``p_value`` to ``p_high``, ``method``, ``statistic`` and ``note``.
    evaluate: Callable[[Data, Any], Fields]
    #: Mask of the replicates, of this many, that are at least as extreme as observed: the method ``monte-carlo``.
    exceedances: Callable[[Data, int, np.random.Generator], NDArray[np.bool_]] | None = None


@dataclass(frozen=True, kw_only=True)
class OfRuns:
    """A test of cross-validated classifiers on the rows of one data set."""

    #: The number of classifiers that a hypothesis is about: each, every two, or all of a data set.
    compared: Literal["one", "two", "all"]
    #: A function of their runs and the name of the cells that returns the fields from ``n`` on.
    compute: Callable[[Sequence[ObservedRun], str], Fields]
    #: The method of a hypothesis, also if its runs are missing.
    method: str
    alternative: str = "two-sided"
    measure: str | None = None
    #: Caveat printed with a verdict: assumptions of the test that runs do not meet.
    caveat: str = ""
    #: True if the test holds its level where rows come in groups. Data with groups are refused to any other.
    takes_groups: bool = False


@dataclass(frozen=True)
class Option:
    """An option of a test in a study file: its type, default and meaning, and its bounds as pydantic has them."""

    kind: Any
    default: Any
    meaning: str
    bounds: Mapping[str, Any] = field(default_factory=dict)


#: The option that most tests of two classifiers have.
SIDE = Option(Alternative, "two-sided", "greater: A is better; less: B is")


@dataclass(frozen=True, kw_only=True)
class OfSets:
    """A test of two classifiers on test sets from a population, for a calibration study."""

    #: Name in the rows of the summary.
    name: str
    #: Keys in a study file, in a sentence.
    title: str
    #: The keywords of `pvalues` that a study file may give.
    options: Mapping[str, Option]
    #: The p-values of test sets of eight joint outcomes, a row each, with the options of a study file as keywords:
    #: ``pvalues(sets, rng, **options)``. Without `rng` the rows of a test set have no order.
    pvalues: Callable[..., NDArray[np.float64]]
    #: True if it draws the order of rows.
    draws: bool = False
    #: True if it only matters which answers are right, so that the null hypothesis holds where as many rows are right
    #: only by A as only by B; otherwise it holds where the measure of the test is equal.
    of_answers: bool = True
    #: Its rate of rejections with n rows: ``exact_rate(n, only_a, only_b, rows, swapped, alpha, **options)``.
    #: The rows that only one gets right are counts of all `rows`, or probabilities where `rows` is None.
    exact_rate: Callable[..., float] | None = None
    #: The number of rows with a wanted rate: ``rows_needed(only_a, only_b, target, alpha, **options)``.
    rows_needed: Callable[..., int] | None = None


@dataclass(frozen=True, kw_only=True)
class StatisticalTest:
    """A test, with its computation for studies and its words for reports."""

    #: Usual name of the test.
    label: str
    #: Its question, in plain words.
    question: str
    #: The null hypothesis.
    null: str
    #: The method, its assumptions and the meaning of its p-value; or a function of its rows that returns them.
    words: str | Callable[[Sequence[Hypothesis]], str]
    #: The publication of the test.
    source: str
    #: Meaning of a rejection for a table, as a clause.
    claim: str = ""
    #: The name in a verdict, where it is not the label.
    by: str = ""
    #: Explanation of the names in its verdict.
    terms: str = ""
    #: Place in a report among the others.
    order: int = 1000
    #: The unit of observation, more of which may show a difference.
    unit: Literal["row", "data set"] = "row"
    #: The data that it takes.
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
#: The names of those that are made of cross-validated runs.
OF_RUNS = ("bootstrap", "cochran-q", "efficiency", "homogeneity", "mcnemar")


def named(name: str) -> StatisticalTest:
    """The test of a name."""
    attribute = as_choice(name, "test", TESTS).replace("-", "_")
    module = importlib.import_module(f"{__name__}.{_SHARED.get(name, attribute)}")
    test: StatisticalTest = getattr(module, attribute.upper() if name in _SHARED else "TEST")
    return test


def find(name: str) -> StatisticalTest | None:
    """The test of a name; None if there is none."""
    return named(name) if name in TESTS else None


def of_runs(name: str) -> OfRuns | None:
    """The form of a test for cross-validated runs; None if it has none, or the test is not in this folder."""
    test = find(name)
    return None if test is None else test.runs


def of_sets(name: str) -> OfSets | None:
    """The form of a test for test sets; None if it has none, or the test is not in this folder."""
    test = find(name)
    return None if test is None else test.sets


def table_test(name: str) -> OfTable:
    """The form of a test for a table."""
    table = named(name).table
    if table is None:
        raise ValueError(f"test: {name!r} is not valid; expected a test of a table of counts")
    return table


def methods(name: str) -> tuple[str, ...]:
    """The methods of a test of a table."""
    test = table_test(name)
    return test.methods if test.exceedances is None else (*test.methods, MONTE_CARLO)


def run_table_test(name: str, data: Data, method: str) -> Fields:
    """All fields of a hypothesis that a method without replicates gives."""
    test = table_test(name)
    return {**test.observed(data), **test.evaluate(data, method)}


def fields(result: TestResult, **values: Any) -> dict[str, Any]:
    """Return the fields p-value, interval, method and note; `values` add to or replace them."""
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
    """The distinct rows, and the place of each row among them; whole numbers of at least 0."""
    shape = [int(most) + 1 for most in sets.max(axis=0)]
    if math.prod(shape) > np.iinfo(np.int64).max:
        distinct, which = np.unique(sets, axis=0, return_inverse=True)
        return distinct, which.ravel()
    keys, which = np.unique(np.ravel_multi_index(tuple(sets.T), shape), return_inverse=True)
    return np.stack(np.unravel_index(keys, shape), axis=1), which
