"""The predictions of many models for the same rows, as one table: right answers, or scores.

`join_many` joins each file to the first one, as a pair of files is joined, and keeps the rows that all files have.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
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
from ._pairing import MatchOptions, encode_together, make_units, match
from ._predictions import Ints, Predictions
from ._repeated import answer_counts, average_answers, exclude_rows, kept_rows, pair_answers

#: Largest number of files named in a note.
_NAMED = 3


@dataclass(frozen=True)
class ManyPredictions:
    """The predictions of many files for the same rows."""

    #: The scores of n rows in k files; bool if answers are right or wrong, else float; array of shape (n, k).
    scores: NDArray[Any]
    units: Units
    #: Model, task and score of each log; empty for a table.
    subjects: tuple[Mapping[str, str], ...]
    #: Notes, a line each.
    notes: tuple[Note, ...]
    #: The number of answers behind each score, if the files have unequal numbers of answers to an item; the
    #: rows are then items; int64 array of shape (n, k), or None.
    answers: Ints | None = None
    #: True if averages are of answers that were right or wrong.
    predicted: bool = False
    lower: bool = False
    #: Limits of a score; None if unknown.
    limits: tuple[float, float] | None = (0.0, 1.0)


class _UnlikeAnswersError(Exception):
    """Two files have different numbers of answers to an item."""


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
    matches = [_match(first, other, columns, options) for other in others]
    classes = [*_classes(matches[0], 0), *(model for pair in matches for model in _classes(pair, 1))]
    positions = [np.from_dlpack(pair.rows).astype(np.int64) for pair in matches]
    rows = reduce(np.intersect1d, positions)
    if not len(rows):
        problem = f"no id is in all {len(predictions)} files; expected predictions of the same rows"
        raise ValueError(f"{first.where}: {problem}")
    shared = [np.searchsorted(of_pair, rows) for of_pair in positions]  # the places of these rows among those of a pair

    def of_all(column: Callable[[Predictions], Any]) -> NDArray[Any]:
        in_others = [column(pair.other).take(pair.partners).to_numpy() for pair in matches]
        return np.column_stack([column(first).to_numpy()[rows], *map(np.take, in_others, shared)])

    score = first.score
    averaged = score is not None and score.counts is not None
    scored = _are_scores(predictions, columns)
    lower = (averaged or scored) and _is_lower_better(predictions, columns)
    notes = dict.fromkeys(first.notes)
    for pair in matches:
        notes = dict.fromkeys((*notes, *pair.other.notes, *pair.notes))
    if lower:
        notes.setdefault(lower_is_better_note(score.name if score else ""))
    if classes and not averaged and not scored and not are_measurements(classes[0][1]):
        notes.update(dict.fromkeys(class_notes(classes, answers=True)))
    if averaged or scored:
        scores = of_all(lambda side: side.score and side.score.values)
    else:
        right = [matches[0].right(0)[shared[0]], *map(np.take, (pair.right(1) for pair in matches), shared)]
        scores = np.column_stack(right)
    units = make_units(first, pa.array(rows), columns, _requested(matches, shared, columns))
    return ManyPredictions(
        scores=scores,
        answers=of_all(lambda side: side.score and side.score.counts) if averaged else None,
        units=units,
        subjects=tuple(side.source.subject for side in predictions),
        notes=(*units.notes_on_names(), *notes),
        lower=lower,
        limits=score.limits if scored and score else (0.0, 1.0),
    )


def _are_scores(predictions: Sequence[Predictions], columns: Columns) -> bool:
    """Return True if models are ranked by their scores, and not by their right predictions."""
    predicted = all(side.outcomes.predicted for side in predictions)
    return not predicted or (columns.score is not None and not predictions[0].outcomes.graded)


def _is_lower_better(predictions: Sequence[Predictions], columns: Columns) -> bool:
    """Return True if a lower score is better; raise ValueError if that is unknown, or if the scores are not marks."""
    first, *others = predictions
    name = first.score.name if first.score else ""
    two = not first.outcomes.graded and pc.count_distinct(first.outcomes.label).as_py() == 2
    directions = [lower_in_both(first, other) for other in others]
    if None in directions:
        raise unknown_direction(name, labelled=two)
    if two and name not in columns.scoring.lower | columns.scoring.higher:
        require_marks(name)
    return bool(directions[-1])


def _requested(matches: Sequence[Matched], shared: Sequence[Ints], columns: Columns) -> dict[str, Any]:
    """Return the columns of groups, slices and tasks, from the first file that has them; all files must agree."""
    requested: dict[str, Any] = {}
    for name in dict.fromkeys((*columns.optional, columns.units.task or TASK)):
        for matched, places in zip(matches, shared, strict=True):
            if name in matched.first.requested or name in matched.other.requested:
                requested.setdefault(name, matched.column(name).take(pa.array(places)))
        if name not in requested and name in columns.optional:
            first = matches[0].first
            near = did_you_mean(name, first.source.names)
            raise ValueError(f"{first.where}: column {shown(name)} was not found in any file{near}")
    return requested


def _joined_averages(predictions: Sequence[Predictions], columns: Columns, options: MatchOptions) -> ManyPredictions:
    """Return the average of all answers to each item, without those that any file left out."""
    marks = _are_scores(predictions, columns)

    def averages(side: Predictions) -> Predictions:
        for other in predictions:
            side = exclude_rows(side, other.dropped)
        return average_answers(side, marks=marks)

    grouped = columns.but(group=None) if columns.units.group == columns.id else columns  # rows are items here
    result = _joined([*map(averages, predictions)], grouped, options)
    named = [f"{answer_counts(side)} in {side.where}" for side in predictions]
    more = f" and others in {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    text = f"items have {', '.join(named[:_NAMED])}{more}: the averages of all answers to each item are ranked"
    return replace(result, predicted=not marks, notes=(*result.notes, Note("averaged-answers", text)))


def _match(first: Predictions, other: Predictions, columns: Columns, options: MatchOptions) -> Matched:
    """Join a file to the first one; raise `_UnlikeAnswersError` if their numbers of answers to an item differ."""
    kept = kept_rows(first, other.dropped)
    side = first if kept is None else first.take(kept)
    other = exclude_rows(other, first.dropped)
    sizes = len(side.ids), len(other.ids)
    side, other, epoch_notes = pair_answers(side, other, in_groups=columns.units.group not in (None, columns.id))
    if (len(side.ids), len(other.ids)) != sizes:
        raise _UnlikeAnswersError
    matched = match(side, other, **options)
    notes = *epoch_notes, *matched.differing_settings(), *matched.notes
    return matched._replace(first=first, rows=matched.rows if kept is None else kept.take(matched.rows), notes=notes)


def _classes(pair: Matched, side: int) -> list[tuple[str, tuple[str, ...], Ints, Ints]]:
    """Return a file's labels and predictions as codes, if it has them. Raise ValueError if labels lack its classes."""
    predictions = pair[:2][side]
    if predictions.outcomes.graded or not predictions.outcomes.predicted:
        return []
    classes, (label, prediction) = encode_together(pair.outcomes[0], pair.outcomes[1 + side])
    labels, predicted = counts_of(classes, label), counts_of(classes, prediction)
    DistinctNames([*labels], len(label)).check(predictions.where, [*predicted])
    return [(predictions.where, classes, label, prediction)]
