"""A comparison in the terminal."""

import sys

from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from sigstats.comparison.result import ComparisonResult

from .cells import HEADER, cells_of, verdict_of
from .sentences import TITLES, reasons, rule_in_words
from .subjects import rows_in_words, subjects_in_words

#: What a terminal does not show, by how narrow it is.
_LEFT_OUT = (
    ("p", "PD", "NSD"),
    ("p", "PD", "NSD", "baseline", "candidate"),
    ("p", "PD", "NSD", "baseline", "candidate", "rows"),
)
_COLOURS = {"fail": "red", "warn": "yellow", "pass": "green", None: "dim"}


def show(found: ComparisonResult, baseline: str, candidate: str) -> None:
    """Print the table, the verdict and its reasons."""
    console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 160)
    table, width = _widest_table(found, console)
    console.print(f"{candidate} against {baseline}, {rows_in_words(found)}", markup=False)
    for line in subjects_in_words(found):
        console.print(line, markup=False)
    for note in found.notes:
        console.print(f"note: {note}", markup=False)
    console.width = max(width, console.width)
    console.print(table)
    console.print(TITLES[found.verdict], style=f"bold {_COLOURS[found.verdict]}")
    for reason in reasons(found):
        console.print(f"  {reason}", markup=False)
    console.print(f"rule: {rule_in_words(found.rule, found.measures)}", markup=False, style="dim")


def _widest_table(found: ComparisonResult, console: Console) -> tuple[Table, int]:
    """The table with as many columns as there is room for, and its width: rich would cut off numbers."""
    for left_out in _LEFT_OUT:
        table = _table(found, [position for position, name in enumerate(HEADER) if name not in left_out])
        width = Measurement.get(console, console.options.update(max_width=10_000), table).maximum
        if width <= console.width:
            break
    return table, width


def _table(found: ComparisonResult, columns: list[int]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for position in columns:
        table.add_column(HEADER[position], justify="left" if position < 2 else "right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for row in found.rows:
        cells = cells_of(row)
        style = _COLOURS[row.verdict] if row.verdict != "pass" else None
        table.add_row(*(escape(cells[position]) for position in columns), verdict_of(row), style=style)
    return table
