"""Two models' predictions of the same rows, side by side."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sigstats._common.class_names import class_notes
from sigstats._common.class_spelling import refuse_thousands
from sigstats._common.messages import Note, join_words
from sigstats._common.validation import shown
from sigstats.comparison.measure_names import are_measurements
from sigstats.comparison.paired_predictions import Labels, Predicted, Scored, Verdicts
from sigstats.comparison.paired_predictions import PairedPredictions as PairedPredictions
from sigstats.comparison.units import Units, as_weights, in_bins

from ..tables.spelling import is_number, same_spelling
from ..tables.table import in_one
from ._agreement import Matched, lower_in_both, require_one_kind
from ._columns import Columns
from ._log import TASK
from ._predictions import MOST_VALUES, Predictions, first_rows, item_codes, other_column_codes
from ._repeated import alike, each_run, item_totals, listed, of_runs, on_left_out, require_distinct, without
from ._unused import notes_of_all

Codes = NDArray[np.int64]

#: Action for rows that only one file contains.
Unmatched: TypeAlias = Literal["refuse", "drop"]


class MatchOptions(TypedDict, total=False):
    """Options of matching two files: refuse or allow unmatched rows and different tasks."""

    unmatched: Unmatched
    allow_different_tasks: bool


def join(
    baseline: Predictions,
    candidate: Predictions,
    columns: Columns,
    *,
    with_ids: bool = False,
    **options: Unpack[MatchOptions],
) -> PairedPredictions:
    """The rows that both models predicted, with their ids where these are asked for."""
    if columns.units.run is not None:
        runs = [each_run(side.decoded()) for side in (baseline, candidate)]
        beside = [(run, runs[1][0]) for run in runs[0]] + [(runs[0][0], run) for run in runs[1][1:]]
        columns = columns.but(run=None)
        pairs = [join(*predictions, columns, with_ids=with_ids, **options) for predictions in beside]
        return of_runs(pairs, len(runs[0]), alone=baseline is candidate)
    if with_ids or not _have_same_ids(baseline, candidate):
        baseline, candidate = baseline.decoded(), candidate.decoded()
    given = baseline, candidate
    baseline, candidate = without(baseline, candidate.dropped), without(candidate, baseline.dropped)
    full = baseline, candidate
    in_groups = columns.units.group not in (None, columns.id)
    baseline, candidate, how = alike(baseline, candidate, in_groups=in_groups)
    matched = match(baseline, candidate, **options)
    rows, partners = matched.rows, matched.partners
    notes = [*notes_of_all(baseline.notes, candidate.notes), *how, *matched.conditions(), *matched.notes]
    if max(map(len, (side.ids for side in given))) > len(rows):
        notes += on_left_out(given[0], given[1], baseline.ids.take(rows))
        notes += on_left_out(given[1], given[0], candidate.ids.take(partners))
    predicted, labelled = baseline.outcomes.predicted and candidate.outcomes.predicted, not baseline.outcomes.graded
    classes, codes = coded_together(*matched.answers())
    if labelled and not are_measurements(classes):
        sides = zip((baseline, candidate), codes[1:], strict=True)
        notes += class_notes([(side.where, classes, codes[0], said) for side, said in sides])
    others = {name: matched.column(name) for name in columns.optional}
    task = columns.units.task or TASK
    if task not in others and task in baseline.requested and task in candidate.requested:
        others[task] = matched.column(task)
    unread = (
        {*baseline.source.names}.difference(columns.wanted)
        if not baseline.other_columns and columns.units.group is None and columns.units.order is None
        else ()
    )
    if unread and len(rows) * len(baseline.source.names) > MOST_VALUES:
        told = f"{len(unread):,} further columns are not examined for copies and clusters: {len(rows):,} rows are many"
        notes.append(Note("columns-not-examined", told))
    right = marks = None
    said: Labels | None = None
    if len(baseline.ids) + len(candidate.ids) < sum(len(side.ids) for side in full):
        right, marks = item_totals(*full, pc.unique(baseline.ids.take(rows)))
    if predicted:
        kind = Predicted if labelled else Verdicts
        said = kind(classes=classes, label=codes[0], a=codes[1], b=codes[2], totals=right)
    elif labelled:
        said = Labels(classes=classes, label=codes[0])
    scored, (a, b) = None, (baseline.score, candidate.score)
    if a is not None and b is not None:
        known: dict[str, Any] = {"limits": a.limits if a.limits == b.limits else None, "column": a.name}
        parts = matched.both(a.values, b.values)
        if a.of_truth and b.of_truth:
            scored = Scored.of_classes(*(part.flatten().to_numpy().reshape(len(rows), -1) for part in parts), **known)
        else:
            per = None if a.per is None else tuple(part.to_numpy() for part in matched.both(a.per, b.per))
            known |= {"per": per, "totals": marks, "lower": lower_in_both(*given), "filled": a.filled or b.filled}
            scored = Scored(scores=(parts[0].to_numpy(), parts[1].to_numpy()), **known)
    subjects = baseline.source.subject, candidate.source.subject
    return PairedPredictions(
        units=units_of(baseline, rows, columns, others),
        outcomes=said,
        scored=scored,
        subjects=subjects if any(subjects) else None,
        notes=tuple(dict.fromkeys(notes)),
        other_columns=other_column_codes(baseline, candidate, rows, partners),
        ids=baseline.keys.take(rows) if with_ids else None,
    )


def units_of(side: Predictions, rows: Any, columns: Columns, others: Mapping[str, Any]) -> Units:
    """The units of rows of a file; `others`: the columns of groups, times, weights, tasks and slices of these rows."""
    items, own = None if side.epoch is None else item_codes(side.ids.take(rows)), columns.units
    spelled, group = ((), items) if own.group is None else codes_of(others[own.group])
    if (
        items is not None
        and group is not None
        and (odd := np.flatnonzero(group != group[first_rows(items)[items]])).size
    ):
        item = side.ids.take(rows)[int(odd[0])].as_py()
        raise ValueError(f"{side.where}: id {shown(item)} is in several groups; expected each item in one")
    task = own.task or TASK
    names, tasks = codes_of(others[task]) if task in others else ((), None)
    return Units.of(
        len(rows),
        group,
        None if own.order is None else codes_of(others[own.order]),
        items=items,
        weights=None if own.weights is None else _weights(own.weights, others[own.weights]),
        group_names=spelled,
        tasks=tasks if len(names) > 1 else None,
        task_names=names,
        slices=in_bins({name: codes_of(others[name]) for name in own.slices}, dict(own.bins)),
    )


def _weights(name: str, column: Any) -> NDArray[np.float64]:
    names, codes = codes_of(column)
    if odd := next((text for text in names if not is_number(text)), None):
        raise ValueError(f"weights: {shown(odd)} in column {shown(name)} is not valid; expected numbers above 0")
    refuse_thousands(f"weights: column {shown(name)}", names)
    return as_weights(np.array([float(text) for text in names])[codes], len(codes))


def match(first: Predictions, other: Predictions, **options: Unpack[MatchOptions]) -> Matched:
    """The rows that two files have in common, in the order of the first.

    Files with several answers to an item are to be made `alike` before.
    """
    same = not options.get("allow_different_tasks")
    require_one_kind(first, other, same_task=same)
    if first.by_position and len(first.ids) != len(other.ids):
        raise ValueError(
            f"{other.where}: has {len(other.ids):,} rows, and {first.where} has {len(first.ids):,}; expected the same "
            "rows, for --by-position"
        )
    if _are_in_another_order(first.unused_ids, other.unused_ids):
        raise ValueError(
            f"{other.where}: has the ids of {first.where} in another order; sort one file, or omit --by-position"
        )
    its = _keys(other)
    shared = {name: same_spelling([own, its[name]]) for name, own in _keys(first).items() if name in its}
    shared = {name: [a, b] for name, (a, b) in shared.items() if a.sort().equals(b.sort())}
    for names in [[name] for name in shared] + [[*shared]] * bool(shared):  # a column, or all of them together
        a, b = (
            pc.binary_join_element_wise(*parts, "\n") for parts in zip(*(shared[name] for name in names), strict=True)
        )
        if pc.count_distinct(a).as_py() == len(a) and _are_in_another_order(a, b):
            columns = f"column{'s' * (len(names) > 1)} {join_words([*map(shown, names)])} of {first.where}"
            by_id = f", or add --id {shown(names[0])} in place of --by-position" * (len(names) == 1)
            raise ValueError(f"{other.where}: has the values of {columns} in another order; sort one file{by_id}")
    matched = _match(first, other)
    if same:
        matched.check_questions()
    # After the questions: if these differ, a message about ids would not help.
    if matched.notes and options.get("unmatched") != "drop":
        raise ValueError(f"{matched.notes[0]}; expected the same ids in both (--unmatched drop leaves them out)")
    return matched if same else matched._replace(notes=(*matched.notes, *matched.differing_questions()))


def _keys(side: Predictions) -> dict[str, Any]:
    """Return the other columns that may be ids of rows joined by position: texts or whole numbers."""
    kinds = pa.int64(), pa.int32(), pa.string(), pa.large_string()
    columns = {name: c for name, c in side.other_columns.items() if side.by_position and c.type.value_type in kinds}
    return {name: c.dictionary_decode().cast(pa.string()) for name, c in columns.items() if not c.null_count}


def _are_in_another_order(ids: Any, others: Any) -> bool:
    if ids is None or others is None:
        return False
    a, b = same_spelling([ids, others])
    return not a.equals(b) and bool(a.sort().equals(b.sort()))


def _match(first: Predictions, other: Predictions) -> Matched:
    keys, of_other = _without_task(first, other), _without_task(other, first)
    if keys.equals(of_other):
        require_distinct(first)
        every = pc.indices_nonzero(pc.is_valid(keys))
        return Matched(first, other, every, every)
    if first.epoch is None:
        keys, of_other = same_spelling([keys, of_other])
    require_distinct(replace(first, ids=keys, epoch=None))
    require_distinct(replace(other, ids=of_other, epoch=None))
    partner = pc.index_in(keys, value_set=of_other)
    alone = {first.where: first.ids.filter(pc.is_null(partner))}
    if len(of_other) > len(keys) - len(alone[first.where]):
        alone[other.where] = other.ids.filter(pc.is_null(pc.index_in(of_other, value_set=keys)))
    alone = {where: pc.unique(values) for where, values in alone.items()}
    notes = [
        Note("unmatched-rows", f"{where}: {listed(values)} only in this file")
        for where, values in alone.items()
        if len(values)
    ]
    rows = pc.indices_nonzero(pc.is_valid(partner))
    if not len(rows):
        one, another = (shown(str(predictions.ids[0].as_py())) for predictions in (other, first))
        raise ValueError(
            f"{other.where}: shares no id with {first.where} ({one} here, {another} there); expected "
            "predictions of the same rows (compare two models on different rows with --unpaired)"
        )
    return Matched(first, other, rows, partner.take(rows), tuple(notes))


def _without_task(side: Predictions, beside: Predictions) -> Any:
    """The unique keys; of a folder with one task that is compared with a file of it, without the task."""
    task = side.requested.get(TASK)
    if task is None or TASK in beside.requested or len(pc.unique(task)) > 1:
        return side.keys
    start = f"{task[0].as_py()}/"
    under = pc.all(pc.starts_with(side.keys, start)).as_py()
    return pc.utf8_slice_codeunits(side.keys, len(start)) if under else side.keys


def codes_of(column: Any) -> tuple[tuple[str, ...], Codes]:
    """The distinct values of a column, sorted, and the number of each row's."""
    names, (codes,) = coded_together(column)
    return names, codes


