"""A comparison as plain text and as a table of HTML, for a prompt and a notebook."""

from collections.abc import Sequence
from html import escape

from .._common.printable import printable
from .cells import HEADER, cells_of, verdict_of
from .rows import ComparedRows
from .sentences import about_zero, counted, rule_in_words, title_of

#: So many rows are shown; `sigstats.ComparisonResult.to_pandas` has all.
MOST_ROWS = 20
_COLUMNS = [position for position, name in enumerate(HEADER) if name not in ("p", "PD", "NSD")]
_NAMES = ("verdict", *(HEADER[position] for position in _COLUMNS))


def as_plain(found: ComparedRows) -> str:
    """The verdict and the worst rows, in columns; what a terminal would obey is shown, not sent."""
    return "\n".join([title_of(found), *in_columns([_NAMES, *_rows(found)], left=3), *_rest(found)])


def in_columns(rows: Sequence[Sequence[str]], *, left: int) -> list[str]:
    """The lines of a table, whose first columns are aligned to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = (
        "  ".join(
            cell.ljust(width) if position < left else cell.rjust(width)
            for position, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return [line.rstrip() for line in aligned]


def as_html(found: ComparedRows) -> str:
    """The same as a table of HTML."""
    head = "".join(f"<th>{escape(name)}</th>" for name in _NAMES)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in _rows(found))
    below = "".join(f"<p>{escape(line)}</p>" for line in _rest(found))
    rule = escape(rule_in_words(found.rule, found.measures))
    return (
        f"<div><p><strong>{escape(title_of(found))}</strong></p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{below}<p>Rule: {rule}.</p></div>"
    )


def _rows(found: ComparedRows) -> list[tuple[str, ...]]:
    shown = []
    for row in found.ranked[:MOST_ROWS]:
        cells = cells_of(row)
        shown.append((verdict_of(row), *(printable(" ".join(cells[position].split())) for position in _COLUMNS)))
    return shown


def _rest(found: ComparedRows) -> list[str]:
    rest = found.ranked[MOST_ROWS:]
    lines = [f"and {len(rest):,} more: {counted(rest)}"] if rest else []
    return [*lines, *filter(None, [about_zero(found.ranked[:MOST_ROWS])])]
