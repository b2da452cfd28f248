"""The log of an Inspect evaluation, as JSON or as .eval (a ZIP of JSON): its samples with their scores."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sigstats._common.messages import Note, refuse, shown_name, some_of

from ...inputs import reading
from ...inputs.content import Content, parse_json
from .._columns import Columns
from .._log import PROMPT, Answer, EvaluationLog, graded_by, make_answer, mapping, missing_answers, objects, text

ORDER = 30
NAME = "an Inspect log (.eval or .json)"

#: The values of these words in Inspect's own metrics. The case of `_WORDS` does not matter.
_MARKS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_COUNTS = "scored_samples", "unscored_samples"
_KEYS = ("id", "epoch", "input", "target", "metadata", "score", "scores", "error", "invalidation")
#: Settings of requests that do not change answers.
_SPEED = re.compile("connections|retries|timeout|cache|batch|adaptive")
#: Notes on an evaluation that did not end well, by its status.
_STATUS = {
    "cancelled": "its evaluation was cancelled",
    "error": "its evaluation ended in an error",
    "started": "its evaluation has not ended",
}
#: The first exists once the evaluation has ended; early versions and unfinished logs have one of the others.
_HEADERS = ("header.json", "_journal/start.json", "start.json")
#: A sample in one entry; or the first of its entries, in a folder, where Inspect cuts long samples into pieces.
_SAMPLE = re.compile(r"samples/(?!.*_epoch_\d+/).*\.json|samples/.*_epoch_\d+/sample\.json")
BEGINS = re.compile(rb'(?s)PK\x03\x04|\s*+\{(?=.*"version")(?=.*"eval")(?!.*"doc_id")')


def reads(content: Content) -> bool:
    """Return True unless the file is a ZIP without a header."""
    if not content.start.startswith(b"PK\x03\x04"):
        return True
    with content.archive() as archive:
        return any(name in archive.names for name in _HEADERS)


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read the scores of every sample."""
    place = content.where
    with reading(place, (ValueError, KeyError, RuntimeError), fault="cannot be read as an Inspect log"):
        log = _zipped(content) if content.start.startswith(b"PK") else content.json()
    if not isinstance(log, dict) or log.get("version") not in (1, 2, 3):
        version = log.get("version") if isinstance(log, dict) else None
        raise refuse(f"{place}: version", version, "an Inspect log of version 1 to 3")
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise ValueError(f"{place}: has no samples; write the log with them")
    about = mapping(log.get("eval"))
    results = mapping(log.get("results"))
    scorer = text(mapping(results.get("scorer")).get("name")) or "score"
    marked: dict[str, set[bool]] = {}
    answers = [_answer(place, position, sample, scorer, columns, marked) for position, sample in enumerate(samples)]
    return EvaluationLog(
        where=place,
        harness="Inspect",
        answers=answers,
        task=text(about.get("task")),
        model=text(about.get("model")),
        kind="scorer",
        **graded_by(*(name for name, marks in marked.items() if marks == {True})),
        scored=tuple(text(item.get("name")) for item in objects(results.get("scores"))),
        settings=_settings(about, results, mapping(log.get("plan"))),
        stated=_stated(results),
        notes=tuple(note.of(place) for note in _notes(log, about, answers)),
    )


