"""Neighbours: tied, behind scalers, and of permuted features, against scikit-learn's own fits."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from sigstats.learners import build
from sigstats.learners.base import UNDECIDED
from sigstats.learners.neighbours.lists import NeighbourLists, StandardWeights
from sigstats.learners.neighbours.nearest_neighbours import NearestNeighbours
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


@pytest.mark.long
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
    without = StandardWeights(X, 6).without_each_fold(fold)
    variances = np.array([X[fold[0] != number].var(axis=0) for number in range(6)])
    variances[1, 2] = X[:, 2].var()  # that of all rows
    assert np.allclose(without.weights[0], 1 / variances, rtol=1e-12)


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
            patch.setattr(NeighbourLists, "predict_compiled", lambda *given: None)
            second, _, _ = both(estimator, X, y, null="labels", replicates=3)
        assert (first == second).all()
        assert (filled == expected).all()


def data(seed, n=90, d=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.permutation(np.arange(n) % 3)


@pytest.mark.long
@pytest.mark.parametrize("transforms", [[], [MinMaxScaler()]], ids=str)
@pytest.mark.parametrize(
    "change",
    [
        lambda X: 1 + 1e-9 * X,  # 32 bits tell none of these apart, about zero they do
        lambda X: np.where(np.arange(len(X))[:, None] % 9 == 0, 1e5 * X, 1e-3 * X),  # some far, the others near
        lambda X: np.where(np.arange(len(X))[:, None] == 0, 1e12, X),
        lambda X: 1e-170 * X,
        lambda X: 1e150 * X,
        lambda X: np.round(X * 2) / 2,
        lambda X: np.where(X > 2, 1.0, 0.25),  # constant without some folds
    ],
)
def test_numbers_that_32_bits_do_not_tell_apart(change, transforms):
    X, y = data(3)
    check_same(
        make_pipeline(*transforms, KNeighborsClassifier(1, algorithm="kd_tree")),
        change(X),
        y,
        null="features",
        replicates=2,
        folds=stratified_folds(y, 4, 1),
        undecided=1,
    )


@pytest.mark.parametrize("ties", ["first", "random"])
@pytest.mark.parametrize("levels", [3, 40])
def test_the_stated_rule_decides_ties(ties, levels):
    X, y = data(5, n=150)
    X = np.round(X * levels) / 7
    for estimator in (
        NearestNeighbours(ties=ties, random_state=3),
        build("1-nn", params={"ties": ties}, missing=False),
    ):
        check_same(estimator, X, y, null="features", replicates=2, undecided=0)


@pytest.mark.parametrize("transforms", [[], [MinMaxScaler()]], ids=str)
def test_folds_of_about_ninety_rows(transforms):
    X, y = data(2, n=277, d=5)
    check_same(make_pipeline(*transforms, KNeighborsClassifier(1)), X, y, null="features", replicates=2, undecided=0)
