"""Naive Bayes that Numba compiles, against the way without it: constant, rare and far columns, absent classes."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from sigstats.learners.base import UNDECIDED
from sigstats.learners.gaussian.naive_bayes import BatchedNaiveBayes
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer

pytest.importorskip("numba")

from sigstats.learners.compiled.gaussian._gaussian_bayes import _log_of_product
from sigstats.learners.compiled.gaussian._gaussian_scores import _best_beyond


def generated(width, classes, scale=1.0):
    rng = np.random.default_rng(width)
    y = rng.permutation(np.arange(150) % classes)
    X = scale * (rng.normal(size=(150, width)) + 0.3 * y[:, None])
    X[:, 0] = scale * (np.arange(150) == 3)
    return X, y, stratified_folds(y, 5, 1)


def digits():
    X, y = load_digits(return_X_y=True)
    return X[::4], y[::4], stratified_folds(y[::4], 5, 1)


def absent():
    """A class that is in one fold alone."""
    X, y, folds = generated(6, 5)
    return X, y, np.where(y == 2, 1, folds)


DATA = {
    "digits": digits(),
    "absent": absent(),
    "far": generated(9, 3, 1e150),
    "near": generated(9, 3, 1e-150),
    **{f"{width} x {classes}": generated(width, classes) for width, classes in [(1, 2), (8, 7), (17, 8), (3, 15)]},
}


@pytest.mark.parametrize("null", ["labels", "features"])
@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_the_same_without_numba(data, null, monkeypatch):
    compiled = Retrainer(GaussianNB(), *data, null=null)
    monkeypatch.setattr(BatchedNaiveBayes, "_compile", lambda *_: None)
    plain = Retrainer(GaussianNB(), *data, null=null)
    assert compiled._learner._compiled is not None
    assert plain._learner._compiled is None
    draws = compiled.draw(np.random.default_rng(2), 10)
    with np.errstate(all="ignore"):
        ours, theirs = (
            each._learner.predict_labels(draws) if null == "labels" else each._learner.predict_features(draws)
            for each in (compiled, plain)
        )
    known = (ours != UNDECIDED) & (theirs != UNDECIDED)
    assert (ours == theirs)[known].all()
    assert (ours == UNDECIDED).sum() <= (theirs == UNDECIDED).sum()


def test_the_logarithm_of_a_product():
    values = 10.0 ** np.random.default_rng(1).uniform(-300, 300, 200)
    for some in (values, values[np.abs(np.log10(values)) < 20], np.full(500, 1e-9), np.empty(0)):
        assert _log_of_product(some) == pytest.approx(float(np.log(some).sum()), rel=1e-13)


@pytest.mark.parametrize(
    ("scores", "errors", "expected"),
    [
        ([1.0, 3.0, 2.0], [9.0, 0.1, 0.8], -1),
        ([1.0, 3.0, 2.0], [1.8, 0.1, 0.8], 1),
        ([1.0, 3.0, 2.0], [1.8, 0.3, 0.8], -1),
        ([-np.inf, 3.0, 2.0], [9.0, 0.1, 0.8], 1),
        ([np.nan, 3.0, 2.0], [0.1, 0.1, 0.1], -1),
        ([2.0, 3.0, np.nan], [0.1, 0.1, 0.1], -1),
        ([1.0, 3.0, 2.0], [0.1, np.nan, 0.1], -1),
        ([1.0, np.nan, 2.0, 0.0], [0.1, 0.1, 0.1, 0.1], -1),
    ],
)
def test_the_best_class_whatever_the_errors_are(scores, errors, expected):
    assert _best_beyond(np.array(scores), 0, np.array(errors), 0, len(scores), 1.0) == expected


@pytest.mark.parametrize("unit", [1.0, 0.5])
def test_whole_numbers_that_are_constant_in_a_class_are_decided(unit):
    X, y = load_digits(return_X_y=True)  # a pixel that is 0 in a class has next to no variance there
    data = unit * X, y, stratified_folds(y, 4, 1)
    retrainer = Retrainer(GaussianNB(), *data, null="features")
    draws = retrainer.draw(np.random.default_rng(1), 60)
    with np.errstate(all="ignore"):
        ours = retrainer._learner.predict_features(draws)
        assert (ours != UNDECIDED).all()
        theirs = Retrainer(GaussianNB(), *data, null="features", batched=False).predict(draws[:4])
    assert (ours[:4] == theirs).all()
