"""Many models over many data sets: the best models, ties, and the claims that they allow.

When not to use: the scores of a row come from folds or seeds of one data set; fewer than some six data sets, with which
no pair can differ at 0.05; or the question is about *these* data sets and their rows are available
(`sigstats.stratified_paired_test`, `sigstats.rank_models`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from .._common.drawing import Drawn, ranks_with_cliques
from .._common.extreme import ties_as_equal
from .._common.numerals import significant
from .._common.random_streams import RNG, as_generator
from .._common.tabular import Table, Tabular, in_words
from .._common.validation import FloatArray, as_choice, as_count, as_flag, as_real, refuse
from ..intervals import Interval
from ..multiplicity import ADJUST_METHODS, IN_WORDS, Adjustment, adjust_family, cliques, in_our_words
from .friedman import FriedmanResult, friedman_test
from .score_tables import Missing, filled, read_scores
from .signed_rank import SignedRankProbabilities, bayesian_signed_rank, signed_rank_test, usual_rope


@dataclass(frozen=True, kw_only=True)
class PairOverDatasets:
    """Two models over many data sets.

    Attributes
    ----------
    a, b : str
        The models.
    pvalue, adjusted_pvalue : float
        The two-sided p-value of the exact signed-rank test, and the same adjusted over all pairs that were tested.
    estimate : float
        Hodges and Lehmann's estimate of the score of A minus that of B; of losses it is negative if A is better.
    confidence_interval : Interval
        The interval of the estimate, not adjusted.
    wins, ties, losses : int
        The number of data sets on which A is better, equal, and worse.
    probabilities : SignedRankProbabilities
        That A is better, equal in practice, and worse, by the Bayesian signed-rank test.
    """

    a: str
    b: str
    pvalue: float
    adjusted_pvalue: float
    estimate: float
    confidence_interval: Interval
    wins: int
    ties: int
    losses: int
    probabilities: SignedRankProbabilities


@dataclass(frozen=True, kw_only=True)
class DatasetsComparison(Drawn, Tabular):
    """The result of `compare_over_datasets`.

    Attributes
    ----------
    models : tuple of str
        The models from the best mean rank to the worst.
    ranks : tuple of float
        The mean rank of each model, 1 for the best.
    friedman : FriedmanResult or None
        The test whether any models differ; None for two models.
    pairs : tuple of PairOverDatasets
        All pairs, with the model of the better mean rank as A; with a control, each other model as A and the control as
        B.
    cliques : tuple of tuple of str
        The largest sets of models without two that differ at `alpha`; empty with a control.
    adjust, alpha, datasets : str, float, int
    control : str or None
        The model that all others were compared with.
    greater_is_better : bool
        False for errors and losses.
    rope : float
        The largest difference that is equal in practice.
    notes : tuple of str
        Missing scores and their treatment; doubts about units and direction.
    """

    models: tuple[str, ...]
    ranks: tuple[float, ...]
    friedman: FriedmanResult | None
    pairs: tuple[PairOverDatasets, ...]
    cliques: tuple[tuple[str, ...], ...]
    adjust: str
    alpha: float
    datasets: int
    control: str | None = None
    greater_is_better: bool = True
    rope: float = 0.01
    notes: tuple[str, ...] = ()

    def _columns(self) -> dict[str, list[Any]]:
        names = ("a", "b", "estimate", "confidence_interval", "wins", "ties", "losses", "pvalue", "adjusted_pvalue")
        columns = {name: [getattr(pair, name) for pair in self.pairs] for name in names}
        for place, name in enumerate(("better", "equal", "worse")):
            columns[f"probability_{name}"] = [pair.probabilities[place] for pair in self.pairs]
        return columns

    def _table(self) -> Table:
        ranks = ", ".join(f"{model} {in_words(rank)}" for model, rank in zip(self.models, self.ranks, strict=True))
        equal = f"Equal in practice (rope): scores at most {significant(self.rope, 3)} apart."
        return Table(self.conclusion, self._in_words(), notes=[f"Mean ranks: {ranks}.", equal, *self.notes], words=2)

    def _draw(self, ax: Any) -> Any:
        return ranks_with_cliques(ax, self.models, self.ranks, self.cliques)

    @property
    def conclusion(self) -> str:
        """A sentence that states the result."""
        differing = [pair for pair in self.pairs if pair.adjusted_pvalue <= self.alpha]
        how = f"exact signed-rank tests, {IN_WORDS[self.adjust]}, level {significant(self.alpha)}"
        about = f"on data sets like these {self.datasets} ({how})"
        if self.control is not None:
            return self._against_control(differing, about)
        if not differing:
            return f"No two of the {len(self.models)} models were shown to differ {about}."
        best = self.models[0]
        rivals = {pair.b if pair.a == best else pair.a for pair in differing if best in (pair.a, pair.b)}
        tied = [model for model in self.models[1:] if model not in rivals]
        if not rivals:
            return f"{best} has the best mean rank, but was not shown to differ from any other model {about}."
        if not tied:
            return f"{best} is better than every other model {about}."
        either = " or ".join([", ".join(tied[:-1]), tied[-1]] if len(tied) > 1 else tied)
        return (
            f"{best} has the best mean rank and is better than {len(rivals)} of {len(self.models) - 1} models; it was "
            f"not shown to differ from {either} {about}."
        )

    def _against_control(self, differing: Sequence[PairOverDatasets], about: str) -> str:
        better = [pair.a for pair in differing if (pair.estimate > 0) == self.greater_is_better]
        worse = [pair.a for pair in differing if (pair.estimate > 0) != self.greater_is_better]
        texts = [
            f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {which} than {self.control}"
            for names, which in ((better, "better"), (worse, "worse"))
            if names
        ]
        rest = len(self.pairs) - len(differing)
        if not texts:
            return f"No model was shown to differ from {self.control} {about}."
        if rest:
            texts.append(f"{rest} of {len(self.pairs)} {'was' if rest == 1 else 'were'} not shown to differ from it")
        return f"{'; '.join(texts)} {about}."


def compare_over_datasets(
    scores: Any,
    *,
    models: Sequence[str] | str | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
    control: str | None = None,
    adjust: Adjustment = "holm",
    alpha: float = 0.05,
    rope: float | None = None,
    greater_is_better: bool = True,
    n_resamples: int = 50_000,
    rng: RNG = None,
) -> DatasetsComparison:
    """Compare models over a sample of data sets: all pairs, or all against a control.

    Null hypothesis of a pair: the differences of its scores on independent data sets are symmetric about 0.

    Parameters
    ----------
    scores : array_like, data frame or mapping of names to columns, shape (N, k)
        A score of each of two or more models (columns) on each of two or more data sets (rows). The columns of a data
        frame name the models.
    models : sequence of str, or str, optional
        The names of an array's columns, by default ``"1"``, ``"2"``, ...; the columns of a frame that are models, by
        default all others; of a long frame, with a row for each score, the column that names the model.
    datasets : sequence of str, or str, optional
        The names of the rows, or the column of the frame that contains them.
    missing : {"refuse", "drop", "worst", "pairs"}
        What to do if a model has no score on a data set: refuse; leave the data set out; count the model as tied with
        the worst model there; or compare each pair on the data sets that both have, with mean ranks and Friedman's test
        on those that all have. Leaving out is valid only if no score is missing because it would have been low or high.
    control : str, optional
        The model that all others are compared with; by default all pairs are compared.
    adjust : {"holm", "benjamini-hochberg", "benjamini-yekutieli", "none"}
        The adjustment of the p-values of the pairs.
    alpha : float
        The level of cliques and of the conclusion.
    rope : float, optional
        The largest difference of scores that is practically equivalent to 0, for the Bayesian probabilities; by default
        0.01 for scores from -1 to 1, otherwise (per cent, times, losses) 5% of their mean size.
    greater_is_better : bool
        False for errors and losses.
    n_resamples, rng : int; None, int, SeedSequence, BitGenerator or Generator
        Number and source of the draws of the Bayesian posterior. The p-values draw nothing.

    Returns
    -------
    DatasetsComparison

    Raises
    ------
    ValueError
        If the table is smaller, a score is not finite, a name is missing or appears twice, or an option is invalid.

    Notes
    -----
    Friedman's test (`sigstats.friedman_test`) tests whether any models differ. Pairs are tested by the exact
    signed-rank test (`sigstats.signed_rank_test`), not by differences of mean ranks (Nemenyi), which depend on the
    other models (Benavoli, Corani and Mangili). Probabilities are those of Benavoli, Corani, Demsar and Zaffalon.

    References
    ----------
    Benavoli, Corani and Mangili, JMLR 17 (2016). Benavoli, Corani, Demsar and Zaffalon, JMLR 18 (2017).

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

    greater = as_flag(greater_is_better, "greater_is_better")
    choice: Any = as_choice(missing, "missing", ("refuse", "drop", "worst", "pairs"))
    table, notes = filled(read_scores(scores, models, datasets), choice, greater_is_better=greater)
    names, (count, k) = table.models, table.scores.shape
    if control is not None and not (isinstance(control, (str, int, np.integer)) and str(control) in names):
        raise refuse("control", control, f"one of {', '.join(names)}")
    control = None if control is None else str(control)
    method = as_choice(in_our_words(adjust), "adjust", (*ADJUST_METHODS, "none"))
    level = as_real(alpha, "alpha", low=0, high=0.5, open_ends=True)
    equal = usual_rope(table.scores) if rope is None else as_real(rope, "rope", low=0)
    as_count(n_resamples, "n_resamples", minimum=1, maximum=10**7)
    generator = as_generator(rng)
    sign = 1.0 if greater else -1.0
    oriented = ties_as_equal(sign * table.scores)
    complete = ties_as_equal(sign * table.whole().scores)
    ranks = [float(rank) for rank in rankdata(-complete, axis=1).mean(axis=0)]
    order = sorted(range(k), key=lambda model: (ranks[model], model))
    chosen = list(combinations(order, 2))
    if control:
        chosen = [(other, names.index(control)) for other in order if names[other] != control]
    posterior: dict[str, Any] = {"rope": equal, "n_resamples": n_resamples, "rng": generator}
    pairs = _pairs(names, chosen, oriented, method, greater_is_better=greater, **posterior)
    differing = {frozenset((pair.a, pair.b)) for pair in pairs if pair.adjusted_pvalue <= level}
    ordered = tuple(names[model] for model in order)
    return DatasetsComparison(
        models=ordered,
        ranks=tuple(ranks[model] for model in order),
        friedman=friedman_test(complete) if k > 2 else None,
        pairs=pairs,
        cliques=() if control is not None else cliques(ordered, differing),
        adjust=method,
        alpha=level,
        datasets=count,
        control=control,
        greater_is_better=greater,
        rope=equal,
        notes=notes,
    )


def _pairs(
    names: Sequence[str],
    chosen: Sequence[tuple[int, int]],
    oriented: FloatArray,
    adjust: str,
    *,
    greater_is_better: bool,
    **posterior: Any,
) -> tuple[PairOverDatasets, ...]:
    """Return the pairs of models by number, from scores (greater is better) with NaN where one is missing."""
    all_differences = (oriented[:, a] - oriented[:, b] for a, b in chosen)
    differences = [difference[~np.isnan(difference)] for difference in all_differences]
    results = [signed_rank_test(difference) for difference in differences]
    adjusted_p = adjust_family([result.pvalue for result in results], adjust)
    return tuple(
        PairOverDatasets(
            a=names[a],
            b=names[b],
            pvalue=result.pvalue,
            adjusted_pvalue=p,
            estimate=result.estimate if greater_is_better else 0.0 - result.estimate,
            confidence_interval=result.confidence_interval if greater_is_better else -result.confidence_interval,
            wins=int((difference > 0).sum()),
            ties=int((difference == 0).sum()),
            losses=int((difference < 0).sum()),
            probabilities=bayesian_signed_rank(difference, **posterior),
        )
        for (a, b), difference, result, p in zip(chosen, differences, results, adjusted_p, strict=True)
    )
