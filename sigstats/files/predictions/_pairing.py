"""Join two models' predictions of the same rows.

`join` is the entry. `match` finds the rows that two files share, by their keys, and refuses files that do not fit.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.calls import Errors, check_rules
from sigstats._common.class_names import class_notes
from sigstats._common.class_spelling import refuse_thousands
from sigstats._common.messages import Note
from sigstats._common.time_order import DATE
from sigstats._common.validation import shown
from sigstats.comparison.measure_names import are_measurements
from sigstats.comparison.paired_predictions import ItemTotals, Labels, PairedPredictions, Predicted, Scored, Verdicts
from sigstats.comparison.units import Units, as_weights, in_bins

from ..tables.spelling import is_number, same_spelling
from ..tables.table import in_one
from ._agreement import ALLOW, Files, Matched, id_hint, lower_in_both, unlike_kinds, unlike_tasks
from ._columns import Columns
from ._log import TASK
from ._other_columns import MOST_VALUES, other_column_codes
from ._predictions import Ints, Predictions, first_rows, item_codes, repeated_keys, some_ids_are
from ._repeated import combine_runs, exclude_rows, item_totals, left_out_notes, pair_answers, split_runs


class MatchOptions(TypedDict, total=False):
    """Options of matching two files: refuse or allow unmatched rows and different tasks."""

    unmatched: Literal["refuse", "drop"]
    allow_different_tasks: bool


def join(
    baseline: Predictions,
    candidate: Predictions,
    columns: Columns,
    *,
    with_ids: bool = False,
    **options: Unpack[MatchOptions],
) -> PairedPredictions:
    """Return the rows that both models predicted; `with_ids`: also the ids of these rows."""
    if columns.units.run is not None:
        runs_a, runs_b = (split_runs(side.decoded()) for side in (baseline, candidate))
        sides = [(run, runs_b[0]) for run in runs_a] + [(runs_a[0], run) for run in runs_b[1:]]
        pairs = [join(*pair, columns.but(run=None), with_ids=with_ids, **options) for pair in sides]
        return combine_runs(pairs, len(runs_a), with_itself=baseline is candidate)
    if with_ids or not _have_same_ids(baseline, candidate):
        baseline, candidate = baseline.decoded(), candidate.decoded()
    files = baseline, candidate
    answered = exclude_rows(baseline, candidate.dropped), exclude_rows(candidate, baseline.dropped)
    in_groups = columns.units.group not in (None, columns.id)
    baseline, candidate, epoch_notes = pair_answers(*answered, in_groups=in_groups)
    matched = match(baseline, candidate, **options)
    rows, partners = matched.rows, matched.partners
    notes = [*baseline.notes, *candidate.notes, *epoch_notes, *matched.differing_settings(), *matched.notes]
    if max(len(side.ids) for side in files) > len(rows):
        notes += left_out_notes(*files, baseline.ids.take(rows))
        notes += left_out_notes(*files[::-1], candidate.ids.take(partners))
    classes, (label, a, b) = encode_together(*matched.outcomes)
    if not baseline.outcomes.graded and not are_measurements(classes):
        notes += class_notes([(baseline.where, classes, label, a), (candidate.where, classes, label, b)])
    notes += _unread_notes(baseline, columns, len(rows))
    totals_right = totals_of_marks = None
    if len(baseline.ids) + len(candidate.ids) < sum(len(side.ids) for side in answered):  # unequal numbers of answers
        totals_right, totals_of_marks = item_totals(*answered, pc.unique(baseline.ids.take(rows)))
    outcomes: Labels | None = None if baseline.outcomes.graded else Labels(classes=classes, label=label)
    if baseline.outcomes.predicted and candidate.outcomes.predicted:
        kind = Verdicts if baseline.outcomes.graded else Predicted
        outcomes = kind(classes=classes, label=label, a=a, b=b, totals=totals_right)
    subjects = baseline.source.subject, candidate.source.subject
    return PairedPredictions(
        units=make_units(baseline, rows, columns, _requested(matched, columns)),
        outcomes=outcomes,
        scored=_scored(matched, lower_in_both(*files), totals_of_marks),
        subjects=subjects if any(subjects) else None,
        notes=tuple(dict.fromkeys(notes)),
        other_columns=other_column_codes(baseline, candidate, rows, partners),
        ids=baseline.keys.take(rows) if with_ids else None,
    )


def _requested(matched: Matched, columns: Columns) -> dict[str, Any]:
    """Return the columns that options name, and the tasks if both files have them."""
    requested = {name: matched.column(name) for name in columns.optional}
    task = columns.units.task or TASK
    if task not in requested and task in matched.first.requested and task in matched.other.requested:
        requested[task] = matched.column(task)
    return requested


def _scored(matched: Matched, lower: bool | None, totals: ItemTotals | None) -> Scored | None:
    """Return the scores of the rows, if both files have them."""
    a, b = matched.first.score, matched.other.score
    if a is None or b is None:
        return None
    values, limits = matched.both(a.values, b.values), a.limits if a.limits == b.limits else None
    if a.of_truth and b.of_truth:
        tables = [part.flatten().to_numpy().reshape(len(matched.rows), -1) for part in values]
        return Scored.of_classes(tables[0], tables[1], limits=limits, column=a.name)
    scores = values[0].to_numpy(), values[1].to_numpy()
    per: Any = None if a.per is None else tuple(part.to_numpy() for part in matched.both(a.per, b.per))
    filled = a.filled or b.filled
    return Scored(scores=scores, per=per, totals=totals, lower=lower, filled=filled, limits=limits, column=a.name)


def _unread_notes(side: Predictions, columns: Columns, rows: int) -> list[Note]:
    """Return a note if the file has too many values for a search for copies and clusters in the other columns."""
    unread = {*side.source.names}.difference(columns.wanted)
    searched = side.other_columns or columns.units.group is not None or columns.units.order is not None
    if searched or not unread or rows * len(side.source.names) <= MOST_VALUES:
        return []
    text = f"{len(unread):,} further columns are not examined for copies and clusters: {rows:,} rows take too long"
    return [Note("columns-not-examined", text)]


def match(first: Predictions, other: Predictions, **options: Unpack[MatchOptions]) -> Matched:
    """Return the rows that two files have in common, in the order of the first.

    Files with several answers to an item must be paired by `pair_answers` before.
    """
    same = not options.get("allow_different_tasks")
    check_rules((first, other), (unlike_kinds, *[unlike_tasks] * same, *[unlike_positions] * first.by_position))
    matched = _match_keys(first, other)
    for name, a, b in matched.questions() if same else ():
        by_name = id_hint(name, a) if name in first.other_columns and name not in first.identity else ""
        matched.common(name, a, b, f"the same questions{by_name} {ALLOW}")
    # After the questions: if these differ, a message about ids would not help.
    if matched.notes and options.get("unmatched") != "drop":
        raise ValueError(f"{matched.notes[0]}; expected the same ids in both (--unmatched drop leaves them out)")
    doubts = matched.doubts_of_order() if same else matched.differing_questions()
    return matched._replace(notes=(*matched.notes, *doubts)).with_outcomes()


def unlike_positions(files: Files) -> Errors:
    """Yield errors for files that cannot be joined by position: unequal lengths, or ids in another order."""
    first, other = files
    if len(first.ids) != len(other.ids):
        sizes = f"has {len(other.ids):,} rows, and {first.where} has {len(first.ids):,}"
        yield ValueError(f"{other.where}: {sizes}; expected the same rows, for --by-position")
    if first.unused_ids is not None and other.unused_ids is not None:
        a, b = same_spelling([first.unused_ids, other.unused_ids])
        if not a.equals(b) and a.sort().equals(b.sort()):
            problem = f"has the ids of {first.where} in another order; sort one file, or omit --by-position"
            yield ValueError(f"{other.where}: {problem}")


def _match_keys(first: Predictions, other: Predictions) -> Matched:
    """Return the rows with the same keys, and a note on each file that has other rows."""
    keys_a, keys_b = _keys_for(first, other), _keys_for(other, first)
    if keys_a.equals(keys_b):
        check_rules(first, (repeated_keys,))
        every = pc.indices_nonzero(pc.is_valid(keys_a))
        return Matched(first, other, every, every)
    if first.epoch is None:
        keys_a, keys_b = same_spelling([keys_a, keys_b])
    for side, keys in ((first, keys_a), (other, keys_b)):
        check_rules(replace(side, ids=keys, epoch=None), (repeated_keys,))
    partners = pc.index_in(keys_a, value_set=keys_b)
    rows = pc.indices_nonzero(pc.is_valid(partners))
    if not len(rows):
        ids = [str(keys[0].as_py()) for keys in (keys_b, keys_a)]
        cure = "expected predictions of the same rows (compare two models on different rows with --unpaired)"
        if all(map(DATE.match, ids)) and len({re.sub(r"\d", "0", text) for text in ids}) > 1:
            cure = "write the times in both as text of one form, in one time zone"
        problem = f"shares no id with {first.where} ({shown(ids[0])} here, {shown(ids[1])} there)"
        raise ValueError(f"{other.where}: {problem}; {cure}")
    unmatched = {"of the baseline": first.ids.filter(pc.is_null(partners))}
    if len(keys_b) > len(rows):
        unmatched["of the candidate"] = other.ids.filter(pc.is_null(pc.index_in(keys_b, value_set=keys_a)))
    notes = []
    for side, (of_model, ids) in zip((first, other), unmatched.items(), strict=False):
        place = of_model if first.where == other.where else "in this file"
        if len(ids):
            notes.append(Note("unmatched-rows", f"{side.where}: {some_ids_are(pc.unique(ids))} only {place}"))
    return Matched(first, other, rows, partners.take(rows), tuple(notes))


def _keys_for(side: Predictions, other: Predictions) -> Any:
    """Return unique keys, with the task if the other file's ids restart in each, or without a folder's only task."""
    if (name := other.source.task) and not side.source.task:
        if name not in side.requested:
            wanted = f"ids of {other.where} restart in each task, so add the task of each row"
            raise ValueError(f"{side.where}: column {shown(name)} was not found; {wanted}")
        return pc.binary_join_element_wise(side.requested[name], side.keys, "/")
    task = side.requested.get(TASK)
    if task is None or TASK in other.requested or len(pc.unique(task)) > 1:
        return side.keys
    start = f"{task[0].as_py()}/"
    is_prefix = pc.all(pc.starts_with(side.keys, start)).as_py()
    return pc.utf8_slice_codeunits(side.keys, len(start)) if is_prefix else side.keys


def _have_same_ids(first: Predictions, other: Predictions) -> bool:
    """Return True if both files have the same distinct ids; then all rows are kept, and codes stay valid."""
    if any(side.outcomes.graded or side.distinct is not side.ids for side in (first, other)):
        return False
    return bool(first.ids.equals(other.ids))


def make_units(side: Predictions, rows: Any, columns: Columns, requested: Mapping[str, Any]) -> Units:
    """Return the units of rows of a file; `requested`: the columns of these rows that options name."""
    names, items = columns.units, None if side.epoch is None else item_codes(side.ids.take(rows))
    group_names, group = ((), items) if names.group is None else encode(requested[names.group])
    if items is not None and group is not None:
        differs = np.flatnonzero(group != group[first_rows(items)[items]])
        if len(differs):
            item = side.ids.take(rows)[int(differs[0])].as_py()
            raise ValueError(f"{side.where}: id {shown(item)} is in several groups; expected each item in one")
    task = names.task or TASK
    task_names, tasks = encode(requested[task]) if task in requested else ((), None)
    return Units.of(
        len(rows),
        group,
        None if names.order is None else encode(requested[names.order]),
        items=items,
        weights=None if names.weights is None else _weights(names.weights, requested[names.weights]),
        group_names=group_names,
        tasks=tasks if len(task_names) > 1 else None,
        task_names=task_names,
        slices=in_bins({name: encode(requested[name]) for name in names.slices}, dict(names.bins)),
    )


def _weights(name: str, column: Any) -> NDArray[np.float64]:
    names, codes = encode(column)
    if odd := next((text for text in names if not is_number(text)), None):
        raise ValueError(f"weights: {shown(odd)} in column {shown(name)} is not valid; expected numbers above 0")
    refuse_thousands(f"weights: column {shown(name)}", names)
    return as_weights(np.array([float(text) for text in names])[codes], len(codes))


def encode(column: Any) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct values of a column, sorted, and each row's position among them."""
    names, (codes,) = encode_together(column)
    return names, codes


def encode_together(*columns: Any) -> tuple[tuple[str, ...], list[Ints]]:
    """Return the distinct values of all columns, sorted, and each row's position among them."""
    # Arrow imports pandas to make an array of a list and in `to_numpy`, which takes longer than the whole comparison.
    arrays = map(in_one, columns)
    encoded: list[Any] = [
        array if pa.types.is_dictionary(array.type) else array.dictionary_encode() for array in arrays
    ]
    names = pc.unique(pa.concat_arrays([array.dictionary for array in encoded]))
    names = names.take(pc.array_sort_indices(names))
    codes: list[Ints] = []
    for array in encoded:
        numbers = np.from_dlpack(pc.index_in(array.dictionary, value_set=names)).astype(np.int64)
        indices = np.from_dlpack(array.indices)
        in_order = bool((numbers == np.arange(len(numbers))).all())
        codes.append(indices.astype(np.int64, copy=False) if in_order else numbers[indices])
    return tuple(names.to_pylist()), codes
