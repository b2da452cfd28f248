"""Comparisons (of one candidate or several) and checks as Markdown for a pull request."""

from typing import Any

from sigstats._common.messages import for_markdown, markdown_code, markdown_row, markdown_table
from sigstats._common.numerals import count_of
from sigstats.comparison.answer import Answer, is_telling, reasons
from sigstats.comparison.cells import FEW_COLUMNS, cells_of, titles_of, verdict_of
from sigstats.comparison.check import result as check_result
from sigstats.comparison.check.result import CheckResult
from sigstats.comparison.result import CandidatesResult, ComparisonResult, ComparisonRow, counted, rule_in_words

from . import OVERVIEW, deciding_rows, overview, rows_in_words, subjects_in_words
from .forest_plot import forest_in_mermaid

#: GitHub refuses a comment of more than 65,536 characters.
_MOST_CHARACTERS = 65_000
_MOST_REASONS, _MOST_NOTES, _LONGEST_CELL, _MOST_INTERVALS = 5, 20, 300, 12
#: The most rows of a check that are shown.
_MOST_ROWS = 200
_IN_TABLE = ", in the table"


def as_markdown(result: ComparisonResult, baseline: str, candidate: str, *, picture: bool = True) -> str:
    """Write the answer, the reasons of other rows, and as many of the worst rows as fit into a GitHub comment.

    `picture`: with a chart of the intervals, in the language of Mermaid.
    """
    answer = result.answer
    lines = [
        *_head(answer),
        f"{markdown_code(_short(candidate))} against {markdown_code(_short(baseline))}, {rows_in_words(result)}.",
        "",
    ]
    lines += [f"- {for_markdown(_short(line))}" for line in subjects_in_words(result)]
    lines += [f"- {for_markdown(_short(f'{label} {words}'))}" for label, words in answer.also]
    lines += _listed(list(map(_short, reasons(result, others=True))), _IN_TABLE)
    rule = for_markdown(_short(rule_in_words(result)))
    end = ["", f"Rule: {rule}. p is of the null hypothesis that the candidate is not worse."]
    end += [f"Note: {for_markdown(_short(note))}." for note in result.notes[:_MOST_NOTES]]
    if picture:
        for chart in forest_in_mermaid(result.ranked[:_MOST_INTERVALS]):
            lines += ["", "```mermaid", chart, "```"]
    room = _MOST_CHARACTERS - sum(len(line) + 1 for line in (*lines, *end))
    return "\n".join(lines + _table(result, room) + end)


def candidates_as_markdown(comparison: CandidatesResult) -> str:
    """Return the overview, and the answer of each candidate with its first reasons, in a chart too."""
    lines = [
        f"### {for_markdown(comparison.recommendation)}",
        "",
        f"{len(comparison.candidates)} candidates against {markdown_code(comparison.baseline)}.",
        "",
        *markdown_table(OVERVIEW, overview(comparison)),
    ]
    first = comparison.results[0]
    for chart in forest_in_mermaid(deciding_rows(comparison)[:_MOST_INTERVALS]):
        lines += ["", "```mermaid", chart, "```"]
    for candidate, result in zip(comparison.candidates, comparison.results, strict=True):
        sentences = [result.answer.headline, *reasons(result, others=True)]
        lines += ["", f"{markdown_code(candidate)}:", "", *_listed(list(map(_short, sentences)))]
    rule = for_markdown(rule_in_words(first))
    return "\n".join([*lines, "", f"Rule: {rule}. p is adjusted over all candidates, measures and slices."])


def check_as_markdown(result: CheckResult, file: str) -> str:
    """Return the answer, the reasons of other rows, and a table of the worst rows."""
    rule = check_result.rule_of(result)
    lines = [*_head(result.answer), f"{markdown_code(_short(file))}, {count_of(result.n, 'row')}.", ""]
    lines += _listed(list(map(_short, check_result.reasons_of(result, others=True))), _IN_TABLE)
    rows = [list(map(_short, check_result.cells_of(row).values())) for row in result.ranked[:_MOST_ROWS]]
    lines += ["", *markdown_table(check_result.HEADER, rows)]
    if len(result.rows) > _MOST_ROWS:
        lines += ["", f"And {len(result.rows) - _MOST_ROWS:,} more."]
    notes = [f"Note: {for_markdown(_short(note))}." for note in result.notes[:_MOST_NOTES]]
    return "\n".join([*lines, "", f"Rule: {for_markdown(rule)}.", *notes])


def _head(answer: Answer[Any]) -> list[str]:
    return [f"### {for_markdown(answer.headline)}", "", for_markdown(answer.advice), ""]


def _listed(items: list[str], where: str = "") -> list[str]:
    more = [f"- and {len(items) - _MOST_REASONS:,} more{where}"] if len(items) > _MOST_REASONS else []
    return [*(f"- {for_markdown(reason)}" for reason in items[:_MOST_REASONS]), *more]


def _table(result: ComparisonResult, room: int) -> list[str]:
    """Write the worst rows, at most `room` characters; rows that lean neither way come last, and are folded."""
    head = ["", *markdown_table([*titles_of(FEW_COLUMNS, result.rows), "verdict"], [])]
    room -= 2 * sum(map(len, head)) + 300
    telling = [row for row in result.ranked if is_telling(row)]
    folded = [row for row in result.ranked if not is_telling(row)]
    lines, rows = list(head), [*telling, *folded]
    shown = 0
    for row in rows:
        line = _line(row)
        if len(line) >= room:
            break
        if shown == len(telling):
            lines += ["", f"<details><summary>{counted(folded)} without evidence either way</summary>", *head]
        room -= len(line) + 1
        lines.append(line)
        shown += 1
    if shown > len(telling):
        lines += ["", "</details>"]
    rest = rows[shown:]
    return [*lines, "", f"And {len(rest):,} more: {counted(rest)}."] if rest else lines


def _line(row: ComparisonRow) -> str:
    cells = cells_of(row)
    return markdown_row([_short(cell) for cell in (*(cells[name] for name in FEW_COLUMNS), verdict_of(row))])


def _short(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= _LONGEST_CELL else f"{shown[:_LONGEST_CELL]}…"
