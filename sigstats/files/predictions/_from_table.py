"""Convert a table to predictions, unless its rows break one of the rules on tables.

`from_table` is the entry. `TableRows` reads ids, scores, labels and predictions in this order; the functions below it
are the rules, each of which is checked as soon as the columns that it needs are read.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.calls import Errors, check_rules
from sigstats._common.class_spelling import is_summary
from sigstats._common.column_names import ID
from sigstats._common.messages import nearest
from sigstats._common.validation import shown
from sigstats.comparison.units import MISSING

from ..tables.spelling import is_number
from ..tables.table import Table, WithMissing
from ._agreement import align_labels, with_truth
from ._columns import Columns
from ._predictions import RIGHT, Outcomes, Predictions, Scores, item_codes
from ._table_columns import (
    WithLikeliest,
    check_texts,
    epochs_of,
    notes_on,
    other_columns_of,
    read_scores,
    rows_of_model,
    source_of,
)
from ._table_structure import counted_cells, have_same_items, repeated_runs

#: Labels with at least this many different values may be measurements.
_MEASUREMENTS = 10
#: The most columns that are listed in a message.
_LISTED = 10


def from_table(table: Table, columns: Columns) -> Predictions:
    """Return the predictions in a table."""
    rows = TableRows(table, columns)
    table, named = rows.table, rows.columns
    outcomes = Outcomes(rows.label, rows.prediction, predicted=rows.has_predictions, graded=not rows.has_labels)
    predictions = Predictions(
        rows.where,
        rows.ids,
        outcomes,
        score=rows.score,
        source=source_of(table, named, in_tasks=rows.tasks is not None),
        requested=rows.requested,
        epoch=epochs_of(table, named),
        distinct=rows.ids if rows.ascending else None,
        notes=tuple(notes_on(table, named, outcomes)),
        by_position=rows.by_position,
        unused_ids=table.texts_or_missing(named.id) if named.by_position and named.id in table.names else None,
        other_columns=other_columns_of(table, named),
    )
    if rows.truth is None:
        return predictions
    own_labels = {}
    if named.label in table.names and not rows.is_label_file:
        own_labels[named.label] = table.texts_or_missing(named.label)
    return with_truth(predictions, rows.truth, table, own_labels)


class TableRows:
    """The rows of a table, as they are compared; ValueError if they break one of the rules on tables."""

    #: The positions of the rows, or their ids, which are whole numbers if codes are allowed.
    items: Any
    #: The items, or each row's task and item if ids restart in each task; `tasks` is None otherwise.
    ids: Any
    tasks: Any = None
    #: True if the ids are known to be distinct whole numbers in ascending order.
    ascending: bool
    #: The labels of a separate file of labels, in the order of the rows.
    truth: Predictions | None = None
    #: The labels (`RIGHT` if the table has none), and the predictions (the labels if it has none).
    label: Any
    prediction: Any

    def __init__(self, table: Table, columns: Columns) -> None:
        columns = self.columns = columns.in_table(table.names)
        for key, *both in columns.unclear:
            names = " and ".join(map(shown, both))
            raise ValueError(f"{table.where}: columns {names} may each be the {key}; name --{key}")
        if columns.chosen.filter is not None:
            raise ValueError(f"{table.where}: filter: {shown(columns.chosen.filter)} is not valid; a table has none")
        if columns.form.missing:
            table = WithMissing(table, columns.form.missing)
        if columns.chosen.model is not None:
            table = rows_of_model(table, columns.chosen.model)
        #: True for a file of labels.
        self.is_label_file = columns.label == columns.prediction
        #: The table itself, if the likeliest class of each row is the prediction, or is compared with it.
        self.likeliest: WithLikeliest | None = None
        if columns.probabilities is not None and not (self.is_label_file and columns.label in table.names):
            table = self.likeliest = WithLikeliest(table, columns, of_labels=self.is_label_file)
        self.table, self.where = table, table.where
        # A file with scores needs no predictions, and a file of marks needs no labels.
        self.has_predictions = columns.score is None or self.has("prediction")
        self.has_labels = self.has_predictions or columns.truth is not None or self.has("label")
        by_position = columns.by_position if table.has_ids else columns.by_position or None
        #: True if the rows are identified by their position.
        self.by_position = not self.has("id") if by_position is None else by_position
        self._read_ids()
        self.score = read_scores(table, columns)
        self._read_answers()
        #: The columns that options name.
        self.requested = {name: self._texts(name) for name in columns.units.complete if name in table.names}
        answers = (columns.label, self.label), (columns.prediction, self.prediction)
        for name, column in (*self.requested.items(), *answers):
            check_texts(table, name, column, columns)
        slices = [name for name in columns.units.slices if name in table.names and name not in self.requested]
        for name in slices:
            lacking = pc.any(table.missing(name)).as_py()  # rows without a value are a slice too
            self.requested[name] = pc.fill_null(table.texts_or_missing(name), MISSING) if lacking else self._texts(name)

    def _read_ids(self) -> None:
        table, columns = self.table, self.columns
        check_rules(self, (lacking_ids,))
        in_groups = columns.units.group == columns.id
        # Ids and classes may stay numbers and codes if no answer is missing, and each row is an item.
        self._coded = columns.form.coded and columns.truth is None and not in_groups
        self._coded &= columns.units.epoch is None and columns.units.run is None
        for name in (columns.score or columns.prediction, columns.label) if self._coded else ():
            self._coded &= table.names.count(name) != 1 or not pc.any(table.missing(name)).as_py()
        if self.by_position:
            numbers: Any = pa.array(range(table.num_rows), pa.int64())
        else:
            table.require(columns.id)
            numbers = table.ascending(columns.id)
        self.ascending = numbers is not None
        items = numbers if self.ascending else table.texts(columns.id)
        self.ids = self.items = items if self._coded else items.cast(pa.string())
        check_rules(self, (summary_rows,))
        task = columns.units.task
        if task is None or task not in table.names or self.by_position or in_groups:
            return
        distinct = len(pc.unique(self.items))
        if distinct < len(self.items):
            ids = pc.binary_join_element_wise(table.texts(task), self.items.cast(pa.string()), "/")
            # Ids that repeat within tasks only are those of answers, runs or duplicates, which another file may lack.
            if pc.count_distinct(ids).as_py() > distinct:
                self.tasks, self.ids = table.texts(task), ids

    def _read_answers(self) -> None:
        table, columns = self.table, self.columns
        check_rules(self, (lacking_columns,))
        if columns.truth is not None:
            drop = columns.unscored == "drop"
            self.truth = align_labels(columns.truth, self.ids, self.where, positions=self.by_position, drop=drop)
            self.label = self.truth.outcomes.label
        elif self.has_labels:
            self.label = self._texts(columns.label, or_missing=True)
        else:
            self.label = pa.repeat(RIGHT, table.num_rows)
        self.prediction = self.label
        if self.has_predictions:
            self.prediction = self._texts(columns.prediction, or_missing=columns.score is None)
        for name in {columns.label, columns.prediction}.intersection(table.names):
            table.check_points(name, fewest=_MEASUREMENTS)
        check_rules(self, (repeated_header, counted_cells, repeated_runs))
        if self.tasks is not None:
            names = pc.unique(self.tasks).to_pylist()
            have_same_items(self.where, names, item_codes(self.tasks), self.items, self.label, columns)
        if self.likeliest is not None and not self.is_label_file:
            of_classes = self.likeliest.of_classes(columns.label, self.label)
            self.score = Scores(of_classes, of_truth=True, by_name=True, limits=(0.0, 1.0))

    def has(self, key: str) -> bool:
        """Return True if the table has the column of ids, labels or predictions, or the user named one."""
        return key in self.columns.named or getattr(self.columns, key) in self.table.names

    def _texts(self, name: str, *, or_missing: bool = False) -> Any:
        """Return a column as texts or codes; null if a value may be missing and is."""
        if self._coded:
            return self.table.coded(name)
        return self.table.texts_or_missing(name) if or_missing else self.table.texts(name)


def lacking_ids(rows: TableRows) -> Errors:
    """Yield the error for a table without ids whose rows are not identified by position."""
    columns, names = rows.columns, rows.table.names
    if rows.by_position or rows.has("id") or columns.id != Columns.id:
        return
    free = _free(rows)
    near = next((f"did you mean {name!r} (--id {name})?" for name in free if ID.search(name)), "expected")
    ways = ["--by-position, for the same rows in the same order"]
    if nameless := _nameless(names):
        near = f"{nameless}expected"
    elif free:
        ways.append(f"--id COLUMN of {', '.join(map(shown, free[:_LISTED]))}")
    yield rows.table.error(columns.id, f" was not found; {near} {' or '.join(ways)}")


def _nameless(names: Sequence[str]) -> str:
    """Return advice if the first line of a table seems to be a row."""
    is_row = len(set(names)) < len(names) or all(map(is_number, names))
    return "if the first line is a row, add a line of names above it; otherwise " * is_row


def summary_rows(rows: TableRows) -> Errors:
    """Yield an error for a first or last id that names a total or mean of the others."""
    if rows.columns.id not in rows.table.names or rows.columns.by_position or len(rows.items) < 3:
        return
    for row in (0, rows.table.num_rows - 1):
        text = rows.items[row].as_py()
        if is_summary(text) and pc.sum(pc.equal(rows.items.cast(pa.string()), text)).as_py() == 1:
            yield rows.table.error(rows.columns.id, f": {shown(text)} is a summary, not a row; remove it", row)


def lacking_columns(rows: TableRows) -> Errors:
    """Yield the error for a missing column of labels or predictions, with a list of the columns."""
    columns, lacking = rows.columns, dict[str, tuple[str, str]]()
    if rows.has_labels and columns.truth is None:
        lacking["label"] = "the true class of each row", "--labels FILE, a file of labels, or --score NAME, for marks"
        if rows.is_label_file and not rows.has("label"):
            lacking["label"] = "", ""
    if rows.has_predictions:
        known = " and ".join(f"{shown(name)} is read as the {key}" for key, name in columns.known)
        lacking["prediction"] = known, "or --score NAME, for probabilities or marks"
    for key, (about, remedy) in lacking.items():
        if rows.has(key):
            continue
        name, free = getattr(columns, key), _free(rows)
        option = f"--{key} COLUMN" + (f" of {', '.join(map(shown, free))}" if len(free) <= _LISTED else "")
        expected = ", ".join(filter(None, (option, remedy))) if free else remedy.removeprefix("or ") or option
        near = nearest(name, [text for text in free if text[:1] == name[:1]])
        meant = _nameless(rows.table.names) if near is None else f"did you mean {shown(near)}? "
        about = f" ({about})" if about else ""
        yield ValueError(f"{rows.where}: column {shown(name)} was not found{about}; {meant}expected {expected}")


def _free(rows: TableRows) -> list[str]:
    """Return the columns that have no other purpose."""
    columns = rows.columns
    used = {columns.id, columns.label, columns.prediction, columns.score, columns.scoring.per}
    used |= {columns.units.group, columns.units.run}
    return [name for name in rows.table.names if name not in used]


def repeated_header(rows: TableRows) -> Errors:
    """Yield an error for a row that repeats the names of the columns, as in concatenated files."""
    columns, answers = rows.columns, {"label": rows.label, "prediction": rows.prediction}
    if not rows.has_predictions or rows.is_label_file or is_number(columns.label):
        return
    repeated: Any = None
    for key, column in answers.items():
        name = getattr(columns, key)
        values = column.dictionary if pa.types.is_dictionary(column.type) else column
        # Without a scalar of Arrow, which imports pandas.
        if not pa.types.is_string(values.type) or not pc.any(pc.match_substring(values, name)).as_py():
            return
        equal: Any = pc.call_function("equal", [column.cast(pa.string()), pa.scalar(name)])
        repeated = equal if repeated is None else pc.and_(repeated, equal)
    if pc.any(repeated).as_py():
        row = rows.table.row(pc.index(repeated, True).as_py())
        yield ValueError(
            f"{rows.where}, {row}: repeats the names of the columns; expected them once, in the first line"
        )
