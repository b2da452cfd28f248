"""Texts that are numbers, and numbers as the decimals that they print."""

import re
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.data_frames import as_decimals

#: A `pyarrow.Array` of any type; the stubs of pyarrow tell too few of its operations.
Array: TypeAlias = Any

_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?|[+-]?inf(?:inity)?", re.IGNORECASE | re.ASCII)
_DIGITS = re.compile(r"[+-]?\d{1,400}", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,30}", re.ASCII)
#: Up to here float64 holds every whole number.
LARGEST_WHOLE = 2.0**53
_TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}


def is_number(text: str) -> bool:
    """True if a text is a decimal number; infinity is one, so that it may be refused by its name."""
    return _NUMBER.fullmatch(text) is not None


def is_whole_number(text: str) -> bool:
    """True if a text is a whole number in decimal digits."""
    return _WHOLE.fullmatch(text) is not None


def to_numbers(texts: Array) -> Array | None:
    """Texts as float64, or None if one of them is no number.

    A column of truth values alone (``true``, ``false``, 1, 0) is a column of 1 and 0: marks are often stored so.
    """
    try:
        return pc.cast(texts, pa.float64())
    except pa.ArrowInvalid:  # a number such as +1, which Arrow does not read, or no number
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
    """The first row whose whole number, as text or as an integer, float64 rounds; None if it holds all of them.

    Two such numbers may differ and be equal as `numbers`.

    >>> import pyarrow as pa
    >>> texts = pa.array(["0.1", str(2**70), str(2**70 + 1)])
    >>> first_rounded(texts, to_numbers(texts))
    2
    """
    large = pc.greater(pc.call_function("abs", [numbers]), pa.scalar(LARGEST_WHOLE))
    for row in np.flatnonzero(large.to_numpy(zero_copy_only=False)).tolist():
        text = str(column[row].as_py())
        if _DIGITS.fullmatch(text) and int(text) != int(numbers[row].as_py()):
            return int(row)
    return None


def to_decimals(column: Array) -> Array:
    """Floats of half and of single precision as the float64 of the shortest decimals that stand for them; others alike.

    `sigstats._common.data_frames.as_decimals` of a column.

    >>> import pyarrow as pa
    >>> to_decimals(pa.array([0.1, None, 123456790528.0], pa.float32())).to_pylist()
    [0.1, None, 123456790528.0]
    """
    if pa.types.is_float16(column.type):
        halves = column.to_numpy(zero_copy_only=False).astype(np.float16)
        return pa.array(as_decimals(halves), mask=np.asarray(column.is_null()))
    if not pa.types.is_float32(column.type):
        return column
    exact: Array = column.cast(pa.float64())
    small: Array = pc.less(pc.call_function("abs", [exact]), pa.scalar(2.0**24))
    return pc.if_else(small, column.cast(pa.string()).cast(pa.float64()), exact)
