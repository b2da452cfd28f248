"""Answers of two models to the same rows, reduced to the input of one measure; each kind of test has its type.

Each type has the rows of both models, knows which of them are independent, and is cut to the rows of a slice.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._common.messages import Note
from .._common.numerals import NBSP, p_number, significant
from .._common.validation import FloatArray, IntArray, Limits
from ..measures.formulas import Confusion
from ..measures.measure import as_measure
from ..measures.score_formulas import area_under_curve, pass_at, ratio_of_sums
from ..measures.table import MEASURES, MeasureSpec, refers_to_one_class
from ..unseen_row.law import SharedDraws
from .paired_predictions import ItemTotals
from .units import Units

if TYPE_CHECKING:
    from ..unseen_row.judged import JudgedRows

Pair = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The rows of two models."""

    #: The fields with a value for each row, or a pair of them.
    _columns: ClassVar[tuple[str, ...]]

    units: Units
    #: The least and the greatest value of a row, or of the measure, with the sign at which greater is better.
    limits: Limits = (0.0, 1.0)
    #: Random weights that many slices, or pairs of models, share. Pairs of areas then need only their p-values.
    draws: SharedDraws | None = None

    def take(self, rows: IntArray) -> Self:
        """Return some of the rows."""
        columns = {name: value for name in self._columns if (value := getattr(self, name)) is not None}
        some: Any = {name: (v[0][rows], v[1][rows]) if isinstance(v, tuple) else v[rows] for name, v in columns.items()}
        return replace(self, units=self.units.take(rows), **some)

    def in_groups(self, group: IntArray) -> Self:
        """Return the same rows in groups."""
        return replace(self, units=replace(self.units, group=group))

    def measure_of(self, side: int, tasks: IntArray | None = None) -> float:
        """Return the measure of the baseline (0) or candidate (1), NaN if undefined. `tasks` have equal weights."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Values(Evidence):
    """A number for each row: a right answer, a mark, a loss or an error. Their mean is the measure."""

    _columns = ("values", "outside")

    #: Values of baseline and candidate, with the sign with which greater is better.
    values: Pair
    #: The largest possible difference of one row; None if unknown.
    span: float | None
    #: If the measure is a quantile, the share of rows below it, with the sign of the measure; 0 for a mean.
    share: float = 0.0
    #: True if the values are 1 for a right answer and 0 for a wrong one.
    answers: bool = False
    #: All answers to the items, if the models have different numbers of answers.
    totals: ItemTotals | None = None
    #: How many of the two probabilities of each row were replaced by the nearest limit.
    outside: IntArray | None = None
    #: These limits.
    nearest: Limits = None

    @property
    def note(self) -> str:
        """The note on replaced probabilities."""
        if self.outside is None or self.nearest is None or not self.outside.any():
            return ""
        low, high = self.nearest
        return f"{self.outside.sum():,} probabilities outside of {low:g} to {high:g} count as these limits"

    @classmethod
    def of_answers(cls, units: Units, right: Sequence[NDArray[np.bool_]], totals: ItemTotals | None = None) -> Self:
        """Return the evidence of right and wrong answers."""
        a, b = (side.astype(np.float64) for side in right)
        return cls(units=units, values=(a, b), span=1.0, answers=True, totals=totals)

    @classmethod
    def of_probabilities(
        cls, spec: MeasureSpec, units: Units, positive: NDArray[np.bool_], scores: Pair, limits: Limits = None
    ) -> Self:
        """Return the losses of probabilities of a class; a loss may be infinite."""
        assert spec.of_rows is not None
        if spec.span is not None:
            a, b = (spec.of_rows(positive, score) for score in scores)
            return cls(units=units, values=(a, b), span=spec.span, limits=(-spec.span, 0.0))
        inside = limits if limits is not None and 0 < limits[0] < limits[1] < 1 else None
        losses, outside = [], np.zeros(units.n, dtype=np.int64)
        for score in scores:
            clipped = score if inside is None else score.clip(*inside)
            values = spec.of_rows(positive, clipped)
            values[np.where(positive, clipped, 1 - clipped) == 0] = -np.inf  # which a log loss would limit
            losses.append(values)
            outside += 0 if limits is None else (score < limits[0]) | (score > limits[1])
        fields: dict[str, Any] = {"values": (losses[0], losses[1]), "outside": outside, "nearest": limits}
        if inside is None:
            return cls(units=units, span=None, limits=None, **fields)
        low, high = inside
        span, best = float(np.ptp(np.log([low, high, 1 - low, 1 - high]))), math.log(max(high, 1 - low))
        return cls(units=units, span=span, limits=(best - span, best), **fields)

    def measure_of(self, side: int, tasks: IntArray | None = None) -> float:  # noqa: D102
        values = self.values[side] if tasks is None else np.bincount(tasks, self.values[side]) / np.bincount(tasks)
        return float(np.quantile(values, self.share, method="inverted_cdf") if self.share else values.mean())


@dataclass(frozen=True, kw_only=True)
class Judged(Evidence):
    """A judge's verdicts or marks on all rows, and human labels of some of them."""

    _columns = ("judge", "people")

    limits: tuple[float, float]
    judge: Pair
    #: NaN for rows without a label.
    people: Pair

    def of_one(self, side: int) -> "JudgedRows":
        """Return the rows of the baseline, 0, or the candidate, 1."""
        from ..unseen_row.judged import rows_of_one  # here and below: few comparisons have a judge

        return rows_of_one(self.judge[side], self.people[side], self.limits, self.units.group)

    def of_both(self) -> "JudgedRows":
        """Return the rows of both; differences are candidate minus baseline."""
        from ..unseen_row.judged import rows_of_two

        span = self.limits[1] - self.limits[0]
        return rows_of_two(self.judge[::-1], self.people[::-1], span, self.units.group)

    def notes(self, models: Sequence[str]) -> Iterator[Note]:
        """Yield notes on how well judge and humans agree about each model, and on errors that favour one model."""
        from ..sign_flips.sign_flip_test import sign_flip_test
        from ..unseen_row.judge_agreement import DIFFERENT, agreement_of

        for side, model in enumerate(models):
            labelled = ~np.isnan(self.people[side])
            agreement = agreement_of(*(of[side][labelled] > sum(self.limits) / 2 for of in (self.judge, self.people)))
            verdicts = f"the judge's verdicts give {model} {significant(float(self.judge[side].mean()), 4)}"
            yield Note("judge-alone", f"{verdicts}; people labelled {labelled.sum():,} of {self.units.n:,} rows")
            if labelled.any():
                yield Note("judge-agreement", f"judge and people on {model}: {agreement.in_words()}")
        both = ~np.isnan(self.people[0] - self.people[1])
        errors = np.subtract(*self.judge)[both] - np.subtract(*self.people)[both]
        rows = len(models) > 1 and len(errors) and self.units.group is None
        pvalue = sign_flip_test(errors).pvalue if rows else 1.0
        if pvalue <= DIFFERENT:
            favour = f"the judge's errors favour one of the models (p{NBSP}{p_number(pvalue)})"
            yield Note("judge-favours", f"{favour}, so its difference is biased")


