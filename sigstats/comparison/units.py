"""The rows of a data set: their dependence, weights, slices and tasks."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._common.calls import check_together
from .._common.class_names import MISSING as MISSING
from .._common.class_spelling import DistinctNames, is_finite_number, refuse_thousands
from .._common.messages import Note, shown
from .._common.scores import code_of_missing
from .._common.time_order import as_times
from .._common.validation import FloatArray, IntArray, as_reals, refuse

#: The name of the slice of all rows.
ALL_ROWS = "all rows"
#: The values of a column, and the position of each row's value.
Parted = tuple[tuple[str, ...], IntArray]
#: The largest ratio of the weights of two rows.
_WIDEST = 1e50
#: A column of numbers with at most this many values has one slice per value.
_FEW = 8


@dataclass(frozen=True, kw_only=True)
class Units:
    """Facts about rows that do not depend on the models: arrays of shape (n,), or None."""

    n: int
    #: The group of each row; the rows of a group depend on each other.
    group: IntArray | None = None
    #: The names of groups, if known.
    group_names: tuple[str, ...] = ()
    #: True if the groups are times, numbered in their order, so that rows near each other are dependent.
    in_time: bool = False
    #: The item that each row answers, if items have several answers.
    items: IntArray | None = None
    #: True for rows of the candidate and False for rows of the baseline, if the models answered different rows.
    candidates: NDArray[np.bool_] | None = None
    #: The number of population rows that each row represents, if it varies.
    weights: FloatArray | None = None
    #: The numbers of runs of both models, if recipes were run several times.
    runs: tuple[int, int] | None = None
    #: The task of each row, and the names of tasks.
    tasks: IntArray | None = None
    task_names: tuple[str, ...] = ()
    #: The sorted values of each column, and the value of each row.
    slices: Mapping[str, Parted] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.notes_on_names()  # refuses names that look alike
        given = {name: getattr(self, name) for name in ("runs", "tasks", "weights")}
        check_together({**given, "order": self.in_time, "several answers to an item": self.items})

    @classmethod
    def of(cls, n: int, group: IntArray | None, order: Parted | None, **others: Any) -> Self:
        """Return the units of rows in groups, or in the order of times; raise ValueError for both."""
        if order is None:
            return cls(n=n, group=group, **others)
        check_together({"order": True, "groups": group, "several answers to an item": others.get("items")})
        times = np.unique(as_times(order[0]), return_inverse=True)[1][order[1]]
        return cls(n=n, group=times, in_time=True, **others)

    def notes_on_names(self) -> list[Note]:
        """Notes on names of slices, tasks and groups, and on a large group; raise ValueError if names look alike."""
        parts = [(column, names, "slice") for column, (names, _) in self.slices.items()]
        parts += [("task", self.task_names, "task"), ("groups", self.group_names, "group")]
        notes = [note for column, names, what in parts for note in DistinctNames(names, self.n, column, what).notes]
        sizes = np.zeros(0) if self.group is None else np.bincount(self.group)
        if 2 < len(sizes) == len(self.group_names):
            largest, (next_, rows) = sorted(self.group_names)[int(sizes.argmax())], np.sort(sizes)[-2:].tolist()
            if rows >= max(5 * next_, self.n / 10):
                text = f"{shown(largest)} has {rows:,} of {self.n:,} rows, and no other group more than {next_:,}"
                notes.append(Note("large-group", f"groups: {text}; if it stands for unknown groups, leave it out"))
        return notes

    @property
    def single(self) -> bool:
        """True if rows are independent of each other and have equal weights."""
        return self.group is None and self.runs is None and self.weights is None

    @property
    def stated(self) -> bool:
        """True if the independent units are stated."""
        return self.group is not None or self.items is not None or self.runs is not None

    @property
    def what(self) -> str:
        """The plural name of the independent units."""
        return ("weighted " if self.weights is not None else "") + ("rows" if self.group is None else "groups")

    @property
    def crossed(self) -> bool:
        """True if a group has rows of several tasks."""
        if self.group is None or self.tasks is None:
            return False
        return len(np.unique(np.column_stack([self.group, self.tasks]), axis=0)) > len(np.unique(self.group))

    def count(self, mask: NDArray[np.bool_] | None = None) -> int:
        """Return the number of independent units, rows or groups, with rows in the mask (by default all)."""
        if self.group is None:
            return self.n if mask is None else int(np.count_nonzero(mask))
        return len(np.unique(self.group if mask is None else self.group[mask]))

    def n_items(self, rows: Any = slice(None)) -> int | None:
        """Return the number of items that these rows (by default all) answer, if items have several answers."""
        return None if self.items is None else len(np.unique(self.items[rows]))

    def take(self, rows: IntArray) -> Self:
        """Return some of the rows, without their slices."""
        columns = {name: getattr(self, name) for name in ("group", "items", "candidates", "weights", "tasks")}
        some: Any = {name: column[rows] for name, column in columns.items() if column is not None}
        return replace(self, n=len(rows), slices={}, group_names=(), **some)

    def first_of_items(self) -> IntArray:
        """Return the first row of each item, in the order of items."""
        assert self.items is not None
        return np.unique(self.items, return_index=True)[1]

    def group_of_items(self) -> IntArray | None:
        """Return the group of each item, in their order; None if each item is a group by itself."""
        if self.items is None or self.group is None:
            return None
        group = self.group[self.first_of_items()]
        return None if len(np.unique(group)) == len(group) else group

    @cached_property
    def parts(self) -> list[tuple[str, IntArray]]:
        """The name of each slice and its rows: first all rows, then each value of each column."""
        parts = [(ALL_ROWS, np.arange(self.n))]
        for column, (names, codes) in self.slices.items():
            # With 16 bits NumPy uses a radix sort, which takes a tenth of the time.
            order = np.argsort(codes.astype(np.uint16) if len(names) <= 2**16 else codes, kind="stable")
            rows = np.split(order, np.cumsum(np.bincount(codes, minlength=len(names)))[:-1])
            parts += [(f"{column} = {name}", rows_of_slice) for name, rows_of_slice in zip(names, rows, strict=True)]
        return parts

    @cached_property
    def items_of_parts(self) -> list[int | None]:
        """The number of items that each of the `parts` answers, as `n_items` counts them."""
        return [self.n_items(rows) for _, rows in self.parts]


def as_weights(given: Any, rows: int) -> FloatArray:
    """Return weights of rows, or raise ValueError if one is not positive."""
    weights = as_reals(given, "weights", ndim=1)
    if len(weights) != rows:
        raise refuse("weights", len(weights), f"{rows}, one for each row", quantity="length")
    least, most = float(weights.min()), float(weights.max())
    if least <= 0:
        raise refuse("weights", least, "how many rows of the population each row stands for, above 0")
    if most / _WIDEST > least:
        raise refuse("weights", least, f"weights that differ by a factor below {_WIDEST:g}, such as {most:g}")
    return np.asarray(np.ldexp(weights, -math.frexp(most)[1]))  # of no unit; a power of two rounds nothing


def in_bins(slices: Mapping[str, Parted], bins: Mapping[str, int]) -> dict[str, Parted]:
    """Return the slices, with the columns in `bins` replaced by this many bins of about equally many rows.

    A bin is named by its smallest and its largest value. Equal values are in one bin, so there may be fewer bins; rows
    without a value are a slice of their own. Commas are decimal commas. ValueError if a value is not a number.
    """
    return {name: _binned(name, *parted, bins[name]) if name in bins else parted for name, parted in slices.items()}


def _binned(column: str, names: tuple[str, ...], codes: IntArray, n_bins: int) -> Parted:
    numbers = {code: name.replace(",", ".") for code, name in enumerate(names) if name != MISSING}
    if wrong := next((names[code] for code, number in numbers.items() if not is_finite_number(number)), None):
        raise ValueError(f"column {shown(column)} has the value {shown(wrong)}; expected only numbers for bins")
    refuse_thousands(f"column {shown(column)}", [*numbers.values()])
    order = sorted(numbers, key=lambda code: float(numbers[code]))
    rows = np.bincount(codes, minlength=len(names))[order]
    values = np.repeat([float(numbers[code]) for code in order], rows)
    complaint, is_sure = code_of_missing([values], [f"column {shown(column)}"], None, "value")
    if is_sure:
        raise ValueError(f"slices: {complaint}")
    middle = np.cumsum(rows) - rows / 2
    bin_of = np.full(len(names), -1)
    used, bin_of[order] = np.unique((n_bins * middle / max(1, rows.sum())).astype(np.int64), return_inverse=True)
    bin_names = []
    for number in range(len(used)):
        inside = [names[code] for code in order if bin_of[code] == number]
        bin_names.append(inside[0] if len(inside) == 1 else f"{inside[0]} to {inside[-1]}")
    if len(order) < len(names):
        bin_of[bin_of < 0] = len(used)
        bin_names.append(MISSING)
    return tuple(bin_names), bin_of[codes]


def too_fine(slices: Mapping[str, Parted], smallest: int) -> Iterator[Note]:
    """Yield a note for each numeric column in which most values have fewer than the `smallest` number of rows."""
    for column, (names, codes) in slices.items():
        if len(names) <= _FEW or not all(is_finite_number(name) for name in names if name != MISSING):
            continue
        small = int((np.bincount(codes, minlength=len(names)) < smallest).sum())
        if 2 * small > len(names):
            yield Note(
                "too-fine-slices",
                f"{small:,} of the {len(names):,} values of {column} have fewer than {smallest} rows; cut "
                f"numbers into bins (--slice {column}=4, or pandas.qcut)",
            )
