"""Histogram boosting grown from levels predicts as scikit-learn's own, to the bit, and goes to it otherwise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from sigstats.learners import boosting, build
from sigstats.learners.design import design_of
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

from ...examples import examples
from .test_trees import check_same

pytest.importorskip("numba", reason="Numba is an extra")

needs_growth = pytest.mark.usefixtures("growth")

pytestmark = pytest.mark.long  # boosting is compiled for a quarter of a minute, once


@pytest.fixture(scope="module")
def growth():
    if not boosting._agrees_with_scikit_learn():
        pytest.skip("boosting is scikit-learn's here")


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads of scikit-learn's loops wait for each other in busy loops where other processes have the cores."""
    with threadpool_limits(1):
        yield


def check_same_raw(classifier, X, y, tested):
    """Raw predictions are equal in every bit."""
    known, levels = boosting._levels_of(design_of([], X, keep_missing=True))
    fold = boosting._fold_of(classifier, y, tested)
    ours = boosting._raw_predictions(classifier, known, levels, fold)
    theirs = classifier.fit(X[~tested], y[~tested])._raw_predict(X[tested])
    assert np.array_equal(ours, theirs.T)


@needs_growth
@settings(max_examples=examples(100), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(6, 150),
    d=st.integers(1, 6),
    distinct=st.sampled_from([1, 2, 5, 40, 10**6]),
    classes=st.integers(2, 5),
    missing=st.sampled_from([0.0, 0.0, 0.1, 0.6]),
    max_iter=st.integers(1, 6),
    learning_rate=st.sampled_from([0.1, 1.0, 30.0]),
    max_leaf_nodes=st.none() | st.integers(2, 12),
    max_depth=st.none() | st.integers(1, 4),
    min_samples_leaf=st.integers(1, 20),
    l2_regularization=st.sampled_from([0.0, 0.5, 1e6]),
    max_bins=st.sampled_from([2, 3, 17, 30, 255]),
)
def test_raw_predictions_are_those_of_scikit_learn(seed, n, d, distinct, classes, missing, **parameters):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, distinct, (n, d)) * 10.0 ** rng.integers(-12, 12, d)
    X[:, 0] += rng.choice([0.0, 1e-16], n)  # neighbours that have nothing between them
    X[rng.random((n, d)) < missing] = np.nan
    y, tested = rng.permutation(np.arange(n) % classes), rng.permutation(np.arange(n) % 3 == 0)
    if np.isnan(X[~tested]).all(axis=0).any() or len(np.unique(y[~tested])) < 2:
        return  # scikit-learn does not fit these
    check_same_raw(HistGradientBoostingClassifier(**parameters), X, y, tested)


@needs_growth
@pytest.mark.parametrize("classes", [2, 4])
def test_more_values_than_bins(classes):
    rng = np.random.default_rng(classes)
    X, y = rng.normal(size=(900, 3)), rng.integers(0, classes, 900)
    X[::9, 1], X[:, 2] = np.nan, X[:, 2].round(2)
    check_same_raw(HistGradientBoostingClassifier(max_iter=4), X, y, np.arange(900) % 5 == 0)


@needs_growth
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("stopping", [{"tol": 0.0}, {"n_iter_no_change": 1}, {"learning_rate": 1.0}])
def test_boosting_stops_early_where_scikit_learn_does(classes, stopping):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(300, 3)), np.arange(300) % classes
    classifier = HistGradientBoostingClassifier(max_iter=30, early_stopping=True, random_state=7, **stopping)
    check_same_raw(classifier, X, y, np.arange(300) % 5 == 0)
    assert classifier.n_iter_ < 30


@needs_growth
@pytest.mark.parametrize("null", ["labels", "features"])
def test_replicates_are_those_of_scikit_learn(null):
    rng = np.random.default_rng(8)
    y = rng.permutation(np.r_[np.arange(120) % 3, 3])  # one class has one row
    X = rng.normal(size=(121, 4))
    X[::6, 3] = np.nan
    folds = stratified_folds(y, 4, 1, rare_classes="allow")
    check_same(HistGradientBoostingClassifier(max_iter=5, random_state=0), X, y, folds, null, 3, rng)


@needs_growth
@pytest.mark.parametrize("null", ["labels", "features"])
def test_categories_that_a_training_fold_does_not_have(null):
    rng = np.random.default_rng(9)
    X, y = rng.integers(0, 4, (60, 3)).astype(float), np.arange(60) % 2
    X[5, 0], X[6, 1] = 4, 5
    learner = build(
        "sklearn.ensemble.HistGradientBoostingClassifier",
        nominal=[True, True, False],
        missing=False,
        params={"max_iter": 5, "min_samples_leaf": 3},
    )
    check_same(learner, X, y, stratified_folds(y, 5, 1), null, 3, rng)


@needs_growth
@pytest.mark.parametrize("empty", ["one class", "no value"])
def test_a_fold_that_scikit_learn_cannot_fit_is_left_to_it(empty):
    X, y = np.arange(24.0).reshape(12, 2), np.arange(12) % 2
    folds = y if empty == "one class" else np.arange(12) // 6
    if empty == "no value":
        X[folds == 0, 1] = np.nan
    fast, slow = (
        Retrainer(
            HistGradientBoostingClassifier(max_iter=2, random_state=0), X, y, folds, null="labels", batched=batched
        )
        for batched in (True, False)
    )
    assert fast.batched
    outcomes = []
    for retrainer in (fast, slow):
        try:
            outcomes.append(retrainer.predict(retrainer.identity()).tolist())
        except ValueError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    "classifier",
    [
        HistGradientBoostingClassifier(),  # where it may stop early, it draws rows anew
        HistGradientBoostingClassifier(random_state=0, class_weight="balanced"),
        HistGradientBoostingClassifier(random_state=0, max_features=0.5),
        HistGradientBoostingClassifier(random_state=0, monotonic_cst=[1, 0, 0, 0]),
        HistGradientBoostingClassifier(random_state=0, interaction_cst="pairwise"),
        HistGradientBoostingClassifier(random_state=0, categorical_features=[0]),
        HistGradientBoostingClassifier(random_state=0, scoring="accuracy"),
        HistGradientBoostingClassifier(random_state=0, max_bins=256),
        HistGradientBoostingClassifier(random_state=0, max_iter=0),
    ],
    ids=str,
)
def test_other_boosting_goes_to_scikit_learn(classifier):
    X, y = load_iris(return_X_y=True)
    assert not Retrainer(classifier, X, y, stratified_folds(y, 5, 1), null="labels").batched


@needs_growth
@pytest.mark.parametrize("value", [np.inf, 1e200])
def test_far_values_go_to_scikit_learn(value):
    X, y = load_iris(return_X_y=True)
    X[3, 2] = value
    classifier = HistGradientBoostingClassifier(max_iter=2, random_state=0)
    assert not Retrainer(classifier, X, y, stratified_folds(y, 5, 1), null="labels").batched


@needs_growth
@pytest.mark.parametrize("name", ["_shares", "_rules"])
def test_other_trees_in_scikit_learn_are_noticed(name, monkeypatch):
    original = getattr(boosting, name)
    monkeypatch.setattr(boosting, name, lambda classifier: original(classifier.__class__(max_bins=20)))
    assert not boosting._agrees_with_scikit_learn.__wrapped__()
