"""The record of a run of OpenAI's evals: one event per line; matches and metrics are scores of a sample."""

import json
import re
from typing import Any

from ...inputs.content import Content, parse_json
from .._columns import Columns
from .._log import PROMPT, EvaluationLog, add_result, graded_by, make_answer, mapping, to_texts

ORDER = 46
NAME = "OpenAI's evals"

BEGINS = re.compile(rb'\s*\{"spec"[^\n]*"eval_name"')


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read the scores of every sample."""
    spec: dict[str, Any] = {}
    values: dict[str, list[dict[str, Any]]] = {}
    others: dict[str, dict[str, Any]] = {}
    for line in content.whole().splitlines():
        event = mapping(parse_json(line, content.budget)) if line.strip() else {}
        spec |= {**mapping(event.get("spec")), **mapping(event.get("final_report"))}
        sample, data = event.get("sample_id"), mapping(event.get("data"))
        if not isinstance(sample, str):
            continue
        add_result(values, sample, {})  # asked; without a score unless one follows
        more = others.setdefault(sample, {"identity": {}})
        if event.get("type") == "match":
            add_result(values, sample, {"match": data.get("correct")})
            if data.get("expected") is not None:
                more["identity"]["target"] = json.dumps(data["expected"])
        elif event.get("type") == "sampling":  # of several, the later ones may repeat answers
            more["identity"].setdefault(PROMPT, json.dumps(data.get("prompt")))
        elif event.get("type") == "metrics":
            add_result(values, sample, data)
        elif event.get("type") == "error":
            more["failed"] = str(data.get("message") or data.get("type") or "an error")[:200]
    model = spec.get("completion_fns") or [spec.get("model_name") or ""]
    arguments = mapping(mapping(spec.get("run_config")).get("eval_spec")).get("args")
    return EvaluationLog(
        where=content.where,
        harness="OpenAI's evals",
        answers=[
            make_answer(sample, result, {}, columns, **others[sample])
            for sample, results in values.items()
            for result in results
        ],
        task=str(spec.get("base_eval") or spec.get("eval_name") or ""),
        model=", ".join(map(str, model)) if isinstance(model, list) else "",
        settings=to_texts({"eval": spec.get("eval_name"), "split": spec.get("split"), "arguments": arguments}),
        stated={("match", ""): spec.get("accuracy")},
        **graded_by("match"),
    )
