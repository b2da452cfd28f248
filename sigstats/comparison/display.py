"""A comparison as a table in words, for a prompt and a notebook."""

from .._common.tabular import Table
from .cells import HEADER, cells_of, verdict_of
from .rows import ComparedRows
from .sentences import about_zero, counted, rule_in_words, title_of

#: So many rows are shown; `sigstats.results.ComparisonResult.to_pandas` has all.
MOST_ROWS = 20
_COLUMNS = [position for position, name in enumerate(HEADER) if name not in ("p", "PD", "NSD")]
_NAMES = ("verdict", *(HEADER[position] for position in _COLUMNS))


def table_of(found: ComparedRows) -> Table:
    """The verdict, the worst rows, what tested them and the rule."""
    rows = []
    for row in found.ranked[:MOST_ROWS]:
        cells = cells_of(row)
        rows.append((verdict_of(row), *(cells[position] for position in _COLUMNS)))
    columns = dict(zip(_NAMES, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
    tests = ", ".join(dict.fromkeys(row.test for row in found.rows if row.test))
    notes = [
        *_rest(found),
        f"Rule: {rule_in_words(found.rule, found.measures)}.",
        *([f"Tests: {tests}."] if tests else []),
    ]
    return Table(title_of(found), columns, notes=(*notes, *found.notes), words=3)


def _rest(found: ComparedRows) -> list[str]:
    rest = found.ranked[MOST_ROWS:]
    lines = [f"and {len(rest):,} more: {counted(rest)}"] if rest else []
    return [*lines, *filter(None, [about_zero(found.ranked[:MOST_ROWS])])]
