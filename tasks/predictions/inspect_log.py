"""The log of an Inspect evaluation as JSON (``--log-format json``): its samples with their scores.

The row's id is the sample's, with its epoch where there are several; it is right where the first score is C, 1 or true.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from ._predictions import RIGHT, WRONG, Columns, Predictions

ORDER = 30

_VERSIONS = (1, 2)
_RIGHT, _WRONG = ("C", 1, 1.0, True, "1"), ("I", "N", 0, 0.0, False, "0")


def reads(place: Path) -> bool:
    """A JSON file whose beginning has the keys of a log."""
    with place.open("rb") as handle:
        start = handle.read(4000)
    return start.lstrip().startswith(b"{") and b'"version"' in start and b'"eval"' in start and b'"doc_id"' not in start


def read(place: Path, columns: Columns) -> Predictions:
    """Read the score of every sample."""
    try:
        log = json.loads(place.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place}: cannot be read as an Inspect log ({' '.join(str(error).split())[:120]})") from None
    if log.get("version") not in _VERSIONS:
        raise ValueError(
            f"{place}: version: {log.get('version')!r} is not valid; expected an Inspect log of version 1 or 2"
        )
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise ValueError(f"{place}: there are no samples; expected a log that was written with them")
    epochs = len({sample.get("epoch", 1) for sample in samples if isinstance(sample, dict)}) > 1
    ids, grades = [], []
    others: dict[str, list[str]] = {name: [] for name in columns.optional}
    for position, sample in enumerate(samples):
        grades.append(_grade(place, position, sample))
        ids.append(f"{sample['id']} (epoch {sample.get('epoch', 1)})" if epochs else str(sample["id"]))
        about = sample.get("metadata") if isinstance(sample.get("metadata"), dict) else {}
        for name, values in others.items():
            values.append(str(about.get(name, "")))
    present = {name: pa.array(values, pa.string()) for name, values in others.items() if any(values)}
    right = pa.array([RIGHT] * len(ids), pa.string())
    return Predictions(str(place), pa.array(ids, pa.string()), right, pa.array(grades, pa.string()), present, True)


def _grade(place: Path, position: int, sample: Any) -> str:
    scores = sample.get("scores") if isinstance(sample, dict) else None
    if not isinstance(sample, dict) or "id" not in sample or not isinstance(scores, dict) or not scores:
        raise ValueError(f"{place}: sample {position} (from 0) has no id or no score; expected both")
    score = next(iter(scores.values()))
    value = score.get("value") if isinstance(score, dict) else score
    if isinstance(value, (str, int, float)) and value in _RIGHT:
        return RIGHT
    if isinstance(value, (str, int, float)) and value in _WRONG:
        return WRONG
    raise ValueError(f"{place}: sample {position} (from 0): score {value!r} is not valid; expected C or I")
