"""Many models' predictions of the same rows: what each got right, or its scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.class_names import class_notes, counts_of
from sigstats._common.class_spelling import DistinctNames
from sigstats._common.messages import Note, did_you_mean, shown
from sigstats._common.scores import lower_is_better_note, unknown_direction
from sigstats.comparison.measure_names import are_measurements
from sigstats.comparison.units import Units
from sigstats.measures.metrics import require_marks

from ._agreement import Matched, lower_in_both
from ._columns import Columns
from ._log import TASK
from ._pairing import Codes, MatchOptions, coded_together, match, units_of
from ._predictions import Predictions
from ._repeated import alike, answers_each, averaged, kept_rows, without
from ._unused import notes_of_all

#: Largest number of files named in a note.
_NAMED = 3


@dataclass(frozen=True)
class ManyPredictions:
    """The predictions of many files for the same rows."""

    #: The scores of the k files; ndarray of shape (n, k), of bool if answers are right or wrong, else of float.
    scores: NDArray[Any]
    units: Units
    #: Model, task and score of each log; empty for a table.
    subjects: tuple[Mapping[str, str], ...]
    #: Notes, a line each.
    notes: tuple[Note, ...]
    #: The number of answers behind each score, if the files have unequal numbers of answers to an item; the
    #: rows are then items; int64 array of shape (n, k), or None.
    answers: Codes | None = None
    #: True if averages are of answers that were right or wrong.
    predicted: bool = False
    lower: bool = False
    #: Limits of a score; None if unknown.
    limits: tuple[float, float] | None = (0.0, 1.0)


class _UnlikeAnswersError(Exception):
    """Two files have unlike numbers of answers to an item."""


@dataclass
class _Rows:
    first: Predictions
    valid: NDArray[np.bool_]
    right: list[NDArray[np.bool_]] = field(default_factory=list)
    scores: list[NDArray[np.float64]] = field(default_factory=list)
    answers: list[Codes] = field(default_factory=list)
    others: dict[str, Any] = field(default_factory=dict)
    notes: dict[Note, None] = field(default_factory=dict)
    subjects: list[Mapping[str, str]] = field(default_factory=list)
    predicted: bool = True
    lower: bool | None = None
    classes: list[tuple[str, tuple[str, ...], Codes, Codes]] = field(default_factory=list)

    def spread(self, values: Any, positions: Codes, empty: Any) -> NDArray[Any]:
        """Values of some rows of the first file as a column of all of them."""
        column = np.full(len(self.valid), empty)
        column[positions] = values
        return column


def join_many(predictions: Sequence[Predictions], columns: Columns, **options: Unpack[MatchOptions]) -> ManyPredictions:
    """Join predictions to the first ones as a pair is joined; `columns`: those of the first.

    If there are several answers to an item, they are paired by epoch, or averaged if their numbers differ.
    """
    try:
        return _joined(predictions, columns, options)
    except _UnlikeAnswersError:
        return _joined_averages(predictions, columns, options)


def _joined(predictions: Sequence[Predictions], columns: Columns, options: MatchOptions) -> ManyPredictions:
    first, *others = predictions
    rows = _Rows(first, np.ones(len(first.ids), dtype=bool))
    for other in others:
        _add(rows, other, columns, options)
    if not rows.valid.any():
        told = f"no id is in all {len(predictions)} files; expected predictions of the same rows"
        raise ValueError(f"{first.where}: {told}")
    return _finished(rows, columns)


def _joined_averages(predictions: Sequence[Predictions], columns: Columns, options: MatchOptions) -> ManyPredictions:
    """The average of all answers to each item, without those that any file left out."""
    predicted = all(side.outcomes.predicted for side in predictions)
    marks = not predicted or (columns.score is not None and not predictions[0].outcomes.graded)

    def reduced(side: Predictions) -> Predictions:
        for other in predictions:
            side = without(side, other.dropped)
        return averaged(side, marks=marks)

    grouped = columns.but(group=None) if columns.units.group == columns.id else columns  # rows are items here
    result = _joined([*map(reduced, predictions)], grouped, options)
    named = [f"{answers_each(side)} in {side.where}" for side in predictions]
    more = f" and others in {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    told = f"items have {', '.join(named[:_NAMED])}{more}: the averages of all answers to each item are ranked"
    return replace(result, predicted=predicted and not marks, notes=(*result.notes, Note("averaged-answers", told)))


def _add(rows: _Rows, other: Predictions, columns: Columns, options: MatchOptions) -> None:
    first = rows.first
    kept = kept_rows(first, other.dropped)
    mine = first if kept is None else first.take(kept)
    other = without(other, first.dropped)
    own, its = len(mine.ids), len(other.ids)
    mine, other, how = alike(mine, other, in_groups=columns.units.group not in (None, columns.id))
    if len(mine.ids) < own or len(other.ids) < its:
        raise _UnlikeAnswersError
    if not rows.subjects:
        rows.notes.update(dict.fromkeys(first.notes))
        rows.subjects.append(first.source.subject)
    matched = match(mine, other, **options)
    told = [*notes_of_all(rows.notes, other.notes), *how, *matched.conditions(), *matched.notes]
    rows.notes = dict.fromkeys(told)
    rows.subjects.append(other.source.subject)
    rows.predicted &= first.outcomes.predicted and other.outcomes.predicted
    rows.lower = lower_in_both(first, other) if len(rows.subjects) == 2 or rows.lower is not None else None
    of_first = matched.rows if kept is None else kept.take(matched.rows)
    positions = np.asarray(np.from_dlpack(of_first), dtype=np.int64)
    _add_answers(rows, matched, positions)
    rows.valid &= rows.spread(True, positions, False)
    task = columns.units.task or TASK
    for name in dict.fromkeys((*columns.optional, task)):
        if name in first.requested or name in other.requested:
            rows.others.setdefault(name, (positions, matched.column(name)))


def _add_answers(rows: _Rows, matched: Matched, positions: Codes) -> None:
    (mine, other), (label, a, b) = matched[:2], matched.answers()
    said = ((other, b),) if rows.right else ((rows.first, a), (other, b))
    for side, prediction in said:
        if not side.outcomes.graded and side.outcomes.predicted:
            classes, codes = coded_together(label, prediction)
            labels, said_of = (counts_of(classes, column) for column in codes)
            DistinctNames([*labels], len(label)).check(side.where, [*said_of])
            rows.classes.append((side.where, classes, codes[0], codes[1]))
        right = np.from_dlpack(pc.cast(pc.equal(label, prediction), pa.int8())).astype(bool)
        rows.right.append(rows.spread(right, positions, False))
    if mine.score is not None and other.score is not None and not mine.score.of_truth:
        if not rows.scores and rows.first.score is not None:
            rows.scores.append(rows.first.score.values.to_numpy())
        rows.scores.append(rows.spread(other.score.values.take(matched.partners).to_numpy(), positions, np.nan))
    if mine.counts is not None and other.counts is not None:
        if not rows.answers:
            rows.answers.append(rows.first.counts.to_numpy())
        rows.answers.append(rows.spread(other.counts.take(matched.partners).to_numpy(), positions, 0))


def _finished(rows: _Rows, columns: Columns) -> ManyPredictions:
    where = np.flatnonzero(rows.valid)
    scored = not rows.predicted or (columns.score is not None and not rows.first.outcomes.graded)
    marks = bool(rows.answers) or scored
    first = rows.first
    name = first.score.name if first.score else ""
    two = not first.outcomes.graded and pc.count_distinct(first.outcomes.label).as_py() == 2
    if marks and rows.lower is None:
        raise unknown_direction(name, labelled=two)
    if marks and two and name not in columns.scoring.lower | columns.scoring.higher:
        require_marks(name)
    if marks and rows.lower:
        rows.notes.setdefault(lower_is_better_note(name))
    if rows.classes and not marks and not are_measurements(rows.classes[0][1]):
        rows.notes.update(dict.fromkeys(class_notes(rows.classes)))
    table = np.column_stack([array[where] for array in (rows.scores if marks else rows.right)])
    others = {}
    task = columns.units.task or TASK
    for name in dict.fromkeys((*columns.optional, *([task] if task in rows.others else []))):
        if name not in rows.others:
            near = did_you_mean(name, rows.first.source.names)
            raise ValueError(f"{rows.first.where}: column {shown(name)} was not found in any file{near}")
        positions, column = rows.others[name]
        place = rows.spread(np.arange(len(positions)), positions, 0)
        others[name] = column.take(pa.array(place[where]))
    units = units_of(first, pa.array(where), columns, others)
    return ManyPredictions(
        scores=table,
        answers=np.column_stack([answer[where] for answer in rows.answers]) if rows.answers else None,
        units=units,
        subjects=tuple(rows.subjects),
        notes=(*units.notes_on_names(), *rows.notes),
        lower=bool(marks and rows.lower),
        limits=first.score.limits if scored and first.score else (0.0, 1.0),
    )
