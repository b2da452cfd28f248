"""Neighbours behind a `StandardScaler`, learned in each fold from sums alone, against scikit-learn's own fits."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from sigstats.learners.neighbours.lists import FoldVariances, NeighbourLists
from sigstats.learners.neighbours.nearest_neighbours import NearestNeighbours
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

from .test_batched import both, check_same


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_real_numbers(load, k, weights):
    X, y = load(return_X_y=True)
    check_same(
        make_pipeline(StandardScaler(), KNeighborsClassifier(k, weights=weights)), X, y, null="labels", replicates=2
    )


@pytest.mark.parametrize("scaler", [None, MinMaxScaler(), StandardScaler()], ids=str)
@pytest.mark.parametrize(("load", "rows", "undecided"), [(load_iris, 150, 0), (load_digits, 400, 0.15)])
def test_votes_weighted_by_distance(load, rows, undecided, scaler):
    X, y = load(return_X_y=True)
    estimator = make_pipeline(scaler, KNeighborsClassifier(5, weights="distance"))
    check_same(estimator, X[:rows], y[:rows], null="labels", replicates=2, undecided=undecided)


@pytest.mark.long
@pytest.mark.parametrize("null", ["labels", "features"])
@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
@pytest.mark.parametrize("offset", [0, 1e-9, 1e-4, 300])
def test_votes_weighted_by_distances_that_are_tied_or_nearly_zero(offset, algorithm, null):
    rng = np.random.default_rng(3)
    y = rng.permutation(np.arange(90) % 3)
    X = rng.integers(0, 3, (90, 3)) + offset * rng.normal(size=(90, 3))
    for k in (2, 5, 11):
        estimator = KNeighborsClassifier(k, weights="distance", algorithm=algorithm)
        check_same(estimator, X, y, null=null, replicates=2, folds=stratified_folds(y, 4, 1), undecided=1)


@pytest.mark.long
@pytest.mark.parametrize(("algorithm", "k"), [("brute", 4), ("kd_tree", 1)])
def test_rare_far_constant_and_tied_values(algorithm, k):
    estimator = make_pipeline(StandardScaler(), KNeighborsClassifier(k, algorithm=algorithm))
    for seed, constant in enumerate([0.1, 1e6 / 3]):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, 80)
        X = rng.integers(0, 3, (80, 4)).astype(float)
        X[:, 2] = constant
        X[:, 3] = constant + (rng.random(80) < 0.04) * 10.0 ** rng.integers(-3, 6)
        for data in (X, X + rng.normal(size=(80, 1)), rng.standard_cauchy((80, 3)), X[:, 2:]):
            check_same(estimator, data, y, null="labels", folds=stratified_folds(y, 4, 1), replicates=2, undecided=1)


def test_a_feature_that_is_constant_but_for_one_fold_changes_no_weight():
    X, y = np.random.default_rng(1).normal(size=(60, 3)), np.arange(60) % 2
    X[:, 2] = np.where(np.arange(60) == 7, 5.0, 0.25)
    check_same(
        make_pipeline(StandardScaler(), KNeighborsClassifier(3)), X, y, null="labels", replicates=10, undecided=0
    )
    fold = np.arange(60)[None] % 6
    learned = FoldVariances(X, 6).learned(fold)
    variances = np.array([X[fold[0] != number].var(axis=0) for number in range(6)])
    variances[1, 2] = X[:, 2].var()  # that of all rows
    assert np.allclose(learned.weights[0], 1 / variances, rtol=1e-12)


def test_permuted_features_go_to_scikit_learn():
    X, y = load_wine(return_X_y=True)
    estimator = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    assert not Retrainer(estimator, X, y, stratified_folds(y, 5, 1), null="features").batched


@pytest.mark.long
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("levels", [3, 1000])
def test_the_same_without_numba(k, levels, monkeypatch):
    pytest.importorskip("numba")
    rng = np.random.default_rng(levels)
    X, y = rng.integers(0, levels, (110, 3)).astype(float), rng.permutation(np.arange(110) % 3)
    X[7] *= 30  # alone in the scale of its features
    known = [NearestNeighbours(n_neighbors=k, ties=ties) for ties in ("first", "random", "vote")]
    for classifier in (*known, KNeighborsClassifier(k), KNeighborsClassifier(k, weights="distance")):
        estimator = make_pipeline(MinMaxScaler(), classifier)
        first, filled, expected = both(estimator, X, y, null="labels", replicates=3)
        with monkeypatch.context() as patch:
            patch.setattr(NeighbourLists, "walk", lambda *given: None)
            second, _, _ = both(estimator, X, y, null="labels", replicates=3)
        assert (first == second).all()
        assert (filled == expected).all()
