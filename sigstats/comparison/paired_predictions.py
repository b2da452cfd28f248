"""The predictions of two models on the same rows, as arrays."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._common.class_names import coded, is_number, label_name, require_no_missing_texts
from .._common.data_frames import opened, require_same_index
from .._common.note import Note
from .._common.validation import FloatArray, IntArray, as_labels, as_reals, refuse, same_kind_of_labels, shown
from ..scores.order import as_times

#: No row stands for so many times as many rows as another.
_WIDEST = 1e50
#: The name of the slice that holds every row.
ALL_ROWS = "all rows"


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
    """What two models say of rows, and what rows have to do with each other."""

    #: The true class, and what baseline and candidate predict, as codes; int64 arrays of shape (n,).
    label: IntArray
    a: IntArray
    b: IntArray
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
    #: The group of each row; int64 array of shape (n,) or None.
    group: IntArray | None = None
    #: Whether the groups are times, numbered in their order, so that rows near each other are dependent.
    in_time: bool = False
    #: Which item each row answers, where items have several answers; int64 array of shape (n,) or None.
    items: IntArray | None = None
    #: Where the two have unlike numbers of answers to an item: all of them, of which the rows are as many of both.
    right: ItemTotals | None = None
    marks: ItemTotals | None = None
    #: What every run says, where recipes were run several times; the other fields are of the first run of each.
    runs: Runs | None = None
    #: How many rows of the population each stands for, if they are not alike; float64 array of shape (n,) or None.
    weights: FloatArray | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.label)


@dataclass(frozen=True, kw_only=True)
class PairedPredictions(PairedRows):
    """All rows, with the names of their classes and slices, and what was read of them."""

    #: Sorted.
    classes: tuple[str, ...]
    #: For each column its values, sorted, and the value of each row.
    slices: Mapping[str, tuple[tuple[str, ...], IntArray]] = field(default_factory=dict)
    #: Which of several tasks each row is of; int64 array of shape (n,) or None.
    tasks: IntArray | None = None
    #: The name of each task.
    task_names: tuple[str, ...] = ()
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
        """For each model the ratios of the rows that have one."""
        with np.errstate(divide="ignore", invalid="ignore"):
            arrays = [a / b for a, b in zip(self.scores or (), self.per or (), strict=True)]
        return [array[~np.isnan(array)] for array in arrays]

    def items_of(self, rows: IntArray) -> int | None:
        """The number of items that some rows answer, where items have several answers."""
        return None if self.items is None else len(np.unique(self.items[rows]))

    def numbers(self) -> FloatArray | None:
        """The number that each class is; None where one is none."""
        return np.array([float(name) for name in self.classes]) if all(map(is_number, self.classes)) else None

    def part_sizes(self) -> Iterator[int]:
        """The number of rows of each of `parts`, or of items where these have several answers."""
        if self.items is not None:
            yield from (len(np.unique(self.items[rows()])) for _, rows in self.parts())
            return
        yield self.n
        for names, codes in self.slices.values():
            yield from np.bincount(codes, minlength=len(names)).tolist()

    def parts(self) -> Iterator[tuple[str, Callable[[], IntArray]]]:
        """The name of each slice and what finds its rows: first all rows, then each value of each column."""
        yield ALL_ROWS, lambda: np.arange(self.n)
        for column, (names, codes) in self.slices.items():
            rows = cache(partial(_rows_by_code, codes, len(names)))
            for code, name in enumerate(names):
                yield f"{column} = {name}", partial(lambda rows, code: rows()[code], rows, code)


def _rows_by_code(codes: IntArray, values: int) -> list[IntArray]:
    # Of 16 bits it is a radix sort, which takes a tenth of the time.
    order = np.argsort(codes.astype(np.uint16) if values <= 2**16 else codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes, minlength=values))[:-1])


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
    of_groups, group = ((), None) if groups is None else coded(groups, "groups", len(label))
    require_no_missing_texts(listed, "give each row a group", groups=np.array(of_groups))
    group = None if group is None else np.argsort(np.argsort(of_groups))[group]  # as files number them
    return PairedPredictions(
        label=label,
        a=a,
        b=b,
        classes=tuple(label_name(class_name) for class_name in classes.tolist()),
        **stated_units(group, None if order is None else coded(order, "order", len(label))),
        slices={str(name): coded(column, f"slices[{shown(name)}]", len(label)) for name, column in slices.items()},
        scores=None if scores is None else _scores(scores, len(label)),
        score_range=as_score_range(score_range),
        of_truth=of_truth,
        weights=None if weights is None else as_weights(weights, len(label)),
        identical=baseline is candidate and (scores is None or scores[0] is scores[1]),
    )


def stated_units(group: IntArray | None, order: tuple[Sequence[str], IntArray] | None) -> dict[str, Any]:
    """The groups of rows, or their times, as fields of `PairedRows`; `order`: names of times, and each row's number."""
    if order is None:
        return {"group": group}
    if group is not None:
        raise ValueError("order: not valid with groups or several answers to an item; use one of them")
    return {"group": np.unique(as_times(order[0]), return_inverse=True)[1][order[1]], "in_time": True}


def as_score_range(score_range: Any) -> tuple[float, float] | None:
    """A pair of finite numbers in ascending order, or ValueError; None for None."""
    if score_range is None:
        return None
    pair = as_reals(score_range, "score_range", ndim=1)
    if len(pair) != 2 or not pair[0] < pair[1]:
        raise refuse("score_range", score_range, "two numbers, the lower one first")
    return float(pair[0]), float(pair[1])


def as_weights(given: Any, rows: int) -> FloatArray:
    """Weights of rows, or ValueError where one is not positive."""
    weights = _of_length(as_reals(given, "weights", ndim=1), "weights", rows)
    least, most = float(weights.min()), float(weights.max())
    if least <= 0:
        raise refuse("weights", least, "how many rows of the population each row stands for, above 0")
    if most / _WIDEST > least:
        raise refuse("weights", least, f"weights that differ by a factor below {_WIDEST:g}, such as {most:g}")
    return np.asarray(np.ldexp(weights, -math.frexp(most)[1]))  # of no unit; a power of two rounds nothing


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
