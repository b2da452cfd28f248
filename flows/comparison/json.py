"""A comparison as JSON."""

import json
from dataclasses import asdict
from typing import Any

from sigstats.comparison.result import ComparisonResult
from sigstats.comparison.sentences import reasons, rule_in_words

#: The version of the form of the JSON, increased when it changes.
JSON_VERSION = 1


def as_json(found: ComparisonResult, baseline: str, candidate: str) -> str:
    """All results, under the names of the fields of `sigstats.comparison.result.ComparisonRow`."""
    content: dict[str, Any] = {
        "version": JSON_VERSION,
        "verdict": found.verdict,
        "identical": found.identical,
        "baseline": baseline,
        "candidate": candidate,
        "n": found.n,
        "items": found.items,
        "subjects": None
        if found.subjects is None
        else {role: dict(each) for role, each in zip(("baseline", "candidate"), found.subjects, strict=True)},
        "rule": {**found.rule.by_keys(), "in_words": rule_in_words(found.rule, found.measures)},
        "reasons": reasons(found),
        "joint": None if found.joint is None else asdict(found.joint),
        "notes": list(found.notes),
        "rows": [asdict(row) for row in found.rows],
    }
    return json.dumps(content, indent=2, allow_nan=False)
