"""A leaderboard with the ranks that each model may have: every model, every pair, every slice.

When not to use: the models saw different rows; or the question is about other data sets
(`sigstats.compare_over_datasets`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._common.class_names import (
    MISSING,
    as_class_labels,
    class_notes,
    coded,
    coded_groups,
    counts_of,
    label_name,
    require_class_names,
)
from .._common.data_frames import columns_of
from .._common.extreme import ties_as_equal
from .._common.messages import Note
from .._common.scores import require_one_scale
from .._common.validation import (
    FloatArray,
    IntArray,
    as_count,
    as_labels,
    as_names,
    as_real,
    as_reals,
    refuse,
    require_squarable,
    same_kind_of_labels,
    shown,
)
from .front import with_costs
from .means import MEAN_OVER_TASKS, first_of_each, item_means, mean_interval, missing_in, share_interval, task_weights
from .rank_sets import RankSets, as_score_table, sets_of
from .result import RankedModel, RankedSlice, Ranking, models_in_order, pairs_in_order


def rank_models(
    correct: Any,
    *,
    label: Any = None,
    models: Sequence[str] | None = None,
    groups: Any = None,
    slices: Mapping[str, Any] | Sequence[str] | None = None,
    items: Any = None,
    cost: Any = None,
    confidence_level: float = 0.95,
    smallest_slice: int = 10,
) -> Ranking:
    """Rank models that answered the same rows, with the ranks that each may have.

    Null hypothesis of an ordered pair: in the population of the rows (or groups), the first mean score is not larger.

    Parameters
    ----------
    correct : array_like or data frame, shape (n, k)
        Correctness of n rows (0 or 1) for k models (columns), two or more; or scores, larger being better; or, with
        `label`, predictions. A data frame (pandas, Polars, Arrow or any that narwhals reads) names the
        models by its columns, and may contain label, groups and slices.
    label : array_like, shape (n,), or str, optional
        The true label of each row, or its column; `correct` then contains predictions.
    models : sequence of str, optional
        The names of the columns of an array, ``"1"``, ``"2"``, ... by default; of a frame, the columns that are models,
        all others by default.
    groups : array_like, shape (n,), or str, optional
        The group of each row, if rows of one group are not independent; or the column of the frame.
    slices : mapping of str to array_like of shape (n,), or sequence of str, optional
        Columns by name, or columns of the frame; each value of a column is a slice.
    items : array_like, shape (n,), or str, optional
        The item that each row answers, if items have several answers, which are then a group; or the column of the
        frame. A value is missing (NaN, None) if a model has fewer answers to an item than another; then the means of
        all answers to each item are ranked, as in `compare`.
    cost : array_like or data frame, shape (n, k), optional
        The cost of each answer, such as dollars or seconds, with the models as in `correct`. The result then has the
        models that none is shown to beat in both score and cost (``sigstats.ranking.front``).
    confidence_level : float
        Confidence of all rank sets together, strictly between 0 and 1.
    smallest_slice : int
        Slices with fewer rows are not tested.

    Returns
    -------
    Ranking

    Raises
    ------
    ValueError
        If the table is smaller, a value is missing or not finite, lengths differ, a name appears twice, or an option is
        out of range.

    Notes
    -----
    The rank sets are those of ``sigstats.ranking.rank_sets``, of tests of all ordered pairs adjusted by Holm's steps.
    Slices form a family of their own: the rank sets of all slices hold together with `confidence_level` (Bonferroni).
    Scores outside 0 to 1 have no limits, and no difference is assumed to exceed those seen. If this is wrong, the order
    may be false: with 20 rows that gain 1 or, one in 50, lose 49, in 69% of samples.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm, Review of Economic Studies 91 (2024).

    Examples
    --------
    >>> import numpy as np, sigstats
    >>> rng = np.random.default_rng(0)
    >>> correct = rng.random((400, 3)) < [0.9, 0.88, 0.7]
    >>> ranks = sigstats.rank_models(correct, models=["a", "b", "c"])
    >>> [(each.model, each.rank_low, each.rank_high, each.tier, each.accuracy) for each in ranks.models]
    [('a', 1, 2, 1, 0.9), ('b', 1, 2, 1, 0.8875), ('c', 3, 3, 2, 0.6975)]
    >>> [(pair.a, pair.b, pair.better) for pair in ranks.pairs]
    [('a', 'b', False), ('a', 'c', True), ('b', 'c', True)]
    """
    columns = columns_of(correct, models, {"label": label, "groups": groups, "items": items}, slices)
    names = as_names(columns.models, "models", columns.table.shape[1])
    n = len(columns.table)
    named = columns.named
    codes = {name: coded_groups(named[name], name, n) for name in ("groups", "items") if named[name] is not None}
    parts = {k: coded(v, f"slices[{shown(k)}]", n, missing=MISSING) for k, v in columns.slices.items()}
    of_label = None if named["label"] is None else as_labels(named["label"], "label")
    options: dict[str, Any] = {"confidence_level": confidence_level, "smallest_slice": smallest_slice, "notes": ()}
    group = codes["groups"][1] if "groups" in codes else None
    missing = missing_in(columns.table) if "items" in codes else None
    if missing is None or not missing.any():
        scores = as_score_table(columns.table if of_label is None else _right(columns.table, of_label, names))
        if of_label is not None:
            said = [(name, counts_of(*coded(said, name, n))) for name, said in zip(names, columns.table.T, strict=True)]
            options["notes"] = class_notes(counts_of(*coded(of_label, "label", n)), said)
        if group is None and "items" in codes:
            group = codes["items"][1]
        ranking = rank_table(scores, names, group, parts, **options)
        if cost is None:
            return ranking
        table = as_reals(columns_of(cost, columns.models, {}, name="cost").table, "cost", ndim=2)
        if table.shape != scores.shape:
            raise refuse("cost (shape)", table.shape, f"{scores.shape}, as of the scores")
        options["notes"] = ()
        return with_costs(ranking, rank_table(table, names, group, {}, lower=True, limited=False, **options), "cost")
    if cost is not None:
        raise ValueError("cost: is not valid with missing answers; leave out the items that lack one")
    item_names, item = codes["items"]
    marks = _marks(columns.table, of_label, names, missing)
    means, counts = item_means(marks, item, item_names, names)
    group = None if group is None else first_of_each(group, item, "groups", item_names)
    parts = {
        name: (values, first_of_each(of_rows, item, f"slices[{shown(name)}]", item_names))
        for name, (values, of_rows) in parts.items()
    }
    right = bool(np.isin(marks[~missing], (0.0, 1.0)).all())
    return rank_table(means, names, group, parts, answers=counts, right=right, **options)


def rank_table(
    scores: Any,
    models: Sequence[str],
    groups: IntArray | None,
    slices: Mapping[str, tuple[Sequence[str], IntArray]],
    *,
    confidence_level: float,
    smallest_slice: int,
    notes: Sequence[Note],
    answers: IntArray | None = None,
    right: bool = False,
    lower: bool = False,
    limited: bool = True,
    tasks: IntArray | None = None,
) -> Ranking:
    """The leaderboard of a table of bool or float; groups as codes, slices as their values and the code of each row's.

    With `answers` the rows are items, and scores the means of so many answers; `right` and `lower`: right or wrong, or
    the lower the better; `limited`: as in `sets_of`. Of several `tasks` the first slice is the mean over them.

    Raises ValueError if an option is out of range, or there are fewer than two models.
    """
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    least = as_count(smallest_slice, "smallest_slice", minimum=1)
    right = right or scores.dtype == np.bool_
    if len(scores) < 1 or scores.shape[1] < 2:
        raise refuse("correct (shape)", scores.shape, "one row or more, and two models (columns) or more")
    if not right:
        require_squarable(scores, "scores")
        require_one_scale(scores.T, models, wanted="scores of all models in one unit")
    first = {column.tobytes(): name for name, column in zip(reversed(models), scores.T[::-1], strict=True)}
    same = [(name, first[column.tobytes()]) for name, column in zip(models, scores.T, strict=True)]
    told = f"in all {len(scores):,} rows, as a copy does"
    copies = [Note("identical-models", f"{name} scores as {other} {told}") for name, other in same if name != other]
    scores = -scores if lower else scores
    if scores.dtype != np.bool_:
        scores = ties_as_equal(scores)
    sets = sets_of(scores, models, groups, level, limited=limited)
    parts = [
        (f"{column} = {value}", np.flatnonzero(codes == code))
        for column, (values, codes) in slices.items()
        for code, value in enumerate(values)
    ]
    notes_of = [_untestable(rows, groups, least) for _, rows in parts]
    ranked_slices = []
    for (name, rows), note in zip(parts, notes_of, strict=True):
        part = RankedSlice(slice=name, n=len(rows), note=note)
        if not note:
            inside = None if groups is None else np.unique(groups[rows], return_inverse=True)[1].astype(np.int64)
            of_one = 1 - (1 - level) / notes_of.count("")
            of_part = sets_of(scores[rows], models, inside, of_one, limited=limited)
            part = replace(part, models=_models(of_part, scores[rows], inside, level, right=right, lower=lower))
        ranked_slices.append(part)
    if tasks is not None and answers is None:
        weights = task_weights(tasks) * (len(tasks) / (int(tasks.max()) + 1))
        of_tasks = sets_of(scores, models, groups, level, weights, limited=limited)
        ranked = _models(of_tasks, weights[:, np.newaxis] * scores, groups, level, right=right, lower=lower)
        ranked_slices.insert(0, RankedSlice(slice=MEAN_OVER_TASKS, n=len(scores), models=ranked))
    return Ranking(
        models=_models(sets, scores, groups, level, right=right, lower=lower),
        pairs=pairs_in_order(sets, lower=lower),
        slices=tuple(ranked_slices),
        measure="accuracy" if right else "mean-score",
        n=len(scores),
        averaged=answers is not None,
        groups=None if groups is None else sets.n,
        confidence_level=level,
        notes=(*notes, *copies),
    )


def _untestable(rows: IntArray, groups: IntArray | None, least: int) -> str:
    if len(rows) < least:
        return f"too small to rank: {len(rows)} of at least {least} rows"
    return "only one group: nothing can be tested" if groups is not None and len(np.unique(groups[rows])) < 2 else ""


def _models(
    sets: RankSets, scores: Any, groups: IntArray | None, level: float, *, right: bool, lower: bool
) -> tuple[RankedModel, ...]:
    interval = share_interval if scores.dtype == np.bool_ else mean_interval
    columns = (-scores if lower else scores).T
    return models_in_order(sets, [interval(column, groups, level) for column in columns], right=right, lower=lower)


def _marks(table: Any, label: Any, names: Sequence[str], missing: Any) -> FloatArray:
    """The mark of each answer, NaN if there is none."""
    scores = np.full(table.shape, np.nan)
    for i, name in enumerate(names):
        there = ~missing[:, i]
        column = np.array(table[there, i].tolist())[:, np.newaxis]
        if label is None:
            scores[there, i] = as_score_table(column)[:, 0]
        else:
            scores[there, i] = _right(column, label[there], [name])[:, 0]
    return scores


def _right(table: Any, label: Any, names: Sequence[str]) -> Any:
    label, right = as_class_labels(label, "label"), []
    for i in range(table.shape[1]):
        name = f"correct[{shown(names[i])}]"
        column = as_class_labels(table[:, i], name)
        if len(column) != len(label):
            raise refuse("label (length)", len(label), f"{len(column)}, one for each row")
        same_kind_of_labels(label, column, name)
        if (column != label).any():
            labels, said = ([label_name(value) for value in np.unique(one).tolist()] for one in (label, column))
            require_class_names(labels, said, len(label), shown(names[i]))
        right.append(column == label)
    return np.column_stack(right)
