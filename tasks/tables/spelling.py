"""One spelling for a class that two columns spell differently: ``1``, ``1.0`` and ``True``."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_WHOLE, _POINT = r"^-?[0-9]+$", r"^(-?[0-9]+)\.0*$"
_TRUTH = {"true": "1", "false": "0"}
#: Truth values have at most so many spellings: each letter may be small or large.
_MOST_TRUTHS = 2**4 + 2**5


def same_spelling(columns: Sequence[Any]) -> list[Any]:
    """Columns of the same names, spelled alike.

    A name keeps its spelling, except in a column that differs from the others as a whole: beside a column of whole
    numbers, or one that has some of its numbers without a point, a column of whole numbers with a decimal point is one
    that once had a missing value, and a column of truth values says 1 and 0; columns of truth values are spelled alike.
    """
    if any(pa.types.is_dictionary(column.type) for column in columns):  # each value of a dictionary is in a row
        texts = [column.dictionary if pa.types.is_dictionary(column.type) else column for column in columns]
        return [
            pa.DictionaryArray.from_arrays(column.indices, text) if pa.types.is_dictionary(column.type) else text
            for column, text in zip(columns, same_spelling(texts), strict=True)
        ]
    names = [pc.unique(column).drop_null() for column in columns]
    few = [set(each.to_pylist()) if len(each) <= _MOST_TRUTHS else set() for each in names]
    whole, pointed = ([_all_match(each, pattern) for each in names] for pattern in (_WHOLE, _POINT))
    truth = [bool(each) and all(name.lower() in _TRUTH for name in each) for each in few]
    binary = any(
        (is_whole and each <= {"0", "1"}) or (is_pointed and each <= {"0.0", "1.0"})
        for each, is_whole, is_pointed in zip(few, whole, pointed, strict=True)
        if each
    )
    points_go = any(whole) or (binary and any(truth))
    truths = {name for each, is_truth in zip(few, truth, strict=True) if is_truth for name in each}
    mixed = len(truths) > len({name.lower() for name in truths})
    found = []
    for column, each, is_pointed, is_truth in zip(columns, few, pointed, truth, strict=True):
        if is_pointed and (points_go or _is_there_without_point(column, names)):
            column = pc.replace_substring_regex(column, pattern=_POINT, replacement=r"\1")
        elif is_truth and binary:
            column = _renamed(column, {name: _TRUTH[name.lower()] for name in each})
        elif is_truth and mixed:
            column = _renamed(column, {name: name.lower() for name in each})
        found.append(column)
    return found


def _is_there_without_point(column: Any, names: Sequence[Any]) -> bool:
    """True if some of the whole numbers of a column stand in another one, and there without their decimal point."""
    pointed = pc.unique(column)
    bare = pc.replace_substring_regex(pointed, pattern=_POINT, replacement=r"\1")
    return any(
        pc.any(pc.is_in(bare, value_set=each)).as_py() and not pc.any(pc.is_in(pointed, value_set=each)).as_py()
        for each in names
        if len(each)
    )


def _all_match(names: Any, pattern: str) -> bool:
    """True if there are names and all of them match; the first few tell most columns apart."""
    return len(names) > 0 and all(
        pc.all(pc.match_substring_regex(part, pattern)).as_py() for part in (names[:10], names)
    )


def _renamed(column: Any, names: dict[str, str]) -> Any:
    encoded = column.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return pa.array([names[name] for name in encoded.dictionary.to_pylist()], pa.string()).take(encoded.indices)
