"""Batched learners where rounding takes digits: values far from 0 or from each other, and features almost constant.

What a fold is trained on is all rows less the fold, so a far value in the fold costs its sums the digits of the others.
"""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

from sigstats.learners import build
from sigstats.learners.base import UNDECIDED
from sigstats.learners.gaussian_estimators import MixedNB
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

from .test_batched import NULLS, _one_thread, check_same  # noqa: F401 - a fixture

LEARNERS = {
    "gaussian-nb": GaussianNB(),
    "ridge": RidgeClassifier(),
    "ready-ridge": build("ridge"),
    "ready-svm": build("linear-svm"),
    "ready-1-nn": build("1-nn"),
    "ready-k-nn": build("k-nn"),
    "k-nn": make_pipeline(MinMaxScaler(), KNeighborsClassifier(3)),
    "ready-lda": build("lda"),
}


def labels(n):
    return np.random.default_rng(1).permutation(np.arange(n) % 3)


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("far", [-999_999, 1e9])
@pytest.mark.parametrize("name", LEARNERS)
def test_one_value_far_from_the_others(name, far, null):
    y, rng = labels(60), np.random.default_rng(2)
    for X in (rng.normal(size=(60, 3)), rng.integers(0, 3, (60, 3)).astype(float)):
        X[7, 1] = far
        check_same(LEARNERS[name], X, y, null=null, replicates=2, folds=stratified_folds(y, 5, 1), undecided=1)


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("estimator", [RidgeClassifier(), RidgeClassifier(0.01), GaussianNB()], ids=str)
@pytest.mark.parametrize("offset", [1e6, -1e9])
def test_all_values_far_from_zero(estimator, offset, null):
    y = labels(52)
    X = np.random.default_rng(3).integers(0, 2, (52, 2)) + offset
    check_same(estimator, X, y, null=null, folds=stratified_folds(y, 5, 1), undecided=0.3)


@pytest.mark.parametrize("null", NULLS)
def test_naive_bayes_of_a_feature_that_varies_in_one_fold_alone(null):
    y = labels(40)
    X = np.random.default_rng(4).integers(0, 2, (40, 3)).astype(float)
    X[:, 1] = np.arange(40) == 11  # without the fold of this row a variance is what is added to all, and this row far
    for estimator in (GaussianNB(), MixedNB(nominal=(True, False, False))):
        check_same(estimator, X, y, null=null, replicates=20, folds=stratified_folds(y, 4, 1), undecided=1)


def test_a_far_value_costs_its_own_fold_alone():
    y = labels(90)
    X = np.random.default_rng(5).normal(size=(90, 4))
    X[7, 1] = 1e7
    for estimator in (make_pipeline(StandardScaler(), LinearSVC(dual=False, tol=1e-8)), build("ridge"), GaussianNB()):
        check_same(estimator, X, y, null="labels", folds=stratified_folds(y, 10, 1), undecided=0.15)


def test_codes_of_categories_may_be_large():
    # A table of all codes up to the largest took 52 GiB.
    codes, y = np.array([0, 7, 0, 7, 7, 0.0])[:, None], np.array([0, 1, 0, 1, 0, 1])
    small, large = MixedNB(nominal=(True,)).fit(codes, y), MixedNB(nominal=(True,)).fit(codes * 2**28, y)
    asked = np.array([0, 3, 7, np.nan])[:, None]
    assert np.array_equal(small.predict_proba(asked), large.predict_proba(asked * 2**28))


@pytest.mark.long
@pytest.mark.parametrize("unit", [1.0, 0.5])
def test_whole_numbers_that_are_constant_in_a_class_are_decided(unit):
    X, y = load_digits(return_X_y=True)  # a pixel that is 0 in a class has next to no variance there
    data = unit * X, y, stratified_folds(y, 4, 1)
    retrainer = Retrainer(GaussianNB(), *data, null="features")
    draws = retrainer.draw(np.random.default_rng(1), 60)
    with np.errstate(all="ignore"):
        ours = retrainer._learner.predict_features(draws)
        assert (ours != UNDECIDED).all()
        theirs = Retrainer(GaussianNB(), *data, null="features", batched=False).predict(draws[:4])
    assert (ours[:4] == theirs).all()
