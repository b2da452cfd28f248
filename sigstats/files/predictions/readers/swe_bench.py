"""The results of SWE-bench: an item is an instance, and right if it was resolved.

A report of a run lists the instances by outcome; a report of the first version has ``resolved``, ``generated`` and
``no_generation``. Other files are objects with the names of the instances as keys, such as the leaderboard's
``per_instance_details.json``. Its ``results.json`` names only the resolved instances; a file of ``--labels`` names all.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sigstats._common.messages import Note
from sigstats._common.validation import shown

from ...inputs.content import Content
from .._columns import Columns
from .._log import EvaluationLog, empty_answers, graded_by, make_answer, mapping, other_count

ORDER = 45
NAME = "a SWE-bench report"
INSTANCES = True

BEGINS = re.compile(rb"\s*\{")

_SUBMITTED = ("submitted_ids", "completed_ids", "unresolved_ids", "empty_patch_ids", "generated", "no_generation")
#: Lists of instances whose patch was not tested, with the reason.
_FAILED = {
    "error_ids": "error",
    "no_logs": "no log",
    "install_fail": "installation failed",
    "reset_failed": "reset failed",
    "incomplete_ids": "not submitted",
}
#: Outcomes whose numbers of instances a report states, as well as the lists.
_OUTCOMES = ("resolved", "unresolved", "empty_patch", "error")
#: An object of instances: ``{"astropy__astropy-12907": {"resolved": true}}``.
_FIRST_KEY = re.compile(rb'\{\s*+"(?P<repository>[\w.-]*?)-\d++"\s*+:\s*+\{')
_OUTCOME = re.compile(rb'"resolved"\s*+:\s*+(true|false)')


def reads(content: Content) -> bool:
    """Return True for an object with lists of instances by outcome."""
    start = content.start.lstrip()
    has_resolved = b'"resolved_ids"' in start or b'"resolved_instances"' in start
    is_first_version = any(name in start[:200] for name in (b'"no_generation"', b'"generated"'))
    return (has_resolved and b'_ids"' in start) or is_first_version or _is_by_instance(content)


def _is_by_instance(content: Content) -> bool:
    first = _FIRST_KEY.match(content.start.lstrip())
    return first is not None and b"__" in first["repository"][1:-1] and bool(_OUTCOME.search(content.start))


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read which instances were resolved."""
    report = content.json()
    failed: dict[str, str] = {}
    empty: list[str] = []
    notes: tuple[Note, ...] = ()
    by_instance = _is_by_instance(content)
    if by_instance:
        resolved, submitted = _of_instances(content, report)
    else:
        resolved, submitted = _of_lists(content, report, columns.form.instances)
        for key, reason in _FAILED.items():
            failed |= dict.fromkeys(set(_ids(content, report, key)) - resolved, reason)
        empty = [*_ids(content, report, "empty_patch_ids"), *_ids(content, report, "no_generation")]
        notes = _count_notes(content, report)
    return EvaluationLog(
        where=content.where,
        harness="SWE-bench",
        answers=[
            # The repository is a part of the name of an instance: ``astropy__astropy-12907``.
            make_answer(
                name,
                {} if name in failed else {"resolved": name in resolved},
                {"repo": name.rpartition("-")[0].replace("__", "/")},
                columns,
                failed=failed.get(name, ""),
            )
            for name in sorted(submitted.union(failed))
        ],
        model="" if by_instance else content.name.removesuffix(".json").rpartition(".")[0].replace("__", "/"),
        **graded_by("resolved"),
        notes=notes + empty_answers(content.where, len(empty), len(submitted)),
    )


def _of_instances(content: Content, report: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """Return the resolved and the submitted instances of an object with the names of the instances as keys."""
    odd = [name for name, about in report.items() if not isinstance(mapping(about).get("resolved"), bool)]
    if odd:
        problem = f"{shown(odd[0])} does not say whether it was resolved"
        raise ValueError(f"{content.where}: {problem}; expected true or false")
    return {name for name, about in report.items() if about["resolved"]}, set(report)


def _of_lists(content: Content, report: Mapping[str, Any], every: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return the resolved and the submitted instances of a report with lists; `every`: the instances of --labels."""
    resolved = {instance for name in ("resolved_ids", "resolved") for instance in _ids(content, report, name)}
    if both := resolved.intersection(_ids(content, report, "unresolved_ids")):
        problem = f"{shown(min(both))} is in resolved_ids and in unresolved_ids"
        raise ValueError(f"{content.where}: {problem}; list each instance in one of them")
    submitted = resolved.union(*(_ids(content, report, name) for name in _SUBMITTED))
    if every:
        if odd := min(submitted.difference(every), default=""):
            raise ValueError(f"{content.where}: {shown(odd)} is not among the {len(every):,} instances of --labels")
        return resolved, set(every)
    known = submitted.union(*(_ids(content, report, name) for name in _FAILED))
    stated = [report.get(name) for name in ("total_instances", "submitted_instances")]
    unnamed = not any(name.endswith("_ids") for name in report) and "generated" not in report
    if unnamed or any(isinstance(number, int) and number > len(known) for number in stated):
        remedy = "add --labels FILE with their names, or name the report of the run, or per_instance_details.json"
        raise ValueError(f"{content.where}: the report does not name all its instances; {remedy}")
    return resolved, submitted


def _count_notes(content: Content, report: Mapping[str, Any]) -> tuple[Note, ...]:
    """Return a note for each outcome of which a report states another number of instances than it lists."""
    notes: tuple[Note, ...] = ()
    for name in _OUTCOMES:
        if f"{name}_ids" in report or name == "resolved":
            n = len(set(_ids(content, report, f"{name}_ids")))
            notes += other_count(content.where, report.get(f"{name}_instances"), n, f"{name} instances")
    return notes


def _ids(content: Content, report: Mapping[str, Any], name: str) -> list[str]:
    value = report.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{content.where}: {name} is not valid; expected a list of the names of instances")
    return value
