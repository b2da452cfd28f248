"""The marks of the rows of a table: numbers, shares in per cent and words of verdicts."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..tables.spelling import to_numbers, without_empty
from ..tables.table import Table
from ._predictions import Columns

#: A mark in per cent.
_PERCENT = r"^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)) ?%$"
#: The words of verdicts.
_WORDS = {
    **dict.fromkeys(("yes", "true", "correct", "pass", "passed", "right", "success", "resolved"), 1.0),
    **dict.fromkeys(("no", "false", "incorrect", "fail", "failed", "wrong", "failure", "error", "unresolved"), 0.0),
}


def marks_of(table: Table, columns: Columns) -> Any:
    """The marks of the rows, null where one is missing; "yes" and "failed" are 1 and 0, and 85% is 0.85."""
    name = columns.score or ""
    try:
        return table.numbers(name, or_missing=True)
    except ValueError as error:
        try:
            words = without_empty(pc.utf8_lower(table.texts_or_missing(name)))
        except ValueError:  # numbers, of which one is infinite
            raise error from None
        if pc.all(pc.match_substring_regex(words, _PERCENT)).as_py():
            return to_numbers(pc.replace_substring_regex(words, _PERCENT, r"\1e-2"))  # rounded once
        known = pa.array(_WORDS.keys())
        if not pc.all(pc.is_in(pc.drop_null(words), value_set=known)).as_py():
            raise
        places: Any = pc.index_in(words, value_set=known)
        return pa.array(_WORDS.values(), pa.float64()).take(places)
