"""The classifiers over the data sets of a benchmark: mean ranks, Friedman's test, and signed-rank tests of pairs."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats._common.extreme import ties_as_equal
from sigstats._common.validation import FloatArray

from ..results import Results
from ..schema import Hypothesis
from ..statistical_tests import FEWEST_DATA_SETS, named, run_table_test
from .runs import observed_run


@dataclass(frozen=True)
class FinishedRuns:
    """The observed runs of the data sets that all classifiers finished."""

    classifiers: tuple[str, ...]
    datasets: tuple[str, ...]
    #: For each data set, the correctness of each classifier (columns) on each row.
    right: tuple[NDArray[np.bool_], ...]
    #: For each data set, the group of every row; None if rows are independent.
    groups: tuple[NDArray[np.int64] | None, ...]

    @property
    def accuracies(self) -> FloatArray:
        """The accuracy on each data set (rows) of each classifier (columns)."""
        return np.array([table.mean(axis=0) for table in self.right])


def finished_runs(results: Results) -> FinishedRuns:
    """The observed runs of the data sets that all classifiers finished."""
    classifiers = tuple(dict.fromkeys(cell.subject["classifier"] for cell in results.cells("crossval")))
    finished = {}
    for dataset, cells in results.by_dataset("crossval").items():
        runs = [run for cell in cells if (run := observed_run(results, cell)) is not None]
        if len(runs) == len(classifiers):
            finished[dataset] = np.column_stack([run.right for run in runs]), runs[0].groups
    right, groups = zip(*finished.values(), strict=True) if finished else ((), ())
    return FinishedRuns(classifiers, tuple(finished), right, groups)


def rows(results: Results) -> Iterator[Hypothesis]:
    """The mean rank of each classifier, Friedman's test, and the signed-rank test of each pair of classifiers.

    Data sets that a classifier has not finished are left out; a note counts them. With fewer than three data sets, the
    rows are missing.
    """
    from scipy.stats import rankdata  # slow to import

    runs = finished_runs(results)
    whole = len(runs.datasets) >= FEWEST_DATA_SETS
    unfinished = len(results.by_dataset("crossval")) - len(runs.datasets)
    note = f"unfinished data sets left out: {unfinished}" if unfinished and whole else ""
    scores = ties_as_equal(runs.accuracies) if whole else np.empty((0, len(runs.classifiers)))
    ranks = rankdata(-scores, axis=1).mean(axis=0).tolist() if whole else [None] * len(runs.classifiers)

    def row(test: str, method: str, null: str, *classifiers: str, **of: Any) -> Hypothesis:
        cells = [cell for cell in results.cells("crossval") if cell.subject["classifier"] in classifiers]
        base = results.hypothesis(*cells, test=test, method=method, alternative="two-sided", null_hypothesis=null)
        return base.with_(dataset=None, note=note, **of)

    def tested(test: str, method: str, **data: Any) -> dict[str, Any]:
        """The result of a test of scores; empty if the rows are missing."""
        return run_table_test(test, {**data, "greater_is_better": True}, method) if whole else {}

    for name, rank in zip(runs.classifiers, ranks, strict=True):
        known = {"n": len(runs.datasets), "estimate": rank, "decision": "none"} if whole else {}
        yield row("mean-rank", "ranks", "nothing is tested", name, classifier=name, measure="mean rank", **known)
    if len(runs.classifiers) > 2:
        known = tested("friedman", "auto", scores=scores)
        # With more classifiers than data sets, the test suspects a transposed table; here the table is right.
        yield row("friedman", "auto", named("friedman").null, *runs.classifiers).with_(**known | {"note": note})
    for (a, of_a), (b, of_b) in combinations(zip(runs.classifiers, scores.T, strict=True), 2):
        known = tested("signed-rank", "exact", a=of_a, b=of_b)
        pair = row("signed-rank", "exact", named("signed-rank").null, a, b, a=a, b=b)
        yield pair.with_(**known | {"note": "; ".join(filter(None, (known.get("note"), note)))})
