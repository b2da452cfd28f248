"""Counts of the joint outcomes of three columns of labels, batch by batch."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.validation import did_you_mean, one_line, shown

from ..input_files.limit import Budget
from .counts import Label, Labels, Outcome, each_label

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


#: The largest table of all outcomes that the labels can make.
_TABLE = 2**19
#: What a joint outcome takes in memory, in bytes.
_OUTCOME = 600


class Tally:
    """Counts the rows of a file, part by part, in a table of all outcomes that the labels of a batch can make."""

    def __init__(
        self, names: Sequence[str], *, classes: frozenset[Label] | None = None, budget: Budget | None = None
    ) -> None:
        self._budget = budget
        self.names = names
        self.classes = classes
        #: The name of the part in messages.
        self.where = ""
        self._counts: Counter[Outcome] = Counter()
        # Of batches with the same labels: the labels of each column, and how many rows have each outcome.
        self._labels: list[Sequence[Labels]] = []
        self._table: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def begin(self, where: str) -> None:
        """Begin another part."""
        self.where = where

    def add(self, columns: Sequence[Any]) -> None:
        """Count rows.

        `columns`: all whole numbers, booleans, strings, dictionaries of these, or lists of whole numbers or strings.
        """
        if not len(columns[0]):
            return
        coded = [
            encode(f"{self.where}: column {shown(name)}", column)
            for name, column in zip(self.names, columns, strict=True)
        ]
        labels = [each.labels for each in coded]
        joint = joint_codes(coded, tuple(map(len, labels)))
        if (size := math.prod(map(len, labels))) > _TABLE:
            seen, times = np.unique(joint, return_counts=True)
            self._add(outcomes(labels, seen, times))
            return
        if labels != self._labels:
            self.end()
            self._labels, self._table = labels, np.zeros(size, dtype=np.int64)
        self._table += np.bincount(joint, minlength=size)

    def end(self) -> None:
        """End a part: refuse labels that are none of `classes`."""
        seen = np.flatnonzero(self._table)
        if len(seen):
            self._add(outcomes(self._labels, seen, self._table[seen]))
            self._table[:] = 0

    def counts(self) -> Counter[Outcome]:
        """How often each joint outcome occurs in all parts that have ended."""
        return self._counts

    def _add(self, found: dict[Outcome, int]) -> None:
        for axis, name in enumerate(self.names):
            self._require_known(name, (outcome[axis] for outcome in found))
        self._counts.update(found)
        if self._budget is not None:
            self._budget.require(_OUTCOME * len(self._counts))

    def _require_known(self, name: str, sides: Iterable[Labels]) -> None:
        if self.classes is not None:
            for label in (label for side in sides for label in each_label(side)):
                if label not in self.classes:
                    self._refuse(name, label, self.classes)

    def _refuse(self, name: str, label: Label, classes: frozenset[Label]) -> NoReturn:
        hint = did_you_mean(label, map(str, classes))
        wanted = one_line(", ".join(sorted(map(str, classes))[:8]))
        raise ValueError(
            f"{self.where}: column {shown(name)}: {shown(label)} is not valid; expected one of {wanted}{hint}"
        )
