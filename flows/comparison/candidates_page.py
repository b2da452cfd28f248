"""Several candidates beside one baseline on one page of HTML."""

from dataclasses import replace

from sigstats.comparison.candidates import CandidatesResult, overall
from sigstats.comparison.sentences import reasons, rule_in_words

from ..pages.page import page
from .candidates import HEADER, overview
from .forest_plot import forest_plots
from .page import TABLE_HEADER, table_cells

_MOST_REASONS = 20


def candidates_as_html(found: CandidatesResult) -> str:
    """The page: which to take, the candidates, and for each its reasons and its table."""
    first = found.results[0]
    rows = [replace(overall(each), slice=name) for name, each in zip(found.candidates, found.results, strict=True)]
    return page(
        "candidates.html.j2",
        title=f"{found.recommendation[:1].upper()}{found.recommendation[1:]}",
        baseline=found.baseline,
        rule=rule_in_words(first.rule, first.measures),
        overview_header=HEADER,
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
