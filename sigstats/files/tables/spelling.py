"""The spelling of texts in columns: missing values, numbers and dates.

`same_spelling` gives the names of classes in several columns one common spelling (``1``, ``1.0`` and ``True``).
"""

import contextlib
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.class_names import MISSING, NO_ANSWER
from sigstats._common.data_frames import as_decimals
from sigstats._common.number_texts import is_number as is_number
from sigstats._common.time_order import SORTED_DATE, YEAR
from sigstats._common.validation import shown

#: A `pyarrow.Array` of any type; the stubs of pyarrow tell too few of its operations.
Array: TypeAlias = Any

#: Texts as short as those that usually mean a missing value, with blanks around them.
_SHORT = r"(?s)^.{0,8}$"

_DIGITS = re.compile(r"[+-]?\d{1,400}", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,30}", re.ASCII)
#: Up to here float64 holds every whole number.
LARGEST_WHOLE = 2.0**53
_TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}
#: Numbers whose point may separate thousands, and 0; fields with a decimal comma, or point, that cannot.
_POINT_OF_THOUSANDS = r"^(?:[+-]?[1-9][0-9]{0,2}\.[0-9]{3}|0)$"
_DECIMAL = r"(?:{edge})[ \t]*[+-]?(?:0{mark}\d+|\d+{mark}(?:\d\d?|\d{{4,}}))[ \t]*(?:{edge})"


def is_text(data_type: pa.DataType) -> bool:
    """Return True for a type of strings."""
    return pa.types.is_string(data_type) or pa.types.is_large_string(data_type) or pa.types.is_string_view(data_type)


def without_views(table: pa.Table) -> pa.Table:
    """Turn string views into strings: Polars writes them, and Arrow cannot select their rows."""
    for place, data_type in enumerate(table.schema.types):
        if pa.types.is_string_view(data_type):
            table = table.set_column(place, table.schema.names[place], table.column(place).cast(pa.string()))
    return table


def without_empty(texts: Array) -> Array:
    """Return strings with null for each empty one, as in a text file."""
    empty: Array = pa.scalar("", texts.type)
    return pc.if_else(pc.equal(texts, empty), pa.scalar(None, texts.type), texts)


def rows_of_short(texts: Array) -> dict[str, int]:
    """Return the number of rows of each string that is short enough to mean a missing value."""
    values = texts.dictionary if pa.types.is_dictionary(texts.type) else texts
    short = pc.match_substring_regex(values, _SHORT)
    if not pc.any(short).as_py():
        return {}
    short = short.take(texts.indices) if values is not texts else short
    return {count["values"]: count["counts"] for count in pc.value_counts(texts.filter(short)).to_pylist()}


def is_whole_number(text: str) -> bool:
    """Return True if a string is a whole number in decimal digits."""
    return _WHOLE.fullmatch(text) is not None


def to_numbers(texts: Array) -> Array | None:
    """Return strings as float64, or None if one of them is not a number.

    A column of truth values (``true``, ``false``, 1, 0) becomes 1 and 0, since marks are often stored this way.
    """
    with contextlib.suppress(pa.ArrowInvalid):  # a number such as +1, which Arrow does not read, or no number
        return pc.cast(texts, pa.float64())
    encoded = texts.dictionary_encode()
    names = [str(name) for name in encoded.dictionary.to_pylist()]
    if all(map(is_number, names)):
        values = [float(name) for name in names]
    elif all(name.lower() in _TRUTH for name in names):
        values = [_TRUTH[name.lower()] for name in names]
    else:
        return None
    return pa.array(np.array(values)).take(encoded.indices)


def first_rounded(column: Array, numbers: Array) -> int | None:
    """Return the first row with a whole number, as text or as an integer, that float64 rounds; None if there is none.

    Two such numbers may differ in `column` and be equal in `numbers`, the column as float64.
    """
    large = pc.greater(pc.call_function("abs", [numbers]), pa.scalar(LARGEST_WHOLE))
    for row in np.flatnonzero(large.to_numpy(zero_copy_only=False)).tolist():
        text = str(column[row].as_py())
        if _DIGITS.fullmatch(text) and int(text) != int(numbers[row].as_py()):
            return int(row)
    return None


