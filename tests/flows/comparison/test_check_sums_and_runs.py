"""`sigstats check` of costs, losses, ratios of sums and runs, beside the binomial law, enumeration and simulation."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest, ttest_1samp
from sklearn.metrics import mean_absolute_error

import sigstats

from .test_check import checked


@pytest.fixture
def table():
    rng = np.random.default_rng(11)
    label = rng.integers(2, size=300)
    prediction = np.where(rng.random(300) < 0.88, label, 1 - label)
    words = rng.integers(1, 40, 300)
    return pd.DataFrame(
        {
            "label": label,
            "prediction": prediction,
            "probability": np.where(prediction == 1, 0.9, 0.1),
            "words": words,
            "errors": rng.binomial(words, 0.15),
            "mark": rng.random(300).round(3),
        }
    )


@pytest.mark.parametrize(
    ("measure", "bar", "limits"),
    [
        ("neg-mae", -0.1, (0, 1)),
        ("neg-mse", -0.1, (0, 1)),
        ("neg-log-loss", 0.9 * math.log(0.9) + 0.1 * math.log(0.1), (0.1, 0.9)),
    ],
)
def test_losses_of_two_values_have_the_p_value_and_the_interval_of_the_binomial_law(
    tmp_path, table, measure, bar, limits
):
    score = ("--score", "probability") if measure == "neg-log-loss" else ()
    (row,) = checked(tmp_path, table, f"--at-least={bar}", "--measure", measure, *score, "--score-range", *limits)[
        "rows"
    ]
    hits = int((table["label"] == table["prediction"]).sum())
    exact = binomtest(hits, 300, 0.9, alternative="less")
    low, high = binomtest(hits, 300).proportion_ci(0.95, "exact")
    worst, best = (math.log(0.1), math.log(0.9)) if measure == "neg-log-loss" else (-1.0, 0.0)
    assert row["pvalue"] == pytest.approx(exact.pvalue, rel=1e-6)
    ends = [worst + (best - worst) * share for share in (low, high)]
    assert (row["low"], row["high"]) == pytest.approx(tuple(ends), rel=1e-6)
    if measure == "neg-mae":
        assert row["value"] == -mean_absolute_error(table["label"], table["prediction"])


def test_a_cost_at_most_is_what_it_leaves_at_least(tmp_path, table):
    table["cost"], table["left"] = table["mark"], (1 - table["mark"]).round(3)
    limits = ("--score-range", 0, 1)
    for bar, verdict in ((0.4, "fail"), (0.51, "inconclusive"), (0.6, "pass")):
        cost = checked(tmp_path, table, "--at-most", bar, "--lower-is-better", "cost", *limits)
        left = checked(tmp_path, table, f"--at-least={1 - bar}", "--higher-is-better", "left", *limits)
        (mine,), (other,) = cost["rows"], left["rows"]
        assert (cost["verdict"], left["verdict"], cost["at_most"]) == (verdict, verdict, bar)
        assert mine["pvalue"] == pytest.approx(other["pvalue"], rel=1e-6)
        assert (mine["value"], mine["low"], mine["high"]) == pytest.approx(
            (1 - other["value"], 1 - other["high"], 1 - other["low"])
        )


def test_a_cost_without_limits_may_fail_and_never_passes(tmp_path, table, capsys):
    table["latency_ms"] = 100 + 50 * table["mark"]
    asked = ("--lower-is-better", "latency_ms")
    failed = checked(tmp_path, table, *asked, "--at-most", 110, code=1)
    assert capsys.readouterr().out.startswith(
        "FAIL: mean latency_ms on all rows is 125.1497 ms (123.4596 ms to 126.8340 ms), above 110 ms\n"
    )
    assert failed["rows"][0]["test"].endswith("without limits")
    assert checked(tmp_path, table, *asked, "--at-most", 140, code=0)["verdict"] == "inconclusive"
    limited = checked(tmp_path, table, *asked, "--at-most", 140, "--score-range", 0, 200, code=0)
    assert limited["verdict"] == "pass"


def test_a_ratio_over_ones_is_a_mean_and_others_follow_the_weighted_law(tmp_path, table):
    mean = checked(tmp_path, table, "--at-least", 0.45, "--score", "mark", "--score-range", 0, 1)["rows"][0]
    ones = table.assign(one=1)
    options = ("--measure", "mark/one", "--higher-is-better", "mark/one", "--score-range", 0, 1)
    ratio = checked(tmp_path, ones, "--at-least", 0.45, *options)["rows"][0]
    for name in ("value", "low", "high", "pvalue"):
        assert ratio[name] == pytest.approx(mean[name], rel=1e-6)
    options = ("--measure", "errors (all)/words", "--lower-is-better", "errors (all)", "--score-range", 0, 1)
    renamed = table.rename(columns={"errors": "errors (all)"})
    found = checked(tmp_path, renamed, "--at-most", 0.14, *options)["rows"][0]
    e, w = table["errors"].to_numpy(), table["words"].to_numpy()
    assert found["value"] == pytest.approx(e.sum() / w.sum())
    law = np.random.default_rng(1).dirichlet(np.ones(301), 40_000)
    # One more text, as long as the longest and without an error, and another that is all errors.
    best, worst = (law @ np.append(e, more) / (law @ np.append(w, w.max())) for more in (0, w.max()))
    assert found["pvalue"] == pytest.approx(np.mean(best <= 0.14), abs=0.008)
    assert (found["low"], found["high"]) == pytest.approx(
        (np.quantile(best, 0.025), np.quantile(worst, 0.975)), abs=0.002
    )


@pytest.mark.long
def test_a_ratio_at_the_bar_fails_no_more_often_than_stated():
    rng, fails, trials = np.random.default_rng(5), 0, 150
    for _ in range(trials):
        words = rng.integers(1, 40, 60)
        frame = pd.DataFrame({"words": words, "errors": rng.binomial(words, 0.2)})
        try:
            sigstats.assert_at_least(frame, at_most=0.2, ratio="errors/words", score_range=(0, 1))
        except AssertionError:
            fails += 1
    assert fails <= binom.ppf(0.9999, trials, 0.05)


def runs_of(accuracies, n=50):
    y = np.arange(n) % 2
    said = [np.where(np.arange(n) < round(share * n), y, 1 - y) for share in accuracies]
    return pd.concat(
        [pd.DataFrame({"id": range(n), "seed": seed, "label": y, "prediction": p}) for seed, p in enumerate(said)]
    )


@pytest.mark.parametrize("accuracies", [(0.8, 0.84, 0.82, 0.9, 0.78), (0.8, 0.84, 0.82, 0.9, 0.78, 0.86, 0.88)])
def test_runs_are_tested_by_students_t_against_the_bar(tmp_path, accuracies):
    (row,) = checked(tmp_path, runs_of(accuracies), "--at-least", 0.88, "--run", "seed")["rows"]
    theirs = ttest_1samp(accuracies, 0.88, alternative="less")
    assert (row["test"], row["value"]) == (f"Student's t of {len(accuracies)} runs", pytest.approx(np.mean(accuracies)))
    assert row["pvalue"] == pytest.approx(max(theirs.pvalue, 0.5 ** len(accuracies)))
    ends = ttest_1samp(accuracies, 0.88).confidence_interval() if len(accuracies) > 5 else (None, None)
    assert (row["low"], row["high"]) == (pytest.approx(tuple(ends)) if ends[0] else (None, None))


def test_few_runs_have_no_interval_and_runs_without_spread_are_tested_too():
    five = sigstats.assert_at_least(runs_of((0.8, 0.9, 0.84, 0.85, 0.8)), at_least=0.5, run="seed")
    assert "(5 runs; assumed nearly normal; 6 are the fewest with an interval of 95%)" in str(five)
    found = sigstats.assert_at_least(runs_of((0.8,) * 6), at_least=0.8, run="seed")
    assert (found.verdict, found.rows[0].pvalue, found.rows[0].low) == ("pass", 1.0, pytest.approx(0.8))


def test_runs_take_any_measure():
    found = sigstats.assert_at_least(runs_of((0.8, 0.9, 0.84)), at_least=0.5, run="seed", measures="macro-f1")
    assert found.rows[0].measure == "macro-f1"
    assert [note.partition(" (")[0] for note in found.notes] == [
        "3 runs: runs are the independent units, assumed nearly normal"
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"at_least": 0.1, "at_most": 0.1}, "one of at_least and at_most"),
        ({"at_most": 0.5}, "expected at_least, since of accuracy the higher is better"),
        ({"at_least": 0.5, "lower_is_better": "errors"}, "expected at_most, since of errors the lower is better"),
        ({"at_most": 0.5, "ratio": "errors"}, "expected two columns, as in errors/words"),
        ({"at_most": 0.5, "ratio": "errors/words", "score": "mark"}, "and no score"),
        ({"at_most": 1, "ratio": "errors/words", "score_range": (0, 1)}, "less than 1, the most that ratio can be"),
    ],
)
def test_bad_input_is_one_line(table, options, message):
    with pytest.raises(ValueError, match=message):
        sigstats.assert_at_least(table, **options)


def test_compare_takes_a_ratio_from_frames(table):
    other = table.assign(errors=np.minimum(table["errors"] + 1, table["words"]))
    frames = [each.assign(id=range(300)) for each in (table, other)]
    found = sigstats.compare(*frames, ratio="errors/words")
    ratios = tuple(float(each["errors"].sum() / each["words"].sum()) for each in frames)
    (row,) = [row for row in found.rows if row.measure == "ratio"]
    assert (row.baseline, row.candidate) == pytest.approx(ratios)
    assert (row.verdict, found.rows[0].differing) == ("fail", 0)