@dataclass(frozen=True, kw_only=True)
class Attempts(Evidence):
    """Several answers to each item; a success needs one of k to be right, or all k."""

    _columns = ("right",)

    k: int
    #: True if all k must be right.
    every: bool = False
    #: Mask of the right answers of baseline and candidate.
    right: Pair
    #: All answers to the items, if the models have different numbers of answers.
    totals: ItemTotals | None = None

    def by_item(self) -> tuple[ItemTotals, IntArray | None]:
        """Return the number of right answers to each item, and its group; without items the groups are the items."""
        units, group = self.units, self.units.group_of_items()
        items: Any = units.group if units.items is None else units.items
        numbers, codes, answers = np.unique(items, return_inverse=True, return_counts=True)
        if self.totals is not None:
            return self.totals.take(numbers), group
        a, b = (np.bincount(codes, right).astype(np.float64) for right in self.right)
        return ItemTotals((a, b), (answers, answers)), group

    def chances(self, totals: ItemTotals) -> Pair:
        """Return the chance that one of k answers to each item is right."""
        one = cache(lambda answers, right: float(pass_at(self.k, answers, right)))
        chance = (lambda n, right: 1 - one(n, n - right)) if self.every else one
        chances = np.vectorize(chance, otypes=[np.float64])
        a, b = (chances(n, sums.astype(np.int64)) for n, sums in zip(totals.counts, totals.sums, strict=True))
        return a, b

    def measure_of(self, side: int, _: IntArray | None = None) -> float:  # noqa: D102
        return float(self.chances(self.by_item()[0])[side].mean())


