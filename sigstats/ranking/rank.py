"""The leaderboard of a table of scores: every model, every pair, every slice.

When not to use: the measure is not a mean of scores, such as measures of classes (`sigstats.comparison.rank_by_pairs`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._common.extreme import span_of, ties_as_equal
from .._common.messages import Note
from .._common.scores import refuse_beyond, require_one_scale
from .._common.validation import IntArray, as_count, as_real, refuse, require_squarable
from .means import MEAN_OVER_TASKS, mean_interval, share_interval, task_weights
from .rank_sets import RankSets, sets_of
from .result import RankedModel, RankedSlice, Ranking, models_in_order, pairs_in_order


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
    limits: tuple[float, float] | None = (0.0, 1.0),
    score_range: tuple[float, float] | None = None,
    tasks: IntArray | None = None,
) -> Ranking:
    """The leaderboard of a table of bool or float; groups as codes, slices as their values and the code of each row's.

    With `answers` the rows are items, and scores the means of so many answers; `right` and `lower`: right or wrong, or
    the lower the better; `limits`: as in `sets_of`; `score_range`: limits that a person states. Of several `tasks` the
    first slice is the mean over them.

    Raises ValueError if an option is out of range, there are fewer than two models, or a score is beyond `score_range`.
    """
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    least = as_count(smallest_slice, "smallest_slice", minimum=1)
    right = right or scores.dtype == np.bool_
    if len(scores) < 1 or scores.shape[1] < 2:
        raise refuse("correct (shape)", scores.shape, "one row or more, and two models (columns) or more")
    if score_range is not None and right:
        low, high = score_range
        raise ValueError(f"score_range: {low:g} to {high:g} is not used by accuracy; expected scores, or no limits")
    refuse_beyond(score_range, [scores], "scores")
    if not right:
        require_squarable(scores, "scores")
        require_one_scale(scores.T, models, wanted="scores of all models in one unit")
    first = {column.tobytes(): name for name, column in zip(reversed(models), scores.T[::-1], strict=True)}
    varied = [place for place, column in enumerate(scores.T) if column.min() < column.max()]  # all right is not a copy
    same = [(models[place], first[scores[:, place].tobytes()]) for place in varied]
    told = f"have the same scores in all {len(scores):,} rows; one may be a copy"
    copies = [Note("identical-models", f"{name} and {other} {told}") for name, other in same if name != other]
    scores = -scores if lower else scores
    if scores.dtype != np.bool_:
        scores = ties_as_equal(scores)
    limits = score_range or limits
    if span_of(scores, limits) is None:
        limits = None
    told = "scores have no known limits: ranks assume that no difference exceeds those observed"
    unlimited = [] if limits else [Note("no-limits", told)]
    sets = sets_of(scores, models, groups, level, limits=limits)
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
            of_part = sets_of(scores[rows], models, inside, of_one, limits=limits)
            part = replace(part, models=_models(of_part, scores[rows], inside, level, right=right, lower=lower))
        ranked_slices.append(part)
    if tasks is not None and answers is None:
        weights = task_weights(tasks) * (len(tasks) / (int(tasks.max()) + 1))
        of_tasks = sets_of(scores, models, groups, level, weights, limits=limits)
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
        notes=(*notes, *unlimited, *copies),
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
