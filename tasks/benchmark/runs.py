"""Three analyses of the runs of a benchmark study, and the values of measures on folds for a fourth.

`tested` applies the tests of runs to each data set. `permutations` tests whether the observed error, or the study's
measure if it names one, is better than under permutation (PermClass and PermFeats, Ojala and Garriga 2010).
`over_data_sets` yields mean ranks, Friedman's test, and tests of pairs. `OverFolds` is for `resampled`.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sigstats._common.extreme import ties_as_equal
from sigstats._common.validation import FloatArray, IntArray
from sigstats.measures.table import MEASURES
from sigstats.multiplicity import fewest_resamples
from sigstats.retraining.folds import note_on_few_arrangements
from sigstats.retraining.resampled import corrected_resampled_test

from ..datasets.dataset import Dataset, cross_validation_folds
from ..plan import Cell, Plan
from ..record import Folds
from ..results import Results, sequential_fields
from ..schema import Hypothesis
from ..statistical_tests import FEWEST_DATA_SETS, ObservedRun, OfRuns, estimated, named, run_table_test
from .work import CrossValidated, Measured, dataset_of


def observed_run(results: Results, cell: Cell) -> ObservedRun | None:
    """Return the observed run of a cell, or None if it is missing."""
    table = results.table(cell)
    if table is None:
        return None
    label, prediction = (table.column(name).to_numpy().astype(np.int64) for name in ("label", "prediction"))
    return ObservedRun(label, prediction, _groups(results, cell))


def _groups(results: Results, cell: Cell) -> NDArray[np.int64] | None:
    """Return the group of each row of a cell's data set, or None if rows are independent."""
    work = cell.work_of(CrossValidated)
    return dataset_of(results.store, work).groups if work.dataset.grouped else None


def tested(results: Results, name: str) -> Iterator[Hypothesis]:
    """Yield the hypotheses of this test of runs: for each classifier, for each pair, or for all of a data set."""
    test = named(name)
    on_runs = test.runs
    assert on_runs is not None
    for cells in results.by_dataset("crossval").values():
        for compared in _groups_of_cells(on_runs, cells):
            names = [cell.subject["classifier"] for cell in compared]
            row = results.hypothesis(
                *compared,
                test=name,
                method=on_runs.method,
                alternative=on_runs.alternative,
                null_hypothesis=test.null,
                measure=on_runs.measure,
                **dict(zip(_SUBJECTS[on_runs.compared], names, strict=False)),
            )
            runs = [run for cell in compared if (run := observed_run(results, cell)) is not None]
            yield row.with_(**on_runs.compute(runs, row.cell)) if len(runs) == len(compared) else row


#: The fields that name the classifiers of a hypothesis.
_SUBJECTS = {"one": ("classifier",), "two": ("a", "b"), "all": ()}


def _groups_of_cells(on_runs: OfRuns, cells: Sequence[Cell]) -> Iterator[Sequence[Cell]]:
    """Yield the cells of each hypothesis of a test."""
    if on_runs.compared != "all":
        yield from combinations(cells, len(_SUBJECTS[on_runs.compared]))
    elif len(cells) > 1:
        yield cells


@dataclass(frozen=True)
class OverFolds:
    """The values of a measure on the folds of one classifier's cross-validation of one data set."""

    cells: tuple[Cell, ...]
    #: The value on each fold, shape (repetitions, folds), or None if replicates are missing.
    values: FloatArray | None
    rows: int

    @property
    def name(self) -> str:
        """The name of the classifier."""
        return self.cells[0].subject["classifier"]


def read(results: Results, observed: Cell, measure: Callable[[IntArray, IntArray], float]) -> OverFolds:
    """Return the values of a measure of labels and predictions on the folds of a cell's run and its repetitions."""
    cells = (observed, *results.cells("repetition", **observed.subject))
    values, folds, rows = [], 1, 0
    for cell in cells:
        table = results.table(cell) if cell is observed else results.read(cell)
        if table is None:
            return OverFolds(cells, None, 0)
        replicate, fold, label, prediction = (
            table.column(name).to_numpy().astype(np.int64) for name in ("replicate", "fold", "label", "prediction")
        )
        folds = int(fold.max()) + 1
        rows = rows or len(label)  # the first cell is the observed run, with one row per row of the data set
        fold_of_all = (replicate - replicate[0]) * folds + fold
        for number in np.unique(fold_of_all):
            of_fold = fold_of_all == number
            values.append(measure(label[of_fold], prediction[of_fold]))
    return OverFolds(cells, np.array(values).reshape(-1, folds), rows)


