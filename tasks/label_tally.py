"""Columns of labels reduced, batch by batch, to how often each joint outcome occurs."""

import functools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats.checks import nearest, one_line, shown

from .label_counts import Label, Labels, Outcome, each_label

#: Whole numbers are codes as they are if they span no more than this.
_SPAN = 2**10
#: Stands between the labels of one row, and can be no part of a label.
_BETWEEN = "\x1f"
#: So many outcomes at most are counted in a table of all that there might be.
_TABLE = 2**19


class Tally:
    """Counts the rows of a file, part by part: tables of counts are added up as they are, and become outcomes late.

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
        self._tables: dict[tuple[Sequence[Labels], ...], NDArray[np.int64]] = {}
        #: The ranges of whole numbers that were met so far, where a table of them is not too large, and how the
        #: compiled code is told of them.
        self._ranges: tuple[range, ...] | None = None
        self._place: tuple[tuple[int, ...], tuple[int, ...], NDArray[np.int64]] | None = None
        #: Which places of that table hold outcomes that are known to be of `classes`.
        self._checked: NDArray[np.bool_] | None = None
        self._counts: Counter[Outcome] = Counter()

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
        counted = self._count_rows(columns)
        if counted == len(columns[0]):
            return
        if counted:
            columns = [column.slice(counted) for column in columns]
        labels, joint = self._joint(columns)
        size = math.prod(map(len, labels))
        if size > _TABLE:
            seen, times = np.unique(joint, return_counts=True)
            self._take(labels, seen, times)
        elif labels in self._tables:
            self._tables[labels] += np.bincount(joint, minlength=size)
        else:
            self._tables[labels] = np.bincount(joint, minlength=size)
        self._widen(labels)

    def end(self) -> None:
        """A part is counted: its labels are held against `classes`, and only the table that others share is kept."""
        for labels in list(self._tables):
            if labels != self._ranges:
                table = self._tables.pop(labels)
                seen = np.flatnonzero(table)
                self._take(labels, seen, table[seen])
        if self.classes is not None and self._ranges is not None:
            there: NDArray[np.bool_] = self._tables[self._ranges] > 0
            fresh = np.flatnonzero(there if self._checked is None else there & ~self._checked)
            self._require_known(_outcomes(self._ranges, fresh, fresh))
            self._checked = there

    def counts(self) -> Counter[Outcome]:
        """How often each joint outcome occurs in all parts that have ended."""
        found = Counter(self._counts)
        for labels, table in self._tables.items():
            seen = np.flatnonzero(table)
            found.update(_outcomes(labels, seen, table[seen]))
        return found

    def _take(self, labels: Sequence[Sequence[Labels]], seen: NDArray[Any], times: NDArray[Any]) -> None:
        found = _outcomes(labels, seen, times)
        self._require_known(found)
        self._counts.update(found)

    def _count_rows(self, columns: Sequence[Any]) -> int:
        """Count rows into a table that there is, up to one that has no place there, and return how many these are."""
        if self._place is None or self._kernel is None:
            return 0
        kind = columns[0].type
        if not pa.types.is_integer(kind) or kind == pa.uint64():
            return 0
        if any(column.type != kind or column.null_count for column in columns):
            return 0
        return int(self._kernel(*(column.to_numpy() for column in columns), *self._place))

    def _widen(self, labels: tuple[Sequence[Labels], ...]) -> None:
        """Have a table for the labels that came now and those before."""
        met = [each for each in labels if isinstance(each, range)]
        if len(met) < len(labels) or self._kernel is None:
            return
        known = self._ranges or met
        ranges = tuple(
            range(min(one.start, other.start), max(one.stop, other.stop)) for one, other in zip(known, met, strict=True)
        )
        size = math.prod(map(len, ranges))
        if size <= _TABLE and ranges != self._ranges:
            table = self._tables.setdefault(ranges, np.zeros(size, dtype=np.int64))
            self._ranges, self._checked = ranges, None
            self._place = tuple(each.start for each in ranges), tuple(map(len, ranges)), table

    def _joint(self, columns: Sequence[Any]) -> tuple[tuple[Sequence[Labels], ...], NDArray[np.int32 | np.int64]]:
        """The labels of each column, and for each row the number of its outcome."""
        coded = []
        for name, column in zip(self.names, columns, strict=True):
            if isinstance(column, pa.DictionaryArray) and column.dictionary.null_count:
                column = column.dictionary_decode()
            if column.null_count:
                wanted = "a label is missing (null); expected one in every row"
                raise ValueError(f"{self.where}: column {shown(name)}: {wanted}")
            coded.append(self._codes_of_lists(name, column) if is_list(column.type) else _codes(column))
        labels = tuple(each for each, _, _ in coded)
        weights = (len(labels[1]) * len(labels[2]), len(labels[2]), 1)
        # The codes stay as they are stored: one product widens them, as far as their sum needs, one sum takes their
        # origins off.
        origins = [first for _, _, first in coded]
        largest = sum(w * (abs(first) + len(each)) for w, first, each in zip(weights, origins, labels, strict=True))
        wide = np.int32 if largest < 2**31 else np.int64
        joint = np.multiply(coded[0][1], weights[0], dtype=wide, casting="unsafe")
        for weight, (_, codes, _) in zip(weights[1:], coded[1:], strict=True):
            joint += np.multiply(codes, weight, dtype=wide, casting="unsafe")
        origin = sum(weight * first for weight, first in zip(weights, origins, strict=True))
        if origin:
            joint -= origin
        return labels, joint

    def _require_known(self, outcomes: Iterable[Outcome]) -> None:
        if self.classes is None:
            return
        for outcome in outcomes:
            for name, side in zip(self.names, outcome, strict=True):
                for label in each_label(side):
                    if label not in self.classes:
                        self._refuse(name, label, self.classes)

    def _refuse(self, name: str, label: Label, classes: frozenset[Label]) -> NoReturn:
        near = nearest(label, map(str, classes))
        hint = f" (did you mean {near!r}?)" if near else ""
        wanted = one_line(", ".join(sorted(map(str, classes))[:8]))
        raise ValueError(
            f"{self.where}: column {shown(name)}: {shown(label)} is not valid; expected one of {wanted}{hint}"
        )

    def _codes_of_lists(self, name: str, column: Any) -> tuple[Sequence[Labels], NDArray[Any], int]:
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
        return tuple(sets), np.array(codes, dtype=np.int64)[coded.indices.to_numpy()], 0


@functools.cache
def _kernel() -> Any:
    """What counts rows of whole numbers in one pass, where Numba is there; otherwise None."""
    try:  # it imports an extra
        from .label_kernel import count_rows
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


def _codes(column: Any) -> tuple[Sequence[Labels], NDArray[Any], int]:
    """The labels of a column, for each row the code of its label, and the code of the first label."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return (False, True), column.cast(pa.int8()).to_numpy(), 0
    if not pa.types.is_integer(kind):
        encoded = column if pa.types.is_dictionary(kind) else column.dictionary_encode()
        return tuple(encoded.dictionary.to_pylist()), encoded.indices.to_numpy(), 0
    whole: NDArray[Any] = column.to_numpy()
    low, high = int(whole.min()), int(whole.max())
    if high - low < _SPAN and max(-low, high) < 2**31:
        return range(low, high + 1), whole, low
    values, codes = np.unique(whole, return_inverse=True)
    return tuple(values.tolist()), codes, 0
