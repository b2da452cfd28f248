"""The record of a run of OpenAI's evals: one event per line; matches and metrics are scores of a sample."""

import json
import re
from typing import Any

from ...inputs.content import Content, parse_json
from .._columns import Columns
from .._log import EvaluationLog, add_result, answered, graded, mapping

ORDER = 46
NAME = "OpenAI's evals"
LOG = True

BEGINS = re.compile(rb'\s*\{"spec"[^\n]*"eval_name"')


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read the scores of every sample."""
    spec: dict[str, Any] = {}
    values: dict[str, list[dict[str, Any]]] = {}
    failed: dict[str, str] = {}
    expected: dict[str, Any] = {}
    for line in content.whole().splitlines():
        event = mapping(parse_json(line, content.budget)) if line.strip() else {}
        spec |= mapping(event.get("spec"))
        sample, data = event.get("sample_id"), mapping(event.get("data"))
        if not isinstance(sample, str):
            continue
        add_result(values, sample, {})  # asked; without a score unless one follows
        if event.get("type") == "match":
            add_result(values, sample, {"match": data.get("correct")})
            target = data.get("expected")
            expected[sample] = {} if target is None else {"target": json.dumps(target)}
        elif event.get("type") == "metrics":
            add_result(values, sample, data)
        elif event.get("type") == "error":
            failed[sample] = str(data.get("message") or data.get("type") or "an error")[:200]
    model = spec.get("completion_fns") or [spec.get("model_name") or ""]
    return EvaluationLog(
        where=content.where,
        harness="OpenAI's evals",
        answers=[
            answered(sample, result, {}, columns, identity=expected.get(sample, {}), failed=failed.get(sample, ""))
            for sample, results in values.items()
            for result in results
        ],
        task=str(spec.get("base_eval") or spec.get("eval_name") or ""),
        model=", ".join(map(str, model)) if isinstance(model, list) else "",
        **graded("match"),
    )
