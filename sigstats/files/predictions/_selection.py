"""Select from a log the answers of one model and one filter, by one score."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from sigstats._common.messages import shown, shown_name, some_of

from ._columns import Columns
from ._log import INFINITE, TASK, Answer, EvaluationLog
from ._other_columns import as_dictionaries, without_target
from ._predictions import RIGHT, WRONG, Outcomes, Predictions, Scores, Source

#: A longer name is known by its beginning.
_LONG, _BEGINNING = 60, 40


def select(log: EvaluationLog, columns: Columns) -> Predictions:
    """Return the marks of one score, one row per answer."""
    # Options that only tables need.
    of_tables: dict[str, Any] = {name: getattr(columns, name) for name in sorted(columns.named)}
    of_tables |= {"by_position": columns.by_position or None, "run": columns.units.run}
    of_tables |= {"per": columns.scoring.per, "epoch": columns.units.epoch}
    if name := next((name for name, value in of_tables.items() if value is not None), ""):
        problem = f"{name}: {shown(of_tables[name])} is not valid for a log of {log.harness}"
        reason = "whose answers have ids, epochs and scores of their own"
        raise ValueError(f"{log.where}: {problem}, {reason}; expected a score alone")
    if not log.answers:
        raise ValueError(f"{log.where}: has no answers; write the log with its samples")
    answers = _answers_of_model(log, columns.chosen.model)
    if columns.chosen.filter is None:
        _check_filters(log, answers, columns)
    filter_name = _chosen(log, "filter", columns.chosen.filter, (answer.filter for answer in answers))
    answers = [answer for answer in answers if answer.filter == filter_name]
    score = _score_of(log, answers, columns)
    lower, limits = log.is_lower_better(score, columns), log.limits(score)
    marks = [answer.scores.get(score) for answer in answers]
    has_epochs = any(answer.epoch != 1 for answer in answers)
    names = dict.fromkeys(name for answer in answers for name in answer.identity)
    identity = {name: pa.array([answer.identity.get(name) for answer in answers], pa.string()) for name in names}
    by_name = score not in (*log.lower_is_better, *columns.scoring.lower)  # only the name states the direction
    source = Source(
        harness=log.harness,
        subject=_subject(log, answers, score),
        meant=frozenset(() if columns.chosen.filter is None else ("filter",)),  # the user chose it
        settings=log.settings,
        repeats=log.repeats,
    )
    outcomes = Outcomes(
        pa.array([RIGHT] * len(answers), pa.string()),
        pa.array([None if mark is None else RIGHT if mark == 1 else WRONG for mark in marks], pa.string()),
        predicted=lower is False and limits == (0.0, 1.0) and {*marks} - {None} <= {0.0, 1.0},
        graded=True,
    )
    values, failed = pa.array(marks, pa.float64()), pa.array([answer.failed or None for answer in answers], pa.string())
    return Predictions(
        log.where,
        pa.array([answer.item for answer in answers], pa.string()),
        outcomes,
        score=Scores(values, score, lower=lower, by_name=by_name, limits=limits, failed=failed),
        source=source,
        requested=_requested_columns(log, answers, columns, score),
        epoch=pa.array([str(answer.epoch) for answer in answers], pa.string()) if has_epochs else None,
        identity=identity,
        other_columns={} if has_epochs else _other_columns(answers, columns, identity),
        notes=(*log.notes, *log.total_notes(score, filter_name)),
    )


def _check_filters(log: EvaluationLog, answers: Sequence[Answer], columns: Columns) -> None:
    """Raise ValueError if the answers are of several filters; list each score with each filter."""
    filters = list(dict.fromkeys(answer.filter for answer in answers))
    if len(filters) < 2:
        return
    names = list(dict.fromkeys(name for answer in answers for name in answer.named))
    if not names:
        raise _without_scores(log, answers)
    scores = [columns.score] if columns.score else names
    raise _several(log, "score", [f"{score},{name}" for score in scores for name in short_names(filters)])


def with_filter(columns: Columns, logs: Sequence[EvaluationLog]) -> Columns:
    """Return the columns with METRIC,FILTER apart, if the score is of this form and no log has a score of this name."""
    score = columns.score or ""
    names = {name for log in logs for answer in log.answers for name in answer.named} if "," in score else set[str]()
    metric = max((name for name in names if score.startswith(f"{name},")), key=len, default=None)
    if metric is None or score in names or columns.chosen.filter is not None:
        return columns
    return columns.but(score=metric, filter=score[len(metric) + 1 :])


def _score_of(log: EvaluationLog, answers: Sequence[Answer], columns: Columns) -> str:
    """Return the name of the score to read. Raise ValueError if no answer has it, or one that is not a number."""
    names = [name for answer in answers for name in answer.named]
    if not names and columns.unscored == "wrong":  # all answers count as wrong if they were scored or failed
        names = [*log.scored] or ([columns.score or ""] if any(answer.failed for answer in answers) else [])
    if not names:
        raise _without_scores(log, answers)
    score = _chosen(log, "score", columns.score, names)
    for answer in answers:
        infinite = answer.unread.get(score) == INFINITE
        if score in answer.unread and not (infinite and columns.unscored == "drop"):
            drop = " (--unscored drop leaves it out)" if infinite else ""
            problem = f"id {shown(answer.item)}: score {shown(score)} is {answer.unread[score]}"
            raise ValueError(f"{log.where}: {problem}; expected a number for each answer{drop}")
    return score


def _without_scores(log: EvaluationLog, answers: Sequence[Answer]) -> ValueError:
    failed = next((f" ({shown(answer.failed)})" for answer in answers if answer.failed), "")
    problem = f"none of its {len(answers):,} answers has a score{failed}"
    return ValueError(f"{log.where}: {problem}; expected a log with scores")


def _subject(log: EvaluationLog, answers: Sequence[Answer], score: str) -> dict[str, str]:
    entries = {
        "task": log.task,
        "model": answers[0].model or log.model,
        log.kind: log.called.get(score, score),
        "filter": log.called.get(answers[0].filter, answers[0].filter),
    }
    return {name: value for name, value in entries.items() if value}


def logs_of_model(where: str, logs: Sequence[EvaluationLog], wanted: str | None) -> Sequence[EvaluationLog]:
    """Return the logs of the wanted model, if those of a folder are of several; raise ValueError if none is chosen."""
    models = dict.fromkeys(log.model for log in logs)
    if len(models.keys() - {""}) < 2:
        return logs
    chosen = _chosen(replace(logs[0], where=where), "model", wanted, models)
    return [log for log in logs if log.model == chosen]


def _answers_of_model(log: EvaluationLog, wanted: str | None) -> Sequence[Answer]:
    if wanted is not None and log.model and not any(answer.model for answer in log.answers):
        if wanted != log.model:
            raise ValueError(f"{log.where}: model: {shown(wanted)} was not found; expected {shown(log.model)}")
        return log.answers
    chosen = _chosen(log, "model", wanted, (answer.model for answer in log.answers))
    return [answer for answer in log.answers if answer.model == chosen]


def _chosen(log: EvaluationLog, option: str, wanted: str | None, of_answers: Iterable[str]) -> str:
    """Return the wanted name, or the only one; otherwise ValueError."""
    names = list(dict.fromkeys(of_answers))
    if wanted is None:
        if len(names) == 1:
            return names[0]
        raise _several(log, option, short_names(names))
    if names == [""]:
        raise ValueError(f"{log.where}: {option}: {shown(wanted)} is not valid; a log of {log.harness} has none")
    if wanted in names:
        return wanted
    # The name of a prompt may be its whole text: its beginning, or its number, is enough.
    meant = [name for name in names if _is_long(name) and name.startswith(wanted)]
    if any(map(_is_long, names)) and wanted.isdecimal():
        meant = names[int(wanted) :][:1]
    if len(meant) != 1:
        listed = some_of(short_names(names), 20)
        raise ValueError(f"{log.where}: {option}: {shown(wanted)} was not found; expected one of {listed}")
    return meant[0]


def _several(log: EvaluationLog, option: str, names: Sequence[str]) -> ValueError:
    problem = f"there are {len(names)}; choose one of {some_of(names, 20)} (--{option} NAME)"
    return ValueError(f"{log.where}: {option}: {problem}")


def _is_long(name: str) -> bool:
    return len(name) > _LONG or not name.isprintable()


def short_names(names: Sequence[str]) -> list[str]:
    """Return names that a user can type: the beginning of a long one, or its number if others begin alike."""

    def short(number: int, name: str) -> str:
        beginning = name.partition("\n")[0][:_BEGINNING].rstrip()
        is_clear = beginning.isprintable() and sum(other.startswith(beginning) for other in names) == 1
        return f"'{beginning}'" if is_clear else str(number)

    return [short(number, name) if _is_long(name) else shown_name(name) for number, name in enumerate(names)]


def _requested_columns(log: EvaluationLog, answers: Sequence[Answer], columns: Columns, score: str) -> dict[str, Any]:
    """Return the existing columns of metadata; a dropped answer needs none."""
    by_name = {}
    needed = [answer if columns.unscored != "drop" or score in answer.scores else None for answer in answers]
    for name in dict.fromkeys((*columns.optional, TASK)):
        values = [_text(answer.about.get(name)) for answer in answers]
        if not any(values):
            if name == columns.id:  # the answers to one item are one group as it is
                by_name[name] = pa.array([answer.item for answer in answers], pa.string())
            continue
        lacking = (answer.item for answer, value in zip(needed, values, strict=True) if answer and not value)
        if (item := next(lacking, None)) is not None:
            raise ValueError(f"{log.where}: id {shown(item)}: column {shown(name)} is empty; expected a value")
        by_name[name] = pa.array(values, pa.string())
    return by_name


def _other_columns(answers: Sequence[Answer], columns: Columns, identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return all metadata that no option names, and the question."""
    names = dict.fromkeys(name for answer in answers for name in answer.about if name not in (*columns.optional, TASK))
    by_name = {name: pa.array([_text(answer.about.get(name)) or None for answer in answers]) for name in names}
    return as_dictionaries(by_name | without_target(identity), len(answers))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
