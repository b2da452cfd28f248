"""Many models over many data sets: which are best, which are tied, and what one may say.

When not to use: the scores of a row come from folds or seeds of one data set; fewer than some six data sets, with which
no pair can differ at 0.05; or the question is about *these* data sets and their rows are at hand
(`sigstats.stratified_paired_test`, `sigstats.rank_sets`).
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np

from .._common.extreme import ties_as_equal
from .._common.model_columns import columns_of
from .._common.random_streams import RNG, as_generator
from .._common.validation import as_choice, as_count, as_names, as_real, as_reals, refuse, require_flag
from ..multiplicity import ADJUST_METHODS, adjust_pvalues, in_our_words
from .friedman import friedman_test
from .result import DatasetsComparison, PairOverDatasets
from .signed_rank import bayesian_signed_rank, signed_rank_test

Adjust: TypeAlias = Literal["holm", "benjamini-hochberg", "benjamini-yekutieli", "none"]


def compare_over_datasets(
    scores: Any,
    *,
    models: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    control: str | None = None,
    adjust: Adjust = "holm",
    alpha: float = 0.05,
    rope: float = 0.01,
    greater_is_better: bool = True,
    n_resamples: int = 50_000,
    rng: RNG = None,
) -> DatasetsComparison:
    """Compare models over a sample of data sets: all pairs, or all against a control.

    Parameters
    ----------
    scores : array_like or data frame, shape (N, k)
        A score of each of k models (columns), two or more, on each of N data sets (rows), two or more. A data frame
        (pandas, Polars, Arrow or whatever narwhals reads) names the models by its columns.
    models : sequence of str, optional
        The names of the columns of an array, ``"1"``, ``"2"``, ... by default; of a frame, the columns that are models,
        all others by default.
    datasets : sequence of str, or str, optional
        The names of the rows, or the column of the frame that holds them; they serve to find a row that is there twice.
    control : str, optional
        The model that all others are compared with; without it all pairs are compared.
    adjust : {"holm", "benjamini-hochberg", "benjamini-yekutieli", "none"}
        How the p-values of the pairs are adjusted.
    alpha : float
        The level of cliques and of the conclusion.
    rope : float
        Differences of scores up to this are none in practice, for the Bayesian probabilities.
    greater_is_better : bool
        False for errors and losses.
    n_resamples : int
        Draws of the Bayesian posterior.
    rng : None, int, SeedSequence, BitGenerator or Generator
        Source of these draws. The p-values draw nothing.

    Returns
    -------
    DatasetsComparison

    Raises
    ------
    ValueError
        If the table is smaller, a score is not finite, names are missing or there twice, the control is no model, or an
        option is out of range.

    Notes
    -----
    Friedman's test (`sigstats.friedman_test`) says whether any models differ. Pairs are tested by the exact
    signed-rank test with Holm's adjustment, not by differences of mean ranks (Nemenyi), which depend on the other
    models (Benavoli, Corani and Mangili 2016, Journal of Machine Learning Research 17). Probabilities are those of
    Benavoli, Corani, Demsar and Zaffalon (2017).

    Examples
    --------
    >>> import numpy as np, sigstats
    >>> rng = np.random.default_rng(0)
    >>> base = rng.uniform(0.6, 0.9, size=(12, 1))
    >>> scores = base + rng.normal([0.05, 0.048, 0.0], 0.01, size=(12, 3))
    >>> comparison = sigstats.compare_over_datasets(scores, models=["forest", "boosting", "tree"], rng=1)
    >>> comparison.models, comparison.cliques
    (('forest', 'boosting', 'tree'), (('forest', 'boosting'), ('tree',)))
    """
    from scipy.stats import rankdata  # slow to import

    columns = columns_of(scores, models, {"datasets": datasets}, name="scores")
    table = as_reals(columns.table, "scores", ndim=2)
    count, k = table.shape
    if count < 2 or k < 2:
        raise refuse("scores (shape)", table.shape, "two data sets (rows) or more, and two models (columns) or more")
    names = as_names(columns.models, "models", k)
    rows = columns.named["datasets"]
    as_names([str(row) for row in rows] if isinstance(datasets, str) else rows, "datasets", count)
    if control is not None and not (isinstance(control, (str, int, np.integer)) and str(control) in names):
        raise refuse("control", control, f"one of {', '.join(names)}")
    control = None if control is None else str(control)
    method = as_choice(in_our_words(adjust), "adjust", (*ADJUST_METHODS, "none"))
    level = as_real(alpha, "alpha", low=0, high=1, open_ends=True)
    as_real(rope, "rope", low=0)
    as_count(n_resamples, "n_resamples", minimum=1, maximum=10**7)
    require_flag(greater_is_better, "greater_is_better")
    oriented = ties_as_equal(table if greater_is_better else -table)
    ranks = [float(rank) for rank in rankdata(-oriented, axis=1).mean(axis=0)]
    order = sorted(range(k), key=lambda model: (ranks[model], model))
    chosen = list(combinations(order, 2))
    if control is not None:
        chosen = [(other, names.index(control)) for other in order if names[other] != control]
    generator = as_generator(rng)
    differences = [oriented[:, a] - oriented[:, b] for a, b in chosen]
    results = [signed_rank_test(each) for each in differences]
    raw = [result.pvalue for result in results]
    adjusted = raw if method == "none" else adjust_pvalues(raw, method=method).tolist()  # type: ignore[arg-type]
    pairs = [
        PairOverDatasets(
            a=names[a],
            b=names[b],
            pvalue=result.pvalue,
            adjusted_pvalue=p,
            estimate=result.estimate if greater_is_better else 0.0 - result.estimate,
            confidence_interval=result.confidence_interval if greater_is_better else -result.confidence_interval,
            wins=int((each > 0).sum()),
            ties=int((each == 0).sum()),
            losses=int((each < 0).sum()),
            probabilities=bayesian_signed_rank(each, rope=rope, n_resamples=n_resamples, rng=generator),
        )
        for (a, b), each, result, p in zip(chosen, differences, results, adjusted, strict=True)
    ]
    differing = {frozenset((pair.a, pair.b)) for pair in pairs if pair.adjusted_pvalue <= level}
    ordered = tuple(names[model] for model in order)
    return DatasetsComparison(
        models=ordered,
        ranks=tuple(ranks[model] for model in order),
        friedman=friedman_test(oriented) if k > 2 else None,
        pairs=tuple(pairs),
        cliques=() if control is not None else cliques(ordered, differing),
        adjust=method,
        alpha=level,
        datasets=count,
        control=control,
        greater_is_better=bool(greater_is_better),
    )


def cliques(models: Sequence[str], differing: "set[frozenset[str]]") -> tuple[tuple[str, ...], ...]:
    """The largest sets of models of which no two differ, in the order of the models (Bron and Kerbosch 1973).

    A set need not be a run of neighbours in the order: two models far apart may be tied while one between differs.
    """
    position = {model: i for i, model in enumerate(models)}
    tied = {a: {b for b in models if b != a and frozenset((a, b)) not in differing} for a in models}
    cliques: list[tuple[str, ...]] = []

    def grow(clique: list[str], candidates: set[str], done: set[str]) -> None:
        if not candidates and not done:
            cliques.append(tuple(sorted(clique, key=position.__getitem__)))
            return
        pivot = max(candidates | done, key=lambda model: len(tied[model] & candidates))
        for model in sorted(candidates - tied[pivot], key=position.__getitem__):
            grow([*clique, model], candidates & tied[model], done & tied[model])
            candidates = candidates - {model}
            done = done | {model}

    grow([], set(models), set())
    return tuple(sorted(cliques, key=lambda clique: [position[model] for model in clique]))
