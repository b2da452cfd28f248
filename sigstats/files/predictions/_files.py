"""Files of predictions in any format: parsed once by `parse`, and read by one score or by several."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import pyarrow.compute as pc

from sigstats._common.messages import Note, printable, some_of
from sigstats._common.scores import of_named_scores, unknown_direction
from sigstats._common.validation import refuse, shown
from sigstats.comparison.compare import with_names
from sigstats.comparison.paired_predictions import PairedPredictions

from ..inputs import files_of
from ..inputs.content import open_content
from ..inputs.opening import reading
from ..tables.table import Table
from ._agreement import unpredicted_labels
from ._columns import ALL_SCORES, MODELS, Columns
from ._from_table import from_table
from ._log import INFINITE, EvaluationLog
from ._pairing import MatchOptions, join
from ._predictions import Predictions
from ._selection import logs_of_model, select, with_filter
from ._settling import settle
from ._tasks import is_table, join_logs, join_tables
from .readers import DAMAGE, format_names, format_of, read_file


@dataclass(frozen=True)
class PredictionFile:
    """A file, or the files of several tasks in a folder or pattern, parsed once."""

    path: str
    parts: tuple[Table | EvaluationLog, ...]
    #: True if each part is a task.
    tasks: bool = False
    notes: tuple[Note, ...] = ()

    def by(self, columns: Columns) -> Predictions:
        """Return the predictions by the score of these columns."""
        where, columns = printable(self.path), with_filter(columns, self.logs)
        with reading(where, DAMAGE, parts=[part.where for part in self.parts]):
            log = self.log(columns)
            if log is None:
                read = self.table(columns)
            else:
                "".join([log.task, log.model, *log.settings.values()]).encode()  # half a surrogate pair is no text
                read = select(log, columns)
            return settle(replace(read, notes=(*read.notes, *self.notes)), columns)

    def table(self, columns: Columns) -> Predictions:
        """Return the rows of all tasks of tables, some of which may lack answers or repeat ids."""
        columns = columns.but(coded=columns.form.coded and not self.tasks)
        tables = [from_table(part, columns) for part in self.parts if isinstance(part, Table)]
        read = join_tables(printable(self.path), tables, columns) if self.tasks else tables[0]
        if columns.truth is None or columns.truth.by_position:
            return read
        lacking = unpredicted_labels(columns.truth, [part.ids for part in tables])
        return replace(read, notes=(*read.notes, *(note.of(read.where) for note in lacking)))

    def log(self, columns: Columns) -> EvaluationLog | None:
        """Return the log of all tasks, or None for tables."""
        if not self.logs or not self.tasks:
            return next(iter(self.logs), None)
        where = printable(self.path)
        return join_logs(where, logs_of_model(where, self.logs, columns.chosen.model), columns)

    @property
    def logs(self) -> list[EvaluationLog]:
        """The logs of all tasks and models; empty for tables."""
        return [part for part in self.parts if isinstance(part, EvaluationLog)]

    def scores(self, columns: Columns) -> tuple[tuple[str, ...], tuple[Note, ...]]:
        """Return all numeric scores of a log, for the named model and filter, if any; a note names the other scores."""
        log = self.log(replace(columns, score=ALL_SCORES))
        if log is None:
            where = self.parts[0].where
            raise ValueError(f"{where}: score: {ALL_SCORES!r} is not valid for a table; expected names of columns")
        answers = [
            answer
            for answer in log.answers
            if columns.chosen.model in (None, answer.model, log.model)
            and columns.chosen.filter in (None, answer.filter)
        ]
        names = dict.fromkeys(name for answer in answers for name in answer.scores)
        dropped = INFINITE if columns.unscored == "drop" else None
        unread = {name: kind for answer in answers for name, kind in answer.unread.items() if kind != dropped}
        numeric = tuple(name for name in names if name not in unread)
        if unknown := next((name for name in numeric if log.is_lower_better(name, columns) is None), None):
            raise unknown_direction(unknown)
        listed = some_of([f"{shown(name)} ({kind})" for name, kind in unread.items()])
        text = f"not compared, since not every value is a number: {listed}"
        return numeric, (Note("left-out-scores", text),) * bool(unread)


def parse(path: str, columns: Columns) -> PredictionFile:
    """Return a file of any format, with all columns that are wanted.

    `path`: a file, a folder, a pattern such as ``logs/*.eval``, or an fsspec URL of these. Of a folder the logs of a
    harness are read, or else the tables.
    """
    files = files_of(path)
    if files is None:
        return PredictionFile(path, (read_file(path, columns),))
    where = printable(path)
    formats = {file: format_of(file) for file in files}
    logs = {file: module for file, module in formats.items() if module and not getattr(module, "TABLE", False)}
    kinds = sorted({module.NAME for module in logs.values()})
    if len(kinds) > 1:
        raise ValueError(f"{where}: contains {' and '.join(kinds)}; choose one by a pattern or a separate folder")
    explicit = "*" in path and path.rpartition(".")[2].isalnum()  # the pattern states the ending
    tables = [file for file, module in formats.items() if module is not None]
    chosen = list(logs) or [file for file in tables if explicit or is_table(file)]
    if not chosen:
        raise ValueError(f"{where}: contains no file of predictions; expected {', '.join(format_names())}")
    prefixes = tuple(getattr(module, "COMPANIONS", "/") for module in logs.values())
    others = [file.rpartition("/")[2] for file in tables if file not in chosen]
    names = [printable(name) for name in others if not name.startswith(prefixes)]
    text = f"{where}: not read: {some_of(names)}; a pattern with an ending, such as '*.txt', reads other files"
    notes = (Note("unread-files", text),) * bool(names)
    return PredictionFile(path, tuple(read_file(file, columns) for file in chosen), tasks=True, notes=notes)


def read(path: str, columns: Columns) -> Predictions:
    """Read the predictions of a file, a folder or a pattern in any format."""
    return parse(path, columns).by(columns)


def read_choices(path: str, choices: Sequence[Columns]) -> list[Predictions]:
    """Return the predictions of a file, which is parsed once, for several choices of columns with one score each."""
    file = parse(path, choices[0].but(scores=tuple(columns.score for columns in choices if columns.score is not None)))
    return [file.by(columns) for columns in choices]


def read_labels(path: str, columns: Mapping[str, str], **options: Any) -> Predictions:
    """Return the labels of a file, by id, under the names of `columns`; `options`: fields of `Columns`."""
    label = columns.get("label", "label")
    named = frozenset(("prediction", *({"id", "label"} & columns.keys())))
    columns_of_labels = Columns(columns.get("id", "id"), label, label, named=named, by_position=None, duplicates="all")
    return read(path, columns_of_labels.but(**options))


def costs_of_file(path: str) -> Mapping[str, Any] | list[tuple[str, str, float]]:
    """Read costs from nested JSON, or from rows of true class, predicted class and cost (label, prediction, cost)."""
    with open_content(path) as content, contextlib.suppress(ValueError):  # such as JSON lines
        nested = content.json() if content.start.lstrip().startswith(b"{") else {}
        if nested and not {"prediction", "columns", "schema"} & nested.keys():
            return dict(nested)
    rows = read(path, Columns(score="cost", named=frozenset(("label", "prediction")), by_position=True)).decoded()
    assert rows.score is not None
    columns = rows.outcomes.label, rows.outcomes.prediction, rows.score.values
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


def is_of_tables(path: str) -> bool:
    """Return True for a file, folder or pattern without logs. A pipe, read only once, is False."""
    if Path(path).is_fifo():
        return False
    formats = [format_of(file) for file in files_of(path) or [path]]
    return all(module is None or getattr(module, "TABLE", False) for module in formats)


def has_instances(path: str) -> bool:
    """Return True for SWE-bench results, whose labels name all instances. A pipe, read only once, is False."""
    files = [] if Path(path).is_fifo() else files_of(path) or [path]
    return any(getattr(format_of(file), "INSTANCES", False) for file in files[:1])


def names_of_instances(path: str) -> tuple[str, ...]:
    """Return the names in a file: a JSON array of names or of objects with ``instance_id``, or one name per line."""
    with open_content(path) as content:
        value = content.json() if content.start.lstrip().startswith(b"[") else content.whole().decode().split()
        names: list[Any] = [item.get("instance_id") if isinstance(item, dict) else item for item in value]
        if not names or not all(isinstance(name, str) for name in names):
            raise ValueError(f"{content.where}: is not a list of instances; expected one name per line, or JSON")
        return tuple(dict.fromkeys(names))


def model_names_in(path: str, columns: Columns) -> list[str]:
    """Name the models in a log, or in a table with a column of models."""
    file = parse(path, columns := columns.but(slices=(MODELS,)))
    if file.logs:
        return list(dict.fromkeys(answer.model or log.model for log in file.logs for answer in log.answers))
    names = file.table(columns).requested.get(MODELS)
    return [] if names is None else pc.unique(names).to_pylist()


def read_by_scores(
    files: Sequence[tuple[str, Columns]], scores: Sequence[str | None]
) -> list[dict[str | None, Predictions]]:
    """Return the predictions of files by each of the same scores, those named or all; classes and ids may be coded."""
    if len(set(scores)) < len(scores):
        raise refuse("score", ", ".join(map(str, scores)), "each score once")
    named = tuple(score for score in scores if score is not None)
    by_score: list[dict[str | None, Predictions]] = []
    for path, columns in files:
        columns = columns.but(score=scores[0], scores=named, coded=True)
        file = parse(path, columns)
        in_file, notes = file.scores(columns) if named == (ALL_SCORES,) else (scores, ())
        if not in_file:
            raise ValueError(f"{path}: score: no score has a number for each answer")
        if odd := sorted({*in_file}.symmetric_difference(by_score[0] if by_score else in_file), key=str):
            place, other = (files[0][0], path) if odd[0] in in_file else (path, files[0][0])
            problem = f"{shown(odd[0])} was not found, but exists in {other}"
            raise ValueError(f"{place}: score: {problem}; name the scores to read")
        file = replace(file, notes=(*file.notes, *notes))
        by_score.append({score: file.by(replace(columns, score=score)) for score in in_file})
    if named == (ALL_SCORES,):  # a name with a given direction may be misspelled
        for way in ("lower", "higher"):
            of_named_scores(getattr(files[0][1].scoring, way), [*map(str, by_score[0])], f"{way}_is_better")
    return by_score


def join_scores(
    baseline: Mapping[str | None, Predictions],
    candidate: Mapping[str | None, Predictions],
    columns: Columns,
    *,
    with_ids: bool = False,
    **options: Unpack[MatchOptions],
) -> list[PairedPredictions]:
    """Return the rows that both models predicted, by each score."""
    sides = [(predictions, candidate[score]) for score, predictions in baseline.items()]
    return with_names([join(*side, columns, with_ids=with_ids, **options) for side in sides], [*baseline])
