"""The predictions of two models on the same rows, as arrays."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._common.class_names import as_class_labels, coded, coded_groups, label_name, refuse_unlisted
from .._common.class_spelling import DistinctNames
from .._common.data_frames import opened, require_same_index
from .._common.messages import Note
from .._common.validation import FloatArray, IntArray, Limits, as_reals, refuse, same_kind_of_labels, shown
from ..measures.metrics import unit_of
from ..unseen_row.law import SharedDraws
from .units import MISSING, Units, as_weights


@dataclass(frozen=True)
class ItemTotals:
    """All answers to each item, if baseline and candidate have different numbers of answers."""

    #: Sums of right answers, or of marks, of baseline and candidate; pair of float64 arrays of shape (items,).
    sums: tuple[FloatArray, FloatArray]
    #: Numbers of answers of baseline and candidate; pair of int64 arrays of shape (items,).
    counts: tuple[IntArray, IntArray]

    @property
    def means(self) -> tuple[FloatArray, FloatArray]:
        """The mean of the answers to each item, for baseline and candidate."""
        return self.sums[0] / self.counts[0], self.sums[1] / self.counts[1]

    def take(self, items: IntArray) -> Self:
        """Return some of the items."""
        (a, b), (m, n) = self.sums, self.counts
        return replace(self, sums=(a[items], b[items]), counts=(m[items], n[items]))


@dataclass(frozen=True, kw_only=True)
class Labels:
    """The true class of each row, as codes."""

    #: The classes of labels and predictions, sorted.
    classes: tuple[str, ...]
    label: IntArray

    @property
    def of_labels(self) -> list[str]:
        """The classes that occur among the labels."""
        return _classes_of(self.classes, self.label)

    def recoded(self, classes: Sequence[str]) -> Self:
        """Return the same labels with codes of these sorted classes, which include the present ones."""
        codes = np.array([classes.index(name) for name in self.classes], dtype=np.int64)
        columns = {name: codes[column] for name, column in vars(self).items() if name in ("label", "a", "b")}
        return replace(self, classes=tuple(classes), **columns)


@dataclass(frozen=True, kw_only=True)
class Predicted(Labels):
    """The true class of each row, and the predictions of baseline and candidate."""

    a: IntArray
    b: IntArray
    #: All answers, if the two have different numbers of answers to an item; rows then have equally many of both.
    totals: ItemTotals | None = None

    @property
    def right(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Masks of the correct predictions of baseline and candidate."""
        return self.a == self.label, self.b == self.label

    def check_names(self, *, exact: bool = False, **how: str) -> None:
        """Refuse predictions of classes that the labels lack; options as for `DistinctNames`."""
        known = DistinctNames(self.of_labels, len(self.label), exact=exact)
        first = "the model" if np.array_equal(self.a, self.b) else "the baseline"
        known.check(first, _classes_of(self.classes, self.a), **how)
        known.check("the candidate", _classes_of(self.classes, self.b), **how)


def _classes_of(classes: Sequence[str], codes: IntArray) -> list[str]:
    return [classes[code] for code in np.flatnonzero(np.bincount(codes)).tolist()]


