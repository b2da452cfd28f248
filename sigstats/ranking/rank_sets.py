"""Ranks of many models on the same rows, with sets that contain all true ranks at once.

Each model gets a lowest and a highest rank; all are right together with the stated probability, at any number of rows.

When not to use: the models saw different rows; or the question is about other data sets
(`sigstats.compare_over_datasets`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from .._common.class_names import as_groups
from .._common.data_frames import columns_of
from .._common.extreme import span_of, ties_as_equal
from .._common.tabular import ArrayRecord, Table, Tabular, in_words
from .._common.validation import (
    FloatArray,
    IntArray,
    Limits,
    as_array,
    as_labels,
    as_names,
    as_real,
    as_reals,
    refuse,
    refuse_where,
)
from ..unseen_row.means import mean_pvalues, row_of_groups, units_of

_CHUNK = 2**24
#: An adjusted p-value of exactly the level rejects, whatever its last bit.
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RankSets(ArrayRecord, Tabular):
    """The result of `rank_sets`.

    Attributes
    ----------
    models : tuple of str
        The names of the models, in the order given.
    scores : tuple of float
        The mean score of each model.
    low, high : tuple of int
        The lowest and the highest rank that each model may have, 1 for the best.
    tiers : tuple of int
        Tier 1 contains the models to which no model is shown to be superior, tier 2 those to which only models of tier
        1 are, and so on.
    better : ndarray of bool, shape (k, k)
        Whether the model of the row is shown to be better than that of the column.
    pvalues : ndarray, shape (k, k)
        One-sided p-values of "the model of the row is better than that of the column", not adjusted; 1 on the diagonal.
    adjusted_pvalues : ndarray, shape (k, k)
        The same, adjusted over all ordered pairs: the smallest level at which the model of the row is shown to be
        better.
    confidence_level : float
    n : int
        The number of rows, or of groups.
    """

    models: tuple[str, ...]
    scores: tuple[float, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    tiers: tuple[int, ...]
    better: NDArray[np.bool_]
    pvalues: FloatArray
    adjusted_pvalues: FloatArray
    confidence_level: float
    n: int

    def _columns(self) -> dict[str, list[Any]]:
        names = ("models", "low", "high", "tiers", "scores")
        return {name.removesuffix("s"): list(getattr(self, name)) for name in names}

    def _table(self) -> Table:
        order = sorted(range(len(self.models)), key=lambda model: (self.tiers[model], -self.scores[model]))
        columns = {name: [in_words(cells[model]) for model in order] for name, cells in self._columns().items()}
        level = in_words(self.confidence_level)
        return Table(
            f"Ranks of {len(self.models)} models by {self.n:,} rows, all at once with confidence {level}", columns
        )


def rank_sets(
    correct: Any, *, models: Sequence[str] | None = None, groups: Any = None, confidence_level: float = 0.95
) -> RankSets:
    """Find the ranks that each of several models may have.

    Null hypothesis of an ordered pair: in the population of the rows (or groups), the first mean score is not larger.

    Parameters
    ----------
    correct : array_like, data frame or mapping of names to columns, shape (n, k)
        Whether each of k models (columns), two or more, got each of n rows right; or a score of each, larger being
        better. Scores of single or half precision count as the decimals that they print. A data frame (pandas, Polars,
        Arrow or any that narwhals reads) names the models by its columns.
    models : sequence of str, optional
        The names of the columns of an array, ``"1"``, ``"2"``, ... by default; of a frame, the columns that are models,
        all others by default.
    groups : array_like of int, shape (n,), or str, optional
        The group of each row, or the column of the frame that contains it, if rows of one group are not independent,
        such as several answers to one question.
    confidence_level : float
        Strictly between 0 and 1.

    Returns
    -------
    RankSets

    Raises
    ------
    ValueError
        If there are fewer than two models, a score is not finite, names are missing or repeated, or an option is out
        of range.

    Notes
    -----
    If all pairs of models are tested with a familywise error of ``1 - confidence_level``, then, with this confidence,
    each rank lies between one plus the number of models shown to be better and k minus the number shown to be worse
    (Mogstad, Romano, Shaikh and Wilhelm 2024, Review of Economic Studies 91, section 3). They use the bootstrap; here
    each ordered pair is tested one-sided, right and wrong rows by McNemar's exact test, and scores or groups by a bound
    of the mean difference that allows for an unseen row or group (Gaffke 2005), as in `sigstats.compare`, which
    documents the assumptions about groups. A row can differ by 1 if scores lie between 0 and 1, otherwise by the
    largest observed difference, which may be too small.

    Pairs are tested in Holm's order. If a model is better than a second one that is better than a third, it is better
    than the third, so hypotheses that follow from others are rejected without a test and no longer counted.

    Examples
    --------
    >>> import numpy as np, sigstats
    >>> from sigstats.ranking.rank_sets import rank_sets
    >>> rng = np.random.default_rng(0)
    >>> correct = rng.random((400, 4)) < [0.9, 0.88, 0.7, 0.5]
    >>> found = rank_sets(correct, models=["a", "b", "c", "d"])
    >>> list(zip(found.models, found.low, found.high, found.tiers, strict=True))
    [('a', 1, 2, 1), ('b', 1, 2, 1), ('c', 3, 3, 2), ('d', 4, 4, 3)]
    """
    columns = columns_of(correct, models, {"groups": groups})
    table = as_score_table(columns.table)
    if table.dtype != np.bool_:
        table = ties_as_equal(table)
    n, k = table.shape
    if n < 1 or k < 2:
        raise refuse("correct", table.shape, "at least one row and two models (columns)", quantity="shape")
    names = as_names(columns.models, "models", k)
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    codes = None
    if groups is not None:
        column = columns.named["groups"]
        named = np.unique(as_labels(column, "groups"), return_inverse=True)[1] if isinstance(groups, str) else column
        codes, _ = as_groups(named, "groups", n)
    return sets_of(table, names, codes, level)


def sets_of(
    table: Any,
    models: Sequence[str],
    groups: IntArray | None,
    level: float,
    weights: FloatArray | None = None,
    limits: Limits = (0.0, 1.0),
) -> RankSets:
    """Return the rank sets of a table of bool or float; groups as codes from 0, and weights of rows with a mean of 1.

    `limits`: those of a score; none are assumed for scores beyond them.
    """
    weighted = table if weights is None else weights[:, np.newaxis] * table
    n = len(table)
    if table.dtype == np.bool_ and groups is None and weights is None:
        pvalues = _mcnemar(table)
    else:
        sums, sizes, row = np.asarray(weighted, dtype=np.float64), weights, math.inf
        if groups is not None:
            n = int(groups.max()) + 1
            sums = np.column_stack([np.bincount(groups, column, n) for column in sums.T])
            sizes = np.bincount(groups, weights, n).astype(np.float64)
            row = row_of_groups(n, row=1.0 if weights is None else float(weights.max()))
        pvalues = pairs_of_means(sums, sizes, span_of(table, limits), row)
    return sets_from(pvalues, weighted.mean(axis=0, dtype=np.float64).tolist(), models, level, n)


def sets_from(pvalues: FloatArray, scores: Sequence[float], models: Sequence[str], level: float, n: int) -> RankSets:
    """Return the rank sets of one-sided p-values of all ordered pairs, and the scores of the models."""
    k = len(models)
    adjusted = adjusted_pairs(pvalues)
    better = is_shown(adjusted, level)
    return RankSets(
        models=tuple(models),
        scores=tuple(scores),
        low=tuple((1 + better.sum(axis=0)).tolist()),
        high=tuple((k - better.sum(axis=1)).tolist()),
        tiers=_tiers(better),
        better=better,
        pvalues=pvalues,
        adjusted_pvalues=adjusted,
        confidence_level=level,
        n=n,
    )


def as_score_table(correct: Any) -> Any:
    """Return the table as bool if all values are 0 or 1, otherwise as float64.

    Raises ValueError if it is not a table of numbers, or a number is not finite or exceeds 1e75.
    """
    array = as_array(correct, "correct", "a table of rows and models")
    if array.dtype == np.bool_ and array.ndim == 2:
        return array
    reals = as_reals(correct, "correct", ndim=2)
    refuse_where(np.abs(reals) > 1e75, reals, "correct", "numbers between -1e+75 and 1e+75")
    return reals.astype(bool) if np.isin(reals, (0.0, 1.0)).all() else reals


def _mcnemar(correct: NDArray[np.bool_]) -> FloatArray:
    """Return one-sided exact p-values of all ordered pairs, from the counts of rows that only one of two got right."""
    k = correct.shape[1]
    only = np.zeros((k, k))
    for start in range(0, len(correct), max(1, _CHUNK // k)):
        rows = correct[start : start + max(1, _CHUNK // k)].astype(np.float64)
        only += rows.T @ (1 - rows)
    return sign_tests(only)


def sign_tests(ahead: FloatArray) -> FloatArray:
    """Return one-sided exact p-values of all ordered pairs, from how often only the model of the row is ahead.

    P(X >= a) for X binomial with a + b trials is the incomplete beta function I_{1/2}(a, b + 1).
    """
    return np.where(ahead > 0, betainc(np.maximum(ahead, 1), ahead.T + 1, 0.5), 1.0)


def is_shown(adjusted: FloatArray, level: float) -> NDArray[np.bool_]:
    """Return a mask of adjusted p-values that reject at one minus the confidence."""
    return (adjusted <= (1 - level) * (1 + _ROUNDING)) & (adjusted < 1)


def pairs_of_means(
    sums: FloatArray, sizes: FloatArray | None, limit: float | None, row: float = math.inf
) -> FloatArray:
    """One-sided p-values of all ordered pairs of models, by bounds of the mean difference of units of these sizes.

    `limit`: the largest possible difference of one row; None for the largest observed difference of a pair. `row`: as
    in `Units`.
    """
    k = sums.shape[1]
    p = np.ones((k, k))
    pairs = [(a, b) for a in range(k) for b in range(a + 1, k)]
    step = max(1, _CHUNK // len(sums))
    for start in range(0, len(pairs), step):
        chosen = pairs[start : start + step]
        many = [units_of(sums[:, a] - sums[:, b], sizes, row) for a, b in chosen]
        limits = [float(np.abs(units.sums / units.sizes).max()) if limit is None else limit for units in many]
        for (a, b), (less, greater) in zip(chosen, mean_pvalues(many, limits), strict=True):
            p[a, b], p[b, a] = greater, less
    return p


def adjusted_pairs(pvalues: FloatArray) -> FloatArray:
    """Return adjusted p-values of all ordered pairs of k models, by Holm's steps with transitivity.

    `pvalues` (ndarray, shape (k, k)): one-sided, of "the model of the row is better than that of the column".

    >>> adjusted_pairs(np.array([[1.0, 0.01, 0.004], [0.99, 1.0, 0.2], [1.0, 0.8, 1.0]])).round(3).tolist()
    [[1.0, 0.05, 0.024], [1.0, 1.0, 0.8], [1.0, 1.0, 1.0]]
    """
    k = len(pvalues)
    adjusted, better = np.ones((k, k)), np.zeros((k, k), dtype=bool)
    remaining, level = k * (k - 1), 0.0
    for flat in np.argsort(pvalues, axis=None, kind="stable"):
        a, b = divmod(int(flat), k)
        if a == b or better[a, b]:
            continue
        level = max(level, float(pvalues[a, b]) * remaining)
        if level >= 1 or better[b, a]:
            break
        above, below = better[:, a].copy(), better[b].copy()
        above[a] = below[b] = True
        follows = np.outer(above, below) & ~better
        adjusted[follows] = level
        better |= follows
        remaining -= int(follows.sum())
    return adjusted


def _tiers(better: NDArray[np.bool_]) -> tuple[int, ...]:
    tiers = np.zeros(len(better), dtype=int)
    tier = 0
    while (left := tiers == 0).any():
        tier += 1
        tiers[left & ~better[left].any(axis=0)] = tier
    return tuple(tiers.tolist())
