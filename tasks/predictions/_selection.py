"""From an evaluation log to predictions: which score is compared, of which filter, and answers without a score."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from sigstats._common.validation import shown

from ._log import Answer, EvaluationLog
from ._predictions import RIGHT, WRONG, Columns, Predictions


def select(log: EvaluationLog, columns: Columns) -> Predictions:
    """The marks of one score, an answer a row.

    Raises
    ------
    ValueError
        One line: a column that no log has; several scores or filters of which none is named, or a name that is not
        there; a score that is no number, or that an answer lacks; an item that is there twice.
    """
    _refuse_columns(log, columns)
    if not log.answers:
        raise ValueError(f"{log.where}: there are no answers; expected a log that was written with them")
    chosen = _chosen(log, "filter", columns.filter, (answer.filter for answer in log.answers))
    answers = [answer for answer in log.answers if answer.filter == chosen]
    named = [name for answer in answers for name in (*answer.scores, *answer.unread)]
    if not named:
        raise ValueError(f"{log.where}: none of its {len(answers):,} answers has a score; expected a log with scores")
    score = _chosen(log, "score", columns.score, named)
    if score in log.lower_is_better:
        raise ValueError(
            f"{log.where}: score: {shown(score)} is the better the lower it is; expected one that is the better the "
            "higher it is"
        )
    _require_distinct(log, answers)
    marks = _marks(log, answers, score, columns)
    several = len({answer.epoch for answer in answers}) > 1
    ids = [f"{answer.item} (epoch {answer.epoch})" if several else answer.item for answer in answers]
    return Predictions(
        log.where,
        pa.array(ids, pa.string()),
        pa.array([RIGHT] * len(ids), pa.string()),
        pa.array([RIGHT if mark == 1 else WRONG for mark in marks], pa.string()),
        _others(log, answers, columns),
        graded=True,
        score=pa.array(marks, pa.float64()),
        predicted=set(marks) <= {0.0, 1.0},
    )


def _refuse_columns(log: EvaluationLog, columns: Columns) -> None:
    for name in ("id", "label", "prediction"):
        if name in columns.named:
            raise ValueError(
                f"{log.where}: {name}: {shown(getattr(columns, name))} is not valid for a log of {log.harness}, whose "
                "answers have ids and scores of their own; expected a score alone"
            )


def _chosen(log: EvaluationLog, what: str, wanted: str | None, there: Iterable[str]) -> str:
    """The score or the filter that is meant, of those that are there."""
    names = list(dict.fromkeys(there))
    listed = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    if wanted is not None:
        if names == [""]:
            raise ValueError(f"{log.where}: {what}: {shown(wanted)} is not valid; a log of {log.harness} has none")
        if wanted not in names:
            raise ValueError(f"{log.where}: {what}: {shown(wanted)} is not there; expected one of {listed}")
        return wanted
    if len(names) > 1:
        raise ValueError(f"{log.where}: {what}: there are {len(names)}; expected one named of {listed}")
    return names[0]


def _require_distinct(log: EvaluationLog, answers: Sequence[Answer]) -> None:
    seen = set()
    for answer in answers:
        key = (answer.item, answer.epoch)
        if key in seen:
            raise ValueError(
                f"{log.where}: id {shown(answer.item)} is there more than once (epoch {answer.epoch}); "
                "expected each answer once"
            )
        seen.add(key)


def _marks(log: EvaluationLog, answers: Sequence[Answer], score: str, columns: Columns) -> list[float]:  # noqa: ARG001
    marks = []
    for answer in answers:
        if score in answer.unread:
            raise ValueError(
                f"{log.where}: id {shown(answer.item)}: score {shown(score)} is {answer.unread[score]}; "
                "expected a number of each answer"
            )
        if score not in answer.scores:
            raise ValueError(
                f"{log.where}: id {shown(answer.item)} has no score {shown(score)}; expected one of each answer"
            )
        marks.append(answer.scores[score])
    return marks


def _others(log: EvaluationLog, answers: Sequence[Answer], columns: Columns) -> dict[str, Any]:
    """The columns of metadata that are there."""
    found = {}
    for name in columns.optional:
        values = [_text(answer.about.get(name)) for answer in answers]
        if not any(values):
            continue
        if "" in values:
            item = answers[values.index("")].item
            raise ValueError(f"{log.where}: id {shown(item)}: column {shown(name)} is empty; expected a value")
        found[name] = pa.array(values, pa.string())
    return found


def _text(value: Any) -> str:
    """Metadata as text; empty where it is missing."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
