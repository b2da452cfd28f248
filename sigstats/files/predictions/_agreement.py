"""Checks that two files have the same task, score and questions, and that a file of labels fits the predictions."""

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.calls import Errors
from sigstats._common.messages import Note, did_you_mean, shown

from ..tables.spelling import same_spelling
from ..tables.table import Table, in_one
from ._log import PROMPT
from ._other_columns import is_read_for_notes, notes_on_other_kinds
from ._predictions import Predictions
from ._row_order import differing, may_be_row_numbers, moved, order_notes, reordered

Files: TypeAlias = tuple[Predictions, Predictions]
ALLOW = "(--allow-different-tasks compares them anyway)"


def unlike_kinds(files: Files) -> Errors:
    """Yield errors for a log with a table, for marks with classes, and for opposite directions of a score."""
    first, other = files
    if first.outcomes.graded != other.outcomes.graded:
        kinds = f"is {_kind(other)}, and {first.where} is {_kind(first)}"
        yield ValueError(f"{other.where}: {kinds}; expected two logs or two tables")
    if first.score and other.score and {first.score.lower, other.score.lower} == {True, False}:
        yield ValueError(
            f"{other.where}: states another direction of {shown(other.score.name)} than {first.where}; name one: "
            f"--higher-is-better {other.score.name} or --lower-is-better {other.score.name}"
        )


def unlike_tasks(files: Files) -> Errors:
    """Yield errors for logs of different programs, tasks, scores or filters, unless the user named them for both."""
    first, other = files
    if first.source.harness != other.source.harness:
        programs = f"is a log of {other.source.harness}, and {first.where} is one of {first.source.harness}"
        yield ValueError(f"{other.where}: {programs}; expected logs of the same program {ALLOW}")
    for name in ("task", "scorer", "metric", "filter"):
        value, expected = other.source.subject.get(name), first.source.subject.get(name)
        if value and expected and value != expected and name not in first.source.meant & other.source.meant:
            problem = f"{name} {shown(value)} is not that of {first.where}, {shown(expected)}"
            yield ValueError(f"{other.where}: {problem}; expected the same {name} {ALLOW}")


def _kind(side: Predictions) -> str:
    if side.source.harness:
        return "a log"
    return "a table without labels" if side.outcomes.graded else "a table"


def lower_in_both(*sides: Predictions) -> bool | None:
    """Return True if lower scores are better, or None if unknown, or if negative values contradict a cost's name."""
    scores = [side.score for side in sides if side.score is not None]
    if any(score.lower and score.by_name and (pc.min(score.values).as_py() or 0.0) < 0 for score in scores):
        return None
    return next((score.lower for score in scores if score.lower is not None), None)


def first_difference(a: Any, b: Any) -> tuple[int, str, str] | None:
    """Return the first row in which two columns differ, and both values in words, with the number of further rows."""
    rows = differing(a, b)
    if not len(rows):
        return None
    row, more = rows[0].as_py(), len(rows) - 1
    one, other = difference_shown(a[row].as_py(), b[row].as_py())
    return row, one, f"{other} (and {more:,} more)" if more else other


