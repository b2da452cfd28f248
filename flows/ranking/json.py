"""A leaderboard as JSON."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sigstats.ranking.result import RankedModel, Ranking

#: The version of the form of the JSON, increased when it changes.
JSON_VERSION = 1


def as_json(found: Ranking, files: Sequence[str]) -> str:
    """All results, under the names of the fields of `sigstats.Ranking`; `files` in the order of the models."""
    content: dict[str, Any] = {
        "version": JSON_VERSION,
        "measure": found.measure,
        "n": found.n,
        "averaged": found.averaged,
        "groups": found.groups,
        "confidence_level": found.confidence_level,
        "models": [{**_model(model), "file": file} for model, file in zip(found.models, files, strict=True)],
        "tiers": found.tiers,
        "pairs": [asdict(pair) for pair in found.pairs],
        "slices": [{**asdict(each), "models": list(map(_model, each.models))} for each in found.slices],
        "notes": list(found.notes),
    }
    return json.dumps(content, indent=2, allow_nan=False)


def _model(model: RankedModel) -> dict[str, Any]:
    low, high, _ = (end if math.isfinite(end) else None for end in model.confidence_interval)
    rest = {name: value for name, value in asdict(model).items() if name != "confidence_interval"}
    return {**rest, "low": low, "high": high}
