"""The marks of the rows of a table: numbers, shares in per cent and words of verdicts."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.validation import shown
from sigstats.measures.metrics import is_lower_better, limits_of

from ..tables.spelling import to_numbers, without_empty
from ..tables.table import Table
from ._columns import Columns
from ._predictions import Scores

_PERCENT = r"^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)) ?%$"
#: The words of verdicts.
_WORDS = {
    **dict.fromkeys(("yes", "true", "correct", "pass", "passed", "right", "success", "resolved"), 1.0),
    **dict.fromkeys(("no", "false", "incorrect", "fail", "failed", "wrong", "failure", "error", "unresolved"), 0.0),
}
#: Words that do not state by themselves which of them is better.
_ANSWERS = ("yes", "no", "true", "false", None)


def refuse_missing_texts(table: Table, name: str, texts: Any, columns: Columns) -> None:
    """Refuse texts that usually mean a missing value, unless they are listed as classes."""
    what = {columns.prediction: "predictions", columns.label: "labels", columns.score: "scores"}.get(name, "values")
    listed = "" if name == columns.score else ", or list {} in --classes if it is a class"
    remedy = f"add --missing {{}} if they are missing{listed}"
    table.refuse_missing_texts(name, texts, remedy, classes=columns.form.classes, what=what)


def scores_of(table: Table, columns: Columns) -> Scores | None:
    """The scores of the rows, null if missing; None if no column of scores is named."""
    if (name := columns.score) is None:
        return None
    values, limits = _marks(table, columns)
    scoring, per, denominators = columns.scoring, columns.scoring.per, None
    if per is not None:
        denominators = table.numbers(per)
        if (low := pc.min(denominators).as_py()) < 0:
            raise table.error(per, f": {low:g} is not valid; expected 0 or more", pc.index(denominators, low).as_py())
    return Scores(
        values,
        name if per is None else f"{name}/{per}",
        per=denominators,
        lower=scoring.is_lower_better(name, per=per or ""),
        by_name=name not in scoring.lower,
        limits=limits,
    )


def _marks(table: Table, columns: Columns) -> tuple[Any, tuple[float, float] | None]:
    """The marks of the rows, null where one is missing, and their limits, which the name or words of verdicts state.

    "yes" and "failed" are 1 and 0, and 85% is 0.85.
    """
    name = columns.score or ""
    try:
        return table.numbers(name, or_missing=True), limits_of(name)
    except ValueError as error:
        try:
            texts = table.texts_or_missing(name)
        except ValueError:  # numbers, of which one is infinite
            raise error from None
        refuse_missing_texts(table, name, texts, columns)
        words = without_empty(pc.utf8_lower(texts))
        if pc.all(pc.match_substring_regex(words, _PERCENT)).as_py():
            return to_numbers(pc.replace_substring_regex(words, _PERCENT, r"\1e-2")), limits_of(name)  # rounded once
        known = pa.array(_WORDS.keys())
        if not pc.all(pc.is_in(pc.drop_null(words), value_set=known)).as_py():
            raise
        named = name in columns.scoring.lower | columns.scoring.higher
        stated = named or pc.all(pc.is_in(words, value_set=pa.array(_ANSWERS))).as_py()
        if not stated and is_lower_better(name):  # "passed" in a column of errors
            both = f"--higher-is-better {shown(name)} or --lower-is-better {shown(name)}"
            raise table.error(name, f": it has the name of a cost and the words of marks; add {both}") from None
        places: Any = pc.index_in(words, value_set=known)
        return pa.array(_WORDS.values(), pa.float64()).take(places), (0.0, 1.0)
