"""Convert a table to predictions: ids or positions, labels, predictions, scores and runs."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.class_columns import equal_probabilities
from sigstats._common.class_spelling import SUMMARIES
from sigstats._common.column_names import KNOWN, RUN
from sigstats._common.messages import Note, nearest
from sigstats._common.validation import hint, shown
from sigstats.comparison.units import MISSING

from ..tables.spelling import is_number, same_spelling
from ..tables.table import Table, WithMissing
from ._agreement import check_same, differing, moved, truth_of
from ._answers import WithLikeliest, check_texts, scores_of
from ._columns import Columns, TableColumns
from ._predictions import RIGHT, Outcomes, Predictions, Scores, Source, dictionaries
from ._unused import UNUSED, refuse_other_units, unused_notes

#: The name of a column that may be one of ids.
_ID = re.compile(r"(?:^|[^A-Za-z])(?i:ids?|idx)(?:[^A-Za-z]|$)|[a-z]I[dD]$")
#: The name of a column whose rows follow one another, or share what the others were trained on.
_IN_ORDER = re.compile(r"(?i)(^|[_. -])(fold|split|step|epoch|iteration|iter|round)$")
_LISTED = 10


def _check_columns(table: Table, columns: TableColumns, *, labelled: bool, predicted: bool) -> None:
    """Refuse a table without the default column of labels or predictions, and list its columns."""
    known = " and ".join(f"{shown(name)} is read as the {key}" for key, name in columns.known)
    needed = {
        "label": (
            labelled,
            "the true class of each row",
            "--labels FILE, a file of labels, or --score NAME, for marks",
        ),
        "prediction": (predicted, known, "or --score NAME, for probabilities or marks"),
    }
    if columns.label == columns.prediction:  # a file of labels
        marks = [
            np.isin(np.asarray(table.texts_or_missing(name)), ("1", "1.0", "true", "True"))
            for name in _free(table, columns)
        ]
        one_hot = len(marks) > 1 and np.all(np.sum(marks, axis=0) == 1)
        needed["label"] = (labelled, "", "or one column of classes in place of one-hot columns" if one_hot else "")
    for key, (wanted, about, others) in needed.items():
        if not wanted or key in columns.named or (name := getattr(columns, key)) in table.names:
            continue
        free = _free(table, columns)
        own = f"--{key} COLUMN" + (f" of {', '.join(map(shown, free))}" if len(free) <= _LISTED else "")
        cure = ", ".join(filter(None, (own, others))) if free else others.removeprefix("or ") or own
        near = nearest(name, [text for text in free if text[:1] == name[:1]])
        meant = "" if near is None else f"did you mean {shown(near)}? "
        told = f" ({about})" if about else ""
        raise ValueError(f"{table.where}: column {shown(name)} was not found{told}; {meant}expected {cure}")


def _free(table: Table, columns: Columns) -> list[str]:
    taken = {columns.id, columns.label, columns.prediction, columns.score, columns.scoring.per}
    taken |= {columns.units.group, columns.units.run}
    return [name for name in table.names if name not in taken]


def _check_header(table: Table, columns: Columns, label: Any, prediction: Any) -> None:
    """Refuse a row with the names of the columns: the first one of `no_header`, or one where two files were joined."""
    first = {"label": str(label[0]).lower(), "prediction": str(prediction[0]).lower()}
    if columns.form.no_header and all(name in (key, *KNOWN[key]) for key, name in first.items()):
        raise ValueError(f"{table.where}: the first line has the names of columns; omit --no-header")
    if columns.label == columns.prediction or is_number(columns.label):
        return
    alike: Any = None
    for name, column in ((columns.label, label), (columns.prediction, prediction)):
        values = column.dictionary if pa.types.is_dictionary(column.type) else column
        # Without a scalar of Arrow, which imports pandas.
        if not pa.types.is_string(values.type) or not pc.any(pc.match_substring(values, name)).as_py():
            return
        same: Any = pc.call_function("equal", [column.cast(pa.string()), pa.scalar(name)])
        alike = same if alike is None else pc.and_(alike, same)
    if pc.any(alike).as_py():
        row = table.row(pc.index(alike, True).as_py())
        raise ValueError(
            f"{table.where}, {row}: repeats the names of the columns; expected them once, in the first line"
        )


def _by_position(table: Table, columns: Columns) -> bool:
    """True if the rows are known by their position; a table without ids is refused otherwise."""
    there = columns.id in table.names
    if columns.by_position is None:
        return not there and "id" not in columns.named
    if not columns.by_position and not there and columns.id == Columns.id and "id" not in columns.named:
        free = _free(table, columns)
        near = next((f"did you mean {name!r} (--id {name})?" for name in free if _ID.search(name)), "expected")
        said = ["--by-position, for the same rows in the same order"]
        headless = len(set(table.names)) < len(table.names) or all(map(is_number, table.names))
        if headless and not columns.form.no_header:
            near = "expected"
            said.insert(0, "--no-header, where the first line is a row and columns are named 0, 1, 2 ...,")
        elif free:
            said.append(f"--id COLUMN of {', '.join(map(shown, free[:_LISTED]))}")
        raise table.error(columns.id, f" was not found; {near} {' or '.join(said)}")
    return columns.by_position


def _notes(table: Table, columns: TableColumns, run: str | None, *, labelled: bool) -> Iterator[Note]:
    """Notes on a table, such as that its column `run` seems to number the runs of a recipe."""
    if columns.known:
        read = ", ".join(f"column {shown(name)} as the {key}" for key, name in columns.known)
        yield Note("known-columns", f"read are {read}")
    if columns.by_position:
        beside = "the labels agree" if labelled else "no labels confirm that they are the same"
        rows = "1 row is joined by its" if table.num_rows == 1 else f"{table.num_rows:,} rows are joined by their"
        yield Note("joined-by-position", f"{rows} position; {beside}")
    if _IN_ORDER.search(columns.id):
        yield Note(
            "dependent-rows",
            f"rows are identified by {shown(columns.id)}: folds and steps of a training are not independent, but this "
            "test assumes independent rows",
        )
    if run is not None and (columns.units.epoch is not None or columns.units.group == columns.id):
        told = f"if column {shown(run)} numbers runs of a recipe (trainings), these are independent: --run {run}"
        yield Note("possible-runs", told)


def _ids(table: Table, name: str, *, positions: bool, coded: bool) -> tuple[Any, bool]:
    """Return the ids of the rows, as integers if codes are allowed, and whether they are ascending numbers."""
    if positions:
        ids = pa.array(range(table.num_rows), pa.int64())
        return ids if coded else ids.cast(pa.string()), True
    table.require(name)
    ascending = table.ascending(name)
    if ascending is not None:
        return ascending if coded else table.texts(name), True
    return table.texts(name), False


def _refuse_summaries(table: Table, columns: TableColumns) -> None:
    """Refuse a first or last row named as a total or mean of the others, in the ids or in a column that is not read."""
    last = table.num_rows - 1
    edges = table.take(pa.array([0, last])) if last > 1 else table
    for name in table.names if last > 1 else ():
        if table.names.count(name) > 1 or (name in columns.wanted and name != columns.id):
            continue
        try:
            texts = edges.texts_or_missing(name).to_pylist()
        except ValueError:  # fractions or lists
            continue
        for row, text in zip((0, last), texts, strict=True):
            if str(text).lower() in SUMMARIES and pc.sum(pc.equal(table.texts_or_missing(name), text)).as_py() == 1:
                raise table.error(name, f": {shown(text)} is a summary, not a row; remove it", row)


def from_table(table: Table, given: Columns) -> Predictions:
    """The predictions in a table."""
    columns = given.in_table(table.names)
    units, chosen = columns.units, columns.chosen
    for key, *both in columns.unclear:
        raise ValueError(f"{table.where}: columns {' and '.join(map(shown, both))} may each be the {key}; name --{key}")
    if not table.has_ids:
        columns = replace(columns, by_position=columns.by_position or None)
    if chosen.filter is not None:
        raise ValueError(f"{table.where}: filter: {shown(chosen.filter)} is not valid; a table has none")
    if columns.form.missing:
        table = WithMissing(table, columns.form.missing)
    if chosen.model is not None:
        table = _of_model(table, chosen.models, chosen.model)
    lent: Mapping[str, Any] = {}
    likeliest, of_labels = None, columns.label == columns.prediction
    if columns.probabilities is not None and not (of_labels and columns.label in table.names):
        table = likeliest = WithLikeliest(table, columns, of_labels=of_labels)
    answers = (columns.score or columns.prediction, columns.label)
    lacking = [name for name in answers if table.names.count(name) == 1 and pc.any(table.missing(name)).as_py()]
    positions = _by_position(table, columns)
    several = units.epoch is not None or units.run is not None or units.group == columns.id
    coded = columns.form.coded and not lacking and columns.truth is None and not several
    texts = table.coded if coded else table.texts
    ids, ascending = _ids(table, columns.id, positions=positions, coded=coded)
    _refuse_summaries(table, columns)
    score = scores_of(table, columns)
    # A file with scores needs no predictions, and one of marks alone no labels.
    predicted = columns.score is None or columns.prediction in table.names or "prediction" in columns.named
    labelled = predicted or columns.truth or columns.label in table.names or "label" in columns.named
    _check_columns(table, columns, labelled=bool(labelled) and columns.truth is None, predicted=predicted)
    if columns.truth is not None:
        truth = truth_of(columns.truth, ids, table.where, positions=positions, drop=columns.unscored == "drop")
        label, lent = truth.outcomes.label, truth.requested
        if columns.label in table.names and columns.label != columns.prediction:
            check_same(table, columns.label, table.texts_or_missing(columns.label), label, truth.where)
    elif labelled:
        label = table.texts_or_missing(columns.label) if columns.label in lacking else texts(columns.label)
    else:
        label = pa.repeat(RIGHT, table.num_rows)
    prediction = label
    if predicted:
        missing = columns.score is None and columns.prediction in lacking
        prediction = (table.texts_or_missing if missing else texts)(columns.prediction)
        _check_header(table, columns, label, prediction)
    if positions:
        stated = units.group or units.run or units.epoch or units.order or columns.duplicates
        refuse_other_units(table, label, columns.wanted, once=not stated and not of_labels)
    if likeliest is not None and not of_labels:
        score = Scores(likeliest.of_classes(columns.label, label), of_truth=True, by_name=True, limits=(0.0, 1.0))
    others = {name: texts(name) for name in units.complete if name in table.names}
    for name, column in (*others.items(), (columns.label, label), (columns.prediction, prediction)):
        check_texts(table, name, column, columns)
    sliced = [name for name in units.slices if name in table.names and name not in others]
    others |= {name: of_slices(table, name, texts) for name in sliced}
    answered = units.epoch if units.run is None else units.run
    beside = {} if answered is not None else _beside(table, columns)
    if columns.truth is not None:
        for name in lent.keys() & others.keys():
            check_same(table, name, others[name].cast(pa.string()), lent[name], columns.truth.where)
        shared = {name: (beside[name], column) for name, column in truth.other_columns.items() if name in beside}
        for name, values, expected in moved(shared):
            check_same(table, name, values, expected, columns.truth.where, f"the same in both, or --id {name}")
    epoch = None if answered is None else table.texts(answered)
    run = next((name for name in table.names if RUN.search(name)), None)
    said = (label, prediction) if predicted and not of_labels and "prediction" not in columns.named else ()
    notes = [*_notes(table, columns, run, labelled=bool(labelled)), *unused_notes(table, columns.wanted, said)]
    for text in table.unused() if isinstance(table, WithMissing) else ():
        note = Note(UNUSED, f"missing: no value is {shown(text)}")
        notes += [note] if columns.truth is None or note in columns.truth.notes else []
    if likeliest is not None and likeliest.ties and likeliest.name_of_likeliest:
        notes.append(equal_probabilities(likeliest.ties, table.num_rows).of(table.where))
    elif likeliest is not None and predicted and not of_labels:
        n = len(differing(*same_spelling([prediction.cast(pa.string()), likeliest.likeliest])))
        told = f"{table.where}: {n:,} of {table.num_rows:,} predictions are not the class of the highest probability"
        notes += [Note("unlikely-predictions", told)] * (n > likeliest.ties)
    as_runs = "" if run is None else f"--run {run} takes them as those of runs of a recipe, which are independent; "
    if chosen.models in table.names and chosen.model is None:
        as_runs = f"--model NAME reads those of one {chosen.models}; {as_runs}"
    source = Source(
        subject={} if chosen.model is None else {"model": chosen.model},
        hint=f"{as_runs}--group {columns.id} or --epoch COLUMN takes them as answers to one item; or add --duplicates "
        "first, last or all; if several columns name an item, write them into one column of ids",
        names=tuple(table.names),
    )
    return Predictions(
        table.where,
        ids,
        Outcomes(label, prediction, predicted=predicted, graded=not labelled),
        score=score,
        source=source,
        requested={**lent, **others},
        epoch=epoch,
        distinct=ids if ascending else None,
        notes=tuple(notes),
        by_position=positions,
        unused_ids=table.texts_or_missing(columns.id) if columns.by_position and columns.id in table.names else None,
        other_columns=beside,
    )


def _beside(table: Table, columns: Columns) -> dict[str, Any]:
    """All other columns; None if not all of them were read."""
    wanted = [name for name in columns.wanted if name != columns.id or not columns.by_position]
    others, read = [name for name in table.names if name not in wanted], table.other_columns(wanted)
    return dictionaries({name: read[name] for name in others}, table.num_rows) if read.keys() >= {*others} else {}


def of_slices(table: Table, name: str, texts: Callable[[str], Any]) -> Any:
    """A column of slices; rows without a value are a slice too."""
    if pc.any(table.missing(name)).as_py():
        return pc.fill_null(table.texts_or_missing(name), MISSING)
    return texts(name)


def _of_model(table: Table, column: str, model: str) -> Table:
    if column not in table.names:
        raise table.error(column, f" was not found, so --model {model} names no rows; expected --model-column COLUMN")
    names: Any = table.texts(column)
    rows = pc.indices_nonzero(pc.is_in(names, value_set=pa.array([model])))
    if not len(rows):
        raise ValueError(
            f"{table.where}: model: {shown(model)} was not found; {hint(model, pc.unique(names).to_pylist())}"
        )
    return table.take(rows)
