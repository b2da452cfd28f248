"""The results of promptfoo (``--output output.json``): whether each test passed, for each provider and prompt.

Tests that ask the same, as ``--repeat`` writes them, are answers to one item. An answer is right if promptfoo passed
it; its score and the named scores are read where one is named. Of several providers or prompts a filter names one.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..input_files.content import Content
from ._log import Answer, EvaluationLog, mapping, sort_scores
from ._predictions import Columns

ORDER = 40
NAME = "promptfoo's output.json"
LOG = True

_PASSED = "success"
#: What promptfoo writes for a test that ended with an error.
_ERROR = 2
_BEGINNING = re.compile(
    rb'\s*\{\s*("evalId"|("version"\s*:\s*\d+\s*,\s*)?"results"\s*:\s*\{\s*"(version|timestamp|results)")'
)


def reads(content: Content) -> bool:
    """An object that begins as promptfoo writes it."""
    return _BEGINNING.match(content.start) is not None and b'"results"' in content.start


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read the outcome of every test, provider and prompt."""
    results = mapping(mapping(content.json()).get("results")).get("results")
    if not isinstance(results, list) or not all(isinstance(result, dict) and _PASSED in result for result in results):
        raise ValueError(
            f"{content.where}: there is no list results.results; expected one with success in each of its objects"
        )
    results = sorted(results, key=_order)
    ways = dict.fromkeys(_way(result) for result in results)
    names = _names(ways)
    items = {question: str(position) for position, question in enumerate(dict.fromkeys(map(_question, results)))}
    seen: dict[tuple[str, str], int] = {}
    answers = []
    for result in results:
        question, way = _question(result), names[_way(result)]
        epoch = seen[question, way] = seen.get((question, way), 0) + 1
        answers.append(_answer(result, items[question], epoch, way, columns))
    models = dict.fromkeys(_provider(result) for result in results)
    return EvaluationLog(
        where=content.where,
        harness="promptfoo",
        answers=answers,
        model=columns.filter if len(names) > 1 and columns.filter else ", ".join(models),
        kind="score",
    )


def _answer(result: Mapping[str, Any], item: str, epoch: int, way: str, columns: Columns) -> Answer:
    failed = result.get("failureReason") == _ERROR
    values: dict[str, Any] = {_PASSED: bool(result[_PASSED])}
    if columns.score is not None:
        values |= {"score": result.get("score"), **mapping(result.get("namedScores"))}
    scores, unread = ({}, {}) if failed else sort_scores(values)
    about = {**mapping(result.get("vars")), **mapping(mapping(result.get("testCase")).get("metadata"))}
    return Answer(
        item=item,
        epoch=epoch,
        filter=way,
        scores=scores,
        unread=unread,
        identity={"vars": _question(result)},
        about={name: about.get(name) for name in columns.optional},
        failed=str(result.get("error") or "error")[:200] if failed else "",
    )


def _order(result: Mapping[str, Any]) -> tuple[int, int]:
    found = [result.get(key) for key in ("testIdx", "promptIdx")]
    first, second = (value if isinstance(value, int) else 0 for value in found)
    return first, second


def _question(result: Mapping[str, Any]) -> str:
    """What a test asks, and what it asserts of the answer."""
    test = mapping(result.get("testCase"))
    return json.dumps([result.get("vars"), test.get("description"), test.get("assert")], sort_keys=True)


def _way(result: Mapping[str, Any]) -> tuple[str, str]:
    """The provider and the prompt."""
    prompt = result.get("prompt")
    label = mapping(prompt).get("label") or mapping(prompt).get("raw") or prompt or ""
    return _provider(result), str(label)


def _names(ways: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What each provider with a prompt is called as a filter: by what there are several of."""
    ways = list(ways)
    if len(ways) == 1:
        return {ways[0]: ""}
    providers, prompts = ({way[part] for way in ways} for part in (0, 1))
    if len(prompts) == 1:
        return {way: way[0] for way in ways}
    if len(providers) == 1:
        return {way: way[1] for way in ways}
    return {way: " | ".join(way) for way in ways}


def _provider(result: Mapping[str, Any]) -> str:
    provider = result.get("provider")
    found = mapping(provider)
    return str(found.get("label") or found.get("id") or "") if found else str(provider or "")
