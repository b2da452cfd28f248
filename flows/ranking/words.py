"""The cells of a leaderboard and its sentences."""

from sigstats._common.task_weights import MEAN_OVER_TASKS
from sigstats.ranking.result import RankedModel, Ranking

from ..pages.wording import count_of, join_words, number, percent, percent_range, significant, told_apart

HEADER = ("rank", "tier", "model", "score", "interval")
#: A sentence names at most this many models.
_NAMED = 5


def cells_of(model: RankedModel, n: int) -> tuple[str, ...]:
    """The cells of a model under `HEADER`."""
    low, high, _ = model.confidence_interval
    if model.accuracy is None:
        between = " to ".join(told_apart(low, high, number, 4))
    else:
        between = percent_range(low, high, n, to="% to ")
    return (ranks_of(model), str(model.tier), model.model, score_of(model, model.score, n), between)


def header_of(found: Ranking) -> tuple[str, ...]:
    """`HEADER` with the name of the measure."""
    return tuple("accuracy" if name == "score" and found.measure == "accuracy" else name for name in HEADER)


def score_of(model: RankedModel, value: float, n: int) -> str:
    """The score of a model: a percentage, or a value in its own unit."""
    return number(value, 4) if model.accuracy is None else percent(value, n)


def ranks_of(model: RankedModel) -> str:
    """The ranks that a model may have."""
    return str(model.rank_low) if model.rank_low == model.rank_high else f"{model.rank_low}–{model.rank_high}"


def headline(found: Ranking) -> str:
    """Which model is best, or which may be, and where the mean over tasks has another one first."""
    tasks = next((each for each in found.slices if each.slice == MEAN_OVER_TASKS), None)
    if tasks is None or tasks.models[0].model == found.models[0].model:
        return _of_all_rows(found)
    return f"{_of_all_rows(found)} on all rows; in the mean over tasks {tasks.models[0].model} comes first"


def _of_all_rows(found: Ranking) -> str:
    """Which model is best of all rows, or which may be."""
    first = found.tiers[0]
    k = len(found.models)
    if len(first) == 1:
        return f"{first[0]} is the best of {k} models"
    if len(first) == k:
        return f"None of the {k} models is shown to be better than another"
    shown = [*first[:_NAMED], *([f"{len(first) - _NAMED} more"] if len(first) > _NAMED else [])]
    return f"{join_words(shown)} may each be the best of {k} models"


def basis(found: Ranking) -> str:
    """The models, rows and test that the ranks are based on."""
    test = "exact sign flips" if found.groups is not None or found.measure != "accuracy" else "McNemar's exact test"
    if found.averaged:
        test = "sign flips of items' averages and a score test"
    rows = count_of(found.n, found.unit)
    rows += "" if found.groups is None else f" in {count_of(found.groups, 'group')}"
    shown = sum(pair.better for pair in found.pairs)
    return (
        f"{count_of(len(found.models), 'model')} on the same {rows}; all ranks hold at once with confidence "
        f"{significant(found.confidence_level)}, by {test} of each ordered pair with Holm's steps; "
        f"{shown:,} of {count_of(len(found.pairs), 'pair')} {'is' if shown == 1 else 'are'} shown to differ"
    )
