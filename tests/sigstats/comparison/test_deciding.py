"""The number of rows that would decide, beside comparisons of so many rows with the same values."""

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats.comparison.result import reasons, title_of


def compared(n, only_baseline, only_candidate, **more):
    """A comparison of accuracies on so many rows, of which one model alone gets some right."""
    label, baseline, candidate = (np.ones(n, dtype=int) for _ in range(3))
    candidate[:only_baseline] = 0
    baseline[only_baseline : only_baseline + only_candidate] = 0
    return sigstats.compare(label, baseline, candidate, **more)


def of_marks(*models):
    frames = [pd.DataFrame({"id": range(len(marks)), "quality": marks}) for marks in models]
    return sigstats.compare(*frames, score="quality")


@pytest.mark.parametrize("counts", [(36, 28), (28, 30), (37, 27), (20, 20), (0, 0), (1, 2)])
def test_so_many_rows_of_the_same_rates_decide_and_fewer_do_not(counts):
    n = 400
    (row,) = compared(n, *counts).rows
    assert row.verdict == "inconclusive"

    def verdict(rows):
        return compared(round(rows), *(round(count * rows / n) for count in counts)).rows[0].verdict

    assert verdict(1.04 * row.deciding + 2) != "inconclusive"
    assert verdict(0.93 * row.deciding - 2) == "inconclusive"


def test_a_drop_between_the_effect_that_counts_and_the_margin_is_decided_by_no_number():
    rule = sigstats.ComparisonRule(minimum_effect=0.05, margin=0.005)
    found = compared(400, 14, 10, rule=rule)
    assert [(row.verdict, row.deciding) for row in found.rows] == [("inconclusive", None)]
    assert "decide" not in reasons(found)[0]


@pytest.mark.parametrize("shift", [-0.02, 0.0, 0.03])
def test_so_many_marks_of_the_same_values_decide(shift):
    rng = np.random.default_rng(2)
    marks = rng.beta(4, 4, 150)
    others = np.clip(marks + rng.normal(shift, 0.2, 150), 0, 1)
    (row,) = of_marks(marks, others).rows
    assert row.verdict == "inconclusive"
    times = -(-row.deciding // 150)
    (more,) = of_marks(np.tile(marks, times), np.tile(others, times)).rows
    assert more.verdict != "inconclusive"


def test_the_first_line_says_what_is_too_small_and_what_is_better():
    region = np.repeat(["a", "b"], [380, 20])
    found = compared(400, 0, 40, slices={"region": region})
    assert title_of(found).startswith("INCONCLUSIVE: no regression shown; 1 slice is too small to tell; on all rows")
    assert title_of(found).endswith("; significantly better on all rows: accuracy +10.00 points")
    assert "better" not in title_of(compared(400, 20, 24))
