"""Whole numbers of a narrow range as codes: a subtraction a row, where a table of hashes would be asked."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: The numbers of a narrow range lie at most so far apart.
_RANGE = 1000


def coded_numbers(column: Any) -> Any | None:
    """A column of integers without missing values as a dictionary array of strings, in the order of the numbers.

    None if the range of the numbers is not narrow, or they are none of int64.
    """
    low, high = (bound.as_py() for bound in pc.min_max(column).values())
    if low is None or high - low >= _RANGE or high >= 2**63:
        return None
    codes = _from(column, low)
    present = np.bincount(codes) > 0
    if not present.all():
        codes = (np.cumsum(present) - 1)[codes]
    names = _as_arrow(np.flatnonzero(present) + low).cast(pa.string())
    return pa.DictionaryArray.from_arrays(_as_arrow(codes), names, safe=False)


def _from(column: Any, low: int) -> Any:
    """The numbers less the lowest; those of one chunk of int64 that begins at 0 as they are, without a copy."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if low == 0 and len(chunks) == 1 and column.type == pa.int64():
        return np.from_dlpack(chunks[0])
    codes, at = np.empty(len(column), np.int64), 0
    for chunk in chunks:
        part = codes[at : at + len(chunk)]
        part[:] = np.from_dlpack(chunk)
        part -= low
        at += len(chunk)
    return codes


def _as_arrow(codes: Any) -> Any:
    # `pyarrow.array` imports pandas.
    return pa.Array.from_buffers(pa.int64(), len(codes), [None, pa.py_buffer(codes)])
