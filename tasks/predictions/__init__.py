"""Predictions that two or more models made for the same rows: read from files, joined by id."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sigstats._common.messages import printable

from ..input_files.content import open_content
from ..input_files.opening import reason
from ..input_files.places import files_of
from ._agreement import same_content
from ._from_table import OtherNamesError, from_table
from ._items import MOST_VALUES
from ._log import Answer, EvaluationLog
from ._many import ManyPredictions, join_many
from ._pairing import PairedPredictions, Unmatched, join, match
from ._predictions import ALL_SCORES, Columns, Predictions
from ._scores import ScoredFile, join_scores, names_in, scores_meant
from ._selection import select
from ._tasks import is_table, one_log, one_table
from .readers import format_names, format_of, read_file

__all__ = [
    "ALL_SCORES",
    "MOST_VALUES",
    "Answer",
    "Columns",
    "EvaluationLog",
    "ManyPredictions",
    "OtherNamesError",
    "PairedPredictions",
    "Predictions",
    "ScoredFile",
    "Unmatched",
    "from_table",
    "join",
    "join_many",
    "join_scores",
    "labels_of",
    "match",
    "names_of_instances",
    "read",
    "same_content",
    "score_names",
    "scores_meant",
]


def read(path: str, columns: Columns) -> Predictions:
    """The predictions of a file, whatever format it has, or of several tasks, a file each.

    `path`: a file, a folder, a pattern such as ``logs/*.eval``, or an fsspec URL of these. Of a folder the logs of a
    harness are read, or else the tables. Raises ValueError, one line that names the file, the column and the row.
    """
    found = _found(path, columns)
    if not isinstance(found, EvaluationLog):
        return found
    try:
        "".join([found.task, found.model, *found.settings.values()]).encode()  # half a surrogate pair is no text
        return select(found, columns)
    except UnicodeEncodeError as error:
        raise ValueError(f"{found.where}: cannot be read ({reason(error)})") from None


def labels_of(path: str, columns: Mapping[str, str]) -> Predictions:
    """The labels of a file, by id, under the names of `columns`."""
    label = columns.get("label", "label")
    named = frozenset(("id", "label", "prediction"))
    return read(path, Columns(id=columns.get("id", "id"), label=label, prediction=label, named=named))


def names_of_instances(path: str) -> tuple[str, ...]:
    """The names in a file: a JSON array of them or of objects with ``instance_id``, or one a line."""
    with open_content(path) as content:
        found = content.json() if content.start.lstrip().startswith(b"[") else content.whole().decode().split()
        names: list[Any] = [each.get("instance_id") if isinstance(each, dict) else each for each in found]
        if not names or not all(isinstance(name, str) for name in names):
            raise ValueError(f"{content.where}: is no list of instances; expected their names, one a line or in JSON")
        return tuple(dict.fromkeys(names))


def score_names(path: str, columns: Columns) -> tuple[str, ...]:
    """The scores of a log that can be compared; those of a model and a filter where these are named."""
    found = _found(path, replace(columns, score=ALL_SCORES))
    if not isinstance(found, EvaluationLog):
        raise ValueError(f"{found.where}: score: {ALL_SCORES!r} is not valid for a table; expected names of columns")
    return names_in(found, columns)


def _found(path: str, columns: Columns) -> Predictions | EvaluationLog:
    files = files_of(path)
    return read_file(path, columns) if files is None else _read_files(path, files, columns)


def _read_files(path: str, files: list[str], columns: Columns) -> Predictions | EvaluationLog:
    where, columns = printable(path), replace(columns, coded=False)
    formats = {file: format_of(file) for file in files}
    logs = {file: module for file, module in formats.items() if module is not None and module.LOG}
    kinds = sorted({module.NAME for module in logs.values()})
    if len(kinds) > 1:
        raise ValueError(
            f"{where}: holds {' and '.join(kinds)}; expected one of these, by a pattern or a folder of its own"
        )
    chosen = list(logs) or [file for file, module in formats.items() if module is not None and is_table(file)]
    if not chosen:
        raise ValueError(f"{where}: holds no file of predictions; expected {', '.join(format_names())}")
    found = [read_file(file, columns) for file in chosen]
    if logs:
        return one_log(where, [log for log in found if isinstance(log, EvaluationLog)], columns)
    return one_table(where, [part for part in found if isinstance(part, Predictions)], columns)
