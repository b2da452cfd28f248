"""Counts of the joint outcomes of two classifiers, batch by batch, and the populations of these rows."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.class_spelling import DistinctNames
from sigstats._common.validation import did_you_mean, one_line, refuse, shown
from sigstats.files.inputs.opening import Budget
from sigstats.joint.events import JointEvents
from sigstats.measures.measure import Kind

from ..population import EventPopulation, Population

Label: TypeAlias = bool | int | str
#: The entry of a row in a column: a label, or in a column of lists the labels of the row, sorted.
Labels: TypeAlias = Label | tuple[Label, ...]
Outcome: TypeAlias = tuple[Labels, Labels, Labels]


@dataclass(frozen=True)
class LabelCounts:
    """The counts of each joint outcome: the true class, the one that A assigned, the one that B assigned."""

    #: Tuples of labels in place of labels, where a row may have any number of them.
    counts: Mapping[Outcome, int]

    @classmethod
    def total(cls, parts: Iterable["LabelCounts"]) -> "LabelCounts":
        """Add the counts of all parts."""
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
        """True if a row may have any number of labels."""
        return any(isinstance(side, tuple) for outcome in self.counts for side in outcome)

    @property
    def labels(self) -> list[Label]:
        """All labels that occur, sorted."""
        labels = {label for outcome in self.counts for side in outcome for label in each_label(side)}
        return sorted(labels, key=lambda label: (isinstance(label, str), label))

    def checked(self, where: str, columns: Sequence[str]) -> Self:
        """The counts; ValueError if predictions are not classes of the labels, or not spelled as they are."""
        labels, *sides = (sorted({str(x) for row in self.counts for x in each_label(row[side])}) for side in range(3))
        for name, classes in zip(columns[1:], sides, strict=True):
            DistinctNames(labels, self.rows).check(f"column {shown(name)} of {where}", classes)
        return self

    def events(self, name: str) -> EventPopulation:
        """The population of these rows, for measures that are averaged over labels."""
        labels = self.labels
        position = {label: index for index, label in enumerate(labels)}

        def places(side: Labels) -> tuple[int, ...]:
            return tuple(sorted(position[label] for label in each_label(side)))

        events = tuple((places(truth), places(a), places(b)) for truth, a, b in self.counts)
        names = tuple(int(label) if isinstance(label, bool) else label for label in labels)
        kind: Kind = "categories" if self.listed else "classes"
        return EventPopulation(name, JointEvents(names, kind, events, tuple(self.counts.values())))

    def population(self, positive: Label | None = None) -> Population:
        """The population of these rows.

        `positive`: the positive class; all others together are the negative one.
        Without it the population is only valid for accuracy, and all rows count as truly positive.
        """
        if positive is not None and not any(_has(label, positive) for label in self.labels):
            alike = [label for label in self.labels if str(label) == str(positive)]
            hint = f"; the files have {alike[0]!r}" if alike else did_you_mean(positive, map(str, self.labels))
            raise refuse("positive", positive, f"a label that occurs{hint}")
        return Population(outcomes=tuple(self.outcomes(positive)))

    def outcomes(self, positive: Label | None = None) -> list[int]:
        """The number of rows with each of the eight joint outcomes, as for `population`; `positive` need not occur."""
        items = [0] * 8
        for (truth, a, b), count in self.counts.items():
            if positive is None:
                items[(a != truth) + 2 * (b != truth)] += count
            else:
                negative = [not _has(labels, positive) for labels in (truth, a, b)]
                items[4 * negative[0] + negative[1] + 2 * negative[2]] += count
        return items


def each_label(side: Labels) -> tuple[Label, ...]:
    """The labels that a row has of a column."""
    return side if isinstance(side, tuple) else (side,)


def _has(side: Labels, positive: Label) -> bool:
    return any(type(label) is type(positive) and label == positive for label in each_label(side))


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
    """True if a column of this type has any number of labels per row."""
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
        # A label appears twice; its rows are not decoded, which may take gigabytes.
        places: dict[Label, int] = {}
        merged = np.array([places.setdefault(label, len(places)) for label in labels], dtype=np.int64)
        return Codes(tuple(places), merged[codes])
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
    largest = sum(w * (abs(codes.first) + n) for w, codes, n in zip(weights, sides, shape, strict=True))
    wide = np.int32 if largest < 2**31 else np.int64
    joint: NDArray[Any] = np.multiply(sides[0].codes, weights[0], dtype=wide, casting="unsafe")
    for weight, side in zip(weights[1:], sides[1:], strict=True):
        joint += np.multiply(side.codes, weight, dtype=wide, casting="unsafe")
    origin = sum(weight * codes.first for weight, codes in zip(weights, sides, strict=True))
    if origin:
        joint -= origin
    return joint


def outcomes(labels: Sequence[Sequence[Labels]], codes: NDArray[Any], times: NDArray[Any]) -> dict[Outcome, int]:
    """The count of each joint outcome, from the codes of those that occur."""
    sides = np.unravel_index(codes, [len(label) for label in labels])
    triples: Any = zip(*([label[i] for i in side] for label, side in zip(labels, sides, strict=True)), strict=True)
    return dict(zip(triples, times.tolist(), strict=True))


#: The largest table of all outcomes that the labels can make.
_TABLE = 2**19
#: Memory of a joint outcome, in bytes.
_OUTCOME = 600


class Tally:
    """Counts the rows of a file, part by part, in a table of all possible outcomes of the labels in a batch."""

    def __init__(
        self, names: Sequence[str], *, classes: Iterable[Label] | None = None, budget: Budget | None = None
    ) -> None:
        self._budget = budget
        self.names = names
        self.classes = None if classes is None else frozenset(classes)
        #: The name of the part in messages.
        self.where = ""
        #: The count of each joint outcome in all parts that have ended.
        self.counts: Counter[Outcome] = Counter()
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
        labels = [codes.labels for codes in coded]
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
        """End a part: refuse labels that are not in `classes`."""
        seen = np.flatnonzero(self._table)
        if len(seen):
            self._add(outcomes(self._labels, seen, self._table[seen]))
            self._table[:] = 0

    def _add(self, entries: dict[Outcome, int]) -> None:
        if (classes := self.classes) is not None:
            for axis, name in enumerate(self.names):
                for label in (label for outcome in entries for label in each_label(outcome[axis])):
                    if label not in classes:
                        known = list(map(str, classes))
                        wanted = one_line(", ".join(sorted(known)[:8])) + did_you_mean(label, known)
                        raise refuse(f"{self.where}: column {shown(name)}", label, f"one of {wanted}")
        self.counts.update(entries)
        if self._budget is not None:
            self._budget.require(_OUTCOME * len(self.counts))
