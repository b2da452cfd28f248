"""Formulas of labels, predictions and weights beside scikit-learn's, and their tests under equal measures."""

import itertools
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import sigstats
from sigstats.measures import weighted

RNG = np.random.default_rng(3)
POSITIVE, SCORE = RNG.integers(0, 2, 200), RNG.normal(size=200).round(1)
GRADE, SAID = RNG.integers(1, 6, 200), RNG.integers(1, 6, 200)
X, GUESS = RNG.normal(size=200), RNG.normal(size=200)
FEW = sigstats.ComparisonRule(n_resamples=1000, minimum_effect=0, relative_effect=0)


@pytest.mark.parametrize(
    ("formula", "theirs", "rows"),
    [
        (weighted.average_precision, metrics.average_precision_score, (POSITIVE, SCORE)),
        (weighted.weighted_area, metrics.roc_auc_score, (POSITIVE, SCORE)),
        (weighted.rmse, metrics.root_mean_squared_error, (X, GUESS)),
        (weighted.r2, metrics.r2_score, (X, GUESS)),
        (lambda *rows: weighted.weighted_kappa(1, *rows), "linear", (GRADE, SAID)),
        (lambda *rows: weighted.weighted_kappa(2, *rows), "quadratic", (GRADE, SAID)),
    ],
)
def test_formulas_are_scikit_learns_with_the_same_weights(formula, theirs, rows):
    weights = np.vstack([np.ones(200), RNG.exponential(size=(4, 200)) * RNG.integers(0, 2, (4, 200))])
    for own, value in zip(weights, formula(*rows, weights), strict=True):
        kept = own > 0
        some = [column[kept] for column in rows]
        if isinstance(theirs, str):
            expected = metrics.cohen_kappa_score(*some, weights=theirs, sample_weight=own[kept])
        else:
            expected = theirs(*some, sample_weight=own[kept])
        assert value == pytest.approx(expected, rel=1e-10)


def test_one_more_row_adds_the_difference_of_the_sums_of_areas():
    label, weights = RNG.integers(0, 3, 600), RNG.exponential(size=600)
    for vectors in (RNG.integers(0, 400, (600, 3)), SCORE[RNG.integers(0, 200, (600, 1))]):
        sums = weighted._area_sums(vectors, label % max(2, vectors.shape[1]), np.arange(600))
        expected = sums(weights + np.eye(600)) - sums(weights[np.newaxis])
        np.testing.assert_allclose(sums(weights, added=True), expected, atol=1e-9)


def test_unseen_rows_of_an_area_have_the_first_or_the_last_score():
    values, unseen, times = np.array([-1.0, 0.0, 1.0, 2.0, 3.0]), np.array([0, 4]), 2.5
    true, said = RNG.integers(1, 3, 40), RNG.integers(1, 4, 40)
    joint, _ = sigstats.JointEvents.from_codes(values.tolist(), true, said, said)
    formula = weighted.OfAreas(weighted.weighted_area, values, (np.array([1, 2]), unseen))
    kinds = joint.with_events(formula.kinds, (1,) * 4)
    formula, weights = formula.on(joint, kinds), RNG.exponential(size=(3, len(joint.events)))
    places = np.array(joint.events)[:, :, 0]
    pairs = zip(formula.sums(joint, weights), formula.sums(kinds, np.eye(4)), (1, 2), strict=True)
    for (base,), (more,), side in pairs:
        for number, event in enumerate(kinds.events):
            codes = np.append(places[:, [0, side]], [[event[0][0], event[side][0]]], axis=0)
            own = np.hstack([weights, np.full((3, 1), times)])
            expected = [metrics.roc_auc_score(*values[codes.T], sample_weight=row) for row in own]
            assert formula.of(weighted.PairWeights(base + times * more[number])) == pytest.approx(expected)


def test_measures_of_scores_and_numbers_are_compared_and_checked():
    other, frame = SCORE + RNG.normal(size=200), {"label": POSITIVE, "prediction": POSITIVE, "prob": SCORE}
    (row,) = sigstats.compare(POSITIVE, SCORE, other, measures="average-precision", rule=FEW).rows
    expected = [metrics.average_precision_score(POSITIVE, side) for side in (SCORE, other)]
    assert [row.baseline, row.candidate] == pytest.approx(expected)
    frame = pd.DataFrame({"id": range(200), **frame})
    for name, theirs in (("auc", metrics.roc_auc_score), ("average-precision", metrics.average_precision_score)):
        row = sigstats.check(frame, score="prob", measures=name, at_least=0.3, rule=FEW).rows[0]
        assert row.value == pytest.approx(theirs(POSITIVE, SCORE))
    root, share = sigstats.compare(X, GUESS, X + 0.1, measures=["rmse", "r2"], score_range=(-9, 9), rule=FEW).rows
    assert root.lower_is_better
    assert [root.baseline, root.candidate] == pytest.approx([metrics.root_mean_squared_error(X, GUESS), 0.1])
    assert root.low <= root.difference <= root.high
    assert share.low <= share.difference <= share.high
    assert share.baseline == pytest.approx(metrics.r2_score(X, GUESS))
    with_limits = sigstats.check(X, X + 0.1, measures="rmse", at_most=5, score_range=(-9, 9), rule=FEW)
    assert with_limits.verdict == "pass"
    assert sigstats.check(X, X + 0.1, measures="rmse", at_most=5, rule=FEW).verdict == "inconclusive"  # without limits


