"""Classifiers and tests whose code has changed since the last run: their cells are computed again."""

import json
from collections.abc import Iterator
from typing import Any

from sigstats.tasks.own_code import difference
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.storage.plan_table import read_plan
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store

#: The parts of a cell's work that may be code of other packages.
_PARTS = ("classifier", "test")


def changed_code(store: Store, plan: Plan) -> Iterator[str]:
    """Name the classifiers and tests of a plan whose code is not that of the stored cells.

    Yields the name, and what has changed; a line for each classifier or test.
    """
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
