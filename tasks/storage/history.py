"""The history of a regression study: a Parquet file per evaluation, in a folder per day.

    history/date=2026-11-21/061502.123456-<evaluation>.parquet

A file is written atomically and never changed, so that two evaluations that end at the same time lose nothing. Each row
is a measure on a slice, and repeats the values that all rows of the evaluation share. The folder is therefore one table
for ``pandas.read_parquet(".../history")``. The fingerprint identifies the files and the rules, so that the same files
are evaluated only once by the same rules.

    rows/<held_out>.parquet

This file contains the digests of the ids and labels of a set of rows, for counting looks at shared rows and corrected
labels, and the counts of each fresh row.

    answers/<evaluation>.parquet

This file contains, for each item of an evaluation, whether baseline and candidate were right, for counting flips.
"""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..schema import column
from .seal import Damaged
from .store import Store

_FOLDER = "history"
_KIND = "evaluation"
#: The folders next to the history: the rows and the answers of evaluations.
OF_ROWS, OF_ANSWERS = "rows", "answers"
#: The columns of the digests of ids and of labels.
ROW, LABEL = "row", "label"
_NAME = re.compile(r"date=(\d{4}-\d\d-\d\d)")
_OF_MEASURE, _PROBABILITY = "of the measure", "probability"


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The values that the rows of an evaluation share; `COMMON`, `_DATED`, `_SPENDING`, `_SEGMENT` describe them."""

    evaluation: str
    evaluated_at: dt.datetime
    baseline: str
    candidate: str
    baseline_digest: str
    candidate_digest: str
    held_out: str
    look: int
    level: float
    verdict: str
    reasons: str
    spending: str | None = None
    segment: int | None = None
    dated: dt.datetime | None = None

    @property
    def at(self) -> dt.datetime:
        """The time in a trend: the date of the candidate or, without a date, the time of the evaluation."""
        return self.dated or self.evaluated_at


COMMON = [
    column("evaluation", pa.string(), "digest", "the identity of what was compared, and by which rules"),
    column("evaluated_at", pa.timestamp("us", tz="UTC"), "time", "when it was evaluated"),
    column("baseline", pa.string(), "path", "the file of the baseline's predictions"),
    column("candidate", pa.string(), "path", "the file of the candidate's predictions"),
    column("baseline_digest", pa.string(), "SHA-256", "of the bytes of the baseline's file"),
    column("candidate_digest", pa.string(), "SHA-256", "of the bytes of the candidate's file"),
    column("held_out", pa.string(), "digest", "of the baseline's ids and labels, or of a look at fresh rows"),
    column("look", pa.int64(), "number", "of evaluations of these rows or of some of them, with this one"),
    column("level", pa.float64(), _PROBABILITY, "the level of this look"),
    column("verdict", pa.string(), "name", "pass, inconclusive or fail"),
    column("reasons", pa.string(), "text", "a line for each measure and slice that does not pass"),
]

ROWS = [
    column("slice", pa.string(), "name", "the part of the rows"),
    column("measure", pa.string(), "name", "accuracy, macro-f1 ..."),
    column("n", pa.int64(), "rows", "how many rows it has"),
    *(
        column(name, pa.float64(), unit, meaning, nullable=True)
        for name, unit, meaning in (
            ("baseline_value", _OF_MEASURE, "the baseline's"),
            ("candidate_value", _OF_MEASURE, "the candidate's"),
            ("candidate_low", _OF_MEASURE, "lower end of the interval of the candidate's"),
            ("candidate_high", _OF_MEASURE, "upper end of that interval"),
            ("difference", _OF_MEASURE, "candidate less baseline"),
            ("low", _OF_MEASURE, "lower end of the interval of the difference"),
            ("high", _OF_MEASURE, "upper end of that interval"),
            ("p_worse", _PROBABILITY, "one-sided p-value of: the candidate is not worse"),
            ("p_adjusted", _PROBABILITY, "the same, adjusted over measures and slices"),
            ("pd", "index", "possibility of dominance of not worse over worse"),
            ("psd", "index", "possibility of its strict dominance"),
            ("nsd", "index", "necessity of its strict dominance"),
        )
    ),
    column("test", pa.string(), "name", "how the p-value was found"),
    column("row_verdict", pa.string(), "name", "pass, inconclusive or fail; null if nothing was tested", nullable=True),
    column("note", pa.string(), "text", "what a reader should know"),
]

_DATED = column("dated", pa.timestamp("us", tz="UTC"), "time", "when the candidate was made", nullable=True)
_LATER = [
    column("lower_is_better", pa.bool_(), "truth", "whether a rise is worse", nullable=True),
    column("relative", pa.bool_(), "truth", "whether the margin is a part of the baseline", nullable=True),
    column("margin", pa.float64(), _OF_MEASURE, "the drop that a pass must exclude", nullable=True),
    column("p_differs", pa.float64(), _PROBABILITY, "two-sided p-value of: both are equally good", nullable=True),
    column("differing", pa.int64(), "rows", "how many rows, groups or items differ", nullable=True),
    column("deciding", pa.int64(), "rows", "about how many rows with the same values would settle it", nullable=True),
]
_SPENDING = column("spending", pa.string(), "name", "the rule by which looks shared the level", nullable=True)
#: For fresh rows: the look at which a failing row became worse, and the values of the last look and the last seven.
CHANGE = ("change", "change_low", "change_high")
WINDOWS = [("night_difference", "night_low", "night_high"), ("week_difference", "week_low", "week_high")]
_FRESH = [
    *(column(name, pa.int64(), "look", "from which the candidate is worse", nullable=True) for name in CHANGE),
    *(column(name, pa.float64(), _OF_MEASURE, "of one look or seven", nullable=True) for name in chain(*WINDOWS)),
]
_SEGMENT = column("segment", pa.int64(), "number", "of the evaluation with which the evidence began", nullable=True)
SCHEMA = pa.schema([*COMMON, *ROWS, _DATED, *_LATER, _SPENDING, *_FRESH, _SEGMENT])
#: The schemas of files of earlier versions.
_EARLIER = [
    pa.schema([*COMMON, *ROWS, *more]) for more in ([], [_DATED], [_DATED, *_LATER], [_DATED, *_LATER, _SPENDING])
]
#: The names of the columns that differ between the rows of an evaluation.
ROW_NAMES = [field.name for field in (*ROWS, *_LATER, *_FRESH)]
#: The names of verdicts in files of earlier versions, and the present names.
_RENAMED = {"warn": "inconclusive"}


@dataclass(frozen=True)
class Record:
    """An evaluation with its rows. A row maps the columns of `ROW_NAMES` to values."""

    evaluation: Evaluation
    rows: tuple[Mapping[str, Any], ...]


def append(store: Store, record: Record) -> str:
    """Add an evaluation to the history; return the name of the file."""
    table = pa.Table.from_pylist([{**vars(record.evaluation), **row} for row in record.rows], schema=SCHEMA)
    at = record.evaluation.evaluated_at
    name = f"{_FOLDER}/date={at:%Y-%m-%d}/{at:%H%M%S.%f}-{record.evaluation.evaluation[:16]}.parquet"
    store.write_table(name, table, kind=_KIND, fingerprint=record.evaluation.evaluation)
    return name


def read(store: Store) -> tuple[list[Record], list[str]]:
    """Return all evaluations in chronological order, and a line per file that cannot be used."""
    records, damaged = [], []
    for folder in store.files.folders(_FOLDER):
        if not _NAME.fullmatch(folder):
            continue
        for entry in store.files.names(f"{_FOLDER}/{folder}"):
            name = f"{_FOLDER}/{folder}/{entry}"
            try:
                records.append(_record(store.read_table(name, kind=_KIND)))
            except Damaged as error:
                damaged.append(str(error))
    return sorted(records, key=lambda record: record.evaluation.evaluated_at), damaged


def keep(store: Store, folder: str, digest: str, table: pa.Table) -> None:
    """Write the table of a set of rows (`OF_ROWS`) or of the answers of an evaluation (`OF_ANSWERS`)."""
    store.write_table(f"{folder}/{digest[:16]}.parquet", table, kind=folder, fingerprint=digest)


def read_kept(store: Store, folder: str, digest: str) -> pa.Table | None:
    """Return the table that `keep` wrote, or None if it is missing or damaged."""
    return store.usable(f"{folder}/{digest[:16]}.parquet", kind=folder, fingerprint=digest)[0]


def sharing(store: Store, records: Sequence[Record], rows: NDArray[np.int64]) -> list[pa.Table]:
    """Return the stored tables of the evaluations that share any of these rows, with the last evaluation first."""
    names = dict.fromkeys(record.evaluation.held_out for record in reversed(records))
    tables = (read_kept(store, OF_ROWS, name) for name in names)
    return [table for table in tables if table is not None and np.isin(table[ROW], rows).any()]


def relabelled(tables: Sequence[pa.Table], rows: NDArray[np.int64], labels: NDArray[np.int64]) -> int:
    """Count the rows with another label than in the first table that contains the row. Old tables have no labels."""
    count = 0
    for table in tables:
        if LABEL in table.column_names:
            _, now, then = np.intersect1d(rows, table[ROW], return_indices=True)
            count += int(np.count_nonzero(labels[now] != table[LABEL].to_numpy()[then]))
            rows, labels = np.delete(rows, now), np.delete(labels, now)
    return count


def linked(store: Store, records: Sequence[Record], held_out: str, rows: NDArray[np.int64]) -> list[Record]:
    """Return the evaluations, by any comparison, on sets of rows that are linked to these rows.

    Two sets of rows are linked if they share a row, or are linked to a common set. A set without stored rows is linked
    to all sets.
    """
    linked_sets = {held_out}
    others = {record.evaluation.held_out for record in records} - linked_sets
    tables = {name: read_kept(store, OF_ROWS, name) for name in others}
    while shared := {name for name, table in tables.items() if table is None or np.isin(table[ROW], rows).any()}:
        shared_rows = [table[ROW].to_numpy() for table in map(tables.pop, shared) if table is not None]
        rows = np.unique(np.concatenate([rows, *shared_rows]))
        linked_sets |= shared
    return [record for record in records if record.evaluation.held_out in linked_sets]


def _record(table: pa.Table) -> Record:
    if not any(map(table.schema.equals, (SCHEMA, *_EARLIER))) or not table.num_rows:
        raise Damaged("history: a file has no rows, or was written by an unknown version")
    rows = table.to_pylist()
    for row in rows:
        row.update({name: _RENAMED.get(row[name], row[name]) for name in ("verdict", "row_verdict")})
    common: dict[str, Any] = {field.name: rows[0].get(field.name) for field in fields(Evaluation)}
    return Record(Evaluation(**common), tuple({name: row.get(name) for name in ROW_NAMES} for row in rows))
