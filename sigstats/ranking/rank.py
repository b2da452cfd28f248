"""A leaderboard with the ranks that each model may have: every model, every pair, every slice.

When not to use: the models saw different rows; or the question is about other data sets
(`sigstats.compare_over_datasets`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._common.validation import (
    IntArray,
    as_count,
    as_labels,
    as_names,
    as_real,
    refuse,
    same_kind_of_labels,
    shown,
)
from ..intervals import Interval
from ._frames import columns_of
from .intervals import mean_interval, share_interval
from .rank_sets import RankSets, as_score_table, rank_sets


@dataclass(frozen=True, kw_only=True)
class RankedModel:
    """One model of a leaderboard.

    Attributes
    ----------
    model : str
    rank_low, rank_high : int
        The lowest and the highest rank that it may have, 1 for the best.
    tier : int
        1 for the models that no other is shown to be better than.
    score : float
        Its accuracy, or its mean score.
    accuracy : float or None
        The same where rows are right or wrong, else None.
    confidence_interval : Interval
        Of the score, for this model by itself: Clopper and Pearson's for rows that are right or wrong, with the
        effective number of rows of Korn and Graubard (1998) where they come in groups; Student's t for scores.
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
        The score of A less that of B.
    pvalue : float
        One-sided, of "A is not better than B".
    adjusted_pvalue : float
        Adjusted over all ordered pairs of models.
    better : bool
        Whether A is shown to be better.
    """

    a: str
    b: str
    difference: float
    pvalue: float
    adjusted_pvalue: float
    better: bool


@dataclass(frozen=True, kw_only=True)
class RankedSlice:
    """The leaderboard of one slice.

    Attributes
    ----------
    slice : str
    n : int
        Its rows.
    models : tuple of RankedModel
        From the best score to the worst; empty where the slice was not tested.
    note : str
        Why it was not tested.
    """

    slice: str
    n: int
    models: tuple[RankedModel, ...] = ()
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The result of `rank`.

    Attributes
    ----------
    models : tuple of RankedModel
        From the best score to the worst.
    pairs : tuple of RankedPair
        All pairs.
    slices : tuple of RankedSlice
    measure : {"accuracy", "mean-score"}
    n : int
        The number of rows.
    groups : int or None
        The number of groups, where rows come in groups.
    confidence_level : float
        With which all rank sets hold at once; those of all slices at once, too.
    notes : tuple of str
        What a person should know, a line each.
    """

    models: tuple[RankedModel, ...]
    pairs: tuple[RankedPair, ...]
    slices: tuple[RankedSlice, ...]
    measure: str
    n: int
    groups: int | None
    confidence_level: float
    notes: tuple[str, ...] = ()

    @property
    def tiers(self) -> tuple[tuple[str, ...], ...]:
        """The names of the models of each tier."""
        last = max(each.tier for each in self.models)
        return tuple(tuple(each.model for each in self.models if each.tier == tier) for tier in range(1, last + 1))

    def to_pandas(self) -> Any:
        """The leaderboard as a pandas DataFrame with a row for each model."""
        import importlib

        fields = ("model", "rank_low", "rank_high", "tier", "score")
        columns = {name: [getattr(each, name) for each in self.models] for name in fields}
        columns["low"], columns["high"] = ([each.confidence_interval[end] for each in self.models] for end in (0, 1))
        return importlib.import_module("pandas").DataFrame(columns)

    def _repr_html_(self) -> str:
        """The leaderboard in a notebook."""
        from html import escape

        lines = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(each)) + "</tr>" for each in self.models
        )
        return (
            f"<table><caption>Ranks of {len(self.models)} models on {self.n:,} rows, all at once with confidence "
            f"{self.confidence_level:g}</caption><thead><tr><th>ranks</th><th>tier</th><th>model</th>"
            f"<th>{self.measure}</th><th>interval</th></tr></thead><tbody>{lines}</tbody></table>"
        )


def _cells(model: RankedModel) -> tuple[str, ...]:
    low, high, _ = model.confidence_interval
    ranks = f"{model.rank_low}–{model.rank_high}"
    return ranks, str(model.tier), model.model, f"{model.score:.4f}", f"{low:.4f} to {high:.4f}"


def rank(
    correct: Any,
    *,
    label: Any = None,
    models: Sequence[str] | None = None,
    groups: Any = None,
    slices: Mapping[str, Any] | Sequence[str] | None = None,
    confidence_level: float = 0.95,
    smallest_slice: int = 10,
) -> Ranking:
    """Rank models that answered the same rows, with the ranks that each may have.

    Parameters
    ----------
    correct : array_like or data frame, shape (n, k)
        Whether each of k models (columns), two or more, got each of n rows right; or a score of each, the greater the
        better; with `label`, what each predicts. A data frame (pandas, Polars, Arrow or whatever narwhals reads) names
        the models by its columns, and may hold label, groups and slices too.
    label : array_like, shape (n,), or str, optional
        The true label of each row, or the column that holds it; `correct` then holds predictions.
    models : sequence of str, optional
        The names of the columns of an array, ``"1"``, ``"2"``, ... by default; of a frame, the columns that are models,
        all others by default.
    groups : array_like, shape (n,), or str, optional
        The group of each row, where rows of one group are not independent; or the column of the frame.
    slices : mapping of str to array_like of shape (n,), or sequence of str, optional
        Columns by name, each value of each of which is a slice; or columns of the frame.
    confidence_level : float
        With which all rank sets hold at once, strictly between 0 and 1.
    smallest_slice : int
        Slices with fewer rows are not tested.

    Returns
    -------
    Ranking

    Raises
    ------
    ValueError
        If the table is smaller, a value is missing or not finite, lengths differ, a name is there twice, or an option
        is out of range.

    Notes
    -----
    The rank sets are those of `sigstats.rank_sets`, by exact tests of all ordered pairs. The slices share one family of
    their own: each has rank sets at the confidence at which those of all slices hold at once (Bonferroni).

    Examples
    --------
    >>> import numpy as np, sigstats
    >>> rng = np.random.default_rng(0)
    >>> correct = rng.random((400, 3)) < [0.9, 0.88, 0.7]
    >>> found = sigstats.rank(correct, models=["a", "b", "c"])
    >>> [(each.model, each.rank_low, each.rank_high, each.tier, each.accuracy) for each in found.models]
    [('a', 1, 2, 1, 0.9), ('b', 1, 2, 1, 0.8875), ('c', 3, 3, 2, 0.6975)]
    >>> [(pair.a, pair.b, pair.better) for pair in found.pairs]
    [('a', 'b', False), ('a', 'c', True), ('b', 'c', True)]
    """
    table, names, of_label, of_groups, of_slices = columns_of(correct, label, models, groups, slices)
    names = as_names(names, "models", table.shape[1])
    scores = as_score_table(table if of_label is None else _right(table, as_labels(of_label, "label"), names))
    codes = None if of_groups is None else _codes(of_groups, "groups", len(scores))[1]
    parts = {name: _codes(column, f"slices[{shown(name)}]", len(scores)) for name, column in of_slices.items()}
    return rank_table(
        scores, names, codes, parts, confidence_level=confidence_level, smallest_slice=smallest_slice, notes=()
    )


