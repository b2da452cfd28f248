"""The samples that lm-evaluation-harness logs (``--log_samples``): an object a line for each document and filter."""

import hashlib
import io
import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from sigstats._common.messages import RepeatedKeyError, each_once

from ...inputs.content import Content, parse_json, size_of_objects
from .._columns import Columns
from .._log import PROMPT, Answer, EvaluationLog, empty_answers, make_answer, mapping, missing_answers, text, to_texts

ORDER = 20
NAME = "the samples of lm-evaluation-harness"
COMPANIONS = "results_"  # prefix of the files that are read with the samples

BEGINS = re.compile(rb'(?s)\s*+\{(?=.*"doc_id")')

#: The keys of a sample that are not metrics; ``bypass`` replaces the metric if answers were not graded.
_KEYS = {"doc_id", "doc", "doc_hash", "target", "target_hash", "arguments", "prompt_hash"}
_KEYS |= {"resps", "filtered_resps", "filter", "metrics", "task_name", "bypass"}
#: Metrics of a task that are the mean over its documents.
_MEANS = "acc", "acc_norm", "exact_match"
#: The harness's names of files of samples.
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+\d)\.jsonl?(\.|$)")


def reads(content: Content) -> bool:
    """Return True for a file whose first object has the harness's keys."""
    try:
        first = parse_json(content.first_line, content.budget)
    except ValueError:
        return False
    return isinstance(first, dict) and {"doc_id", "filtered_resps"} <= first.keys()


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read the metrics of every document."""
    answers, empty, generation = [], 0, None
    for number, line in enumerate(io.BytesIO(content.whole()), start=1):
        if line.strip():
            sample = _sample(content, number, line)
            answers.append(_answer(sample, columns))
            generation = generation or _request(sample)[1]
            empty += sample.get("filtered_resps") == [""]
    named = _NAME.match(content.name)  # the results of the same run may be in its folder
    task = "" if named is None else named["task"]
    results = {} if named is None else mapping(content.json_in_same_folder(f"results_{named['date']}.json"))
    higher_is_better = mapping(_of_task(results, "higher_is_better", task))
    means = mapping(_of_task(results, "results", task))
    documents = mapping(_of_task(results, "n-samples", task)).get("effective")
    items, filters = {answer.item for answer in answers}, {answer.filter for answer in answers}
    incomplete = missing_answers(content.where, documents, len(items), "documents")
    settings = {
        "generation settings": generation,
        "version of the task": _of_task(results, "versions", task),
        "shots": _of_task(results, "n-shot", task),
    }
    return EvaluationLog(
        where=content.where,
        harness="lm-evaluation-harness",
        answers=answers,
        task=task,
        model=text(results.get("model_name")) or (_model_of_folder(content.where) if named else ""),
        lower_is_better={name: not higher for name, higher in higher_is_better.items() if isinstance(higher, bool)},
        settings=to_texts(settings),
        stated={(name, chosen): means.get(f"{name},{chosen}") for name in _MEANS for chosen in filters},
        notes=incomplete + empty_answers(content.where, empty, len(answers)),
    )


def _model_of_folder(where: str) -> str:
    """Return the model that a folder is named for, with ``/`` for the harness's ``__``, or an empty text."""
    folder = PurePosixPath(where).parent.name
    return folder.replace("__", "/") if "__" in folder else ""


def _of_task(results: Mapping[str, Any], key: str, task: str) -> Any:
    return mapping(results.get(key)).get(task)


def _sample(content: Content, number: int, line: bytes) -> dict[str, Any]:
    content.budget.require(content.budget.spent + size_of_objects(line))
    try:
        sample = json.loads(line.decode(errors="replace"), object_pairs_hook=each_once)
    except RepeatedKeyError as error:
        raise ValueError(f"{content.where}, line {number}: {error}") from None
    except (ValueError, RecursionError):
        sample = None
    if not isinstance(sample, dict) or "doc_id" not in sample:
        problem = "is not a sample of lm-evaluation-harness; expected an object with doc_id"
        raise ValueError(f"{content.where}, line {number}: {problem}")
    return sample


def _answer(sample: dict[str, Any], columns: Columns) -> Answer:
    about = {**sample, **mapping(sample.get("doc"))}
    chosen, responses = str(sample.get("filter") or ""), sample.get("filtered_resps")
    # If the filter left nothing of a response, there is no answer, even if the harness scored it.
    failed = "no response" if sample.get("resps") and responses in ([], [None]) else ""
    values = {} if failed else _metrics(sample)
    item, identity = str(sample["doc_id"]), _identity(sample)
    return make_answer(item, values, about, columns, filter=chosen, identity=identity, failed=failed)


def _metrics(sample: dict[str, Any]) -> dict[str, Any]:
    """Return the metrics of a document: those that it lists or, in samples of early versions, all its other keys."""
    listed = sample.get("metrics")
    if isinstance(listed, list):
        return {name: sample.get(name) for name in map(str, listed) if name not in _KEYS}
    return {name: value for name, value in sample.items() if name not in _KEYS and not isinstance(value, str)}


def _identity(sample: dict[str, Any]) -> dict[str, str]:
    """Return the identity of a question; samples of early versions have no hashes of the document and the prompt."""
    identity = to_texts({name: sample.get(name) for name in ("target", "doc_hash", "target_hash")})
    if sample.get("doc") is not None:
        document = json.dumps(sample["doc"], ensure_ascii=False, sort_keys=True)
        identity["doc"] = hashlib.sha256(document.encode()).hexdigest()
    prompt = _request(sample)[0]
    asked = sample.get("prompt_hash") or (prompt and hashlib.sha256(prompt.encode()).hexdigest())
    return identity | ({PROMPT: str(asked)} if asked else {})


def _request(sample: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the prompt of the first request of a sample, and its settings of generation, if it has any."""
    requests = sample.get("arguments")
    first = next(iter(requests.values() if isinstance(requests, dict) else requests or ()), ())
    parts = list(first.values() if isinstance(first, dict) else first if isinstance(first, list) else ())
    settings = next((json.dumps(part, sort_keys=True) for part in parts if mapping(part)), None)
    return text(next(iter(parts), "")), settings