class Matched(NamedTuple):
    """The rows that two files have in common."""

    first: Predictions
    other: Predictions
    #: The positions of these rows in both files.
    rows: Any
    partners: Any
    #: A line for each file with ids that the other file lacks.
    notes: tuple[Note, ...] = ()
    #: The labels, and the predictions of both files, spelled alike.
    outcomes: tuple[Any, Any, Any] = (None, None, None)

    def both(self, of_first: Any, of_other: Any) -> tuple[Any, Any]:
        """Return a column of both files, restricted to these rows."""
        return of_first.take(self.rows), of_other.take(self.partners)

    def common(self, what: str, a: Any, b: Any, wanted: str) -> Any:
        """Return a column that both files have, or raise ValueError that names the first row in which they differ."""
        if difference := first_difference(b, a):
            row, value, expected = difference
            key = shown(str(self.first.ids[self.rows[row].as_py()].as_py()))
            name = f"{'row' if self.first.by_position else 'id'} {key}"
            problem = f"{what} {value} is not that of {self.first.where}, {expected}; expected {wanted}"
            raise ValueError(f"{self.other.where}: {name}: {problem}")
        return a

    def column(self, name: str) -> Any:
        """Return a column of slices or groups, which must be the same in both files if both have it."""
        first, other = self.first, self.other
        if name in first.requested and name in other.requested:
            a, b = same_spelling(self.both(first.requested[name], other.requested[name]))
            return self.common(f"column {shown(name)}:", a, b, "the same in both")
        if name in first.requested:
            return first.requested[name].take(self.rows)
        if name in other.requested:
            return other.requested[name].take(self.partners)
        near = did_you_mean(name, (*first.source.names, *other.source.names))
        nor = "" if other.where == first.where else f", nor in {other.where}"
        raise ValueError(f"{first.where}: column {shown(name)} was not found{nor}{near}")

    def with_outcomes(self) -> Self:
        """Return the match with labels and predictions; raise ValueError if the labels of the two files differ."""
        a, b = self.first.outcomes, self.other.outcomes
        columns = *self.both(a.label, b.label), *self.both(a.prediction, b.prediction)
        label, label_b, prediction_a, prediction_b = same_spelling(columns)
        label = self.common("label", label, label_b, "the same labels")
        return self._replace(outcomes=(label, prediction_a, prediction_b))

    def right(self, side: int) -> NDArray[np.bool_]:
        """Return a mask of right predictions of the first file (0) or of the other one (1)."""
        right = pc.equal(self.outcomes[0], self.outcomes[1 + side])
        return np.from_dlpack(pc.cast(right, pa.int8())).astype(bool)

    def differing_questions(self) -> tuple[Note, ...]:
        """Note the number of rows with different questions under the same id; empty if there are none."""
        differs = np.zeros(len(self.rows), dtype=bool)
        for _, a, b in self.questions():
            differs[np.from_dlpack(differing(a, b))] = True
        n = int(differs.sum())
        text = f"{n:,} of {len(differs):,} rows have other questions than in {self.first.where}"
        return (Note("differing-questions", f"{self.other.where}: {text}"),) if n else ()

    def questions(self) -> Iterator[tuple[str, Any, Any]]:
        """Yield the columns that identify the question in both files, by name; a document only if it has no hash."""
        a, b = self.first.identity, self.other.identity
        ignored = {PROMPT, "doc"} if "doc_hash" in a and "doc_hash" in b else {PROMPT}
        for name in a:
            if name in b and name not in ignored:
                yield name, *self.both(a[name], b[name])
        in_order = bool((np.diff(np.from_dlpack(self.partners)) > 0).all())
        if in_order and may_be_row_numbers(self.first.ids):
            columns = self._shared_columns()
            yield from [*moved(columns)] or reordered(columns)

    def doubts_of_order(self) -> list[Note]:
        """Return a note if columns show another order of rows joined by position, and no varying labels confirm it."""
        labels = self.first.outcomes.label
        if not self.first.by_position or (not self.first.outcomes.graded and len(pc.unique(labels)) > 1):
            return []
        return [*order_notes(self._shared_columns())]

    def _shared_columns(self) -> dict[str, tuple[Any, Any]]:
        """Return the columns that are in both files and are not compared, joined."""
        a, b = self.first.other_columns, self.other.other_columns
        return {name: self.both(a[name], b[name]) for name in a if name in b}

    def differing_settings(self) -> list[Note]:
        """Return a note on each setting that differs, and one if prompts of the same questions differ."""
        first, other = self.first, self.other
        notes, settings = [], other.source.settings
        for name, value in first.source.settings.items():
            if settings.get(name, value) != value:
                of_other, of_first = difference_shown(settings[name], value)
                text = f"{name} is {of_first} in {first.where} and {of_other} in {other.where}"
                notes.append(Note("differing-settings", text))
        if PROMPT in first.identity and PROMPT in other.identity:
            a, b = self.both(first.identity[PROMPT], other.identity[PROMPT])
            if n := len(differing(a, b)):
                text = f"{n:,} of {len(a):,} prompts are not those of {first.where}"
                text += " (another template, other examples or choices)"
                notes.append(Note("differing-prompts", f"{other.where}: {text}"))
        return notes


