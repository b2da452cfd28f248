"""Runs of two recipes: Welch's test beside SciPy's, and equal recipes that do not differ too often."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, t, ttest_1samp, ttest_ind
from sklearn.metrics import f1_score, log_loss

import sigstats
from sigstats.comparison.row_tests.runs import runs_test
from sigstats.comparison.rule import ComparisonRule


def recipe(rng, accuracy, runs=5, items=200, spread=0.03):
    """Tables of runs whose accuracies are spread about that of the recipe."""
    label = np.tile(np.arange(items) % 2, runs)
    chance = np.repeat(accuracy + spread * rng.standard_normal(runs), items)
    right = rng.random(runs * items) < chance
    seed = np.repeat(np.arange(runs), items)
    said = np.where(right, label, 1 - label)
    return pd.DataFrame({"id": np.tile(np.arange(items), runs), "seed": seed, "label": label, "prediction": said})


@pytest.mark.parametrize(("runs_a", "runs_b"), [(5, 5), (3, 9), (2, 4), (2, 30), (12, 12)])
def test_p_and_interval_are_welchs_with_the_degrees_of_freedom_of_the_smaller_number(runs_a, runs_b):
    rng = np.random.default_rng(runs_a)
    a, b = rng.normal(0.8, 0.03, runs_a), rng.normal(0.77, 0.01, runs_b)
    found, least = runs_test(a, b), 1 / math.comb(runs_a + runs_b, runs_a)
    theirs = ttest_ind(b, a, equal_var=False)
    freedom = min(theirs.df, 2 * (min(runs_a, runs_b) - 1))
    assert found.pvalue == pytest.approx(max(t.cdf(theirs.statistic, freedom), least))
    assert found.two_sided_pvalue == pytest.approx(max(2 * t.sf(abs(theirs.statistic), freedom), 2 * least))
    reach = t.isf(0.025, freedom) * (b.mean() - a.mean()) / theirs.statistic if 2 * least <= 0.05 else math.inf
    assert [found.low, found.high] == pytest.approx([b.mean() - a.mean() - reach, b.mean() - a.mean() + reach])


@pytest.mark.long
@pytest.mark.parametrize("runs", [(2, 20), (2, 60), (20, 2)])
def test_unlike_numbers_of_normal_runs_miss_about_as_often_as_stated(runs):
    rng, trials = np.random.default_rng(1), 1500
    for spread in ((1, 1), (1, 2), (2, 1)):
        found = [runs_test(*map(rng.normal, (0.8, 0.8), spread, runs)) for _ in range(trials)]
        assert sum(result.pvalue <= 0.05 for result in found) <= binom.ppf(0.9999, trials, 0.07)
        assert sum(not result.low <= 0 <= result.high for result in found) <= binom.ppf(0.9999, trials, 0.09)


def test_few_runs_have_no_smaller_p_than_divisions_and_no_ends():
    apart = runs_test(np.array([0.9, 0.901, 0.902]), np.array([0.5, 0.501, 0.502]))
    assert (apart.pvalue, apart.two_sided_pvalue, apart.low, apart.high) == (1 / 20, 1 / 10, -math.inf, math.inf)
    assert runs_test(np.array([0.9]), np.array([0.5])).pvalue == 1 / 2


@pytest.mark.parametrize("runs", [1, 5])
def test_a_recipe_without_spread_is_tested_by_the_spread_of_the_other(runs):
    """Several equal runs are a constant, one sample's t; one run may have the spread of the other, as a prediction."""
    b, constant = np.random.default_rng(4).normal(0.79, 0.01, 20), np.full(runs, 0.8)
    found = runs_test(constant, b)
    one = ttest_1samp(b, 0.8, alternative="less").pvalue
    wider = t.cdf((b.mean() - 0.8) / (b.std(ddof=1) * math.sqrt(1 + 1 / 20)), 19)
    assert found.pvalue == pytest.approx(max(wider if runs == 1 else one, 1 / math.comb(runs + 20, 20)))
    alike = runs_test(constant, np.full(20, 0.1 + 0.7))  # 0.7999999999999999
    assert (alike.pvalue, alike.two_sided_pvalue) == (1.0, 1.0)
    assert runs_test(constant, np.full(20, 0.7)).pvalue == 1 / math.comb(runs + 20, 20)


@pytest.mark.parametrize(("spread", "runs"), [((0, 1), (5, 5)), ((1, 5), (4, 4)), ((10, 1), (3, 9)), ((0, 1), (1, 20))])
def test_unlike_spreads_of_nearly_normal_runs_keep_the_level(spread, runs):
    rng, trials = np.random.default_rng(35), 1500
    found = [
        runs_test(*(rng.normal(0.8, 0.003 * each, k) for each, k in zip(spread, runs, strict=True)))
        for _ in range(trials)
    ]
    assert sum(each.pvalue <= 0.05 for each in found) <= binom.ppf(0.9999, trials, 0.055)
    assert sum(not each.low <= 0 <= each.high for each in found) <= binom.ppf(0.9999, trials, 0.055)


