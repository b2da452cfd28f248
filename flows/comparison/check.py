"""One model and a bar in words: Markdown, JSON and JUnit's XML."""

import json
from dataclasses import asdict
from typing import Any

from sigstats._common.markdown import for_markdown, for_markdown_cell, markdown_code
from sigstats.comparison.check_result import (
    HEADER,
    CheckedRow,
    CheckResult,
    cells_of,
    reason_of,
    reasons_of,
    rule_of,
    title_of,
)

from .json import JSON_VERSION
from .junit import document, suite_of

_MOST_ROWS, _MOST_REASONS, _LONGEST = 200, 20, 300


def check_as_json(found: CheckResult, file: str) -> str:
    """All results, under the names of the fields of `sigstats.comparison.check_result.CheckedRow`."""
    content: dict[str, Any] = {
        "version": JSON_VERSION,
        "verdict": found.verdict,
        "file": file,
        "at_least": found.at_least,
        "n": found.n,
        "rule": {**found.rule.by_keys(), "in_words": rule_of(found)},
        "reasons": reasons_of(found),
        "notes": list(found.notes),
        "rows": [asdict(row) for row in found.rows],
    }
    return json.dumps(content, indent=2, allow_nan=False)


def check_as_markdown(found: CheckResult, file: str) -> str:
    """A verdict, its reasons and a table of the worst rows."""
    lines = [f"### {for_markdown(title_of(found))}", "", f"{markdown_code(_short(file))}, {found.n:,} rows.", ""]
    lines += [f"- {for_markdown(_short(reason))}" for reason in reasons_of(found)[:_MOST_REASONS]]
    lines += ["", f"| {' | '.join(HEADER)} |", "|" + "---|" * len(HEADER)]
    for row in found.ranked[:_MOST_ROWS]:
        lines.append(f"| {' | '.join(for_markdown_cell(_short(cell)) for cell in cells_of(row))} |")
    if len(found.rows) > _MOST_ROWS:
        lines += ["", f"And {len(found.rows) - _MOST_ROWS:,} more."]
    notes = [f"Note: {for_markdown(_short(note))}." for note in found.notes[:_MOST_REASONS]]
    return "\n".join([*lines, "", f"Rule: {for_markdown(rule_of(found))}.", *notes])


def check_as_junit(found: CheckResult, file: str, *, fail_on_inconclusive: bool = False) -> str:
    """A test case for each row; one that fails has the reason."""
    name = f"{file} against {found.at_least:g}"

    def reason(row: CheckedRow) -> str:
        return reason_of(row, found)

    suite = suite_of(name, "check", found.rows, HEADER, cells_of, reason, fail_on_inconclusive)
    return document(title_of(found), [suite])


def _short(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
