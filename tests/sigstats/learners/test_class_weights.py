"""Classifiers whose classes are weighted, fitted with shared work, against scikit-learn's own fits."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sigstats.learners import build
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

from .test_batched import check_same

LINEAR = {
    "ridge": RidgeClassifier(),
    "linear-svm": LinearSVC(dual=False, tol=1e-6, random_state=0),
    "logistic-regression": LogisticRegression(max_iter=1000),
}


def nulls(name):
    return ["labels"] if name == "logistic-regression" else ["labels", "features"]


@pytest.mark.long
@pytest.mark.parametrize("weights", ["balanced", "by label"])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
@pytest.mark.parametrize("name", LINEAR)
def test_real_data_of_uneven_classes(name, load, weights):
    X, y = load(return_X_y=True)
    kept = np.flatnonzero(np.random.default_rng(1).random(len(y)) < np.where(y == 1, 0.9, 0.15))
    X, labels = X[kept], np.array([f"class {9 - code}" for code in y[kept]])  # their order is not that of codes
    by_label = {label: 1 + int(label[-1]) / 3 for label in np.unique(labels).tolist()[1:]}  # the first one counts 1
    classifier = clone(LINEAR[name]).set_params(class_weight=by_label if weights == "by label" else weights)
    folds = stratified_folds(labels, 3, 1)
    for null in nulls(name):
        estimator = make_pipeline(StandardScaler(), classifier)
        check_same(estimator, X, labels, null=null, replicates=2, folds=folds, undecided=1)


@pytest.mark.parametrize("name", ["ridge", "linear-svm"])
def test_categories(name):
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 3, (90, 4)).astype(float), rng.permutation(np.arange(90) % 5 % 2)
    nominal = [True, True, False, False]
    estimator = build(name, params={"class_weight": {0: 1, 1: 2.5}}, nominal=nominal, missing=False)
    for null in nulls(name):
        check_same(estimator, X, y, null=null, replicates=2, folds=stratified_folds(y, 3, 1), undecided=1)


@pytest.mark.parametrize("weights", [{0: 0.0}, {0: -1.0}, {0: np.inf}, {7: 2.0}, {0: "many"}, "heavy"], ids=str)
@pytest.mark.parametrize("name", LINEAR)
def test_weights_that_are_no_positive_numbers_go_to_scikit_learn(name, weights):
    X, y = load_iris(return_X_y=True)
    estimator = make_pipeline(StandardScaler(), clone(LINEAR[name]).set_params(class_weight=weights))
    assert not Retrainer(estimator, X, y, stratified_folds(y, 3, 1), null="labels").batched


@pytest.mark.parametrize("name", LINEAR)
def test_a_fold_that_trains_without_a_class_goes_to_scikit_learn(name):
    X, y = load_iris(return_X_y=True)
    estimator = make_pipeline(StandardScaler(), clone(LINEAR[name]).set_params(class_weight="balanced"))
    assert not Retrainer(estimator, X, y, np.where(y == 2, 0, np.arange(150) % 3), null="labels").batched
