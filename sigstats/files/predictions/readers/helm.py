"""The ``per_instance_stats.json`` of a HELM run: many statistics of each instance.

An item is an instance. A perturbation of it is known as a filter, a train trial as an epoch. ``run_spec.json`` and
``scenario_state.json`` in the same folder state the task, the model, inputs and references.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sigstats._common.messages import Note, some_of
from sigstats.measures.metrics import is_lower_better

from ...inputs.content import Content
from .._columns import ALL_SCORES, Columns
from .._log import PROMPT, EvaluationLog, add_result, make_answer, mapping, objects, to_texts

ORDER = 35
NAME = "HELM's per_instance_stats.json"

#: Name of instances without a perturbation, among perturbed ones.
_UNCHANGED = "original"
#: Statistics of the run, not of an answer. They are read only if named.
_OF_THE_RUN = re.compile(
    r"(num|finish_reason|training|inference|logprob|max_prob|batch_size|prompt_truncated)(_.*)?|.*_(cost|runtime)"
)

BEGINS = re.compile(rb'(?s)\s*+\[(?=.{0,186}"instance_id")(?=.*"stats")')

#: Instance, perturbation and train trial.
_Key = tuple[str, str, int]


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read the mean of each statistic of every instance, perturbation and train trial."""
    rows = content.json()
    named = columns.numbers | columns.scoring.lower | columns.scoring.higher
    by_key: dict[_Key, list[dict[str, Any]]] = {}
    context: dict[_Key, dict[str, Any]] = {}
    for position, row in enumerate(rows):
        key = _key(content, position, row)
        # A run with several metrics lists an instance once for each of them, and may repeat a statistic.
        new = {
            name: mean
            for name, mean in _means(row, named).items()
            if all(str(value.get(name, math.nan)) != str(mean) for value in by_key.get(key, ()))
        }
        add_result(by_key, key, new)
        context.setdefault(key, _context(row))
    questions = _questions(content.json_in_same_folder("scenario_state.json"))
    spec = mapping(content.json_in_same_folder("run_spec.json"))
    adapter = mapping(spec.get("adapter_spec"))
    perturbed = any(perturbation for _, perturbation, _ in by_key)
    return EvaluationLog(
        where=content.where,
        harness="HELM",
        answers=[
            make_answer(
                instance,
                values,
                {**context[instance, perturbation, trial], "perturbation": perturbation or _UNCHANGED},
                columns,
                epoch=trial + 1,
                filter=(perturbation or _UNCHANGED) if perturbed else "",
                identity=questions.get((instance, perturbation), {}),
            )
            for (instance, perturbation, trial), results in by_key.items()
            for values in results
        ],
        task=_task(str(spec.get("name") or "")),
        model=str(adapter.get("model") or ""),
        kind="statistic",
        settings=to_texts({"method": adapter.get("method"), "shots": adapter.get("max_train_instances")}),
        notes=(
            *_notes_on_splits([str(value["split"]) for value in context.values() if value["split"]]),
            *(_notes_on_costs(rows, named) if ALL_SCORES in columns.numbers else ()),
        ),
    )


def _notes_on_splits(splits: Sequence[str]) -> tuple[Note, ...]:
    """Return a note if the instances are of several splits, which HELM's own tables keep apart."""
    counts = sorted(Counter(splits).items())
    if len(counts) < 2:
        return ()
    listed = ", ".join(f"{split} ({count:,})" for split, count in counts)
    text = f"instances of several splits are counted: {listed}; --slice split tests each"
    return (Note("several-splits", text),)


def _notes_on_costs(rows: Sequence[Mapping[str, Any]], wanted: Collection[str]) -> tuple[Note, ...]:
    """Return a note on costs of the run, if there are any, that are not read with all scores."""
    computed = dict.fromkeys(_name(stat) for row in rows for stat in map(mapping, row["stats"]) if stat.get("count"))
    names = [name for name in computed if name not in wanted and _OF_THE_RUN.fullmatch(name) and is_lower_better(name)]
    text = f"not compared, since they are costs of the run: {some_of(names)}; --lower-is-better NAME adds one"
    return (Note("left-out-scores", text),) * bool(names)


def _key(content: Content, position: int, row: Any) -> _Key:
    if isinstance(row, dict) and isinstance(row.get("stats"), list) and row.get("instance_id") is not None:
        trial = row.get("train_trial_index", 0)
        if isinstance(trial, int) and not isinstance(trial, bool):
            return str(row["instance_id"]), _perturbation(row), trial
    problem = f"row {position} (from 0) is not an instance of HELM"
    raise ValueError(f"{content.where}: {problem}; expected instance_id, train_trial_index and stats")


def _name(stat: Mapping[str, Any]) -> str:
    return str(mapping(stat.get("name")).get("name", ""))


def _means(row: Mapping[str, Any], wanted: Collection[str]) -> dict[str, Any]:
    """Return the mean of each statistic by name, without those not computed for the instance.

    A statistic with several values, such as those of other splits or perturbations, is a list, and refused later.
    """
    means: dict[str, Any] = {}
    for stat in map(mapping, row["stats"]):
        name = _name(stat)
        if stat.get("count") and (name in wanted or not _OF_THE_RUN.fullmatch(name)):
            counted, total = stat["count"], stat.get("sum")
            numbers = isinstance(counted, (int, float)) and isinstance(total, (int, float))
            mean = stat.get("mean", total / counted if numbers else None)
            means[name] = [means[name], mean] if str(means.get(name, mean)) != str(mean) else mean
    return means


def _context(row: Mapping[str, Any]) -> dict[str, Any]:
    name = mapping(mapping(next(iter(row["stats"]), None)).get("name"))
    return {key: name.get(key) for key in ("split", "sub_split")}


def _perturbation(instance: Mapping[str, Any]) -> str:
    """Return the name of the perturbation of an instance with its settings; empty if it is unperturbed."""
    value = mapping(instance.get("perturbation"))
    settings = [f"{key}={value[key]}" for key in sorted(value) if key not in ("name", "robustness", "fairness")]
    return " ".join([str(value.get("name", "")), *(name for name in settings if not name.startswith("computed_on"))])


def _questions(state: Any) -> dict[tuple[str, str], dict[str, str]]:
    entries = {}
    for request in objects(mapping(state).get("request_states")):
        instance = mapping(request.get("instance"))
        correct = [
            str(mapping(reference.get("output")).get("text", ""))
            for reference in objects(instance.get("references"))
            if "correct" in str(reference.get("tags"))
        ]
        entries[str(instance.get("id")), _perturbation(instance)] = {
            "input": str(mapping(instance.get("input")).get("text", "")),
            "target": " | ".join(correct),
            **to_texts({PROMPT: mapping(request.get("request")).get("prompt")}),
        }
    return entries


def _task(name: str) -> str:
    """Return the name of a run without its model."""
    scenario, _, options = name.partition(":")
    kept = [option for option in options.split(",") if not option.startswith(("model=", "model_deployment="))]
    options = ",".join(filter(None, kept))
    return f"{scenario}:{options}" if options else scenario
