"""The score and the filter of each of several tasks, of which each may have one of its own."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from sigstats._common.validation import shown

from ._log import Answer, EvaluationLog
from ._predictions import ALL_SCORES, Columns

_Names = Callable[[Answer], Sequence[str]]
_Kind = tuple[str, str | None, _Names, Callable[[EvaluationLog, str, str], EvaluationLog]]


def with_score(
    tasks: Sequence[str], logs: Sequence[EvaluationLog], columns: Columns
) -> tuple[list[str], list[EvaluationLog], list[str]]:
    """The tasks that have a score, where it is one of all scores, of which a task need not have each; a line of it."""
    there = [any(columns.score in (*answer.scores, *answer.unread) for answer in log.answers) for log in logs]
    if not columns.one_of_all or all(there) or not any(there):
        return list(tasks), list(logs), []
    own = [task for task, has in zip(tasks, there, strict=True) if has]
    listed = ", ".join(own[:3]) + (" and others" if own[3:] else "")
    note = f"score {shown(columns.score)} is that of task{'s' * (len(own) > 1)} {listed} alone"
    return own, [log for log, has in zip(logs, there, strict=True) if has], [note]


def with_one_name(
    where: str, tasks: Sequence[str], logs: Sequence[EvaluationLog], columns: Columns
) -> tuple[list[EvaluationLog], dict[str, str]]:
    """Logs in which the score and the filter that are meant have one name, and what that name stands for.

    A task that has a single score takes it, whatever its name: one scorer marks `match`, another asks a model. Where
    a name is given, it is that of the tasks that have several. The same holds of filters. Where all scores are meant,
    each keeps its name.

    Raises ValueError, one line: a task that has several, and not the one that is named.
    """
    found, called = list(logs), {}
    kinds: list[_Kind] = [("filter", columns.filter, lambda answer: (answer.filter,), _with_filter)]
    if columns.score != ALL_SCORES and not columns.one_of_all:
        kinds.append(("score", columns.score, lambda answer: (*answer.scores, *answer.unread), _with_score))
    for what, wanted, names_of, renamed in kinds:
        own = _own_names(where, tasks, found, what, wanted, names_of)
        if len(set(own)) < 2:
            continue
        name = wanted or ", ".join(dict.fromkeys(own))
        called[name] = ", ".join(dict.fromkeys(own))
        found = [renamed(log, one, name) for log, one in zip(found, own, strict=True)]
    return found, called


def _own_names(
    where: str, tasks: Sequence[str], logs: Sequence[EvaluationLog], what: str, wanted: str | None, names_of: _Names
) -> list[str]:
    """The name that is meant in each task; nothing where that is left to whoever reads them as one."""
    there = [list(dict.fromkeys(name for answer in log.answers for name in names_of(answer))) for log in logs]
    if wanted is not None and not any(wanted in names for names in there):
        return []
    own = []
    for task, names in zip(tasks, there, strict=True):
        if wanted not in names and len(names) != 1:
            if wanted is None or not names:
                return []
            raise ValueError(
                f"{where}: {what}: {shown(wanted)} is not there in task {shown(task)}; expected one of "
                f"{', '.join(names[:20])}, or files of other tasks"
            )
        own.append(wanted if wanted in names else names[0])
    return own


def _with_filter(log: EvaluationLog, own: str, name: str) -> EvaluationLog:
    answers = [replace(answer, filter=name) for answer in log.answers if answer.filter == own]
    return replace(log, answers=answers)


def _with_score(log: EvaluationLog, own: str, name: str) -> EvaluationLog:
    def renamed(answer: Answer) -> Answer:
        scores = {name: answer.scores[own]} if own in answer.scores else {}
        unread = {name: answer.unread[own]} if own in answer.unread else {}
        return replace(answer, scores=scores, unread=unread)

    lower = frozenset([name]) if log.is_lower_better(own, Columns()) else frozenset[str]()
    return replace(log, answers=[renamed(answer) for answer in log.answers], lower_is_better=lower)
