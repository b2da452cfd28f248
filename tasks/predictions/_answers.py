"""What each row of a table was answered: marks, words of verdicts, and what becomes of rows without an answer."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.note import Note
from sigstats._common.validation import shown

from ..tables.spelling import NO_ANSWER, to_numbers, without_empty
from ..tables.table import Table
from ._predictions import Columns, Predictions, require_shares

#: A mark in per cent.
_PERCENT = r"^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)) ?%$"
#: The words of verdicts.
_WORDS = {
    **dict.fromkeys(("yes", "true", "correct", "pass", "passed", "right", "success", "resolved"), 1.0),
    **dict.fromkeys(("no", "false", "incorrect", "fail", "failed", "wrong", "failure", "error", "unresolved"), 0.0),
}


def require_answers(table: Table, columns: Columns) -> None:
    """Refuse rows without a mark or, where none is asked for, without a prediction."""
    name = columns.score or columns.prediction
    table.require(name)
    _require_none(table, columns, table.missing(name))


def _require_none(table: Table, columns: Columns, missing: Any) -> None:
    if columns.unscored == "refuse" and pc.any(missing).as_py():
        wanted = "expected a value, or --unscored drop, or --unscored wrong"
        row = pc.index(missing, True).as_py()
        raise table.error(columns.score or columns.prediction, f" is empty; {wanted}", row)


def marks_of(table: Table, columns: Columns) -> Any:
    """The marks of the rows, null where one is missing; "yes" and "failed" are 1 and 0, and 85% is 0.85."""
    require_answers(table, columns)
    name = columns.score or ""
    try:
        return table.numbers(name, or_missing=columns.unscored != "refuse")
    except ValueError as error:
        try:
            words = without_empty(pc.utf8_lower(table.texts_or_missing(name)))
        except ValueError:  # numbers, of which one is infinite
            raise error from None
        _require_none(table, columns, pc.is_null(words))
        if pc.all(pc.match_substring_regex(words, _PERCENT)).as_py():
            return to_numbers(pc.replace_substring_regex(words, _PERCENT, r"\1e-2"))  # rounded once
        known = pa.array(_WORDS.keys())
        if not pc.all(pc.is_in(pc.drop_null(words), value_set=known)).as_py():
            raise
        places: Any = pc.index_in(words, value_set=known)
        return pa.array(_WORDS.values(), pa.float64()).take(places)


def without_unscored(found: Predictions, columns: Columns) -> Predictions:
    """The rows without those that have no mark or prediction, or with these counted as wrong."""
    marks = columns.score is not None
    answers = found.score if marks else found.prediction
    empty, name, n = pc.is_null(answers), shown(columns.score or columns.prediction), len(found.ids)
    if answers.null_count == n:
        raise ValueError(f"{found.where}: column {name} is empty in all rows; expected one or more values")
    told = f"{found.where}: {answers.null_count:,} of {n:,} rows have no {name}"
    if marks:
        filled = replace(found, score=pc.fill_null(answers, 0.0))
    else:
        filled = replace(found, prediction=pc.fill_null(answers, NO_ANSWER))
    if columns.unscored == "drop":
        kept, gone = (filled.take(pc.indices_nonzero(each)) for each in (pc.invert(empty), empty))
        return replace(
            kept, dropped=gone, distinct=None, notes=(*found.notes, Note("unscored-rows", f"{told} and are left out"))
        )
    if marks:
        limits = pc.min_max(found.score)
        require_shares(found.where, limits["min"].as_py(), limits["max"].as_py(), lower=bool(found.lower))
    note = Note("unscored-rows", f"{told} and count as {'0' if marks else 'wrong'}")
    return replace(filled, notes=(*found.notes, note))