class Verdicts(Predicted):
    """Right and wrong answers without classes; the classes are "right" and "wrong"."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """The scores of baseline and candidate: marks, costs, or probabilities of a class."""

    scores: tuple[FloatArray, FloatArray]
    #: The denominators, if the measure is the ratio of two sums.
    per: tuple[FloatArray, FloatArray] | None = None
    #: As `Predicted.totals`.
    totals: ItemTotals | None = None
    #: The tables of `of_classes`, if the scores are probabilities of each row's true class.
    tables: tuple[FloatArray, FloatArray] | None = None
    #: True if a lower score is better; None if that is unknown.
    lower: bool | None = False
    #: True if 0 replaces missing scores.
    filled: bool = False
    #: The lowest and the highest possible score, as the log or the table of metrics states.
    limits: Limits = None
    #: The name of the scores; empty of arrays.
    column: str = ""
    #: The name, if several scores are compared.
    name: str = ""

    @classmethod
    def of_classes(cls, a: FloatArray, b: FloatArray, **known: Any) -> Self:
        """Build from tables: in column 0 the place of each row's true class, then the probability of each class."""
        of_truth = [table[np.arange(len(table)), 1 + table[:, 0].astype(np.int64)] for table in (a, b)]
        return cls(scores=(of_truth[0], of_truth[1]), tables=(a, b), **known)

    @property
    def of_truth(self) -> bool:
        """True if the scores are probabilities of each row's true class."""
        return self.tables is not None

    @property
    def own_name(self) -> str:
        """The name of the scores, empty if their column is just called score."""
        return self.name or ("" if self.column in ("score", "scores") else self.column)

    @property
    def unit(self) -> str:
        """The unit that the name states."""
        return unit_of(self.column.partition("/")[0])

    @property
    def mean(self) -> str:
        """The measure of marks: their mean, or the ratio of two sums."""
        return "mean-score" if self.per is None else "ratio"


#: The name, among other columns, of the first parts of ids such as doc12_q3.
STARTS = "starts of ids"


class OtherColumns(NamedTuple):
    """The columns of files that are not compared, as codes from 0."""

    #: Codes of all columns together, if known.
    content: IntArray | None = None
    #: The columns that may name groups of rows, and the names of dates and of whole numbers, with codes in order.
    columns: Mapping[str, IntArray] = {}
    times: Sequence[str] = ()
    numbers: Collection[str] = ()


@dataclass(frozen=True, kw_only=True)
class PairedPredictions:
    """The answers of two models to the same rows."""

    units: Units
    #: Labels and predictions, or the labels of rows that only have scores; None for marks without labels.
    outcomes: Labels | None = None
    scored: Scored | None = None
    #: Human labels of some rows of baseline and candidate, otherwise NaN. The other values are then a judge's.
    people: tuple[FloatArray, FloatArray] | None = None
    #: The lowest and the highest possible score, or class that is a number, if the user stated them.
    score_range: Limits = None
    #: Each run of the baseline with the first of the candidate, then the baseline's first with each other one; empty
    #: without runs.
    runs: "tuple[PairedPredictions, ...]" = ()
    #: True if the predictions were already compared with another score, so that only these scores remain.
    compared: bool = False
    #: The task, model, score ... of baseline and candidate, for messages and pages.
    subjects: tuple[Mapping[str, str], Mapping[str, str]] | None = None
    #: Notes for the user, one line each.
    notes: tuple[Note, ...] = ()
    #: True if baseline and candidate are the same file, bytes or arrays.
    identical: bool = False
    other_columns: OtherColumns = OtherColumns()  # noqa: RUF009 - a tuple
    #: Random weights that the pairs of many models share.
    draws: SharedDraws | None = None
    #: The ids of the rows, if they were requested; an Arrow array of shape (n,).
    ids: Any = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.units.n

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of labels and predictions."""
        return () if self.outcomes is None else self.outcomes.classes

    @property
    def predicted(self) -> Predicted | None:
        """The predictions of both models; None if only marks are known."""
        return self.outcomes if isinstance(self.outcomes, Predicted) else None

    @property
    def graded(self) -> bool:
        """True if only marks, or which answers were right, are known."""
        return self.outcomes is None or isinstance(self.outcomes, Verdicts)

    @cached_property
    def bounds(self) -> Limits:
        """The limits of all scores: the user's, or else the stated ones unless a score is on another scale."""
        scored = self.scored
        if self.score_range is not None or scored is None or scored.limits is None or scored.per is not None:
            return self.score_range
        low, high = scored.limits
        return scored.limits if all(((score >= low) & (score <= high)).all() for score in scored.scores) else None


