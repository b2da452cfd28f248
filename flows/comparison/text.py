"""A comparison as text: in the terminal, as JSON, as Markdown."""

import json
import sys
from dataclasses import asdict
from typing import Any

from ..report.wording import index_number, p_number
from .compare import IN_UNITS, Comparison, Row

#: Raised when the form of the JSON changes.
JSON_VERSION = 1

TITLES = {
    "pass": "PASS: no regression",
    "warn": "WARN: no regression shown, none excluded",
    "fail": "FAIL: regression",
}
_HEADER = (
    "slice",
    "measure",
    "rows",
    "baseline",
    "candidate",
    "difference",
    "interval",
    "p",
    "p adjusted",
    "PD",
    "NSD",
)
#: What a terminal does not show, by how narrow it is.
_LEFT_OUT = (
    ("p", "PD", "NSD"),
    ("p", "PD", "NSD", "baseline", "candidate"),
    ("p", "PD", "NSD", "baseline", "candidate", "rows"),
)


def as_json(found: Comparison, baseline: str, candidate: str) -> str:
    """Everything, with the names of the fields of `sigstats.flows.comparison.compare.Row`."""
    content: dict[str, Any] = {
        "version": JSON_VERSION,
        "verdict": found.verdict,
        "baseline": baseline,
        "candidate": candidate,
        "n": found.n,
        "rule": {**found.rule.model_dump(), "in_words": found.rule_in_words},
        "reasons": found.reasons(),
        "notes": list(found.notes),
        "rows": [asdict(row) for row in found.rows],
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


def as_markdown(found: Comparison, baseline: str, candidate: str) -> str:
    """A verdict, its reasons and a table, fit for a pull request."""
    lines = [f"### {TITLES[found.verdict]}", "", f"`{candidate}` against `{baseline}`, {found.n:,} rows.", ""]
    lines += [f"- {_plain(reason)}" for reason in found.reasons()]
    header = f"| {' | '.join((*_HEADER, 'verdict'))} |"
    lines += ["", header, "|" + "---|" * (len(_HEADER) + 1)]
    for row in found.rows:
        cells = [_plain(cell) for cell in (*cells_of(row), verdict_of(row))]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        f"Rule: {_plain(found.rule_in_words)}. p is of the null hypothesis that the candidate is not worse.",
    ]
    lines += [f"Note: {_plain(note)}." for note in found.notes]
    return "\n".join(lines)


def show(found: Comparison, baseline: str, candidate: str) -> None:
    """The table in the terminal."""
    from rich.console import Console
    from rich.markup import escape
    from rich.measure import Measurement
    from rich.table import Table

    console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 160)
    colours = {"fail": "red", "warn": "yellow", "pass": "green", None: "dim"}

    def table_of(shown: list[int]) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for position in shown:
            table.add_column(_HEADER[position], justify="left" if position < 2 else "right", no_wrap=True)
        table.add_column("verdict", no_wrap=True)
        for row in found.rows:
            cells = cells_of(row)
            style = colours[row.verdict] if row.verdict != "pass" else None
            table.add_row(*(escape(cells[position]) for position in shown), verdict_of(row), style=style)
        return table

    # Where there is little room columns are left out: rich would cut off numbers.
    for left_out in _LEFT_OUT:
        table = table_of([position for position, name in enumerate(_HEADER) if name not in left_out])
        width = Measurement.get(console, console.options.update(max_width=10_000), table).maximum
        if width <= console.width:
            break
    console.print(f"{candidate} against {baseline}, {found.n:,} rows", markup=False)
    for note in found.notes:
        console.print(f"note: {note}", markup=False)
    console.width = max(width, console.width)
    console.print(table)
    console.print(TITLES[found.verdict], style=f"bold {colours[found.verdict]}")
    for reason in found.reasons():
        console.print(f"  {reason}", markup=False)
    console.print(f"rule: {found.rule_in_words}", markup=False, style="dim")


def header() -> tuple[str, ...]:
    """What the cells of a row are."""
    return _HEADER


def cells_of(row: Row) -> tuple[str, ...]:
    """The cells of a row, the verdict apart."""
    values = [value_of(row, row.baseline), value_of(row, row.candidate), difference_of(row, row.difference)]
    between = "–" if row.low is None else f"{difference_of(row, row.low)} to {difference_of(row, row.high)}"
    ps = ["–" if p is None else p_number(p) for p in (row.p_worse, row.p_adjusted)]
    indices = ["–" if index is None else index_number(index) for index in (row.pd, row.nsd)]
    return (row.slice, row.measure, f"{row.n:,}", *values, between, *ps, *indices)


def points(value: float | None) -> str:
    """A difference in percentage points, with its sign."""
    if value is None:
        return "–"
    text = f"{100 * value:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", "−")


def value_of(row: Row, value: float | None) -> str:
    """A value of the row's measure: a percentage, or a mark or loss in its own unit."""
    if value is None:
        return "–"
    return f"{value:.4f}".replace("-", "−") if row.measure in IN_UNITS else f"{100 * value:.2f}%"


def difference_of(row: Row, value: float | None) -> str:
    """A difference of two values of the row's measure, with its sign."""
    if value is None or row.measure not in IN_UNITS:
        return points(value)
    text = f"{value:+.4f}"
    return "0.0000" if text in ("+0.0000", "-0.0000") else text.replace("-", "−")


def difference_in_words(row: Row) -> str:
    """The difference with what it is counted in."""
    return difference_of(row, row.difference) + ("" if row.measure in IN_UNITS else " points")


def verdict_of(row: Row) -> str:
    """The verdict of a row, or that it was not tested."""
    return row.verdict or "not tested"


def _plain(text: str) -> str:
    """Text that Markdown leaves as it is, in one line."""
    escaped = " ".join(text.split())
    for mark in ("\\", "|", "`", "*", "_", "<", "[", "]"):
        escaped = escaped.replace(mark, "\\" + mark)
    return escaped
