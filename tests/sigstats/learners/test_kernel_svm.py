"""Kernel machines by our own steps are libsvm's: the same coefficients bit for bit, the same predictions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg.blas import ddot
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.utils import get_tags

from sigstats.learners import build
from sigstats.learners.base import Problem
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

from .test_batched import NULLS, check_same, mixed_data

pytest.importorskip("numba")
kernel_svm = pytest.importorskip("sigstats.learners.kernels.kernel_svm")

from sigstats.learners.compiled.kernels import _kernels  # noqa: E402
from sigstats.learners.compiled.kernels._smo import solve  # noqa: E402

polynomial = pytest.mark.skipif(
    kernel_svm._solver("poly") is None,
    reason="the inner products of this BLAS depend on where rows lie: scikit-learn fits polynomial machines here",
)


def as_libsvm(machine, X, label):
    """Coefficients and threshold of a fitted machine of two classes, in the order of classes and rows."""
    machine.fit(X, label)
    full = np.zeros(len(X))
    full[machine.support_] = -machine.dual_coef_[0]
    return full[label.argsort(kind="stable")], machine.intercept_[0]


@pytest.mark.parametrize("shrinking", [True, False])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("cost", [0.01, 1.0, 300.0])
def test_coefficients_are_those_of_libsvm_to_the_last_bit(kernel, cost, shrinking):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:330]
    for label in (y[:330], np.random.default_rng(2).permutation(y[:330])):
        own = _kernels.Kernel(1 / 30, 3, 0.5) if kernel == "poly" else _kernels.Kernel(1 / 30)
        rows = np.ascontiguousarray(X[label.argsort(kind="stable")])
        sign = np.where(np.sort(label) == 0, 1.0, -1.0)
        found, threshold = solve(own.matrix(rows), sign, own.diagonal(rows), cost, 1e-3, shrinking)
        machine = SVC(C=cost, kernel=kernel, gamma=1 / 30, coef0=0.5, shrinking=shrinking)
        expected, intercept = as_libsvm(machine, X, label)
        assert np.array_equal(found, expected)
        assert threshold == intercept


@pytest.mark.parametrize("n", [9, 61, 203])
def test_ties_are_broken_as_libsvm_breaks_them(n):
    """Many rows are equal, so that the order of rows, which libsvm changes, decides about steps."""
    rng = np.random.default_rng(n)
    X, label = rng.integers(0, 2, (n, 4)).astype(float), rng.permutation(np.arange(n) % 2)
    own, rows = _kernels.Kernel(0.25), np.ascontiguousarray(X[label.argsort(kind="stable")])
    sign = np.where(np.sort(label) == 0, 1.0, -1.0)
    for cost in (0.3, 10.0):
        found, threshold = solve(own.matrix(rows), sign, own.diagonal(rows), cost, 1e-3, True)
        expected, intercept = as_libsvm(SVC(C=cost, gamma=0.25), X, label)
        assert np.array_equal(found, expected)
        assert threshold == intercept


@pytest.mark.parametrize("degree", [0, 1, 2, 5])
def test_a_kernel_matrix_has_the_floats_of_kernels_made_one_by_one(degree):
    rng = np.random.default_rng(degree)
    rows = rng.normal(size=(90, 7)) * 10.0 ** rng.integers(-3, 3, 7)
    rows[10:20] = rows[:10]  # equal rows: a kernel of 1
    made = _kernels.Kernel(0.01, degree, 0.25).matrix(rows)
    for i in range(90):
        for j in range(90):
            product = ddot(rows[i], rows[j])
            if degree:
                exact = np.float64(1.0)
                for _ in range(degree):
                    exact = exact * (0.01 * product + 0.25)
                assert made[i, j] == pytest.approx(exact, rel=1e-6)
            else:
                exact = math.exp(-0.01 * (ddot(rows[i], rows[i]) + ddot(rows[j], rows[j]) - 2 * product))
                assert made[i, j] == np.float32(exact)


@given(seed=st.integers(0, 10**6), scale=st.floats(1e-3, 30), degree=st.sampled_from([0, 3]))
@pytest.mark.filterwarnings("ignore")
def test_doubtful_entries_are_among_those_that_are_made_one_by_one(seed, scale, degree):
    """Whatever was rounded at once is what the exact entry rounds to."""
    rows = np.random.default_rng(seed).normal(size=(40, 5)) * scale
    kernel = _kernels.Kernel(0.3, degree)
    made = kernel.matrix(rows)
    if made is not None:
        expected = np.array([[kernel._exact(one, other) for other in rows] for one in rows]).astype(np.float32)
        assert np.array_equal(made, expected)


@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("kernel", ["rbf", pytest.param("poly", marks=polynomial)])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_predictions_on_real_numbers(load, kernel, null):
    X, y = load(return_X_y=True)
    X, y = X[::2], y[::2]
    folds = stratified_folds(y, 5, 1)
    check_same(make_pipeline(StandardScaler(), SVC(kernel=kernel)), X, y, null=null, replicates=2, folds=folds)


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(),
        SVC(gamma="auto", C=30),
        SVC(gamma=0.4, tol=1e-2, shrinking=False),
        pytest.param(
            make_pipeline(StandardScaler(), SVC(kernel="poly", degree=2, coef0=1.0, gamma=0.1)), marks=polynomial
        ),
        make_pipeline(MinMaxScaler(), SVC(C=1000.0)),
        pytest.param(make_pipeline(MinMaxScaler(), StandardScaler(), SVC(kernel="poly", degree=4)), marks=polynomial),
    ],
    ids=str,
)
def test_parameters_and_scalers(estimator):
    X, y = load_wine(return_X_y=True)
    check_same(estimator, X, y, null="labels", replicates=3)


def test_mixed_features_and_ten_classes():
    X, y, nominal = mixed_data(missing=0.0)
    check_same(build("svm", nominal=nominal, missing=False), X, y, null="labels")
    X, y = load_digits(return_X_y=True)
    check_same(build("svm", missing=False), X[:250], y[:250], null="labels", replicates=1)


def test_equal_rows_of_both_classes_are_left_to_libsvm():
    """Where each row is there with both labels a decision is 0 but for rounding."""
    rng = np.random.default_rng(3)
    X = np.repeat(rng.integers(0, 2, (30, 3)).astype(float), 2, axis=0)
    check_same(SVC(), X, np.arange(60) % 2, null="labels", undecided=1.0)


@pytest.mark.parametrize(
    "estimator",
    [
        SVC(kernel="linear"),
        SVC(kernel="sigmoid"),
        SVC(class_weight="balanced"),
        SVC(break_ties=True, decision_function_shape="ovr"),
        SVC(max_iter=50),
        SVC(gamma=-1.0),
        SVC(C=0),
        SVC(kernel="poly", degree=0),
    ],
    ids=str,
)
def test_what_it_does_not_stand_for(estimator):
    X, y = load_iris(return_X_y=True)
    assert get_tags(estimator).estimator_type == "classifier"
    assert not Retrainer(estimator, X, y, stratified_folds(y, 5, 1), null="labels").batched


def test_a_matrix_that_takes_too_much_memory_is_left_to_libsvm(monkeypatch):
    X, y = load_iris(return_X_y=True)
    problem = Problem(X, y, stratified_folds(y, 5, 1), 3, 5)
    assert kernel_svm.BatchedKernelSVM.recognise(SVC(), problem, "labels") is not None
    monkeypatch.setattr(kernel_svm, "_MOST_BYTES", 4 * 79**2)
    assert kernel_svm.BatchedKernelSVM.recognise(SVC(), problem, "labels") is None


def test_a_matrix_for_each_pair_of_classes(monkeypatch):
    """Folds have 120 rows, and pairs of classes 80."""
    monkeypatch.setattr(kernel_svm, "_MOST_BYTES", 4 * 80**2)
    X, y = load_iris(return_X_y=True)
    for null in NULLS:
        check_same(
            make_pipeline(StandardScaler(), SVC()), X, y, null=null, replicates=1, folds=stratified_folds(y, 5, 1)
        )


@polynomial
def test_entries_in_the_middle_of_two_floats(monkeypatch):
    """Products of whole numbers are exact in 64 bits, and one in 64 of those with 30 bits lies in such a middle."""
    X = np.random.default_rng(1).integers(2**13, 2**15, (40, 2))
    kernel, rows = _kernels.Kernel(1.0, 1), X.astype(float)
    expected = (X @ X.T).astype(np.float32)
    assert ((X @ X.T) % 64 == 32).any()
    assert np.array_equal(kernel.matrix(rows), expected)
    monkeypatch.setattr(_kernels, "_MOST_DOUBTFUL", 0)
    assert kernel.matrix(rows) is None
    machine = SVC(kernel="poly", degree=1, gamma=1.0)
    assert kernel_svm.predictions(machine, rows, rows, np.arange(40) % 2) is None
