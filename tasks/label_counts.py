"""How often each joint outcome of two classifiers occurs, counted from columns of labels."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
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


def count_rows(
    where: str, columns: Sequence["pa.Array[Any]"], names: Sequence[str], classes: frozenset[Label] | None = None
) -> Counter[Outcome]:
    """The joint outcomes of some rows.

    Parameters
    ----------
    where : str
        What messages call these rows.
    columns : sequence of pyarrow.Array
        The true classes and those that A and B assigned: all whole numbers, booleans, strings or dictionaries of these.
    names : sequence of str
        The names of the three.
    classes : frozenset of label, optional
        All classes there are.

    Raises
    ------
    ValueError
        If a label is missing, or not one of `classes`.
    """
    coded = []
    for name, column in zip(names, columns, strict=True):
        if isinstance(column, pa.DictionaryArray) and column.dictionary.null_count:
            column = column.dictionary_decode()
        if column.null_count:
            raise ValueError(f"{where}: column {shown(name)}: a label is missing (null); expected one in every row")
        coded.append(_codes(column))
    (truth, y), (of_a, a), (of_b, b) = coded
    joint = (y * len(of_a) + a) * len(of_b) + b
    size = len(truth) * len(of_a) * len(of_b)
    if size <= _TABLE:
        times = np.bincount(joint, minlength=size)
        seen = np.flatnonzero(times)
        times = times[seen]
    else:
        seen, times = np.unique(joint, return_counts=True)
    sides = np.unravel_index(seen, (len(truth), len(of_a), len(of_b)))
    labels = ([values[i] for i in side] for values, side in zip((truth, of_a, of_b), sides, strict=True))
    found: Counter[Outcome] = Counter(dict(zip(zip(*labels, strict=True), times.tolist(), strict=True)))
    if classes is not None:
        _require_known(where, names, found, classes)
    return found


def _codes(column: Any) -> tuple[Sequence[Label], NDArray[np.int64]]:
    """The labels of a column, and for each row which one."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return (False, True), column.cast(pa.int8()).to_numpy().astype(np.int64)
    if not pa.types.is_integer(kind):
        encoded = column if pa.types.is_dictionary(kind) else column.dictionary_encode()
        return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)
    ends = cast(Any, pc.min_max(column))
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if high - low < _SPAN and high < 2**63:
        codes: NDArray[np.int64] = np.subtract(column.to_numpy(), low, dtype=np.int64, casting="unsafe")
        return range(low, high + 1), codes
    values, codes = np.unique(column.to_numpy(), return_inverse=True)
    return values.tolist(), codes


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
