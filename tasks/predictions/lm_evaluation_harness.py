"""The samples that lm-evaluation-harness logs (``--log_samples``): JSON-lines, an object for each document.

The row's id is ``doc_id``; its mark is the first of acc, exact_match and the like that it holds: 0 or 1, or
a mark between. Where several filters graded a document, the first is taken.
"""

import json
import math
from pathlib import Path
from typing import Any

from ._predictions import Columns, Predictions, from_grades

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
    marks: list[float] = []
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
            marks.append(_mark(place, number, sample))
            found = sample.get("doc")
            document: dict[str, Any] = found if isinstance(found, dict) else {}
            for name, values in others.items():
                values.append(str(document.get(name, sample.get(name, ""))))
    return from_grades(str(place), ids, marks, others)


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


def _mark(place: Path, number: int, sample: dict[str, Any]) -> float:
    for name in _GRADES:
        if name in sample:
            value = sample[name]
            if isinstance(value, (bool, int, float)) and math.isfinite(value):
                return float(value)
            raise ValueError(f"{place}, line {number}: {name}: {value!r} is not valid; expected a number")
    raise ValueError(f"{place}, line {number}: there is no grade; expected one of {', '.join(_GRADES)}")
