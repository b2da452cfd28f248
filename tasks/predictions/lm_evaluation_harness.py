"""The samples that lm-evaluation-harness logs (``--log_samples``): JSON-lines, an object for each document.

The row's id is ``doc_id``; whether its answer was right is the first of acc, exact_match and the like that it holds as
0 or 1. Where several filters graded a document, the first is taken.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from ._predictions import RIGHT, WRONG, Columns, Predictions

ORDER = 20

_GRADES = ("acc", "exact_match", "acc_norm", "pass@1", "em")


def reads(place: Path) -> bool:
    """A file whose first object has the harness's keys."""
    with place.open("rb") as handle:
        try:
            first = json.loads(handle.readline())
        except (ValueError, RecursionError):
            return False
    return isinstance(first, dict) and {"doc_id", "filtered_resps"} <= first.keys()


def read(place: Path, columns: Columns) -> Predictions:
    """Read the grade of every document."""
    ids: list[str] = []
    grades: list[str] = []
    others: dict[str, list[str]] = {name: [] for name in columns.optional}
    first_filter: Any = None
    with place.open(encoding="utf-8", errors="replace") as handle:
        for number, line in enumerate(handle, start=1):
            if not line.strip():
                continue
            sample = _sample(place, number, line)
            first_filter = sample.get("filter") if number == 1 else first_filter
            if sample.get("filter") != first_filter:
                continue
            ids.append(str(sample["doc_id"]))
            grades.append(_grade(place, number, sample))
            found = sample.get("doc")
            document: dict[str, Any] = found if isinstance(found, dict) else {}
            for name, values in others.items():
                values.append(str(document.get(name, sample.get(name, ""))))
    present = {name: pa.array(values, pa.string()) for name, values in others.items() if any(values)}
    right = pa.array([RIGHT] * len(ids), pa.string())
    return Predictions(str(place), pa.array(ids, pa.string()), right, pa.array(grades, pa.string()), present, True)


def _sample(place: Path, number: int, line: str) -> dict[str, Any]:
    try:
        sample = json.loads(line)
    except (ValueError, RecursionError):
        sample = None
    if not isinstance(sample, dict) or "doc_id" not in sample:
        raise ValueError(
            f"{place}, line {number}: is no sample of lm-evaluation-harness; expected an object with doc_id"
        )
    return sample


def _grade(place: Path, number: int, sample: dict[str, Any]) -> str:
    for name in _GRADES:
        if name in sample:
            if sample[name] not in (0, 1):
                raise ValueError(f"{place}, line {number}: {name}: {sample[name]!r} is not valid; expected 0 or 1")
            return RIGHT if sample[name] else WRONG
    raise ValueError(f"{place}, line {number}: there is no grade; expected one of {', '.join(_GRADES)}")
