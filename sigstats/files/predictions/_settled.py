"""Answers that failed, have no score, or repeat an id: one rule for tables and for logs of every program."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.messages import Note, shown

from ..tables.spelling import NO_ANSWER
from ._columns import Columns
from ._items import first_rows, item_codes, occurrences
from ._predictions import WRONG, Predictions
from ._repeated import answers_each, are_distinct, some_ids

#: What is done with results that repeat an id.
_KEPT = {"first": "the first of each is kept", "last": "the last of each is kept", "all": "each counts as an answer"}
#: Reasons of failures that are named.
_REASONS = 3


def settled(predictions: Predictions, columns: Columns) -> Predictions:
    """Return rows that each have an answer and, with its epoch, an id of their own; notes state what was done.

    Raises ValueError if `columns` requires these rows to be refused.
    """
    predictions = _answered(_distinct(predictions, columns), columns)
    epochs = {"epochs": answers_each(predictions).partition(" answer")[0]} if predictions.source.harness else {}
    return predictions.but(subject={**predictions.source.subject, **epochs})


def _distinct(predictions: Predictions, columns: Columns) -> Predictions:
    if are_distinct(predictions):
        return predictions if predictions.epoch is not None else replace(predictions, distinct=predictions.ids)
    codes = item_codes(predictions.keys)
    first, row = first_rows(codes), "answer" if predictions.source.harness else "row"
    repeats = np.flatnonzero(first[codes] != np.arange(len(codes)))
    also = "" if predictions.epoch is None else f" and {'a run' if columns.units.run else 'an epoch'} of it"
    told = f"{predictions.where}: {len(repeats):,} of {len(codes):,} {row}s repeat an id{also}"
    told += f": {_which(predictions, pa.array(repeats))}"
    # By default results of one id are answers to one item where the file or the grouping states it.
    stated = columns.duplicates == "refuse" and (predictions.source.repeats or columns.units.group == columns.id)
    how = "all" if stated else columns.duplicates
    if how == "refuse" or (how == "all" and columns.units.run is not None):
        raise ValueError(f"{told}; {predictions.source.hint}")
    notes = predictions.notes if stated else (*predictions.notes, Note("repeated-answers", f"{told}; {_KEPT[how]}"))
    if how == "all":
        epoch: Any = occurrences(predictions.keys)
        if predictions.epoch is not None:
            more = pc.binary_join_element_wise(predictions.epoch, epoch, ".")
            epoch = pc.if_else(pc.equal(epoch, pa.scalar("1")), predictions.epoch, more)
        return replace(predictions, epoch=epoch, beside={}, notes=notes)
    kept = first if how == "first" else len(codes) - 1 - first_rows(codes[::-1])
    return replace(predictions.take(pa.array(np.sort(kept))), distinct=None, notes=notes)


def _answered(result: Predictions, columns: Columns) -> Predictions:
    answers = result.said.prediction if result.score is None else result.score.values
    unlabelled = result.said.label.null_count
    if not answers.null_count and not unlabelled:
        return result
    empty = pc.or_(pc.is_null(answers), pc.is_null(result.said.label))
    told, how = _counts(result, answers, empty, columns), columns.unscored
    if how == "refuse" or (how == "wrong" and unlabelled):
        wrong = "" if unlabelled else "--unscored wrong, which counts them as wrong, or "
        raise ValueError(f"{told}; add {wrong}--unscored drop, which leaves them out")
    if pc.all(empty).as_py() and (how == "drop" or not result.source.harness):
        raise ValueError(f"{told}; expected one or more with it")
    filled = result.but(prediction=pc.fill_null(result.said.prediction, WRONG if result.source.harness else NO_ANSWER))
    if result.score is not None:
        filled = filled.but(values=pc.fill_null(result.score.values, 0.0))
    note = Note("unscored-rows", f"{told}; {'left out' if how == 'drop' else 'counted as wrong'}")
    if how == "drop":
        kept, gone = (filled.take(pc.indices_nonzero(value)) for value in (pc.invert(empty), empty))
        return replace(kept, dropped=gone, distinct=None, notes=(*result.notes, note))
    marks = filled.score.values if filled.score else pa.array([0, 1])
    low, high = (pc.min_max(marks)[end].as_py() for end in ("min", "max"))
    if (result.score and result.score.lower) or not 0 <= low <= high <= 1:
        raise ValueError(
            f"{result.where}: unscored: 'wrong' is not valid for scores from {low:g} to {high:g}; expected scores "
            "between 0 and 1 of which higher is better"
        )
    return replace(filled, notes=(*result.notes, note))


def _counts(predictions: Predictions, answers: Any, empty: Any, columns: Columns) -> str:
    """The numbers of failed answers with reasons, of those without score or label, and their ids."""
    rows = pc.indices_nonzero(empty)
    reasons = Counter(predictions.failed.take(rows).drop_null().to_pylist() if predictions.failed is not None else ())
    n, failed = f"{len(empty):,} {'answers' if predictions.source.harness else 'rows'}", reasons.total()
    told = []
    if failed:
        why = [f"{shown(part)} {k:,}" if len(reasons) > 1 else shown(part) for part, k in reasons.most_common(_REASONS)]
        told.append(f"{failed:,} of {n} failed ({', '.join(why)}{', ...' * (len(reasons) > _REASONS)})")
    if predictions.said.label.null_count:
        told.append(f"{predictions.said.label.null_count:,} of {n} have no {shown(columns.label)}")
    if answers.null_count > failed:
        score = f"score {shown(predictions.score.name)}" if predictions.score and predictions.score.name else "score"
        what = score if predictions.source.harness else shown(columns.score or columns.prediction)
        told.append(f"{answers.null_count - failed:,} of {n} have no {what}")
    return f"{predictions.where}: {' and '.join(told)}: {_which(predictions, rows)}"


def _which(predictions: Predictions, rows: Any) -> str:
    named = some_ids(pc.unique(predictions.keys.take(rows)))
    return f"{named.replace('id', 'row', 1)} (from 0)" if predictions.by_position else named
