"""The classifiers of a benchmark over its data sets, and over data sets like them."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sigstats.many_datasets.comparison import PairOverDatasets, compare_over_datasets
from sigstats.many_datasets.stratified import stratified_paired_test
from sigstats.multiplicity import adjust_pvalues
from sigstats.sign_flips.sign_flip_test import sign_flip_test
from sigstats.tasks.benchmark.over_data_sets import finished_runs
from sigstats.tasks.results import Results
from sigstats.tasks.statistical_tests import FEWEST_DATA_SETS
from sigstats.test_result import TestResult

from ...report.evidence import RESAMPLES, SEED, OverDataSets, Rights, Score, TheseDataSets

_ACCURACY = Score("accuracy", "classifier", in_percent=True, rope=0.01)
_METHOD = (
    "On data sets like these: each data set gives one difference of accuracies, which exact signed-rank tests "
    "take. On these data sets: the rows are the sample, and the mean difference of accuracy is "
    "tested exactly given the rows that only one classifier got right. Probabilities are those of the Bayesian "
    "signed-rank test; differences of at most one point are none in practice. Cross-validated rows share training "
    "sets; neither test accounts for the choice of the folds."
)


def over_data_sets(results: Results, alpha: float) -> OverDataSets | None:
    """The analysis; None unless two or more classifiers all finished at least three data sets."""
    runs = finished_runs(results)
    names = runs.classifiers
    if len(runs.datasets) < FEWEST_DATA_SETS or len(names) < 2:
        return None
    comparison = compare_over_datasets(
        runs.accuracies, models=names, datasets=runs.datasets, adjust=results.plan.adjust, alpha=alpha,
        rope=_ACCURACY.rope, n_resamples=RESAMPLES, rng=SEED,
    )  # fmt: skip
    these = _these_data_sets(comparison.pairs, names, runs.right, runs.groups)
    means = dict(zip(names, runs.accuracies.mean(axis=0).tolist(), strict=True))
    return OverDataSets(comparison, _ACCURACY, means, _METHOD, these)


def _these_data_sets(
    pairs: Sequence[PairOverDatasets],
    names: Sequence[str],
    tables: Sequence[Rights],
    groups: Sequence[NDArray[np.int64] | None],
) -> list[TheseDataSets]:
    sizes = [len(table) for table in tables]
    tested: list[TestResult] = []
    for pair in pairs:
        a, b = names.index(pair.a), names.index(pair.b)
        only_a = [int((table[:, a] & ~table[:, b]).sum()) for table in tables]
        only_b = [int((table[:, b] & ~table[:, a]).sum()) for table in tables]
        if all(group is None for group in groups):
            tested.append(stratified_paired_test(only_a, only_b, sizes))
        else:
            tested.append(sign_flip_test(_group_differences(a, b, tables, groups)))
    adjusted = adjust_pvalues([result.pvalue for result in tested], method="holm").tolist()
    return [TheseDataSets(result.statistic, result.pvalue, p) for result, p in zip(tested, adjusted, strict=True)]


def _group_differences(
    a: int, b: int, tables: Sequence[Rights], groups: Sequence[NDArray[np.int64] | None]
) -> list[Fraction]:
    """The contribution of each group to the mean difference of accuracy over the data sets; a row may be a group."""
    fractions = []
    for table, codes in zip(tables, groups, strict=True):
        sums = np.bincount(np.arange(len(table)) if codes is None else codes, table[:, a].astype(int) - table[:, b])
        fractions += [Fraction(int(value), len(table) * len(tables)) for value in sums]
    return fractions
