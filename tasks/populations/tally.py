"""Columns of labels reduced, batch by batch, to how often each joint outcome occurs."""

import functools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.validation import nearest, one_line, shown

from .counts import Label, Labels, Outcome, each_label

#: Whole numbers are codes as they are if they span no more than this.
_SPAN = 2**10
#: Stands between the labels of one row, and can be no part of a label.
_BETWEEN = "\x1f"
#: So many outcomes at most are counted in a table of all that there might be.
_TABLE = 2**19
#: Marks, among places in the table, a number that is none of the labels.
_NOWHERE = -(2**40)


class Tally:
    """Counts the rows of a file, part by part, in a table of all outcomes that the labels met so far can make.

    Parameters
    ----------
    names : sequence of str
        The names of the columns of the true classes and of those that A and B assigned.
    classes : collection of label, optional
        All labels there may be.
    many : bool
        Whether there are so many rows, tens of millions, that code compiled for them pays: it takes a second to load.
    """

    def __init__(self, names: Sequence[str], *, classes: frozenset[Label] | None = None, many: bool = False) -> None:
        self.names = names
        self.classes = classes
        #: What messages call the rows of this part.
        self.where = ""
        self._kernel = _kernel() if many else None
        self._known: _Known | None = None
        self._counts: Counter[Outcome] = Counter()
        self._axes = [_Axis() for _ in names]
        self._table: NDArray[np.int64] = np.zeros((0, 0, 0), dtype=np.int64)

    def begin(self, where: str) -> None:
        """Rows of another part follow."""
        self.where = where

    def add(self, columns: Sequence[Any]) -> None:
        """Count rows.

        Parameters
        ----------
        columns : sequence of pyarrow.Array
            All whole numbers, booleans, strings, dictionaries of these, or lists of whole numbers or strings.

        Raises
        ------
        ValueError
            If a label is missing or none of `classes`, or one of a list is empty or holds the character 31 (unit
            separator).
        """
        counted = self._count_known(columns)
        if counted == len(columns[0]):
            return
        columns = [column.slice(counted) for column in columns]
        coded = [self._coded(name, column) for name, column in zip(self.names, columns, strict=True)]
        labels = [each.labels for each in coded]
        shape = tuple(map(len, labels))
        if math.prod(shape) > _TABLE:
            seen, times = np.unique(_joint(coded, shape), return_counts=True)
            self._take(_outcomes(labels, seen, times))
            return
        places = self._places(labels)
        if all((np.diff(own) == 1).all() for own in places):
            table = self._table[tuple(slice(own[0], own[-1] + 1) for own in places)]
        else:  # beside one another they are not, so each row gets its place in the whole table
            table = self._table
            coded = [
                replace(each, codes=own[each.codes.astype(np.int64) - each.first], first=0)
                for each, own in zip(coded, places, strict=True)
            ]
        joint = _joint(coded, table.shape)
        table += np.bincount(joint, minlength=table.size).reshape(table.shape)
        if self._kernel is not None:
            self._known = self._knowing(columns, places)

    def end(self) -> None:
        """A part is counted: hold its labels against `classes`."""
        if self.classes is not None:
            for axis, name in enumerate(self.names):
                others = tuple(other for other in range(len(self.names)) if other != axis)
                labels = self._axes[axis].labels
                self._require_known(name, (labels[at] for at in np.flatnonzero(self._table.any(axis=others))))

    def counts(self) -> Counter[Outcome]:
        """How often each joint outcome occurs in all parts that have ended."""
        found = self._in_table()
        return Counter(found) if not self._counts else self._counts + Counter(found)

    def _in_table(self) -> dict[Outcome, int]:
        seen = np.flatnonzero(self._table)
        return _outcomes([axis.labels for axis in self._axes], seen, self._table.ravel()[seen])

    def _take(self, found: dict[Outcome, int]) -> None:
        for axis, name in enumerate(self.names):
            self._require_known(name, (outcome[axis] for outcome in found))
        self._counts.update(found)

    def _places(self, labels: Sequence[Sequence[Labels]]) -> list[NDArray[np.int64]]:
        """The places of these labels in the table, which has one for each from now on."""
        if math.prod(axis.with_(own) for axis, own in zip(self._axes, labels, strict=True)) > _TABLE:
            self._take(self._in_table())
            self._axes = [_Axis() for _ in self.names]
            self._table = np.zeros((0, 0, 0), dtype=np.int64)
        places = [axis.places(own) for axis, own in zip(self._axes, labels, strict=True)]
        shape = tuple(len(axis.labels) for axis in self._axes)
        if shape != self._table.shape:
            before, self._table = self._table, np.zeros(shape, dtype=np.int64)
            self._table[tuple(map(slice, before.shape))] = before
        return places

    def _count_known(self, columns: Sequence[Any]) -> int:
        """Count the first rows, up to one with a label that was not met before, and return how many these are."""
        known = self._known
        if known is None or self._kernel is None or any(column.null_count for column in columns):
            return 0
        codes = []
        for column, dictionary in zip(columns, known.dictionaries, strict=True):
            if dictionary is not None:
                if not isinstance(column, pa.DictionaryArray) or not column.dictionary.equals(dictionary):
                    return 0
                column = column.indices
            if column.type != known.kind:
                return 0
            codes.append(column.to_numpy())
        return int(self._kernel(*codes, known.first, known.places, self._table.reshape(-1)))

    def _knowing(self, columns: Sequence[Any], places: Sequence[NDArray[np.int64]]) -> "_Known | None":
        """What the codes of columns like these stand for; None where they are no whole numbers of one type."""
        strides = (self._table[0].size, self._table[0, 0].size, 1)
        first, found, dictionaries, kinds = [], [], [], set()
        for column, axis, own, stride in zip(columns, self._axes, places, strides, strict=True):
            coded = isinstance(column, pa.DictionaryArray) and len(column.dictionary) == len(own)
            kinds.add(column.indices.type if coded else column.type)
            dictionaries.append(column.dictionary if coded else None)
            if coded:
                low, where = 0, own
            elif (spread := axis.spread()) is not None:
                low, where = spread
            else:
                return None
            first.append(low)
            found.append(np.where(where < 0, _NOWHERE, where * stride))
        if len(kinds) > 1 or not pa.types.is_integer(kind := kinds.pop()) or kind == pa.uint64():
            return None
        return _Known(kind, tuple(dictionaries), tuple(first), tuple(found))

    def _coded(self, name: str, column: Any) -> "_Coded":
        if isinstance(column, pa.DictionaryArray) and column.dictionary.null_count:
            column = column.dictionary_decode()
        if column.null_count:
            wanted = "a label is missing (null); expected one in every row"
            raise ValueError(f"{self.where}: column {shown(name)}: {wanted}")
        return self._codes_of_lists(name, column) if is_list(column.type) else _codes(column)

    def _require_known(self, name: str, sides: Iterable[Labels]) -> None:
        if self.classes is not None:
            for label in (label for side in sides for label in each_label(side)):
                if label not in self.classes:
                    self._refuse(name, label, self.classes)

    def _refuse(self, name: str, label: Label, classes: frozenset[Label]) -> NoReturn:
        near = nearest(label, map(str, classes))
        hint = f" (did you mean {near!r}?)" if near else ""
        wanted = one_line(", ".join(sorted(map(str, classes))[:8]))
        raise ValueError(
            f"{self.where}: column {shown(name)}: {shown(label)} is not valid; expected one of {wanted}{hint}"
        )

    def _codes_of_lists(self, name: str, column: Any) -> "_Coded":
        where = f"{self.where}: column {shown(name)}"
        if column.flatten().null_count:
            raise ValueError(f"{where}: a label in a list is missing (null); expected one in every place")
        texts: Any = column.cast(pa.list_(pa.string()))
        for text in set(texts.flatten().dictionary_encode().dictionary.to_pylist()):
            if not text or _BETWEEN in text:
                raise ValueError(
                    f"{where}: the label {shown(text)} is not valid; expected a text without control codes"
                )
        whole = pa.types.is_integer(column.type.value_type)
        joined: Any = pc.binary_join(texts, _BETWEEN)
        coded = joined.dictionary_encode()
        sets: dict[tuple[Label, ...], int] = {}
        codes = []
        for text in coded.dictionary.to_pylist():
            parts = text.split(_BETWEEN) if text else []  # no label is empty, so an empty text is an empty list
            codes.append(sets.setdefault(tuple(sorted({int(part) if whole else part for part in parts})), len(sets)))
        return _Coded(tuple(sets), np.array(codes, dtype=np.int64)[coded.indices.to_numpy()])


