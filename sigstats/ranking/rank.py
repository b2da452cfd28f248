"""The leaderboard of a table of scores: every model, every pair, every slice; and the front of scores and costs.

When not to use: the measure is not a mean of scores, such as measures of classes (`sigstats.comparison.rank_by_pairs`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .._common.extreme import span_of, ties_as_equal
from .._common.messages import Note
from .._common.scores import refuse_beyond, unlike_units
from .._common.validation import FloatArray, IntArray, Limits, as_count, as_real, refuse, require_squarable, shown
from ..measures.metrics import is_lower_better
from ..unseen_row.means import RAREST
from .means import MEAN_OVER_TASKS, share_interval, student_interval, task_weights
from .rank_sets import RankSets, adjusted_pairs, is_shown, sets_of
from .result import RankedCost, RankedModel, RankedSlice, Ranking, models_in_order, pairs_in_order


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
    limits: Limits = (0.0, 1.0),
    named: bool = False,
    priced: bool = False,
    score_range: Limits = None,
    tasks: IntArray | None = None,
) -> Ranking:
    """Return the leaderboard of a boolean or float table. Groups are codes, slices are values and codes.

    With `answers` the rows are items, and scores are means of this many answers; `right`: scores are right or wrong;
    `lower`: lower is better; `limits`: as in `sets_of`, `named` if the name of the scores or their log states them;
    `priced`: True for costs in a named unit; `score_range`: limits that a person states. Of several `tasks` the first
    slice is the mean over them.

    Raises ValueError if an option is out of range, there are fewer than two models, or a score is beyond `score_range`.
    """
    level = as_real(confidence_level, "confidence_level", low=0, high=1, open_ends=True)
    least = as_count(smallest_slice, "smallest_slice", minimum=1)
    right = right or scores.dtype == np.bool_
    if len(scores) < 1 or scores.shape[1] < 2:
        raise refuse("correct", scores.shape, "at least one row and two models (columns)", quantity="shape")
    if score_range is not None and right:
        low, high = score_range
        raise ValueError(f"score_range: {low:g} to {high:g} is not used by accuracy; expected scores, or no limits")
    refuse_beyond(score_range, [scores], "scores")
    require_squarable(scores, "scores")
    if not right and score_range is None:
        wanted = "scores of all models in one unit, or score_range"
        known = limits if named else None
        units = unlike_units(scores.T, models, wanted=wanted, costs=lower, priced=priced, limits=known)
        notes = (*notes, *units)
    copies = _notes_on_copies(scores, models)
    scores = -scores if lower else scores
    if scores.dtype != np.bool_:
        scores = ties_as_equal(scores)
    limits = score_range or limits
    if span_of(scores, limits) is None:
        limits = None
    text = "scores have no known limits: ranks assume that no difference exceeds those observed"
    unlimited = [] if limits else [Note("no-limits", text)]
    sets = sets_of(scores, models, groups, level, limits=limits)
    in_order = partial(_models, level=level, right=right, lower=lower)

    def ranked_slice(name: str, rows: IntArray, note: str, level: float) -> RankedSlice:
        part = RankedSlice(slice=name, n=len(rows), note=note)
        if note:
            return part
        groups_of_part = None if groups is None else np.unique(groups[rows], return_inverse=True)[1].astype(np.int64)
        sets_of_part = sets_of(scores[rows], models, groups_of_part, level, limits=limits)
        return replace(part, models=in_order(sets_of_part, scores[rows], groups_of_part))

    ranked_slices = []
    if tasks is not None and answers is None:
        weights = task_weights(tasks) * (len(tasks) / (int(tasks.max()) + 1))
        sets_of_tasks = sets_of(scores, models, groups, level, weights, limits=limits)
        ranked = in_order(sets_of_tasks, weights[:, np.newaxis] * scores, groups)
        ranked_slices.append(RankedSlice(slice=MEAN_OVER_TASKS, n=len(scores), models=ranked))
    parts = [
        (f"{column} = {value}", rows := np.flatnonzero(codes == code), _untestable(rows, groups, least))
        for column, (values, codes) in slices.items()
        for code, value in enumerate(values)
    ]
    level_of_slice = 1 - (1 - level) / max(1, sum(not note for _, _, note in parts))
    ranked_slices += [ranked_slice(*part, level_of_slice) for part in parts]
    return Ranking(
        models=in_order(sets, scores, groups),
        pairs=pairs_in_order(sets, lower=lower),
        slices=tuple(ranked_slices),
        measure="accuracy" if right else "mean-score",
        n=len(scores),
        averaged=answers is not None,
        groups=None if groups is None else sets.n,
        confidence_level=level,
        notes=(*notes, *unlimited, *copies),
    )


def _notes_on_copies(scores: Any, models: Sequence[str]) -> list[Note]:
    """Return notes on models with the same scores; models that are right in all rows are not copies."""
    first = {column.tobytes(): name for name, column in zip(reversed(models), scores.T[::-1], strict=True)}
    varied = [(name, column) for name, column in zip(models, scores.T, strict=True) if column.min() < column.max()]
    same = [(name, first[column.tobytes()]) for name, column in varied]
    text = f"have the same scores in all {len(scores):,} rows; one may be a copy"
    return [Note("identical-models", f"{name} and {other} {text}") for name, other in same if name != other]


def _untestable(rows: IntArray, groups: IntArray | None, least: int) -> str:
    if len(rows) < least:
        return f"too small to rank: {len(rows)} of at least {least} rows"
    return "only one group: nothing can be tested" if groups is not None and len(np.unique(groups[rows])) < 2 else ""


def _models(
    sets: RankSets, scores: Any, groups: IntArray | None, *, level: float, right: bool, lower: bool
) -> tuple[RankedModel, ...]:
    interval = share_interval if scores.dtype == np.bool_ else student_interval
    columns = (-scores if lower else scores).T
    return models_in_order(sets, [interval(column, groups, level) for column in columns], right=right, lower=lower)


def check_costs(costs: Iterable[FloatArray], models: Sequence[str], name: str = "cost") -> None:
    """Refuse marks, and negative costs, which may mean that higher is cheaper. `costs`: an array for each model."""
    if is_lower_better(name) is False:
        raise refuse("cost", name, f"a cost, since a higher {name} is better")
    for values, model in zip(costs, models, strict=True):
        if (values < 0).any():
            problem = f"cost: {shown(name)} is {values[values < 0][0]:g} in a row of {model}; is a higher one cheaper?"
            raise ValueError(f"{problem} Give costs of 0 or more; if some are credits, add one number to all costs")


def with_costs(ranking: Ranking, costs: Ranking, cost: str) -> Ranking:
    """Add the front of quality and cost to a ranking; `costs` ranks the same models by `cost`, cheapest first.

    Null hypothesis of an ordered pair: in the population of the rows (or groups), the mean score of the first model is
    not better, or its mean cost is not lower. The p-value is the larger one of the two parts, valid however scores and
    costs depend on each other (Berger 1982, Technometrics 24). All ordered pairs are adjusted together by Holm's
    method: if a model beats a second one in both, and the second a third, then the first beats the third. With the
    confidence of the ranking, every model called dominated is truly dominated.

    Costs have no known limits, and a rare cost far above all others may be missing from the rows. So at least 1 row (or
    group) in 25 is assumed to have a difference of costs as large as any, and the probability that none of n is such a
    row, 0.96^n, is added to the p-value of costs. A note states it. Costs of runs are tested as in
    `sigstats.comparison.row_tests.runs`.

    When not to use: to show that a cheaper model is as good as an expensive one (`sigstats.compare` with a margin).
    Equality cannot be shown, so of two equally good models the more expensive one stays on the front.

    Raises ValueError if costs and scores have different rows.
    """
    if costs.n != ranking.n or costs.averaged != ranking.averaged:
        wanted = f"those of the {ranking.n:,} {ranking.unit}s with a score"
        raise ValueError(f"{cost}: costs of {costs.n:,} {costs.unit}s are not valid; expected {wanted}")
    names = [model.model for model in ranking.models]
    replaced = ("identical-models", "no-limits")  # equal prices are not copies
    of_costs, notes = _pvalues(costs, names), {note: None for note in costs.notes if note.name not in replaced}
    if not costs.test:
        units, what = (costs.n, "row") if costs.groups is None else (costs.groups, "group")
        unseen = (1 - RAREST) ** units
        of_costs = np.minimum(1.0, of_costs + unseen)
        text = f"{cost} has no known limits: p includes the chance {unseen:.2g} that no {what} is"
        notes[Note("no-limits", f"{text} like the 1 in 25 with the largest differences")] = None
    adjusted = adjusted_pairs(np.maximum(_pvalues(ranking, names), of_costs))
    shown = is_shown(adjusted, ranking.confidence_level)
    by_name = {model.model: model for model in costs.models}
    of_models = tuple(
        RankedCost(
            model=name,
            cost=by_name[name].score,
            confidence_interval=by_name[name].confidence_interval,
            dominated_by=tuple(names[other] for other in np.flatnonzero(shown[:, place])),
            adjusted_pvalue=float(adjusted[:, place].min()),
        )
        for place, name in enumerate(names)
    )
    return replace(ranking, cost=cost, costs=of_models, notes=tuple(dict.fromkeys([*ranking.notes, *notes])))


def _pvalues(ranking: Ranking, names: list[str]) -> FloatArray:
    """Return one-sided p-values of all ordered pairs; 1 if the first model has the worse score."""
    pvalues = np.ones((len(names), len(names)))
    for pair in ranking.pairs:
        pvalues[names.index(pair.a), names.index(pair.b)] = pair.pvalue
    return pvalues