def _have_same_ids(first: Predictions, other: Predictions) -> bool:
    """True if both have the same ids, known to be distinct: then all rows are kept, and codes may stay."""
    if any(side.outcomes.graded or side.distinct is not side.ids for side in (first, other)):
        return False
    return bool(first.ids.equals(other.ids))


def coded_together(*columns: Any) -> tuple[tuple[str, ...], list[Codes]]:
    """The distinct values of all columns, sorted, and the number of each row's."""
    # Arrow imports pandas to make an array of a list and in `to_numpy`, which takes longer than the whole comparison.
    flat = map(in_one, columns)
    encoded: list[Any] = [part if pa.types.is_dictionary(part.type) else part.dictionary_encode() for part in flat]
    names = pc.unique(pa.concat_arrays([item.dictionary for item in encoded]))
    lookup = names.take(pc.array_sort_indices(names))
    seen = [np.from_dlpack(pc.index_in(item.dictionary, value_set=lookup)).astype(np.int64) for item in encoded]
    codes: list[Codes] = []
    for value, numbers in zip(encoded, seen, strict=True):
        indices = np.from_dlpack(value.indices)
        in_order = bool((numbers == np.arange(len(numbers))).all())
        codes.append(indices.astype(np.int64, copy=False) if in_order else numbers[indices])
    return tuple(lookup.to_pylist()), codes
