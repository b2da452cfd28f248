"""Convert a table to predictions: ids or positions, labels, predictions, scores and runs."""

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.class_columns import equal_probabilities
from sigstats._common.class_spelling import SUMMARIES
from sigstats._common.column_names import RUN
from sigstats._common.messages import Note
from sigstats._common.validation import hint, shown
from sigstats.comparison.units import MISSING

from ..tables.spelling import same_spelling
from ..tables.table import Table, WithMissing
from ._agreement import align_labels, differing, may_be_row_numbers, moved, require_same_as_labels
from ._columns import Columns, TableColumns
from ._other_columns import UNUSED, dictionaries, refuse_cells_and_runs, unused_notes
from ._predictions import RIGHT, Outcomes, Predictions, Scores, Source, item_codes
from ._table_columns import WithLikeliest, check_texts, is_by_position, read_scores, require_columns, require_one_header
from ._tasks import have_same_items, restarting_tasks

#: The name of a column whose rows follow one another, or share what the others were trained on.
_IN_ORDER = re.compile(r"(?i)(^|[_. -])(fold|split|step|epoch|iteration|iter|round)$")


def from_table(table: Table, given: Columns) -> Predictions:
    """The predictions in a table."""
    table, columns = _prepared(table, given)
    units, of_labels = columns.units, columns.label == columns.prediction
    likeliest = None
    if columns.probabilities is not None and not (of_labels and columns.label in table.names):
        table = likeliest = WithLikeliest(table, columns, of_labels=of_labels)
    by_position, coded = is_by_position(table, columns), _may_be_coded(table, columns)
    texts, texts_or_missing = (table.coded,) * 2 if coded else (table.texts, table.texts_or_missing)
    ids, ascending = _ids(table, columns.id, by_position=by_position, coded=coded)
    _refuse_summaries(table, columns, ids)
    ids_in_tasks, tasks = ids, None if by_position else restarting_tasks(table, columns, ids)
    if tasks is not None:
        ids, ascending = pc.binary_join_element_wise(tasks, ids.cast(pa.string()), "/"), False
    score = read_scores(table, columns)
    # A file with scores needs no predictions, and a file of marks needs no labels.
    predicted = columns.score is None or columns.prediction in table.names or "prediction" in columns.named
    labelled = predicted or columns.truth is not None or columns.label in table.names or "label" in columns.named
    require_columns(table, columns, labelled=labelled and columns.truth is None, predicted=predicted)
    truth = None
    if columns.truth is not None:
        drop = columns.unscored == "drop"
        truth = align_labels(columns.truth, ids, table.where, positions=by_position, drop=drop)
        label = truth.outcomes.label
        if columns.label in table.names and not of_labels:
            labels = table.texts_or_missing(columns.label)
            require_same_as_labels(table, columns.label, labels, label, truth.where)
    else:
        label = texts_or_missing(columns.label) if labelled else pa.repeat(RIGHT, table.num_rows)
    prediction = label
    if predicted:
        prediction = (texts_or_missing if columns.score is None else texts)(columns.prediction)
        require_one_header(table, columns, label, prediction)
    if tasks is not None:
        names = pc.unique(tasks).to_pylist()
        have_same_items(table.where, names, item_codes(tasks), ids_in_tasks, label, columns)
    if by_position:
        repeated = units.group or units.run or units.epoch or units.order or columns.duplicates
        refuse_cells_and_runs(table, label, columns.wanted, distinct_items=not repeated and not of_labels)
    if likeliest is not None and not of_labels:
        score = Scores(likeliest.of_classes(columns.label, label), of_truth=True, by_name=True, limits=(0.0, 1.0))
    requested = {name: texts(name) for name in units.complete if name in table.names}
    for name, column in (*requested.items(), (columns.label, label), (columns.prediction, prediction)):
        check_texts(table, name, column, columns)
    slices = [name for name in units.slices if name in table.names and name not in requested]
    requested |= {name: _slice_column(table, name, texts) for name in slices}
    answer = units.run or units.epoch
    other_columns = {} if answer is not None else _other_columns(table, columns)
    if truth is not None:
        for name in truth.requested.keys() & requested.keys():
            column = requested[name].cast(pa.string())
            require_same_as_labels(table, name, column, truth.requested[name], truth.where)
        shared = other_columns.keys() & truth.other_columns.keys() if may_be_row_numbers(ids) else ()
        for name, column, expected in moved({n: (other_columns[n], truth.other_columns[n]) for n in shared}):
            wanted = f"the same in both, or --id {shlex.quote(name)}"
            require_same_as_labels(table, name, column, expected, truth.where, wanted)
        requested = {**truth.requested, **requested}
    outcomes = Outcomes(label, prediction, predicted=predicted, graded=not labelled)
    return Predictions(
        table.where,
        ids,
        outcomes,
        score=score,
        source=_source(table, columns),
        requested=requested,
        epoch=None if answer is None else table.texts(answer),
        distinct=ids if ascending else None,
        notes=tuple(_notes(table, columns, outcomes)),
        by_position=by_position,
        unused_ids=table.texts_or_missing(columns.id) if columns.by_position and columns.id in table.names else None,
        other_columns=other_columns,
    )