@pytest.mark.parametrize("name", ["f1", "precision", "jaccard"])
@pytest.mark.parametrize("classes", [2, 3])
def test_averages_by_rows_of_the_truth_are_scikit_learns(name, classes):
    y, a, b = RNG.integers(0, classes, (3, 200))
    (row,) = sigstats.compare(y, a, b, measures=f"weighted-{name}", rule=FEW).rows
    theirs = getattr(metrics, f"{name}_score")
    expected = [theirs(y, said, average="weighted", zero_division=0) for said in (a, b)]
    assert [row.baseline, row.candidate] == pytest.approx(expected)
    assert sigstats.check(y, a, measures=f"{name}_weighted", at_least=0.1, rule=FEW).rows[0].value == row.baseline


def test_the_chance_that_all_of_k_answers_are_right_is_that_of_all_ways_to_draw_them():
    right = RNG.random((30, 5)) < 0.7
    (row,) = sigstats.compare(
        np.ones(150, int), right.ravel() * 1, right[::-1].ravel() * 1, groups=np.repeat(range(30), 5), measures="pass^3"
    ).rows
    drawn = [all(item[list(some)]) for item in right for some in itertools.combinations(range(5), 3)]
    assert row.baseline == pytest.approx(np.mean(drawn))


@pytest.mark.parametrize("name", ["balanced-accuracy", "macro-f1", "mcc", "kappa"])
def test_check_takes_measures_of_counts(name):
    y, said = POSITIVE, np.where(np.arange(200) % 5 > 0, POSITIVE, 1 - POSITIVE)
    theirs = {"mcc": "matthews_corrcoef", "kappa": "cohen_kappa_score", "macro-f1": "f1_score"}
    function = getattr(metrics, theirs.get(name, "balanced_accuracy_score"))
    expected = function(y, said, average="macro") if name == "macro-f1" else function(y, said)
    verdicts = []
    for bar in (expected - 0.25, expected, expected + 0.19):
        result = sigstats.check(y, said, measures=name, at_least=bar)
        verdicts.append(result.verdict)
        assert result.rows[0].value == pytest.approx(expected)
    assert verdicts == ["pass", "inconclusive", "fail"]


def right(y, prediction, weights):
    """The accuracy."""
    return weights[y == prediction].sum() / weights.sum()


def mean_recall(y, prediction, weights):
    """The balanced accuracy."""
    return np.mean([right(y[y == one], prediction[y == one], weights[y == one]) for one in np.unique(y)])


def test_a_function_of_a_person_is_tested_as_the_measure_that_it_computes():
    y, a, b = (RNG.integers(0, 3, 300) for _ in range(3))

    def wrong(*rows):
        return 1 - right(*rows)

    wrong.greater_is_better = False
    balanced = sigstats.Measure(name="own", function=mean_recall, takes="classes")
    own, turned, of_rows, theirs = sigstats.compare(
        y, a, b, measures=[right, wrong, balanced, "balanced-accuracy"], rule=sigstats.ComparisonRule(n_resamples=400)
    ).rows
    assert [own.baseline, 1 - turned.baseline] == pytest.approx([(y == a).mean()] * 2)
    assert turned.lower_is_better
    assert [turned.low, turned.high] == pytest.approx([-own.high, -own.low], abs=0.03)  # of other random weights
    assert [of_rows.low, of_rows.high] == pytest.approx([theirs.low, theirs.high], abs=0.03)
    assert of_rows.baseline == pytest.approx(theirs.baseline)


@pytest.mark.parametrize("share", [0.8, 0.3])
def test_a_function_of_a_person_is_called_a_few_thousand_times(share):
    """Both if models hardly differ, and if they differ far beyond chance, which takes more weightings."""
    rng, calls = np.random.default_rng(3), []
    y = rng.integers(0, 2, 400)
    sides = [np.where(rng.random(400) < right, y, 1 - y) for right in (0.8, share)]
    called = sigstats.Measure(name="own", function=lambda *rows: calls.append(1) or mean_recall(*rows), takes="classes")
    own, ready = (sigstats.compare(y, *sides, measures=name).rows[0] for name in (called, "balanced-accuracy"))
    assert own.low == pytest.approx(ready.low, abs=6 * (own.end_error + ready.end_error))
    assert own.pvalue == pytest.approx(ready.pvalue, abs=6 * (own.pvalue_error + ready.pvalue_error))
    assert len(calls) < 5_100


