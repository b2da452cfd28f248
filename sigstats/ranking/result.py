"""The results of a leaderboard: its models, its pairs of models and its slices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .._common.drawing import Drawn, forest
from .._common.messages import Note
from .._common.numerals import both_ends, number, significant
from .._common.tabular import Table
from ..intervals import Interval
from .rank_sets import RankSets


@dataclass(frozen=True, kw_only=True)
class RankedModel:
    """One model of a leaderboard.

    Attributes
    ----------
    model : str
    rank_low, rank_high : int
        The lowest and the highest rank that the model may have, 1 for the best.
    tier : int
        1 if no other model is shown to be better.
    score : float
        The accuracy or the mean score of the model.
    accuracy : float or None
        The accuracy if rows are right or wrong, otherwise None.
    confidence_interval : Interval
        The interval of the score, for this model only: Clopper and Pearson's for rows that are right or wrong, or its
        generalisation to means of groups; Student's t for scores.
    """

    model: str
    rank_low: int
    rank_high: int
    tier: int
    score: float
    accuracy: float | None
    confidence_interval: Interval


@dataclass(frozen=True, kw_only=True)
class RankedPair:
    """Two models, the one with the better score as A.

    Attributes
    ----------
    a, b : str
    difference : float
        The score of A minus that of B.
    pvalue : float
        The one-sided p-value of the null hypothesis "A is not better than B".
    adjusted_pvalue : float
        The p-value, adjusted over all ordered pairs of models.
    better : bool
        Whether A is shown to be better.
    test : str
        The test of the pair if a measure was named; otherwise empty.
    """

    a: str
    b: str
    difference: float
    pvalue: float
    adjusted_pvalue: float
    better: bool
    test: str = ""


@dataclass(frozen=True, kw_only=True)
class RankedSlice:
    """The leaderboard of one slice.

    Attributes
    ----------
    slice : str
    n : int
        The number of rows of the slice.
    models : tuple of RankedModel
        The models from the best score to the worst; empty if the slice was not tested.
    note : str
        The reason if the slice was not tested.
    """

    slice: str
    n: int
    models: tuple[RankedModel, ...] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class RankedCost:
    """The cost of one model, and the models that are shown to beat it in both score and cost.

    Attributes
    ----------
    model : str
    cost : float
        The mean cost.
    confidence_interval : Interval
        The interval of the cost, for this model only.
    dominated_by : tuple of str
        The models that are shown to have a better score and a lower cost; empty on the front.
    adjusted_pvalue : float
        The smallest level at which any model is shown to do so, adjusted over all ordered pairs.
    """

    model: str
    cost: float
    confidence_interval: Interval
    dominated_by: tuple[str, ...]
    adjusted_pvalue: float


@dataclass(frozen=True, kw_only=True)
class Ranking(Drawn):
    """The result of `rank`.

    Attributes
    ----------
    models : tuple of RankedModel
        The models from the best score to the worst.
    pairs : tuple of RankedPair
        All pairs of models.
    slices : tuple of RankedSlice
    measure : str
        ``"accuracy"``, ``"mean-score"``, or the measure that was named.
    n : int
        The number of rows, or of items where these are averaged.
    averaged : bool
        Whether models have different numbers of answers to an item, so that means of answers are ranked.
    groups : int or None
        The number of groups; None if rows do not come in groups.
    confidence_level : float
        The joint confidence of all rank sets, and of the rank sets of all slices.
    notes : tuple of str
        Remarks about the data and the methods, a line each, with a short name for programs in `.name`.
    test : str
        The test of the best two models if a measure was named; otherwise empty. `pairs` has that of each pair.
    cost : str
        The name of the cost; empty without one.
    costs : tuple of RankedCost
        The costs of the models, in their order.
    """

    models: tuple[RankedModel, ...]
    pairs: tuple[RankedPair, ...]
    slices: tuple[RankedSlice, ...]
    measure: str
    n: int
    groups: int | None
    confidence_level: float
    notes: tuple[Note, ...] = ()
    averaged: bool = False
    test: str = ""
    cost: str = ""
    costs: tuple[RankedCost, ...] = ()

    @property
    def front(self) -> tuple[str, ...]:
        """Models that no other is shown to beat in both score and cost, the best score first; empty without costs."""
        return tuple(cost.model for cost in self.costs if not cost.dominated_by)

    @property
    def unit(self) -> str:
        """The unit that is counted: "row" or "item"."""
        return "item" if self.averaged else "row"

    @property
    def tiers(self) -> tuple[tuple[str, ...], ...]:
        """The names of the models of each tier."""
        last = max(model.tier for model in self.models)
        return tuple(tuple(model.model for model in self.models if model.tier == tier) for tier in range(1, last + 1))

    def _columns(self) -> dict[str, list[Any]]:
        names = ("model", "rank_low", "rank_high", "tier", "score", "confidence_interval")
        placed = self._placed()
        columns: dict[str, list[Any]] = {name: [getattr(model, name) for _, model in placed] for name in names}
        return {"slice": [part for part, _ in placed], **columns}

    def _table(self) -> Table:
        placed = self._placed()
        columns = {
            "slice": [part for part, _ in placed],
            "ranks": [f"{model.rank_low}–{model.rank_high}" for _, model in placed],
            "tier": [str(model.tier) for _, model in placed],
            "model": [model.model for _, model in placed],
            self.measure: [number(model.score, 4) for _, model in placed],
            "interval": [
                " to ".join(both_ends(model.confidence_interval.low, model.confidence_interval.high, number, 4))
                for _, model in placed
            ],
        }
        if not self.slices:
            del columns["slice"]
        title = (
            f"Ranks of {len(self.models)} models on {self.n:,} {self.unit}s"
            f"{'' if self.groups is None else f' in {self.groups:,} groups'}, all at once with confidence "
            f"{significant(self.confidence_level)}"
        )
        left_out = [f"Not ranked: {slice_.slice}, {slice_.note}." for slice_ in self.slices if slice_.note]
        front = [f"Not dominated in {self.measure} and {self.cost}: {', '.join(self.front)}."] if self.costs else []
        return Table(title, columns, notes=(*front, *left_out, *self.notes), words=len(columns) - 2)

    def _draw(self, ax: Any) -> Any:
        lines = [
            (model.model if part == "all rows" else f"{part}: {model.model}", model.score, *model.confidence_interval)
            for part, model in self._placed()
        ]
        return forest(ax, lines, unit=self.measure, marks=())

    def _placed(self) -> list[tuple[str, RankedModel]]:
        """Return the models ranked on all rows, then those of each slice."""
        parts = [("all rows", self.models), *((slice_.slice, slice_.models) for slice_ in self.slices)]
        return [(part, model) for part, models in parts for model in models]


def models_in_order(
    sets: RankSets, intervals: Sequence[Interval], *, right: bool, lower: bool
) -> tuple[RankedModel, ...]:
    """Return the models of rank sets with the intervals of their scores, the best first."""
    sign = -1 if lower else 1
    return tuple(
        RankedModel(
            model=sets.models[model],
            rank_low=sets.low[model],
            rank_high=sets.high[model],
            tier=sets.tiers[model],
            score=sign * sets.scores[model],
            accuracy=sets.scores[model] if right else None,
            confidence_interval=intervals[model],
        )
        for model in _order(sets)
    )


def _order(sets: RankSets) -> list[int]:
    return sorted(range(len(sets.models)), key=lambda model: (-sets.scores[model], model))


def pairs_in_order(
    sets: RankSets, *, lower: bool, tests: Mapping[tuple[int, int], str] = MappingProxyType({})
) -> tuple[RankedPair, ...]:
    """Return all pairs of models, the best first; `tests`: the test of each, if they are not all the same."""
    sign, where = -1 if lower else 1, _order(sets)
    return tuple(
        RankedPair(
            a=sets.models[a],
            b=sets.models[b],
            difference=sign * (sets.scores[a] - sets.scores[b]),
            pvalue=float(sets.pvalues[a, b]),
            adjusted_pvalue=float(sets.adjusted_pvalues[a, b]),
            better=bool(sets.better[a, b]),
            test=tests.get((a, b), ""),
        )
        for i, a in enumerate(where)
        for b in where[i + 1 :]
    )