def to_decimals(column: Array) -> Array:
    """Convert half and single precision floats to float64 by `as_decimals`; leave other values unchanged."""
    if pa.types.is_float16(column.type):
        halves = column.to_numpy(zero_copy_only=False).astype(np.float16)
        return pa.array(as_decimals(halves), mask=np.asarray(column.is_null()))
    if not pa.types.is_float32(column.type):
        return column
    exact: Array = column.cast(pa.float64())
    small: Array = pc.less(pc.call_function("abs", [exact]), pa.scalar(2.0**24))  # others are whole numbers
    return pc.if_else(small, column.cast(pa.string()).cast(pa.float64()), exact)


def check_points(where: str, texts: Array, content: bytes, separator: str, fewest: int) -> None:
    """Refuse a column of numbers such as 1.250 if their points may separate thousands.

    They may if other fields of the file (`content`) have decimal commas, or if the separator is a semicolon and no
    number has a point that must be decimal. Columns with fewer than `fewest` different numbers with a point are exempt.
    """
    texts = texts.drop_null()
    if not _all_match(texts, _POINT_OF_THOUSANDS):
        return
    pointed = texts.filter(pc.match_substring(texts, "."))
    if pc.count_distinct(pointed).as_py() < fewest:
        return
    edge = '"' if separator == "," else rf'"|{re.escape(separator)}|^|\r?$'
    comma, point = (re.search(_DECIMAL.format(edge=edge, mark=mark).encode(), content, re.M) for mark in (",", r"\."))
    if comma or (separator == ";" and not point):
        first = str(pointed[0].as_py())
        why = "other numbers have a decimal comma" if comma else "no number shows that points are decimal"
        cure = f"write {first.replace('.', '')}, or {first}0 if it is decimal"
        raise ValueError(f"{where}: the point in {shown(first)} may separate thousands, since {why}; {cure}")


