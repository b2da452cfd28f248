"""The test run that DeepEval saves (``test_run_*.json``): each test case with its metrics by name.

An item is a test case, known by its name. A metric is read as its score; the score ``success`` is right if all metrics
of the case passed their thresholds, and missing if the case has no metrics.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...inputs.content import Content
from .._columns import Columns
from .._log import Answer, EvaluationLog, make_answer, mapping, objects, share_of

ORDER = 43
NAME = "DeepEval's test run"

BEGINS = re.compile(
    rb'(?s)\s*+\{\s*+("testRunData"\s*+:\s*+\{\s*+)?+'
    rb'(?=.*"(testCases|test_cases)")"(testCases|testFile|identifier|test_cases)"\s*+:'
)
#: Keys of the lists of cases, and of what a case asks.
_CASES = ("testCases", "test_cases", "conversationalTestCases")
_ASKED = ("input", "expectedOutput", "expected_output", "scenario", "expectedOutcome")


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read the metrics of every test case."""
    value = mapping(content.json())
    value = mapping(value.get("testRunData")) or value
    cases = [{"metricsData": case.get("metrics_data"), **case} for key in _CASES for case in objects(value.get(key))]
    if not all(len(case) > 1 for case in cases) or not cases:
        raise ValueError(f"{content.where}: {_CASES[0]} is not valid; expected a list of test cases")
    metrics = [metric for case in cases for metric in objects(case["metricsData"])]
    lower = {**_lower_is_better(metrics), "success": False}
    return EvaluationLog(
        where=content.where,
        harness="DeepEval",
        answers=[_answer(number, case, columns) for number, case in enumerate(cases)],
        lower_is_better=lower,
        shares=frozenset(lower),
        stated={("success", ""): share_of(value.get("testPassed"), value.get("testFailed"))},
        settings={
            key: ", ".join(sorted({f"{metric.get('name')}: {metric[key]}" for metric in metrics if key in metric}))
            for key in ("threshold", "strictMode", "evaluationModel")
        },
    )


def _lower_is_better(metrics: Iterable[Mapping[str, Any]]) -> dict[str, bool]:
    """Return, for each metric that passes on only one side of its threshold, whether that is the lower side."""
    below: dict[str, set[bool]] = {}
    for metric in metrics:
        score, threshold, success = (metric.get(key) for key in ("score", "threshold", "success"))
        if not isinstance(score, (int, float)) or not isinstance(threshold, (int, float)):
            continue
        if score != threshold and isinstance(success, bool):
            below.setdefault(str(metric.get("name")), set()).add((score < threshold) == success)
    return {name: value == {True} for name, value in below.items() if len(value) == 1}


def _answer(number: int, case: Mapping[str, Any], columns: Columns) -> Answer:
    metrics = objects(case["metricsData"])
    values: dict[str, Any] = {}
    for metric in metrics:
        if not metric.get("error") and not metric.get("skipped"):
            name, score = str(metric.get("name")), metric.get("score")
            values[name] = score if values.get(name, score) == score else [values[name], score]  # a list is refused
    failed = next((str(metric["error"])[:200] for metric in metrics if metric.get("error")), "")
    failed = failed or "no metrics" * (not metrics)
    if isinstance(case.get("success"), bool) and values and not failed:
        values["success"] = case["success"]
    asked = {key: case.get(key) for key in _ASKED if case.get(key) is not None}
    identity = {"input": json.dumps(asked, sort_keys=True)} if asked else {}
    about = {**mapping(case.get("additionalMetadata")), **mapping(case.get("metadata")), **case}
    return make_answer(str(case.get("name") or number), values, about, columns, identity=identity, failed=failed)