def corrected_t(row: Hypothesis, values: FloatArray, rows: int) -> Hypothesis:
    """Return the row with Nadeau and Bengio's test, and interval, of the mean of values on folds."""
    result = corrected_resampled_test(values.ravel(), n_train=values.shape[1] - 1, n_test=1)
    ends = estimated(result.estimate, result.confidence_interval)
    return row.with_(n=rows, statistic=result.statistic, p_value=result.pvalue, note=result.reason, **ends)


_NULLS = {
    "labels": "labels are independent of the features",
    "features": "features are independent of each other inside each class",
}
_NULLS_IN_GROUPS = {
    "labels": "labels are independent of the features inside each group, or among groups of one class",
    "features": "features are independent of each other inside each group and class",
}


def permutations(results: Results, _: str) -> Iterator[Hypothesis]:
    """Yield a hypothesis per cell of retrains."""
    tests = count_permutation_tests(results.plan)
    for cell in (*results.cells("retrain"), *results.cells("measured-retrain")):
        yield _hypothesis_of_retrains(results, cell, tests)


def _hypothesis_of_retrains(results: Results, cell: Cell, tests: Counter[tuple[str, ...]]) -> Hypothesis:
    null, measure, lower = cell.subject["null"], "error", True
    if isinstance(cell.work, Measured):
        measure, is_own = cell.work.measure, cell.work.measure_code is not None
        lower = cell.work.lower_is_better if is_own else not MEASURES[measure].greater_is_better
    row = results.hypothesis(
        cell,
        test=f"permutation-{null}",
        method="permutation",
        alternative="less" if lower else "greater",
        null_hypothesis=_NULLS[null],
        classifier=cell.subject["classifier"],
        measure=measure,
    )
    subject = {key: cell.subject[key] for key in ("dataset", "classifier")}
    run = next((observed_run(results, observed) for observed in results.cells("crossval", **subject)), None)
    table, count = results.table(cell), results.count(cell)
    if run is None or table is None or count is None:
        return row
    row = row.with_(n=run.n, **sequential_fields(count))
    if measure == "error":
        interval, value = run.error_interval, run.wrong / run.n
        mean = float(table.column("wrong").to_numpy().mean()) / run.n
        row = row.with_(estimate_low=interval.low, estimate_high=interval.high)
    else:
        (measured,) = results.cells("measured", **subject, measure=cell.subject["measure"])
        observed_value = results.table(measured)
        assert observed_value is not None  # the replicates were compared with it
        sign = -1 if lower else 1
        value, mean = (sign * float(values.column("value").to_numpy().mean()) for values in (observed_value, table))
    row = row.with_(statistic=value, estimate=value, null_mean=mean)
    if run.groups is None:
        return row
    row = row.with_(null_hypothesis=_NULLS_IN_GROUPS[null])
    few = few_arrangements(results.plan, tests, cell, dataset_of(results.store, cell.work_of(CrossValidated)))
    note = "; ".join(filter(None, (few, row.note)))
    return row.with_(decision="none", p_adjusted=row.p_value, note=note) if few else row


def count_permutation_tests(plan: Plan) -> Counter[tuple[str, ...]]:
    """Count the permutation tests by fan-out and null hypothesis, and also by data set."""
    counts = Counter[tuple[str, ...]]()
    for cell in plan.cells:
        if "null" in cell.subject:
            family = cell.fanout, cell.subject["null"]
            counts.update([family, (*family, cell.subject["dataset"])])
    return counts


def few_arrangements(plan: Plan, tests: Counter[tuple[str, ...]], cell: Cell, dataset: Dataset) -> str:
    """Return the reason why a permutation test cannot reject for any classifier, or "" if it can.

    `tests`: the numbers of tests. Tests on other data sets are assumed to have p-values of 0.
    """
    null, scheme = cell.subject["null"], cell.work_of(CrossValidated).cross_validation
    here = tests[cell.fanout, null, dataset.name]
    others = (0.0,) * (tests[cell.fanout, null] - here)
    resamples = _fewest_resamples(here, others, method=plan.adjust, alpha=plan.alpha)
    return _few_arrangements(dataset, scheme, null, resamples + 1)