class _Axis:
    """The labels of a column that were met, in the order of their places in the table."""

    def __init__(self) -> None:
        self.labels: list[Labels] = []
        self._place: dict[Labels, int] = {}

    def with_(self, labels: Iterable[Labels]) -> int:
        """How many labels there are with these."""
        return len(self.labels) + sum(label not in self._place for label in labels)

    def places(self, labels: Iterable[Labels]) -> NDArray[np.int64]:
        """The place of each of these, which all have one from now on."""
        found = []
        for label in labels:
            found.append(self._place.setdefault(label, len(self.labels)))
            if found[-1] == len(self.labels):
                self.labels.append(label)
        return np.array(found, dtype=np.int64)

    def spread(self) -> tuple[int, NDArray[np.int64]] | None:
        """The least of whole numbers, and the place of each from there on, -1 for one that is no label.

        None where they are far apart, or no whole numbers.
        """
        numbers = [label for label in self.labels if isinstance(label, int) and not isinstance(label, bool)]
        if len(numbers) < len(self.labels) or max(numbers) - min(numbers) >= _TABLE:
            return None
        low = min(numbers)
        places = np.full(max(numbers) - low + 1, -1, dtype=np.int64)
        places[np.array(numbers) - low] = np.arange(len(numbers))
        return low, places