def pair_arrays(
    y: Any,
    baseline: Any,
    candidate: Any,
    *,
    scores: Sequence[Any] | None = None,
    groups: Any = None,
    order: Any = None,
    slices: Any = None,
    weights: Any = None,
    score_range: Sequence[float] | None = None,
    listed: Sequence[str] = (),
    arguments: Sequence[str] = ("baseline", "candidate", "scores[0]", "scores[1]"),
) -> PairedPredictions:
    """Return the predictions of two models from arrays, as `sigstats.compare` takes them, or raise ValueError.

    `arguments`: the names of predictions and scores in messages.
    """
    slices = by_name(slices)
    of_scores = dict(zip(arguments[2:], scores, strict=False)) if isinstance(scores, Sequence) else {}
    of_slices = {f"slices[{shown(name)}]": column for name, column in slices.items()}
    answers = [("y", y), (arguments[0], baseline), (arguments[1], candidate)]
    given = dict(answers) | {"groups": groups, "order": order, "weights": weights} | of_scores | of_slices
    require_same_index(**given)
    cure = "give missing={} and unscored='drop', which leaves out these rows"
    columns = [as_class_labels(values, name, listed, cure) for name, values in answers]
    refuse_unlisted("y", map(label_name, np.unique(columns[0]).tolist()), listed, "classes")
    for name, predictions in zip(arguments[:2], columns[1:], strict=True):
        same_kind_of_labels(columns[0], predictions, name)
    classes, codes = np.unique(np.concatenate(columns), return_inverse=True)
    label, a, b = codes.astype(np.int64).reshape(3, -1)
    n = len(label)
    of_groups, group = ((), None) if groups is None else coded_groups(groups, "groups", n, listed)
    if group is not None:
        group = np.argsort(np.argsort(of_groups))[group]  # numbered as groups from files are
    names = tuple(label_name(class_name) for class_name in classes.tolist())
    return PairedPredictions(
        outcomes=Predicted(classes=names, label=label, a=a, b=b),
        units=Units.of(
            n,
            group,
            None if order is None else coded(order, "order", n),
            group_names=of_groups,
            slices={str(k): coded(v, f"slices[{shown(k)}]", n, missing=MISSING) for k, v in slices.items()},
            weights=None if weights is None else as_weights(weights, n),
        ),
        scored=None if scores is None else _scored(scores, n, arguments[2:]),
        score_range=as_score_range(score_range),
    )


def as_score_range(score_range: Any) -> Limits:
    """Return a pair of finite numbers in ascending order, or raise ValueError; None for None."""
    if score_range is None:
        return None
    pair = as_reals(score_range, "score_range", ndim=1)
    if len(pair) != 2 or not pair[0] < pair[1]:
        raise refuse("score_range", score_range, "two numbers, the lower one first")
    return float(pair[0]), float(pair[1])


def by_name(slices: Any) -> Mapping[Any, Any]:
    """Return columns of slices by name, from a mapping, a data frame or a Series."""
    if slices is None or isinstance(slices, Mapping):
        return slices or {}
    if hasattr(slices, "to_frame"):  # a Series, of which a frame has one column
        return {getattr(slices, "name", None) or "slice": slices}
    if (frame := opened(slices)) is None:
        raise refuse("slices", slices, "a mapping of names to columns, a data frame or a Series")
    return {name: frame[name].to_native() for name in frame.columns}


def _scored(scores: Any, rows: int, names: Sequence[str]) -> Scored:
    if isinstance(scores, tuple) and all(np.ndim(score) == 2 for score in scores):
        return Scored.of_classes(*scores)
    if not isinstance(scores, Sequence) or len(scores) != 2:
        raise refuse("scores", scores, "two sequences, those of the baseline and of the candidate")
    a, b = (as_reals(score, name, ndim=1) for name, score in zip(names, scores, strict=True))
    for name, score in zip(names, (a, b), strict=True):
        if len(score) != rows:
            raise refuse(name, len(score), f"{rows}, one for each row", quantity="length")
    return Scored(scores=(a, b))
