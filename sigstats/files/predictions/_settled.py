"""Answers that failed, have no score, or repeat an id: one rule for tables and for logs of every program."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.messages import shown
from sigstats._common.note import Note

from ..tables.spelling import NO_ANSWER
from ._items import first_rows, item_codes, occurrences
from ._predictions import WRONG, Columns, Predictions
from ._repeated import answers_each, are_distinct, some_ids

#: What is done with results that repeat an id.
_KEPT = {"first": "the first of each is kept", "last": "the last of each is kept", "all": "each counts as an answer"}
#: Reasons of failures that are named.
_REASONS = 3


def settled(found: Predictions, columns: Columns) -> Predictions:
    """Return rows that each have an answer and, with its epoch, an id of their own; notes state what was done.

    Raises ValueError where `columns` say that other rows are refused.
    """
    found = _answered(_distinct(found, columns), columns)
    epochs = {"epochs": answers_each(found).partition(" answer")[0]} if found.harness else {}
    return replace(found, subject={**found.subject, **epochs})


def _distinct(found: Predictions, columns: Columns) -> Predictions:
    if are_distinct(found):
        return found if found.epoch is not None else replace(found, distinct=found.ids)
    codes = item_codes(found.keys)
    first, row = first_rows(codes), "answer" if found.harness else "row"
    repeats = np.flatnonzero(first[codes] != np.arange(len(codes)))
    also = "" if found.epoch is None else f" and {'a run' if columns.run else 'an epoch'} of it"
    told = f"{found.where}: {len(repeats):,} of {len(codes):,} {row}s repeat an id{also}"
    told += f": {_which(found, pa.array(repeats))}"
    # By default results of one id are answers to one item where the file or the grouping states it.
    stated = columns.duplicates == "refuse" and (found.repeats or columns.group == columns.id)
    how = "all" if stated else columns.duplicates
    if how == "refuse" or (how == "all" and columns.run is not None):
        raise ValueError(f"{told}; {found.hint}")
    notes = found.notes if stated else (*found.notes, Note("repeated-answers", f"{told}; {_KEPT[how]}"))
    if how == "all":
        epoch: Any = occurrences(found.keys)
        if found.epoch is not None:
            more = pc.binary_join_element_wise(found.epoch, epoch, ".")
            epoch = pc.if_else(pc.equal(epoch, pa.scalar("1")), found.epoch, more)
        return replace(found, epoch=epoch, beside={}, notes=notes)
    kept = first if how == "first" else len(codes) - 1 - first_rows(codes[::-1])
    return replace(found.take(pa.array(np.sort(kept))), distinct=None, notes=notes)


def _answered(found: Predictions, columns: Columns) -> Predictions:
    answers, unlabelled = found.prediction if found.score is None else found.score, found.label.null_count
    if not answers.null_count and not unlabelled:
        return found
    empty = pc.or_(pc.is_null(answers), pc.is_null(found.label))
    told, how = _counts(found, answers, empty, columns), columns.unscored
    if how == "refuse" or (how == "wrong" and unlabelled):
        wrong = "" if unlabelled else "--unscored wrong, which counts them as wrong, or "
        raise ValueError(f"{told}; add {wrong}--unscored drop, which leaves them out")
    if pc.all(empty).as_py() and (how == "drop" or not found.harness):
        raise ValueError(f"{told}; expected one or more with it")
    filled = replace(found, prediction=pc.fill_null(found.prediction, WRONG if found.harness else NO_ANSWER))
    if found.score is not None:
        filled = replace(filled, score=pc.fill_null(found.score, 0.0))
    note = Note("unscored-rows", f"{told}; {'left out' if how == 'drop' else 'counted as wrong'}")
    if how == "drop":
        kept, gone = (filled.take(pc.indices_nonzero(each)) for each in (pc.invert(empty), empty))
        return replace(kept, dropped=gone, distinct=None, notes=(*found.notes, note))
    marks = pa.array([0, 1]) if found.score is None else filled.score
    low, high = (pc.min_max(marks)[end].as_py() for end in ("min", "max"))
    if found.lower or not 0 <= low <= high <= 1:
        raise ValueError(
            f"{found.where}: unscored: 'wrong' is not valid for scores from {low:g} to {high:g}; expected scores "
            "between 0 and 1 of which higher is better"
        )
    return replace(filled, notes=(*found.notes, note))


def _counts(found: Predictions, answers: Any, empty: Any, columns: Columns) -> str:
    """How many answers failed, and why, how many have no score or no label, and which."""
    rows = pc.indices_nonzero(empty)
    reasons = Counter(found.failed.take(rows).drop_null().to_pylist() if found.failed is not None else ())
    n, failed = f"{len(empty):,} {'answers' if found.harness else 'rows'}", reasons.total()
    told = []
    if failed:
        why = [f"{shown(each)} {k:,}" if len(reasons) > 1 else shown(each) for each, k in reasons.most_common(_REASONS)]
        told.append(f"{failed:,} of {n} failed ({', '.join(why)}{', ...' * (len(reasons) > _REASONS)})")
    if found.label.null_count:
        told.append(f"{found.label.null_count:,} of {n} have no {shown(columns.label)}")
    if answers.null_count > failed:
        score = f"score {shown(found.measured)}" if found.measured else "score"
        what = score if found.harness else shown(columns.score or columns.prediction)
        told.append(f"{answers.null_count - failed:,} of {n} have no {what}")
    return f"{found.where}: {' and '.join(told)}: {_which(found, rows)}"


def _which(found: Predictions, rows: Any) -> str:
    named = some_ids(pc.unique(found.keys.take(rows)))
    return f"{named.replace('id', 'row', 1)} (from 0)" if found.by_position else named
