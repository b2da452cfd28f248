"""One spelling for a class that two columns spell differently: ``1``, ``1.0`` and ``True``."""

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_WHOLE = re.compile(r"-?\d+", re.ASCII)
_POINT = re.compile(r"(-?\d+)\.0*", re.ASCII)
_TRUTH = {"true": "1", "false": "0"}


def same_spelling(columns: Sequence[Any]) -> list[Any]:
    """Columns of the same names, spelled alike.

    A name keeps its spelling, except in a column that differs from the others as a whole: beside a column of whole
    numbers, a column of whole numbers with a decimal point is one that once had a missing value, and a column of truth
    values says 1 and 0; columns of truth values are spelled alike.
    """
    names = [set(pc.unique(column).drop_null().to_pylist()) for column in columns]
    whole = [each for each in names if each and all(map(_WHOLE.fullmatch, each))]
    pointed = [each for each in names if each and all(map(_POINT.fullmatch, each))]
    binary = any(each <= {"0", "1"} for each in whole) or any(each <= {"0.0", "1.0"} for each in pointed)
    points_go = bool(whole) or (binary and any(map(_is_truth, names)))
    truths = {name for each in names if _is_truth(each) for name in each}
    mixed = len(truths) > len({name.lower() for name in truths})
    found = []
    for column, each in zip(columns, names, strict=True):
        if points_go and each in pointed:
            column = _renamed(column, {name: _POINT.sub(r"\1", name) for name in each})
        elif _is_truth(each) and binary:
            column = _renamed(column, {name: _TRUTH[name.lower()] for name in each})
        elif _is_truth(each) and mixed:
            column = _renamed(column, {name: name.lower() for name in each})
        found.append(column)
    return found


def _is_truth(names: set[str]) -> bool:
    return bool(names) and all(name.lower() in _TRUTH for name in names)


def _renamed(column: Any, names: dict[str, str]) -> Any:
    encoded = column.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return pa.array([names[name] for name in encoded.dictionary.to_pylist()], pa.string()).take(encoded.indices)