@dataclass(frozen=True, kw_only=True)
class Classes(Evidence):
    """The true and predicted classes of rows, as codes. The measure is a function of their joint counts."""

    _columns = ("label", "a", "b")

    measure: str
    label: IntArray
    a: IntArray
    b: IntArray
    #: The class that the measure refers to; -1 if it refers to all.
    code: int = -1
    #: The values of the codes, numbers or names, for a formula of labels, predictions and weights.
    values: NDArray[Any] | None = None
    #: The codes of labels and of predictions that an unseen row may have; None if it may have any class.
    unseen: tuple[IntArray, IntArray] | None = None
    #: False for numbers without limits: an unseen row may lie beyond them.
    limited: bool = True

    def measure_of(self, side: int, _: IntArray | None = None) -> float:  # noqa: D102
        prediction = (self.a, self.b)[side]
        if self.values is not None:
            rows = self.values[self.label], self.values[prediction], np.ones((1, len(prediction)))
            return float(MEASURES[self.measure].signed(*rows)[0])
        classes = np.unique(np.concatenate([self.label, prediction]))
        true, called = (np.searchsorted(classes, array) for array in (self.label, prediction))
        size = len(classes)
        hit = np.bincount(true[true == called], minlength=size)
        actual, named = np.bincount(true, minlength=size), np.bincount(called, minlength=size)
        counts = Confusion(hit, actual - hit, named - hit, len(true) - actual - named + hit)
        counts = Confusion(*(count.astype(np.float64) for count in counts))
        if not refers_to_one_class(self.measure):
            return float(as_measure(self.measure).of(counts, "classes"))
        if not (self.label == self.code).any():
            return math.nan
        one = int(np.searchsorted(classes, self.code))
        return float(as_measure(self.measure).of(Confusion(*(count[one] for count in counts)), "binary"))


@dataclass(frozen=True, kw_only=True)
class Scores(Evidence):
    """Scores of a class; the measure depends only on their order."""

    _columns = ("positive", "scores")

    positive: NDArray[np.bool_]
    scores: Pair

    def measure_of(self, side: int, _: IntArray | None = None) -> float:  # noqa: D102
        both = self.positive.any() and not self.positive.all()
        return area_under_curve(self.positive, self.scores[side]) if both else math.nan


@dataclass(frozen=True, kw_only=True)
class Ratios(Evidence):
    """Numerators and denominators. The measure is the ratio of their sums."""

    _columns = ("scores", "per")

    scores: Pair
    per: Pair
    #: -1 if a lower ratio is better.
    sign: int

    def measure_of(self, side: int, _: IntArray | None = None) -> float:  # noqa: D102
        return self.sign * ratio_of_sums(self.per[side], self.scores[side])


@dataclass(frozen=True, kw_only=True)
class Runs(Evidence):
    """The evidence of each run of both recipes."""

    _columns = ("differs",)

    #: Evidence of each run of the baseline with the candidate's first run, then of the first with each other one.
    pairs: tuple[Evidence, ...]
    #: Mask of the rows on which any run differs from the first.
    differs: NDArray[np.bool_]

    def take(self, rows: IntArray) -> Self:
        """Return some of the rows."""
        return replace(super().take(rows), pairs=tuple(pair.take(rows) for pair in self.pairs))

    def values(self, side: int, tasks: IntArray | None) -> FloatArray:
        """Return the measure of each run of the baseline, 0, or the candidate, 1."""
        assert self.units.runs is not None
        of_a = self.units.runs[0]
        chosen = self.pairs[:of_a] if side == 0 else (self.pairs[0], *self.pairs[of_a:])
        return np.array([pair.measure_of(side, tasks) for pair in chosen])


def signed(limits: Limits, sign: int) -> Limits:
    """Return limits of marks, or of costs with the opposite sign."""
    return limits if limits is None or sign > 0 else (-limits[1], -limits[0])