#: Dates that do not sort by time, with and without a time of day.
_DAYS = "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y"
_FORMS = [day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S")]


def as_dates(values: Any) -> Any | None:
    """Return dates as values that sort by time; None if some are not dates, or may be in two forms, as 01/02/2026."""
    texts = values.cast(pa.string())
    if not pc.all(pc.match_substring_regex(texts[:1], "[0-9]{4}")).as_py():
        return None
    if pc.all(pc.match_substring_regex(texts, SORTED_DATE)).as_py():
        return texts
    forms = _FORMS if pc.all(pc.match_substring_regex(texts[:1], YEAR)).as_py() else ()
    options: Any = {"unit": "s", "error_is_null": True}
    of_first = [form for form in forms if not pc.strptime(texts[:1], format=form, **options).null_count]
    columns = [pc.strptime(texts, format=form, **options) for form in of_first]
    complete = [dates for dates in columns if not dates.null_count]
    return complete[0] if len(complete) == 1 else None


#: Whole numbers, and those with a decimal point, which pandas adds if a value is missing.
_ALL_WHOLE, _POINT = r"^-?[0-9]+$", r"^(-?[0-9]+)\.0*$"
_NONE = f"^(?:{re.escape(MISSING)}|{re.escape(NO_ANSWER)})$"
_CODES = {"true": "1", "false": "0"}
#: The most spellings of truth values: each letter may be small or large.
_MOST_TRUTHS = 2**4 + 2**5


def same_spelling(columns: Sequence[Any]) -> list[Any]:
    """Return columns of names in one common spelling.

    Names keep their spelling, except in a column that differs from the others throughout. A column such as ``1.0`` is
    read as whole numbers if another column has whole numbers without a point (pandas adds the point if a value was
    missing); compared with whole numbers, truth values are read as 1 and 0. Columns of truth values get one spelling.
    Letters are in Unicode's normal form NFC.
    """
    coded = [pa.types.is_dictionary(column.type) for column in columns]
    if any(coded):  # each value of a dictionary is in a row
        texts = same_spelling([column.dictionary if of else column for column, of in zip(columns, coded, strict=True)])
        parts = zip(columns, texts, coded, strict=True)
        return [pa.DictionaryArray.from_arrays(column.indices, text) if of else text for column, text, of in parts]
    columns = [_composed(column) for column in columns]
    spellings = [_spelling_of(column) for column in columns]
    names = [spelling.names for spelling in spellings]
    truths = {name for spelling in spellings if spelling.is_truth for name in spelling.few}
    binary = any(spelling.is_binary for spelling in spellings)
    points_go = any(spelling.is_whole for spelling in spellings) or (binary and bool(truths))
    several_ways = len(truths) > len({name.lower() for name in truths})

    def in_common(column: Any, spelling: _Spelling) -> Any:
        if spelling.is_pointed and (points_go or _occurs_without_point(column, names)):
            return _without_point(column)
        if spelling.is_truth and binary:
            return _renamed(column, {name: _CODES[name.lower()] for name in spelling.few})
        if spelling.is_truth and several_ways:
            return _renamed(column, {name: name.lower() for name in spelling.few})
        return column

    return [in_common(column, spelling) for column, spelling in zip(columns, spellings, strict=True)]


class _Spelling(NamedTuple):
    """The distinct names of a column, and the way in which all of them are written."""

    names: Any
    #: The same as texts; empty if they are too many for truth values.
    few: set[str]
    #: True if all are like ``1``, ``1.0``, ``0`` or ``1`` (also with a point), or ``true``.
    is_whole: bool
    is_pointed: bool
    is_binary: bool
    is_truth: bool


def _spelling_of(column: Any) -> _Spelling:
    names = pc.unique(column).drop_null()
    if pa.types.is_string(names.type):
        names = names.filter(pc.invert(pc.match_substring_regex(names, _NONE)))
    few = set(names.to_pylist()) if len(names) <= _MOST_TRUTHS else set()
    is_whole, is_pointed = _all_match(names, _ALL_WHOLE), _all_match(names, _POINT)
    is_binary = bool(few) and ((is_whole and few <= {"0", "1"}) or (is_pointed and few <= {"0.0", "1.0"}))
    is_truth = bool(few) and all(name.lower() in _CODES for name in few)
    return _Spelling(names, few, is_whole, is_pointed, is_binary, is_truth)


def _composed(column: Any) -> Any:
    """Return a column in which a letter with an accent is a single code point, if Unicode has one."""
    texts = pa.types.is_string(column.type) and not pc.all(pc.string_is_ascii(column), min_count=0).as_py()
    return pc.utf8_normalize(column, form="NFC") if texts else column  # type: ignore[attr-defined]


def without_points(column: Any) -> Any:
    """Remove the decimal point from whole numbers, which pandas writes in a column with a missing value."""
    if not _all_match(column, _POINT):
        return column
    bare = _without_point(column)
    return bare if pc.count_distinct(bare) == pc.count_distinct(column) else column


def _without_point(column: Any) -> Any:
    return pc.replace_substring_regex(column, pattern=_POINT, replacement=r"\1")


def _occurs_without_point(column: Any, names: Sequence[Any]) -> bool:
    """Return True if another column contains some of a column's whole numbers without the decimal point."""
    pointed = pc.unique(column)
    bare = _without_point(pointed)
    return any(
        pc.any(pc.is_in(bare, value_set=name)).as_py() and not pc.any(pc.is_in(pointed, value_set=name)).as_py()
        for name in names
        if len(name)
    )


def _all_match(names: Any, pattern: str) -> bool:
    """Return True if there are names and all of them match; the first few usually show a difference."""
    return len(names) > 0 and all(
        pc.all(pc.match_substring_regex(part, pattern)).as_py() for part in (names[:10], names)
    )


def _renamed(column: Any, names: dict[str, str]) -> Any:
    encoded = column.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return pa.array([names.get(name, name) for name in encoded.dictionary.to_pylist()]).take(encoded.indices)
