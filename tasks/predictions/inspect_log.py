"""The log of an Inspect evaluation, as JSON or as .eval (a ZIP of JSON): its samples with their scores.

The row's id is the sample's, with its epoch where there are several. Its mark is the first score: C is 1, P a half, I
and N are 0, and a number is itself.
"""

import json
import math
import zipfile
from pathlib import Path
from typing import Any

from ._predictions import Columns, Predictions, from_grades

ORDER = 30

_VERSIONS = (1, 2)
_MARKS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_SAMPLES = "samples/"
#: The first is there once the evaluation has ended; early versions and unfinished logs have one of the others.
_HEADERS = ("header.json", "_journal/start.json", "start.json")


def reads(place: Path) -> bool:
    """A ZIP, or a JSON file whose beginning has the keys of a log."""
    with place.open("rb") as handle:
        start = handle.read(4000)
    if start.startswith(b"PK\x03\x04"):
        return True
    return start.lstrip().startswith(b"{") and b'"version"' in start and b'"eval"' in start and b'"doc_id"' not in start


def read(place: Path, columns: Columns) -> Predictions:
    """Read the score of every sample."""
    try:
        log = _zipped(place) if zipfile.is_zipfile(place) else json.loads(place.read_text(encoding="utf-8"))
    except (
        ValueError,
        RecursionError,
        KeyError,
        OSError,
        NotImplementedError,
        RuntimeError,
        zipfile.BadZipFile,
    ) as error:
        raise ValueError(f"{place}: cannot be read as an Inspect log ({' '.join(str(error).split())[:120]})") from None
    if not isinstance(log, dict) or log.get("version") not in _VERSIONS:
        version = log.get("version") if isinstance(log, dict) else None
        raise ValueError(f"{place}: version: {version!r} is not valid; expected an Inspect log of version 1 or 2")
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise ValueError(f"{place}: there are no samples; expected a log that was written with them")
    epochs = len({sample.get("epoch", 1) for sample in samples if isinstance(sample, dict)}) > 1
    ids, marks = [], []
    others: dict[str, list[str]] = {name: [] for name in columns.optional}
    for position, sample in enumerate(samples):
        marks.append(_mark(place, position, sample))
        ids.append(f"{sample['id']} (epoch {sample.get('epoch', 1)})" if epochs else str(sample["id"]))
        about = sample.get("metadata") if isinstance(sample.get("metadata"), dict) else {}
        for name, values in others.items():
            values.append(str(about.get(name, "")))
    return from_grades(str(place), ids, marks, others)


def _zipped(place: Path) -> Any:
    """The header of an .eval file with its samples, each of which is a file of its own."""
    with zipfile.ZipFile(place) as archive:
        names = archive.namelist()
        header = next((name for name in _HEADERS if name in names), None)
        if header is None:
            raise ValueError(f"it is a ZIP without {_HEADERS[0]}")
        log = json.loads(archive.read(header))
        names = sorted(name for name in names if name.startswith(_SAMPLES) and name.endswith(".json"))
        if isinstance(log, dict):
            log["samples"] = [json.loads(archive.read(name)) for name in names]
        return log


def _mark(place: Path, position: int, sample: Any) -> float:
    scores = sample.get("scores") if isinstance(sample, dict) else None
    if not isinstance(sample, dict) or "id" not in sample or not isinstance(scores, dict) or not scores:
        raise ValueError(f"{place}: sample {position} (from 0) has no id or no score; expected both")
    score = next(iter(scores.values()))
    value = score.get("value") if isinstance(score, dict) else score
    if isinstance(value, str):
        try:
            value = _MARKS[value] if value in _MARKS else float(value)
        except ValueError:
            value = None
    if isinstance(value, (bool, int, float)) and math.isfinite(value):
        return float(value)
    raise ValueError(f"{place}: sample {position} (from 0): its score is not valid; expected C, P, I, N or a number")
