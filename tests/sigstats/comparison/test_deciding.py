"""The number of rows that would decide, beside comparisons of so many rows with the same values."""

import math

import numpy as np
import pandas as pd
import pytest

import sigstats
from sigstats.comparison.answer import reasons
from sigstats.comparison.check.result import rows_that_decide


def compared(n, only_baseline, only_candidate, **more):
    """A comparison of accuracies on so many rows, of which one model alone gets some right."""
    label, baseline, candidate = (np.ones(n, dtype=int) for _ in range(3))
    candidate[:only_baseline] = 0
    baseline[only_baseline : only_baseline + only_candidate] = 0
    return sigstats.compare(label, baseline, candidate, **more)


def of_marks(*models):
    frames = [pd.DataFrame({"id": range(len(marks)), "quality": marks}) for marks in models]
    return sigstats.compare(*frames, score="quality", score_range=(0, 1))


@pytest.mark.long
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


def _sample(measure, n, share, seed):
    """Labels and predictions or probabilities of two models, of which a share of the rows differs."""
    rng = np.random.default_rng(seed)
    label, changed = rng.integers(0, 2, n), rng.permutation(n)[: max(round(share * n), measure == "mean-score")]
    if measure == "auc":
        baseline = 1 / (1 + np.exp(-rng.normal(label, 1)))
    elif measure == "mean-score":
        baseline = rng.beta(5, 2, n)
    else:
        baseline = np.where(rng.random(n) < 0.8, label, 1 - label)
    candidate = baseline.copy()
    if measure in ("auc", "mean-score"):
        candidate[changed] = np.clip(candidate[changed] + rng.normal(0, 0.1, len(changed)), 0, 1)
    else:
        candidate[changed[::2]] = 1 - candidate[changed[::2]]
    return label, baseline, candidate


def _row(measure, label, baseline, candidate):
    if measure == "mean-score":
        frames = [pd.DataFrame({"id": range(len(marks)), "mark": marks}) for marks in (baseline, candidate)]
        return sigstats.compare(*frames, score="mark", score_range=(0, 1)).rows[0]
    more = {} if measure in ("accuracy", "macro-f1") else {"positive": 1}
    if measure == "auc":
        more["scores"], (baseline, candidate) = (baseline, candidate), (each > 0.5 for each in (baseline, candidate))
    return sigstats.compare(label, baseline * 1, candidate * 1, measures=[measure], **more).rows[0]


@pytest.mark.long
@pytest.mark.parametrize("measure", ["accuracy", "macro-f1", "f1", "auc", "mean-score"])
@pytest.mark.parametrize(("n", "share", "seed"), [(50, 0, 1), (200, 0.03, 4)])
def test_as_many_copies_of_the_rows_decide_and_a_fifth_fewer_do_not(measure, n, share, seed):
    sample = _sample(measure, n, share, seed)
    row = _row(measure, *sample)
    assert row.verdict == "inconclusive"

    def decided(times):
        return _row(measure, *(np.tile(each, times) for each in sample)).verdict != "inconclusive"

    assert decided(math.ceil(1.2 * row.deciding / n))
    fewer = int(0.8 * row.deciding // n)
    assert fewer < 2 or not decided(fewer)


def test_the_row_that_is_not_seen_weighs_less_among_more():
    # 1 - 0.025^(1 / n) <= 0.005, the margin: 736 rows, of which none differs
    row = _row("macro-f1", *_sample("macro-f1", 50, 0, 2))
    assert row.deciding == pytest.approx(736, rel=0.1)


@pytest.mark.parametrize(("deviation", "bar"), [(0.001, 0.89), (0.02, 0.89), (0.05, 0.88)])
def test_so_many_marks_of_one_model_reach_the_bar(deviation, bar):
    marks = np.clip(np.random.default_rng(3).normal(0.9, deviation, 50), 0, 1)

    def checked(times):
        frame = pd.DataFrame({"id": range(50 * times), "mark": np.tile(marks, times)})
        return sigstats.assert_at_least(frame, at_least=bar, score="mark", score_range=(0, 1))

    found = checked(1)
    wanted = rows_that_decide(found.rows[0], found)
    assert found.verdict == "inconclusive"
    assert checked(math.ceil(1.2 * wanted / 50)).verdict == "pass"
    assert checked(int(0.8 * wanted // 50)).verdict == "inconclusive"
