"""Naive Bayes of a block of permutations: columns that are constant within a class."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from sigstats.learners.base import UNDECIDED
from sigstats.retraining.folds import stratified_folds
from sigstats.retraining.permutation import Retrainer


@pytest.mark.long
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
