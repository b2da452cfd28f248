"""Products of blocks, inverse factors and discriminants that Numba compiles, against NumPy's and scikit-learn's."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from threadpoolctl import threadpool_limits

from sigstats.learners.gaussian import discriminant
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

from .test_batched import check_same

pytest.importorskip("numba")

from sigstats.learners.compiled.gaussian._placed_rows import best, inverse_factor
from sigstats.learners.compiled.vector_products import SIDE, add_square, subtract_square

LDA = LinearDiscriminantAnalysis()


@pytest.mark.parametrize("n", [0, 1, 7, 40])
def test_products_of_strided_matrices(n):
    rng = np.random.default_rng(n)
    to, left, right = rng.normal(size=(20, 31)), rng.normal(size=(45, 23)), rng.normal(size=(41, 19))
    expected = to.copy()
    block = expected[3 : 3 + SIDE, 5 : 5 + SIDE]
    product = left[2 : 2 + n, 4 : 4 + SIDE].T @ right[1 : 1 + n, 6 : 6 + SIDE]
    block += product
    found = to.copy()
    add_square(left.ravel(), right.ravel(), found.ravel(), (2 * 23 + 4, 1, 23, 19 + 6, 19, 3 * 31 + 5, 31, n))
    assert np.abs(found - expected).max() < 1e-13
    subtract_square(left.ravel(), right.ravel(), found.ravel(), (2 * 23 + 4, 1, 23, 19 + 6, 19, 3 * 31 + 5, 31, n))
    assert np.abs(found - to).max() < 1e-13


@pytest.mark.parametrize("m", [8, 24, 72])
def test_the_inverse_of_a_factor(m):
    rng = np.random.default_rng(m)
    rows = rng.normal(size=(2 * m, m))
    matrix = rows.T @ rows
    inverse = np.triu(matrix)
    inverse[np.tril_indices(m, -1)] = np.nan  # not read
    for first in range(0, m, SIDE):
        own = slice(first, first + SIDE)
        inverse[own, own] = matrix[own, own]
    assert inverse_factor(inverse.ravel(), m, np.empty(SIDE * m))
    inverse = np.tril(inverse)
    assert np.abs(inverse @ matrix @ inverse.T - np.eye(m)).max() < 1e-10
    assert np.abs(np.tril(np.linalg.inv(np.linalg.cholesky(matrix))) - inverse).max() < 1e-10


@pytest.mark.parametrize("pivot", [0, 9, 15])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_a_matrix_that_has_no_factor(pivot, value):
    matrix = np.eye(16)
    matrix[pivot, pivot] = value
    assert not inverse_factor(matrix.ravel(), 16, np.empty(SIDE * 16))


@pytest.mark.parametrize(
    ("scores", "margin", "expected"),
    [
        ([1.0, 3.0, 2.0], 0.5, 1),
        ([1.0, 3.0, 2.0], 1.5, -1),
        ([1.0, 3.0, np.nan], 0.5, -1),
        ([1.0, 3.0, 2.0], np.inf, -1),
        ([2.0, 2.0, 1.0], 0.0, -1),
    ],
)
def test_the_best_class_beyond_a_margin(scores, margin, expected):
    assert best(np.array([9.0, *scores, 9.0]), 1, 3, margin) == expected


def digits():
    """Columns that are constant but for a row or two, ten classes, and folds of uneven size."""
    X, y = load_digits(return_X_y=True)
    return X[::4], y[::4], np.minimum(np.random.default_rng(3).geometric(0.3, len(y[::4])) - 1, 4)


def generated(width, classes):
    rng = np.random.default_rng(width)
    y = rng.permutation(np.arange(200) % classes)
    X = rng.normal(size=(200, width)) + 0.3 * y[:, None]
    X[:, 0] = np.round(X[:, 0])
    return X, y, stratified_folds(y, 5, 1)


def test_digits():
    X, y, folds = digits()
    with threadpool_limits(1):
        check_same(LDA, X, y, null="labels", replicates=2, folds=folds, undecided=0.5)


@pytest.mark.parametrize(
    "data",
    [digits(), *(generated(*shape) for shape in [(1, 2), (8, 3), (17, 9), (70, 2)])],
    ids=["digits", "1 x 2", "8 x 3", "17 x 9", "70 x 2"],
)
def test_the_same_without_numba(data, monkeypatch):
    compiled = Retrainer(LDA, *data, null="labels")
    monkeypatch.setattr(discriminant, "_WIDEST_COMPILED", 0)
    plain = Retrainer(LDA, *data, null="labels")
    assert compiled._learner._compiled is not None
    assert plain._learner._compiled is None
    draws = compiled.draw(np.random.default_rng(2), 40)
    assert (compiled._learner.predict_labels(draws) == plain._learner.predict_labels(draws)).all()
