"""Several candidates beside one baseline: an overview, and the comparison of each below it."""

import json
import sys
from typing import Any

from sigstats._common.markdown import for_markdown, for_markdown_cell, markdown_code
from sigstats._common.messages import printable
from sigstats.comparison.candidates import CandidatesResult, overall
from sigstats.comparison.cells import difference_of, interval_of, value_of
from sigstats.comparison.sentences import counted, reasons, rule_in_words

from ..pages.wording import p_number
from .json import JSON_VERSION, as_json
from .text import show

HEADER = (
    "verdict",
    "candidate",
    "difference",
    "interval",
    "baseline",
    "value",
    "adjusted p, worse",
    "adjusted p, better",
    "rows",
)
_MOST_REASONS = 5


def overview(found: CandidatesResult) -> list[tuple[str, ...]]:
    """A line for each candidate under `HEADER`: the first measure on all rows."""
    lines = []
    for candidate, result, p_better in zip(found.candidates, found.results, found.p_better, strict=True):
        row = overall(result)
        p_worse = "–" if row.p_adjusted is None else p_number(row.p_adjusted)
        values = [value_of(row, value) for value in (row.baseline, row.candidate)]
        shown = (difference_of(row, row.difference), interval_of(row), *values, p_worse, p_number(p_better))
        lines.append((result.verdict, candidate, *shown, counted(result.rows)))
    return lines


def show_candidates(found: CandidatesResult) -> None:
    """Print the recommendation, and the comparison of each candidate."""
    said = f"{found.recommendation[:1].upper()}{found.recommendation[1:]}."
    sys.stdout.write(f"{printable(said)}\n")
    last = max((i for i, result in enumerate(found.results) if not result.identical), default=None)
    for i, (candidate, result) in enumerate(zip(found.candidates, found.results, strict=True)):
        sys.stdout.write("\n")
        show(result, found.baseline, candidate, rule=i == last)


def candidates_as_json(found: CandidatesResult) -> str:
    """The overview, and the JSON of the comparison of each candidate."""
    content: dict[str, Any] = {
        "version": JSON_VERSION,
        "verdict": found.verdict,
        "baseline": found.baseline,
        "take": found.take,
        "better": list(found.better),
        "recommendation": found.recommendation,
        "candidates": [
            {**json.loads(as_json(result, found.baseline, candidate)), "p_better": p_better}
            for candidate, result, p_better in zip(found.candidates, found.results, found.p_better, strict=True)
        ],
    }
    return json.dumps(content, indent=2, allow_nan=False)


def candidates_as_markdown(found: CandidatesResult) -> str:
    """The overview, and the first reasons of each candidate that does not pass."""
    first = found.results[0]
    lines = [
        f"### {for_markdown(found.recommendation)}",
        "",
        f"{len(found.candidates)} candidates against {markdown_code(found.baseline)}.",
    ]
    lines += ["", f"| {' | '.join(HEADER)} |", "|" + "---|" * len(HEADER)]
    lines += [f"| {' | '.join(map(for_markdown_cell, line))} |" for line in overview(found)]
    for candidate, result in zip(found.candidates, found.results, strict=True):
        said = reasons(result)
        lines += ["", f"{markdown_code(candidate)}:", ""] if said else []
        lines += [f"- {for_markdown(reason)}" for reason in said[:_MOST_REASONS]]
        lines += [f"- and {len(said) - _MOST_REASONS:,} more"] if len(said) > _MOST_REASONS else []
    rule = for_markdown(rule_in_words(first.rule, first.measures))
    return "\n".join([*lines, "", f"Rule: {rule}. p is adjusted over all candidates, measures and slices."])