def rank_table(
    scores: Any,
    models: Sequence[str],
    groups: IntArray | None,
    slices: Mapping[str, tuple[Sequence[str], IntArray]],
    *,
    confidence_level: float,
    smallest_slice: int,
    notes: Sequence[str],
) -> Ranking:
    """The leaderboard of a table of bool or float; groups as codes, slices as their values and the code of each row's.

    Raises
    ------
    ValueError
        If an option is out of range, or there are fewer than two models.
    """
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    least = as_count(smallest_slice, "smallest_slice", minimum=1)
    sets = rank_sets(scores, models=models, groups=groups, confidence_level=level)
    parts = [
        (f"{column} = {value}", np.flatnonzero(codes == code))
        for column, (values, codes) in slices.items()
        for code, value in enumerate(values)
    ]
    notes_of = [_untestable(rows, groups, least) for _, rows in parts]
    found = []
    for (name, rows), note in zip(parts, notes_of, strict=True):
        part = RankedSlice(slice=name, n=len(rows), note=note)
        if not note:
            inside = None if groups is None else np.unique(groups[rows], return_inverse=True)[1].astype(np.int64)
            of_one = 1 - (1 - level) / notes_of.count("")
            of_part = rank_sets(scores[rows], models=models, groups=inside, confidence_level=of_one)
            part = replace(part, models=_models(of_part, scores[rows], inside, level))
        found.append(part)
    ordered = _models(sets, scores, groups, level)
    return Ranking(
        models=ordered,
        pairs=_pairs(sets, [each.model for each in ordered]),
        slices=tuple(found),
        measure="accuracy" if scores.dtype == np.bool_ else "mean-score",
        n=len(scores),
        groups=None if groups is None else sets.n,
        confidence_level=level,
        notes=tuple(notes),
    )


def _untestable(rows: IntArray, groups: IntArray | None, least: int) -> str:
    if len(rows) < least:
        return f"too small to rank: {len(rows)} of at least {least} rows"
    return "one group alone: nothing can be tested" if groups is not None and len(np.unique(groups[rows])) < 2 else ""


def _models(sets: RankSets, scores: Any, groups: IntArray | None, level: float) -> tuple[RankedModel, ...]:
    """The models of a leaderboard, the best first."""
    right = scores.dtype == np.bool_
    interval = share_interval if right else mean_interval
    order = sorted(range(len(sets.models)), key=lambda model: (-sets.scores[model], model))
    return tuple(
        RankedModel(
            model=sets.models[model],
            rank_low=sets.low[model],
            rank_high=sets.high[model],
            tier=sets.tiers[model],
            score=sets.scores[model],
            accuracy=sets.scores[model] if right else None,
            confidence_interval=interval(scores[:, model], groups, level),
        )
        for model in order
    )


def _pairs(sets: RankSets, ordered: Sequence[str]) -> tuple[RankedPair, ...]:
    position = {name: i for i, name in enumerate(sets.models)}
    where = [position[name] for name in ordered]
    return tuple(
        RankedPair(
            a=sets.models[a],
            b=sets.models[b],
            difference=sets.scores[a] - sets.scores[b],
            pvalue=float(sets.pvalues[a, b]),
            adjusted_pvalue=float(sets.adjusted_pvalues[a, b]),
            better=bool(sets.better[a, b]),
        )
        for i, a in enumerate(where)
        for b in where[i + 1 :]
    )


def _right(table: Any, label: Any, names: Sequence[str]) -> Any:
    """Which predictions are right."""
    found = []
    for i in range(table.shape[1]):
        name = f"correct[{shown(names[i])}]"
        column = as_labels(table[:, i], name)
        if len(column) != len(label):
            raise refuse("label (length)", len(label), f"{len(column)}, one a row")
        same_kind_of_labels(label, column, name)
        found.append(column == label)
    return np.column_stack(found)


def _codes(values: Any, name: str, rows: int) -> tuple[tuple[str, ...], IntArray]:
    column = as_labels(values, name)
    if len(column) != rows:
        raise refuse(f"{name} (length)", len(column), f"{rows}, one a row")
    found, codes = np.unique(column, return_inverse=True)
    return tuple(map(str, found.tolist())), codes.astype(np.int64)
