"""The columns of two files that are not compared.

Their values show copies of rows and possible groups (`other_column_codes`). Their names may show that rows are of
another kind, such as training rows and failures, or that an option should use the column (`unused_notes`).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.column_names import ROWS_BEHIND, WEIGHTS
from sigstats._common.messages import Note, shown, some_of
from sigstats._common.repeats import equal_by_chance, joint_codes
from sigstats.comparison.paired_predictions import STARTS, OtherColumns

from ..tables.spelling import as_dates, is_number, same_spelling, to_numbers, without_empty
from ..tables.table import Table, in_one
from ._predictions import Ints, Predictions, item_codes

#: At most this many values of other columns are examined, to limit the time for large files.
MOST_VALUES = 2**20
_FRACTION, _WHOLE = r"^[+-]?[0-9]*[.,][0-9]*[1-9][0-9]*([^0-9.]|$)", r"^-?[0-9]+(\.0*)?$"
#: An id that ends with a number after a separator, or after letters that follow another number.
_NUMBERED = r"^(?:(.*[0-9A-Za-z])[^0-9A-Za-z]+[A-Za-z]*|(.*[0-9])[A-Za-z]+)[0-9]+$"
_NUMBER = "^([-+.0-9eE]+|nan)$"
#: Usual names of a training set.
TRAINING = frozenset({"train", "training", "train_set", "fit"})
#: Columns that mark training rows only if all their values are names of parts of a data set, such as train and test.
_MAY_DIVIDE = frozenset({"dataset", "set", "fold", "sample", "usage", "role", "stage"})
_OTHER_PARTS = frozenset({"test", "testing", "test_set", "val", "valid", "validation", "dev", "eval", "holdout", ""})
_NOT_FINISHED = frozenset({"error", "errored", "timeout", "timed_out", "crashed", "aborted", "cancelled", "canceled"})
_NOT_FINISHED |= {"failed", "fail", "failure"}
_TRUE, _FALSE = frozenset({"1", "1.0", "true", "yes"}), frozenset({"0", "0.0", "false", "no"})
#: Columns that mark successful calls, unless they mark right answers.
_SUCCESS = frozenset({"success", "issuccess", "succeeded", "ok", "isok"})
#: Columns of HTTP status codes; codes from 400 on are errors.
_HTTP = frozenset({"httpstatus", "httpcode", "httpstatuscode", "statuscode"})
#: Texts of rows of another kind, by the names of their columns in small letters, without underscores.
_OTHER_KINDS = {
    **dict.fromkeys(("split", "subset", "partition", "phase", "datasplit", "traintest", *_MAY_DIVIDE), TRAINING),
    **dict.fromkeys(("train", "istrain", "istraining", "intraining"), _TRUE),
    **dict.fromkeys(("status", "state", "runstatus"), _NOT_FINISHED),
    **dict.fromkeys(("valid", "isvalid", "completed", "finished", *_SUCCESS), _FALSE),
    **dict.fromkeys(("timedout", "timeout", "crashed", "aborted", "cancelled", "canceled", "truncated"), _TRUE),
    **dict.fromkeys(("errored", "iserror", "haserror", "parseerror", "parsingerror", "parsefailed"), _TRUE),
    **dict.fromkeys(("refused", "isrefusal", "invalid", "isinvalid"), _TRUE),
    **dict.fromkeys(_HTTP, frozenset(f"{code}{end}" for code in range(400, 600) for end in ("", ".0"))),
    **dict.fromkeys(("finishreason", "stopreason"), _NOT_FINISHED | {"length", "max_tokens", "content_filter"}),
}
#: Columns in which any other text than these states that the row has an error.
_ERRORS = frozenset({"error", "errormessage", "errortype", "exception", "traceback", "failure"})
_ERRORS |= {"parseerror", "parsingerror"}
_NO_ERROR = frozenset({"", "false", "no", "none", "null", "nan", "n/a", "ok", "success"})
#: Columns of row weights or a measurement, and columns of other measurements, which suggest the latter.
_MAY_WEIGH = frozenset({"weight", "weights"})
_MEASUREMENT = re.compile(r"(?i)(^|[_. -])(height|length|width|age|bmi|size|volume|sex|gender|horsepower)($|[_. -])")
#: Columns that state if the prediction is right.
_CORRECT = frozenset({"correct", "iscorrect"})


def as_dictionaries(columns: Mapping[str, Any], rows: int) -> dict[str, Any]:
    """Return Arrow columns as dictionary arrays; empty if there are too many values, or lists or objects."""
    if (len(columns) + 1) * rows > MOST_VALUES:
        return {}
    encoded = {}
    try:
        for name, column in columns.items():
            array = in_one(column)
            encoded[name] = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    except (pa.ArrowException, NotImplementedError):
        return {}
    return encoded


def may_count(column: Any) -> bool:
    """Return True for a dictionary array of whole numbers that are not those of the rows."""
    texts = column.dictionary.cast(pa.string())
    if not pc.all(pc.match_substring_regex(texts, r"^[0-9]+(\.0)?$")).as_py():
        return False
    low, high = (end.as_py() for end in pc.min_max(texts.cast(pa.float64())).values())
    return len(texts) < len(column) or high - low != len(column) - 1


def other_column_codes(first: Predictions, other: Predictions, rows: Any = None, partners: Any = None) -> OtherColumns:
    """Return the columns of shared rows that are not compared, as codes from 0.

    `rows`, `partners`: the positions of these rows in the two files; by default all rows.
    """
    columns_a, columns_b = _other_columns(first, rows), _other_columns(other, partners)
    codes_a, codes_b = ({name: _codes(column) for name, column in side.items()} for side in (columns_a, columns_b))
    codes, starts = codes_a or codes_b, _starts(first.ids if rows is None else first.ids.take(rows))
    if not codes or not len(next(iter(codes.values()))):
        return OtherColumns(columns=starts)
    groups: dict[str, Ints] = {}
    dates, numbers = [], set()
    for name, values in codes.items():
        columns = [side[name] for side in (columns_a, columns_b) if name in side]
        if any(column.null_count or pc.any(_matches(column, _FRACTION)).as_py() for column in columns):
            continue
        if any(name in side and not _same_parts(values, side[name]) for side in (codes_a, codes_b)):
            continue
        groups[name] = values
        if all(as_dates(column.dictionary) is not None for column in columns):
            dates.append(name)
        if all(pc.all(_matches(column, _WHOLE)).as_py() for column in columns):
            numbers.add(name)
    # The content of a row is its question in a log; in tables all columns, with those of the other file that differ.
    parts = [codes[name] for name in without_target(first.identity) if name in codes]
    if not parts:
        differing = [name for name in codes_b if name not in codes or not _same_parts(codes[name], codes_b[name])]
        parts = [*codes.values(), *(codes_b[name] for name in differing)]
    content = joint_codes(parts)
    if not any(_same_parts(start, values) for start in starts.values() for values in groups.values()):
        groups |= starts
    return OtherColumns(None if equal_by_chance(content, parts) else content, groups, dates, numbers)


def _starts(ids: Any) -> dict[str, Ints]:
    """Return the codes of the starts of ids; empty unless all ids end with a further number, as doc12_q3 and p7v2."""
    if not pa.types.is_string(ids.type) or not pc.all(pc.match_substring_regex(ids, _NUMBERED)).as_py():
        return {}
    return {STARTS: item_codes(pc.replace_substring_regex(ids, _NUMBERED, r"\1\2"))}


def _other_columns(side: Predictions, rows: Any) -> dict[str, Any]:
    """Return the other columns of these rows (None: all rows); for a log without such columns, the question."""
    question = without_target(side.identity) if side.epoch is None else {}
    columns = side.other_columns or as_dictionaries(question, len(side.ids))
    complete = {name: column for name, column in columns.items() if len(column) == len(side.ids)}
    return {name: column if rows is None else column.take(rows) for name, column in complete.items()}


def without_target(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question of a log without its answer."""
    return {name: item for name, item in identity.items() if not name.startswith("target")}


