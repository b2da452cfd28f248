"""One nearest neighbour of permuted features from products of 32 bits, against scikit-learn's own fits."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from sigstats.learners import build
from sigstats.learners.neighbours.batched import BatchedNeighbours
from sigstats.learners.neighbours.nearest_neighbours import NearestNeighbours
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

from .test_batched import both, check_same


def data(seed, n=90, d=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.permutation(np.arange(n) % 3)


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


def test_the_same_without_numba(monkeypatch):
    X, y = data(7, n=120, d=6)
    estimator = KNeighborsClassifier(1)
    first, _, expected = both(estimator, X, y, null="features", replicates=3)
    monkeypatch.setattr(BatchedNeighbours, "_mixed_features", lambda *given: None)
    second, _, _ = both(estimator, X, y, null="features", replicates=3)
    assert (first == second).all()
    assert (first == expected).all()


def test_products_of_32_bits_are_used_while_few_rows_are_about_as_near(monkeypatch):
    pytest.importorskip("numba")
    from sigstats.learners.neighbours.batched import MixedFeatures

    used = []
    predict = MixedFeatures.predict
    monkeypatch.setattr(MixedFeatures, "predict", lambda *given: used.append(predict(*given)) or used[-1])
    X, y = data(9)
    for values in (X, np.round(X / 9)):
        retrainer = Retrainer(KNeighborsClassifier(1), values, y, stratified_folds(y, 3, 1), null="features")
        retrainer.wrong(1, 3)
    assert used == [True] * 3 + [False]


@pytest.mark.parametrize("transforms", [[], [MinMaxScaler()]], ids=str)
def test_folds_of_about_ninety_rows(transforms):
    X, y = data(2, n=277, d=5)
    check_same(make_pipeline(*transforms, KNeighborsClassifier(1)), X, y, null="features", replicates=2, undecided=0)
