"""The predictions of two models on the same rows, as arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._common.class_names import coded, is_number, label_name, require_no_missing_texts
from .._common.data_frames import opened, require_same_index
from .._common.note import Note
from .._common.validation import FloatArray, IntArray, as_labels, as_reals, refuse, same_kind_of_labels, shown
from .units import Units, as_weights


@dataclass(frozen=True)
class ItemTotals:
    """All answers to each item, if baseline and candidate have different numbers of answers."""

    #: Of right answers, or of marks, by baseline and by candidate; pair of float64 arrays of shape (items,).
    sums: tuple[FloatArray, FloatArray]
    #: How many answers there are; pair of int64 arrays of shape (items,).
    counts: tuple[IntArray, IntArray]

    @property
    def means(self) -> tuple[FloatArray, FloatArray]:
        """The mean of the answers to each item, by baseline and by candidate."""
        return self.sums[0] / self.counts[0], self.sums[1] / self.counts[1]

    def take(self, items: IntArray) -> Self:
        """Some of the items."""
        (a, b), (m, n) = self.sums, self.counts
        return replace(self, sums=(a[items], b[items]), counts=(m[items], n[items]))


@dataclass(frozen=True)
class Runs:
    """The class that each run of baseline and candidate predicts, arrays of shape (runs, n); their scores, or None."""

    a: IntArray
    b: IntArray
    scores: tuple[FloatArray, FloatArray] | None = None
    per: tuple[FloatArray, FloatArray] | None = None

    def rows(self, where: IntArray) -> Self:
        """Some of the rows."""
        scores, per = (
            None if value is None else (value[0][:, where], value[1][:, where]) for value in (self.scores, self.per)
        )
        return replace(self, a=self.a[:, where], b=self.b[:, where], scores=scores, per=per)


@dataclass(frozen=True, kw_only=True)
class PairedRows:
    """The outputs of two models for rows, and the dependence between rows."""

    #: The true class, and what baseline and candidate predict, as codes; int64 arrays of shape (n,).
    label: IntArray
    a: IntArray
    b: IntArray
    units: Units
    #: What baseline and candidate give each row; pair of float64 arrays of shape (n,), or None.
    scores: tuple[FloatArray, FloatArray] | None = None
    #: The denominators of the scores, where the ratio of their sums is meant; pair of float64 arrays, or None.
    per: tuple[FloatArray, FloatArray] | None = None
    #: Whether the scores are probabilities of each row's true class, of more than two.
    of_truth: bool = False
    #: Whether the lower score is the better one; None where that is not certain.
    lower: bool | None = False
    #: What every score lies between, as the log or the table of metrics states.
    limits: tuple[float, float] | None = None
    #: What every score lies between, where it was named: marks, probabilities, or the numbers that classes are.
    score_range: tuple[float, float] | None = None
    #: Where the two have unlike numbers of answers to an item: all of them, of which the rows are as many of both.
    right: ItemTotals | None = None
    marks: ItemTotals | None = None
    #: What every run says, where recipes were run several times; the other fields are of the first run of each.
    runs: Runs | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.units.n


@dataclass(frozen=True, kw_only=True)
class PairedPredictions(PairedRows):
    """All rows, with the names of their classes and slices, and the notes of the readers."""

    #: Sorted.
    classes: tuple[str, ...]
    #: Whether no more is known than which answers were right.
    graded: bool = False
    #: Whether both made predictions; where not, the scores are all there is.
    predicted: bool = True
    #: Whether the predictions were compared beside another score already, and the scores alone are left.
    compared: bool = False
    #: Which of several scores this is; empty where there is one.
    score_name: str = ""
    #: The name of the scores; empty of arrays.
    score_column: str = ""
    #: What was read of baseline and candidate, for a person: task, model, score ...
    subjects: tuple[Mapping[str, str], Mapping[str, str]] | None = None
    #: What a person should know, a line each.
    notes: tuple[Note, ...] = ()
    #: Whether baseline and candidate are the same thing: files of the same bytes, the same arrays.
    identical: bool = False
    #: What the files hold on each row beside, as codes from 0, if it is known; int64 array of shape (n,) or None.
    content: IntArray | None = None
    #: Of these columns each that may name groups of rows, as codes from 0.
    beside: Mapping[str, IntArray] = field(default_factory=dict)
    #: Those of these columns that are dates, whose codes are in order.
    times: Sequence[str] = ()
    #: What each row is called, where that was asked for; an Arrow array of shape (n,).
    ids: Any = None

    @cached_property
    def bounds(self) -> tuple[float, float] | None:
        """The limits of all scores: those a person gives, or else those stated, unless a score is on another scale."""
        if self.score_range is not None or self.limits is None or self.per is not None or self.scores is None:
            return self.score_range
        low, high = self.limits
        inside = all(((score >= low) & (score <= high)).all() for score in self.scores)
        return self.limits if inside else None

    @property
    def own_name(self) -> str:
        """The name of the scores; empty if their column is only called score."""
        return "" if self.score_column in ("score", "scores") else self.score_column

    def row_ratios(self) -> list[FloatArray]:
        """For each model, the ratios of the rows that have one."""
        with np.errstate(divide="ignore", invalid="ignore"):
            arrays = [a / b for a, b in zip(self.scores or (), self.per or (), strict=True)]
        return [array[~np.isnan(array)] for array in arrays]

    def numbers(self) -> FloatArray | None:
        """The number of each class; None if one is not a number."""
        return np.array([float(name) for name in self.classes]) if all(map(is_number, self.classes)) else None


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
    of_truth: bool = False,
    listed: Sequence[str] = (),
) -> PairedPredictions:
    """The predictions of two models from arrays, as `sigstats.compare` takes them; or ValueError."""
    slices = by_name(slices)
    beside = {f"scores[{which}]": score for which, score in enumerate(scores)} if isinstance(scores, Sequence) else {}
    parts = {f"slices[{shown(name)}]": column for name, column in slices.items()}
    named = {"y": y, "baseline": baseline, "candidate": candidate, "groups": groups}
    named |= {"order": order, "weights": weights}
    require_same_index(**named, **beside, **parts)
    label = as_labels(y, "y")
    missing = "give missing={} and unscored='drop', which leaves out these rows"
    columns = [label]
    for name, values in (("baseline", baseline), ("candidate", candidate)):
        columns.append(as_labels(values, name))
        same_kind_of_labels(label, columns[-1], name)
    require_no_missing_texts(listed, missing, y=label, baseline=columns[1], candidate=columns[2])
    classes, codes = np.unique(np.concatenate(columns), return_inverse=True)
    label, a, b = codes.astype(np.int64).reshape(3, -1)
    n = len(label)
    of_groups, group = ((), None) if groups is None else coded(groups, "groups", n)
    require_no_missing_texts(listed, "give each row a group", groups=np.array(of_groups))
    group = None if group is None else np.argsort(np.argsort(of_groups))[group]  # as files number them
    return PairedPredictions(
        label=label,
        a=a,
        b=b,
        classes=tuple(label_name(class_name) for class_name in classes.tolist()),
        units=Units.of(
            n,
            group,
            None if order is None else coded(order, "order", n),
            slices={str(name): coded(column, f"slices[{shown(name)}]", n) for name, column in slices.items()},
            weights=None if weights is None else as_weights(weights, n),
        ),
        scores=None if scores is None else _scores(scores, n),
        score_range=as_score_range(score_range),
        of_truth=of_truth,
        identical=baseline is candidate and (scores is None or scores[0] is scores[1]),
    )


def as_score_range(score_range: Any) -> tuple[float, float] | None:
    """A pair of finite numbers in ascending order, or ValueError; None for None."""
    if score_range is None:
        return None
    pair = as_reals(score_range, "score_range", ndim=1)
    if len(pair) != 2 or not pair[0] < pair[1]:
        raise refuse("score_range", score_range, "two numbers, the lower one first")
    return float(pair[0]), float(pair[1])


def by_name(slices: Any) -> Mapping[Any, Any]:
    """Columns of slices by their names: a mapping, a data frame, or a Series."""
    if slices is None or isinstance(slices, Mapping):
        return slices or {}
    if hasattr(slices, "to_frame"):  # a Series, of which a frame has one column
        return {getattr(slices, "name", None) or "slice": slices}
    if (frame := opened(slices)) is None:
        raise refuse("slices", slices, "a mapping of names to columns, a data frame or a Series")
    return {name: frame[name].to_native() for name in frame.columns}


def _scores(scores: Any, rows: int) -> tuple[FloatArray, FloatArray]:
    if not isinstance(scores, Sequence) or len(scores) != 2:
        raise refuse("scores", scores, "two sequences, those of the baseline and of the candidate")
    a, b = (
        _of_length(as_reals(score, f"scores[{which}]", ndim=1), f"scores[{which}]", rows)
        for which, score in enumerate(scores)
    )
    return a, b


def _of_length(column: NDArray[Any], name: str, rows: int) -> NDArray[Any]:
    if len(column) != rows:
        raise refuse(f"{name} (length)", len(column), f"{rows}, one for each row")
    return column
