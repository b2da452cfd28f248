"""A benchmark study as a whole: its classifiers over its data sets, and over data sets like them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sigstats._common.validation import FloatArray
from sigstats.many_datasets.comparison import DatasetsComparison, PairOverDatasets, compare_over_datasets
from sigstats.many_datasets.signed_rank import signed_rank_test
from sigstats.many_datasets.stratified import stratified_paired_test
from sigstats.multiplicity import adjust
from sigstats.ranking.rank_sets import adjusted_pairs
from sigstats.tasks.results import Results

Rights: TypeAlias = NDArray[np.bool_]

#: With fewer data sets nothing is said of data sets like them.
FEWEST_DATA_SETS = 3
_RESAMPLES, _SEED = 10_000, 0
#: Differences of accuracy up to this are none in practice.
ROPE = 0.01


@dataclass(frozen=True)
class PairOfClassifiers:
    """Two classifiers over the data sets.

    Attributes
    ----------
    like_these : PairOverDatasets
        By signed ranks, A being the one with the better mean rank.
    difference : float
        The mean difference of accuracy over these data sets, A less B.
    p_these, adjusted_p_these : float
        Of the exact stratified test of these data sets, two-sided, adjusted over the pairs by Holm's method.
    """

    like_these: PairOverDatasets
    difference: float
    p_these: float
    adjusted_p_these: float


@dataclass(frozen=True)
class OverDataSets:
    """All classifiers over the data sets that all of them finished.

    Attributes
    ----------
    datasets : tuple of str
    comparison : DatasetsComparison
        Classifiers from the best mean rank to the worst.
    accuracy : tuple of float
        Their mean accuracies, in this order.
    low, high : tuple of int
        The ranks that each may have on data sets like these, all at once.
    pairs : tuple of PairOfClassifiers
    """

    datasets: tuple[str, ...]
    comparison: DatasetsComparison
    accuracy: tuple[float, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    pairs: tuple[PairOfClassifiers, ...]


def over_data_sets(results: Results, *, alpha: float) -> OverDataSets | None:
    """The analysis; None with fewer than three data sets that two classifiers or more all finished."""
    right: dict[str, dict[str, Rights]] = {}
    for cell in results.cells("crossval"):
        run = results.table(cell)
        if run is not None:
            label, prediction = (run.column(name).to_numpy() for name in ("label", "prediction"))
            right.setdefault(cell.subject["dataset"], {})[cell.subject["classifier"]] = label == prediction
    names = list(dict.fromkeys(cell.subject["classifier"] for cell in results.cells("crossval")))
    datasets = [name for name, runs in right.items() if len(runs) == len(names)]
    if len(datasets) < FEWEST_DATA_SETS or len(names) < 2:
        return None
    tables = [np.column_stack([right[dataset][name] for name in names]) for dataset in datasets]
    scores = np.array([table.mean(axis=0) for table in tables])
    comparison = compare_over_datasets(
        scores, models=names, datasets=datasets, alpha=alpha, rope=ROPE, n_resamples=_RESAMPLES, rng=_SEED
    )
    order = [names.index(name) for name in comparison.models]
    better = _shown_better(scores[:, order], alpha)
    return OverDataSets(
        datasets=tuple(datasets),
        comparison=comparison,
        accuracy=tuple(scores.mean(axis=0)[order].tolist()),
        low=tuple((1 + better.sum(axis=0)).tolist()),
        high=tuple((len(names) - better.sum(axis=1)).tolist()),
        pairs=tuple(_pairs(comparison.pairs, names, tables)),
    )


def _shown_better(scores: FloatArray, alpha: float) -> Rights:
    """Which classifier is shown to be better than which, by one-sided exact signed ranks of all ordered pairs."""
    k = scores.shape[1]
    pvalues = np.ones((k, k))
    for a, b in combinations(range(k), 2):
        difference = scores[:, a] - scores[:, b]
        pvalues[a, b] = signed_rank_test(difference, alternative="greater").pvalue
        pvalues[b, a] = signed_rank_test(difference, alternative="less").pvalue
    return np.asarray(adjusted_pairs(pvalues) <= alpha)


def _pairs(
    pairs: Sequence[PairOverDatasets], names: Sequence[str], tables: Sequence[Rights]
) -> list[PairOfClassifiers]:
    sizes = [len(table) for table in tables]
    tested = []
    for pair in pairs:
        a, b = names.index(pair.a), names.index(pair.b)
        only_a = [int((table[:, a] & ~table[:, b]).sum()) for table in tables]
        only_b = [int((table[:, b] & ~table[:, a]).sum()) for table in tables]
        tested.append(stratified_paired_test(only_a, only_b, sizes))
    adjusted = adjust([result.pvalue for result in tested], method="holm").tolist()
    return [
        PairOfClassifiers(pair, result.estimate, result.pvalue, p)
        for pair, result, p in zip(pairs, tested, adjusted, strict=True)
    ]
