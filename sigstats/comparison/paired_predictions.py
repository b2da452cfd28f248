"""The predictions of two models on the same rows, as arrays."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._common.class_names import as_class_labels, coded, coded_groups, label_name
from .._common.data_frames import opened, require_same_index
from .._common.messages import Note
from .._common.validation import FloatArray, IntArray, as_reals, refuse, same_kind_of_labels, shown
from ..measures.metrics import unit_of
from .units import MISSING, Units, as_weights


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


@dataclass(frozen=True, kw_only=True)
class Labels:
    """The true class of each row, as codes."""

    #: Sorted; those that are predicted among them.
    classes: tuple[str, ...]
    label: IntArray

    @property
    def of_labels(self) -> list[str]:
        """The classes that labels have."""
        return _there(self.classes, self.label)

    def recoded(self, classes: Sequence[str]) -> Self:
        """The same with codes of these classes, its own among them, in order."""
        codes = np.array([classes.index(name) for name in self.classes], dtype=np.int64)
        said = {name: codes[value] for name, value in vars(self).items() if name in ("label", "a", "b")}
        return replace(self, classes=tuple(classes), **said)


@dataclass(frozen=True, kw_only=True)
class Predicted(Labels):
    """The true class of each row, and what baseline and candidate predict."""

    a: IntArray
    b: IntArray
    #: Where the two have unlike numbers of answers to an item: all of them, of which the rows are as many of both.
    totals: ItemTotals | None = None

    @property
    def right(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which predictions of baseline and candidate are right."""
        return self.a == self.label, self.b == self.label

    def names(self) -> Iterator[tuple[str, list[str], list[str]]]:
        """Each model with the classes of the labels and those that it predicts, unless all classes are of labels."""
        labels = self.of_labels
        if len(labels) < len(self.classes):
            first = "the model" if np.array_equal(self.a, self.b) else "the baseline"
            yield first, labels, _there(self.classes, self.a)
            yield "the candidate", labels, _there(self.classes, self.b)


def _there(classes: Sequence[str], codes: IntArray) -> list[str]:
    return [classes[code] for code in np.flatnonzero(np.bincount(codes)).tolist()]


class Verdicts(Predicted):
    """No more than which answers are right; the classes are "right" and "wrong"."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """What baseline and candidate give each row: marks, costs, or probabilities of a class."""

    scores: tuple[FloatArray, FloatArray]
    #: The denominators, where the ratio of their sums is meant.
    per: tuple[FloatArray, FloatArray] | None = None
    #: As that of predictions.
    totals: ItemTotals | None = None
    #: The tables of `of_classes`, if the scores are probabilities of each row's true class.
    tables: tuple[FloatArray, FloatArray] | None = None
    #: Whether the lower score is the better one; None where that is not certain.
    lower: bool | None = False
    #: What every score lies between, as the log or the table of metrics states.
    limits: tuple[float, float] | None = None
    #: The name of the scores; empty of arrays.
    column: str = ""
    #: The same where there are several scores.
    name: str = ""

    @classmethod
    def of_classes(cls, a: FloatArray, b: FloatArray, **known: Any) -> Self:
        """Build from tables: first the place of each row's true class, then the probability of each class in order."""
        of_truth = [table[np.arange(len(table)), 1 + table[:, 0].astype(np.int64)] for table in (a, b)]
        return cls(scores=(of_truth[0], of_truth[1]), tables=(a, b), **known)

    @property
    def of_truth(self) -> bool:
        """Return True if the scores are probabilities of each row's true class."""
        return self.tables is not None

    @property
    def own_name(self) -> str:
        """The name of the scores; empty if their column is only called score."""
        return self.name or ("" if self.column in ("score", "scores") else self.column)

    @property
    def unit(self) -> str:
        """The unit that the name states."""
        return unit_of(self.column.partition("/")[0])

    @property
    def mean(self) -> str:
        """The measure of marks: their mean, or the ratio of two sums."""
        return "mean-score" if self.per is None else "ratio"


