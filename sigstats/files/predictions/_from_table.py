"""Convert a table to predictions, unless its rows break one of the rules on tables.

`from_table` is the entry. `TableRows` reads ids, scores, labels and predictions in this order; the functions below it
are the rules, each of which is checked as soon as the columns that it needs are read.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.calls import Errors, check_rules
from sigstats._common.class_spelling import is_summary
from sigstats._common.column_names import COUNTS, ID, RUN_OR_MODEL
from sigstats._common.messages import nearest
from sigstats._common.repeats import joint_codes
from sigstats._common.validation import shown
from sigstats.comparison.units import MISSING

from ..tables.spelling import is_number
from ..tables.table import Table, WithMissing
from ._agreement import align_labels, with_truth
from ._columns import MODELS, Columns
from ._other_columns import as_dictionaries, may_count
from ._predictions import RIGHT, Ints, Outcomes, Predictions, Scores, item_codes, places
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
from ._tasks import BITS, bits_of, have_same_items, same_items

#: Labels with at least this many different values may be measurements.
_MEASUREMENTS = 10
#: The most columns that are listed in a message, or that are factors of counts without a usual name.
_LISTED = 10
#: Of tables of counts: the most and the fewest rows, the smallest mean count, and the probability of a coincidence.
_MOST_CELLS, _FEWEST_CELLS, _MEAN_COUNT, _BY_CHANCE = 10_000, 4, 5, 1e-4
#: Runs have at least this many rows on average.
_FEWEST_OF_RUN = 20


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


def counted_cells(rows: TableRows) -> Errors:
    """Yield an error if rows without ids seem to be cells of a table, with a column that counts their rows.

    Each combination of the other columns appears once. In sparse and wide tables, the column must have a usual name.
    """
    used, n = rows.columns.wanted, rows.table.num_rows
    columns = as_dictionaries(rows.table.other_columns(()), n) if rows.by_position and n <= _MOST_CELLS else {}
    columns = {name: column for name, column in columns.items() if not column.null_count and len(column.dictionary) > 1}
    codes = {name: np.from_dlpack(column.indices).astype(np.int64) for name, column in columns.items()}
    answer = rows.columns.prediction if rows.has_predictions else str(rows.columns.score)
    for name in (name for name in columns if name not in used or name == rows.columns.units.weights):
        factors = [other for other in columns if other != name]
        sizes = [len(columns[factor].dictionary) for factor in factors]
        if not 1 < 2 * max(sizes, default=n) <= n or not may_count(columns[name]):
            continue
        # In a few rows of a sparse table, all combinations may differ by chance.
        is_named = name.lower() in COUNTS and n <= math.prod(sizes) <= max(2 * n, min(8 * n, n * n // 6))
        numbers: Any = columns[name].dictionary.cast(pa.string()).cast(pa.float64()).take(columns[name].indices)
        are_large = answer in factors and len(factors) <= _LISTED and pc.mean(numbers).as_py() >= _MEAN_COUNT
        if not (is_named or are_large) or len(np.unique(joint_codes([codes[factor] for factor in factors]))) < n:
            continue
        if is_named or _differ_by_design(codes[answer], [codes[factor] for factor in factors if factor != answer]):
            problem = "seems to count the rows of a cell, but a cell is read as one row; repeat it"
            yield rows.table.error(name, f" {problem}, as frame.loc[frame.index.repeat(frame[{name!r}])] does")


def _differ_by_design(answer: Ints, others: Sequence[Ints]) -> bool:
    """Return True if answers differ within all cells of the other columns, which is unlikely by chance."""
    n, k, cells = len(answer), int(answer.max()) + 1, np.bincount(joint_codes(others)) if others else np.array([1])
    # The probability that independent answers differ in all cells is largest if they are equally frequent.
    chance = sum(math.lgamma(k + 1) - math.lgamma(k + 1 - m) - m * math.log(k) for m in cells.tolist())
    return n == k * len(cells) >= _FEWEST_CELLS or chance < math.log(_BY_CHANCE)


def repeated_runs(rows: TableRows) -> Errors:
    """Yield an error if the labels of rows without ids repeat, as for several runs or models on the same items."""
    units, n, answers = rows.columns.units, rows.table.num_rows, {rows.columns.label, rows.columns.prediction}
    repeated = units.group or units.run or units.epoch or units.order or rows.columns.duplicates
    if not rows.by_position or rows.is_label_file or not rows.has_labels or repeated:
        return
    columns = as_dictionaries(rows.table.other_columns(answers), n)
    codes = {
        name: np.from_dlpack(column.indices).astype(np.int64)
        for name, column in columns.items()
        if not column.null_count and 1 < len(column.dictionary) <= n // _FEWEST_OF_RUN
    }
    label = item_codes(rows.label[: n * bool(codes)].cast(pa.string()))
    for name, runs in codes.items():
        is_named, sizes = RUN_OR_MODEL.fullmatch(name), np.bincount(runs)
        order = np.argsort(runs, kind="stable")
        repeat = is_named and same_items(runs, places(runs, order), label) is not None
        if not repeat and not np.ptp(sizes):
            by_run = label[order].reshape(len(sizes), -1)
            alike = not np.ptp(by_run, axis=0).any() and (len(sizes) - 1) * bits_of(by_run[0]) >= BITS
            repeat = (alike and not _are_design(codes, n)) or _are_crossed(runs, label, columns)
        if repeat:
            problem = "seems to name runs, models or versions of the same rows, since the labels repeat"
            column = "" if name == MODELS else f"rename it to {MODELS} and "
            of_items = f"add ids of items and --run {name} (trainings) or --group ID (answers of one model)"
            yield rows.table.error(name, f" {problem}; {column}add --model NAME to read one, or {of_items}")


def _are_crossed(runs: Ints, label: Ints, columns: Mapping[str, Any]) -> bool:
    """Return True if another column has each of its values once in each run, always with the same one of the labels."""
    n, size = len(runs), int(np.bincount(runs)[0])
    for column in columns.values():
        if column.null_count or len(column.dictionary) != size or not np.ptp(label):
            continue
        items = np.from_dlpack(column.indices).astype(np.int64)
        if len(np.unique(joint_codes([items, runs]))) == n and len(np.unique(joint_codes([items, label]))) == size:
            return True
    return False


def _are_design(codes: Mapping[str, Ints], n: int) -> bool:
    """Return True for a design: no rows agree in all coarse columns. If a factor has no effect, its labels repeat."""
    coarse = [of for of in codes.values() if of.max() < math.isqrt(n)]
    return bool(coarse) and len(np.unique(joint_codes(coarse))) == n
