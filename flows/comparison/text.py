"""A comparison in the terminal: the answer, fails first, then rows that lean to one side, and the rest folded."""

import io
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from sigstats._common.messages import printable
from sigstats._common.numerals import significant
from sigstats.comparison.answer import is_telling, neutral_in_words
from sigstats.comparison.cells import HEADER, cells_of, detected_by, named, titles_of, value_of, verdict_of
from sigstats.comparison.result import CandidatesResult, ComparisonResult, ComparisonRow, counted, rule_in_words
from sigstats.measures.table import MEASURES

from . import rows_in_words, subjects_in_words

#: At most this many rows are shown; the JSON has all.
MOST_ROWS = 20
#: The column of the numbers of rows that would decide.
_DECIDE = "rows to decide"
#: The columns that are omitted from the table, by how narrow the terminal is.
_LEFT_OUT = (
    ("p", "PD", "NSD"),
    ("p", "PD", "NSD", _DECIDE),
    ("p", "PD", "NSD", _DECIDE, "baseline", "candidate"),
    ("p", "PD", "NSD", _DECIDE, "baseline", "candidate", "rows"),
)
_COLOURS = {"fail": "red", "inconclusive": "yellow", "pass": "green", None: "dim"}
_WIDTH_OF_A_FILE = 160


def show(result: ComparisonResult, baseline: str, candidate: str, *, rule: bool = True) -> None:
    """Print the answer, the table, remarks on it and, unless it is printed elsewhere, the rule."""
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((80, 24)).columns if terminal else _WIDTH_OF_A_FILE
    text = as_text(result, baseline, candidate, width=width, colours=terminal, rule=rule)
    sys.stdout.write(text)


def show_candidates(comparison: CandidatesResult) -> None:
    """Print the recommendation, and the comparison of each candidate."""
    sys.stdout.write(f"{printable(comparison.recommendation)}.\n")
    last = len(comparison.results) - 1
    for i, (candidate, result) in enumerate(zip(comparison.candidates, comparison.results, strict=True)):
        sys.stdout.write("\n")
        show(result, comparison.baseline, candidate, rule=i == last)


def as_text(
    result: ComparisonResult, baseline: str, candidate: str, *, width: int, colours: bool = False, rule: bool = True
) -> str:
    """Return the comparison in lines of at most `width` columns; no number is cut or broken."""
    target = io.StringIO()
    console = Console(file=target, width=width, highlight=False, force_terminal=colours or None, soft_wrap=True)

    def say(line: str, style: str | None = None) -> None:
        # Not by rich, which breaks lines within numbers.
        lines = textwrap.wrap(
            printable(line), width, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
        )
        console.print(Text("\n".join(lines), style=style or ""))

    measure = f" {result.names[0]} of" if len(result.names) == 1 else ""
    answer = result.answer
    say(answer.headline, f"bold {_COLOURS[answer.verdict]}")
    say(answer.advice, "bold")
    for label, words in answer.also:
        say(f"{label} {words}")
    say(f"{candidate} against {baseline},{measure} {rows_in_words(result)}")
    for line in subjects_in_words(result):
        say(line)
    for note in result.notes:
        say(f"note: {note}")
    rows = rows_shown(result)
    console.print(_widest_table(rows, result, width))
    for remark in _remarks(result, rows):
        say(remark)
    if rule:
        say(f"rule: {rule_in_words(result)}", "dim")
    return target.getvalue()


def rows_shown(result: ComparisonResult) -> list[ComparisonRow]:
    """Return the worst rows, without slices that lean neither way; rows that pass are shown only if all fit."""
    rows = list(filter(is_telling, result.ranked))
    if len(rows) > MOST_ROWS:
        rows = [row for row in rows if row.verdict in ("fail", "inconclusive") or row.unanswered] or rows
    return rows[:MOST_ROWS]


def _remarks(result: ComparisonResult, rows: Sequence[ComparisonRow]) -> Iterator[str]:
    rest = [row for row in result.ranked if row not in rows]
    if rest:
        yield f"and {len(rest):,} more: {counted(rest)}"
    if neither := [row for row in rest if not is_telling(row)]:
        yield neutral_in_words(neither)
    unsure = next((row for row in rows if row.verdict == "inconclusive"), None)
    if unsure is not None and detected_by(unsure):
        yield f"{unsure.slice}: {detected_by(unsure)}"
    for row in rows:
        if row.whole and row.baseline_interval and row.candidate_interval and MEASURES[row.measure].test == "areas":
            ends = [value_of(row, end) for end in (*row.baseline_interval, *row.candidate_interval)]
            level = f"{significant(100 * result.rule.confidence_level)}% intervals"
            yield "{}, {}: baseline {} to {}, candidate {} to {}".format(named(row), level, *ends)
        if row.unanswered:
            yield f"not tested: {row.name} on {row.slice}: {row.note}"


def _widest_table(rows: Sequence[ComparisonRow], result: ComparisonResult, width: int) -> Table:
    """Return the table with as many columns as fit; if it is still too wide, names are wrapped."""
    measuring = Console(width=10_000)
    single = ("measure",) if len(result.names) == 1 else ()
    for left_out in _LEFT_OUT:
        columns = [name for name in HEADER if name not in (*left_out, *single)]
        table = _table(rows, columns, decided=_DECIDE not in left_out and any(row.deciding for row in rows))
        if Measurement.get(measuring, measuring.options, table).maximum <= width:
            break
    return table


def _table(rows: Sequence[ComparisonRow], columns: Sequence[str], *, decided: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, title in zip(columns, titles_of(columns, rows), strict=True):
        numbers = name not in ("slice", "measure")  # which are never shortened
        table.add_column(title, justify="right" if numbers else "left", no_wrap=numbers, overflow="fold")
    table.add_column("verdict", no_wrap=True)
    if decided:
        table.add_column(_DECIDE, justify="right", no_wrap=True)
    for row in rows:
        cells = cells_of(row)
        style = _COLOURS[row.verdict] if row.verdict != "pass" else None
        wanted = [] if not decided else ["" if row.deciding is None else f"{row.deciding:,}"]
        shown = (Text(printable(cells[name])) for name in columns)
        table.add_row(*shown, verdict_of(row), *wanted, style=style)
    return table
