"""How often each joint outcome of two classifiers occurs, counted from columns of labels."""

import functools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats.checks import nearest, one_line, shown
from sigstats.events import JointEvents
from sigstats.measure_registry import Kind

from .populations import EventPopulation, Population

Label: TypeAlias = bool | int | str
#: What a row has of a column: a label, or in a column of lists the labels of the row, sorted.
Labels: TypeAlias = Label | tuple[Label, ...]
Outcome: TypeAlias = tuple[Labels, Labels, Labels]

#: Whole numbers are codes as they are if they span no more than this.
_SPAN = 2**10
#: Stands between the labels of one row, and can be no part of a label.
_BETWEEN = "\x1f"
#: So many outcomes at most are counted in a table of all that there might be.
_TABLE = 2**19


@dataclass(frozen=True)
class LabelCounts:
    """How often each joint outcome occurs: the true class, that which A assigned, that which B assigned.

    Attributes
    ----------
    counts : mapping of (label, label, label) to int
        Tuples of labels in place of labels, where a row may have any number of them.
    """

    counts: Mapping[Outcome, int]

    @classmethod
    def total(cls, parts: Iterable["LabelCounts"]) -> "LabelCounts":
        """The counts of all parts together."""
        counts: Counter[Outcome] = Counter()
        for part in parts:
            counts.update(part.counts)
        return cls(counts)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(self.counts.values())

    @property
    def listed(self) -> bool:
        """Whether a row may have any number of labels."""
        return any(isinstance(side, tuple) for outcome in self.counts for side in outcome)

    @property
    def labels(self) -> list[Label]:
        """All labels that occur, sorted."""
        found = {label for outcome in self.counts for side in outcome for label in _each(side)}
        return sorted(found, key=lambda label: (isinstance(label, str), label))

    def events(self, name: str) -> EventPopulation:
        """The population of these rows, with all that averaged measures need."""
        labels = self.labels
        position = {label: index for index, label in enumerate(labels)}

        def places(side: Labels) -> tuple[int, ...]:
            return tuple(sorted(position[label] for label in _each(side)))

        events = tuple((places(truth), places(a), places(b)) for truth, a, b in self.counts)
        names = tuple(int(label) if isinstance(label, bool) else label for label in labels)
        kind: Kind = "categories" if self.listed else "classes"
        return EventPopulation(name, JointEvents(names, kind, events, tuple(self.counts.values())))

    def population(self, positive: Label | None = None, *, swapped: bool = False) -> Population:
        """The population of these rows.

        Parameters
        ----------
        positive : label, optional
            The positive class; all others together are the negative one. Without it nothing but accuracy is kept, and
            all rows count as truly positive.
        swapped : bool
            As for `tasks.populations.Population`.

        Raises
        ------
        ValueError
            If no label is `positive`.
        """
        if positive is not None and not any(_has(label, positive) for label in self.labels):
            near = nearest(positive, map(str, self.labels))
            hint = f" (did you mean {near!r}?)" if near else ""
            raise ValueError(f"positive: {shown(positive)} is not valid; expected a label that occurs{hint}")
        return Population(outcomes=tuple(self.outcomes(positive)), swapped=swapped)

    def outcomes(self, positive: Label | None = None) -> list[int]:
        """How many rows have each of the eight joint outcomes, as for `population`; `positive` need not occur."""
        found = [0] * 8
        for (truth, a, b), count in self.counts.items():
            if positive is None:
                found[(a != truth) + 2 * (b != truth)] += count
            else:
                negative = [not _has(labels, positive) for labels in (truth, a, b)]
                found[4 * negative[0] + negative[1] + 2 * negative[2]] += count
        return found


class Tally:
    """Counts rows, batch by batch: tables of counts are added up as they are, and become outcomes at the end.

    Parameters
    ----------
    where : str
        What messages call the rows.
    names : sequence of str
        The names of the columns of the true classes and of those that A and B assigned.
    many : bool
        Whether there are so many rows, tens of millions, that code compiled for them pays: it takes a second to load.
    before : Tally, optional
        Of rows that are likely to have the same labels.
    """

    def __init__(self, where: str, names: Sequence[str], *, many: bool = False, before: "Tally | None" = None) -> None:
        self.where = where
        self.names = names
        self._kernel = _kernel() if many else None
        self._tables: dict[tuple[Sequence[Labels], ...], NDArray[np.int64]] = {}
        #: The ranges of whole numbers that were met so far, where a table of them is not too large.
        self._ranges: tuple[range, ...] | None = None
        if before is not None and before._ranges is not None:
            self._widen(before._ranges)
        self._sparse: Counter[Outcome] = Counter()

    def add(self, columns: Sequence[Any]) -> None:
        """Count rows.

        Parameters
        ----------
        columns : sequence of pyarrow.Array
            All whole numbers, booleans, strings, dictionaries of these, or lists of whole numbers or strings.

        Raises
        ------
        ValueError
            If a label is missing, or one of a list is empty or holds the character 31 (unit separator).
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
            self._sparse.update(_outcomes(labels, seen, times))
        elif labels in self._tables:
            self._tables[labels] += np.bincount(joint, minlength=size)
        else:
            self._tables[labels] = np.bincount(joint, minlength=size)
        self._widen(labels)

    def _count_rows(self, columns: Sequence[Any]) -> int:
        """Count rows into a table that there is, up to one that has no place there, and return how many these are."""
        if self._ranges is None or self._kernel is None:
            return 0
        kind = columns[0].type
        if not pa.types.is_integer(kind) or kind == pa.uint64():
            return 0
        if any(column.type != kind or column.null_count for column in columns):
            return 0
        count: int = self._kernel(
            *(column.to_numpy() for column in columns),
            tuple(each.start for each in self._ranges),
            tuple(map(len, self._ranges)),
            self._tables[self._ranges],
        )
        return count

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
        if size <= _TABLE:
            self._ranges = ranges
            self._tables.setdefault(ranges, np.zeros(size, dtype=np.int64))

    def outcomes(self, classes: frozenset[Label] | None = None) -> Counter[Outcome]:
        """The joint outcomes of all rows; ValueError if one of them is not of `classes`."""
        found = Counter(self._sparse)
        for labels, table in self._tables.items():
            seen = np.flatnonzero(table)
            found.update(_outcomes(labels, seen, table[seen]))
        if classes is not None:
            _require_known(self.where, self.names, found, classes)
        return found

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


def _each(side: Labels) -> tuple[Label, ...]:
    return side if isinstance(side, tuple) else (side,)


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


def _require_known(where: str, names: Sequence[str], found: Counter[Outcome], classes: frozenset[Label]) -> None:
    for outcome in found:
        for name, label in ((name, label) for name, side in zip(names, outcome, strict=True) for label in _each(side)):
            if label not in classes:
                near = nearest(label, map(str, classes))
                hint = f" (did you mean {near!r}?)" if near else ""
                wanted = one_line(", ".join(sorted(map(str, classes))[:8]))
                raise ValueError(
                    f"{where}: column {shown(name)}: {shown(label)} is not valid; expected one of {wanted}{hint}"
                )


def _has(side: Labels, positive: Label) -> bool:
    return any(type(label) is type(positive) and label == positive for label in _each(side))
