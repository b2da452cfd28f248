"""Columns of labels as codes: which labels there are, and the position of each row's label among them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.validation import shown

from .counts import Label, Labels, Outcome

#: Whole numbers are codes as they are if they span no more than this.
_SPAN = 2**10
#: Separates the labels of one row, and may be part of no label.
_SEPARATOR = "\x1f"


@dataclass(frozen=True)
class Codes:
    """A column as codes."""

    #: The labels, each once.
    labels: Sequence[Labels]
    #: The code of each row.
    codes: NDArray[Any]
    #: The code of the first label; the codes of the others follow it.
    first: int = 0


def is_list(kind: pa.DataType) -> bool:
    """True if a column of this type has any number of labels a row."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def encode(where: str, column: Any) -> Codes:
    """The codes of a column."""
    if isinstance(column, pa.DictionaryArray) and column.dictionary.null_count:
        column = column.dictionary_decode()
    if column.null_count:
        raise ValueError(f"{where}: a label is missing (null); expected one in every row")
    return _encode_lists(where, column) if is_list(column.type) else _encode(column)


def _encode(column: Any) -> Codes:
    kind = column.type
    if pa.types.is_boolean(kind):
        return Codes((False, True), column.cast(pa.int8()).to_numpy())
    if not pa.types.is_integer(kind):
        encoded = column if pa.types.is_dictionary(kind) else column.dictionary_encode()
        labels = tuple(encoded.dictionary.to_pylist())
        codes = encoded.indices.to_numpy()
        if len(set(labels)) == len(labels):
            return Codes(labels, codes)
        own: dict[Label, int] = {}  # a label that is there twice; its rows are not decoded, which may take gigabytes
        places = np.array([own.setdefault(label, len(own)) for label in labels], dtype=np.int64)
        return Codes(tuple(own), places[codes])
    whole: NDArray[Any] = column.to_numpy()
    low, high = int(whole.min()), int(whole.max())
    if high - low < _SPAN and max(-low, high) < 2**31:
        return Codes(range(low, high + 1), whole, low)
    values, codes = np.unique(whole, return_inverse=True)
    return Codes(tuple(values.tolist()), codes)


def _encode_lists(where: str, column: Any) -> Codes:
    if column.flatten().null_count:
        raise ValueError(f"{where}: a label in a list is missing (null); expected one in every place")
    texts: Any = column.cast(pa.list_(pa.string()))
    for text in set(texts.flatten().dictionary_encode().dictionary.to_pylist()):
        if not text or _SEPARATOR in text:
            raise ValueError(f"{where}: the label {shown(text)} is not valid; expected a text without control codes")
    whole = pa.types.is_integer(column.type.value_type)
    joined: Any = pc.binary_join(texts, _SEPARATOR)
    encoded = joined.dictionary_encode()
    sets: dict[tuple[Label, ...], int] = {}
    codes = []
    for text in encoded.dictionary.to_pylist():
        parts = text.split(_SEPARATOR) if text else []  # no label is empty, so an empty text is an empty list
        codes.append(sets.setdefault(tuple(sorted({int(part) if whole else part for part in parts})), len(sets)))
    return Codes(tuple(sets), np.array(codes, dtype=np.int64)[encoded.indices.to_numpy()])


def joint_codes(sides: Sequence[Codes], shape: tuple[int, ...]) -> NDArray[np.int32 | np.int64]:
    """The code of each row's joint outcome: its position in a table of `shape`, one axis a column."""
    weights = (shape[1] * shape[2], shape[2], 1)
    # The codes stay as they are stored: one product widens them, as far as their sum needs, and one sum takes their
    # origins off.
    largest = sum(w * (abs(each.first) + n) for w, each, n in zip(weights, sides, shape, strict=True))
    wide = np.int32 if largest < 2**31 else np.int64
    joint: NDArray[Any] = np.multiply(sides[0].codes, weights[0], dtype=wide, casting="unsafe")
    for weight, each in zip(weights[1:], sides[1:], strict=True):
        joint += np.multiply(each.codes, weight, dtype=wide, casting="unsafe")
    origin = sum(weight * each.first for weight, each in zip(weights, sides, strict=True))
    if origin:
        joint -= origin
    return joint


def outcomes(labels: Sequence[Sequence[Labels]], codes: NDArray[Any], times: NDArray[Any]) -> dict[Outcome, int]:
    """How often each joint outcome occurs, from the codes of those that do."""
    sides = np.unravel_index(codes, [len(each) for each in labels])
    triples: Any = zip(*([each[i] for i in side] for each, side in zip(labels, sides, strict=True)), strict=True)
    return dict(zip(triples, times.tolist(), strict=True))
