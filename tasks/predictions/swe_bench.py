"""The report of a SWE-bench run: which of the submitted instances were resolved. Every other one is wrong."""

from collections.abc import Mapping
from typing import Any

from ..input_files.content import Content
from ._log import Answer, EvaluationLog
from ._predictions import Columns

ORDER = 45
NAME = "a SWE-bench report"
LOG = True

_RESOLVED = "resolved_ids"
#: Lists of instances that an answer was submitted for.
_SUBMITTED = ("submitted_ids", "completed_ids", "unresolved_ids", "empty_patch_ids", "error_ids")
#: What a person should know of, and how the report calls it.
_TOLD = {
    "empty_patch_ids": "with an empty patch count as not resolved",
    "error_ids": "that ended with an error count as not resolved",
    "incomplete_ids": "without a submission are left out",
}


def reads(content: Content) -> bool:
    """An object with lists of instances by what became of them."""
    start = content.start.lstrip()
    named = b'"resolved_ids"' in start or b'"resolved_instances"' in start
    return start.startswith(b"{") and named and b'_ids"' in start


def read(content: Content, columns: Columns) -> EvaluationLog:
    """Read which instances were resolved."""
    report = content.json()
    resolved = set(_ids(content, report, _RESOLVED))
    submitted = resolved.union(*(_ids(content, report, name) for name in _SUBMITTED if name in report))
    if submitted == resolved and report.get("submitted_instances", len(resolved)) != len(resolved):
        raise ValueError(
            f"{content.where}: it lists no instance that was not resolved; expected submitted_ids or unresolved_ids too"
        )
    notes = [
        f"{len(found):,} {'instance' if len(found) == 1 else 'instances'} {told}"
        for name, told in _TOLD.items()
        if (found := _ids(content, report, name))
    ]
    return EvaluationLog(
        where=content.where,
        harness="SWE-bench",
        answers=[
            Answer(
                item=instance,
                scores={"resolved": float(instance in resolved)},
                about={name: _about(instance).get(name) for name in columns.optional},
            )
            for instance in sorted(submitted)
        ],
        model=content.name.removesuffix(".json").rpartition(".")[0].replace("__", "/"),
        notes=tuple(notes),
    )


def _ids(content: Content, report: Mapping[str, Any], name: str) -> list[str]:
    found = report.get(name, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ValueError(f"{content.where}: {name} is not valid; expected a list of the names of instances")
    return found


def _about(instance: str) -> dict[str, str]:
    """The repository, which is part of the name of an instance: ``astropy__astropy-12907``."""
    return {"repo": instance.rpartition("-")[0].replace("__", "/")}
