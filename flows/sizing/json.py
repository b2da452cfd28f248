"""A sample-size plan as JSON."""

import json
from dataclasses import asdict
from typing import Any

from sigstats.comparison.size import SizePlan

from .words import basis, headline

#: The version of the form of the JSON, increased when it changes.
JSON_VERSION = 1


def as_json(found: SizePlan) -> str:
    """All results, under the names of the fields of `sigstats.comparison.size.SizePlan`."""
    content: dict[str, Any] = {
        "version": JSON_VERSION,
        "headline": headline(found),
        "basis": list(basis(found)),
        "measure": "accuracy",
        **asdict(found),
    }
    return json.dumps(content, indent=2, allow_nan=False)