def _prepared(table: Table, given: Columns) -> tuple[Table, TableColumns]:
    """The rows to read, with missing values, and the names of their columns; options of logs are refused."""
    columns = given.in_table(table.names)
    for key, *both in columns.unclear:
        raise ValueError(f"{table.where}: columns {' and '.join(map(shown, both))} may each be the {key}; name --{key}")
    if not table.has_ids:
        columns = replace(columns, by_position=columns.by_position or None)
    if columns.chosen.filter is not None:
        raise ValueError(f"{table.where}: filter: {shown(columns.chosen.filter)} is not valid; a table has none")
    if columns.form.missing:
        table = WithMissing(table, columns.form.missing)
    if columns.chosen.model is not None:
        table = _rows_of_model(table, columns.chosen.models, columns.chosen.model)
    return table, columns


def _may_be_coded(table: Table, columns: Columns) -> bool:
    """True if ids and classes may stay numbers and codes: no answer is missing, and each row is an item."""
    units = columns.units
    several = units.epoch is not None or units.run is not None or units.group == columns.id
    if not columns.form.coded or columns.truth is not None or several:
        return False
    answers = (columns.score or columns.prediction, columns.label)
    return not any(table.names.count(name) == 1 and pc.any(table.missing(name)).as_py() for name in answers)


def _ids(table: Table, name: str, *, by_position: bool, coded: bool) -> tuple[Any, bool]:
    """Return the ids of the rows, as integers if codes are allowed, and whether they are ascending numbers."""
    if by_position:
        ids = pa.array(range(table.num_rows), pa.int64())
        return ids if coded else ids.cast(pa.string()), True
    table.require(name)
    ascending = table.ascending(name)
    if ascending is not None:
        return ascending if coded else table.texts(name), True
    return table.texts(name), False


def _refuse_summaries(table: Table, columns: TableColumns, ids: Any) -> None:
    """Refuse a row named as a total or mean of the others: the first or last id; the last of a first unread column."""
    name, rows = columns.id, [0, table.num_rows - 1]
    if columns.id not in table.names or columns.by_position:
        name, rows = table.names[0], rows[1:]
        if name in columns.wanted or table.names.count(name) > 1 or pc.any(table.missing(name)).as_py():
            return
        try:
            ids = table.coded(name)
        except ValueError:  # fractions or lists
            return
    for row in rows if len(ids) > 2 else ():
        text = ids[row].as_py()
        if str(text).lower() in SUMMARIES and pc.sum(pc.equal(ids.cast(pa.string()), text)).as_py() == 1:
            raise table.error(name, f": {shown(text)} is a summary, not a row; remove it", row)


