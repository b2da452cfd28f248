"""The rows of one slice, in the form that tests take, and slices of a number such as an age."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._common.validation import FloatArray, IntArray
from ..measures.table import MeasureSpec
from ..unseen_row.law import SharedDraws
from ..unseen_row.means import UnseenGroup, row_of_groups
from .paired_predictions import ItemTotals, PairedPredictions, PairedRows
from .row_test import RowTest

#: So many rows are counted at a time.
_PIECE = 2**15


@dataclass(frozen=True, kw_only=True)
class Part(PairedRows):
    """The rows of one slice, and the other data of measures."""

    #: The class whose probability the scores are, or that measures of one class are of; -1 if there is none.
    code: int
    #: The number that each class is, where all are numbers and a measure needs them.
    numbers: FloatArray | None = None
    #: What every mark lies between: as named, or as seen of all rows.
    bounds: tuple[float, float] | None = None
    #: Random weights that its slices share, where they are many.
    draws: SharedDraws | None = None

    @property
    def sign(self) -> int:
        """-1 if lower marks are better, so that higher values of the tested measure are better."""
        return -1 if self.lower else 1

    @cached_property
    def positive(self) -> NDArray[np.bool_]:
        """A mask of rows of the class that their score is of; bool array of shape (n,)."""
        return np.full(len(self.label), True) if self.of_truth else np.equal(self.label, self.code)

    def rows(self, where: IntArray) -> Self:
        """Some of the rows."""
        some: Any = {name: getattr(self, name)[where] for name in ("label", "a", "b")}
        pairs = {name: getattr(self, name) for name in ("scores", "per")}
        some |= {name: None if pair is None else (pair[0][where], pair[1][where]) for name, pair in pairs.items()}
        runs = None if self.runs is None else self.runs.rows(where)
        return replace(self, **some, units=self.units.take(where), runs=runs)

    def in_groups(self, group: IntArray) -> Self:
        """The same rows in groups."""
        return replace(self, units=replace(self.units, group=group))

    def of_items(self, totals: ItemTotals) -> tuple[ItemTotals, IntArray | None]:
        """The totals of the items that the rows answer, and the group of each where items are in groups."""
        assert self.units.items is not None
        return totals.take(np.unique(self.units.items)), self.units.group_of_items()

    def all_answers(self, spec: MeasureSpec) -> ItemTotals | None:
        """All answers to the items, by a measure of which more is better; None if the rows include all of them."""
        if spec.needs == "marks" and self.marks is not None:
            a, b = self.marks.sums
            return replace(self.marks, sums=(self.sign * a, self.sign * b))
        return self.right if spec.needs == "answers" else None

    def values(self, spec: MeasureSpec) -> tuple[FloatArray, FloatArray]:
        """The terms of rows in the mean that is the measure, for baseline and candidate."""
        a, b = self.scores or (None, None)
        return self.values_of(spec, self.a, a), self.values_of(spec, self.b, b)

    def values_of(self, spec: MeasureSpec, said: IntArray, score: FloatArray | None) -> FloatArray:
        """The same of any predictions and scores of these rows."""
        if spec.needs == "answers":
            return np.equal(said, self.label).astype(np.float64)
        assert spec.of_rows is not None
        if spec.needs == "numbers":
            assert self.numbers is not None
            return spec.of_rows(self.numbers[self.label], self.numbers[said])
        assert score is not None
        if spec.name != "neg-log-loss":
            return (self.sign if spec.needs == "marks" else 1) * spec.of_rows(self.positive, score)
        if self._of_probabilities is not None:
            score = score.clip(*self._of_probabilities)
        values = spec.of_rows(self.positive, score)
        values[np.where(self.positive, score, 1 - score) == 0] = -np.inf  # no constant hides it
        return values

    @property
    def _of_probabilities(self) -> tuple[float, float] | None:
        """The limits of probabilities that leave no loss infinite, where some were named."""
        limits = self.score_range
        return limits if limits is not None and 0 < limits[0] < limits[1] < 1 else None

    def span(self, spec: MeasureSpec) -> float | None:
        """The largest difference that one row can have, if it is known."""
        if spec.span is not None or spec.needs == "answers":
            return spec.span or 1.0
        if spec.name == "neg-log-loss":
            limits = self._of_probabilities
            return None if limits is None else float(np.ptp(np.log([*limits, 1 - limits[0], 1 - limits[1]])))
        limits = self.bounds if spec.needs == "marks" else self.score_range
        if limits is None:
            return None
        width = limits[1] - limits[0]
        return width**2 if spec.name == "neg-mse" else width


def unseen_unit(
    grouped: bool, units: int, unseen_group: UnseenGroup
) -> tuple[RowTest, UnseenGroup, UnseenGroup | None]:
    """The test with the unit that is added, its kind, and the alternative assumption if rows are in groups."""
    if not grouped:
        return RowTest("unseen row", "unseen"), "any", None
    if row_of_groups(units, unseen_group) < math.inf:
        return RowTest("unseen group like those seen", "unseen", like_seen=True), "like-seen", "any"
    return RowTest("unseen group of any kind", "unseen"), "any", "like-seen"


def outcome_counts(everything: Part, slices: Sequence[tuple[IntArray, int]]) -> list[tuple[int, int, int, int]]:
    """The numbers of rows that neither, only the candidate, only the baseline, and both got right, by slice."""
    arrays = [np.zeros(4 * values, np.int64) for values in (1, *(values for _, values in slices))]
    for start in range(0, len(everything.label), _PIECE):  # what stays in a cache takes a third of the time
        rows = slice(start, start + _PIECE)
        label = everything.label[rows]
        outcome = (everything.a[rows] == label) * 2 + (everything.b[rows] == label)
        arrays[0] += np.bincount(outcome, minlength=4)
        for total, (codes, _) in zip(arrays[1:], slices, strict=True):
            total += np.bincount(codes[rows] * 4 + outcome, minlength=len(total))
    return [(a, b, c, d) for counts in arrays for a, b, c, d in counts.reshape(-1, 4).tolist()]


def whole(paired: PairedPredictions, *, positive: int | None, with_numbers: bool) -> Part:
    """All rows; `positive` is the code of the class that scores or measures are of."""
    rows = {field.name: getattr(paired, field.name) for field in fields(PairedRows)}
    code = -1 if positive is None else positive
    return Part(**rows, code=code, numbers=paired.numbers() if with_numbers else None, bounds=paired.bounds)