@dataclass(frozen=True)
class _Known:
    """What the codes of three columns of one type stand for.

    Of each column its dictionary, where it has one, its first code, and the place in the table of each code from there
    on, `_NOWHERE` for one that has none.
    """

    kind: pa.DataType
    dictionaries: tuple[Any, ...]
    first: tuple[int, ...]
    places: tuple[NDArray[np.int64], ...]


@dataclass(frozen=True)
class _Coded:
    """A column as codes: the labels that they stand for, each once, each row's code, and that of the first label."""

    labels: Sequence[Labels]
    codes: NDArray[Any]
    first: int = 0


@functools.cache
def _kernel() -> Any:
    """What counts rows in one pass, where Numba is there; otherwise None."""
    try:  # it imports an extra
        from .tally_numba import count_rows
    except ImportError:
        return None
    return count_rows


def is_list(kind: pa.DataType) -> bool:
    """Whether a column of this type has any number of labels a row."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _outcomes(labels: Sequence[Sequence[Labels]], seen: NDArray[Any], times: NDArray[Any]) -> dict[Any, int]:
    sides = np.unravel_index(seen, [len(each) for each in labels])
    triples = zip(*([each[i] for i in side] for each, side in zip(labels, sides, strict=True)), strict=True)
    return dict(zip(triples, times.tolist(), strict=True))


def _joint(coded: Sequence[_Coded], shape: tuple[int, ...]) -> NDArray[np.int32 | np.int64]:
    """For each row the number of its outcome among all that these labels can make."""
    weights = (shape[1] * shape[2], shape[2], 1)
    # The codes stay as they are stored: one product widens them, as far as their sum needs, one sum takes their
    # origins off.
    largest = sum(w * (abs(each.first) + n) for w, each, n in zip(weights, coded, shape, strict=True))
    wide = np.int32 if largest < 2**31 else np.int64
    joint: NDArray[Any] = np.multiply(coded[0].codes, weights[0], dtype=wide, casting="unsafe")
    for weight, each in zip(weights[1:], coded[1:], strict=True):
        joint += np.multiply(each.codes, weight, dtype=wide, casting="unsafe")
    origin = sum(weight * each.first for weight, each in zip(weights, coded, strict=True))
    if origin:
        joint -= origin
    return joint


def _codes(column: Any) -> _Coded:
    kind = column.type
    if pa.types.is_boolean(kind):
        return _Coded((False, True), column.cast(pa.int8()).to_numpy())
    if not pa.types.is_integer(kind):
        encoded = column if pa.types.is_dictionary(kind) else column.dictionary_encode()
        labels = tuple(encoded.dictionary.to_pylist())
        if len(set(labels)) < len(labels):
            return _codes(encoded.dictionary_decode())
        return _Coded(labels, encoded.indices.to_numpy())
    whole: NDArray[Any] = column.to_numpy()
    low, high = int(whole.min()), int(whole.max())
    if high - low < _SPAN and max(-low, high) < 2**31:
        return _Coded(range(low, high + 1), whole, low)
    values, codes = np.unique(whole, return_inverse=True)
    return _Coded(tuple(values.tolist()), codes)
