"""The results of promptfoo (``--output output.json``): whether each test passed, for each provider and prompt.

Tests that ask the same, as ``--repeat`` writes them, are answers to one item; the item is identified by the question,
in any order of tests. An answer is right if promptfoo passed it; its score and the named scores are read if one is
named. Answers to tests without assertions, which promptfoo passes, have no score. A provider is treated as a model, a
prompt as a filter.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sigstats._common.messages import Note

from ...inputs.content import Content
from .._columns import Columns
from .._log import Answer, EvaluationLog, empty_answers, graded_by, make_answer, mapping, missing_answers, share_of

ORDER = 40
NAME = "promptfoo's output.json"

_PASSED = "success"
#: Failure reason that promptfoo writes for a test that ended with an error.
_ERROR = 2
_UNGRADED = "the test has no assertions"
_COUNTS = ("successes", "failures", "errors")
BEGINS = re.compile(
    rb'(?s)\s*+\{(?=.*"results")\s*+'
    rb'("evalId"|("version"\s*+:\s*+\d++\s*+,\s*+)?+"results"\s*+:\s*+\{\s*+"(version|timestamp|results)")'
)


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read the outcome of every test, provider and prompt."""
    log = mapping(mapping(content.json()).get("results"))
    results, stats = log.get("results"), mapping(log.get("stats"))
    if not isinstance(results, list) or not all(isinstance(result, dict) and _PASSED in result for result in results):
        raise ValueError(f"{content.where}: has no list results.results of objects with success")
    results = sorted(results, key=_order)
    models, prompts = ({_named(result, key) for result in results} for key in ("provider", "prompt"))
    answers = []
    for result in results:
        model = _named(result, "provider") if len(models) > 1 else ""
        prompt = _named(result, "prompt") if len(prompts) > 1 else ""
        answers.append(_answer(result, model, prompt, columns))
    ungraded = sum(answer.failed == _UNGRADED for answer in answers)  # promptfoo counts them as successes
    return EvaluationLog(
        where=content.where,
        harness="promptfoo",
        answers=answers,
        repeats=True,
        model=next(iter(models)) if len(models) == 1 else "",
        kind="score",
        settings={"prompt": next(iter(prompts))} if len(prompts) == 1 else {},
        stated={(_PASSED, ""): share_of(stats.get("successes", 0) - ungraded, stats.get("failures"))},
        notes=missing_answers(content.where, sum(stats.get(key, 0) for key in _COUNTS), len(results))
        + empty_answers(content.where, sum(map(_is_empty, results)), len(results))
        + _contradictions(content.where, results, columns),
        **graded_by(_PASSED, "score"),
    )


def _answer(result: Mapping[str, Any], model: str, prompt: str, columns: Columns) -> Answer:
    failed = _reason_unscored(result)
    values = {_PASSED: result[_PASSED]}
    if columns.numbers:
        values |= {"score": result.get("score"), **mapping(result.get("namedScores"))}
    about = {**mapping(result.get("vars")), **mapping(mapping(result.get("testCase")).get("metadata"))}
    return make_answer(
        _item(result),
        {} if failed else values,
        about,
        columns,
        model=model,
        filter=prompt,
        failed=failed,
    )


def _reason_unscored(result: Mapping[str, Any]) -> str:
    """Return the reason why a test was not graded; empty if it was."""
    if _has_failed(result):
        return str(result.get("error") or "error")[:200]
    return _UNGRADED if _lacks_assertions(result) else ""


def _lacks_assertions(result: Mapping[str, Any]) -> bool:
    """Return True for a test without assertions; if its grade was left out of the file, the test case decides."""
    grade, test = result.get("gradingResult"), result.get("testCase")
    if isinstance(grade, dict):
        return grade.get("reason") == "No assertions" and not grade.get("componentResults")
    return ("gradingResult" in result or isinstance(test, dict)) and not mapping(test).get("assert")


def _is_empty(result: Mapping[str, Any]) -> bool:
    return mapping(result.get("response")).get("output", "absent") in ("", None) and not _has_failed(result)


def _contradictions(where: str, results: Sequence[Mapping[str, Any]], columns: Columns) -> tuple[Note, ...]:
    """Return a note on graded tests whose success differs from their grade, or that passed with a score of 0."""
    n = 0
    for result in results if columns.score in (None, _PASSED) else ():
        grade, passed = mapping(result.get("gradingResult")).get("pass"), result[_PASSED]
        differs = (isinstance(grade, bool) and grade != passed) or (passed is True and result.get("score") == 0)
        n += differs and not _reason_unscored(result)
    text = f"{where}: success contradicts the grade or score in {n:,} of {len(results):,} results; success is used"
    return (Note("contradicted-success", text),) if n else ()


def _has_failed(result: Mapping[str, Any]) -> bool:
    """Return True if the provider gave no answer; old versions state no reason of a failure."""
    if "failureReason" in result:
        return bool(result["failureReason"] == _ERROR)
    response = mapping(result.get("response"))
    return bool(response.get("error") or (result.get("error") and not response))


def _order(result: Mapping[str, Any]) -> list[int]:
    return [value if isinstance(value := result.get(key), int) else 0 for key in ("testIdx", "promptIdx")]


def _item(result: Mapping[str, Any]) -> str:
    """Return the start of a test's question, and a digest of the question, assertions and threshold."""
    test, asked = mapping(result.get("testCase")), mapping(result.get("vars"))
    parts = [result.get("vars"), test.get("description"), test.get("assert")]
    threshold = [value for key, value in test.items() if key == "threshold"]  # the smallest score that passes
    question = json.dumps(parts + threshold, sort_keys=True)
    beginning = " ".join(" ".join(map(str, asked.values())).split())[:40]
    return f"{beginning} #{hashlib.sha256(question.encode()).hexdigest()[:10]}".lstrip()


def _named(result: Mapping[str, Any], key: str) -> str:
    value = result.get(key)
    return str(next((name for part in ("label", "id", "raw") if (name := mapping(value).get(part))), value or ""))
