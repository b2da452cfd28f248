"""Permutation tests by other measures than the error: scikit-learn's own fits and formulas on the same permutations."""

import json

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from sigstats import Measure, permutation_test
from sigstats.learners import build
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.measured import Statistic, observed_value, values_of
from sigstats.retraining.retrainer import Retrainer

OF_CLASSES = {
    "balanced-accuracy": metrics.balanced_accuracy_score,
    "macro-f1": lambda y, said: metrics.f1_score(y, said, average="macro"),
    "macro-precision": lambda y, said: metrics.precision_score(y, said, average="macro", zero_division=0),
    "mcc": metrics.matthews_corrcoef,
    "kappa": metrics.cohen_kappa_score,
}
OF_TWO = {
    "f1": lambda y, said: metrics.f1_score(y, said, pos_label=0, zero_division=0),
    "precision": lambda y, said: metrics.precision_score(y, said, pos_label=0, zero_division=0),
    "specificity": lambda y, said: metrics.recall_score(y, said, pos_label=1),
}
SIZE = 3


def rows_of_each(X, y, null, retrainer):
    """The permuted rows of each replicate, made anew from the generator's draws."""
    for draw in retrainer.draw(np.random.default_rng(7), SIZE):
        if null == "labels":
            order = np.argsort(draw)
            yield X[order]
        else:
            yield np.column_stack([X[source, j] for j, source in enumerate(draw)])


@pytest.mark.long
@pytest.mark.parametrize("null", ["labels", "features"])
@pytest.mark.parametrize("learner", ["1-nn", "naive-bayes", "lda"])
def test_measures_of_predictions_are_scikit_learns(learner, null):
    for load, table in ((load_wine, OF_CLASSES), (load_breast_cancer, {**OF_CLASSES, **OF_TWO})):
        X, y = load(return_X_y=True)
        X, y = X[::2, :5], y[::2]
        folds = stratified_folds(y, 3, rng=1)
        retrainer = Retrainer(build(learner), X, y, folds, null=null)
        split = PredefinedSplit(folds)
        said = [cross_val_predict(build(learner), rows, y, cv=split) for rows in rows_of_each(X, y, null, retrainer)]
        for name, score in table.items():
            statistic = Statistic(name, [str(code) for code in np.unique(y)], 0)
            found = values_of(retrainer, statistic, retrainer.draw(np.random.default_rng(7), SIZE))
            np.testing.assert_allclose(found, [score(y, each) for each in said], rtol=1e-12, atol=1e-15)
            assert observed_value(retrainer, statistic) == pytest.approx(score(y, retrainer.observed()))


@pytest.mark.long
@pytest.mark.parametrize("null", ["labels", "features"])
def test_measures_of_scores_are_scikit_learns(null):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::4, :4], y[::4]
    folds = stratified_folds(y, 3, rng=1)
    split = PredefinedSplit(folds)
    for learner, how in (("naive-bayes", "predict_proba"), ("ridge", "decision_function")):
        retrainer = Retrainer(build(learner), X, y, folds, null=null)
        rows = rows_of_each(X, y, null, retrainer)
        scores = [cross_val_predict(build(learner), each, y, cv=split, method=how) for each in rows]
        scores = [each if how == "decision_function" else each[:, 1] for each in scores]
        wanted = {"auc": [metrics.roc_auc_score(y, each) for each in scores]}
        if how == "predict_proba":
            wanted["neg-log-loss"] = [-metrics.log_loss(y, each) for each in scores]
            wanted["neg-brier"] = [-metrics.brier_score_loss(y, each) for each in scores]
        for name, values in wanted.items():
            for positive in (0, 1):
                found = values_of(
                    retrainer, Statistic(name, ["0", "1"], positive), retrainer.draw(np.random.default_rng(7), SIZE)
                )
                np.testing.assert_allclose(found, values, rtol=1e-9)


@pytest.mark.long
def test_accuracy_decides_as_the_error_does():
    X, y = load_iris(return_X_y=True)
    X = X[:, :1]
    for null in ("labels", "features"):
        by_error = permutation_test("naive-bayes", X, y, null=null, cv=3, n_resamples=40, rng=3)
        by_accuracy = permutation_test("naive-bayes", X, y, null=null, cv=3, n_resamples=40, rng=3, measure="accuracy")
        assert by_accuracy.pvalue == by_error.pvalue
        assert by_accuracy.statistic == pytest.approx(1 - by_error.statistic)
        assert by_accuracy.null_distribution == pytest.approx([1 - each for each in by_error.null_distribution])
        assert by_accuracy.wrong == by_error.wrong


def test_the_positive_class_is_named_by_its_label():
    y = np.where(load_breast_cancer().target == 0, "ill", "well")[::3]
    X = load_breast_cancer().data[::3, :3]
    options = {"cv": 3, "n_resamples": 9, "rng": 1}
    ill = permutation_test("naive-bayes", X, y, measure="recall", positive="ill", **options)
    well = permutation_test("naive-bayes", X, y, measure="specificity", positive="well", **options)
    assert ill.statistic == well.statistic
    assert ill.null_distribution == well.null_distribution
    other = permutation_test("naive-bayes", X, y, measure="recall", positive="well", **options)
    assert ill.null_distribution != other.null_distribution
    areas = [permutation_test("naive-bayes", X, y, measure="auc", positive=each, **options) for each in (None, "ill")]
    assert areas[0].statistic == pytest.approx(areas[1].statistic)