def _stated(results: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    """Return the mean of each score, by its name and that of its scorer."""
    means: dict[tuple[str, str], Any] = {}
    for score in objects(results.get("scores")):
        if score.get("reducer") in (None, "mean"):
            name, metrics = text(score.get("name")), mapping(score.get("metrics"))
            mean = mapping(metrics.get("accuracy") or metrics.get("mean")).get("value")
            means |= {(name, ""): mean, (f"{score.get('scorer')}/{name}", ""): mean}
    return means


def _settings(about: Mapping[str, Any], results: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, str]:
    """Return settings that two runs of one task should share, without the model and the speed of its requests."""
    roles = mapping(about.get("model_roles"))
    generation = {**mapping(plan.get("config")), **mapping(about.get("model_generate_config"))}
    entries = {
        "task version": about.get("task_version"),
        "task arguments": about.get("task_args"),
        "solver": plan.get("steps"),
        "model roles": {role: mapping(model).get("model") for role, model in roles.items()},
        "generation settings": {key: value for key, value in generation.items() if not _SPEED.search(key)},
        "data set": mapping(about.get("dataset")).get("name"),
    }
    for scorer in objects(about.get("scorers")):
        entries[f"options of scorer {scorer.get('name')}"] = scorer.get("options")
    for score in objects(results.get("scores")):
        entries[f"parameters of score {score.get('name')}"] = score.get("params")
    return {name: _content(value) for name, value in entries.items() if value is not None}


def _notes(log: Mapping[str, Any], about: Mapping[str, Any], answers: Sequence[Answer]) -> Iterator[Note]:
    status, results = text(log.get("status")) or "success", mapping(log.get("results"))
    wanted, items = mapping(about.get("dataset")).get("samples"), len({answer.item for answer in answers})
    limited = status == "success" and mapping(about.get("config")).get("limit") is not None
    if limited and isinstance(wanted, int) and items < wanted:
        yield Note("limited-log", f"its limit left {items:,} of {wanted:,} items, which may not be a random sample")
    if status != "success":
        of = f" of {wanted:,}" if isinstance(wanted, int) else ""
        how = _STATUS.get(status) or f"its status is {shown_name(status)}"
        yield Note("incomplete-log", f"{how}; {items:,}{of} items")
    yield from missing_answers("", results.get("total_samples"), len(answers)) if status == "success" else ()
    if log.get("invalidated") is True:
        yield Note("invalid-log", "it was marked as invalid")
    both = [str(s["id"]) for s in log["samples"] if s.get("error") and _is_scored(s) and not s.get("invalidation")]
    if both:
        problem = f"{len(both):,} samples have an error and a score: {some_of(both, 3)}; the scores count"
        yield Note("scored-errors", problem)
    scored, of_scorers = len({answer.item for answer in answers if answer.scores}), objects(results.get("scores"))
    counts = [sum(n for key in _COUNTS if isinstance(n := of.get(key), int)) for of in of_scorers]
    if 0 < max(counts, default=0) < scored:
        problem = f"the metrics of Inspect count {max(counts):,} scored items; here all {scored:,} with a score count"
        yield Note("uncounted-samples", f"{problem}, including any excluded in Inspect")
    reducers = mapping(about.get("config")).get("epochs_reducer")
    others = [str(reducer) for reducer in reducers if reducer != "mean"] if isinstance(reducers, list) else []
    if others and len({answer.epoch for answer in answers}) > 1:
        problem = f"it reduces the epochs of an item by {', '.join(others)}; here every answer counts"
        yield Note("other-reducer", problem)


def _zipped(content: Content) -> Any:
    with content.archive() as archive:
        log = parse_json(archive.read(next(name for name in _HEADERS if name in archive.names)), content.budget)
        samples = [entry for entry in archive.entries if _SAMPLE.fullmatch(entry.filename)]
        samples.sort(key=lambda entry: entry.filename)  # of one name the last was written last
        if isinstance(log, dict):
            log["samples"] = [_needed(parse_json(archive.read(sample), content.budget)) for sample in samples]
        return log


def _needed(sample: Any) -> Any:
    """Return a sample without its messages and events, which are most of a log."""
    return {key: sample[key] for key in _KEYS if key in sample} if isinstance(sample, dict) else sample


def _answer(
    place: str, position: int, sample: Any, scorer: str, columns: Columns, marked: dict[str, set[bool]]
) -> Answer:
    """Return the answer in a sample; `scorer` is the scorer of a log of the first version, which does not name it.

    `marked` collects for each score whether its values are marks, such as C for correct.
    """
    if not isinstance(sample, dict) or "id" not in sample:
        raise ValueError(f"{place}: sample {position} (from 0) has no id; expected one")
    epoch = sample.get("epoch", 1)
    if isinstance(epoch, bool) or not isinstance(epoch, int):
        raise refuse(f"{place}: sample {position} (from 0): epoch", epoch, "a whole number")
    given = {scorer: sample["score"]} if sample.get("score") is not None else mapping(sample.get("scores"))
    failed = _failure(sample)
    identity = {name: _content(sample[name]) for name in ("input", "target") if sample.get(name) is not None}
    if isinstance(sample.get("choices"), list):
        identity[PROMPT] = json.dumps(sample["choices"])
    return make_answer(
        str(sample["id"]),
        {} if failed else _values(given, marked),
        mapping(sample.get("metadata")),
        columns,
        epoch=epoch,
        identity=identity,
        failed=failed,
    )


def _values(scores: Mapping[str, Any], marked: dict[str, set[bool]]) -> dict[str, Any]:
    """Return the value of each score by the name of its scorer, with its key if the scorer gives several values."""
    by_scorer: dict[str, Any] = {}
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            by_scorer |= {f"{scorer}/{key}": item for key, item in value.items()}
        else:
            by_scorer[scorer] = value
    for name, value in by_scorer.items():
        if value is not None:
            marked.setdefault(name, set()).add(value in _MARKS if isinstance(value, str) else False)
    return {name: _number(value) for name, value in by_scorer.items()}


def _number(value: Any) -> Any:
    """Return a value as the number that Inspect's metrics use; unchanged if there is none."""
    if not isinstance(value, str):
        return value
    if value in _MARKS:
        return _MARKS[value]
    try:
        number = float(value)
    except ValueError:
        return _WORDS.get(value.lower(), value)
    return number if math.isfinite(number) else value


def _content(value: Any) -> str:
    """Return the text of an input or target; of chat messages without their ids, which differ between runs."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, dict) and "role" in item for item in value):
        value = [[item["role"], _parts(item.get("content"))] for item in value]
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _parts(content: Any) -> Any:
    """Return the content of a message; a single text as text, whatever versions of Inspect add to it."""
    if isinstance(content, list) and all(isinstance(mapping(value).get("text"), str) for value in content):
        return "".join(value["text"] for value in content)
    return content


def _is_scored(sample: Mapping[str, Any]) -> bool:
    return bool(sample.get("score") is not None or mapping(sample.get("scores")))


def _failure(sample: Mapping[str, Any]) -> str:
    """Return the reason why a sample does not count: it was marked as invalid, or failed without a score."""
    if sample.get("invalidation"):
        return "invalidated"
    error = sample.get("error")
    return "" if not error or _is_scored(sample) else text(mapping(error).get("message")) or "error"
