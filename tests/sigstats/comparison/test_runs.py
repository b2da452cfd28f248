"""Runs of two recipes: all divisions of the runs, beside SciPy's, and equal recipes that do not differ too often."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, permutation_test, ttest_ind
from sklearn.metrics import f1_score, log_loss

import sigstats
from sigstats.comparison.runs import runs_test


def recipe(rng, accuracy, runs=5, items=200, spread=0.03):
    """Tables of runs whose accuracies are spread about that of the recipe."""
    label = np.tile(np.arange(items) % 2, runs)
    chance = np.repeat(accuracy + spread * rng.standard_normal(runs), items)
    right = rng.random(runs * items) < chance
    seed = np.repeat(np.arange(runs), items)
    said = np.where(right, label, 1 - label)
    return pd.DataFrame({"id": np.tile(np.arange(items), runs), "seed": seed, "label": label, "prediction": said})


def scipys(a, b, alternative):
    def difference(x, y):
        return np.mean(y) - np.mean(x)

    return permutation_test((a, b), difference, n_resamples=math.inf, alternative=alternative, vectorized=False).pvalue


@pytest.mark.parametrize(("runs_a", "runs_b"), [(5, 5), (6, 6), (3, 3)])
def test_p_is_that_of_all_divisions_and_the_interval_inverts_it(runs_a, runs_b):
    rng = np.random.default_rng(runs_a)
    a, b = rng.normal(0.8, 0.03, runs_a), rng.normal(0.77, 0.03, runs_b)
    found = runs_test(a, b)
    assert found.pvalue == pytest.approx(scipys(a, b, "less"))
    assert found.divisions == math.comb(runs_a + runs_b, runs_a)
    small = 1e-6
    if math.isinf(found.low):
        assert found.divisions < 40
        return
    # A shift within the interval is not rejected at 2.5% on either side, one beyond an end is.
    assert scipys(a, b - (found.low + small), "greater") > 0.025 >= scipys(a, b - (found.low - small), "greater")
    assert scipys(a, b - (found.high - small), "less") > 0.025 >= scipys(a, b - (found.high + small), "less")


def test_of_unlike_numbers_of_runs_the_spreads_need_not_be_equal():
    rng, trials = np.random.default_rng(35), 300
    fails = missed = by_divisions = 0
    for trial in range(trials):
        a, b = rng.normal(0.8, 0.03, 3), rng.normal(0.8, 0.003, 9)
        found = runs_test(a, b)
        fails += found.pvalue <= 0.05
        missed += not found.low <= 0 <= found.high
        if trial < 40:
            divided, welchs = scipys(a, b, "less"), ttest_ind(b, a, equal_var=False, alternative="less").pvalue
            by_divisions += divided <= 0.05
            assert found.pvalue == pytest.approx(max(divided, welchs))
            interval = ttest_ind(b, a, equal_var=False).confidence_interval()
            assert found.low <= interval.low + 1e-12
            assert found.high >= interval.high - 1e-12
    assert by_divisions > binom.ppf(0.99, 40, 0.05)
    assert fails <= binom.ppf(0.9999, trials, 0.05)
    assert missed <= binom.ppf(0.9999, trials, 0.05)


@pytest.mark.long
def test_equal_recipes_differ_in_at_most_5_of_100_trials_where_runs_as_answers_differ_far_more_often():
    rng, trials = np.random.default_rng(3), 2000
    fails = sum(runs_test(rng.normal(0.8, 0.03, 5), rng.normal(0.8, 0.03, 5)).pvalue <= 0.05 for _ in range(trials))
    assert fails <= binom.ppf(0.9999, trials, 0.05)
    few, by_run, by_item = 60, 0, 0
    for _ in range(few):
        a, b = recipe(rng, 0.8, spread=0.06), recipe(rng, 0.8, spread=0.06)
        by_run += sigstats.compare(a, b, run="seed").verdict == "fail"
        by_item += sigstats.compare(a, b, epoch="seed").verdict == "fail"
    assert by_run <= binom.ppf(0.9999, few, 0.05)
    assert by_item > binom.ppf(0.9999, few, 0.05)


def test_every_measure_is_the_mean_over_the_runs():
    rng = np.random.default_rng(1)
    a, b = recipe(rng, 0.9), recipe(rng, 0.8, runs=6).sample(frac=1, random_state=1)
    found = sigstats.compare(a, b, run="seed", measures=["accuracy", "macro-f1"])
    for side, frame in (("baseline", a), ("candidate", b)):
        each = [own for _, own in frame.groupby("seed")]
        f1 = np.mean([f1_score(own["label"], own["prediction"], average="macro") for own in each])
        accuracy = np.mean([(own["label"] == own["prediction"]).mean() for own in each])
        assert [getattr(row, side) for row in found.rows] == pytest.approx([accuracy, f1])
    assert found.rows[0].test == "permutation of 5 and 6 runs, exact; Welch's t"
    marks = [frame.assign(mark=(frame["label"] == frame["prediction"]) * 1.0) for frame in (a, b)]
    (row,) = sigstats.compare(*marks, run="seed", score="mark", measures=["mean-score"]).rows
    assert (row.difference, row.pvalue) == pytest.approx((found.rows[0].difference, found.rows[0].pvalue))


def test_a_loss_of_runs_is_infinite_where_the_true_class_has_probability_0():
    rng = np.random.default_rng(2)
    a, b = recipe(rng, 0.9), recipe(rng, 0.8)
    a["p"], b["p"] = ((0.1 + 0.8 * frame["prediction"]) for frame in (a, b))
    options = {"run": "seed", "score": "p", "measures": ["neg-log-loss"], "positive": 1}
    each = [log_loss(own["label"], own["p"]) for _, own in b.groupby("seed")]
    assert sigstats.compare(a, b, **options).rows[0].candidate == pytest.approx(-np.mean(each))
    b.loc[b.index[b["label"] == 1][0], "p"] = 0.0
    with pytest.raises(ValueError, match="1 runs of the candidate; score_range names"):
        sigstats.compare(a, b, **options)
    clipped = sigstats.compare(a, b, **options, score_range=(0.01, 0.99)).rows[0]
    each = [log_loss(own["label"], own["p"].clip(0.01, 0.99)) for _, own in b.groupby("seed")]
    assert clipped.candidate == pytest.approx(-np.mean(each))


def test_many_runs_are_divided_at_random_with_nearly_the_same_p():
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.8, 0.03, 12), rng.normal(0.79, 0.03, 12)
    found = runs_test(a, b, most=20_000)
    assert found.drawn == 20_000
    assert runs_test(a[:9], b[:9]).drawn is None
    options = {"n_resamples": 20_000, "alternative": "less", "rng": 1}
    theirs = permutation_test((a, b), lambda x, y: np.mean(y) - np.mean(x), **options)
    assert abs(found.pvalue - theirs.pvalue) < 0.02
    assert found.low < b.mean() - a.mean() < found.high


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.iloc[:-1], "runs '0' and '4' differ: id '199' is not in both"),
        (lambda frame: frame.drop(columns="seed"), "column 'seed' is not there"),
    ],
)
def test_runs_of_other_items_are_refused(change, message):
    frame = recipe(np.random.default_rng(5), 0.8)
    with pytest.raises(ValueError, match=message):
        sigstats.compare(frame, change(frame.assign(prediction=1)), run="seed")


def test_a_column_that_seems_to_number_runs_is_named():
    frame = recipe(np.random.default_rng(5), 0.8)
    with pytest.raises(ValueError, match="run='seed' takes them as those of runs of a recipe"):
        sigstats.compare(frame, frame.assign(prediction=1))
    notes = sigstats.compare(frame, frame.assign(prediction=1), groups="id").notes
    assert any("run='seed'" in note or "--run seed" in note for note in notes)
