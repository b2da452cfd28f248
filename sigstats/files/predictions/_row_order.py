"""Whether columns of two files show that rows joined by position or by their numbers are in another order."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.column_names import FOLDS, ID, RUN_OR_MODEL
from sigstats._common.messages import Note, shown
from sigstats._common.repeats import joint_codes

from ..tables.spelling import is_text

#: Pattern of values that may identify a question: texts and whole numbers, but no fractions.
_KEY = "[^0-9.,eE+-]|^[0-9]+$"


def differing(a: Any, b: Any) -> Any:
    """Return the rows in which two columns have different values; null is not a difference."""
    return pc.indices_nonzero(pc.not_equal(a[:0], b[:0]) if a.equals(b) else pc.not_equal(a, b))


def may_be_row_numbers(ids: Any) -> bool:
    """Return True if all ids are whole numbers, of which none exceeds the number of rows."""
    texts = ids.cast(pa.string())
    digits = all(pc.all(pc.match_substring_regex(part, r"^[0-9]{1,9}$")).as_py() for part in (texts[:1], texts))
    return digits and bool(pc.max(texts.cast(pa.int64())).as_py() <= len(ids))


def moved(columns: Mapping[str, tuple[Any, Any]]) -> Iterator[tuple[str, Any, Any]]:
    """Yield joined columns of both files if their values belong to different rows in the other file.

    Nine in ten of the values that differ occur once in each file, and at least half of all are distinct. Numbers with
    fractions are not examined. Row numbers are examined only in columns named like ids, since in other columns they may
    be ranks that each model assigns.
    """
    for name, both in columns.items():
        kinds = [part.type.value_type for part in both]
        if not all(is_text(kind) or pa.types.is_integer(kind) for kind in kinds):
            continue
        if not all(2 * len(part.dictionary) >= len(part) for part in both):
            continue
        values, a, b = _coded_alike(both)
        if not len(codes := a.take(differing(a, b))) or (may_be_row_numbers(values) and not ID.search(name)):
            continue
        elsewhere = codes.filter(pc.match_substring_regex(values, _KEY).take(codes))
        for column in (a, b):
            counts = pc.value_counts(column)
            once = counts.field("values").filter(pc.call_function("equal", [counts.field("counts"), pa.scalar(1)]))
            elsewhere = elsewhere.filter(pc.is_in(elsewhere, value_set=once))
        if 10 * len(elsewhere) >= 9 * len(codes):
            yield name, values.take(a), values.take(b)


def _coded_alike(both: tuple[Any, Any]) -> tuple[Any, Any, Any]:
    """Return the distinct values of a column of two files as texts, and the codes of both files."""
    texts = [part.dictionary.cast(pa.large_string()) for part in both]
    values = pc.unique(pa.concat_arrays(texts)).drop_null()
    a, b = (pc.index_in(text, value_set=values).take(part.indices) for text, part in zip(texts, both, strict=True))
    return values, a, b


def _equally_frequent(columns: Mapping[str, tuple[Any, Any]]) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield columns that contain each value equally often in both files: name, values, and the codes of both."""
    for name, both in columns.items():
        binary = any(pa.types.is_binary(part.type.value_type) for part in both)
        if binary or RUN_OR_MODEL.fullmatch(name) or FOLDS.fullmatch(name):
            continue
        values, *sides = _coded_alike(both)
        if any(side.null_count for side in sides):
            sides = [pc.fill_null(side, len(values)) for side in sides]  # imports pandas
        a, b = (np.from_dlpack(side).astype(np.int64) for side in sides)
        if np.array_equal(np.bincount(a, minlength=len(values) + 1), np.bincount(b, minlength=len(values) + 1)):
            yield name, values, a, b


def order_notes(columns: Mapping[str, tuple[Any, Any]]) -> Iterator[Note]:
    """Yield a note on the first column of both files with the same values in another order, in most of the rows."""
    for name, _, a, b in _equally_frequent(columns):
        n, rows = int(np.count_nonzero(a != b)), len(a)
        if 2 * n > rows:
            text = f"column {shown(name)} has the same values in both files, but differs in {n:,} of {rows:,} rows"
            yield Note("other-order", f"{text}: the rows may be in another order")
            return


#: Below this probability, the same values of columns in another order are not due to chance.
_BY_CHANCE = 1e-4


def reordered(columns: Mapping[str, tuple[Any, Any]]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the columns of both files, joined into one, if they describe the same rows in another order.

    Values that are all equally frequent are not examined: they may be ranks, folds or bins that each file assigns.
    """
    texts, codes = dict[str, Any](), list[NDArray[np.int64]]()
    for name, values, a, b in _equally_frequent(columns):
        if np.ptp(np.unique(a, return_counts=True)[1]) > 1:
            texts[name] = pa.concat_arrays([values, pa.array([""], values.type)])
            codes.append(np.append(a, b))
    if not codes:
        return
    joint = joint_codes(codes)
    a, b = np.split(joint, 2)
    counts, n = np.bincount(a), len(a)
    if np.array_equal(a, b) or not np.array_equal(counts, np.bincount(b)):
        return
    # The multinomial probability that other rows have the same counts.
    chance = math.lgamma(n + 1) + sum(k * math.log(k / n) - math.lgamma(k + 1) for k in counts.tolist())
    if chance < math.log(_BY_CHANCE):
        parts = (values.take(pa.array(of)) for values, of in zip(texts.values(), codes, strict=True))
        joined: Any = pc.binary_join_element_wise(*parts, pa.scalar(", ", pa.large_string()))
        yield ", ".join(texts), joined[:n], joined[n:]
