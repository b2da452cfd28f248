"""Data frames of any library, and arrays, as `Columns` and `Predictions`: the form in which files are read.

`make_columns` checks the names that a user gives. `pairs_of_frames` and `paired_with_itself` read data frames, and
`pair_as_frames` reads arrays with missing values as if they were the columns of frames.
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa

from sigstats._common.data_frames import has_no_text, named_levels, opened, require_same_index, with_texts
from sigstats._common.scores import of_named_scores, parts_of_ratio
from sigstats._common.validation import as_choice, refuse, shown
from sigstats.comparison.paired_predictions import PairedPredictions, Scored

from ..._common.messages import ARGUMENTS, as_arguments
from ..predictions import MOST_VALUES, Columns, Predictions, from_table, join, join_scores, settle
from ..predictions.designs import add_human_labels, join_samples, judge_and_labels
from ..tables.table import Table


def pairs_of_frames(
    baseline: Any,
    candidate: Any,
    columns: Columns,
    prediction: Any,
    model: Any,
    score: Any,
    *,
    labels: Any,
    unmatched: Any,
    unpaired: bool,
) -> list[PairedPredictions]:
    """Return the paired rows of one or two data frames for each score. The arguments: as in `sigstats.compare`."""
    as_choice(unmatched, "unmatched", ("refuse", "drop"))
    predictions, models = as_names(prediction, "prediction"), as_names(model or (), "model")
    for argument, values, allowed in (("prediction", predictions, (1, 2)), ("model", models, (0, 2))):
        if len(values) not in allowed:
            raise refuse(argument, list(values), "two names, the baseline's and the candidate's")
    if candidate is None and len(predictions) == 1 and not models:
        raise refuse("prediction", predictions[0], "two columns of this frame: the baseline's and the candidate's")
    if candidate is None and len(predictions) > 1 and score is not None:
        raise refuse("score", score, "a frame for each model, since it is one column for both predictions")
    scores, candidate = as_score_names(score), baseline if candidate is None else candidate
    if unpaired:
        columns = replace(columns, by_position=columns.by_position or None)
    elif columns.by_position:
        require_same_index(baseline=baseline, candidate=candidate)
    if len(predictions) > 1:
        columns = replace(columns, named=frozenset(["prediction"]))
    if labels is not None:
        names = Columns(columns.id, columns.label, columns.label, duplicates="all", form=columns.form)
        columns = replace(columns, truth=_read(labels, "labels", replace(names, unscored=columns.unscored)))
    columns_a, columns_b = (
        columns.but(prediction=predictions[side], model=models[side] if models else None) for side in (0, -1)
    )
    identical = columns_b == columns_a and _are_same(baseline, candidate)
    by_score_a = _by_score(baseline, "baseline", columns_a, scores)
    by_score_b = _by_score(candidate, "candidate", columns_b, scores)
    with as_arguments():
        join_all = join_samples if unpaired else partial(join_scores, unmatched=unmatched)
        return [replace(pair, identical=identical) for pair in join_all(by_score_a, by_score_b, columns_a)]


def paired_with_itself(
    frame: Any, columns: Columns, human: str | None, limits: tuple[float, float] | None
) -> PairedPredictions:
    """Return a frame without ids as both baseline and candidate. `human`: the column of human labels."""
    columns = replace(columns, by_position=None)

    def read(columns: Columns) -> Predictions:
        return _read(frame, "predictions", columns)

    if human is None:
        predictions = read(columns)
        with as_arguments():
            return replace(join(predictions, predictions, columns), score_range=limits)
    predictions, people = judge_and_labels(read, columns, human)
    with as_arguments():
        return add_human_labels(join(predictions, predictions, columns, with_ids=True), (people, people), limits)


def make_columns(names: Mapping[str, Any], needed: Sequence[str] = (), **options: Any) -> Columns:
    """Return the columns that arguments name. Raise ValueError if one that is `needed` is None.

    `options`: unscored, duplicates, slices, missing, and other fields of `Columns`.
    """
    for name, value in names.items():
        if not isinstance(value, str) and (value is not None or name in needed):
            raise refuse(ARGUMENTS.get(name, name), value, "the name of a column")
    as_choice(options["unscored"], "unscored", ("refuse", "drop", "wrong"))
    if options["duplicates"] is not None:
        as_choice(options["duplicates"], "duplicates", ("refuse", "first", "last", "all"))
    slices = () if options["slices"] is None else options["slices"]
    options |= {"slices": as_names(slices, "slices"), "missing": as_names(options["missing"], "missing")}
    return Columns().but(**{name: value for name, value in names.items() if value is not None}, **options)


def score_options(score: Any, ratio: Any, lower_is_better: Any, higher_is_better: Any) -> tuple[Any, dict[str, Any]]:
    """Return the named scores, in any form; the denominators of a ratio, and both directions, as in `Columns`."""
    lower, higher = as_names(lower_is_better, "lower_is_better"), as_names(higher_is_better, "higher_is_better")
    per = None
    if ratio is None:
        score = score or [*dict.fromkeys((*lower, *higher))] or None
    elif score is not None or not isinstance(ratio, str):
        raise refuse("ratio", ratio, "the names of two columns, as in errors/words, and no score")
    else:
        score, per = parts_of_ratio(ratio)
    named = [score] if isinstance(score, str) else [name for name in score or () if isinstance(name, str)]
    return score, {
        "per": per,
        "lower": of_named_scores(lower, named, "lower_is_better", ratio=ratio),
        "higher": of_named_scores(higher, named, "higher_is_better", ratio=ratio),
    }


def as_names(value: Any, name: str) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not all(isinstance(item, str) for item in names):
        raise refuse(name, value, "the name of a column or a model, or several, as text")
    return tuple(dict.fromkeys(names))


def as_score_names(score: Any) -> Sequence[str | None]:
    """Return the names of the columns of scores, None if there are none."""
    if score is None:
        return [None]
    names = as_names(score, "score")
    if not names or (not isinstance(score, str) and len(names) < len(score)):
        raise refuse("score", score, "the name of a column, or several, each once")
    return names


def _are_same(baseline: Any, candidate: Any) -> bool:
    """Return True if two data frames have the same columns with the same values."""
    if baseline is candidate:
        return True
    try:
        first, other = (_frame(value, "baseline") for value in (baseline, candidate))
        return bool(first.columns == other.columns and first.to_arrow().equals(other.to_arrow()))
    except Exception:  # a column of another kind may raise anything
        return False


def _read(frame: Any, name: str, columns: Columns) -> Predictions:
    """Return the rows of a frame that messages call `name`."""
    return _by_score(frame, name, columns, [columns.score])[columns.score]


def _by_score(frame: Any, name: str, columns: Columns, scores: Sequence[str | None]) -> dict[str | None, Predictions]:
    """Return the rows of a frame by each of its scores."""
    columns = columns.but(score=scores[0], scores=tuple(score for score in scores if score is not None))
    index: Any = getattr(frame, "index", None)
    levels = [level for level in named_levels(index, name) if level not in frame.columns]
    ids = getattr(index, "name", None)
    if ids is not None and not columns.by_position and not {ids, columns.id}.intersection(frame.columns):
        levels = [ids]
    frame = frame.reset_index(levels) if levels else frame
    opened = _frame(with_texts(frame), name)
    names = [str(column) for column in opened.columns]
    try:
        table = opened.select([column for column in columns.wanted_in(names) if column in names]).to_arrow()
    except Exception as error:
        raise ValueError(f"{name}: cannot be read as columns ({shown('; '.join(map(str, error.args)))})") from None
    others = opened.select([column for column in opened.columns if column not in table.column_names])
    if len(others) * len(names) <= MOST_VALUES:
        with contextlib.suppress(Exception):  # a column of objects
            for column, values in zip(others.columns, others.to_arrow().columns, strict=True):
                table = table.append_column(str(column), values)
    rows, by_score = Table(name, table, names=names), {}
    with as_arguments():
        for score in scores:
            columns = replace(columns, score=score)
            by_score[score] = settle(from_table(rows, columns), columns)
    return by_score


def _frame(frame: Any, name: str) -> Any:
    columns: Any = getattr(frame, "columns", None)
    if hasattr(columns, "nlevels") and (columns.nlevels > 1 or not columns.is_unique):  # narwhals opens neither
        raise refuse(f"{name} (columns)", columns.tolist(), "distinct names of one level; rename or drop columns")
    result = opened(frame)
    if result is None:
        wanted = "a data frame of pandas, polars or Arrow, or three arrays"
        raise refuse(name, frame, wanted + "; read_predictions reads a file" * isinstance(frame, (str, PathLike)))
    return result


#: Keys of `Columns`, with the argument that has the array of this column.
_COLUMNS = {"label": "y", "prediction": "prediction", "group": "groups", "score": "scores"}
_COLUMNS |= {"order": "order", "weights": "weights"}


def pair_as_frames(
    y: Any, predictions: Sequence[Any], names: Sequence[str], *, slices: Any, scores: Any = None, **options: Any
) -> PairedPredictions:
    """Return the rows of arrays as if two data frames were joined by position.

    `names`: those of the two models in messages. `options`: groups, order, weights, and those of `make_columns`.
    """
    scores = scores or (None, None)
    # Tables of class probabilities cannot be columns: the numbers of their rows are joined in their place.
    tables = scores if np.ndim(scores[0]) == 2 else None
    if tables is not None:
        scores = [np.arange(len(table), dtype=np.float64) for table in tables]
    shared = {"y": y, **{name: options.pop(name, None) for name in ("groups", "order", "weights")}}
    columns_of_slices = {f"slices[{shown(name)}]": str(name) for name in slices}
    shared |= dict(zip(columns_of_slices, slices.values(), strict=True))
    options |= {"slices": [*columns_of_slices.values()], "higher": frozenset(["scores"]), "by_position": True}
    sides = []
    for name, prediction, score in zip(names, predictions, scores, strict=True):
        given = {**shared, "prediction": prediction, "scores": score}
        arrays = {argument: values for argument, values in given.items() if values is not None}
        require_same_index(**arrays)
        table = {argument: _column(values, argument) for argument, values in arrays.items()}
        for argument, values in table.items():
            if len(values) != len(table["y"]):
                raise refuse(argument, len(values), f"{len(table['y'])}, one for each row", quantity="length")
        keys = {key: argument for key, argument in _COLUMNS.items() if argument in arrays}
        columns = make_columns(keys, ("label",), duplicates=None, **options)
        table = {columns_of_slices.get(argument, argument): values for argument, values in table.items()}
        sides.append(_read(pa.table(table), name, columns))
    with as_arguments():
        pair = join(sides[0], sides[1], columns)
    scored = pair.scored
    if tables is not None and scored is not None:
        a, b = (table[rows.astype(np.int64)] for table, rows in zip(tables, scored.scores, strict=True))
        scored = Scored.of_classes(a, b)
    notes = tuple(note for note in pair.notes if note.name != "joined-by-position")
    return replace(pair, notes=notes, scored=scored)


def _column(values: Any, name: str) -> Any:
    try:
        if has_no_text(kind := getattr(values, "dtype", None)):
            import pandas as pd  # their values are missing values

            values = with_texts(pd.DataFrame({name: values}))[name]
        return pa.array(np.asarray(values, dtype=None if kind is not None else object), from_pandas=True)
    except Exception:  # values of several types, or a table
        raise refuse(name, values, "a sequence of labels, all numbers or all strings, or missing") from None
