"""Logistic regression by the iterates of its solver: against SciPy's minimiser and scikit-learn's own fits."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sigstats.learners import build, logistic
from sigstats.learners.lbfgs import Rules, minimise
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

from .test_batched import check_same

EPS = float(np.finfo(np.float64).eps)


def scaled(**parameters):
    return make_pipeline(StandardScaler(), LogisticRegression(**parameters))


@pytest.mark.long
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_real_numbers(load):
    X, y = load(return_X_y=True)
    check_same(build("logistic-regression", missing=False), X, y, null="labels", replicates=2, undecided=0.1)


@pytest.mark.parametrize("cost", [0.01, 1000.0])
@pytest.mark.parametrize("classes", [2, 4])
def test_tied_constant_rare_and_collinear_columns(classes, cost):
    rng = np.random.default_rng(classes)
    y = np.r_[rng.permutation(np.arange(70) % classes), 0, 1]
    X = rng.integers(0, 3, (72, 4)).astype(float)
    rare = (np.arange(72) == 9) * 2.0
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.full(72, 0.1), rare, 1e4 * X[:, 2] - 1e6])
    check_same(scaled(C=cost), X, y, null="labels", folds=stratified_folds(y, 4, 1), undecided=0.05)


@pytest.mark.long
@pytest.mark.parametrize("parameters", [{"max_iter": 5}, {"tol": 1e-8}, {"C": 100.0, "max_iter": 1000}])
def test_where_the_solver_stops(parameters):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::5, :15], y[::5]
    check_same(scaled(**parameters), X, y, null="labels", replicates=2, folds=stratified_folds(y, 5, 1), undecided=1)


def test_classes_that_a_fold_has_alone():
    X, y = load_iris(return_X_y=True)
    X, y, folds = X[::4], y[::4], np.arange(38) % 4
    folds[y == 2] = 1
    check_same(scaled(), X, y, null="labels", folds=folds, replicates=2, undecided=1)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        scaled(solver="newton-cholesky"),
        scaled(class_weight={0: 0, 1: 2, 2: 3}),
        scaled(fit_intercept=False),
        scaled(C=np.inf),
    ],
    ids=str,
)
def test_other_regressions_go_to_scikit_learn(estimator):
    X, y = load_wine(return_X_y=True)
    assert not Retrainer(estimator, X, y, stratified_folds(y, 5, 1), null="labels").batched


@pytest.mark.parametrize("size", [0.1, 3.0, 400.0])
@pytest.mark.parametrize("classes", [2, 3, 10])
def test_losses_and_derivatives_against_scipy(classes, size):
    rng = np.random.default_rng(classes)
    free, binary = max(classes - 1, 1), classes == 2
    columns, slopes = rng.normal(size=(131, 11)), size * rng.normal(size=(15, free, 11))
    codes = rng.integers(-1, classes, (15, 131)).astype(np.int16)
    scores = slopes @ columns.T
    other = np.zeros((15, 1, 131)) if binary else -scores.sum(axis=1, keepdims=True)
    full = np.concatenate([other, scores] if binary else [scores, other], axis=1)
    own = np.take_along_axis(full, np.maximum(codes, 0)[:, None].astype(int), axis=1)[:, 0]
    weights = rng.uniform(0.2, 5, codes.shape) * (codes >= 0)
    loss = ((logsumexp(full, axis=1) - own) * weights).sum(axis=1)
    slope = softmax(full, axis=1) - (codes[:, None] == np.arange(classes)[:, None])
    slope = slope * weights[:, None]
    expected = (slope[:, 1:] if binary else slope[:, :-1]) @ columns
    for some in (slice(0, 15), slice(3, 4)):
        value, gradient = logistic._losses(columns, slopes[some], codes[some], weights[some], binary)
        assert value == pytest.approx(loss[some], rel=1e-12)
        assert np.abs(gradient - expected[some]).max() < 1e-13 * (1 + size) * 90


def curved(x):
    """Rosenbrock's function in four dimensions, whose valley needs line searches of many trials."""
    a, b = x[..., :-1], x[..., 1:]
    value = (100 * (b - a**2) ** 2 + (1 - a) ** 2).sum(axis=-1)
    gradient = np.zeros_like(x)
    gradient[..., :-1] += -400 * a * (b - a**2) - 2 * (1 - a)
    gradient[..., 1:] += 200 * (b - a**2)
    return value, gradient


@pytest.mark.parametrize("iterations", [1, 2, 5, 9, 14, 25])
def test_the_iterates_are_those_of_scipy(iterations):
    starts = np.random.default_rng(iterations).uniform(-2, 2, (40, 4))
    rules = Rules(1e-4, 64 * EPS, iterations, ends=True, rounding=1e-9)
    found, taken = minimise(lambda x, _: curved(x), starts, rules)
    options = {"maxiter": iterations, "gtol": 1e-4, "ftol": 64 * EPS, "maxls": 50}
    followed = np.flatnonzero(taken >= 0)
    assert len(followed) >= 30
    trials = 0
    for number in followed:
        theirs = minimize(curved, starts[number], jac=True, method="L-BFGS-B", options=options)
        assert theirs.nit == taken[number]
        assert np.abs(theirs.x - found[number]).max() <= rules.amplified(iterations)
        trials += theirs.nfev - theirs.nit
    assert iterations < 25 or trials > 1.2 * len(followed)  # searches went on beyond their first trials


def test_a_problem_that_takes_too_long_is_given_up():
    rules = Rules(1e-4, 64 * EPS, 4, ends=False, rounding=1e-9)
    _, taken = minimise(lambda x, _: curved(x), np.full((1, 4), -1.5), rules)
    assert taken.tolist() == [-1]
