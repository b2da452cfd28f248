"""Counts of the joint outcomes of two classifiers in batches of rows, and the populations that they form."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.class_spelling import DistinctNames
from sigstats._common.validation import did_you_mean, one_line, refuse, shown
from sigstats.files.inputs.limit import Budget
from sigstats.joint.events import JointEvents
from sigstats.measures.measure import Kind

from ..population import EventPopulation, Population

Label: TypeAlias = bool | int | str
#: The entry of a row in a column: a label, or the sorted labels of the row in a column of lists.
Labels: TypeAlias = Label | tuple[Label, ...]
Outcome: TypeAlias = tuple[Labels, Labels, Labels]


@dataclass(frozen=True)
class LabelCounts:
    """The counts of the joint outcomes. An outcome is the true class, the class by A, and the class by B."""

    #: If a row may have any number of labels, an outcome consists of tuples of labels.
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
        """Return these counts; raise ValueError if predictions are not among the labels or are spelled differently."""
        labels, *sides = (sorted({str(x) for row in self.counts for x in each_label(row[side])}) for side in range(3))
        for name, classes in zip(columns[1:], sides, strict=True):
            DistinctNames(labels, self.rows).check(f"column {shown(name)} of {where}", classes)
        return self

    def events(self, name: str) -> EventPopulation:
        """Return the population of these rows for measures that are averaged over labels."""
        labels = self.labels
        position = {label: index for index, label in enumerate(labels)}

        def places(side: Labels) -> tuple[int, ...]:
            return tuple(sorted(position[label] for label in each_label(side)))

        events = tuple((places(truth), places(a), places(b)) for truth, a, b in self.counts)
        names = tuple(int(label) if isinstance(label, bool) else label for label in labels)
        kind: Kind = "categories" if self.listed else "classes"
        return EventPopulation(name, JointEvents(names, kind, events, tuple(self.counts.values())))

    def population(self, positive: Label | None = None) -> Population:
        """Return the population of these rows.

        `positive`: the positive class; all other labels form the negative class. If it is None, all rows count as truly
        positive, and the population is only valid for accuracy.
        """
        if positive is not None and not any(_has(label, positive) for label in self.labels):
            alike = [label for label in self.labels if str(label) == str(positive)]
            hint = f" (the files have {alike[0]!r})" if alike else did_you_mean(positive, map(str, self.labels))
            raise ValueError(f"positive: no row has the label {shown(positive)}; name a label that occurs{hint}")
        return Population(outcomes=tuple(self.outcomes(positive)))

    def outcomes(self, positive: Label | None = None) -> list[int]:
        """Return the counts of the eight joint outcomes of `population`. The label `positive` need not occur."""
        items = [0] * 8
        for (truth, a, b), count in self.counts.items():
            if positive is None:
                items[(a != truth) + 2 * (b != truth)] += count
            else:
                negative = [not _has(labels, positive) for labels in (truth, a, b)]
                items[4 * negative[0] + negative[1] + 2 * negative[2]] += count
        return items


def each_label(side: Labels) -> tuple[Label, ...]:
    """Return the labels in the entry of a row."""
    return side if isinstance(side, tuple) else (side,)


def _has(side: Labels, positive: Label) -> bool:
    return any(type(label) is type(positive) and label == positive for label in each_label(side))


#: Memory of a joint outcome, in bytes.
OUTCOME_BYTES = 600
#: The names of the columns by which rows are grouped.
_SIDES = ["label", "a", "b"]
#: Separator between the labels of one row. It may not occur in a label.
_SEPARATOR = "\x1f"


def is_list(kind: pa.DataType) -> bool:
    """Return True if a column of this type has any number of labels per row."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def count_outcomes(
    where: str,
    names: Sequence[str],
    columns: Sequence[Any],
    budget: Budget,
    classes: Collection[Label] | None = None,
) -> dict[Outcome, int]:
    """Count the rows with each joint outcome; raise ValueError if a label is missing or is not one of the `classes`.

    `columns` all contain whole numbers, booleans, strings, dictionaries of these, or lists of whole numbers or strings.
    """
    places = [f"{where}: column {shown(name)}" for name in names]
    keys, labels = zip(*map(_keys, places, columns), strict=True)
    rows: Any = pa.Table.from_arrays(keys, names=_SIDES)
    groups = rows.group_by(_SIDES, use_threads=False).aggregate([([], "count_all")])
    budget.require(OUTCOME_BYTES * groups.num_rows)
    sides = []
    for place, side, labels_of_codes in zip(places, _SIDES, labels, strict=True):
        values = groups.column(side).to_pylist()
        sides.append(values if labels_of_codes is None else [labels_of_codes[code] for code in values])
        if classes is not None:
            _check_classes(place, sides[-1], classes)
    outcomes: Any = zip(*sides, strict=True)
    return dict(zip(outcomes, groups.column("count_all").to_pylist(), strict=True))


def _keys(where: str, column: Any) -> tuple[Any, list[Labels] | None]:
    """Return the values by which rows are grouped and, if the values are codes, the label of each code."""
    if isinstance(column, pa.DictionaryArray) and column.dictionary.null_count:
        column = column.dictionary_decode()
    if column.null_count:
        raise ValueError(f"{where}: a label is missing (null); give every row a label")
    if is_list(column.type):
        return _codes_of_lists(where, column)
    if not pa.types.is_dictionary(column.type):
        return column, None
    return _codes(column, column.dictionary.to_pylist())


def _codes(column: Any, labels: list[Any]) -> tuple[Any, list[Labels]]:
    """Return codes and their labels, with a single code for a label that occurs several times in `labels`."""
    places = {label: place for place, label in enumerate(labels)}
    if len(places) == len(labels):
        return column.indices, labels
    return pa.array([places[label] for label in labels], pa.int64()).take(column.indices), labels


def _codes_of_lists(where: str, column: Any) -> tuple[Any, list[Labels]]:
    if column.flatten().null_count:
        raise ValueError(f"{where}: a label in a list is missing (null); remove it from the list")
    texts: Any = column.cast(pa.list_(pa.string()))
    for text in pc.unique(texts.flatten()).to_pylist():
        if not text or _SEPARATOR in text:
            raise ValueError(f"{where}: the label {shown(text)} is empty or contains a control code; rename it")
    whole = pa.types.is_integer(column.type.value_type)
    joined: Any = pc.binary_join(texts, _SEPARATOR)
    joined = joined.dictionary_encode()
    # No label is empty, so an empty string is an empty list.
    lists = [text.split(_SEPARATOR) if text else [] for text in joined.dictionary.to_pylist()]
    labels = [tuple(sorted(set(map(int, parts) if whole else parts))) for parts in lists]
    return _codes(joined, labels)


def _check_classes(where: str, entries: Iterable[Labels], classes: Collection[Label]) -> None:
    for label in (label for entry in entries for label in each_label(entry)):
        if label not in classes:
            known = list(map(str, classes))
            wanted = one_line(", ".join(sorted(known)[:8])) + did_you_mean(label, known)
            raise refuse(where, label, f"one of {wanted}")
