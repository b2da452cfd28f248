"""The ``eval_results.json`` of EvalPlus: whether each solution passed the base and the ``plus`` tests of a task.

Each solution of a task is an answer to it. The score ``plus`` is right where both sets of tests passed, as EvalPlus
counts it.
"""

import re
from typing import Any

from ...inputs.content import Content
from .._columns import Columns
from .._log import EvaluationLog, graded_by, make_answer, mapping, objects, to_texts

ORDER = 42
NAME = "EvalPlus' eval_results.json"

BEGINS = re.compile(rb'\s*\{\s*"date"\s*:\s*"[^"]*"\s*,\s*"hash"\s*:')
#: The words that EvalPlus writes, in any version; other words are refused if their score is compared.
_PASSED = {"pass": True, "success": True, "fail": False, "failed": False, "timeout": False}


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read the outcome of every solution."""
    log = mapping(content.json())
    tasks = mapping(log.get("eval"))
    statuses = {task: _statuses(value) for task, value in tasks.items()}
    answers = [
        make_answer(task, _values(*status), {"task_id": task}, columns, epoch=epoch)
        for task, solutions in statuses.items()
        for epoch, status in enumerate(solutions or [(None, None)], start=1)
    ]
    if not any(statuses.values()):
        raise ValueError(f"{content.where}: eval contains no solution; expected tasks with base and plus")
    rates = mapping(log.get("pass_at_k"))
    stated = {(name, ""): mapping(rates.get(name)).get("pass@1") for name in ("base", "plus")}
    settings = to_texts({"hash of the data set": log.get("hash")})
    more = {"stated": stated, "settings": settings, **graded_by("base", "plus")}
    return EvaluationLog(where=content.where, harness="EvalPlus", answers=answers, kind="score", **more)


def _values(base: Any, plus: Any) -> dict[str, Any]:
    first, second = (_PASSED.get(word, word) if isinstance(word, str) else word for word in (base, plus))
    return {"base": first, "plus": None if plus is None else second if first is True else first}


def _statuses(value: Any) -> list[tuple[Any, Any]]:
    """Return the outcomes of the base tests and of the additional tests of each solution, in either form."""
    if isinstance(value, list):
        return [(item.get("base_status"), item.get("plus_status")) for item in objects(value)]
    base, plus = (mapping(value).get(name) for name in ("base", "plus"))
    if not isinstance(base, list) or not all(isinstance(item, list) and item for item in base):
        return []
    more = plus if isinstance(plus, list) and len(plus) == len(base) else [None] * len(base)
    return [
        (one[0], other[0] if isinstance(other, list) and other else None) for one, other in zip(base, more, strict=True)
    ]
