"""SWE-bench: the submitted instances that were resolved. All others are wrong.

The report of a run lists the instances by outcome; a report of the first version has ``resolved``, ``generated`` and
``no_generation``. ``per_instance_details.json`` of the leaderboard, and reports instance by instance, are objects with
the names of the instances as keys. The leaderboard's ``results.json`` names only the resolved instances;
a file of ``--labels`` names all.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sigstats._common.validation import shown

from ...inputs.content import Content
from .._columns import Columns
from .._log import EvaluationLog, empty_answers, graded_by, make_answer, mapping

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
#: An object of instances: ``{"astropy__astropy-12907": {"resolved": true}}``.
_FIRST_KEY = re.compile(rb'\{\s*+"(?P<repository>[\w.-]*?)-\d++"\s*+:\s*+\{')
_SAID = re.compile(rb'"resolved"\s*+:\s*+(true|false)')


def reads(content: Content) -> bool:
    """Return True for an object with lists of instances by outcome."""
    start = content.start.lstrip()
    named = b'"resolved_ids"' in start or b'"resolved_instances"' in start
    first = any(name in start[:200] for name in (b'"no_generation"', b'"generated"'))
    return (named and b'_ids"' in start) or first or _by_instance(content)


def _by_instance(content: Content) -> bool:
    first = _FIRST_KEY.match(content.start.lstrip())
    return first is not None and b"__" in first["repository"][1:-1] and bool(_SAID.search(content.start))


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read which instances were resolved."""
    report = content.json()
    by_instance = _by_instance(content)
    lists = {} if by_instance else report
    ids = _of_instances(content, report) if by_instance else _of_lists(content, report, columns.form.instances)
    resolved, submitted = ids
    failed = {id_: why for name, why in _FAILED.items() for id_ in _ids(content, lists, name) if id_ not in resolved}
    empty = [id_ for name in ("empty_patch_ids", "no_generation") for id_ in _ids(content, lists, name)]
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
        notes=empty_answers(content.where, len(empty), len(submitted)),
    )


def _of_instances(content: Content, report: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    odd = [name for name, about in report.items() if not isinstance(mapping(about).get("resolved"), bool)]
    if odd:
        raise ValueError(
            f"{content.where}: {shown(odd[0])} does not say whether it was resolved; expected true or false"
        )
    return {name for name, about in report.items() if about["resolved"]}, set(report)


def _of_lists(content: Content, report: Mapping[str, Any], every: Sequence[str]) -> tuple[set[str], set[str]]:
    resolved = {instance for name in ("resolved_ids", "resolved") for instance in _ids(content, report, name)}
    submitted = resolved.union(*(_ids(content, report, name) for name in _SUBMITTED))
    if every:
        if odd := min(submitted.difference(every), default=""):
            raise ValueError(f"{content.where}: {shown(odd)} is not among the {len(every):,} instances of --labels")
        return resolved, set(every)
    known = submitted.union(*(_ids(content, report, name) for name in _FAILED))
    stated = [report.get(name) for name in ("total_instances", "submitted_instances")]
    unnamed = not any(name.endswith("_ids") for name in report) and "generated" not in report
    if unnamed or any(isinstance(number, int) and number > len(known) for number in stated):
        raise ValueError(
            f"{content.where}: the report does not name all its instances; add --labels FILE with their names, or name "
            "the report of the run, or per_instance_details.json"
        )
    return resolved, submitted


def _ids(content: Content, report: Mapping[str, Any], name: str) -> list[str]:
    value = report.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{content.where}: {name} is not valid; expected a list of the names of instances")
    return value
