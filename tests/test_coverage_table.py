"""The table of coverages in benchmarks/unseen_row.md: from a summary, and between its marks."""

import pandas as pd

from tools.coverage_table import BEGIN, END, PAGE, table


def test_a_cell_has_both_figures_of_both_intervals_or_a_dash():
    rows = [
        (30, "difference (f1, compare)", "coverage", 0.985),
        (30, "difference (f1, compare)", "interval above the truth", 0.0),
        (30, "difference (f1, compare)", "width", 0.3),
        (1000, "difference (f1, compare)", "coverage", 1.0),
        (1000, "difference (f1, compare)", "interval above the truth", 0.0),
        (1000, "difference (f1, usual)", "coverage", 0.55),
        (1000, "difference (f1, usual)", "interval above the truth", 0.45),
    ]
    summary = pd.DataFrame(rows, columns=["n", "method", "measure", "estimate"]).assign(dataset="few")
    assert table(summary) == ("| | 30 rows | 1,000 rows |\n|---|---|---|\n| few: f1 | 98.5, 0; – | 100, 0; 55, 45 |\n")


def test_its_place_in_the_page_is_marked():
    page = PAGE.read_text(encoding="utf-8")
    assert page.count(BEGIN) == page.count(END) == 1
    assert "\n| marks in quarters: mean-score | " in page.partition(BEGIN)[2].partition(END)[0]
