"""A comparison as Markdown, fit for a pull request."""

import re

from sigstats.comparison.cells import HEADER, cells_of, verdict_of
from sigstats.comparison.result import ComparisonResult, ComparisonRow
from sigstats.comparison.sentences import counted, reasons, rule_in_words, title_of

from .subjects import rows_in_words, subjects_in_words

#: GitHub refuses a comment of more than 65,536 characters.
_MOST_CHARACTERS = 65_000
_MOST_REASONS, _LONGEST_CELL = 20, 300
#: The columns of the table; the page and the JSON have all.
_COLUMNS = [position for position, name in enumerate(HEADER) if name not in ("p", "PD", "NSD")]


def as_markdown(found: ComparisonResult, baseline: str, candidate: str) -> str:
    """A verdict, its reasons and a table of the worst rows, as many as a comment on GitHub can hold."""
    lines = [f"### {title_of(found)}", "", f"{_code(candidate)} against {_code(baseline)}, {rows_in_words(found)}.", ""]
    lines += [f"- {_plain(line)}" for line in subjects_in_words(found)]
    said = reasons(found)
    lines += [f"- {_plain(reason)}" for reason in said[:_MOST_REASONS]]
    if len(said) > _MOST_REASONS:
        lines.append(f"- and {len(said) - _MOST_REASONS:,} more")
    rule = _plain(rule_in_words(found.rule, found.measures))
    end = ["", f"Rule: {rule}. p is of the null hypothesis that the candidate is not worse."]
    end += [f"Note: {_plain(note)}." for note in found.notes[:_MOST_REASONS]]
    room = _MOST_CHARACTERS - sum(len(line) + 1 for line in (*lines, *end))
    return "\n".join(lines + ([] if found.identical else _table(found, room)) + end)


def _table(found: ComparisonResult, room: int) -> list[str]:
    """The worst rows for which there is room."""
    header = [HEADER[position] for position in _COLUMNS]
    lines = ["", f"| {' | '.join((*header, 'verdict'))} |", "|" + "---|" * (len(header) + 1)]
    room -= sum(map(len, lines)) + 200
    rows = list(found.ranked)
    while rows and len(line := _line(rows[0])) < room:
        room -= len(line) + 1
        lines.append(line)
        rows.pop(0)
    return [*lines, "", f"And {len(rows):,} more: {counted(rows)}."] if rows else lines


def _line(row: ComparisonRow) -> str:
    cells = cells_of(row)
    return f"| {' | '.join(_plain(cell) for cell in (*(cells[position] for position in _COLUMNS), verdict_of(row)))} |"


def _code(text: str) -> str:
    """Text as code, between more backticks than it has in a row."""
    shown = _in_one_line(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return f"{fence}{shown}{fence}" if len(fence) == 1 else f"{fence} {shown} {fence}"


def _plain(text: str) -> str:
    """Text that Markdown leaves as it is, in one line."""
    escaped = _in_one_line(text)
    for mark in ("\\", "|", "`", "*", "_", "<", "[", "]"):
        escaped = escaped.replace(mark, "\\" + mark)
    return escaped


def _in_one_line(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= _LONGEST_CELL else f"{shown[:_LONGEST_CELL]}…"
