"""The columns that are not compared: codes to find copies and groups; columns that options should use."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.column_names import WEIGHTS
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
#: Usual names of a training set.
TRAINING = frozenset({"train", "training", "train_set", "fit"})
_NOT_FINISHED = frozenset({"error", "errored", "timeout", "timed_out", "crashed", "aborted", "cancelled", "canceled"})
_NOT_FINISHED |= {"failed", "fail", "failure"}
#: Texts of rows of another kind, by the names of their columns in small letters, without underscores.
_OTHER_KINDS = {
    **dict.fromkeys(("split", "subset", "partition", "phase", "datasplit", "traintest"), TRAINING),
    **dict.fromkeys(("train", "istrain", "istraining", "intraining"), frozenset({"1", "1.0", "true", "yes"})),
    **dict.fromkeys(("status", "state", "runstatus"), _NOT_FINISHED),
    **dict.fromkeys(("valid", "isvalid", "completed", "finished"), frozenset({"0", "0.0", "false", "no"})),
    **dict.fromkeys(("finishreason", "stopreason"), _NOT_FINISHED | {"length", "max_tokens", "content_filter"}),
}
#: Columns in which any other text than these states that the row has an error.
_ERRORS = frozenset({"error", "errormessage", "errortype", "exception", "traceback", "failure"})
_NO_ERROR = frozenset({"", "false", "no", "none", "null", "nan", "n/a", "ok", "success"})
#: Columns that state if the prediction is right.
_CORRECT = frozenset({"correct", "iscorrect"})
#: Labels with this much information, in bits, do not agree by chance.
_BITS = 40


def dictionaries(columns: Mapping[str, Any], rows: int) -> dict[str, Any]:
    """Return Arrow columns as dictionary arrays; empty if there are too many values, or lists or objects."""
    if (len(columns) + 1) * rows > MOST_VALUES:
        return {}
    try:
        arrays = {name: in_one(column) for name, column in columns.items()}
        return {
            name: array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
            for name, array in arrays.items()
        }
    except (pa.ArrowException, NotImplementedError):
        return {}


def may_count(column: Any) -> bool:
    """Return True for a dictionary array of whole numbers that are not those of the rows."""
    texts = column.dictionary.cast(pa.string())
    if not pc.all(pc.match_substring_regex(texts, r"^[0-9]+(\.0)?$")).as_py():
        return False
    low, high = (end.as_py() for end in pc.min_max(texts.cast(pa.float64())).values())
    return len(texts) < len(column) or high - low != len(column) - 1


def other_column_codes(first: Predictions, other: Predictions, rows: Any = None, partners: Any = None) -> OtherColumns:
    """Return the content of shared rows outside the compared columns, as codes from 0.

    First the joint codes of all columns of both files (of logs: the question); None if there are none. Then the codes
    of columns that may name groups: complete, equal in both files, without fractions; and which are dates and numbers.
    """
    columns_a, columns_b = _other_columns(first, rows), _other_columns(other, partners)
    codes_a, codes_b = ({name: _codes(column) for name, column in side.items()} for side in (columns_a, columns_b))
    codes, starts = codes_a or codes_b, _starts(first.ids if rows is None else first.ids.take(rows))
    if not codes or not len(next(iter(codes.values()))):
        return OtherColumns(columns=starts)
    groups, dates, numbers = {}, [], set[str]()
    for name, values in codes.items():
        columns = [side[name] for side in (columns_a, columns_b) if name in side]
        complete = not any(column.null_count or pc.any(_matches(column, _FRACTION)).as_py() for column in columns)
        if complete and all(name not in side or _same_parts(values, side[name]) for side in (codes_a, codes_b)):
            groups[name] = values
            if all(as_dates(column.dictionary) is not None for column in columns):
                dates.append(name)
            if all(pc.all(_matches(column, _WHOLE)).as_py() for column in columns):
                numbers.add(name)
    differing = [
        values for name, values in codes_b.items() if name not in codes or not _same_parts(codes[name], values)
    ]
    question = [codes[name] for name in without_target(first.identity) if name in codes]
    parts = question or [*codes.values(), *differing]
    content = joint_codes(parts)
    if not any(_same_parts(starts[STARTS], values) for values in groups.values() if starts):
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
    columns = side.other_columns or dictionaries(question, len(side.ids))
    complete = {name: column for name, column in columns.items() if len(column) == len(side.ids)}
    return {name: column if rows is None else column.take(rows) for name, column in complete.items()}


def without_target(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question of a log without its answer."""
    return {name: item for name, item in identity.items() if not name.startswith("target")}