def test_every_measure_is_the_mean_over_the_runs():
    rng = np.random.default_rng(1)
    a, b = recipe(rng, 0.9), recipe(rng, 0.8, runs=6).sample(frac=1, random_state=1)
    found = sigstats.compare(a, b, run="seed", measures=["accuracy", "macro-f1"])
    for side, frame in (("baseline", a), ("candidate", b)):
        each = [own for _, own in frame.groupby("seed")]
        f1 = np.mean([f1_score(own["label"], own["prediction"], average="macro") for own in each])
        accuracy = np.mean([(own["label"] == own["prediction"]).mean() for own in each])
        assert [getattr(row, side) for row in found.rows] == pytest.approx([accuracy, f1])
    assert (found.rows[0].test, found.rows[0].note) == ("Welch's t of 5 and 6 runs", "takes runs as nearly normal")
    one = sigstats.compare(a[a["seed"] == 0], b, run="seed", measures=["accuracy"]).rows[0]
    assert "; p is at least 1/7, add runs; one run of the baseline, assumed to vary like" in one.note
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.iloc[:-1], "runs '0' and '4' differ: id '199' is not in both"),
        (lambda frame: frame.drop(columns="seed"), "column 'seed' was not found"),
    ],
)
def test_runs_of_other_items_are_refused(change, message):
    frame = recipe(np.random.default_rng(5), 0.8)
    with pytest.raises(ValueError, match=message):
        sigstats.compare(frame, change(frame.assign(prediction=1)), run="seed")


def test_a_run_that_is_given_twice_is_noted_or_refused():
    """Two copies of a run are not two independent runs."""
    runs = recipe(np.random.default_rng(3), 0.8)
    copied = pd.concat([runs, runs.assign(seed=runs.seed + 10)])
    (told,) = [note for note in sigstats.compare(copied, runs, run="seed").notes if note.name == "identical-runs"]
    assert "runs '0' and '10' have the same answers in all 200 rows, as have 4 further pairs" in told
    assert not [note for note in sigstats.compare(runs, runs, run="seed").notes if "identical" in note.name]
    twice = pd.concat([runs.astype({"seed": str}), runs.assign(seed=[f"{seed}.0" for seed in runs.seed])])
    with pytest.raises(ValueError, match=r"ids '0 epoch 0' and '0 epoch 0\.0' are one number in two forms"):
        sigstats.compare(twice, twice, run="seed")


def test_a_column_that_seems_to_number_runs_is_named():
    frame = recipe(np.random.default_rng(5), 0.8)
    with pytest.raises(ValueError, match="run='seed' takes them as those of runs of a recipe"):
        sigstats.compare(frame, frame.assign(prediction=1))
    notes = sigstats.compare(frame, frame.assign(prediction=1), groups="id").notes
    assert any("run='seed'" in note or "--run seed" in note for note in notes)


def test_intervals_of_runs_end_at_the_limits_of_their_measure():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"id": np.tile(range(60), 4), "run": np.repeat(range(4), 60)})
    frame["label"] = np.tile(rng.integers(0, 2, 60), 4)
    sides = []
    for worst in (0.2, 0.4):
        wrong = rng.random(240) < np.where(frame.run == 0, worst, 0.0)
        sides.append(frame.assign(prediction=np.where(wrong, 1 - frame.label, frame.label)))
    found = sigstats.compare(*sides, run="run", measures=["f1", "kappa", "accuracy"], positive=1)
    for row in found.rows:
        for value, (low, high) in ((row.baseline, row.baseline_interval), (row.candidate, row.candidate_interval)):
            assert -1 <= low < value <= high == 1


def test_random_weights_state_their_error():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 200)
    a, b = (np.where(rng.random(200) < wrong, 1 - y, y) for wrong in (0.2, 0.25))
    drawn = sigstats.compare(y, a, b, measures=["macro-f1", "accuracy"])
    (note,) = (note for note in drawn.notes if note.name == "monte-carlo-error")
    assert note.startswith("macro-f1: p-values by random weights have a Monte-Carlo standard error of at most 0.00")
    p, draws = drawn.rows[0].pvalue, 10_000
    assert drawn.rows[0].pvalue_error == pytest.approx(np.sqrt(p * (1 - p) / draws), rel=0.01)
    assert not [note for note in sigstats.compare(y, a, b).notes if note.name == "monte-carlo-error"]
    assert not [note for note in drawn.notes if note.name == "smooth-measure"]

    def worst_recall(y, prediction, weights):
        return min(weights[(y == of) & (prediction == of)].sum() / weights[y == of].sum() for of in (0, 1))

    own = sigstats.compare(y, a, b, measures=[worst_recall], rule=ComparisonRule(n_resamples=250))
    checked = sigstats.check(y, a, measures=[worst_recall], at_least=0.5, rule=ComparisonRule(n_resamples=250))
    for result in (own, checked):
        (note,) = (note for note in result.notes if note.name == "smooth-measure")
        assert note.startswith("worst_recall: assumed to be smooth; the level does not hold if a measure is the best")
