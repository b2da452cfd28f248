"""A comparison, of one candidate or several, and a check as JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from sigstats.comparison.candidates import CandidatesResult
from sigstats.comparison.check_result import CheckResult, reasons_of, rule_of
from sigstats.comparison.result import ComparisonResult, reasons, rule_in_words
from sigstats.intervals import Interval

#: The version of the form of the JSON, increased when it changes.
JSON_VERSION = 1
#: What JSON and histories call attributes of rows of a comparison, and of other results.
KEYS_OF_ROWS = {
    "pvalue": "p_worse",
    "two_sided_pvalue": "p_differs",
    "adjusted_pvalue": "p_adjusted",
    "equivalence_pvalue": "p_equivalent",
}
KEYS_OF_TESTS = {"n_resamples": "replicates"}
_KEYS_OF_CHECKS = {"adjusted_pvalue": "p_adjusted"}


def as_object(record: Any, keys: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a record under their keys in JSON, where these are others."""
    return {keys.get(name, name): value for name, value in asdict(record).items()}


def row_as_object(row: Any, keys: Mapping[str, str] = KEYS_OF_ROWS) -> dict[str, Any]:
    """A row in the same way; intervals are pairs, of which the rule says the level."""
    values = {each.name: getattr(row, each.name) for each in fields(row) if each.name != "confidence_level"}
    return {keys.get(name, name): tuple(v) if isinstance(v, Interval) else v for name, v in values.items()}


def as_json(found: ComparisonResult, baseline: str, candidate: str) -> str:
    """All results; rows under the names of the fields of `ComparisonRow`, but for those of `KEYS_OF_ROWS`."""
    return _written(_content(found, baseline, candidate))


def candidates_as_json(found: CandidatesResult) -> str:
    """The overview, and the comparison of each candidate."""
    content = {
        "version": JSON_VERSION,
        "verdict": found.verdict,
        "baseline": found.baseline,
        "take": found.take,
        "better": list(found.better),
        "recommendation": found.recommendation,
        "candidates": [
            {**_content(result, found.baseline, candidate), "p_better": p_better}
            for candidate, result, p_better in zip(found.candidates, found.results, found.p_better, strict=True)
        ],
    }
    return _written(content)


def check_as_json(found: CheckResult, file: str) -> str:
    """All results; rows under the names of the fields of `CheckedRow`, but for that of `_KEYS_OF_CHECKS`."""
    content = {
        "version": JSON_VERSION,
        "verdict": found.verdict,
        "file": file,
        "at_most" if found.at_most else "at_least": found.bar,
        "n": found.n,
        "rule": {**found.rule.by_keys(), "in_words": rule_of(found)},
        "reasons": reasons_of(found),
        "notes": list(found.notes),
        "rows": [row_as_object(row, _KEYS_OF_CHECKS) for row in found.rows],
    }
    return _written(content)


def _content(found: ComparisonResult, baseline: str, candidate: str) -> dict[str, Any]:
    joint = None if found.joint is None else as_object(found.joint, KEYS_OF_TESTS)
    if joint is not None:
        del joint["confidence_interval"]
    roles = ("baseline", "candidate")
    subjects = None if found.subjects is None else dict(zip(roles, map(dict, found.subjects), strict=True))
    return {
        "version": JSON_VERSION,
        "verdict": found.verdict,
        "identical": found.identical,
        "baseline": baseline,
        "candidate": candidate,
        "n": found.n,
        "items": found.items,
        "subjects": subjects,
        "rule": {**found.rule.by_keys(), "in_words": rule_in_words(found)},
        "reasons": reasons(found),
        "joint": joint,
        "notes": list(found.notes),
        "rows": [row_as_object(row) for row in found.rows],
    }


def _written(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, allow_nan=False)