def _codes(column: Any) -> Ints:
    """Return the code of the value of each row, from 0; codes of dates and of whole numbers are in their order."""
    texts, values = column.dictionary.cast(pa.string()), as_dates(column.dictionary)
    if values is None and pc.all(_matches(column, _WHOLE)).as_py():
        values = texts.cast(pa.float64())
    numbers = np.arange(len(texts)) if values is None else np.from_dlpack(pc.rank(values)).astype(np.int64)
    indices = column.indices.cast(pa.int64())
    if indices.null_count:
        indices = pc.fill_null(indices, -1)  # imports pandas
    return np.unique(np.append(numbers, -1)[np.from_dlpack(indices)], return_inverse=True)[1].astype(np.int64)


def _matches(column: Any, pattern: str) -> Any:
    return pc.match_substring_regex(column.dictionary.cast(pa.string()), pattern)


def _same_parts(one: Ints, other: Ints) -> bool:
    """Return True if two columns divide the rows into the same parts."""
    if np.array_equal(one, other):
        return True
    pairs = np.unique(one * (int(other.max()) + 1) + other)
    return len(pairs) == len(np.unique(one)) == len(np.unique(other))


def is_read_for_notes(name: str) -> bool:
    """Return True for a column that is only read to find notes."""
    return name.lower() in WEIGHTS | ROWS_BEHIND | _MAY_WEIGH or _plain(name) in {*_OTHER_KINDS, *_ERRORS, *_CORRECT}


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def unused_notes(
    table: Table, used: Collection[str], answers: Sequence[Any], *, graded: bool = False
) -> Iterator[Note]:
    """Yield notes on rows of another kind, row weights and verdicts in columns that are not used.

    `answers`: the labels and predictions; empty if another column may have a verdict on them. `graded`: True for marks
    without labels; a mark may be the mean of several rows.
    """
    weights = WEIGHTS | ROWS_BEHIND if graded else WEIGHTS
    for name, column in table.other_columns(used).items():
        if not is_read_for_notes(name):
            continue
        n = _contradictions(table, name, answers) if answers and _plain(name) in _CORRECT | _SUCCESS else 0
        if n and _plain(name) in _CORRECT:
            text = f"contradicts label and prediction in {n:,} of {table.num_rows:,} rows (--score {name})"
            yield Note("unused-column", f"column {shown(name)}, which is not used, {text}")
        may_weigh = name.lower() in weights or (name.lower() in _MAY_WEIGH and _weighs_rows(table, name))
        if may_weigh and pc.count_distinct(column).as_py() > 1:
            yield Note("unused-column", f"column {shown(name)} is not used: rows count equally (compare --weights)")
        if n or _plain(name) not in _SUCCESS:
            yield from notes_on_other_kinds(name, column)


