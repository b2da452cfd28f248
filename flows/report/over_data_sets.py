"""Models over several data sets, and over data sets like them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sigstats._common.validation import FloatArray
from sigstats.many_datasets.comparison import DatasetsComparison
from sigstats.many_datasets.signed_rank import signed_rank_test
from sigstats.ranking.rank_sets import adjusted_pairs

from ..pages.wording import number, signed, significant

Rights: TypeAlias = NDArray[np.bool_]

#: With fewer data sets nothing is said of data sets like them.
FEWEST_DATA_SETS = 3
RESAMPLES, SEED = 10_000, 0


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
    #: How the models are compared.
    method: str


def analysis(
    comparison: DatasetsComparison,
    names: Sequence[str],
    scores: FloatArray,
    score: Score,
    method: str,
    these: Sequence[TheseDataSets] = (),
) -> OverDataSets:
    """The analysis of a comparison.

    `scores`: those of each data set (rows) and of each model (columns), which `names` names.
    """
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
        method=method,
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