_fewest_resamples = lru_cache(fewest_resamples)


@lru_cache(maxsize=2)  # the cells of a data set follow each other, with two null hypotheses
def _few_arrangements(dataset: Dataset, scheme: Folds, null: str, needed: int) -> str:
    folds = cross_validation_folds(dataset, scheme.folds, scheme.seed, rare_classes=scheme.rare_classes)
    features = dataset.X.shape[1] - len(dataset.constant_features())
    return note_on_few_arrangements(dataset.y, dataset.groups, folds, null, features=features, needed=needed)


@dataclass(frozen=True)
class FinishedRuns:
    """The observed runs of the data sets that all classifiers finished."""

    classifiers: tuple[str, ...]
    datasets: tuple[str, ...]
    #: For each data set, the correctness of each classifier (columns) on each row.
    right: tuple[NDArray[np.bool_], ...]
    #: For each data set, the group of each row, or None if rows are independent.
    groups: tuple[NDArray[np.int64] | None, ...]

    @property
    def accuracies(self) -> FloatArray:
        """The accuracy of each classifier (columns) on each data set (rows)."""
        return np.array([table.mean(axis=0) for table in self.right])


def finished_runs(results: Results, *, without: Container[str] = ()) -> FinishedRuns:
    """Return the observed runs of the data sets that all classifiers finished, except the data sets in `without`."""
    classifiers = tuple(dict.fromkeys(cell.subject["classifier"] for cell in results.cells("crossval")))
    finished = {}
    for dataset, cells in results.by_dataset("crossval").items():
        runs = [run for cell in cells if (run := observed_run(results, cell)) is not None]
        if len(runs) == len(classifiers) and dataset not in without:
            finished[dataset] = np.column_stack([run.right for run in runs]), runs[0].groups
    right, groups = zip(*finished.values(), strict=True) if finished else ((), ())
    return FinishedRuns(classifiers, tuple(finished), right, groups)


def over_data_sets(results: Results, _: str) -> Iterator[Hypothesis]:
    """Yield the mean rank of each classifier, Friedman's test, and the signed-rank test of each pair of classifiers.

    Data sets that a classifier has not finished are left out, and a note gives their number. With fewer than three data
    sets, the results are missing.
    """
    from scipy.stats import rankdata  # slow to import

    runs = finished_runs(results)
    enough = len(runs.datasets) >= FEWEST_DATA_SETS
    unfinished = len(results.by_dataset("crossval")) - len(runs.datasets)
    note = f"unfinished data sets left out: {unfinished}" if unfinished and enough else ""
    scores = ties_as_equal(runs.accuracies) if enough else np.empty((0, len(runs.classifiers)))
    ranks = rankdata(-scores, axis=1).mean(axis=0).tolist() if enough else [None] * len(runs.classifiers)

    def row(test: str, method: str, null: str, *classifiers: str) -> Hypothesis:
        cells = [cell for cell in results.cells("crossval") if cell.subject["classifier"] in classifiers]
        base = results.hypothesis(*cells, test=test, method=method, alternative="two-sided", null_hypothesis=null)
        return base.with_(dataset=None, note=note)

    def result_of(test: str, method: str, **data: Any) -> dict[str, Any]:
        """Return the fields of a test of scores, or an empty dictionary if there are too few data sets."""
        return run_table_test(test, {**data, "greater_is_better": True}, method) if enough else {}

    for name, rank in zip(runs.classifiers, ranks, strict=True):
        of_one = row("mean-rank", "ranks", "nothing is tested", name).with_(classifier=name, measure="mean rank")
        yield of_one.with_(n=len(runs.datasets), estimate=rank, decision="none") if enough else of_one
    if len(runs.classifiers) > 2:
        result = result_of("friedman", "auto", scores=scores)
        # With more classifiers than data sets, the test suspects a transposed table; here the table is right.
        yield row("friedman", "auto", named("friedman").null, *runs.classifiers).with_(**result | {"note": note})
    for (a, of_a), (b, of_b) in combinations(zip(runs.classifiers, scores.T, strict=True), 2):
        result = result_of("signed-rank", "exact", a=of_a, b=of_b)
        of_pair = row("signed-rank", "exact", named("signed-rank").null, a, b).with_(a=a, b=b)
        yield of_pair.with_(**result | {"note": "; ".join(filter(None, (result.get("note"), note)))})