@pytest.mark.parametrize(
    ("learner", "options", "said"),
    [
        ("lda", {"measure": "f1"}, "measure: 'f1' is not valid; expected macro-f1.*since there are 3 classes"),
        ("lda", {"measure": "auc"}, "measure: 'auc' is not valid; expected .*since there are 3 classes"),
        ("lda", {"measure": "macro-recal"}, "did you mean 'macro-recall'"),
        ("ridge", {"measure": "neg-log-loss"}, "measure: 'neg-log-loss' .* RidgeClassifier has no predict_proba"),
        ("lda", {"measure": "macro-f1", "positive": 1}, "positive: 1 is not valid; expected None"),
        ("lda", {"positive": 1}, "positive: 1 is not valid; expected None, since the error has no positive class"),
    ],
)
def test_bad_input_is_one_line(learner, options, said):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=said) as caught:
        permutation_test(learner, X, y, cv=3, n_resamples=2, rng=1, **options)
    assert "\n" not in str(caught.value)


def test_an_unknown_positive_class_is_refused():
    X, y = load_breast_cancer(return_X_y=True)
    for positive in ("ill", 2, [0], np.array([0, 1])):
        with pytest.raises(ValueError, match=r"positive: .* is not valid; expected (one of 0, 1|a string or a number)"):
            permutation_test("lda", X, y, cv=3, n_resamples=2, rng=1, measure="f1", positive=positive)


@pytest.mark.parametrize("positive", [0, 1])
def test_costs_of_two_classes(positive):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:120, :3], y[:120]
    how = {"n_resamples": 19, "rng": 1, "cv": stratified_folds(y, 3, np.random.default_rng(0)), "positive": positive}
    found = permutation_test("lda", X, y, measure="expected-cost(fn=10,fp=1)", **how)
    said = cross_val_predict(build("lda"), X, y, cv=PredefinedSplit(how["cv"]))
    paid = np.where(said == y, 0, np.where(y == positive, 10, 1))
    assert (found.statistic, found.alternative) == (pytest.approx(paid.mean()), "less")
    assert found.pvalue == (sum(cost <= found.statistic + 1e-12 for cost in found.null_distribution) + 1) / 20
    equal = permutation_test("lda", X, y, measure="expected-cost(fn=1,fp=1)", **how)
    del how["positive"]
    assert equal.null_distribution == pytest.approx(permutation_test("lda", X, y, **how).null_distribution)
    with pytest.raises(ValueError, match="since there are 3 classes"):
        permutation_test("lda", *load_iris(return_X_y=True), measure="expected-cost(fn=1,fp=1)")


def weighted_f1(y, prediction, weights):
    return metrics.f1_score(y, prediction, sample_weight=weights, average="weighted")


def money(y, prediction, weights):
    return float(np.average(np.where(y == prediction, 0.0, np.where(y == "c", 10.0, 1.0)), weights=weights))


money.greater_is_better = False


def brier(y, score, weights):
    return -metrics.brier_score_loss(y, score, sample_weight=weights)


def test_own_functions_and_matrices_of_costs_are_means_of_the_same_replicates():
    X, y = load_iris(return_X_y=True)
    X, y = X[:, :1], np.array(["a", "b", "c"])[y]
    how = {"n_resamples": 19, "rng": 1, "cv": stratified_folds(y, 3, np.random.default_rng(0))}
    own = permutation_test("lda", X, y, measure=weighted_f1, **how)
    ready = permutation_test("lda", X, y, measure="weighted-f1", **how)
    assert (own.measure, own.alternative, own.pvalue) == ("weighted_f1", "greater", ready.pvalue)
    assert own.null_distribution == pytest.approx(ready.null_distribution)
    matrix = {true: {said: 10 if true == "c" else 1 for said in "abc" if said != true} for true in "abc"}
    paid = permutation_test("lda", X, y, costs=matrix, **how)
    own = permutation_test("lda", X, y, measure=money, **how)
    said = cross_val_predict(build("lda"), X, y, cv=PredefinedSplit(how["cv"]))
    assert (paid.statistic, paid.alternative) == (pytest.approx(money(y, said, np.ones(len(y)))), "less")
    assert (own.alternative, own.pvalue, own.statistic) == ("less", paid.pvalue, pytest.approx(paid.statistic))
    assert own.null_distribution == pytest.approx(paid.null_distribution)
    named = permutation_test("lda", X, y, measure=f"expected-cost({json.dumps(matrix)})", **how)
    assert named.null_values == paid.null_values
    with pytest.raises(ValueError, match="costs: the cost of predicting 'b' for 'a' is missing; add it"):
        permutation_test("lda", X, y, costs={"a": {"c": 1}}, **how)
    with pytest.raises(ValueError, match="measure: 'macro-f1' cannot be combined with costs"):
        permutation_test("lda", X, y, costs=matrix, measure="macro-f1", **how)


def test_an_own_function_of_scores_needs_the_positive_class():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::4, :2], np.array(["ill", "well"])[y[::4]]
    how = {"n_resamples": 9, "rng": 1, "cv": 3}
    measure = Measure(name="own-brier", function=brier, takes="scores")
    own = permutation_test("naive-bayes", X, y, measure=measure, positive="ill", **how)
    assert own.null_distribution == pytest.approx(
        permutation_test("naive-bayes", X, y, measure="neg-brier", **how).null_distribution
    )
    for one in (measure, "average-precision"):
        with pytest.raises(ValueError, match="positive: is missing; expected one of 'ill', 'well'"):
            permutation_test("naive-bayes", X, y, measure=one, **how)
    with pytest.raises(ValueError, match="measure: 'm' is not valid; expected one of classes or scores"):
        permutation_test("naive-bayes", X, y, measure=Measure(name="m", function=brier, takes="numbers"), **how)
