"""Cells whose classifiers have other code than at the last run: they are made again, and a person is told."""

import json
from collections.abc import Iterator
from typing import Any

from sigstats.tasks.own_code import difference
from sigstats.tasks.plan import Cell, Plan
from sigstats.tasks.storage.plan_table import read_plan
from sigstats.tasks.storage.seal import Damaged
from sigstats.tasks.storage.store import Store


def changed_code(store: Store, plan: Plan) -> Iterator[str]:
    """A line for each classifier of `plan` that an output holds with other code."""
    try:
        before = {_without_code(cell): cell for cell in read_plan(store).cells if _code(cell)}
    except (FileNotFoundError, Damaged, OSError):
        return
    told = set()
    for cell in plan.cells:
        old, name = before.get(_without_code(cell)), cell.subject.get("classifier", "")
        if old is not None and _code(cell) and _code(old) != _code(cell) and name not in told:
            told.add(name)
            yield f"{name}, since {difference(_code(old), _code(cell))}"


def _code(cell: Cell) -> dict[str, str]:
    code: dict[str, str] = cell.work.get("classifier", {}).get("code", {})
    return code


def _without_code(cell: Cell) -> str:
    classifier = cell.work.get("classifier")
    work: dict[str, Any] = dict(cell.work)
    if isinstance(classifier, dict):
        work["classifier"] = {key: value for key, value in classifier.items() if key != "code"}
    return json.dumps([cell.fanout, dict(cell.subject), work, cell.seed], sort_keys=True)
