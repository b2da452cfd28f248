"""A comparison as one page of HTML that needs no network."""

from sigstats.comparison.result import ComparisonResult

from ..report.page import page
from .cells import HEADER, cells_of, sort_keys_of, verdict_of
from .forest_plot import forest_plots
from .sentences import TITLES, reasons, rule_in_words
from .subjects import rows_in_words, subjects_in_words


def as_html(found: ComparisonResult, baseline: str, candidate: str) -> str:
    """The page: verdict, reasons, a forest plot of the differences, and the table."""
    return page(
        "comparison.html.j2",
        title=TITLES[found.verdict],
        verdict=found.verdict,
        baseline=baseline,
        candidate=candidate,
        rows_in_words=rows_in_words(found),
        subjects=subjects_in_words(found),
        rule=rule_in_words(found.rule, found.measures),
        reasons=reasons(found),
        notes=found.notes,
        figure=forest_plots(found.rows, found.rule.margin),
        header=(*HEADER, "verdict", "test", "note"),
        rows=[
            list(
                zip(
                    (*cells_of(row), verdict_of(row), row.test, row.note), (*sort_keys_of(row), "", "", ""), strict=True
                )
            )
            for row in found.rows
        ],
    )
