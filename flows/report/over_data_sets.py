"""Models over several data sets, and over data sets like them: of a benchmark study, or of a table of scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sigstats._common.validation import FloatArray
from sigstats.many_datasets.comparison import DatasetsComparison, PairOverDatasets, compare_over_datasets
from sigstats.many_datasets.signed_rank import signed_rank_test
from sigstats.many_datasets.stratified import stratified_paired_test
from sigstats.multiplicity import adjust_pvalues
from sigstats.ranking.rank_sets import adjusted_pairs
from sigstats.sign_flips.sign_flip_test import sign_flip_test
from sigstats.tasks.benchmark.runs import observed_run
from sigstats.tasks.results import Results
from sigstats.tasks.significance.work import TableTested
from sigstats.test_result import TestResult

from ..pages.wording import number, signed, significant

Rights: TypeAlias = NDArray[np.bool_]

#: With fewer data sets nothing is said of data sets like them.
FEWEST_DATA_SETS = 3
_RESAMPLES, _SEED = 10_000, 0


@dataclass(frozen=True)
class Score:
    """The scored quantity, and the format of its values."""

    name: str
    #: What is compared: ``"classifier"``.
    model: str
    in_percent: bool
    #: Differences up to this are none in practice.
    rope: float
    greater_is_better: bool = True

    def text(self, value: float) -> str:
        """A mean score."""
        return f"{100 * value:.2f}%" if self.in_percent else number(value, 4)

    def difference(self, value: float) -> str:
        """A difference of scores, with its sign."""
        return signed(100 * value, 2) if self.in_percent else signed(value, 4)

    @property
    def equal(self) -> str:
        """Up to which difference models are equal in practice."""
        return f"{significant(100 * self.rope)} point" if self.in_percent else significant(self.rope)


_ACCURACY = Score("accuracy", "classifier", in_percent=True, rope=0.01)


@dataclass(frozen=True)
class TheseDataSets:
    """Two models over these data sets, whose rows are the sample."""

    #: The mean difference of the score, A less B.
    difference: float
    #: Of the exact stratified test, two-sided, adjusted over the pairs by Holm's method.
    pvalue: float
    adjusted_pvalue: float


@dataclass(frozen=True)
class OverDataSets:
    """All models over the data sets that all of them finished."""

    #: Models from the best mean rank to the worst.
    comparison: DatasetsComparison
    score: Score
    #: Their mean scores, in this order.
    means: tuple[float, ...]
    #: The ranks that each may have on data sets like these, all at once; empty where all are compared with one.
    low: tuple[int, ...]
    high: tuple[int, ...]
    #: The pairs of the comparison over these data sets; empty if their rows are not known.
    these: tuple[TheseDataSets, ...]


def over_data_sets(results: Results, *, alpha: float) -> OverDataSets | None:
    """The analysis; None unless two or more models all finished at least three data sets."""
    analysis = _of_runs(results, alpha)
    return _of_scores(results, alpha) if analysis is None else analysis


def _of_runs(results: Results, alpha: float) -> OverDataSets | None:
    right: dict[str, dict[str, Rights]] = {}
    groups: dict[str, NDArray[np.int64] | None] = {}
    for cell in results.cells("crossval"):
        run = observed_run(results, cell)
        if run is not None:
            groups.setdefault(cell.subject["dataset"], run.groups)
            right.setdefault(cell.subject["dataset"], {})[cell.subject["classifier"]] = run.right
    names = list(dict.fromkeys(cell.subject["classifier"] for cell in results.cells("crossval")))
    datasets = [name for name, runs in right.items() if len(runs) == len(names)]
    if len(datasets) < FEWEST_DATA_SETS or len(names) < 2:
        return None
    tables = [np.column_stack([right[dataset][name] for name in names]) for dataset in datasets]
    scores = np.array([table.mean(axis=0) for table in tables])
    comparison = compare_over_datasets(
        scores, models=names, datasets=datasets, alpha=alpha, rope=_ACCURACY.rope, n_resamples=_RESAMPLES, rng=_SEED
    )
    these = _these_data_sets(comparison.pairs, names, tables, [groups[dataset] for dataset in datasets])
    return _analysis(comparison, names, scores, _ACCURACY, these)


def _of_scores(results: Results, alpha: float) -> OverDataSets | None:
    columns: dict[str, list[float]] = {}
    options: Mapping[str, Any] = {}
    for cell in results.cells("evaluate", test="signed-rank"):
        options = cell.work_of(TableTested).data
        columns |= {cell.subject["a"]: options["a"], cell.subject["b"]: options["b"]}
    if not columns:
        return None
    scores, names = np.column_stack(list(columns.values())), list(columns)
    score = Score(
        "score", "model", in_percent=False, rope=options["rope"], greater_is_better=options["greater_is_better"]
    )
    comparison = compare_over_datasets(
        scores,
        models=names,
        control=options["control"],
        adjust=results.plan.adjust,
        alpha=alpha,
        rope=score.rope,
        greater_is_better=score.greater_is_better,
        n_resamples=_RESAMPLES,
        rng=_SEED,
    )
    return _analysis(comparison, names, scores, score)


def _analysis(
    comparison: DatasetsComparison,
    names: Sequence[str],
    scores: FloatArray,
    score: Score,
    these: Sequence[TheseDataSets] = (),
) -> OverDataSets:
    ordered = scores[:, [names.index(name) for name in comparison.models]]
    low: tuple[int, ...] = ()
    high: tuple[int, ...] = ()
    if comparison.control is None:
        better = _shown_better(ordered if score.greater_is_better else -ordered, comparison.alpha)
        low, high = tuple((1 + better.sum(axis=0)).tolist()), tuple((len(names) - better.sum(axis=1)).tolist())
    return OverDataSets(
        comparison=comparison,
        score=score,
        means=tuple(ordered.mean(axis=0).tolist()),
        low=low,
        high=high,
        these=tuple(these),
    )


def _shown_better(scores: FloatArray, alpha: float) -> Rights:
    """The significantly better classifiers of all ordered pairs, by one-sided exact signed ranks."""
    k = scores.shape[1]
    pvalues = np.ones((k, k))
    for a, b in combinations(range(k), 2):
        difference = scores[:, a] - scores[:, b]
        pvalues[a, b] = signed_rank_test(difference, alternative="greater").pvalue
        pvalues[b, a] = signed_rank_test(difference, alternative="less").pvalue
    return np.asarray(adjusted_pairs(pvalues) <= alpha)


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
