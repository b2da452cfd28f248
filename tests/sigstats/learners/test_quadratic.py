"""Quadratic discriminants of collinear, constant, far and rare values, against scikit-learn's own fits."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sigstats.learners import build
from sigstats.learners.base import Problem
from sigstats.learners.quadratic import BatchedQDA
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

from .test_batched import NULLS, _one_thread, check_same  # noqa: F401 - a fixture


def bare(**parameters):
    return QuadraticDiscriminantAnalysis(**parameters)


def scaled(**parameters):
    return make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis(**parameters))


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("estimator", [bare(), scaled(), bare(reg_param=0.3), scaled(reg_param=1.0), build("qda")])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_real_numbers(estimator, load, null):
    X, y = load(return_X_y=True)
    # A flower lies, by rounding alone, as near to one class as to another where the covariance is the identity.
    check_same(estimator, X, y, null=null, replicates=3, undecided=0.1)


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("estimator", [bare(reg_param=0.01), scaled(reg_param=0.01), scaled(reg_param=1e-4, tol=1e-5)])
def test_collinear_and_constant_columns(estimator, null):
    rng = np.random.default_rng(2)
    y = np.arange(120) % 3
    X = rng.normal(size=(120, 5)) + 0.3 * y[:, None]
    X = np.column_stack([X, X @ rng.normal(size=(5, 2)), X[:, 0], np.full(120, 0.1), np.arange(120) == 7])
    check_same(estimator, X, y, null=null, folds=stratified_folds(y, 5, 1))
    check_same(estimator, X * 10.0 ** np.arange(-3, 7), y, null=null, undecided=1)
    check_same(scaled(reg_param=1e-6, tol=1e-7), X, y, null=null, replicates=2, undecided=1)


@pytest.mark.long
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("far", [-999_999, 1e9])
@pytest.mark.parametrize("estimator", [bare(), scaled(reg_param=1e-3)], ids=["bare", "scaled"])
def test_far_values(estimator, far, null):
    y, rng = np.random.default_rng(1).permutation(np.arange(75) % 3), np.random.default_rng(2)
    X = rng.normal(size=(75, 3))
    check_same(estimator, X + far, y, null=null, folds=stratified_folds(y, 5, 1), undecided=0.3)
    X[7, 1] = far
    check_same(estimator, X, y, null=null, folds=stratified_folds(y, 5, 1), undecided=1)


@pytest.mark.parametrize("null", NULLS)
def test_ties(null):
    rng = np.random.default_rng(6)
    y = rng.permutation(np.repeat([0, 1, 2], [60, 50, 30]))
    for levels in (2, 3):
        X = rng.integers(0, levels, (140, 4)).astype(float)
        check_same(scaled(reg_param=0.1), X, y, null=null, folds=stratified_folds(y, 5, 1), undecided=0.3)


def test_categories():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (150, 5)).astype(float), np.arange(150) % 3
    X[:, :2] += rng.normal(size=(150, 2))
    X[7, 3] = 9  # a category that is not in the fold that is trained without this row
    check_same(build("qda", nominal=np.arange(5) >= 2, missing=False), X, y, null="labels")


def test_digits_with_columns_that_are_nearly_constant():
    X, y = load_digits(return_X_y=True)
    rows = np.flatnonzero(y < 3)
    check_same(scaled(reg_param=0.01), X[rows], y[rows], null="labels", replicates=2, undecided=0.01)


@pytest.mark.parametrize("estimator", [bare(), bare(reg_param=0.5)], ids=["bare", "shrunk"])
def test_a_class_that_scikit_learn_refuses_is_left_to_it(estimator):
    rng = np.random.default_rng(3)
    X, y, folds = rng.normal(size=(60, 4)), np.arange(60) % 2, np.arange(60) // 2 % 5
    few = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:4]]  # three or four rows of the second class
    flat = np.column_stack([X, X[:, 0] + X[:, 1]])
    for rows, columns in ((few, X), (np.arange(60), flat)):
        problem = Problem(np.ascontiguousarray(columns[rows]), y[rows], folds[rows], 2, 5)
        raw = BatchedQDA.recognise(estimator, problem, "labels").predict_labels(np.arange(len(rows))[None])
        left = raw[0] < 0
        fits = [not _fails(estimator, columns[rows], y[rows], folds[rows] != fold) for fold in range(5)]
        assert (left == ~np.array(fits)[folds[rows]]).all()


def _fails(estimator, X, y, train):
    try:
        estimator.fit(X[train], y[train])
    except np.linalg.LinAlgError:
        return True
    return False


@pytest.mark.parametrize("least", [0.9e-4, 1.1e-4])
def test_eigenvalues_around_the_tolerance(least):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3))
    X = np.linalg.qr(X - X.mean(axis=0))[0] * np.sqrt(400)
    X[:, 2] *= np.sqrt(least)
    y = rng.permutation(np.arange(400) % 2)
    folds = stratified_folds(y, 8, 1)
    raw = Retrainer(bare(), X, y, folds, null="labels")._learner.predict_labels(np.arange(400)[None])
    left = raw[0] < 0
    fits = [not _fails(bare(), X, y, folds != fold) for fold in range(8)]
    assert (left == ~np.array(fits)[folds]).all()


@pytest.mark.parametrize("estimator", [bare(priors=[0.2, 0.3, 0.5]), bare(solver="eigen"), bare(reg_param=2)], ids=str)
def test_others_go_to_scikit_learn(estimator):
    X, y = load_wine(return_X_y=True)
    assert not Retrainer(estimator, X, y, stratified_folds(y, 5, 1), null="labels").batched
