"""Tables of the scores of models on data sets: wide, or long with a row for each score, and scores that are missing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from .._common.class_spelling import is_summary
from .._common.column_names import FOLD, FOLDS
from .._common.data_frames import columns_of, is_missing, named_levels, opened
from .._common.messages import Note
from .._common.repeats import check_end_rows, refuse_summaries
from .._common.scores import unlike_units
from .._common.validation import FloatArray, as_names, as_reals, refuse, shown
from ..measures.metrics import against_direction

Missing: TypeAlias = Literal["refuse", "drop", "worst", "pairs"]


class ScoreTable(NamedTuple):
    """Scores with a row for each data set and a column for each model; NaN where there is none."""

    scores: FloatArray
    models: list[str]
    #: The names of the data sets, or their numbers from 1.
    datasets: list[str]
    #: The name of the column of scores in a long table.
    column: str = ""
    #: True if the user named the columns that are models.
    listed: bool = False

    def whole(self) -> Self:
        """Return the rows of the data sets on which all models have a score."""
        kept = np.flatnonzero(~np.isnan(self.scores).any(axis=1))
        return self._replace(scores=self.scores[kept], datasets=[self.datasets[place] for place in kept])


def read_scores(scores: Any, models: Any, datasets: Any) -> ScoreTable:
    """Return the table that `sigstats.compare_over_datasets` was given, or raise ValueError."""
    column_name = datasets if isinstance(datasets, str) else getattr(datasets, "name", None)
    column, listed = "", not (models is None or isinstance(models, str))
    if isinstance(models, str):
        scores, models, datasets, column = _widened(scores, models, datasets)
    columns = columns_of(scores, models, {"datasets": datasets}, name="scores")
    named = columns.models if models is None and columns.models else ()
    is_text = np.frompyfunc(lambda value: isinstance(value, str), 1, 1)
    if text := [name for name, values in zip(named, columns.table.T, strict=False) if is_text(values).any()]:
        raise ValueError(f"scores: {shown(text[0])} contains text; for a table in long format, add models={text[0]!r}")
    holes = np.frompyfunc(is_missing, 1, 1)(columns.table.astype(object)).astype(bool)
    table = as_reals(np.where(holes, 0.0, columns.table) if holes.any() else columns.table, "scores", ndim=2)
    table[holes] = np.nan
    if column:
        check_end_rows([*table.T], "scores")
        refuse_summaries([*table.T], columns.models, "scores")
    count, k = table.shape
    if count < 2 or k < 2:
        raise refuse("scores", table.shape, "at least two data sets (rows) and two models (columns)", quantity="shape")
    names = as_names(columns.models, "models", k)
    rows = columns.named["datasets"]
    rows = [str(row) for row in rows] if isinstance(datasets, str) else rows
    rows = list(as_names(rows, "datasets", count))
    if datasets is None:
        require_data_sets(rows_of(scores))
    else:
        require_data_sets(rows, column_name)
    return ScoreTable(table, list(names), rows, column, listed)


def rows_of(scores: Any) -> Any:
    """Return the index of a data frame or of the first Series of a mapping; otherwise empty, or a method of a list."""
    return getattr(next(iter(scores.values()), scores) if isinstance(scores, Mapping) else scores, "index", ())


def require_data_sets(names: Any, column: Any = None) -> None:
    """Refuse names of data sets, such as an index, if one is repeated or a total, or all are folds or runs on one.

    `column`: the name of their column; that of an index by default.
    """
    if getattr(names, "nlevels", 1) > 1:
        for level in named_levels(names, "scores"):
            require_data_sets(names.get_level_values(level).unique())
    column = getattr(names, "name", None) if column is None else column
    rows = [] if callable(names) else [*map(str, names)]  # a list has a method `index`
    not_totals = [row for row in rows if not is_summary(row)]
    column_match = FOLDS.fullmatch(column.strip()) if isinstance(column, str) else None
    row_matches = [FOLD.search(row) for row in not_totals]
    if not_totals and (column_match or all(row_matches)):
        name, match = not_totals[0], row_matches[0]
        if not match:
            name, match = f"{column} {name}", column_match
        meaning, cure = (
            "part of cross-validation",
            "test differences of two models by sigstats.corrected_resampled_test",
        )
        if match and match["run"]:
            meaning, cure = (
                "run on one data set",
                "compare the predictions of two models in each run by sigstats.compare",
            )
        problem = f"{shown(name)} is a {meaning}, not a data set"
        raise ValueError(f"datasets: {problem}; give one score per data set, or {cure}")
    times = Counter(map(str.casefold, rows))
    if odd := [row for row in rows if times[row.casefold()] > 1 or is_summary(row)]:
        raise refuse("datasets", min(odd), "names that differ in more than case; remove totals and means")


def _widened(scores: Any, models: str, datasets: Any) -> tuple[FloatArray, list[str], list[str], str]:
    """Return a long table as a wide one, and the name of its column of scores."""
    frame = opened(scores)
    if frame is None or not isinstance(datasets, str):
        raise refuse("models", models, "names of models, or one column of a data frame if `datasets` is a column too")
    others = [name for name in frame.columns if name not in (models, datasets)]
    if {models, datasets} - {*frame.columns} or len(others) != 1:
        wanted = f"{shown(datasets)}, {shown(models)} and one column of scores"
        raise refuse("scores (columns)", list(frame.columns), f"{wanted} (drop the others)")
    keys = list(zip(*(map(str, frame.get_column(name).to_list()) for name in (datasets, models)), strict=True))
    if len({*keys}) < len(keys):
        on, model = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"scores: {shown(model)} has several scores on {shown(on)}; give one, such as their mean")
    rows, names = (list(dict.fromkeys(values)) for values in zip(*keys, strict=True))
    values = dict(zip(keys, frame.get_column(others[0]).to_list(), strict=True))
    table = [[values.get((row, name)) for name in names] for row in rows]
    return np.array(table, dtype=object), names, rows, others[0]


def unlike_models(
    columns: Sequence[FloatArray], models: Sequence[str], *, greater_is_better: bool, listed: bool
) -> list[Note]:
    """Return notes on scores of models that may be in two units. Raise ValueError if they are.

    `listed`: the user named the columns that are models.
    """
    wanted = "scores of all models in one unit (models names the columns that are models)"
    return unlike_units(columns, models, wanted=wanted, costs=not greater_is_better, listed=listed)


def filled(table: ScoreTable, missing: Missing, *, greater_is_better: bool) -> tuple[ScoreTable, tuple[str, ...]]:
    """Return the tested table, and notes. Raise ValueError for missing scores, if refused, or for two units."""
    table, lost = _without_holes(table, missing, greater_is_better=greater_is_better)
    columns = [column[~np.isnan(column)] for column in table.scores.T]
    units = unlike_models(columns, table.models, greater_is_better=greater_is_better, listed=table.listed)
    if greater_is_better and not units:  # losses of data sets may differ in size
        units = unlike_units([*table.whole().scores], table.whole().datasets)
    names, cure = [table.column] if table.column else table.models, f"set greater_is_better={not greater_is_better}"
    doubts = (*units, *against_direction(names, greater=greater_is_better, cure=cure))
    return table, (*lost, *(f"{note[0].upper()}{note[1:]}." for note in doubts))


def _without_holes(
    table: ScoreTable, missing: Missing, *, greater_is_better: bool
) -> tuple[ScoreTable, tuple[str, ...]]:
    holes = np.isnan(table.scores)
    if not holes.any():
        return table, ()
    cells = [f"{table.models[j]} on {table.datasets[i]}" for i, j in np.argwhere(holes)]
    which = ", ".join(cells[:3])
    if len(cells) > 3:
        which += f" and {len(cells) - 3} more"
    if missing == "refuse":
        raise ValueError(
            f"scores: no score of {which}; missing='drop' leaves these data sets out, 'worst' counts such a model "
            "as tied with the worst there, 'pairs' compares two models on the data sets that both have"
        )
    if missing == "worst":
        if holes.all(axis=1).any():
            nowhere = table.datasets[holes.all(1).argmax()]
            raise ValueError(f"missing: 'worst' is not possible: no model has a score on {nowhere}; use 'drop'")
        worst = (np.nanmin if greater_is_better else np.nanmax)(table.scores, axis=1)
        scores = np.where(holes, worst[:, None], table.scores)
        return table._replace(scores=scores), (f"No score of {which}: counted as tied with the worst there.",)
    whole = table.whole()
    if len(whole.datasets) < 2:
        quantity = "number of data sets on which all models have a score"
        raise refuse("scores", len(whole.datasets), "two or more", quantity=quantity)
    if missing == "pairs":
        about = (
            f"pairs are compared on the data sets that both have, ranks and Friedman's test on {len(whole.datasets)}"
        )
        return table, (f"No score of {which}: {about}.",)
    lost = [name for name in table.datasets if name not in whole.datasets]
    without = ", ".join(lost) if len(lost) < 4 else f"these {len(lost)} data sets"
    return whole, (f"No score of {which}: {without} left out.",)