def _codes(column: Any) -> Ints:
    """Return the number of the value of each row, from 0; of dates and whole numbers in their order."""
    texts, dates = column.dictionary.cast(pa.string()), as_dates(column.dictionary)
    whole = dates is None and pc.all(_matches(column, _WHOLE)).as_py()
    values = texts.cast(pa.float64()) if whole else dates
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


def is_telling(name: str) -> bool:
    """Return True for a column that is read only for notes."""
    return name.lower() in WEIGHTS or _plain(name) in {*_OTHER_KINDS, *_ERRORS, *_CORRECT}


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def unused_notes(table: Table, used: Collection[str], answers: Sequence[Any]) -> Iterator[Note]:
    """Yield notes on training rows and rows with an error, which count like all others, and on other verdicts.

    `answers`: the labels and predictions; empty if another column may have a verdict on them.
    """
    for name, column in table.other_columns(used).items():
        if not is_telling(name):
            continue
        if answers and _plain(name) in _CORRECT:
            right: Any = pc.equal(*same_spelling([answer.cast(pa.string()) for answer in answers]))
            marks = to_numbers(without_empty(table.texts_or_missing(name)))
            verdicts: Any = None if marks is None else pc.index_in(marks, value_set=pa.array([0.0, 1.0]))
            if marks is not None and (n := pc.sum(pc.xor(right, verdicts.cast(pa.bool_()))).as_py()):
                text = f"contradicts label and prediction in {n:,} of {table.num_rows:,} rows (--score {name})"
                yield Note("unused-column", f"column {shown(name)}, which is not used, {text}")
        if name.lower() in WEIGHTS and pc.count_distinct(column).as_py() > 1:
            yield Note("unused-column", f"column {shown(name)} is not used: rows count equally (compare --weights)")
        yield from rows_of_another_kind(name, column)


def rows_of_another_kind(name: str, column: Any) -> Iterator[Note]:
    """Yield a note if a column marks some rows as training rows or failures."""
    counts = {text: n for text, n in _counts(column).items() if _is_of_another_kind(name, text)}
    if 0 < (n := sum(counts.values())) < len(column):
        text = f"rows have {some_of([*map(shown, counts)], 3)} in column {shown(name)}, which is not used"
        yield Note("unused-column", f"{n:,} of {len(column):,} {text}; they count like the other rows")


def _is_of_another_kind(name: str, text: str) -> bool:
    """Return True if such a text in a column of this name marks a training row or a failure."""
    if _plain(name) in _ERRORS:
        return text.lower() not in _NO_ERROR and not is_number(text)
    return text.lower().replace(" ", "_") in _OTHER_KINDS.get(_plain(name), ())


def _counts(column: Any) -> dict[str, int]:
    """Return the number of rows with each text; empty if the column has lists, objects or more than two numbers."""
    values = in_one(column)
    values = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
    if pa.types.is_nested(values.type) or pa.types.is_binary(values.type):
        return {}
    counts: Any = pc.value_counts(values.drop_null().cast(pa.string()))
    if len(counts) > 2 and pc.all(pc.match_substring_regex(counts.field("values"), "^([-+.0-9eE]+|nan)$")).as_py():
        return {}  # numbers, such as those of folds and errors
    return {count["values"]: count["counts"] for count in counts.to_pylist()}


def same_items(part: Ints, ids: Ints, labels: Ints, *, named: bool = False) -> tuple[int, int, int] | None:
    """Return two parts and the number of their common ids, if `named` as runs or labels agree too often; or None."""
    shared = np.flatnonzero(np.bincount(ids)[ids] > 1)
    distinct, ids = np.unique(ids[shared], return_inverse=True)
    table = np.full((int(part.max()) + 1, len(distinct)), -1, np.int32)
    table[part[shared], ids] = labels[shared]
    for first, row in enumerate(table[:-1]):
        later = table[first + 1 :]
        both = (row >= 0) & (later >= 0)
        differs = (both & (later != row)).any(axis=1)
        for other in np.flatnonzero(both.any(axis=1) & ~differs):
            if named or _bits(row[both[other]]) >= _BITS:
                return first, first + 1 + int(other), int(both[other].sum())
    return None


def _bits(labels: Ints) -> float:
    """Return the bits of labels given the previous label: 0 for blocks, all bits if most are distinct."""
    codes = np.unique(labels, return_inverse=True)[1]
    n, k = len(codes), int(codes.max()) + 1
    if 2 * k > n:
        return float(n)
    if np.count_nonzero(np.diff(codes)) < k:
        return 0.0
    pairs = np.unique(codes[:-1] * k + codes[1:], return_counts=True)
    return float((pairs[1] * np.log2(np.bincount(codes[:-1])[pairs[0] // k] / pairs[1])).sum())
