"""A comparison, with one candidate or several, as one page of HTML that needs no network."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sigstats._common.numerals import NBSP
from sigstats.comparison.candidates import CandidatesResult
from sigstats.comparison.cells import cells_of, sort_keys_of, verdict_of
from sigstats.comparison.result import ComparisonResult, ComparisonRow, reasons, rule_in_words

from ..pages.page import page
from .answer import MOST_INTERVALS, answer_of, answer_of_candidates
from .forest_plot import forest_plots
from .subjects import OVERVIEW, overview, rows_in_words, subjects_in_words

if TYPE_CHECKING:
    from .changed import Changed

#: At most this many reasons and intervals are shown; the table has all rows.
_MOST_REASONS, _MOST_INTERVALS = 20, 200
#: The columns of the table, those first that a phone shows, with how they are set.
_COLUMNS = (
    "slice", "measure", "difference", "interval", "baseline", "candidate", "rows", "p adjusted", "p", "PD", "NSD",
)  # fmt: skip
_TITLES = {"PD": "possible (PD)", "NSD": "certain (NSD)"}
_WORDS = ("slice", "measure", "test")


def as_html(found: ComparisonResult, baseline: str, candidate: str, changed: "Changed | None" = None) -> str:
    """The page: the answer with its figure, the table, the worst rows first, and the rest folded."""
    # No line break divides a number.
    said = [reason.replace(" × ", f"{NBSP}×{NBSP}") for reason in reasons(found)]
    several = len(found.rows) > MOST_INTERVALS
    answer = answer_of(found)
    return page(
        "comparison.html.j2",
        answer=answer,
        baseline=baseline,
        candidate=candidate,
        rows_in_words=rows_in_words(found),
        subjects=subjects_in_words(found),
        rule=rule_in_words(found),
        reasons=said[:_MOST_REASONS],
        more=max(0, len(said) - _MOST_REASONS),
        notes=found.notes,
        figure=forest_plots(found.ranked[:_MOST_INTERVALS], found.rule.margin, "all") if several else "",
        header=table_header(found),
        rows=[] if found.identical else table_rows(found),
        changed=changed,
    )


def table_header(found: ComparisonResult) -> list[tuple[str, str]]:
    """The columns of the table, each with how it is set: words, a number, or neither."""
    names = ("verdict", *_shown_columns(found), "test")
    return [
        (_TITLES.get(name, name), "words" if name in _WORDS else "number" if name != "verdict" else "")
        for name in names
    ]


def table_rows(found: ComparisonResult) -> list[list[tuple[str, str]]]:
    """The cells of each row with their sort keys, the worst row first."""
    return [_cells(row, _shown_columns(found)) for row in found.ranked]


def _shown_columns(found: ComparisonResult) -> list[str]:
    return [name for name in _COLUMNS if name != "measure" or len(found.names) > 1]


def _cells(row: ComparisonRow, columns: Sequence[str]) -> list[tuple[str, str]]:
    how = "; ".join(filter(None, [row.test, row.note]))
    cells, keys = cells_of(row), sort_keys_of(row)
    return [(verdict_of(row), ""), *((cells[name], keys[name]) for name in columns), (how, "")]


def candidates_as_html(found: CandidatesResult) -> str:
    """The page: which to take, the candidates, and for each its reasons and its table."""
    first = found.results[0]
    answer = answer_of_candidates(found)
    numbers = ["" if name in ("verdict", "candidate", "rows") else "number" for name in OVERVIEW]
    return page(
        "candidates.html.j2",
        answer=answer,
        baseline=found.baseline,
        rule=rule_in_words(first),
        overview_header=list(zip(OVERVIEW, numbers, strict=True)),
        overview=[[(cell, "") for cell in row] for row in overview(found)],
        candidates=[
            {
                "name": name,
                "verdict": each.verdict,
                "reasons": reasons(each)[:_MOST_REASONS],
                "notes": each.notes,
                "header": table_header(each),
                "rows": table_rows(each),
            }
            for name, each in zip(found.candidates, found.results, strict=True)
        ],
    )
