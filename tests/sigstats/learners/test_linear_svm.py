"""Linear machines by liblinear's own steps: against the weights of `LinearSVC`."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from sigstats.learners.linear.linear_svm import weights_of
from sigstats.retraining.folds import stratified_folds

from .test_batched import check_same

pytest.importorskip("numba")


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
@pytest.mark.parametrize(
    "parameters", [{"tol": 1e-6}, {"C": 0.01}, {"C": 50.0, "tol": 1e-3}, {"max_iter": 2}, {"max_iter": 0}], ids=str
)
def test_weights_are_those_of_liblinear_to_the_last_bit(load, parameters):
    X, y = load(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[::4], np.random.default_rng(1).permutation(y[::4])
    machine = LinearSVC(dual=False, **parameters)
    machine.fit(X, y)
    found = weights_of(machine, X, y)
    assert np.array_equal(found, np.column_stack([machine.coef_, machine.intercept_]))


def test_data_of_unlike_scales_and_constant_columns():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::6, :9], y[::6]
    X = np.column_stack([X, np.zeros(len(X)), np.full(len(X), 3.0)])
    machine = LinearSVC(dual=False).fit(X, y)
    found = weights_of(machine, X, y)
    assert np.array_equal(found, np.column_stack([machine.coef_, machine.intercept_]))


@pytest.mark.parametrize("null", ["labels", "features"])
@pytest.mark.parametrize("tol", [1e-4, 1e-2])
def test_a_coarse_tolerance_leaves_no_fold_to_scikit_learn(tol, null):
    X, y = load_wine(return_X_y=True)
    estimator = make_pipeline(StandardScaler(), LinearSVC(dual=False, tol=tol))
    check_same(estimator, X, y, null=null, replicates=1, folds=stratified_folds(y, 4, 1), undecided=0)
