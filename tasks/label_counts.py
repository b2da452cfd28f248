"""How often each joint outcome of two classifiers occurs, counted from columns of labels."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sigstats.checks import nearest, shown

from .trials import Population

Label: TypeAlias = bool | int | str
Outcome: TypeAlias = tuple[Label, Label, Label]

#: Whole numbers are codes as they are if they span no more than this.
_SPAN = 2**10
#: So many outcomes at most are counted in a table of all that there might be.
_TABLE = 2**19


@dataclass(frozen=True)
class LabelCounts:
    """How often each joint outcome occurs: the true class, that which A assigned, that which B assigned.

    Attributes
    ----------
    counts : mapping of (label, label, label) to int
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

    def population(self, positive: Label | None = None, *, swapped: bool = False) -> Population:
        """The population of these rows.

        Parameters
        ----------
        positive : label, optional
            The positive class; all others together are the negative one. Without it nothing but accuracy is kept, and
            all rows count as truly positive.
        swapped : bool
            As for `tasks.trials.Population`.

        Raises
        ------
        ValueError
            If no label is `positive`.
        """
        labels = {label for outcome in self.counts for label in outcome}
        if positive is not None and not any(_same(label, positive) for label in labels):
            near = nearest(positive, map(str, labels))
            hint = f" (did you mean {near!r}?)" if near else ""
            raise ValueError(f"positive: {shown(positive)} is not valid; expected a label that occurs{hint}")
        found = [0] * 8
        for (truth, a, b), count in self.counts.items():
            if positive is None:
                found[(a != truth) + 2 * (b != truth)] += count
            else:
                negative = [not _same(label, positive) for label in (truth, a, b)]
                found[4 * negative[0] + negative[1] + 2 * negative[2]] += count
        return Population(outcomes=tuple(found), swapped=swapped)


class Tally:
    """Counts rows, batch by batch: tables of counts are added up as they are, and become outcomes at the end.

    Parameters
    ----------
    where : str
        What messages call the rows.
    names : sequence of str
        The names of the columns of the true classes and of those that A and B assigned.
    """

    def __init__(self, where: str, names: Sequence[str]) -> None:
        self.where = where
        self.names = names
        self._tables: dict[tuple[Sequence[Label], ...], NDArray[np.int64]] = {}
        self._sparse: Counter[Outcome] = Counter()

    def add(self, columns: Sequence[Any]) -> None:
        """Count rows.

        Parameters
        ----------
        columns : sequence of pyarrow.Array
            All whole numbers, booleans, strings or dictionaries of these.

        Raises
        ------
        ValueError
            If a label is missing.
        """
        if not len(columns[0]):
            return
        labels, joint = self._joint(columns)
        size = math.prod(map(len, labels))
        if size > _TABLE:
            seen, times = np.unique(joint, return_counts=True)
            self._sparse.update(_outcomes(labels, seen, times))
        elif labels in self._tables:
            self._tables[labels] += np.bincount(joint, minlength=size)
        else:
            self._tables[labels] = np.bincount(joint, minlength=size)

    def outcomes(self, classes: frozenset[Label] | None = None) -> Counter[Outcome]:
        """The joint outcomes of all rows; ValueError if one of them is not of `classes`."""
        found = Counter(self._sparse)
        for labels, table in self._tables.items():
            seen = np.flatnonzero(table)
            found.update(_outcomes(labels, seen, table[seen]))
        if classes is not None:
            _require_known(self.where, self.names, found, classes)
        return found

    def _joint(self, columns: Sequence[Any]) -> tuple[tuple[Sequence[Label], ...], NDArray[np.int32 | np.int64]]:
        """The labels of each column, and for each row the number of its outcome."""
        coded = []
        for name, column in zip(self.names, columns, strict=True):
            if isinstance(column, pa.DictionaryArray) and column.dictionary.null_count:
                column = column.dictionary_decode()
            if column.null_count:
                wanted = "a label is missing (null); expected one in every row"
                raise ValueError(f"{self.where}: column {shown(name)}: {wanted}")
            coded.append(_codes(column))
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


def _outcomes(labels: Sequence[Sequence[Label]], seen: NDArray[Any], times: NDArray[Any]) -> dict[Any, int]:
    sides = np.unravel_index(seen, [len(each) for each in labels])
    triples = zip(*([each[i] for i in side] for each, side in zip(labels, sides, strict=True)), strict=True)
    return dict(zip(triples, times.tolist(), strict=True))


def _codes(column: Any) -> tuple[Sequence[Label], NDArray[Any], int]:
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
        for name, label in zip(names, outcome, strict=True):
            if label not in classes:
                near = nearest(label, map(str, classes))
                hint = f" (did you mean {near!r}?)" if near else ""
                wanted = ", ".join(sorted(map(str, classes))[:8])
                raise ValueError(
                    f"{where}: column {shown(name)}: {shown(label)} is not valid; expected one of {wanted}{hint}"
                )


def _same(label: Label, positive: Label) -> bool:
    return type(label) is type(positive) and label == positive
