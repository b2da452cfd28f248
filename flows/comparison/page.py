"""A comparison, with one candidate or several, as one page of HTML that needs no network."""

from dataclasses import replace

from sigstats._common.numerals import NBSP
from sigstats.comparison.candidates import CandidatesResult, overall
from sigstats.comparison.cells import HEADER, cells_of, sort_keys_of, verdict_of
from sigstats.comparison.result import ComparisonResult, ComparisonRow
from sigstats.comparison.sentences import reasons, rule_in_words, title_of

from ..pages.page import page
from .candidates import HEADER as OVERVIEW
from .candidates import overview
from .forest_plot import forest_plots
from .subjects import rows_in_words, subjects_in_words

#: At most this many reasons and intervals are shown; the table has all rows.
_MOST_REASONS, _MOST_INTERVALS = 20, 200

#: The columns of the table.
TABLE_HEADER = ("verdict", *HEADER, "test")


def as_html(found: ComparisonResult, baseline: str, candidate: str) -> str:
    """The page: verdict, reasons, a forest plot of the differences, and the table, the worst rows first."""
    # No line break divides a number.
    said = [reason.replace(" × ", f"{NBSP}×{NBSP}") for reason in reasons(found)]
    return page(
        "comparison.html.j2",
        title=title_of(found),
        verdict=found.verdict,
        baseline=baseline,
        candidate=candidate,
        rows_in_words=rows_in_words(found),
        subjects=subjects_in_words(found),
        rule=rule_in_words(found.rule, found.measures),
        identical=found.identical,
        reasons=said[:_MOST_REASONS],
        more=max(0, len(said) - _MOST_REASONS),
        notes=found.notes,
        figure=forest_plots(found.ranked[:_MOST_INTERVALS], found.rule.margin),
        header=TABLE_HEADER,
        rows=[table_cells(row) for row in found.ranked],
    )


def table_cells(row: ComparisonRow) -> list[tuple[str, str]]:
    """The cells of a row, each with its sort key."""
    how = "; ".join(filter(None, [row.test, row.note]))
    return [(verdict_of(row), ""), *zip(cells_of(row), sort_keys_of(row), strict=True), (how, "")]


def candidates_as_html(found: CandidatesResult) -> str:
    """The page: which to take, the candidates, and for each its reasons and its table."""
    first = found.results[0]
    rows = [replace(overall(each), slice=name) for name, each in zip(found.candidates, found.results, strict=True)]
    return page(
        "candidates.html.j2",
        title=f"{found.recommendation[:1].upper()}{found.recommendation[1:]}",
        baseline=found.baseline,
        rule=rule_in_words(first.rule, first.measures),
        overview_header=OVERVIEW,
        overview=overview(found),
        figure=forest_plots(rows, first.rule.margin),
        header=TABLE_HEADER,
        candidates=[
            {
                "name": name,
                "verdict": each.verdict,
                "reasons": reasons(each)[:_MOST_REASONS],
                "notes": each.notes,
                "rows": [table_cells(row) for row in each.ranked],
            }
            for name, each in zip(found.candidates, found.results, strict=True)
        ],
    )
