"""The columns of a table: checks for ids, labels and predictions; the marks, and the probabilities of classes."""

import math
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.class_columns import as_class_probabilities, likeliest, with_places
from sigstats._common.class_names import refuse_missing_texts
from sigstats._common.class_spelling import VERDICTS
from sigstats._common.column_names import KNOWN
from sigstats._common.messages import nearest, some_of
from sigstats._common.validation import refuse, shown
from sigstats.measures.metrics import is_lower_better, limits_of

from ..tables.spelling import Array, is_number, rows_of_short, same_spelling, to_numbers, without_empty
from ..tables.table import Table, WithMissing
from ._columns import Columns, TableColumns
from ._predictions import Scores

#: The name of a column that may be one of ids.
_ID = re.compile(r"(?:^|[^A-Za-z])(?i:ids?|idx)(?:[^A-Za-z]|$)|[a-z]I[dD]$")
#: At most this many columns are listed.
_LISTED = 10
#: A whole number with more digits may exceed the range of float64.
_LONGEST_NUMBER = 308
_PERCENT = r"^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)) ?%$"
#: Words that do not state by themselves which of them is better.
_ANSWERS = ("yes", "no", "true", "false", None)


def require_columns(table: Table, columns: TableColumns, *, labelled: bool, predicted: bool) -> None:
    """Refuse a table without the default column of labels or predictions, and list its columns."""
    if labelled and columns.label not in table.names and columns.label == columns.prediction:  # a file of labels
        marks = [
            np.isin(np.asarray(table.texts_or_missing(name)), ("1", "1.0", "true", "True"))
            for name in _free(table, columns)
        ]
        one_hot = len(marks) > 1 and np.all(np.sum(marks, axis=0) == 1)
        remedy = "or one column of classes in place of one-hot columns" if one_hot else ""
        _require_column(table, columns, "label", "", remedy)
    elif labelled:
        remedy = "--labels FILE, a file of labels, or --score NAME, for marks"
        _require_column(table, columns, "label", "the true class of each row", remedy)
    if predicted:
        known = " and ".join(f"{shown(name)} is read as the {key}" for key, name in columns.known)
        _require_column(table, columns, "prediction", known, "or --score NAME, for probabilities or marks")


def _require_column(table: Table, columns: Columns, key: str, about: str, remedy: str) -> None:
    """Refuse a table without a column that the user did not name; `remedy`: a way without the column."""
    name = getattr(columns, key)
    if key in columns.named or name in table.names:
        return
    free = _free(table, columns)
    option = f"--{key} COLUMN" + (f" of {', '.join(map(shown, free))}" if len(free) <= _LISTED else "")
    expected = ", ".join(filter(None, (option, remedy))) if free else remedy.removeprefix("or ") or option
    near = nearest(name, [text for text in free if text[:1] == name[:1]])
    meant = "" if near is None else f"did you mean {shown(near)}? "
    about = f" ({about})" if about else ""
    raise ValueError(f"{table.where}: column {shown(name)} was not found{about}; {meant}expected {expected}")


def _free(table: Table, columns: Columns) -> list[str]:
    """The columns that have no other purpose."""
    used = {columns.id, columns.label, columns.prediction, columns.score, columns.scoring.per}
    used |= {columns.units.group, columns.units.run}
    return [name for name in table.names if name not in used]


def require_one_header(table: Table, columns: Columns, label: Any, prediction: Any) -> None:
    """Refuse a row with the names of the columns: the first one of `no_header`, or one where two files were joined."""
    first = {"label": str(label[0]).lower(), "prediction": str(prediction[0]).lower()}
    if columns.form.no_header and all(name in (key, *KNOWN[key]) for key, name in first.items()):
        raise ValueError(f"{table.where}: the first line has the names of columns; omit --no-header")
    if columns.label == columns.prediction or is_number(columns.label):
        return
    repeated: Any = None
    for name, column in ((columns.label, label), (columns.prediction, prediction)):
        values = column.dictionary if pa.types.is_dictionary(column.type) else column
        # Without a scalar of Arrow, which imports pandas.
        if not pa.types.is_string(values.type) or not pc.any(pc.match_substring(values, name)).as_py():
            return
        equal: Any = pc.call_function("equal", [column.cast(pa.string()), pa.scalar(name)])
        repeated = equal if repeated is None else pc.and_(repeated, equal)
    if pc.any(repeated).as_py():
        row = table.row(pc.index(repeated, True).as_py())
        raise ValueError(
            f"{table.where}, {row}: repeats the names of the columns; expected them once, in the first line"
        )


def is_by_position(table: Table, columns: Columns) -> bool:
    """True if the rows are known by their position; a table without ids is refused otherwise."""
    lacks_ids = columns.id not in table.names and "id" not in columns.named
    if columns.by_position is None:
        return lacks_ids
    if columns.by_position or not lacks_ids or columns.id != Columns.id:
        return columns.by_position
    free = _free(table, columns)
    near = next((f"did you mean {name!r} (--id {name})?" for name in free if _ID.search(name)), "expected")
    ways = ["--by-position, for the same rows in the same order"]
    headless = len(set(table.names)) < len(table.names) or all(map(is_number, table.names))
    if headless and not columns.form.no_header:
        near = "expected"
        ways.insert(0, "--no-header, where the first line is a row and columns are named 0, 1, 2 ...,")
    elif free:
        ways.append(f"--id COLUMN of {', '.join(map(shown, free[:_LISTED]))}")
    raise table.error(columns.id, f" was not found; {near} {' or '.join(ways)}")


