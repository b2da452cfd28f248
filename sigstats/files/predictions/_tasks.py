"""Several tasks, one file each, read as one log (`join_logs`) or as one table (`join_tables`).

Task and id identify a row, and the tasks are a column, so that they may be slices. Tables that are parts of one
are simply concatenated.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sigstats._common.calls import check_rules
from sigstats._common.column_names import RUN_FILE
from sigstats._common.messages import Note, shown, some_of

from ..tables.table import in_one
from ._agreement import unlike_kinds
from ._columns import ALL_SCORES, Columns
from ._log import TASK, EvaluationLog
from ._other_columns import TRAINING
from ._predictions import Predictions
from ._repeated import fill_epochs
from ._table_structure import have_same_items

#: The endings of tables in a folder, after those of packed files.
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".pq", ".feather", ".arrow")
_PACKED = (".gz", ".bz2", ".xz", ".zst")
_WORDS = re.compile(r"([-_./ ])")
#: At most this many tasks are named.
_NAMED = 3
#: Names of files with the parts of one table, as Spark and others write them.
_PART = re.compile(r"(?i)(^|[-_. ])(\d+[-_]of[-_]\d+|(part|shard|chunk|batch|rank|gpu)[-_. ]?\d+)($|[-_. ])")


def is_table(name: str) -> bool:
    """Return True if a file in a folder has the name of a table."""
    return _bare(name).lower().endswith(_TABLES)


def join_logs(where: str, logs: Sequence[EvaluationLog], columns: Columns) -> EvaluationLog:
    """Join the logs of several tasks; items are identified by task and id."""
    tasks = _task_names(where, [log.where for log in logs], [log.task for log in logs], columns)
    task = some_of(sorted(set(tasks)), _NAMED)
    tasks, logs, notes = _with_score(tasks, logs, columns)
    logs, called = _unify_names(where, tasks, logs, columns)
    models = {log.model for log in logs if log.model}
    directions = [direction for log in logs for direction in log.lower_is_better.items()]
    lower = dict(directions)
    if odd := next((score for score, is_lower in directions if is_lower != lower[score]), None):
        raise ValueError(f"{where}: a higher {shown(odd)} is better in one task and worse in another; read one of them")
    return EvaluationLog(
        where=where,
        harness=logs[0].harness,
        answers=[
            replace(answer, item=f"{name}/{answer.item}", about={**answer.about, TASK: name})
            for name, log in zip(tasks, logs, strict=True)
            for answer in log.answers
        ],
        task=task,
        model=some_of(sorted(models), _NAMED),
        repeats=logs[0].repeats,
        kind=logs[0].kind,
        lower_is_better=lower,
        shares=frozenset.intersection(*(log.shares for log in logs)),
        settings={
            f"{setting} of {name}": value
            for name, log in zip(tasks, logs, strict=True)
            for setting, value in log.settings.items()
        },
        called=called,
        notes=(*(note.of(name) for name, log in zip(tasks, logs, strict=True) for note in log.notes), *notes),
    )


def join_tables(where: str, parts: Sequence[Predictions], columns: Columns) -> Predictions:
    """Return several tasks, or the parts of one table, as one table. Tasks with the same items need groups by id."""
    tasks = _task_names(where, [part.where for part in parts], [""] * len(parts), columns)
    for part in parts[1:]:
        check_rules((parts[0], part), (unlike_kinds,))
    names = [_stem(part.where).rpartition("/")[2] for part in parts]
    before = {match and match.string[: match.start()] for match in map(_PART.search, names)}
    are_parts = len(parts) > 1 and len(before) == 1 and None not in before
    repeated = False
    if not are_parts:
        numbers = np.repeat(np.arange(len(parts)), [len(part.ids) for part in parts])
        ids = _joined([part.ids.cast(pa.string()) for part in parts])
        labels = _joined([part.outcomes.label.cast(pa.string()) for part in parts])
        options = {"named": all(map(RUN_FILE.search, names)), "lacks_ids": parts[0].by_position}
        repeated = have_same_items(where, names, numbers, ids, labels, columns, **options)
    notes = [note for part in parts for note in part.notes]
    if len(parts) > 1 and not are_parts and parts[0].by_position and parts[0].outcomes.graded:
        text = f"{where}: the {len(parts)} files are read as tasks of one model: {some_of(tasks, _NAMED)}"
        notes.append(Note("files-as-tasks", f"{text}; if they are models, give compare or rank one file of each"))
    if are_parts:
        text = f"{where}: {some_of(tasks, _NAMED)} are read as parts of one table, as their names state"
        notes.append(Note("parts-of-one-table", text))
    if 0 < len(training := [task for task in tasks if task.lower() in TRAINING]) < len(tasks):
        rows = sum(len(part.ids) for part, task in zip(parts, tasks, strict=True) if task in training)
        text = f"{where}: the {rows:,} rows of {some_of(training)} count like the others"
        notes.append(Note("training-rows", f"{text}; leave out rows that a model was trained on"))
    parts = [
        part
        if are_parts and not part.by_position
        else _with_task(part, task, columns, add_column=not are_parts, repeated=repeated)
        for part, task in zip(parts, tasks, strict=True)
    ]
    if any(part.epoch is not None for part in parts):
        parts = [fill_epochs(part) for part in parts]
    return _concatenated(parts).but(where=where, notes=tuple(dict.fromkeys(notes)))


def _with_task(part: Predictions, task: str, columns: Columns, *, add_column: bool, repeated: bool) -> Predictions:
    """Return a table with the task in its ids, and groups by id unless items are `repeated` in other tables."""
    ids = pc.binary_join_element_wise(pa.scalar(task), part.ids, pa.scalar("/"))
    requested = dict(part.requested)
    if columns.id in requested and not repeated:
        requested[columns.id] = ids
    if add_column and TASK not in requested:
        requested[TASK] = pa.repeat(task, len(ids))
    return replace(part, ids=ids, requested=requested)


def _concatenated(parts: Sequence[Predictions]) -> Predictions:
    """Return the rows of all tables; scores and requested columns only if all tables have them."""
    first = parts[0]
    scores = [part.score for part in parts if part.score is not None]
    score = None
    if len(scores) == len(parts):
        per = None if scores[0].per is None else _joined([score.per for score in scores])
        score = replace(scores[0], values=_joined([score.values for score in scores]), per=per)
    shared = [name for name in first.requested if all(name in part.requested for part in parts)]
    return first.but(
        ids=_joined([part.ids for part in parts]),
        label=_joined([part.outcomes.label for part in parts]),
        prediction=_joined([part.outcomes.prediction for part in parts]),
        requested={name: _joined([part.requested[name] for part in parts]) for name in shared},
        score=score,
        epoch=None if first.epoch is None else _joined([part.epoch for part in parts]),
        predicted=all(part.outcomes.predicted for part in parts),
        other_columns={},
    )


def _task_names(where: str, files: Sequence[str], stated: Sequence[str], columns: Columns) -> list[str]:
    """Return the task that each file states, or else its name. Several files of a task, unless shards, are refused."""
    names = _differing([_stem(file) for file in files])
    tasks = [task or name for name, task in zip(names, stated, strict=True)]
    first: dict[str, str] = {}
    for file, task in zip(files, tasks, strict=True):
        if task in first and ".shards/" not in file and columns.duplicates in (None, "refuse"):
            problem = f"{file} and {first[task]} are both of the task {shown(task)}"
            raise ValueError(f"{where}: {problem}; expected one file each, or add --duplicates first, last or all")
        first[task] = file
    return tasks


def _differing(names: Sequence[str]) -> list[str]:
    """Return the part of each name that differs; the common parts name the model or the time of the run."""
    if len(names) < 2:
        return [name.rpartition("/")[2] for name in names]
    words = [_WORDS.split(name) for name in names]  # words and, between them, what separates them
    shortest = min(map(len, words))
    first = next((i for i in range(shortest) if len({word[i] for word in words}) > 1), shortest - 1)
    last = next((i for i in range(1, shortest - first) if len({word[-i] for word in words}) > 1), shortest - first)
    return ["".join(word[first : len(word) - last + 1]) for word in words]


def _stem(name: str) -> str:
    bare = PurePosixPath(_bare(name))
    return str(bare.with_suffix("")) if bare.suffix.lower() in (*_TABLES, ".eval") else str(bare)


def _bare(name: str) -> str:
    return next((name[: -len(ending)] for ending in _PACKED if name.lower().endswith(ending)), name)


def _joined(arrays: Iterable[Any]) -> Any:
    return pa.concat_arrays(map(in_one, arrays))


def _with_score(
    tasks: Sequence[str], logs: Sequence[EvaluationLog], columns: Columns
) -> tuple[list[str], Sequence[EvaluationLog], list[Note]]:
    """Return the tasks with the score. If all scores are compared, tasks may lack some, and a note says so."""
    has_score = [any(columns.score in answer.named for answer in log.answers) for log in logs]
    if ALL_SCORES not in columns.scoring.scores or all(has_score) or not any(has_score):
        return [*tasks], logs, []
    tasks = [*compress(tasks, has_score)]
    listed = ", ".join(tasks[:3]) + (" and others" if tasks[3:] else "")
    text = f"score {shown(columns.score)} exists only in task{'s' * (len(tasks) > 1)} {listed}"
    return tasks, [*compress(logs, has_score)], [Note("score-of-some-tasks", text)]


def _unify_names(
    where: str, tasks: Sequence[str], logs: Sequence[EvaluationLog], columns: Columns
) -> tuple[Sequence[EvaluationLog], dict[str, str]]:
    """Return logs with one common name for the chosen score and filter, and the names that it stands for.

    A task with a single score uses it, whatever its name: one scorer marks `match`, another asks a model. A given name
    applies to the tasks with several scores. The same is true of filters. If all scores are requested, each keeps its
    name.
    """
    called = {}
    for option in ("filter",) if ALL_SCORES in columns.numbers else ("filter", "score"):
        wanted = columns.chosen.filter if option == "filter" else columns.score
        names = _names_in_tasks(where, tasks, logs, option, wanted)
        if len(set(names)) > 1:
            listed = ", ".join(dict.fromkeys(names))
            called[wanted or listed] = listed
            rename = _with_filter if option == "filter" else _with_only_score
            logs = [rename(log, name, wanted or listed) for log, name in zip(logs, names, strict=True)]
    return logs, called


def _names_in_tasks(
    where: str, tasks: Sequence[str], logs: Sequence[EvaluationLog], option: str, wanted: str | None
) -> list[str]:
    """Return the name of the score or filter that is meant in each task; empty if the caller decides."""
    known = []
    for log in logs:
        by_answer = [(answer.filter,) if option == "filter" else answer.named for answer in log.answers]
        known.append(list(dict.fromkeys(name for names in by_answer for name in names)))
    if wanted is not None and not any(wanted in names for names in known):
        return []
    for task, names in zip(tasks, known, strict=True):
        if wanted in names or len(names) == 1:
            continue
        if wanted is None or not names:
            return []
        problem = f"{option}: {shown(wanted)} was not found in task {shown(task)}"
        raise ValueError(f"{where}: {problem}; expected one of {', '.join(names[:20])}, or files of other tasks")
    return [wanted if wanted in names else names[0] for names in known]


def _with_filter(log: EvaluationLog, old: str, name: str) -> EvaluationLog:
    """Return a log with only the answers of one filter, under another name."""
    return replace(log, answers=[replace(answer, filter=name) for answer in log.answers if answer.filter == old])


def _with_only_score(log: EvaluationLog, old: str, name: str) -> EvaluationLog:
    """Return a log with only one of its scores, under another name."""
    answers = []
    for answer in log.answers:
        scores = {name: answer.scores[old]} if old in answer.scores else {}
        unread = {name: answer.unread[old]} if old in answer.unread else {}
        answers.append(replace(answer, scores=scores, unread=unread))
    lower = log.is_lower_better(old, Columns())
    shares = frozenset([name]) if log.limits(old) == (0.0, 1.0) else frozenset[str]()
    return replace(log, answers=answers, lower_is_better={} if lower is None else {name: lower}, shares=shares)
