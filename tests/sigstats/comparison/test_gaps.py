"""The gap between slices, against pandas, SciPy's exact intervals and means drawn inside the intervals."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.metrics import recall_score

import sigstats
from sigstats.comparison.gaps import Ends, _change
from sigstats.flows.regression.study import RegressionStudy

GAPS = sigstats.ComparisonRule(gaps=True)


def _frame(rows=4000):
    rng = np.random.default_rng(68)
    label, group = rng.integers(0, 2, rows), rng.choice(["a", "b", "c", "few"], rows, p=[0.6, 0.298, 0.1, 0.002])
    right = rng.random(rows) < np.where(group == "c", 0.8, 0.95)
    return pd.DataFrame(
        {"id": range(rows), "label": label, "group": group, "prediction": np.where(right, label, 1 - label)}
    )


def _by_hand(right, group, level=0.95):
    """The gap of slices of ten rows or more, and its interval, from the exact intervals of SciPy."""
    parts = [part for _, part in right.groupby(group) if len(part) >= 10]
    ends = [
        binomtest(int(part.sum()), len(part)).proportion_ci(1 - (1 - level) / len(parts), method="exact")
        for part in parts
    ]
    means = [part.mean() for part in parts]
    low = max(0.0, max(end.low for end in ends) - min(end.high for end in ends))
    high = max(one.high - other.low for one in ends for other in ends if one is not other)
    return max(means) - min(means), low, high


def test_gap_of_a_model_has_the_simultaneous_exact_interval():
    frame = _frame()
    right = frame.label == frame.prediction
    (row,) = sigstats.check(frame, slices=["group"], at_most=0.13, rule=GAPS).rows
    assert (row.slice, row.measure, row.n) == ("gap by group", "accuracy", int((frame.group != "few").sum()))
    assert (row.value, row.low, row.high) == pytest.approx(_by_hand(right, frame.group))
    assert row.verdict == "fail"
    assert (row.note, row.test) == ("best: b; worst: c", "simultaneous intervals of 3 of 4 slices")
    # At the level p the interval begins at the bar.
    assert _by_hand(right, frame.group, 1 - row.pvalue)[1] == pytest.approx(0.13, abs=1e-6)


def test_recall_and_marks_have_gaps():
    frame = _frame()
    frame["cost"] = np.random.default_rng(1).integers(0, 3, len(frame)) / 2
    (row,) = sigstats.check(frame, slices=["group"], at_most=0.5, measures="recall", positive=1, rule=GAPS).rows
    recalls = [recall_score(part.label, part.prediction) for name, part in frame.groupby("group") if name != "few"]
    assert row.value == pytest.approx(np.ptp(recalls))
    assert row.n == int(((frame.group != "few") & (frame.label == 1)).sum())
    costs = {"score": "cost", "lower_is_better": "cost", "score_range": (0, 1), "measures": "mean-score"}
    (row,) = sigstats.check(frame, slices=["group"], at_most=0.2, rule=GAPS, **costs).rows
    assert row.value == pytest.approx(np.ptp(frame[frame.group != "few"].groupby("group").cost.mean()))
    assert 0 <= row.low < row.value < row.high
    assert row.verdict == "pass"


@pytest.mark.long
def test_change_of_the_gap_is_a_row_of_the_comparison():
    frame = _frame()
    worse = (frame.group == "c") & (frame.id % 3 == 0)
    candidate = frame.assign(prediction=np.where(worse, 1 - frame.label, frame.prediction))
    found = sigstats.compare(frame, candidate, slices=["group"], rule=GAPS)
    rows = {row.slice: row for row in found.rows}
    gap = rows["gap by group"]
    gaps = [_by_hand(of.label == of.prediction, of.group)[0] for of in (frame, candidate)]
    assert (gap.baseline, gap.candidate, gap.difference) == pytest.approx((*gaps, gaps[1] - gaps[0]))
    assert 0 < gap.low < gap.difference < gap.high
    assert (gap.verdict, gap.lower_is_better) == ("fail", True)
    assert "accuracy gap by group rose by" in " ".join([found.answer.finding, *map(str, _findings(found))])
    (same,) = [
        row for row in sigstats.compare(frame, frame, slices=["group"], rule=GAPS).rows if row.test.kind == "gap"
    ]
    assert (same.difference, same.pvalue, same.verdict) == (0, 1, "inconclusive")  # too few rows for half a point
    assert same.low < 0 < same.high


def _findings(found):
    from sigstats.comparison.cells import effect_of, named

    return [f"{named(row)} {effect_of(row)}" for row in found.rows]


@pytest.mark.parametrize("seed", range(12))
def test_no_means_inside_the_intervals_have_another_change(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 5))
    a, b = rng.random((2, k))
    below, above = rng.random((2, 3, k)) * rng.choice([0.01, 0.1, 0.5])
    middles = np.array([a, b, b - a])
    ends = [Ends(*pair) for pair in zip(middles - below, middles + above, strict=True)]
    low, high = _change(*ends)
    drawn = rng.random((20000, 2, k)) * (below + above)[:2] + (middles - below)[:2]
    differences = drawn[:, 1] - drawn[:, 0]
    inside = ((ends[2].low <= differences) & (differences <= ends[2].high)).all(axis=1)
    means = np.concatenate([drawn[inside], [[a, b]]])
    changes = np.ptp(means[:, 1], axis=1) - np.ptp(means[:, 0], axis=1)
    assert low <= changes.min()
    assert changes.max() <= high


@pytest.mark.long
@pytest.mark.parametrize(
    ("chances", "rows"),
    [
        ([0.9, 0.9], [30, 30]),
        ([0.98] * 5, [12, 15, 400, 40, 10]),
        ([0.999, 0.949], [1000, 100]),
        ([0.9, 0.8], [500, 20]),
    ],
)
def test_gap_at_the_bar_fails_at_most_at_the_level(chances, rows):
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(len(rows)), rows)
    label, failed, bar = np.ones(len(group), int), 0, max(np.ptp(chances), 1e-9)
    for _ in range(200):
        said = (rng.random(len(group)) < np.repeat(chances, rows)).astype(int)
        (row,) = sigstats.check(label, said, slices={"group": group}, at_most=bar, rule=GAPS).rows
        failed += row.verdict == "fail"
    assert failed <= 200 * 0.05


def test_gaps_that_cannot_be_tested_are_refused_or_say_so():
    frame = _frame(200)
    with pytest.raises(ValueError, match="gaps: is not valid with no slices"):
        sigstats.check(frame, at_most=0.1, rule=GAPS)
    with pytest.raises(ValueError, match=r"at_most: 5.0 is not valid; expected at_most, the .* gap, below 1"):
        sigstats.check(frame, slices=["group"], at_most=5, rule=GAPS)
    with pytest.raises(ValueError, match="expected at_most, the largest acceptable gap"):
        sigstats.check(frame, slices=["group"], at_least=0.1, rule=GAPS)
    with pytest.raises(ValueError, match="gaps: is not valid with macro-f1; expected accuracy, recall"):
        sigstats.compare(frame, frame, slices=["group"], measures="macro-f1", rule=GAPS)
    one = frame.assign(group=np.where(frame.id < 5, "few", "all others"))
    (row,) = [
        row for row in sigstats.compare(one, one, slices=["group"], rule=GAPS).rows if row.slice == "gap by group"
    ]
    assert (row.verdict, row.note) == (None, "fewer than two slices of at least 10 rows")


def test_gaps_are_an_option_of_commands(tmp_path, answer, printed):
    path, other = tmp_path / "a.csv", tmp_path / "b.csv"
    _frame().to_csv(path, index=False)
    _frame().assign(prediction=1).to_csv(other, index=False)
    check = "check", path, "--slice", "group", "--gaps", "--at-most", "5%"
    assert "accuracy gap by group is 21.10%" in printed(*check, code=1)
    (row,) = answer(*check)["rows"]
    assert row["slice"] == "gap by group"
    compared = answer("compare", path, other, "--slice", "group", "--gaps", code=1)["rows"]
    assert compared[-1]["slice"] == "gap by group"


def test_a_study_of_fresh_rows_refuses_gaps():
    keys = {"name": "s", "kind": "regression", "baseline": "a.csv", "candidate": "b.csv", "rule": {"gaps": True}}
    assert RegressionStudy.model_validate(keys).rule_at(0.05).gaps
    with pytest.raises(ValueError, match=r"gaps: is not valid with looks\.rows"):
        RegressionStudy.model_validate({**keys, "looks": {"rows": "fresh"}})