class Beside(NamedTuple):
    """What the files hold on each row beside what is compared, as codes from 0: of all columns together, if known."""

    content: IntArray | None = None
    #: Of each column that may name groups of rows; and those of them that are dates, whose codes are in order.
    columns: Mapping[str, IntArray] = {}
    times: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class PairedPredictions:
    """What two models say of the same rows."""

    units: Units
    #: What both predict, or the labels of rows that only have scores; None for marks without labels.
    said: Labels | None = None
    scored: Scored | None = None
    #: The values that people gave some rows of baseline and candidate, NaN elsewhere; all other values are a judge's.
    people: tuple[FloatArray, FloatArray] | None = None
    #: What every score lies between, where it was named: marks, probabilities, or the numbers that classes are.
    score_range: tuple[float, float] | None = None
    #: Each run of the baseline beside the first of the candidate, then its first beside each other; empty without runs.
    runs: "tuple[PairedPredictions, ...]" = ()
    #: Whether the predictions were compared beside another score already, and the scores alone are left.
    compared: bool = False
    #: What was read of baseline and candidate, for a person: task, model, score ...
    subjects: tuple[Mapping[str, str], Mapping[str, str]] | None = None
    #: What a person should know, a line each.
    notes: tuple[Note, ...] = ()
    #: Whether baseline and candidate are the same thing: files of the same bytes, the same arrays.
    identical: bool = False
    beside: Beside = Beside()  # noqa: RUF009 - a tuple
    #: What each row is called, where that was asked for; an Arrow array of shape (n,).
    ids: Any = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.units.n

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of labels and predictions."""
        return () if self.said is None else self.said.classes

    @property
    def predicted(self) -> Predicted | None:
        """What both predict."""
        return self.said if isinstance(self.said, Predicted) else None

    @property
    def graded(self) -> bool:
        """True if no more is known than which answers were right, or their marks."""
        return self.said is None or isinstance(self.said, Verdicts)

    @cached_property
    def bounds(self) -> tuple[float, float] | None:
        """The limits of all scores: those given, or else those stated, unless a score is on another scale."""
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
) -> PairedPredictions:
    """The predictions of two models from arrays, as `sigstats.compare` takes them; or ValueError."""
    slices = by_name(slices)
    beside = {f"scores[{which}]": score for which, score in enumerate(scores)} if isinstance(scores, Sequence) else {}
    parts = {f"slices[{shown(name)}]": column for name, column in slices.items()}
    named = {"y": y, "baseline": baseline, "candidate": candidate, "groups": groups}
    named |= {"order": order, "weights": weights}
    require_same_index(**named, **beside, **parts)
    cure = "give missing={} and unscored='drop', which leaves out these rows"
    given = {"y": y, "baseline": baseline, "candidate": candidate}
    label, *said = columns = [as_class_labels(values, name, listed, cure) for name, values in given.items()]
    for name, labels in zip(("baseline", "candidate"), said, strict=True):
        same_kind_of_labels(label, labels, name)
    classes, codes = np.unique(np.concatenate(columns), return_inverse=True)
    label, a, b = codes.astype(np.int64).reshape(3, -1)
    n = len(label)
    of_groups, group = ((), None) if groups is None else coded_groups(groups, "groups", n, listed)
    if group is not None:
        group = np.argsort(np.argsort(of_groups))[group]  # numbered as groups from files are
    names = tuple(label_name(class_name) for class_name in classes.tolist())
    return PairedPredictions(
        said=Predicted(classes=names, label=label, a=a, b=b),
        units=Units.of(
            n,
            group,
            None if order is None else coded(order, "order", n),
            slices={str(k): coded(v, f"slices[{shown(k)}]", n, missing=MISSING) for k, v in slices.items()},
            weights=None if weights is None else as_weights(weights, n),
        ),
        scored=None if scores is None else _scored(scores, n),
        score_range=as_score_range(score_range),
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


def _scored(scores: Any, rows: int) -> Scored:
    if isinstance(scores, tuple) and all(np.ndim(score) == 2 for score in scores):
        return Scored.of_classes(*scores)
    if not isinstance(scores, Sequence) or len(scores) != 2:
        raise refuse("scores", scores, "two sequences, those of the baseline and of the candidate")
    a, b = (as_reals(score, f"scores[{which}]", ndim=1) for which, score in enumerate(scores))
    for which, score in enumerate((a, b)):
        if len(score) != rows:
            raise refuse(f"scores[{which}] (length)", len(score), f"{rows}, one for each row")
    return Scored(scores=(a, b))
