"""The result of a comparison of models over data sets: every pair, and all models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._common.numerals import significant
from .._common.plots import Drawn, ranks_with_cliques
from .._common.tabular import Table, Tabular, in_words
from ..intervals import Interval
from ..multiplicity import IN_WORDS
from .friedman import FriedmanResult
from .signed_rank import SignedRankProbabilities


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
        Hodges and Lehmann's estimate of the score of A less that of B; of losses it is negative if A is better.
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
        The largest sets of models of which no two differ at `alpha`; empty with a control.
    adjust : str
    alpha : float
    datasets : int
    control : str or None
        The model that all others were compared with.
    greater_is_better : bool
        False for errors and losses.
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

    def _columns(self) -> dict[str, list[Any]]:
        names = ("a", "b", "estimate", "confidence_interval", "wins", "ties", "losses", "pvalue", "adjusted_pvalue")
        columns = {name: [getattr(pair, name) for pair in self.pairs] for name in names}
        for place, name in enumerate(("better", "equal", "worse")):
            columns[f"probability_{name}"] = [pair.probabilities[place] for pair in self.pairs]
        return columns

    def _table(self) -> Table:
        columns = {name.replace("_", " "): list(map(in_words, cells)) for name, cells in self._columns().items()}
        ranks = ", ".join(f"{model} {in_words(rank)}" for model, rank in zip(self.models, self.ranks, strict=True))
        return Table(self.conclusion, columns, notes=[f"Mean ranks: {ranks}."], words=2)

    def _draw(self, ax: Any) -> Any:
        title = f"{len(self.models)} models on {self.datasets} data sets"
        return ranks_with_cliques(ax, self.models, self.ranks, self.cliques, title=title)

    @property
    def conclusion(self) -> str:
        """The sentence that one may write."""
        differing = [pair for pair in self.pairs if pair.adjusted_pvalue <= self.alpha]
        how = f"exact signed-rank tests, {IN_WORDS[self.adjust]}, level {significant(self.alpha)}"
        about = f"on data sets like these {self.datasets} ({how})"
        if self.control is not None:
            return self._beside_the_control(differing, about)
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

    def _beside_the_control(self, differing: Sequence[PairOverDatasets], about: str) -> str:
        better = [pair.a for pair in differing if (pair.estimate > 0) == self.greater_is_better]
        worse = [pair.a for pair in differing if (pair.estimate > 0) != self.greater_is_better]
        found = [
            f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {which} than {self.control}"
            for names, which in ((better, "better"), (worse, "worse"))
            if names
        ]
        rest = len(self.pairs) - len(differing)
        if not found:
            return f"No model was shown to differ from {self.control} {about}."
        if rest:
            found.append(f"{rest} of {len(self.pairs)} {'was' if rest == 1 else 'were'} not shown to differ from it")
        return f"{'; '.join(found)} {about}."