def test_parameters_and_functions_of_counts():
    y, a, b = POSITIVE, SCORE > 0, SCORE > 0.5
    cost = sigstats.Measure(
        name="per-row", function=lambda tp, fn, fp, tn: (9 * fn + fp) / 200, greater_is_better=False
    )
    f2 = sigstats.Measure(name="f-beta", parameters=(("beta", 2.0),))
    rows = sigstats.compare(y, a * 1, b * 1, measures=[f2, cost], rule=FEW).rows
    assert rows[0].baseline == pytest.approx(metrics.fbeta_score(y, a, beta=2))
    assert rows[1].candidate == pytest.approx((9 * (y & ~b).sum() + (b & ~(y == 1)).sum()) / 200)
    assert rows[1].lower_is_better


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        (lambda y, p, w: float("nan"), "nan is not valid; expected a finite number for y, prediction and weights"),
        (lambda y, p: 1.0, "failed: TypeError"),
        (sigstats.Measure(name="f1", function=right, takes="classes"), "'f1' is not valid; expected another name"),
    ],
)
def test_functions_that_are_no_measures_are_refused(function, complaint):
    with pytest.raises(ValueError, match=complaint):
        sigstats.compare(GRADE, SAID, GRADE, measures=[function])


@pytest.mark.long
def test_the_command_line_takes_an_import_path(tmp_path, printed, refused, monkeypatch):
    text = "def right(y, prediction, weights):\n    return weights[y == prediction].sum() / weights.sum()\nwrong = 3\n"
    (tmp_path / "own_measures_of_a_test.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for name, said in (("a", GRADE), ("b", SAID)):
        pd.DataFrame({"id": range(200), "label": GRADE, "prediction": said}).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    files = [str(tmp_path / f"{name}.csv") for name in "ab"]
    path = "own_measures_of_a_test:right"
    for command in (["compare", *files], ["rank", *files], ["check", files[1], "--at-least", "0.9"]):
        assert path in printed(*command, "--measure", path, code=(0, 1))
    assert "expected the import path of a function" in refused(
        "compare", *files, "--measure", path.replace("right", "wrong")
    )
    sys.modules.pop("own_measures_of_a_test")


@pytest.mark.long
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("measure", "kinds", "shares"),
    [  # often a small gain, rarely a large loss; in all equal
        (
            "average-precision",
            [(0, 0.5, 0.5), (0, 0.2, 0.2), (1, 0.45, 0.55), (1, 0.9, 0.1)],
            (0.4, 0.3, 0.16517, 0.13483),
        ),
        ("rmse", [(0.0, 1.0, 0.9), (5.0, 4.0, 4.1), (5.0, 5.0, 0.0)], (0.49623, 0.49623, 0.00754)),
    ],
)
def test_equal_measures_are_told_apart_no_more_often_than_stated(measure, kinds, shares, turned):
    rng, rows, fails, covered = np.random.default_rng(1), np.array(kinds), 0, 0
    for _ in range(150):
        y, a, b = rows[rng.choice(len(rows), 60, p=shares)].T
        a, b = (b, a) if turned else (a, b)
        how = {"score_range": (0, 6)} if measure == "rmse" else {}
        y = y if measure == "rmse" else y.astype(int)
        (row,) = sigstats.compare(y, a, b, measures=measure, rule=FEW, **how).rows
        fails += row.pvalue <= 0.05
        covered += row.low <= 0 <= row.high
    assert fails <= 15  # Binomial(150, .05) exceeds it with a chance of 0.4%
    assert covered >= 135


def test_a_function_that_forgets_the_weights_or_has_the_name_of_a_cost_is_refused():
    y = np.tile([0, 1], 100)
    first, second = np.where(np.arange(200) % 20 == 0, 1 - y, y), np.where(np.arange(200) % 3 == 0, 1 - y, y)

    def agreement(y, prediction, weights):
        return np.mean(y == prediction)

    def sensitivity_of_two(y, prediction, weights):
        return np.mean(prediction[y == 1])

    def error_rate(y, prediction, weights):
        return np.average(y != prediction, weights=weights)

    for forgets in (agreement, sensitivity_of_two):
        with pytest.raises(ValueError, match="for the same rows repeated; use the weights"):
            sigstats.compare(y, first, second, measures=forgets, rule=FEW)
    with pytest.raises(ValueError, match="error_rate has the name of a cost; expected"):
        sigstats.compare(y, first, second, measures=error_rate, rule=FEW)
    cost = sigstats.Measure(name="mine", greater_is_better=False, function=error_rate, takes="classes")
    row = sigstats.compare(y, first, second, measures=cost, rule=FEW).rows[0]
    assert (row.baseline, row.candidate) == pytest.approx((0.05, np.mean(y != second)))
