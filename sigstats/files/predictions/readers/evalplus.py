"""The ``eval_results.json`` of EvalPlus: the outcomes of the base tests and the ``plus`` tests of each solution.

Each solution of a task is an answer to it. The score ``plus`` is right if both sets of tests passed, as in EvalPlus.
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
    base, plus = (_PASSED.get(status, status) if isinstance(status, str) else status for status in (base, plus))
    return {"base": base, "plus": base if plus is not None and base is not True else plus}


def _statuses(value: Any) -> list[tuple[Any, Any]]:
    """Return the outcomes of the base tests and of the additional tests of each solution, in either form."""
    if isinstance(value, list):
        return [(item.get("base_status"), item.get("plus_status")) for item in objects(value)]
    base, plus = (mapping(value).get(name) for name in ("base", "plus"))
    if not isinstance(base, list) or not all(isinstance(item, list) and item for item in base):
        return []
    if not isinstance(plus, list) or len(plus) != len(base):
        plus = [None] * len(base)
    first_of_plus = [other[0] if isinstance(other, list) and other else None for other in plus]
    return [(outcome[0], other) for outcome, other in zip(base, first_of_plus, strict=True)]
