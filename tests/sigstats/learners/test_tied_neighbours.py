"""Neighbours that are equally near, decided without scikit-learn's fits, against scikit-learn's own fits."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from sigstats.learners.base import UNDECIDED
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

from .test_batched import both, check_same


def tied(seed, n, d, levels, classes=4):
    rng = np.random.default_rng(seed)
    return rng.integers(0, levels, (n, d)).astype(float), rng.permutation(np.arange(n) % classes)


@pytest.mark.long
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "ball_tree"])
@pytest.mark.parametrize("transforms", [[], [MinMaxScaler()], [StandardScaler()]], ids=str)
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_trees_find_the_neighbours_of_every_undecided_row(transforms, algorithm, k, weights):
    for seed, scale in enumerate([1, 3]):
        X, y = tied(seed, 90, 4, 3)
        folds = np.random.default_rng(seed).permutation(np.arange(90) % 4 * (np.arange(90) % 3 > 0))  # of two sizes
        estimator = make_pipeline(
            *transforms, KNeighborsClassifier(k, weights=weights, algorithm=algorithm, leaf_size=7 * scale)
        )
        check_same(estimator, X / scale, y, null="labels", replicates=2, folds=folds, undecided=0)


@pytest.mark.parametrize("null", ["labels", "features"])
@pytest.mark.parametrize(("algorithm", "features"), [("auto", 16), ("brute", 2)])
def test_the_first_of_equally_near_rows_of_whole_numbers_decides(algorithm, features, null):
    # scikit-learn goes through 256 training rows at once: here are more.
    X, y = tied(features, 420, features, 2 if features > 2 else 9)
    folds = stratified_folds(y, 3, 1)
    for data in (X, 1000 * X - 40):
        check_same(
            KNeighborsClassifier(1, algorithm=algorithm), data, y, null=null, replicates=1, folds=folds, undecided=0
        )


@pytest.mark.parametrize(
    ("k", "change"), [(3, np.asarray), (1, lambda X: X / 10), (1, lambda X: X * 1e8), (1, lambda X: X + 1e9)]
)
def test_what_has_neither_rule_nor_tree_is_left_to_scikit_learn(k, change):
    X, y = tied(k, 80, 2, 3)
    estimator = KNeighborsClassifier(k, algorithm="brute")
    raw, filled, expected = both(estimator, change(X), y, null="labels", replicates=2, folds=stratified_folds(y, 3, 1))
    settled = raw != UNDECIDED
    assert (raw[settled] == expected[settled]).all()
    assert (filled == expected).all()
    assert not settled.all()


def test_whole_numbers_of_their_own_type_are_left_to_scikit_learn():
    X, y = tied(1, 80, 2, 3)  # it looks for these in another way
    estimator, folds = KNeighborsClassifier(1, algorithm="brute"), stratified_folds(y, 3, 1)
    raw, filled, expected = both(estimator, X.astype(np.int64), y, null="labels", replicates=2, folds=folds)
    assert (filled == expected).all()
    assert (raw == UNDECIDED).any()


@pytest.mark.parametrize("transform", [MinMaxScaler(), StandardScaler()], ids=str)
def test_digits_behind_a_scaler(transform):
    X, y = load_digits(return_X_y=True)
    estimator = make_pipeline(transform, KNeighborsClassifier(1))
    check_same(estimator, X[:600], y[:600], null="labels", replicates=5, undecided=0.05)


@pytest.mark.parametrize(("load", "rows"), [(load_iris, 150), (load_digits, 500)])
def test_nothing_of_real_data_is_left_to_scikit_learn(load, rows):
    X, y = load(return_X_y=True)
    check_same(KNeighborsClassifier(1), X[:rows], y[:rows], null="labels", replicates=3, undecided=0)


def test_as_many_neighbours_as_half_the_training_rows_need_no_tree():
    X, y = tied(9, 60, 2, 3)
    for k in (19, 20, 21):  # of 40: scikit-learn makes a tree for 19 alone
        check_same(KNeighborsClassifier(k), X, y, null="labels", folds=stratified_folds(y, 3, 1), undecided=int(k > 19))


@pytest.mark.parametrize("wrong", [{"algorithm": "octree"}, {"leaf_size": "large"}, {"n_jobs": "all"}], ids=str)
def test_parameters_that_scikit_learn_refuses_are_refused(wrong):
    X, y = tied(4, 60, 2, 3)
    retrainer = Retrainer(KNeighborsClassifier(1, **wrong), X, y, stratified_folds(y, 3, 1), null="labels")
    with pytest.raises(ValueError, match=f"in fold 0: InvalidParameterError: The '{next(iter(wrong))}' parameter"):
        retrainer.observed()