def difference_shown(one: str, other: str) -> tuple[str, str]:
    """Return short, different forms of two different texts."""
    texts = shown(one), shown(other)
    if texts[0] != texts[1]:
        return texts
    start = max(0, len(os.path.commonprefix([one, other])) - 10)  # noqa: RUF071 - texts, no paths
    return f"...{shown(one[start : start + 30])}", f"...{shown(other[start : start + 30])}"


def align_labels(truth: Predictions, ids: Any, where: str, *, positions: bool, drop: bool) -> Predictions:
    """Return the labels in the order of these ids, or unchanged by position; missing ids become null if `drop`."""
    if positions != truth.by_position:
        raise ValueError(f"{where if positions else truth.where}: has no ids; expected --by-position")
    if positions:
        if len(truth.ids) != len(ids):
            counts = f"has {len(ids):,} rows, and {truth.where} {len(truth.ids):,}"
            raise ValueError(f"{where}: {counts}; give files with the same number of rows")
        return truth
    ids, labelled = same_spelling([ids, truth.ids])
    if (distinct := pc.count_distinct(labelled).as_py()) < len(labelled):
        labels = pc.cast(truth.outcomes.label, pa.string())
        pairs = pa.table({"id": labelled, "label": labels}).group_by(["id", "label"]).aggregate([])["id"].to_pylist()
        if len(pairs) > distinct:
            odd = next(key for key, times in Counter(pairs).items() if times > 1)
            raise ValueError(f"{where}: id {shown(odd)} has several labels in {truth.where}; give each row one label")
        truth = replace(truth, requested={}, other_columns={})  # unknown which row of an id these columns describe
    rows = pc.index_in(ids, value_set=labelled)
    if rows.null_count and not drop:
        odd = ids.filter(pc.is_null(rows))[0].as_py()
        raise ValueError(f"{where}: id {shown(odd)} has no label in {truth.where}; add it, or --unscored drop")
    return truth.take(rows)


def with_truth(predictions: Predictions, truth: Predictions, table: Table, stated: Mapping[str, Any]) -> Predictions:
    """Return the predictions with the columns of aligned labels; raise ValueError if a column of both differs.

    Columns that only the file of labels has are searched for groups and training rows, like those of the predictions.

    `table`: that of the predictions. `stated`: its column of labels, by name, if it has one.
    """
    rows = pa.array(np.arange(len(truth.ids)))
    shared = {name: (column, truth.outcomes.label) for name, column in stated.items()}
    requested = predictions.requested.items()
    shared |= {name: (column, truth.requested[name]) for name, column in requested if name in truth.requested}
    elsewhere = {name: (b, a) for name, a, b in Matched(truth, predictions, rows, rows).questions()}
    for name, (column, expected) in (*shared.items(), *elsewhere.items()):
        if difference := first_difference(*same_spelling([column, expected.cast(column.type)])):
            row, value, other = difference
            wanted = "the same in both" + id_hint(name, column) * (name in elsewhere and name in table.names)
            raise table.error(name, f": {value} is not the value in {truth.where}, {other}; expected {wanted}", row)
    unused = {name: column for name, column in truth.other_columns.items() if name not in table.names}
    telling = {name: column for name, column in unused.items() if is_read_for_notes(name)}
    notes = (note for name, column in telling.items() for note in notes_on_other_kinds(name, column))
    return replace(
        predictions,
        requested={**truth.requested, **predictions.requested},
        other_columns={**unused, **predictions.other_columns},
        notes=(*predictions.notes, *notes),
    )


def id_hint(name: str, column: Any) -> str:
    """Return the advice to join by a column, unless most of its values are repeated."""
    return f", or --id {shlex.quote(name)}" if 2 * pc.count_distinct(column).as_py() >= len(column) else ""


def unpredicted_labels(truth: Predictions, ids: Sequence[Any]) -> list[Note]:
    """Return a note on the labelled rows that no file of predictions answers."""
    predicted, labelled = same_spelling([pa.concat_arrays(map(in_one, ids)), truth.ids])
    labelled = pc.unique(labelled)
    n = pc.sum(pc.invert(pc.is_in(labelled, value_set=pc.unique(predicted)))).as_py()
    text = f"{n:,} of {len(labelled):,} rows of {truth.where} have no prediction here; they are left out"
    return [Note("unpredicted-labels", text)] if n else []
