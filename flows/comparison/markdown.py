"""A comparison as Markdown, fit for a pull request."""

from sigstats._common.markdown import for_markdown, for_markdown_cell, markdown_code
from sigstats._common.messages import printable
from sigstats.comparison.cells import HEADER, cells_of, verdict_of
from sigstats.comparison.result import ComparisonResult, ComparisonRow
from sigstats.comparison.sentences import counted, reasons, rule_in_words, title_of

from .forest_plot import forest_in_text
from .subjects import rows_in_words, subjects_in_words

#: GitHub refuses a comment of more than 65,536 characters.
_MOST_CHARACTERS = 65_000
_MOST_REASONS, _LONGEST_CELL, _MOST_INTERVALS = 20, 300, 12
#: The columns of the table; the page and the JSON have all.
_COLUMNS = [position for position, name in enumerate(HEADER) if name not in ("p", "PD", "NSD")]


def as_markdown(found: ComparisonResult, baseline: str, candidate: str) -> str:
    """A verdict, its reasons and a table of the worst rows, as many as a comment on GitHub can hold."""
    lines = [
        f"### {for_markdown(title_of(found))}",
        "",
        f"{markdown_code(_short(candidate))} against {markdown_code(_short(baseline))}, {rows_in_words(found)}.",
        "",
    ]
    lines += [f"- {for_markdown(_short(line))}" for line in subjects_in_words(found)]
    said = reasons(found)
    lines += [f"- {for_markdown(_short(reason))}" for reason in said[:_MOST_REASONS]]
    if len(said) > _MOST_REASONS:
        lines.append(f"- and {len(said) - _MOST_REASONS:,} more")
    rule = for_markdown(_short(rule_in_words(found.rule, found.measures)))
    end = ["", f"Rule: {rule}. p is of the null hypothesis that the candidate is not worse."]
    end += [f"Note: {for_markdown(_short(note))}." for note in found.notes[:_MOST_REASONS]]
    if picture := "" if found.identical else forest_in_text(found.ranked[:_MOST_INTERVALS], found.rule.margin):
        lines += ["", "```text", printable(picture, keep="\n").replace("`", "'"), "```"]
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
    shown = (*(cells[position] for position in _COLUMNS), verdict_of(row))
    return f"| {' | '.join(for_markdown_cell(_short(cell)) for cell in shown)} |"


def _short(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= _LONGEST_CELL else f"{shown[:_LONGEST_CELL]}…"
