"""A comparison, of one candidate or several, and a check as JSON."""

import json
from dataclasses import asdict
from typing import Any

from sigstats.comparison.candidates import CandidatesResult
from sigstats.comparison.check_result import CheckResult, reasons_of, rule_of
from sigstats.comparison.result import ComparisonResult
from sigstats.comparison.sentences import reasons, rule_in_words

#: The version of the form of the JSON, increased when it changes.
JSON_VERSION = 1


def as_json(found: ComparisonResult, baseline: str, candidate: str) -> str:
    """All results, under the names of the fields of `sigstats.comparison.result.ComparisonRow`."""
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
    """All results, under the names of the fields of `sigstats.comparison.check_result.CheckedRow`."""
    content = {
        "version": JSON_VERSION,
        "verdict": found.verdict,
        "file": file,
        "at_least": found.at_least,
        "n": found.n,
        "rule": {**found.rule.by_keys(), "in_words": rule_of(found)},
        "reasons": reasons_of(found),
        "notes": list(found.notes),
        "rows": [asdict(row) for row in found.rows],
    }
    return _written(content)


def _content(found: ComparisonResult, baseline: str, candidate: str) -> dict[str, Any]:
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
        "rule": {**found.rule.by_keys(), "in_words": rule_in_words(found.rule, found.measures)},
        "reasons": reasons(found),
        "joint": None if found.joint is None else asdict(found.joint),
        "notes": list(found.notes),
        "rows": [asdict(row) for row in found.rows],
    }


def _written(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, allow_nan=False)
