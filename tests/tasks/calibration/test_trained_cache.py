"""The bounds of what a worker keeps of trained classifiers."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from cachetools import cached

from sigstats.learners import build
from sigstats.tasks.calibration.populations.trained import MOST_BYTES, MOST_TRAINED, bytes_of, trained_cache


@dataclass(frozen=True)
class Classifiers:
    """Of any size, without taking it."""

    name: int
    nbytes: int


def kept(sizes):
    """The numbers of the values of these sizes that stay once all were asked for."""
    cache = trained_cache()
    get = cached(cache)(lambda name: Classifiers(name, sizes[name]))
    for name in range(len(sizes)):
        get(name)
    return {value.name for value in cache.values()}


def test_large_classifiers_leave_for_others_and_many_small_ones_too():
    assert kept([MOST_BYTES // 3] * 5) == {2, 3, 4}
    assert kept([MOST_BYTES // 3, 1, 40 * MOST_BYTES]) == {2}
    assert kept([40 * MOST_BYTES, 1, 1]) == {1, 2}
    assert kept([1] * 40) == set(range(40 - MOST_TRAINED, 40))


@pytest.mark.parametrize("learner", ["svm", "k-nn", "linear-svm"])
def test_bytes_are_those_of_a_copy(learner):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(400, 30))
    fitted = build(learner).fit(X, X[:, 0] + rng.normal(size=400) > 0)
    assert bytes_of([fitted]) == pytest.approx(len(pickle.dumps(fitted, protocol=4)), rel=0.1)


def test_classifiers_of_texts_are_counted_by_their_words():
    few, many = ([f"word{i % words} and word{i * i % words}" for i in range(200)] for words in (5, 150))
    sizes = [bytes_of(build("linear-svm", text=True).fit(texts, np.arange(200) % 2)) for texts in (few, many)]
    assert 0 < sizes[0] < sizes[1] < MOST_BYTES


def test_what_has_no_copy_counts_as_all():
    assert bytes_of(lambda: None) == MOST_BYTES
