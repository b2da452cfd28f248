"""Files of predictions: read whatever format they have, by each of several scores, and what they hold beside these."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import pyarrow.compute as pc

from sigstats._common.messages import printable
from sigstats._common.scores import refuse_uncertain
from sigstats._common.validation import refuse, shown
from sigstats.comparison.candidates import with_names
from sigstats.comparison.paired_predictions import PairedPredictions

from ..inputs.content import open_content
from ..inputs.opening import reason
from ..inputs.places import files_of
from ._log import EvaluationLog
from ._pairing import MatchOptions, join
from ._predictions import ALL_SCORES, Columns, Predictions
from ._selection import names_to_give_back, select
from ._settled import settled
from ._tasks import is_table, one_log, one_table
from .readers import format_names, format_of, read_file


def read(path: str, columns: Columns) -> Predictions:
    """The predictions of a file, whatever format it has, or of several tasks, a file each.

    `path`: a file, a folder, a pattern such as ``logs/*.eval``, or an fsspec URL of these. Of a folder the logs of a
    harness are read, or else the tables.
    """
    found = _found(path, columns)
    if not isinstance(found, EvaluationLog):
        return settled(found, columns)
    try:
        "".join([found.task, found.model, *found.settings.values()]).encode()  # half a surrogate pair is no text
        return settled(select(found, columns), columns)
    except UnicodeEncodeError as error:
        raise ValueError(f"{found.where}: cannot be read ({reason(error)})") from None


def labels_of(path: str, columns: Mapping[str, str], **options: Any) -> Predictions:
    """The labels of a file, by id, under the names of `columns`; `options`: fields of `Columns`."""
    label = columns.get("label", "label")
    named = frozenset(("prediction", *({"id", "label"} & columns.keys())))
    own = Columns(columns.get("id", "id"), label, label, named=named, by_position=None, duplicates="all")
    return read(path, replace(own, **options))


def names_of_instances(path: str, reports: Sequence[str] = ()) -> tuple[str, ...]:
    """The names in a file: a JSON array of them or of objects with ``instance_id``, or one a line.

    A number in place of a path is that of all instances; those that none of the reports names have numbers.
    """
    if path.isdecimal():
        named = dict.fromkeys(name for report in dict.fromkeys(reports) for name in _instances_in(report))
        if len(named) > int(path):
            raise ValueError(
                f"{path} is not valid; the reports name {len(named):,} instances, expected as many or more"
            )
        return (*named, *(f"instance {number} that no report names" for number in range(len(named), int(path))))
    with open_content(path) as content:
        found = content.json() if content.start.lstrip().startswith(b"[") else content.whole().decode().split()
        names: list[Any] = [each.get("instance_id") if isinstance(each, dict) else each for each in found]
        if not names or not all(isinstance(name, str) for name in names):
            raise ValueError(f"{content.where}: is no list of instances; expected their names, one a line or in JSON")
        return tuple(dict.fromkeys(names))


def _instances_in(report: str) -> list[str]:
    with open_content(report) as content:
        if not content.start.lstrip().startswith(b"{"):
            raise ValueError(f"{content.where}: is no JSON object; expected results of SWE-bench")
        lists = [each for each in content.json().values() if isinstance(each, list)]
        return [name for each in lists for name in each if isinstance(name, str)]


def score_names(path: str, columns: Columns) -> tuple[str, ...]:
    """The scores of a log that can be compared; those of a model and a filter where these are named."""
    found = _found(path, replace(columns, score=ALL_SCORES))
    if not isinstance(found, EvaluationLog):
        raise ValueError(f"{found.where}: score: {ALL_SCORES!r} is not valid for a table; expected names of columns")
    return _names_in(found, columns)


def model_names_in(path: str, columns: Columns) -> list[str]:
    """The models that a log, or a table with a column of models, has answers of."""
    found = _found(path, replace(columns, slices=(columns.models,)))
    if isinstance(found, EvaluationLog):
        return list(dict.fromkeys(answer.model for answer in found.answers))
    return pc.unique(found.others[columns.models]).to_pylist() if columns.models in found.others else []


def filter_names_in(path: str, columns: Columns) -> list[str]:
    """The filters of a log, as a person can give them back; none of a table."""
    found = _found(path, columns)
    names = dict.fromkeys(answer.filter for answer in found.answers) if isinstance(found, EvaluationLog) else ()
    return names_to_give_back([name for name in names if name])


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


def _names_in(log: EvaluationLog, columns: Columns) -> tuple[str, ...]:
    """The scores of the answers that are meant that are numbers, without costs."""
    answers = [
        answer
        for answer in log.answers
        if columns.model in (None, answer.model, log.model) and columns.filter in (None, answer.filter)
    ]
    named = dict.fromkeys(name for answer in answers for name in answer.scores)
    unread = {name for answer in answers for name in answer.unread}
    lower = {name: log.is_lower_better(name, columns) for name in named if name not in unread}
    if unknown := next((name for name in lower if lower[name] is None), None):
        refuse_uncertain(unknown)
    return tuple(name for name in lower if not lower[name])


@dataclass
class ScoredFile:
    """A file by each of several scores, each read when it is asked for; the score of its columns is no matter."""

    path: str
    columns: Columns
    _found: dict[str | None, Predictions] = field(default_factory=dict, init=False)

    def by(self, score: str | None) -> Predictions:
        """The predictions by one score; classes and ids may be coded."""
        if score not in self._found:
            every = self.columns.score == ALL_SCORES
            self._found[score] = read(self.path, replace(self.columns, score=score, one_of_all=every, coded=True))
        return self._found[score]


def scores_meant(files: Sequence[ScoredFile], scores: Sequence[str | None]) -> tuple[str | None, ...]:
    """The scores that several files are compared by: those named, or all, which have to be the same in all files."""
    if len(set(scores)) < len(scores):
        raise refuse("score", ", ".join(map(str, scores)), "each score once")
    if tuple(scores) != (ALL_SCORES,):
        return tuple(scores)
    first, *rest = files
    meant = score_names(first.path, first.columns)
    if not meant:
        raise ValueError(f"{first.path}: score: no score is a number of each answer; expected one or more")
    for file in rest:
        for name in sorted(set(meant).symmetric_difference(score_names(file.path, file.columns))):
            place, other = (file, first) if name in meant else (first, file)
            raise ValueError(
                f"{place.path}: score: {shown(name)} is not there, but in {other.path}; expected those that are meant"
            )
    return meant


def join_scores(
    baseline: ScoredFile,
    candidate: ScoredFile,
    scores: Sequence[str | None],
    *,
    with_ids: bool = False,
    **options: Unpack[MatchOptions],
) -> list[PairedPredictions]:
    """The rows that both models predicted, by each score."""
    sides = [(baseline.by(score), candidate.by(score)) for score in scores]
    return with_names([join(*each, baseline.columns, with_ids=with_ids, **options) for each in sides], scores)
