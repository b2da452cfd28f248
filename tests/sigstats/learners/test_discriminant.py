"""Linear discriminants of collinear, rare, far and constant columns, against scikit-learn's own fits."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sigstats.learners import build
from sigstats.learners.discriminant import _exact_sums
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

from .test_batched import check_same

BARE = LinearDiscriminantAnalysis()
ESTIMATORS = [BARE, make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())]


def same_counts(estimator, X, y, null="labels", replicates=5):
    """Whether or not there is a batched form."""
    folds = stratified_folds(y, 5, 1, rare_classes="allow")
    draws = Retrainer(estimator, X, y, folds, null=null).draw(np.random.default_rng(4), replicates)
    fast, slow = (Retrainer(estimator, X, y, folds, null=null, batched=batched) for batched in (True, False))
    return (fast.predict(draws) == slow.predict(draws)).all()


@pytest.mark.long
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=["bare", "scaled"])
@pytest.mark.parametrize("null", ["labels", "features"])
def test_columns_that_are_zero_in_whole_training_folds(estimator, null):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 9, (150, 8)).astype(float), np.arange(150) % 4
    X[:, 6:] = 0
    X[17, 6], X[90:92, 7] = 4, (1, 2)
    check_same(estimator, X, y, null=null, replicates=5)
    check_same(estimator, X + 2.0**20, y, null=null, replicates=2)


@pytest.mark.long
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=["bare", "scaled"])
@pytest.mark.parametrize("classes", [2, 4])
def test_collinear_columns(estimator, classes):
    rng = np.random.default_rng(2)
    y = np.arange(90) % classes
    X = rng.normal(size=(90, 6)) + 0.3 * y[:, None]
    X = np.column_stack([X, X @ rng.normal(size=(6, 3)), X[:, 0] - X[:, 1], X[:, 2]])
    check_same(estimator, X, y, null="labels", replicates=5)
    check_same(estimator, X * 10.0 ** np.arange(-5, 6) + 3, y, null="labels", replicates=5)


@pytest.mark.long
def test_the_columns_of_categories_which_sum_to_one():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (150, 5)).astype(float), np.arange(150) % 3
    X[:, :2] += rng.normal(size=(150, 2))
    estimator = build("lda", nominal=np.arange(5) >= 2, missing=False)
    check_same(estimator, X, y, null="labels", replicates=5)
    X[7, 3] = 9  # a category that is not in the fold that is trained without this row
    check_same(estimator, X, y, null="labels", replicates=5, undecided=0.3)


@pytest.mark.long
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=["bare", "scaled"])
@pytest.mark.parametrize("usual", [0.0, 0.1, 7.0, 1e6 / 3])
def test_a_column_with_few_other_values(estimator, usual):
    """scikit-learn scales up what rounding leaves of the variance of a constant such as 0.1."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 60)
    for distinct in (0, 2):
        rare = np.full(60, usual)
        rare[:distinct] += 1 + np.arange(distinct)
        whole = rng.integers(0, 3, (60, 2)).astype(float)
        for X in (np.column_stack([whole, rare]), np.column_stack([whole, rare, whole.sum(axis=1), rare])):
            assert same_counts(estimator, X, y)
            assert same_counts(estimator, X, y, "features", 2)


@pytest.mark.long
def test_tiny_classes_and_ties():
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1, 2, 3], [50, 4, 2, 6])
    for levels in (2, 3, 50):
        X = rng.integers(0, levels, (62, 5)).astype(float)
        assert same_counts(BARE, X, y, replicates=20)


def test_sums_that_are_not_rounded():
    assert _exact_sums(np.array([0.0, 7.0, -0.375, 2.0**40, 0.1, 1 / 3]), 1000).tolist() == [True] * 4 + [False] * 2