def _source(table: Table, columns: Columns) -> Source:
    chosen, run = columns.chosen, _run_column(table)
    several = chosen.models in table.names and chosen.model is None
    hints = f"--model NAME reads those of one {chosen.models}; " if several else ""
    hints += f"--run {run} takes them as those of runs of a recipe, which are independent; " if run else ""
    hints += f"--group {columns.id} or --epoch COLUMN takes them as answers to one item; or add --duplicates first, "
    hints += "last or all; or --task COLUMN, if ids restart in each task"
    subject = {} if chosen.model is None else {"model": chosen.model}
    return Source(subject=subject, hint=hints, names=tuple(table.names))


def _run_column(table: Table) -> str:
    """The first column that seems to number the runs of a recipe; empty if there is none."""
    return next(filter(RUN.search, table.names), "")


def _notes(table: Table, columns: TableColumns, outcomes: Outcomes) -> Iterator[Note]:
    """Yield notes on guessed columns, unused columns and texts, and doubtful predictions."""
    if columns.known:
        read = ", ".join(f"column {shown(name)} as the {key}" for key, name in columns.known)
        yield Note("known-columns", f"read are {read}")
    if columns.by_position:
        labels = "no labels confirm that they are the same" if outcomes.graded else "the labels agree"
        rows = "1 row is joined by its" if table.num_rows == 1 else f"{table.num_rows:,} rows are joined by their"
        yield Note("joined-by-position", f"{rows} position; {labels}")
    if _IN_ORDER.search(columns.id):
        yield Note(
            "dependent-rows",
            f"rows are identified by {shown(columns.id)}: folds and steps of a training are not independent, but this "
            "test assumes independent rows",
        )
    run = _run_column(table)
    if run and (columns.units.epoch is not None or columns.units.group == columns.id):
        text = f"if column {shown(run)} numbers runs of a recipe (trainings), these are independent: --run {run}"
        yield Note("possible-runs", text)
    has_verdict = outcomes.predicted and columns.label != columns.prediction and "prediction" not in columns.named
    yield from unused_notes(table, columns.wanted, (outcomes.label, outcomes.prediction) if has_verdict else ())
    for text in table.unused() if isinstance(table, WithMissing) else ():
        note = Note(UNUSED, f"missing: no value is {shown(text)}")
        if columns.truth is None or note in columns.truth.notes:
            yield note
    if not isinstance(table, WithLikeliest):
        return
    if table.name_of_likeliest and table.ties:
        yield equal_probabilities(table.ties, table.num_rows).of(table.where)
    elif not table.name_of_likeliest and outcomes.predicted:
        n = len(differing(*same_spelling([outcomes.prediction.cast(pa.string()), table.likeliest])))
        if n > table.ties:
            text = f"{n:,} of {table.num_rows:,} predictions are not the class of the highest probability"
            yield Note("unlikely-predictions", f"{table.where}: {text}")


def _other_columns(table: Table, columns: Columns) -> dict[str, Any]:
    """All other columns; None if not all of them were read."""
    wanted = [name for name in columns.wanted if name != columns.id or not columns.by_position]
    others, read = [name for name in table.names if name not in wanted], table.other_columns(wanted)
    return dictionaries({name: read[name] for name in others}, table.num_rows) if read.keys() >= {*others} else {}


def _slice_column(table: Table, name: str, texts: Callable[[str], Any]) -> Any:
    """A column of slices; rows without a value are a slice too."""
    if pc.any(table.missing(name)).as_py():
        return pc.fill_null(table.texts_or_missing(name), MISSING)
    return texts(name)


def _rows_of_model(table: Table, column: str, model: str) -> Table:
    if column not in table.names:
        raise table.error(column, f" was not found, so --model {model} names no rows; expected --model-column COLUMN")
    names: Any = table.texts(column)
    rows = pc.indices_nonzero(pc.is_in(names, value_set=pa.array([model])))
    if not len(rows):
        raise ValueError(
            f"{table.where}: model: {shown(model)} was not found; {hint(model, pc.unique(names).to_pylist())}"
        )
    return table.take(rows)