def _weighs_rows(table: Table, name: str) -> bool:
    """Return True for positive numbers that differ much or have a mean of 1, unless other columns are measurements."""
    numbers = to_numbers(without_empty(table.texts_or_missing(name)))
    if numbers is None or not pc.min(numbers).as_py() or any(map(_MEASUREMENT.search, table.names)):
        return False
    low, high, mean = (of(numbers).as_py() for of in (pc.min, pc.max, pc.mean))
    return bool(low > 0 and (high >= 5 * low or abs(mean - 1) < 0.05))


def _contradictions(table: Table, name: str, answers: Sequence[Any]) -> int:
    """Return the number of rows in which a column of marks contradicts the label and the prediction."""
    marks = to_numbers(without_empty(table.texts_or_missing(name)))
    if marks is None:
        return 0
    right: Any = pc.equal(*same_spelling([answer.cast(pa.string()) for answer in answers]))
    verdicts: Any = pc.index_in(marks, value_set=pa.array([0.0, 1.0]))
    return pc.sum(pc.xor(right, verdicts.cast(pa.bool_()))).as_py() or 0


def notes_on_other_kinds(name: str, column: Any) -> Iterator[Note]:
    """Yield a note if a column marks some rows as training rows or failures."""
    counts = _counts(column, most_numbers=600 if _plain(name) in _HTTP else 2)
    if _plain(name) in _MAY_DIVIDE and not {_word(text) for text in counts} <= TRAINING | _OTHER_PARTS:
        return
    counts = {text: n for text, n in counts.items() if _is_of_another_kind(name, text)}
    if 0 < (n := sum(counts.values())) < len(column):
        text = f"rows have {some_of([*map(shown, counts)], 3)} in column {shown(name)}, which is not used"
        yield Note("unused-column", f"{n:,} of {len(column):,} {text}; they count like the other rows")


def _is_of_another_kind(name: str, text: str) -> bool:
    """Return True if such a text in a column of this name marks a training row or a failure."""
    if _plain(name) in _ERRORS and text.lower() not in _NO_ERROR and not is_number(text):
        return True
    return _word(text) in _OTHER_KINDS.get(_plain(name), ())


def _word(text: str) -> str:
    return text.lower().replace(" ", "_")


def _counts(column: Any, most_numbers: int) -> dict[str, int]:
    """Return the number of rows with each text; empty if the column has lists, objects or too many numbers."""
    values = in_one(column)
    values = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
    if pa.types.is_nested(values.type) or pa.types.is_binary(values.type):
        return {}
    counts: Any = pc.value_counts(values.drop_null().cast(pa.string()))
    if len(counts) > most_numbers and pc.all(pc.match_substring_regex(counts.field("values"), _NUMBER)).as_py():
        return {}  # numbers, such as those of folds and errors
    return {count["values"]: count["counts"] for count in counts.to_pylist()}
