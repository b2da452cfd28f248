"""The test run that DeepEval saves (``test_run_*.json``): each test case with its metrics by name.

A metric is read as its score; ``success`` is if all metrics of the case passed their thresholds. A case is known by its
name.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ...input_files.content import Content
from .._log import Answer, EvaluationLog, mapping, sort_scores
from .._predictions import Columns

ORDER = 43
NAME = "DeepEval's test run"
LOG = True

_BEGINNING = re.compile(rb'\s*\{\s*("testRunData"\s*:\s*\{\s*)?"(testCases|testFile|identifier|test_cases)"\s*:')
_CASES = (("testCases", "metricsData"), ("test_cases", "metrics_data"))


def reads(content: Content) -> bool:
    """An object with test cases that have metrics."""
    named = any(f'"{name}"'.encode() in content.start for name in ("testCases", "test_cases"))
    return named and _BEGINNING.match(content.start) is not None


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read the metrics of every test case."""
    found = mapping(content.json())
    found = mapping(found.get("testRunData")) or found
    key, metrics = next((names for names in _CASES if names[0] in found), _CASES[0])
    cases = found.get(key)
    if not isinstance(cases, list) or not cases or not all(isinstance(case, dict) for case in cases):
        raise ValueError(f"{content.where}: {key} is not valid; expected a list of test cases")
    names = [str(case.get("name") or number) for number, case in enumerate(cases)]
    several = [name for name, count in Counter(names).items() if count > 1]
    seen: Counter[str] = Counter()
    answers = []
    for name, case in zip(names, cases, strict=True):
        seen[name] += 1
        answers.append(_answer(name, seen[name] if several else 1, case, metrics, columns))
    return EvaluationLog(where=content.where, harness="DeepEval", answers=answers)


def _answer(name: str, epoch: int, case: Mapping[str, Any], metrics: str, columns: Columns) -> Answer:
    measured = case.get(metrics)
    each = [mapping(metric) for metric in measured] if isinstance(measured, list) else []
    values: dict[str, Any] = {
        str(metric.get("name")): metric.get("score") for metric in each if not metric.get("error")
    }
    failed = next((str(metric["error"])[:200] for metric in each if metric.get("error")), "")
    if isinstance(case.get("success"), bool) and not failed:
        values["success"] = case["success"]
    scores, unread = sort_scores(values)
    about = {**mapping(case.get("additionalMetadata")), **case}
    asked = {key: case.get(key) for key in ("input", "expectedOutput", "expected_output") if case.get(key) is not None}
    return Answer(
        item=name,
        epoch=epoch,
        scores=scores,
        unread=unread,
        identity={"input": json.dumps(asked, sort_keys=True)} if asked else {},
        about={key: about.get(key) for key in columns.optional},
        failed=failed if not scores else "",
    )