def check_texts(table: Table, name: str, texts: Any, columns: Columns) -> None:
    """Refuse texts that usually mean a missing value and are no listed classes, and numbers too large for float64."""
    values = texts.dictionary if pa.types.is_dictionary(texts.type) else texts
    if name != columns.score and (pc.max(pc.binary_length(values)).as_py() or 0) > _LONGEST_NUMBER:
        for row, text in enumerate(texts.to_pylist()):
            if len(text) > _LONGEST_NUMBER and is_number(text) and math.isinf(float(text)):
                raise table.error(name, f": {shown(text)} is not valid; expected a class, or a number below 1e308", row)
    if name not in table.names:
        return
    what = {columns.prediction: "predictions", columns.label: "labels", columns.score: "scores"}.get(name, "values")
    listed = "" if name == columns.score else ", or list {} in --classes if it is a class"
    remedy = f"add --missing {{}} if they are missing{listed}"
    where, n = str(table.error(name, "")), len(texts)
    refuse_missing_texts(where, rows_of_short(texts), remedy, classes=columns.form.classes, n=n, what=what)


def read_scores(table: Table, columns: Columns) -> Scores | None:
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
        check_texts(table, name, texts, columns)
        words = without_empty(pc.utf8_lower(texts))
        if pc.all(pc.match_substring_regex(words, _PERCENT)).as_py():
            return to_numbers(pc.replace_substring_regex(words, _PERCENT, r"\1e-2")), limits_of(name)  # rounded once
        known = pa.array(VERDICTS.keys())
        known_or_missing: Any = pc.is_in(words, value_set=pa.array([*VERDICTS, None]))
        if odd := pc.indices_nonzero(pc.invert(known_or_missing)).to_pylist():
            if len(odd) == len(words) - words.null_count:
                raise
            text = shown(texts[odd[0]].as_py())  # "error", which may mean that there is no mark
            wanted = f"use one word for right and one for wrong, or add --missing {text}"
            raise table.error(name, f": {text} is not valid; {wanted}", odd[0]) from None
        named = name in columns.scoring.lower | columns.scoring.higher
        stated = named or pc.all(pc.is_in(words, value_set=pa.array(_ANSWERS))).as_py()
        if not stated and is_lower_better(name):  # "passed" in a column of errors
            both = f"--higher-is-better {shown(name)} or --lower-is-better {shown(name)}"
            raise table.error(name, f": it has the name of a cost and the words of marks; add {both}") from None
        places: Any = pc.index_in(words, value_set=known)
        return pa.array(VERDICTS.values(), pa.float64()).take(places), (0.0, 1.0)


class WithLikeliest(WithMissing):
    """All rows of a table, with the likeliest class as the prediction, unless there is a column of predictions.

    `of_labels`: each row has one class of probability 1.
    """

    def __init__(self, table: Table, columns: Any, *, of_labels: bool) -> None:
        super().__init__(table, columns.form.missing)
        self.classes, names = [of for of, _ in columns.of_classes], [name for _, name in columns.of_classes]
        if len(set(self.classes)) < max(2, len(names)):
            matched = some_of(names) if names else "none"
            fit = f"{columns.probabilities!r} matches {matched} of {some_of(table.names, 10)}"
            raise ValueError(f"{table.where}: probabilities: {fit}; expected a column for each class")
        values = np.column_stack([table.numbers(name).to_numpy() for name in names])
        self.probabilities = as_class_probabilities(values, f"{table.where}: probabilities", table.num_rows)
        if of_labels and not (values.max(axis=1) == 1).all():
            raise refuse(f"{table.where}: probabilities", "a row", "1 for the true class and 0 for others")
        self.name_of_likeliest = "" if columns.prediction in table.names else columns.prediction
        self.names += (self.name_of_likeliest,) if self.name_of_likeliest else ()
        classes, ties = likeliest(values, np.asarray(self.classes))
        self.likeliest, self.ties = pa.array(classes.tolist(), pa.string()), ties

    def of_classes(self, name: str, label: Any) -> Any:
        """Return the table for `Scored.of_classes` as an array of lists; null if a label is missing."""
        texts, classes = same_spelling([label.cast(pa.string()), pa.array(self.classes, pa.string())])
        places: Any = pc.index_in(texts, value_set=classes)
        if len(odd := pc.indices_nonzero(pc.and_(pc.is_null(places), pc.is_valid(texts)))):
            row = odd[0].as_py()
            raise self.error(name, f": {shown(texts[row].as_py())} is not one of {some_of(self.classes, 10)}", row)
        values = with_places(self.probabilities, self.classes, pc.fill_null(places, 0).to_numpy())
        return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1], mask=pc.is_null(places))

    def _values(self, name: str) -> Array:
        return self.likeliest if name == self.name_of_likeliest else super()._values(name)
