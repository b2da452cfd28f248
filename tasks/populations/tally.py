"""Counts of the joint outcomes of three columns of labels, batch by batch."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats._common.compiled_or import compiled_or
from sigstats._common.validation import did_you_mean, one_line, shown

from ..input_files.limit import Budget
from .counts import Label, Labels, Outcome, each_label
from .label_codes import encode, joint_codes, outcomes

#: The largest table of all outcomes that the labels can make.
_TABLE = 2**19
#: What a joint outcome takes in memory, in bytes.
_OUTCOME = 600
#: The position of a number that is none of the labels.
_NOWHERE = -(2**40)


class Tally:
    """Counts the rows of a file, part by part, in a table of all outcomes that the known labels can make.

    `names`: the names of the columns of the true classes and of those that A and B assigned.
    `classes`: all labels there may be.
    `many`: whether there are tens of millions of rows. Then compiled code pays, which takes a second to load.
    `budget`: what the outcomes may take in memory.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        classes: frozenset[Label] | None = None,
        many: bool = False,
        budget: Budget | None = None,
    ) -> None:
        self._budget = budget
        self.names = names
        self.classes = classes
        #: The name of the part in messages.
        self.where = ""
        self._kernel = _kernel() if many else None
        self._lookup: _Lookup | None = None
        self._counts: Counter[Outcome] = Counter()
        self._axes = [_Axis() for _ in names]
        self._table: NDArray[np.int64] = np.zeros((0, 0, 0), dtype=np.int64)

    def begin(self, where: str) -> None:
        """Begin another part."""
        self.where = where

    def add(self, columns: Sequence[Any]) -> None:
        """Count rows.

        `columns`: all whole numbers, booleans, strings, dictionaries of these, or lists of whole numbers or strings.
        Raises ValueError if a label is missing or none of `classes`, or one of a list is empty or holds the character
        31 (unit separator).
        """
        counted = self._count_with_kernel(columns)
        if counted == len(columns[0]):
            return
        columns = [column.slice(counted) for column in columns]
        coded = [
            encode(f"{self.where}: column {shown(name)}", column)
            for name, column in zip(self.names, columns, strict=True)
        ]
        labels = [each.labels for each in coded]
        shape = tuple(map(len, labels))
        if math.prod(shape) > _TABLE:
            seen, times = np.unique(joint_codes(coded, shape), return_counts=True)
            self._add(outcomes(labels, seen, times))
            return
        places = self._places(labels)
        if all((np.diff(own) == 1).all() for own in places):
            table = self._table[tuple(slice(own[0], own[-1] + 1) for own in places)]
        else:  # the labels are not contiguous in the table, so each row gets its position in the whole table
            table = self._table
            coded = [
                replace(each, codes=own[each.codes.astype(np.int64) - each.first], first=0)
                for each, own in zip(coded, places, strict=True)
            ]
        joint = joint_codes(coded, table.shape)
        table += np.bincount(joint, minlength=table.size).reshape(table.shape)
        if self._kernel is not None:
            self._lookup = self._make_lookup(columns, places)

    def end(self) -> None:
        """End a part: refuse labels that are none of `classes`."""
        if self.classes is not None:
            for axis, name in enumerate(self.names):
                others = tuple(other for other in range(len(self.names)) if other != axis)
                labels = self._axes[axis].labels
                self._require_known(name, (labels[at] for at in np.flatnonzero(self._table.any(axis=others))))

    def counts(self) -> Counter[Outcome]:
        """How often each joint outcome occurs in all parts that have ended."""
        found = self._table_counts()
        return Counter(found) if not self._counts else self._counts + Counter(found)

    def _table_counts(self) -> dict[Outcome, int]:
        seen = np.flatnonzero(self._table)
        return outcomes([axis.labels for axis in self._axes], seen, self._table.ravel()[seen])

    def _add(self, found: dict[Outcome, int]) -> None:
        for axis, name in enumerate(self.names):
            self._require_known(name, (outcome[axis] for outcome in found))
        self._counts.update(found)
        if self._budget is not None:
            self._budget.require(_OUTCOME * len(self._counts))

    def _places(self, labels: Sequence[Sequence[Labels]]) -> list[NDArray[np.int64]]:
        """The positions of these labels in the table, which is enlarged for new ones."""
        if math.prod(axis.with_(own) for axis, own in zip(self._axes, labels, strict=True)) > _TABLE:
            self._add(self._table_counts())
            self._axes = [_Axis() for _ in self.names]
            self._table = np.zeros((0, 0, 0), dtype=np.int64)
        places = [axis.places(own) for axis, own in zip(self._axes, labels, strict=True)]
        shape = tuple(len(axis.labels) for axis in self._axes)
        if shape != self._table.shape:
            before, self._table = self._table, np.zeros(shape, dtype=np.int64)
            self._table[tuple(map(slice, before.shape))] = before
        return places

    def _count_with_kernel(self, columns: Sequence[Any]) -> int:
        """Count the first rows, up to one with a new label; return how many these are."""
        known = self._lookup
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

    def _make_lookup(self, columns: Sequence[Any], places: Sequence[NDArray[np.int64]]) -> "_Lookup | None":
        """The positions in the table of codes like these; None if the codes are not whole numbers of one type."""
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
        return _Lookup(kind, tuple(dictionaries), tuple(first), tuple(found))

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


class _Axis:
    """The labels of a column, in the order of their positions in the table."""

    def __init__(self) -> None:
        self.labels: list[Labels] = []
        self._place: dict[Labels, int] = {}

    def with_(self, labels: Iterable[Labels]) -> int:
        """The number of labels together with these."""
        return len(self.labels) + sum(label not in self._place for label in labels)

    def places(self, labels: Iterable[Labels]) -> NDArray[np.int64]:
        """The position of each of these; new labels are added."""
        found = []
        for label in labels:
            found.append(self._place.setdefault(label, len(self.labels)))
            if found[-1] == len(self.labels):
                self.labels.append(label)
        return np.array(found, dtype=np.int64)

    def spread(self) -> tuple[int, NDArray[np.int64]] | None:
        """The smallest of whole numbers, and the position of each number from there on, -1 for one that is no label.

        None if they are far apart, or not whole numbers.
        """
        numbers = [label for label in self.labels if isinstance(label, int) and not isinstance(label, bool)]
        if len(numbers) < len(self.labels) or max(numbers) - min(numbers) >= _TABLE:
            return None
        low = min(numbers)
        places = np.full(max(numbers) - low + 1, -1, dtype=np.int64)
        places[np.array(numbers) - low] = np.arange(len(numbers))
        return low, places


@dataclass(frozen=True)
class _Lookup:
    """The positions in the table of the codes of three columns of one type.

    Of each column its dictionary, if it has one, its first code, and the position of each code from there on,
    `_NOWHERE` for one that is no label.
    """

    kind: pa.DataType
    dictionaries: tuple[Any, ...]
    first: tuple[int, ...]
    places: tuple[NDArray[np.int64], ...]


@compiled_or(None)
def _kernel() -> Any:
    """The compiled function that counts rows in one pass; None without Numba."""
    from .tally_numba import count_rows

    return count_rows
