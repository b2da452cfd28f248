"""Cells whose classifiers or tests have other code than at the last run: they are made again, and a person is told."""

import json
from collections.abc import Iterator
from typing import Any

from sigstats.tasks.own_code import difference
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.storage.plan_table import read_plan
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

#: The parts of a cell's work that may have code of their own.
_PARTS = ("classifier", "test")


def changed_code(store: Store, plan: Plan) -> Iterator[str]:
    """A line for each classifier or test of `plan` that an output holds with other code."""
    try:
        before = {_without_code(cell): cell for cell in read_plan(store).cells if _code(cell)}
    except (FileNotFoundError, Damaged, OSError):
        return
    told = set()
    for cell in plan.cells:
        old = before.get(_without_code(cell)) if _code(cell) else None
        name = next((cell.subject[part] for part in _PARTS if part in cell.subject), "")
        if old is not None and _code(old) != _code(cell) and name not in told:
            told.add(name)
            yield f"{name}, since {difference(_code(old), _code(cell))}"


def _code(cell: Cell) -> dict[str, str]:
    parts = [cell.work[part] for part in _PARTS if isinstance(cell.work.get(part), dict)]
    return next((part["code"] for part in parts if "code" in part), {})


def _without_code(cell: Cell) -> str:
    work: dict[str, Any] = dict(cell.work)
    for part in _PARTS:
        if isinstance(work.get(part), dict):
            work[part] = {key: value for key, value in work[part].items() if key != "code"}
    return json.dumps([cell.fanout, dict(cell.subject), work, cell.seed], sort_keys=True)
